//! Reads a message as its author meant it: fenced and quoted text isn't the author's own.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// Returns the lines of a message that are neither in a code fence nor quoted. A fence that never
/// closes hides nothing, because agents forget to close fences.
pub(crate) fn own_lines(text: &str) -> impl Iterator<Item = &str> {
    unfenced_lines(text)
        .map(|(_, line)| line)
        .filter(|line| !is_quote(line))
}

/// Returns the lines that aren't in a closed code fence, with their 0-based numbers.
pub(crate) fn unfenced_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fences = fences(text).closed.into_iter().peekable();
    let mut hidden_until = 0;
    text.lines().enumerate().filter(move |(n, _)| {
        if fences.peek().is_some_and(|fence| fence.first == *n) {
            hidden_until = fences.next().map_or(hidden_until, |fence| fence.last + 1);
        }
        *n >= hidden_until
    })
}

/// Returns the author's own text, one sentence per line.
pub(crate) fn sentences(text: &str) -> String {
    let mut apart = String::with_capacity(text.len());
    for line in own_lines(text) {
        for at in sentence_ranges(line) {
            apart.push_str(&line[at]);
            apart.push('\n');
        }
        if line.is_empty() {
            apart.push('\n');
        }
    }
    apart
}

/// Returns where the sentences of a line are.
pub(crate) fn sentence_ranges(line: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    let ends = line.char_indices().filter_map(|(at, c)| {
        let after = at + c.len_utf8();
        let is_end = match c {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' => line[after..].starts_with(' '),
            _ => false,
        };
        is_end.then_some(after)
    });
    let ends: Vec<usize> = ends.chain([line.len()]).collect();
    ends.into_iter().filter_map(move |end| {
        let range = start..end;
        start = end;
        (!range.is_empty()).then_some(range)
    })
}

pub(crate) fn is_quote(line: &str) -> bool {
    line.trim_start().starts_with('>')
}

/// Masks code spans and quotations, which aren't the author's own words, by a word of as many bytes.
pub(crate) fn with_code_masked(line: &str) -> String {
    let mut masked = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((at, open)) = rest.char_indices().find(|(_, c)| closing_of(*c).is_some()) {
        let inside = at + open.len_utf8();
        let end = closing_of(open).and_then(|close| {
            let length = rest[inside..].find(close)?;
            Some(inside + length + close.len_utf8())
        });
        masked.push_str(&rest[..at]);
        match end {
            Some(end) => masked.extend(std::iter::repeat_n('c', end - at)),
            None => masked.push(open),
        }
        rest = &rest[end.unwrap_or(inside)..];
    }
    masked + rest
}

fn closing_of(open: char) -> Option<char> {
    match open {
        '`' | '"' => Some(open),
        '“' => Some('”'),
        '„' => Some('“'),
        _ => None,
    }
}

/// Masks quotations, and leaves code spans.
pub(crate) fn without_quotations(line: &str) -> String {
    let mut rest = String::with_capacity(line.len());
    for (at, piece) in line.split('`').enumerate() {
        if at > 0 {
            rest.push('`');
        }
        match at % 2 {
            0 => rest.push_str(&with_code_masked(piece)),
            _ => rest.push_str(piece),
        }
    }
    rest
}

/// Removes code spans, which aren't the author's own words.
pub(crate) fn without_code(line: &str) -> String {
    let line = line.replace('’', "'");
    let is_paired = line.matches('`').count().is_multiple_of(2);
    if is_paired {
        line.split('`').step_by(2).collect::<Vec<_>>().join("code")
    } else {
        line
    }
}

/// A closed code fence, given by its first and last line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fence {
    pub(crate) first: usize,
    pub(crate) last: usize,
}

/// The code fences of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fences {
    pub(crate) closed: Vec<Fence>,
    /// The first line of a fence that never closes.
    pub(crate) unclosed: Option<usize>,
}

pub(crate) fn fences(text: &str) -> Fences {
    let mut closed = Vec::new();
    let mut open: Option<(usize, char, usize)> = None;
    for (n, line) in text.lines().enumerate() {
        let Some((mark, length, is_bare)) = fence_mark(line) else {
            continue;
        };
        match open {
            None => open = Some((n, mark, length)),
            Some((first, opened_by, at_least)) => {
                if mark == opened_by && length >= at_least && is_bare {
                    closed.push(Fence { first, last: n });
                    open = None;
                }
            }
        }
    }
    Fences {
        closed,
        unclosed: open.map(|(first, ..)| first),
    }
}

/// Parses a fence line: its character, its length, and whether nothing follows.
fn fence_mark(line: &str) -> Option<(char, usize, bool)> {
    let text = line.trim();
    let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = text.chars().take_while(|c| *c == mark).count();
    let info = &text[length..];
    // A code span that fills the line isn't a fence.
    (length >= 3 && !info.contains('`')).then_some((mark, length, info.trim().is_empty()))
}

