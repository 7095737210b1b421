use std::sync::LazyLock;

use regex::Regex;

use crate::failure_block::has_any_failure_block;
use crate::prose::{own_lines, sentence_ranges, sentences, unfenced_lines, without_descriptions};

/// How many items of a list are kept.
const MAX_ITEMS: usize = 50;
const MAX_ITEM: usize = 200;

/// The statements of a final message about the work, besides whether it failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) completed_steps: Vec<String>,
    pub(crate) open_steps: Vec<String>,
    pub(crate) files: Vec<String>,
    /// The 1-based `Error:` line of a failure block, and its text.
    pub(crate) failure_line: Option<u64>,
    pub(crate) failure_text: Option<String>,
    /// The first line that only plans what to do next.
    pub(crate) plan: Option<Line>,
    /// The first line with a negation.
    pub(crate) doubt: Option<Line>,
    lines: usize,
}

/// A line of a message, 1-based.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) number: u64,
    pub(crate) text: String,
}

/// Matches negations in the languages that agents write.
static NO: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(?:not|no|never|none|nothing|nobody|cannot|can't|\w+n't|without|unable|missing|lack\w*|impossible|blocked|stuck|nicht|kein\w*|nie|fehl(?:t|te|en|ten)|pas|aucun\w*|jamais|ningun\w*|nunca|falta\w*|não|nenhum\w*|non|nessun\w*|niet|geen|nie|brak|не|нет|ничего|нельзя)\b|[不没無无未]|ない|ません|\?|？",
    )
    .ok()
});

/// Matches negations that are good news: no errors, no problems.
static GOOD_NEWS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(?:no|zero|without(?: any| a| a single)?) (?:\w+ )?(?:errors?|failures?|warnings?|issues?|problems?|regressions?|conflicts?|changes? in behaviou?r)\b|\bnothing (?:else )?(?:failed|broke|is broken|is missing|is left|was left|else)\b|\bno longer\b|\bno more \w+|(?:^|[\s(])'[^'\n]{2,60}'(?:[\s.,;:!?)]|$)|\x22[^\x22\n]{2,80}\x22|\bnot only\b|\bkeine? (?:Fehler|Warnungen|Probleme)\b|\bnicht mehr\b|\baucune? (?:erreur|problème|avertissement)\b|\bsin (?:errores|problemas)\b|\bningún (?:error|problema)\b|\bsem (?:erros|problemas)\b|\bnenhum (?:erro|problema)\b|(?:没有|無|无)(?:任何)?(?:错误|問題|问题)|問題(?:は)?ありません|エラーは(?:ありません|出ません)|\bnessun (?:errore|problema)\b|\bgeen (?:fouten|problemen)\b|без ошибок",
    )
    .ok()
});

/// A runner's note about an agent has fewer lines than this.
const LONG: usize = 12;

