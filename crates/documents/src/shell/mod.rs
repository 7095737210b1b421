//! The shell text of a Verify, parsed far enough to know what decides its result, and guarded so
//! that a failure in the middle counts.
//!
//! ```text
//! reader.rs      text → script: statements, pipelines, stages
//! word.rs        where a word, a quote or a substitution ends
//! guard.rs       the script as it is run: every line and every stage that matters is judged
//! inputs.rs      what has to be there before a failure or an absence proves anything
//! needs.rs       what a command can't start without
//! setup.rs       commands that prepare the shell for others
//! always_passes.rs  scripts that can't fail
//! blind_spot.rs  what a script that can fail doesn't check
//! tools.rs       build and test tools
//! finding.rs     what a command that says little has found
//! operands.rs    the words of a program without its options
//! ```
//!
//! The parser knows the grammar of POSIX and bash well enough to find where things end. It expands
//! nothing and runs nothing, and returns `None` for what it doesn't understand.

mod always_passes;
mod blind_spot;
mod finding;
mod guard;
mod inputs;
mod needs;
mod operands;
mod reader;
mod setup;
mod tools;
mod word;

use std::ops::Range;

use self::operands::{has_flag, has_option};

pub use always_passes::always_passes;
pub(crate) use always_passes::only_prints;
pub use blind_spot::BlindSpot;
pub use finding::{PathState, RedCommand};
pub use guard::{Shell, guarded, guarded_for};
pub use inputs::inputs_of;
pub use needs::{is_plain_command, needs_of};
pub(crate) use setup::is_setup;
pub(crate) use tools::{RUNNERS, is_tool};

/// Programs that print their input and can't tell whether it is good.
const PASSING_ON: &[&str] = &[
    "cat", "column", "cut", "expand", "fmt", "fold", "head", "less", "more", "nl", "rev", "sort",
    "tac", "tail", "tee", "tr", "uniq",
];
/// Programs that exit with 1 if they found nothing.
const SEARCHING: &[&str] = &["egrep", "fgrep", "grep", "pgrep", "rg", "zgrep"];

/// Programs that get a file from a server.
const FETCHING: &[&str] = &["curl", "wget"];

/// The options with which curl fails if the server answers with an error.
const CURL_FAILS: &[&str] = &["--fail", "--fail-with-body"];

/// Other programs that say "no" with exit code 1, and exit with more if they couldn't tell.
const COMPARING: &[&str] = &["[", "cmp", "diff", "test"];

/// A parsed shell text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct List {
    statements: Vec<Statement>,
}

/// The text between two `;`, `&` or line ends.
#[derive(Debug, PartialEq, Eq)]
struct Statement {
    range: Range<usize>,
    /// Whether it is the first on its line.
    is_on_new_line: bool,
    /// Whether `&` follows: nobody asks how it ends.
    is_background: bool,
    /// The pipelines, each with the operator before it.
    pipelines: Vec<(Joint, Pipeline)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Joint {
    First,
    And,
    Or,
}

#[derive(Debug, PartialEq, Eq)]
struct Pipeline {
    /// The range, without `!`.
    range: Range<usize>,
    is_negated: bool,
    stages: Vec<Stage>,
}

#[derive(Debug, PartialEq, Eq)]
enum Stage {
    Simple(Simple),
    /// `{ …; }` and `( … )`.
    Group(List),
    /// `if`, `for`, `while`, `until`, `select`, `case`.
    Control {
        conditions: Vec<List>,
        bodies: Vec<Body>,
        is_loop: bool,
    },
    /// `name() { …; }`, which runs when called.
    Function(Box<Stage>),
    /// `(( … ))`, whose status says whether the number is 0.
    Arithmetic,
    /// `[[ … ]]`.
    Test,
}

#[derive(Debug, PartialEq, Eq)]
struct Body {
    list: List,
    /// The start of the word after it: `fi`, `done`, `;;`.
    end: usize,
}

/// A program with its arguments, or assignments.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Simple {
    words: Vec<Word>,
    redirections: Vec<Redirection>,
}

/// `> file`, `2>&1`.
#[derive(Debug, PartialEq, Eq)]
struct Redirection {
    /// How many words stand before it.
    words_before: usize,
    /// Whether no number of a stream stands before it.
    is_unnumbered: bool,
    writes: bool,
    target: String,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Word {
    /// The text as written.
    pub(crate) text: String,
    /// The program at the end of its last `$(…)`.
    substituted: Option<String>,
}

/// Returns the statements of a text; `None` if it isn't understood.
pub(crate) fn read(text: &str) -> Option<List> {
    reader::Reader::new(text).script()
}

/// Returns whether a text ends with a search, which exits with 1 if it finds nothing.
#[must_use]
pub fn is_search(text: &str) -> bool {
    let is_negated = judging_pipeline(text).is_none_or(|pipeline| pipeline.is_negated);
    let is_grep = |simple: Simple| {
        let mut words = simple.argv().iter().map(|word| word.text.as_str());
        simple.is_one_of(SEARCHING) || (words.next() == Some("git") && words.next() == Some("grep"))
    };
    !is_negated && judging_program(text).is_some_and(is_grep)
}

/// Returns whether the program that decides the result says "no" with exit code 1, and exits with
/// more if it couldn't tell because a file is missing or its arguments are wrong.
#[must_use]
pub fn says_no_with_one(text: &str) -> bool {
    let is_negated = judging_pipeline(text).is_none_or(|pipeline| pipeline.is_negated);
    let compares = |simple: Simple| simple.is_one_of(COMPARING);
    is_search(text) || (!is_negated && judging_program(text).is_some_and(compares))
}

/// Returns whether a text ends with a program that searches, compares, counts or prints, so that
/// its success doesn't mean that all is well.
pub(crate) fn only_tells(text: &str) -> bool {
    const TELLING: &[&str] = &[
        "curl", "echo", "find", "jq", "ls", "printf", "sed", "wc", "awk",
    ];
    judging_program(text).is_none_or(|simple| {
        [SEARCHING, COMPARING, PASSING_ON, TELLING]
            .iter()
            .any(|programs| simple.is_one_of(programs))
            || ["git", "gh"].contains(&simple.program())
    })
}

/// Returns the exit codes with which a program says "no", separated by blanks. With others, it couldn't
/// tell: a file is missing, or no server answered. `None` if any failure may be meant.
fn no_codes(simple: &Simple) -> Option<&'static str> {
    let words = simple.argv();
    match simple.program() {
        program if SEARCHING.contains(&program) || COMPARING.contains(&program) => Some("1"),
        "curl" if has_flag(words, "f") || has_option(words, CURL_FAILS) => Some("22"),
        // Without that option, it only fails if nothing listens there.
        "curl" => Some("7"),
        "psql" => Some("1 3"),
        "wget" => Some("8"),
        _ => None,
    }
}

