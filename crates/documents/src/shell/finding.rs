//! Explains failed commands that print little: `test -f x` exits with 1 because x does not exist.

mod program;

use std::fmt;

use self::program::ProgramCheck;
use super::{Joint, Pipeline, Stage, Statement, read};

/// The kind of thing at a path in the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathState {
    /// Nothing, or unknown.
    Missing,
    /// A file that isn't empty.
    File,
    /// An empty file.
    EmptyFile,
    /// A folder.
    Folder,
}

/// A failed command, and the paths it may have looked at.
#[derive(Clone, Copy)]
pub struct RedCommand<'a> {
    /// The command as written.
    pub text: &'a str,
    /// Its exit code.
    pub exit_code: i32,
    /// Looks up a path as the command sees it.
    pub path: &'a dyn Fn(&str) -> PathState,
}

impl fmt::Debug for RedCommand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("RedCommand");
        fields.field("text", &self.text);
        fields.field("exit_code", &self.exit_code);
        fields.finish_non_exhaustive()
    }
}

impl RedCommand<'_> {
    /// Describes what the command found, by reading its text; `None` if the text isn't understood.
    /// If any of several commands may have failed, describes what each may have found.
    #[must_use]
    pub fn finding(&self) -> Option<String> {
        let mut statements = read(self.text)?.statements;
        let last = statements.pop()?;
        // Another statement may have failed: each line counts.
        if statements.iter().any(|statement| statement.is_on_new_line) && last.is_on_new_line {
            return None;
        }
        self.of_statement(&last)
    }

    /// Describes what a line of the command found, counting from 1.
    #[must_use]
    pub fn finding_of_line(&self, number: usize) -> Option<String> {
        let text = self.text.lines().nth(number.checked_sub(1)?)?;
        RedCommand { text, ..*self }.finding()
    }

    /// Returns the line that failed, given its number counting from 1. Without a number it is
    /// known only if there is a single statement. A line that is only a bracket isn't worth naming.
    #[must_use]
    pub fn failed_line(&self, number: Option<usize>) -> Option<&str> {
        let named = |number: usize| self.text.lines().nth(number.checked_sub(1)?);
        let line = match number {
            Some(number) => named(number),
            None => self.only_line(),
        };
        line.map(str::trim)
            .filter(|line| line.contains(char::is_alphanumeric))
    }

    /// Returns the first line of the only statement.
    fn only_line(&self) -> Option<&str> {
        let own = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
        let mut lines = self.text.lines().filter(own);
        let (first, second) = (lines.next()?, lines.next());
        let is_only = || read(self.text).is_some_and(|list| list.statements.len() == 1);
        (second.is_none() || is_only()).then_some(first)
    }

    fn of_statement(&self, statement: &Statement) -> Option<String> {
        let all = &statement.pipelines;
        if all.iter().any(|(joint, _)| *joint == Joint::Or) {
            return None;
        }
        let last = all.len().checked_sub(1)?;
        let findings = all.iter().enumerate().map(|(at, (_, pipeline))| {
            // A statement whose exit code isn't known may have ended with any.
            let is_known = at == last && last == 0;
            self.of_pipeline(pipeline, is_known.then_some(self.exit_code))
        });
        let mut findings: Vec<String> = findings.flatten().collect();
        findings.dedup();
        (!findings.is_empty()).then(|| findings.join(", or "))
    }

    fn of_pipeline(&self, pipeline: &Pipeline, exit_code: Option<i32>) -> Option<String> {
        let input = match pipeline.stages.len() {
            1 => None,
            _ => Some(self.input_of(pipeline)),
        };
        let check = ProgramCheck {
            holds: pipeline.is_negated,
            exit_code,
            input,
            path: self.path,
        };
        match pipeline.stages.last()? {
            Stage::Simple(simple) => check.of_program(simple),
            Stage::Test => {
                let text = self.text.get(pipeline.range.clone())?.trim();
                let inside = text.strip_prefix("[[")?.strip_suffix("]]")?;
                check.of_words(&format!("test {}", inside.trim()))
            }
            Stage::Control {
                conditions,
                is_loop: false,
                ..
            } => {
                let condition = conditions.first()?.statements.first()?;
                let (_, pipeline) = condition.pipelines.first()?;
                let is_whole = condition.pipelines.len() == 1;
                is_whole.then(|| self.of_pipeline(pipeline, None)).flatten()
            }
            Stage::Control { .. } | Stage::Group(_) | Stage::Function(_) | Stage::Arithmetic => {
                None
            }
        }
    }

    /// Returns the text of the pipeline before its last stage.
    fn input_of(&self, pipeline: &Pipeline) -> String {
        let text = self.text.get(pipeline.range.clone()).unwrap_or_default();
        let end = text.rfind('|').unwrap_or(text.len());
        text[..end].trim().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn finds(text: &str, exit_code: i32, expected: Option<&str>) {
        let path = |path: &str| match path {
            "there" => PathState::File,
            "empty" => PathState::EmptyFile,
            "folder" => PathState::Folder,
            _ => PathState::Missing,
        };
        let red = RedCommand {
            text,
            exit_code,
            path: &path,
        };
        assert_eq!(red.finding().as_deref(), expected, "{text}");
    }

    #[test]
    fn the_line_that_failed_is_named_only_if_it_is_known() {
        let line = |text, number| {
            let path = |_: &str| PathState::Missing;
            let red = RedCommand {
                text,
                exit_code: 1,
                path: &path,
            };
            red.failed_line(number).map(str::to_owned)
        };
        let named = |text: &str| Some(text.to_owned());
        assert_eq!(line("set -e\n  test -f b", Some(2)), named("test -f b"));
        assert_eq!(line("set -e\ntest -f b", None), None);
        assert_eq!(line("# why\ntest -f b", None), named("test -f b"));
        assert_eq!(line("make \\\n  test", None), named("make \\"));
        assert_eq!(line("a", Some(7)), None);
        assert_eq!(line("(\na\nb\n)", Some(1)), None);
    }

    #[test]
    fn tests_of_files_and_values_are_read() {
        for (text, expected) in [
            ("test -f ok", "ok does not exist"),
            ("[ -f 'my file' ]", "my file does not exist"),
            ("[[ -d build ]]", "build does not exist"),
            ("test -f folder", "folder is a folder, not a file"),
            ("test -d there", "there is a file, not a folder"),
            ("test -s empty", "empty is empty"),
            ("test -x there", "there is not executable"),
            ("! test -e there", "there exists"),
            ("test ! -e there", "there exists"),
            ("test -n \"$(git tag)\"", "$(git tag) is empty"),
            ("[ -z \"$X\" ]", "$X is not empty"),
            ("[ \"$(wc -l < a)\" -ge 3 ]", "$(wc -l < a) is less than 3"),
            ("[ $x = yes ]", "$x is not yes"),
            (
                "test -f a && test -f b",
                "a does not exist, or b does not exist",
            ),
            ("cd x && test -f a", "a does not exist"),
            (
                "if [ -f a ]; then echo ok; else exit 1; fi",
                "a does not exist",
            ),
            ("false", "`false` always fails"),
            ("exit 3", "the check exits with 3"),
        ] {
            finds(text, 1, Some(expected));
        }
    }

    #[test]
    fn searches_and_comparisons_are_read() {
        for (text, expected) in [
            (
                "grep -q \"usage: x\" README.md",
                "README.md does not contain \"usage: x\"",
            ),
            ("grep -A 2 -qi foo a b", "a, b does not contain \"foo\""),
            ("grep -q -e foo a", "a does not contain \"foo\""),
            ("grep -rq foo src", "src does not contain \"foo\""),
            ("! grep -q TODO src/a.rs", "src/a.rs contains \"TODO\""),
            (
                "make list | grep -q web",
                "the output of `make list` does not contain \"web\"",
            ),
            ("rg -q foo", "the folder does not contain \"foo\""),
            ("git grep -q foo", "the folder does not contain \"foo\""),
            ("grep -qv x a", "a has no line without \"x\""),
            ("diff -q a b", "a and b differ"),
            ("cmp a b", "a and b differ"),
            (
                "git diff --quiet -- src",
                "there are uncommitted changes in src",
            ),
            ("jq -e '.ok' out.json", "`.ok` is false or null in out.json"),
            ("command -v jq", "jq is not installed"),
            ("nc -z localhost 80", "nothing listens at localhost:80"),
            ("pgrep -f server", "no process matches \"server\""),
        ] {
            finds(text, 1, Some(expected));
        }
        finds(
            "curl -fsS http://x/health",
            22,
            Some("http://x/health answers with an HTTP error"),
        );
        finds(
            "curl -sf -o /dev/null http://x",
            7,
            Some("nothing listens at http://x"),
        );
        finds("jq -e '.a' f", 4, Some("`.a` finds nothing in f"));
        finds("grep -qs x f", 2, Some("f could not be searched"));
    }

    #[test]
    fn what_is_not_understood_is_not_explained() {
        for text in [
            "make test",
            "test -f a || test -f b",
            "(( n > 3 ))",
            "for f in a; do test -f $f; done",
            "test -f a\ntest -f b",
            "grep -f patterns a",
            "awk '{exit 1}' f",
            "",
        ] {
            finds(text, 1, None);
        }
    }

    #[test]
    fn a_line_of_several_is_read_alone() {
        let red = RedCommand {
            text: "set -u\ntest -f a\ntest -f b",
            exit_code: 1,
            path: &|_| PathState::Missing,
        };
        assert_eq!(red.finding_of_line(2).as_deref(), Some("a does not exist"));
        assert_eq!(red.finding_of_line(9), None);
    }
}