static STEP: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^\s*(?:[-*•+]\s+|\d{1,3}[.)]\s+)?(?:(?:[✓✔✅☑]\u{fe0f}?|\[[xX✓✔]\])\s*(?P<step>\S.*)|(?i:step|schritt|étape|paso|passo|stap) \d+(?: ?(?:/|of) ?\d+)?\s*[:.)–—-]\s*(?P<named>\S.*?)\s*(?:[-–—:(\[]\s*)?(?:(?i:done|completed?|finished)\b[)\]]?|[✓✔✅☑]\u{fe0f}?)[.!]?)\s*$").ok()
});
static OPEN_STEP: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^\s*(?:[-*•+]\s+|\d{1,3}[.)]\s+)?(?:[✗✘✖❌☐]\u{fe0f}?|\[ \])\s*(?P<step>\S.*)$")
        .ok()
});
static FILES_LINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^\s*(?:[-*]\s+)?\**files?(?: (?:modified|changed|created|touched))?\**:\**\s*(?P<files>\S.*)$").ok()
});
/// Matches a path in a code span, or a bare path with a folder and an extension.
static FILE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"`(?P<span>[\w@.~+-]*(?:/[\w@.+-]+)*/?[\w@+-]*\.[A-Za-z]\w{0,9})`|(?:^|[\s(])(?P<bare>[\w@.+-]+(?:/[\w@.+-]+)+\.[A-Za-z]\w{0,9})\b").ok()
});
static ABSENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:can(?:'t|not)|could(?:n't| not)|unable to|did(?:n't| not)) (?:find|locate|open|read|access|see)\b|\b(?:does(?:n't| not)|do(?:n't| not)) exist\b|\b(?:is|are|was|were) (?:missing|absent|not (?:in|there|found|present|attached|provided|included))|\b(?:isn't|aren't|wasn't) (?:in|there|present|attached|provided)|\bno (?:such )?file\b|\bnot found\b|nicht (?:gefunden|finden|vorhanden)|existiert nicht|liegt nicht|\bfehlt\b|introuvable|ne trouve pas|n'existe pas|no (?:encuentro|existe)|não (?:encontr|existe)|找不到|不存在|缺少|見つかりません|見当たりません|存在しません|찾을 수 없|존재하지 않|не (?:наш|найден|существует|могу найти)|niet (?:gevonden|vinden)|bestaat niet|non (?:trovo|esiste)").ok()
});
static ERROR_LINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^\s*(?:[-*•+]\s+)?[*_]*error[*_]*\s*:[*_]*\s*(?P<error>\S.*)$").ok()
});

/// Matches the label above a plain list of what is done.
static DONE_LABEL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^\W*(?:(?:work|steps?|tasks?|items?) )?(?:completed|done|finished)(?: (?:work|steps?|items?|so far|before (?:the )?failure|already))*\W*:\W*$").ok()
});
/// Matches the label above a plain list of what is not.
static OPEN_LABEL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^\W*(?:(?:still )?(?:remaining|open|left|outstanding|not done|to ?do|missing)(?: (?:work|steps?|items?|to do))?|(?:work|steps?|items?) (?:remaining|left|still open))\W*:\W*$").ok()
});
/// Matches the label of steps that come next, and what follows it on the line.
static PLAN_LABEL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^\W*(?:(?:my )?next (?:steps?|up)|next|what(?:'s| is) next|(?:still )?to ?do|(?:still )?(?:remaining|left|open)(?: to do)?)(?: (?:for me|from here))?\W*:\W*(?P<step>.*)$").ok()
});
static NOT_TO_DO: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:none|nothing|n/a|you|your|optional\w*|if|could|might|later|https?|task \d|\d+\.\d+)\b").ok()
});
static BULLET: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^\s*(?:[-*•+]|\d{1,3}[.)])\s+(?P<step>\S.*?)\s*$").ok());

impl Message {
    pub(crate) fn read(text: &str) -> Self {
        let (failure_line, failure_text) = failure(text).unzip();
        Self {
            completed_steps: marked_or_listed(text, &STEP, &DONE_LABEL),
            open_steps: marked_or_listed(text, &OPEN_STEP, &OPEN_LABEL),
            files: files(text),
            failure_line,
            failure_text,
            plan: plan(text),
            doubt: doubt(text),
            lines: text.lines().count(),
        }
    }

    /// Returns whether it is too long to be a runner's note about an agent.
    pub(crate) fn is_long(&self) -> bool {
        self.lines > LONG
    }
}

/// Returns the code spans of a message that have several words, with their lines.
pub(crate) fn code_spans(text: &str) -> Vec<Line> {
    let mut spans = Vec::new();
    for (n, line) in text.lines().enumerate() {
        let inside = line.split('`').skip(1).step_by(2);
        let quotes = inside.filter(|span| span.contains(' ') && span.len() <= MAX_ITEM);
        spans.extend(quotes.map(|span| Line {
            number: n as u64 + 1,
            text: span.to_owned(),
        }));
    }
    spans.truncate(MAX_ITEMS);
    spans
}

