//! The forms of the grammar. Each must match a text to its end.

use regreen_model::{Comparison, Expectation};

use super::Subject;

/// The meaning of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Exit code 0.
    Passes,
    /// Another result.
    Expects(Expectation),
}

impl Meaning {
    pub(super) fn expectation(&self) -> Option<Expectation> {
        match self {
            Self::Passes => None,
            Self::Expects(expected) => Some(expected.clone()),
        }
    }

    /// Returns whether a failing command could meet the expectation without printing anything that
    /// proves it.
    pub(super) fn accepts_failure(&self) -> bool {
        match self {
            Self::Expects(Expectation::Fails | Expectation::Exits(_)) => true,
            Self::Expects(Expectation::Returns(_, number)) => *number != 0,
            Self::Expects(_) | Self::Passes => false,
        }
    }
}

/// Words that turn a command into a condition.
pub(super) const CONDITIONS: &[&str] = &[
    "if", "when", "whenever", "unless", "until", "once", "while", "before", "case",
];
/// Words that negate what is said about a command.
pub(super) const NEGATIONS: &[&str] = &[
    "no", "not", "nothing", "none", "neither", "nor", "never", "without", "cannot", "nobody",
    "nowhere", "hardly",
];
/// Words that introduce a form and mean nothing here.
const FILLERS: &[&str] = &[
    "should",
    "must",
    "will",
    "it",
    "they",
    "that",
    "which",
    "to",
    "still",
    "now",
    "always",
    "the",
    "output",
    "result",
    "command",
    "commands",
    "expected output",
    "expected result",
    "then",
    "checks",
    "tests",
    "count",
];
/// Words for several commands.
const DISTRIBUTIVE: &[&str] = &["both", "each", "all"];
/// Verbs for what a command prints. A plain word after them is the text itself.
const PRINTING: &[&str] = &[
    "prints", "print", "outputs", "output", "contains", "contain", "includes", "include", "echoes",
];
/// Verbs for what a command prints or is like. A plain word after them is prose.
const SHOWING: &[&str] = &[
    "shows", "show", "gives", "give", "finds", "find", "yields", "yield", "reports", "report",
    "lists", "list", "equals", "equal", "is", "be", "are", "has", "have", "displays", "display",
    "confirms", "produces", "produce", "=", "==",
];
/// Verbs for what a command prints, or for its exit code.
const RETURNING: &[&str] = &[
    "returns", "return", "returned", "expect", "expects", "expected", "→", "->", "=>",
];

const PASSES: &[&str] = &[
    "passes",
    "pass",
    "passed",
    "passing",
    "succeeds",
    "succeed",
    "works",
    "work",
    "is green",
    "are green",
    "green",
    "is successful",
    "exits successfully",
    "exit successfully",
    "exits cleanly",
    "✓",
    "✅",
    "ok",
];
const FAILS: &[&str] = &[
    "fails",
    "fail",
    "not pass",
    "does not pass",
    "do not pass",
    "not succeed",
    "non-zero",
    "nonzero",
    "returns non-zero",
    "returns nonzero",
    "return non-zero",
    "return nonzero",
    "non-zero exit",
    "nonzero exit",
    "non-zero exit code",
    "nonzero exit code",
    "non-zero exit status",
    "a non-zero exit code",
    "returns a non-zero exit code",
];
const NOTHING: &[&str] = &[
    "nothing",
    "no output",
    "empty",
    "empty output",
    "an empty output",
    "no results",
    "no result",
    "zero results",
    "no lines",
    "blank",
];
const SOMETHING: &[&str] = &[
    "results",
    "a result",
    "matches",
    "a match",
    "output",
    "some output",
    "something",
    "non-empty",
    "nonempty",
    "not empty",
    "lines",
    "at least one match",
    "at least one result",
    "at least one line",
];
/// Words in capitals that are prose: "shows the URL".
const ACRONYMS: &[&str] = &[
    "API", "CI", "CLI", "CSV", "HTML", "ID", "JSON", "PID", "PR", "SHA", "UI", "URL", "XML", "YAML",
];
/// Nouns for a line of output.
const LINES: &[&str] = &[
    "match",
    "matches",
    "result",
    "results",
    "hit",
    "hits",
    "occurrence",
    "occurrences",
    "line",
    "lines",
    "file",
    "files",
    "directory",
    "directories",
    "folder",
    "folders",
    "entry",
    "entries",
    "row",
    "rows",
    "item",
    "items",
    "location",
    "locations",
    "reference",
    "references",
];
/// Words that may follow what is counted or shown.
const TRAILING: &[&str] = &[
    "created",
    "found",
    "present",
    "listed",
    "left",
    "remaining",
    "total",
    "status",
    "state",
    "states",
    "line",
    "lines",
    "message",
    "messages",
    "entry",
    "entries",
    "text",
    "string",
];
const COMPARISONS: &[(&str, Comparison)] = &[
    (">=", Comparison::AtLeast),
    ("≥", Comparison::AtLeast),
    ("at least", Comparison::AtLeast),
    ("<=", Comparison::AtMost),
    ("≤", Comparison::AtMost),
    ("at most", Comparison::AtMost),
    (">", Comparison::MoreThan),
    ("more than", Comparison::MoreThan),
    ("greater than", Comparison::MoreThan),
    ("<", Comparison::LessThan),
    ("less than", Comparison::LessThan),
    ("fewer than", Comparison::LessThan),
];
/// Words that state something about a result, understood or not.
const STATING: &[&str] = &[
    "should",
    "must",
    "expect",
    "expected",
    "no",
    "not",
    "zero",
    "only",
    "fails",
    "fail",
    "failed",
    "failing",
    "failure",
    "pass",
    "passes",
    "non-zero",
    "nonzero",
    "non-empty",
    "empty",
    "exit",
    "exits",
    "errors",
    "same",
    "unchanged",
    "identical",
    "without",
    "manual",
    "manually",
    "recorded",
    "gone",
    "appears",
    "appear",
    "exists",
    "exist",
    "count",
    "green",
    "returned",
];