/// Matches clauses that describe behaviour, up to their end.
static DESCRIPTION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi)
          \b(?:fails?\s(?:\w+\s){0,3}(?:if|unless)|when|whenever|if|unless|in\scase|as\ssoon\sas)\s[^,.;:!?)—]*
        | \b(?:so|such)\sthat\s[^.;!?)]* | \bso\s(?:nobody|no\sone|nothing|users?|callers?|they|it|you)\s(?:can|could|will|would|never|is|are)\b[^.;!?)]*
        | \b(?:added|wrote|written|created|introduced|include[sd]?|there\sis\snow)\s(?:\S+\s){0,5}(?:tests?|cases?|checks?|specs?|assertions?|examples?|fixtures?)\s(?:that|which)\s[^,.;!?)]*
        | \b(?:added|implemented|introduced|enforced|new)\s(?:\S+\s){0,3}(?:validations?|rules?|checks?|constraints?|guards?|invariants?)(?:\s(?:for|to|on|of|in)(?:\s\S+){1,4})?:\s[^.;!?]*
        | \b(?:on|upon|after|for|in\scase\sof|handles?|handling|catch(?:es)?|reports?|shows?|returns?|raises?|throws?|logs?)\s(?:\S+\s){0,3}(?:errors?|failures?|failed|timeouts?|exceptions?)\b[^,.;!?)]*
        | [^.;!?)]*\bas\s(?:the\s(?:task|ticket|issue|plan|spec|story)|you)\s(?:says?|said|asks?|asked|wants?|wanted|requests?|requested|requires?|required|specif\w+|states?|demand(?:s|ed)?)\b[^.;!?)]* | \bfail(?:s|ed)?\s(?:on|against|before|without)\s(?:the\s)?(?:old|previous|unfixed|original|fix|change|patch)\b[^.;!?)]* | [^.;!?)]*\b(?:was|were|is)\spart\sof\sthe\s(?:task|plan|ticket)\b[^.;!?)]*
        | [^.;!?)]*\bas\s(?:requested|asked|wanted|instructed|agreed|specified|planned|intended)\b[^.;!?)]*
        | \bretr(?:y|ies|ied|ying)\b[^.;!?)]* | \bgives?\sup\safter\b[^,.;!?)]*
        | \b(?:wenn|falls|sobald|sodass|damit)\s[^,.;:!?)]* | \bbei\s(?:einem|einer|jedem|jeder)?\s?\w*(?:fehler\w*|ausfall|timeout)[^,.;:!?)]*
        | \b(?:quand|lorsque|dès\sque|afin\sque|pour\sque|en\scas\sd(?:e|'))\b[^,.;:!?)]* | \blorsqu'[^,.;:!?)]* | \bs'il\s[^,.;:!?)]*
        | \b(?:cuando|para\sque|en\scaso\sde|quando|para\sque|em\scaso\sde|caso|in\scaso\sdi|affinché|wanneer|zodat|in\sgeval\svan)\s[^,.;:!?)]*
        | (?:когда|если|чтобы|при\s\w*\s?ошибк)[^,.;:!?)]*
        | [^，。；、：]*(?:失败|错误|失敗|エラー|不存在|找不到|실패|오류)[^，。；、]{0,6}(?:时|的时候|時に|場合|하면|경우)",
    )
    .ok()
});

/// Matches words after which a sentence says what went wrong, in any clause.
static ADVERSATIVE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(?:but|however|although|though|unfortunately|aber|jedoch|allerdings|leider|mais|cependant|malheureusement|pero|sin embargo|mas|porém|però|ma|maar|echter|но|однако)\b|但|不过|しかし|ただし|하지만|그러나",
    )
    .ok()
});

/// Removes clauses that only describe behaviour.
pub(crate) fn without_descriptions(line: &str) -> String {
    let (Some(description), Some(adversative)) = (DESCRIPTION.as_ref(), ADVERSATIVE.as_ref())
    else {
        return line.to_owned();
    };
    let sentences = line.split_inclusive(". ").map(|sentence| {
        if adversative.is_match(sentence) {
            Cow::Borrowed(sentence)
        } else {
            description.replace_all(sentence, " ")
        }
    });
    sentences.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(own_lines(text).collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn fenced_and_quoted_lines_are_not_the_authors_own() {
        check("a\n```sh\nb\n```\nc\n> d\ne", &["a", "c", "e"]);
        check("~~~\n```\n~~~\nx", &["x"]);
        check("````\n```\n````\nx", &["x"]);
    }

    #[test]
    fn each_sentence_gets_its_own_line() {
        assert_eq!(
            sentences("It works. See `a.py`!\n> no. no\n完成。但是"),
            "It works.\n See `a.py`!\n完成。\n但是\n"
        );
    }

    #[test]
    fn a_fence_that_never_closes_hides_nothing() {
        check("a\n```\nb", &["a", "```", "b"]);
        check("```not a fence```\nb", &["```not a fence```", "b"]);
    }

    fn check_description(line: &str, expected: &str) {
        let words: Vec<String> = without_descriptions(line)
            .split_whitespace()
            .map(str::to_owned)
            .collect();
        assert_eq!(words.join(" "), expected, "{line}");
    }

    #[test]
    fn descriptions_of_the_work_are_removed() {
        check_description(
            "Added a test that fails when the cache is cold, and made it pass.",
            ", and made it pass.",
        );
        check_description(
            "I escaped it so that nobody can inject a tag.",
            "I escaped it .",
        );
        check_description("Added validation: the amount can't be negative.", ".");
        check_description("登录失败时显示提示", "显示提示");
    }

    #[test]
    fn reports_about_the_work_stay() {
        check_description("The tests fail when run in parallel.", "The tests fail .");
        check_description("When I start it, it crashes.", ", it crashes.");
        let but = "I added it, but when the build runs it fails.";
        check_description(but, but);
        check_description("运行测试时失败了", "运行测试时失败了");
        check_description("I have two tests that fail.", "I have two tests that fail.");
    }
}