fn doubt(text: &str) -> Option<Line> {
    let (no, good_news) = (NO.as_ref()?, GOOD_NEWS.as_ref()?);
    let says_no =
        |line: &str| no.is_match(&good_news.replace_all(&without_descriptions(line), " "));
    // An echoed command says nothing.
    let said = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.starts_with("$ "));
    let (n, line) = said.into_iter().find(|(_, line)| says_no(line))?;
    Some(Line {
        number: n as u64 + 1,
        text: cut(line.trim()),
    })
}

/// Returns the first line below or after a label such as "Next steps:", unless it says that there is
/// nothing to do, or that it is up to someone else.
fn plan(text: &str) -> Option<Line> {
    let label = PLAN_LABEL.as_ref()?;
    let labelled = |line: &'_ str| {
        let mut sentences = sentence_ranges(line);
        sentences.find(|at| label.is_match(&line[at.clone()]))
    };
    let mut lines = unfenced_lines(text).skip_while(|(_, line)| labelled(line).is_none());
    let (n, line) = lines.next()?;
    let sentence = &line[labelled(line)?];
    let same = label.captures(sentence)?.name("step");
    let (number, step) = match same {
        Some(step) if !step.as_str().is_empty() => (n, sentence),
        _ => lines.find(|(_, line)| !line.trim().is_empty())?,
    };
    let is_to_do = !NOT_TO_DO.as_ref().is_some_and(|other| other.is_match(step));
    is_to_do.then(|| Line {
        number: number as u64 + 1,
        text: cut(step.trim()),
    })
}

/// Returns the steps with a mark of their own, or else those listed below a label.
fn marked_or_listed(
    text: &str,
    mark: &LazyLock<Option<Regex>>,
    label: &LazyLock<Option<Regex>>,
) -> Vec<String> {
    let marked = steps(text, mark);
    if marked.is_empty() {
        listed_steps(text, label)
    } else {
        marked
    }
}

fn listed_steps(text: &str, label: &LazyLock<Option<Regex>>) -> Vec<String> {
    let (Some(label), Some(bullet)) = (label.as_ref(), BULLET.as_ref()) else {
        return Vec::new();
    };
    let below = own_lines(text).skip_while(|line| !label.is_match(line));
    let list = below.skip(1).skip_while(|line| line.trim().is_empty());
    let items = list.map_while(|line| bullet.captures(line));
    items
        .map(|found| cut(&found["step"]))
        .filter(|step| !step.eq_ignore_ascii_case("none"))
        .take(MAX_ITEMS)
        .collect()
}

fn steps(text: &str, mark: &LazyLock<Option<Regex>>) -> Vec<String> {
    let Some(step) = mark.as_ref() else {
        return Vec::new();
    };
    let steps = own_lines(text).filter_map(|line| step.captures(line));
    let named = steps.filter_map(|found| found.name("step").or_else(|| found.name("named")));
    named
        .map(|step| cut(step.as_str().trim()))
        .take(MAX_ITEMS)
        .collect()
}

/// Returns the files in a `Files modified:` line if there is one, otherwise all files named.
fn files(text: &str) -> Vec<String> {
    listed_files(text).unwrap_or_else(|| named_files(text))
}

fn listed_files(text: &str) -> Option<Vec<String>> {
    let regex = FILES_LINE.as_ref()?;
    let found = own_lines(text).find_map(|line| regex.captures(line))?;
    let list = found["files"]
        .split(',')
        .map(|file| file.trim().trim_matches(['`', '*']));
    let is_file = |file: &&str| !file.is_empty() && !file.eq_ignore_ascii_case("none");
    Some(list.filter(is_file).map(cut).take(MAX_ITEMS).collect())
}

fn named_files(text: &str) -> Vec<String> {
    let Some(regex) = FILE.as_ref() else {
        return Vec::new();
    };
    let mut files: Vec<String> = Vec::new();
    let sentences = sentences(text);
    let present = sentences
        .lines()
        .filter(|sentence| !is_about_absence(sentence));
    for found in present.flat_map(|line| regex.captures_iter(line)) {
        let Some(file) = found.name("span").or_else(|| found.name("bare")) else {
            continue;
        };
        let file = cut(file.as_str());
        if files.len() < MAX_ITEMS && !files.contains(&file) {
            files.push(file);
        }
    }
    files
}