/// Words that start an aside.
const ASIDE: &[&str] = &[
    "exists", "exist", "exists)", "passes", "pass", "manual", "is", "are", "has",
];

/// Returns the meaning of a text, if all of it is one form.
pub(super) fn meaning(text: &str, is_set_off: bool, subject: Subject) -> Option<Meaning> {
    let mut words = Words(text.trim());
    let mut is_distributive = false;
    loop {
        if words.eat_any(DISTRIBUTIVE).is_some() {
            is_distributive = true;
        } else if words.is_any(PASSES) {
            return Some(Meaning::Passes);
        } else if words.is_any(FAILS) {
            return Some(fails(subject));
        } else if let Some(meaning) = exit_code(words) {
            return Some(meaning);
        } else if !words.eat_filler() {
            break;
        }
    }
    let verb = words.eat_verb();
    let is_success = words.is_success() || (is_distributive && words.is_any(PASSES));
    if verb.is_some() && is_success {
        return Some(Meaning::Passes);
    }
    let form = Form {
        verb,
        is_distributive,
        is_set_off,
        subject,
    };
    form.object(words).map(Meaning::Expects)
}

/// Returns whether a text says something about a result.
pub(super) fn states_something(text: &str) -> bool {
    let is_word = |word: &str| {
        let lower = word.to_lowercase();
        let lower = lower.trim_matches(|c: char| !c.is_alphanumeric() && c != '-');
        [STATING, PRINTING, SHOWING, RETURNING]
            .iter()
            .any(|list| list.contains(&lower))
    };
    let is_sign = |word: &str| {
        word.starts_with(['→', '>', '<', '≥', '≤', '='])
            || word.starts_with(|c: char| c.is_ascii_digit())
    };
    let mut words = text.split_whitespace();
    if opens_aside(text) {
        return words.any(|word| is_word(word) && !ASIDE.contains(&word.to_lowercase().as_str()));
    }
    words.any(|word| is_word(word) || is_sign(word))
}

/// Returns whether the text is an aside, such as "or equivalent", "if it exists" or "to confirm
/// AC-1".
pub(super) fn opens_aside(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    let openings = [
        "or", "if", "to", "in", "for", "from", "at", "via", "using", "under", "inside", "within",
        "on", "as", "after",
    ];
    openings.contains(&first.to_lowercase().as_str())
}

/// Returns the meaning of "fails". A counter like `grep -c x file` is non-zero if it prints another
/// number.
fn fails(subject: Subject) -> Meaning {
    Meaning::Expects(if subject.is_counting {
        Expectation::Prints(Comparison::MoreThan, 0)
    } else {
        Expectation::Fails
    })
}

/// Parses `exits 0`, `exit code is 2`, `returns exit code 1`, `exits with a non-zero status`.
fn exit_code(mut words: Words<'_>) -> Option<Meaning> {
    words.eat_any(&["returns", "return", "with"]);
    words.eat_any(&["exits", "exit"])?;
    while words
        .eat_any(&["with", "a", "an", "code", "status", "is", "of", "=", ":"])
        .is_some()
    {}
    if words.is_any(&[
        "non-zero",
        "nonzero",
        "non-zero code",
        "non-zero status",
        "non-zero exit code",
    ]) {
        return Some(Meaning::Expects(Expectation::Fails));
    }
    let number = words.eat_number()?;
    let meaning = match number {
        0 => Meaning::Passes,
        number => Meaning::Expects(Expectation::Exits(number)),
    };
    words.0.is_empty().then_some(meaning)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Printing,
    Showing,
    Returning,
    /// "does not show".
    Lacking,
}

