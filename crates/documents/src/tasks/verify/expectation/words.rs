//! The words of the grammar, and a text that is read by them.

use regreen_model::Comparison;

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
pub(super) const FILLERS: &[&str] = &[
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
pub(super) const DISTRIBUTIVE: &[&str] = &["both", "each", "all"];
/// Verbs for what a command prints. A plain word after them is the text itself.
pub(super) const PRINTING: &[&str] = &[
    "prints", "print", "outputs", "output", "contains", "contain", "includes", "include", "echoes",
];
/// Verbs for what a command prints or is like. A plain word after them is prose.
pub(super) const SHOWING: &[&str] = &[
    "shows", "show", "gives", "give", "finds", "find", "yields", "yield", "reports", "report",
    "lists", "list", "equals", "equal", "is", "be", "are", "has", "have", "displays", "display",
    "confirms", "produces", "produce", "=", "==",
];
/// Verbs for what a command prints, or for its exit code.
pub(super) const RETURNING: &[&str] = &[
    "returns", "return", "returned", "expect", "expects", "expected", "→", "->", "=>",
];

pub(super) const PASSES: &[&str] = &[
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
pub(super) const FAILS: &[&str] = &[
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
pub(super) const NOTHING: &[&str] = &[
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
pub(super) const SOMETHING: &[&str] = &[
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
pub(super) const ACRONYMS: &[&str] = &[
    "API", "CI", "CLI", "CSV", "HTML", "ID", "JSON", "PID", "PR", "SHA", "UI", "URL", "XML", "YAML",
];
/// Nouns for a line of output.
pub(super) const LINES: &[&str] = &[
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
pub(super) const TRAILING: &[&str] = &[
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
pub(super) const COMPARISONS: &[(&str, Comparison)] = &[
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
pub(super) const STATING: &[&str] = &[
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

/// What a statement says about the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Printing,
    Showing,
    Returning,
    /// "does not show".
    Lacking,
}

/// A text that is consumed word by word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words<'t>(pub(super) &'t str);

impl<'t> Words<'t> {
    /// Consumes one of these words, the longest if several match.
    pub(super) fn eat_any(&mut self, words: &[&str]) -> Option<()> {
        let fitting = words.iter().filter_map(|word| self.without(word));
        *self = Self(fitting.min_by_key(|rest| rest.len())?);
        Some(())
    }

    pub(super) fn without(self, word: &str) -> Option<&'t str> {
        let start = self.0.get(..word.len())?;
        let rest = self.0.get(word.len()..)?;
        let is_word = start.to_lowercase() == word;
        let is_sign = !word.ends_with(char::is_alphanumeric);
        let ends = rest.is_empty() || is_sign || rest.starts_with([' ', ':']);
        (is_word && ends).then(|| rest.trim_start_matches([' ', ':']))
    }

    /// Returns whether the whole text is one of these.
    pub(super) fn is_any(self, words: &[&str]) -> bool {
        words.iter().any(|word| self.without(word) == Some(""))
    }

    /// Consumes a filler, which must be followed by something: "output" alone is what is printed.
    pub(super) fn eat_filler(&mut self) -> bool {
        let mut rest = *self;
        let is_filler = rest.eat_any(FILLERS).is_some() && !rest.0.is_empty();
        if is_filler {
            *self = rest;
        }
        is_filler
    }

    pub(super) fn eat_verb(&mut self) -> Option<Verb> {
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

    pub(super) fn eat_number(&mut self) -> Option<u64> {
        let end = self.0.find(|c: char| !c.is_ascii_digit());
        let (number, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
        let number = number.parse().ok()?;
        let ends = rest.is_empty() || rest.starts_with([' ', '+']);
        ends.then(|| *self = Self(rest.trim_start()))?;
        Some(number)
    }

    /// Returns the code in backticks at the start, and the rest.
    pub(super) fn code(self) -> Option<(&'t str, &'t str)> {
        let (code, rest) = self.0.strip_prefix('`')?.split_once('`')?;
        Some((code.trim(), rest.trim()))
    }

    /// Consumes a text in quotes or backticks, or one word that looks more like code than prose.
    pub(super) fn eat_text(&mut self, allows_prose: bool) -> Option<String> {
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
    pub(super) fn is_success(mut self) -> bool {
        let is_all = self.eat_any(&["all"]).is_some();
        self.eat_any(&["checks", "tests", "commands"]);
        self.eat_any(&["as", "are"]);
        is_all && self.is_any(PASSES)
    }

    /// Whether this is a few words without a verb, as a counter counts.
    pub(super) fn is_noun(self) -> bool {
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