/// Returns whether a sentence is about something missing, so that a file it names wasn't changed.
fn is_about_absence(sentence: &str) -> bool {
    ABSENT
        .as_ref()
        .is_some_and(|absent| absent.is_match(sentence))
}

/// Returns the line number and text of the error in a failure block.
fn failure(text: &str) -> Option<(u64, String)> {
    if !has_any_failure_block(text) {
        return None;
    }
    let regex = ERROR_LINE.as_ref()?;
    let lines = text.lines().enumerate();
    let errors = lines
        .filter_map(|(n, line)| Some((n as u64 + 1, regex.captures(line)?["error"].to_owned())));
    errors.last()
}

fn cut(text: &str) -> String {
    text[..text.floor_char_boundary(MAX_ITEM)].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticked_lines_are_completed_steps() {
        let message =
            Message::read("Did this:\n- ✓ Parser added\n  ✅ Tests\n- [x] Docs\n- [ ] Release\n");
        assert_eq!(message.completed_steps, ["Parser added", "Tests", "Docs"]);
        assert_eq!(message.open_steps, ["Release"]);
    }

    #[test]
    fn numbered_and_named_steps_are_completed_steps_too() {
        let message = Message::read(
            "1. ✅ Schema\n2. [x] Views\nStep 3: Wire the form - DONE\nStep 4: Deploy\n5) [ ] Docs\n",
        );
        assert_eq!(
            message.completed_steps,
            ["Schema", "Views", "Wire the form"]
        );
        assert_eq!(message.open_steps, ["Docs"]);
    }

    #[test]
    fn steps_in_a_plain_list_below_a_label_are_steps_too() {
        let message = Message::read(
            "It stopped.\n\nWork completed before failure:\n  - Parser added\n  - Tests written\n\nRemaining:\n* Docs\n",
        );
        assert_eq!(message.completed_steps, ["Parser added", "Tests written"]);
        assert_eq!(message.open_steps, ["Docs"]);
        let none = Message::read("Completed:\n- None\n");
        assert!(none.completed_steps.is_empty());
    }

    #[test]
    fn a_file_that_is_missing_is_not_modified() {
        for text in [
            "找不到 `deploy.key`，所以没有部署。",
            "I cannot find `config/prod.yml`.",
            "La plantilla `a/b.html` no existe.",
        ] {
            assert!(Message::read(text).files.is_empty(), "{text}");
        }
        let both = Message::read("I edited `src/a.py`. `docs/spec.md` does not exist.");
        assert_eq!(both.files, ["src/a.py"]);
    }

    #[test]
    fn files_are_those_listed_or_else_those_named() {
        assert_eq!(
            Message::read("Edited `src/a.py` and b/c.rs, see `x.y()`.").files,
            ["src/a.py", "b/c.rs"]
        );
        assert_eq!(
            Message::read("`z.py`\nFiles modified: a.py, b.py").files,
            ["a.py", "b.py"]
        );
        assert!(
            Message::read("`z.py`\nFiles modified: none")
                .files
                .is_empty()
        );
    }

    #[test]
    fn a_code_span_with_several_words_may_quote_a_tool() {
        let spans = code_spans("Run `ls`:\nit says `sh: 1: jq: not found` and `a b`");
        let texts: Vec<&str> = spans.iter().map(|span| span.text.as_str()).collect();
        assert_eq!(texts, ["sh: 1: jq: not found", "a b"]);
        assert_eq!(spans[0].number, 2);
    }

    #[test]
    fn the_error_of_a_failure_block_is_found_with_its_line() {
        let message =
            Message::read("Sorry.\nTask 1.1: x FAILED\n- **Error**: boom\n- Status: no\n");
        assert_eq!(message.failure_line, Some(3));
        assert_eq!(message.failure_text.as_deref(), Some("boom"));
        assert_eq!(Message::read("- Error: boom").failure_line, None);
    }
}