#[derive(Clone, Copy)]
struct Form {
    verb: Option<Verb>,
    is_distributive: bool,
    is_set_off: bool,
    subject: Subject,
}

impl Form {
    /// Parses the expected output: nothing, something, a number, or a text.
    fn object(self, mut words: Words<'_>) -> Option<Expectation> {
        while words.eat_any(&["exactly", "the", "only"]).is_some() {}
        if self.verb == Some(Verb::Lacking) {
            return lacks(words);
        }
        if words.is_any(NOTHING) {
            return Some(Expectation::NoOutput);
        }
        let is_meant = self.verb.is_some() || self.is_distributive || self.is_set_off;
        if is_meant && words.is_any(SOMETHING) {
            return Some(self.something());
        }
        self.number(words)
            .or_else(|| self.no_lines(words))
            .or_else(|| {
                let mut words = words;
                words.eat_any(&["no"])?;
                lacks(words)
            })
            .or_else(|| self.text(words))
    }

    fn something(self) -> Expectation {
        if self.is_distributive && !self.subject.is_several {
            let lines = Expectation::Lines(Comparison::AtLeast, 2);
            return Expectation::All(vec![Expectation::Passes, lines]);
        }
        Expectation::Lines(Comparison::AtLeast, 1)
    }

    /// Parses `3`, `>= 3`, `5+`, `3 files`, or `0 errors` for a command that counts them.
    fn number(self, mut words: Words<'_>) -> Option<Expectation> {
        if let Some((code, rest)) = words.code() {
            let inner = Words(code);
            words = if rest.is_empty() { inner } else { return None };
        }
        let sign = COMPARISONS
            .iter()
            .find_map(|(sign, comparison)| words.eat_any(&[sign]).map(|_| *comparison));
        let number = words.eat_number()?;
        let comparison = match (sign, words.eat_any(&["+", "or more"])) {
            (None, Some(_)) => Comparison::AtLeast,
            (Some(sign), None) => sign,
            (None, None) => Comparison::Equal,
            (Some(_), Some(_)) => return None,
        };
        let is_meant = self.verb.is_some() || sign.is_some() || self.is_set_off;
        if words.0.is_empty() {
            let is_plain = matches!(self.verb, None | Some(Verb::Returning));
            return is_meant.then(|| {
                if is_plain && comparison == Comparison::Equal && !self.subject.is_counting {
                    Expectation::Returns(comparison, number)
                } else {
                    Expectation::Prints(comparison, number)
                }
            });
        }
        if self.subject.is_counting && words.is_noun() {
            return Some(Expectation::Prints(comparison, number));
        }
        words.eat_any(LINES)?;
        words.eat_any(TRAILING);
        words
            .0
            .is_empty()
            .then_some(Expectation::Lines(comparison, number))
    }

    /// Parses `no matches`, `zero lines`.
    fn no_lines(self, mut words: Words<'_>) -> Option<Expectation> {
        words.eat_any(&["no", "zero"])?;
        words.eat_any(LINES)?;
        words
            .0
            .is_empty()
            .then_some(Expectation::Lines(Comparison::Equal, 0))
    }

    /// Parses `outputs "ok then"`, `shows 4.2.0`, `prints hello`, `both return 1.0.0`.
    fn text(self, mut words: Words<'_>) -> Option<Expectation> {
        let verb = self.verb?;
        let text = words.eat_text(verb == Verb::Printing)?;
        words.eat_any(TRAILING);
        if !words.0.is_empty() {
            return None;
        }
        if self.is_distributive && !self.subject.is_several {
            let every = Expectation::EveryLine(text);
            return Some(Expectation::All(vec![Expectation::Passes, every]));
        }
        Some(Expectation::Outputs(text))
    }
}

/// Parses `no CHANGES_REQUESTED or PENDING states`.
fn lacks(mut words: Words<'_>) -> Option<Expectation> {
    let mut texts = Vec::new();
    loop {
        let text = words.eat_text(false)?;
        texts.push(Expectation::Lacks(text));
        if words.eat_any(&["or", "and"]).is_none() {
            break;
        }
    }
    words.eat_any(TRAILING);
    if !words.0.is_empty() {
        return None;
    }
    match texts.len() {
        1 => texts.pop(),
        _ => Some(Expectation::All(texts)),
    }
}

/// A text that is consumed word by word.
#[derive(Clone, Copy, Debug)]
struct Words<'t>(&'t str);

