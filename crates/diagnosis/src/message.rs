use std::sync::LazyLock;

use regex::Regex;

use crate::failure_block::has_any_failure_block;
use crate::prose::own_lines;

/// More than this nobody reads.
const MAX_ITEMS: usize = 50;
const MAX_ITEM: usize = 200;

/// What a final message states about the work besides whether it failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) completed_steps: Vec<String>,
    pub(crate) open_steps: Vec<String>,
    pub(crate) files: Vec<String>,
    /// The `Error:` line of a failure block, 1-based, and what it says.
    pub(crate) failure_line: Option<u64>,
    pub(crate) failure_text: Option<String>,
    /// The first line that says no to something.
    pub(crate) doubt: Option<Line>,
    lines: usize,
}

/// A line of a message, 1-based.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) number: u64,
    pub(crate) text: String,
}

/// Words for "no" in the languages agents write.
static NO: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(?:not|no|never|none|nothing|nobody|cannot|can't|\w+n't|without|unable|missing|lack\w*|impossible|blocked|stuck|nicht|kein\w*|nie|fehl\w*|pas|aucun\w*|jamais|ningun\w*|nunca|falta\w*|não|nenhum\w*|non|nessun\w*|niet|geen|nie|brak|не|нет|ничего|нельзя)\b|[不没無无未]|ない|ません|\?|？",
    )
    .ok()
});

/// More lines than a runner's note has.
const LONG: usize = 12;

static STEP: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^\s*(?:[-*•]\s+)?(?:[✓✔✅☑]\u{fe0f}?|\[[xX]\])\s*(?P<step>\S.*)$").ok()
});
static OPEN_STEP: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^\s*(?:[-*•]\s+)?(?:[✗✘✖❌☐]\u{fe0f}?|\[ \])\s*(?P<step>\S.*)$").ok()
});
static FILES_LINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^\s*(?:[-*]\s+)?\**files?(?: (?:modified|changed|created|touched))?\**:\**\s*(?P<files>\S.*)$").ok()
});
/// A path in a code span, or a bare path with a folder and an extension.
static FILE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"`(?P<span>[\w@.~+-]*(?:/[\w@.+-]+)*/?[\w@+-]*\.[A-Za-z]\w{0,9})`|(?:^|[\s(])(?P<bare>[\w@.+-]+(?:/[\w@.+-]+)+\.[A-Za-z]\w{0,9})\b").ok()
});
static ERROR_LINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^\s*(?:[-*•+]\s+)?[*_]*error[*_]*\s*:[*_]*\s*(?P<error>\S.*)$").ok()
});

impl Message {
    pub(crate) fn read(text: &str) -> Self {
        let (failure_line, failure_text) = failure(text).unzip();
        Self {
            completed_steps: steps(text, &STEP),
            open_steps: steps(text, &OPEN_STEP),
            files: files(text),
            failure_line,
            failure_text,
            doubt: doubt(text),
            lines: text.lines().count(),
        }
    }

    /// Too long to be a note of a runner about an agent.
    pub(crate) fn is_long(&self) -> bool {
        self.lines > LONG
    }
}

/// The code spans of a message that are more than a name, with the lines they stand in.
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
    let no = NO.as_ref()?;
    let (n, line) = text
        .lines()
        .enumerate()
        .find(|(_, line)| no.is_match(line))?;
    Some(Line {
        number: n as u64 + 1,
        text: cut(line.trim()),
    })
}

fn steps(text: &str, mark: &LazyLock<Option<Regex>>) -> Vec<String> {
    let Some(step) = mark.as_ref() else {
        return Vec::new();
    };
    let steps = own_lines(text).filter_map(|line| step.captures(line));
    steps
        .map(|found| cut(found["step"].trim()))
        .take(MAX_ITEMS)
        .collect()
}

/// The files of a `Files modified:` line if there is one, else those that are named.
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
    for found in own_lines(text).flat_map(|line| regex.captures_iter(line)) {
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

/// Line number and text of the error in a failure block.
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