/// Returns whether a failure with this exit code may be what the author of a check expects. It isn't if
/// the program that decides couldn't tell, because no server answered or there was no test to run.
#[must_use]
pub fn is_answer(text: &str, exit_code: i32) -> bool {
    let Some(simple) = judging_program(text) else {
        return true;
    };
    let words: Vec<&str> = simple
        .argv()
        .iter()
        .map(|word| word.text.as_str())
        .collect();
    let is_pytest =
        simple.program() == "pytest" || matches!(words.as_slice(), [_, "-m", "pytest", ..]);
    if is_pytest && [4, 5].contains(&exit_code) {
        return false;
    }
    // Whether nothing listens is asked with other programs.
    let is_said =
        |codes: &str| codes != "7" && codes.split(' ').any(|one| one == exit_code.to_string());
    let asks = ["curl", "psql", "wget"].contains(&simple.program());
    !asks || exit_code == 0 || no_codes(&simple).is_none_or(is_said)
}

fn judging_pipeline(text: &str) -> Option<Pipeline> {
    let (_, pipeline) = read(text)?.statements.pop()?.pipelines.pop()?;
    Some(pipeline)
}

/// Returns the program that decides how a text ends: that of its last stage.
pub(crate) fn judging_program(text: &str) -> Option<Simple> {
    let mut pipeline = judging_pipeline(text)?;
    match pipeline.stages.pop()? {
        Stage::Simple(simple) => Some(simple),
        _ => None,
    }
}

impl Simple {
    /// Returns the words that aren't assignments: the program and its arguments.
    pub(crate) fn argv(&self) -> &[Word] {
        let first = self.words.iter().position(|word| !word.is_assignment());
        first.map_or(&[], |first| &self.words[first..])
    }

    /// Returns the program's name without its folder.
    pub(crate) fn program(&self) -> &str {
        let word = self.argv().first().map_or("", |word| word.text.as_str());
        word.rsplit('/').next().unwrap_or(word)
    }

    fn is_one_of(&self, programs: &[&str]) -> bool {
        programs.contains(&self.program())
    }

    /// Returns whether it prints a count.
    pub(crate) fn is_counting(&self) -> bool {
        let has_flag = |flag: char| {
            let is_short =
                |word: &&Word| word.text.starts_with('-') && !word.text.starts_with("--");
            let mut flags = self.argv().iter().skip(1).filter(is_short);
            flags.any(|word| word.text.contains(flag))
        };
        let counts = self.argv().iter().any(|word| word.text == "--count");
        match self.program() {
            "wc" => true,
            "git" => {
                self.argv()
                    .get(1)
                    .is_some_and(|word| word.text == "rev-list")
                    && counts
            }
            _ => self.is_one_of(SEARCHING) && (has_flag('c') || counts),
        }
    }
}

impl Redirection {
    /// Whether it fills a file that others can read.
    fn writes_file(&self) -> bool {
        let is_stream = self
            .target
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'-');
        self.writes && !is_stream && !self.target.starts_with("/dev/")
    }
}

impl Word {
    fn is_assignment(&self) -> bool {
        let Some((name, _)) = self.text.split_once('=') else {
            return false;
        };
        let name = name.strip_suffix('+').unwrap_or(name);
        let name = name.split('[').next().unwrap_or(name);
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_a_silent_server_nor_a_missing_test_is_an_answer() {
        for (text, code, expected) in [
            ("curl -sf x", 22, true),
            ("curl -sf x", 7, false),
            ("curl -s x", 7, false),
            ("cd a && wget -q x", 8, true),
            ("wget -q x", 4, false),
            ("psql -c 'select 1'", 1, true),
            ("psql -c 'select 1'", 2, false),
            ("./client", 7, true),
            ("curl -s x", 0, true),
            ("python3 -m pytest -k x", 5, false),
            ("pytest a.py", 4, false),
            ("pytest a.py", 2, true),
        ] {
            assert_eq!(is_answer(text, code), expected, "{text}: {code}");
        }
    }

    #[test]
    fn a_search_is_the_last_program_and_not_negated() {
        for text in [
            "grep x f",
            "cd a && rg x",
            "cat f | /usr/bin/grep -c x",
            "git grep x",
        ] {
            assert!(is_search(text), "{text}");
        }
        for text in [
            "! grep -q x f",
            "grep x f | wc -l",
            "git log grep",
            "pytest",
            "",
        ] {
            assert!(!is_search(text), "{text}");
        }
    }
}