impl<'t> Words<'t> {
    /// Consumes one of these words, the longest if several match.
    fn eat_any(&mut self, words: &[&str]) -> Option<()> {
        let fitting = words.iter().filter_map(|word| self.without(word));
        *self = Self(fitting.min_by_key(|rest| rest.len())?);
        Some(())
    }

    fn without(self, word: &str) -> Option<&'t str> {
        let start = self.0.get(..word.len())?;
        let rest = self.0.get(word.len()..)?;
        let is_word = start.to_lowercase() == word;
        let is_sign = !word.ends_with(char::is_alphanumeric);
        let ends = rest.is_empty() || is_sign || rest.starts_with([' ', ':']);
        (is_word && ends).then(|| rest.trim_start_matches([' ', ':']))
    }

    /// Returns whether the whole text is one of these.
    fn is_any(self, words: &[&str]) -> bool {
        words.iter().any(|word| self.without(word) == Some(""))
    }

    /// Consumes a filler, which must be followed by something: "output" alone is what is printed.
    fn eat_filler(&mut self) -> bool {
        let mut rest = *self;
        let is_filler = rest.eat_any(FILLERS).is_some() && !rest.0.is_empty();
        if is_filler {
            *self = rest;
        }
        is_filler
    }

    fn eat_verb(&mut self) -> Option<Verb> {
        let negations = [
            "does not",
            "do not",
            "doesn't",
            "don't",
            "not",
            "never",
            "does never",
        ];
        let mut negated = *self;
        let listed: Vec<&str> = [PRINTING, SHOWING, RETURNING].concat();
        if negated.eat_any(&negations).is_some() && negated.eat_any(&listed).is_some() {
            *self = negated;
            return Some(Verb::Lacking);
        }
        let kinds = [
            (PRINTING, Verb::Printing),
            (RETURNING, Verb::Returning),
            (SHOWING, Verb::Showing),
        ];
        kinds
            .into_iter()
            .find_map(|(words, verb)| self.eat_any(words).map(|()| verb))
    }

    fn eat_number(&mut self) -> Option<u64> {
        let end = self.0.find(|c: char| !c.is_ascii_digit());
        let (number, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
        let number = number.parse().ok()?;
        let ends = rest.is_empty() || rest.starts_with([' ', '+']);
        ends.then(|| *self = Self(rest.trim_start()))?;
        Some(number)
    }

    /// Returns the code in backticks at the start, and the rest.
    fn code(self) -> Option<(&'t str, &'t str)> {
        let (code, rest) = self.0.strip_prefix('`')?.split_once('`')?;
        Some((code.trim(), rest.trim()))
    }

    /// Consumes a text in quotes or backticks, or one word that looks more like code than prose.
    fn eat_text(&mut self, allows_prose: bool) -> Option<String> {
        for (open, close) in [('"', '"'), ('“', '”'), ('`', '`')] {
            let Some(inner) = self.0.strip_prefix(open) else {
                continue;
            };
            let (text, rest) = inner.split_once(close)?;
            if text.trim().is_empty() {
                return None;
            }
            *self = Self(rest.trim_start());
            return Some(text.to_owned());
        }
        let end = self.0.find(' ').unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at(end);
        let is_only = allows_prose && rest.is_empty() && !word.is_empty();
        (is_only || is_code(word)).then(|| *self = Self(rest.trim_start()))?;
        Some(word.to_owned())
    }

    /// Whether this is like `all green` or `all checks passing`.
    fn is_success(mut self) -> bool {
        let is_all = self.eat_any(&["all"]).is_some();
        self.eat_any(&["checks", "tests", "commands"]);
        self.eat_any(&["as", "are"]);
        is_all && self.is_any(PASSES)
    }

    /// Whether this is a few words without a verb, as a counter counts.
    fn is_noun(self) -> bool {
        let words = || self.0.split_whitespace();
        words().count() <= 3
            && !words().any(|word| {
                let word = word.to_lowercase();
                CONDITIONS.contains(&word.as_str())
                    || ["on", "in", "or", "for", "per", "of", "than"].contains(&word.as_str())
            })
    }
}

/// Whether this is like `er.async_get`, `CHANGES_REQUESTED`, `4.2.0` or `null`.
fn is_code(word: &str) -> bool {
    if ["null", "true", "false", "none", "undefined"].contains(&word.to_lowercase().as_str()) {
        return true;
    }
    let has_inner_capital = word.chars().skip(1).any(char::is_uppercase);
    let has_sign = word
        .chars()
        .any(|c| c.is_ascii_digit() || "_=.".contains(c));
    let is_plain = word
        .chars()
        .all(|c| c.is_alphanumeric() || "_=/.-:".contains(c));
    let singular = word.strip_suffix('s').unwrap_or(word);
    is_plain && (has_inner_capital || has_sign) && !ACRONYMS.contains(&singular)
}
