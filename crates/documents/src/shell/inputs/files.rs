//! The files that a program is given.

use super::super::operands::{Search, has_flag, operands};
use super::super::{SEARCHING, Simple, Word};
use super::plain;

/// Programs that print the contents of their files.
const PRINTING: &[&str] = &[
    "cat", "cut", "head", "ls", "nl", "sort", "tac", "tail", "uniq", "wc",
];
/// Programs whose first operand is a script for the others, with the flags that replace it.
const FILTERING: &[(&str, &str)] = &[("awk", "f"), ("jq", "f"), ("sed", "ef")];
/// Interpreters, with the flags that take a value and those after which no script follows.
const INTERPRETERS: &[(&str, &str, &str)] = &[
    ("bash", "oO", "cs"),
    ("dash", "o", "cs"),
    ("node", "C", "epr"),
    ("perl", "IM", "eE"),
    ("php", "cdz", "Rr"),
    ("python", "WX", "cm"),
    ("ruby", "Ir", "e"),
    ("sh", "o", "cs"),
    ("tsx", "", "ep"),
    ("zsh", "o", "cs"),
];
/// Test runners that fail if their files are missing.
const RUNNERS: &[&str] = &["bats", "pytest", "rspec"];
/// Returns the files that a program is given.
pub(super) fn files_of(simple: &Simple) -> Vec<String> {
    let program = simple.program();
    let words = simple.argv().get(1..).unwrap_or_default();
    if let Some((_, inline)) = FILTERING.iter().find(|(name, _)| *name == program) {
        let has_script = has_flag(words, inline);
        let operands = operands(program, words).into_iter();
        return operands
            .skip(usize::from(!has_script))
            .filter_map(plain)
            .collect();
    }
    if let Some(script) = script(program, words) {
        return vec![script];
    }
    // `python3 -m pytest tests/test_a.py`
    if let [flag, module, rest @ ..] = words
        && program.starts_with("python")
        && flag.text == "-m"
        && RUNNERS.contains(&module.text.as_str())
    {
        return test_files(&operands(&module.text, rest));
    }
    let files = match program {
        "find" => before_tests(words),
        "git" => searched_by_git(words),
        "diff" | "cmp" => operands(program, words),
        _ if PRINTING.contains(&program) => operands(program, words),
        _ if SEARCHING.contains(&program) && program != "pgrep" => Search::of(words).files,
        _ if RUNNERS.contains(&program) => return test_files(&operands(program, words)),
        _ => Vec::new(),
    };
    let lists = PRINTING.contains(&program);
    let given = |word: &Word| plain(word).or_else(|| folder_of_pattern(word).filter(|_| lists));
    files.into_iter().filter_map(given).collect()
}

/// Returns the folder of `src/*.tmp`, without which nothing can match.
fn folder_of_pattern(word: &Word) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    let (folder, name) = word.text.rsplit_once('/')?;
    let is_pattern = name.contains(['*', '?']) && !folder.is_empty();
    (is_pattern && folder.chars().all(is_plain)).then(|| folder.to_owned())
}

/// Returns the files among a test runner's operands: `tests/test_a.py::test_x` names one; `smoke`
/// may be a marker.
fn test_files(operands: &[&Word]) -> Vec<String> {
    let files = operands.iter().filter_map(|word| plain(word));
    let files = files.filter(|file| file.contains(['/', '.']));
    let file = |file: String| file.split("::").next().map(str::to_owned);
    files.filter_map(file).collect()
}

/// Returns the script that a command has an interpreter run.
pub(in crate::shell) fn interpreted_script(simple: &Simple) -> Option<String> {
    script(simple.program(), simple.argv().get(1..)?)
}

/// Returns the script of an interpreter, which is its first operand.
fn script(program: &str, words: &[Word]) -> Option<String> {
    let family = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let (_, valued, inline) = INTERPRETERS.iter().find(|(name, ..)| *name == family)?;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let Some(flag) = word.text.strip_prefix('-') else {
            let script = plain(word)?;
            return script.contains(['/', '.']).then_some(script);
        };
        if flag.starts_with('-') || flag.is_empty() || flag.contains(|c| inline.contains(c)) {
            return None;
        }
        if flag.len() == 1 && valued.contains(flag) {
            words.next();
        }
    }
    None
}

/// Returns the paths of `git grep pattern -- paths…`.
fn searched_by_git(words: &[Word]) -> Vec<&Word> {
    if words.first().is_none_or(|word| word.text != "grep") {
        return Vec::new();
    }
    let paths = words.iter().skip_while(|word| word.text != "--");
    paths.skip(1).collect()
}

/// Returns the paths of `find paths… -name x`.
fn before_tests(words: &[Word]) -> Vec<&Word> {
    let is_path = |word: &&Word| !word.text.starts_with(['-', '(', '!', '\\']);
    words.iter().take_while(is_path).collect()
}
