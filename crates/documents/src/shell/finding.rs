//! What a command that says little has found: `test -f x` ends with 1 because x does not exist.

use std::fmt;

use super::word::unquoted;
use super::{Joint, Pipeline, SEARCHING, Simple, Stage, Statement, read};

/// What is at a path in the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathState {
    /// Nothing, or it can't be known.
    Missing,
    /// A file with something in it.
    File,
    /// A file without a byte.
    EmptyFile,
    /// A folder.
    Folder,
}

/// How a command ended, and what it may have looked at.
#[derive(Clone, Copy)]
pub struct RedCommand<'a> {
    /// The command as it is written.
    pub text: &'a str,
    /// Its exit code.
    pub exit_code: i32,
    /// Looks up a path, as the command sees it.
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
    /// Says what the command has found, by reading it; nothing if it isn't understood. Of several
    /// commands of which any may have failed, says what each may have found.
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

    /// Says what a line of the command has found, counted from 1.
    #[must_use]
    pub fn finding_of_line(&self, number: usize) -> Option<String> {
        let text = self.text.lines().nth(number.checked_sub(1)?)?;
        RedCommand { text, ..*self }.finding()
    }

    fn of_statement(&self, statement: &Statement) -> Option<String> {
        let all = &statement.pipelines;
        if all.iter().any(|(joint, _)| *joint == Joint::Or) {
            return None;
        }
        let last = all.len().checked_sub(1)?;
        let findings = all.iter().enumerate().map(|(at, (_, pipeline))| {
            // One of which the exit code is not known may have ended with any.
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
        let check = Reading {
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

    /// The text of the pipeline before its last stage.
    fn input_of(&self, pipeline: &Pipeline) -> String {
        let text = self.text.get(pipeline.range.clone()).unwrap_or_default();
        let end = text.rfind('|').unwrap_or(text.len());
        text[..end].trim().to_owned()
    }
}

/// How one program is read.
struct Reading<'a> {
    /// Whether what it looks for is there: it was negated.
    holds: bool,
    exit_code: Option<i32>,
    /// What it reads, if that comes from other commands.
    input: Option<String>,
    path: &'a dyn Fn(&str) -> PathState,
}

impl Reading<'_> {
    fn of_words(&self, text: &str) -> Option<String> {
        let mut statements = read(text)?.statements;
        let (_, mut pipeline) = statements.pop()?.pipelines.pop()?;
        match pipeline.stages.pop()? {
            Stage::Simple(simple) => self.of_program(&simple),
            _ => None,
        }
    }

    fn of_program(&self, simple: &Simple) -> Option<String> {
        let words = simple.argv().iter().skip(1);
        let words: Vec<String> = words.map(|word| unquoted(&word.text)).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match simple.program() {
            "false" if !self.holds => Some("`false` always fails".to_owned()),
            "true" | ":" if self.holds => Some("`! true` always fails".to_owned()),
            "exit" => Some(format!("the check exits with {}", words.first()?)),
            "test" => self.of_test(&words),
            "[" => self.of_test(words.strip_suffix(&["]"])?),
            "diff" | "cmp" => self.of_comparison(&words),
            "git" => self.of_git(&words),
            "jq" => self.of_jq(&words),
            "curl" => self.of_curl(&words),
            "nc" => self.of_port(&words),
            "command" | "type" | "which" | "hash" => {
                let name = operands(&words, "").last().copied()?;
                self.either(
                    format!("{name} is installed"),
                    format!("{name} is not installed"),
                )
            }
            "pgrep" => {
                let name = operands(&words, "uUgGPst").last().copied()?;
                self.either(
                    format!("a process matches \"{name}\""),
                    format!("no process matches \"{name}\""),
                )
            }
            program if SEARCHING.contains(&program) => self.of_search(&words, program == "rg"),
            _ => None,
        }
    }

    fn either(&self, there: String, missing: String) -> Option<String> {
        Some(if self.holds { there } else { missing })
    }

    fn of_test(&self, words: &[&str]) -> Option<String> {
        match words {
            ["!", rest @ ..] => Reading {
                holds: !self.holds,
                input: self.input.clone(),
                ..*self
            }
            .of_test(rest),
            [value] => self.of_value(value, true),
            ["-n", value] => self.of_value(value, true),
            ["-z", value] => self.of_value(value, false),
            [flag, path] => self.of_path(flag, path),
            [left, operator, right] => self.of_numbers(left, operator, right),
            _ => None,
        }
    }

    fn of_value(&self, value: &str, is_to_be_set: bool) -> Option<String> {
        Some(if is_to_be_set == self.holds {
            format!("{value} is not empty")
        } else {
            format!("{value} is empty")
        })
    }

    fn of_path(&self, flag: &str, path: &str) -> Option<String> {
        let state = (self.path)(path);
        let what = match flag {
            "-e" | "-f" | "-d" | "-s" | "-x" | "-r" | "-w" | "-L" | "-h" => flag,
            _ => return None,
        };
        if self.holds {
            return Some(match what {
                "-s" => format!("{path} is not empty"),
                "-x" => format!("{path} is executable"),
                _ => format!("{path} exists"),
            });
        }
        Some(match (what, state) {
            (_, PathState::Missing) => format!("{path} does not exist"),
            ("-f", PathState::Folder) => format!("{path} is a folder, not a file"),
            ("-d", _) => format!("{path} is a file, not a folder"),
            ("-s", _) => format!("{path} is empty"),
            ("-x", _) => format!("{path} is not executable"),
            ("-r", _) => format!("{path} is not readable"),
            ("-w", _) => format!("{path} is not writable"),
            ("-L" | "-h", _) => format!("{path} is not a symbolic link"),
            _ => format!("{path} is not there as expected"),
        })
    }

    fn of_numbers(&self, left: &str, operator: &str, right: &str) -> Option<String> {
        let (holds, fails) = match operator {
            "=" | "==" | "-eq" => ("is", "is not"),
            "!=" | "-ne" => ("is not", "is"),
            "-gt" | ">" => ("is greater than", "is not greater than"),
            "-ge" => ("is at least", "is less than"),
            "-lt" | "<" => ("is less than", "is not less than"),
            "-le" => ("is at most", "is greater than"),
            "=~" => ("matches", "does not match"),
            "-nt" => ("is newer than", "is not newer than"),
            "-ot" => ("is older than", "is not older than"),
            _ => return None,
        };
        let verb = if self.holds { holds } else { fails };
        Some(format!("{left} {verb} {}", or_empty(right)))
    }

    fn of_search(&self, words: &[&str], is_recursive: bool) -> Option<String> {
        let search = Search::of(words)?;
        let is_recursive = is_recursive || search.is_recursive;
        let place = match (search.files.as_slice(), &self.input) {
            ([], Some(input)) => format!("the output of `{input}`"),
            ([], None) if is_recursive => "the folder".to_owned(),
            ([], None) => "its input".to_owned(),
            (files, _) => files.join(", "),
        };
        let Search { pattern, .. } = search;
        if self.exit_code.is_some_and(|code| code > 1) && !self.holds {
            return Some(format!("{place} could not be searched"));
        }
        if search.is_inverted {
            return self.either(
                format!("{place} has lines without \"{pattern}\""),
                format!("{place} has no line without \"{pattern}\""),
            );
        }
        self.either(
            format!("{place} contains \"{pattern}\""),
            format!("{place} does not contain \"{pattern}\""),
        )
    }

    fn of_comparison(&self, words: &[&str]) -> Option<String> {
        let files = operands(words, "ULIWxXSFnijl");
        let [left, right] = files.as_slice() else {
            return None;
        };
        if self.exit_code.is_some_and(|code| code > 1) && !self.holds {
            return Some(format!("{left} and {right} could not be compared"));
        }
        self.either(
            format!("{left} and {right} are the same"),
            format!("{left} and {right} differ"),
        )
    }

    fn of_git(&self, words: &[&str]) -> Option<String> {
        match words {
            ["grep", rest @ ..] => self.of_search(rest, true),
            ["diff", rest @ ..] if rest.iter().any(|word| is_quiet(word)) => {
                let paths = operands(rest, "");
                let where_at = match paths.as_slice() {
                    [] => String::new(),
                    paths => format!(" in {}", paths.join(", ")),
                };
                self.either(
                    format!("there are no changes{where_at}"),
                    format!("there are uncommitted changes{where_at}"),
                )
            }
            _ => None,
        }
    }

    fn of_jq(&self, words: &[&str]) -> Option<String> {
        let says_no = words
            .iter()
            .any(|word| *word == "--exit-status" || (is_short(word) && word.contains('e')));
        let operands = operands(words, "");
        let (filter, files) = operands.split_first().filter(|_| says_no)?;
        let place = match (files, &self.input) {
            ([], Some(input)) => format!("the output of `{input}`"),
            ([], None) => "its input".to_owned(),
            (files, _) => files.join(", "),
        };
        self.either(
            format!("`{filter}` is true in {place}"),
            match self.exit_code {
                Some(4) => format!("`{filter}` finds nothing in {place}"),
                _ => format!("`{filter}` is false or null in {place}"),
            },
        )
    }

    fn of_curl(&self, words: &[&str]) -> Option<String> {
        let url = operands(words, "XHdoAuxbcemTrwyYzCDEFKPQt")
            .last()
            .copied()?;
        self.either(
            format!("{url} answers"),
            match self.exit_code {
                Some(6) => format!("the host of {url} is unknown"),
                Some(7) => format!("nothing listens at {url}"),
                Some(22) => format!("{url} answers with an HTTP error"),
                Some(28) => format!("{url} did not answer in time"),
                _ => format!("the request to {url} failed"),
            },
        )
    }

    fn of_port(&self, words: &[&str]) -> Option<String> {
        let operands = operands(words, "wpsqiIOTVXx");
        let [host, port] = operands.as_slice() else {
            return None;
        };
        self.either(
            format!("something listens at {host}:{port}"),
            format!("nothing listens at {host}:{port}"),
        )
    }
}

/// What a search looks for, and where.
struct Search<'w> {
    pattern: &'w str,
    files: Vec<&'w str>,
    is_inverted: bool,
    is_recursive: bool,
}

impl<'w> Search<'w> {
    fn of(words: &[&'w str]) -> Option<Self> {
        let short = |flag: char| {
            let mut flags = words.iter().filter(|word| is_short(word));
            flags.any(|word| word.contains(flag))
        };
        let mut files = operands(words, "ABCDdefmt");
        let given = words.iter().position(|word| *word == "-e");
        let pattern = match given.and_then(|at| words.get(at + 1)) {
            Some(pattern) => pattern,
            // Patterns of a file are not known here.
            None if short('f') || files.is_empty() => return None,
            None => files.remove(0),
        };
        Some(Self {
            pattern,
            files,
            is_inverted: short('v') || words.contains(&"--invert-match"),
            is_recursive: short('r') || short('R') || words.contains(&"--recursive"),
        })
    }
}

fn is_short(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-') && !word.starts_with("--")
}

fn is_quiet(word: &str) -> bool {
    matches!(word, "--quiet" | "--exit-code" | "-q")
}

/// The words that are neither options nor the values of these short ones.
fn operands<'w>(words: &[&'w str], with_value: &str) -> Vec<&'w str> {
    let mut operands = Vec::new();
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        if word == "--" {
            operands.extend(words);
            break;
        }
        if is_short(word) {
            // The value follows as a word of its own, unless it stands behind the letter.
            if word.ends_with(|last: char| with_value.contains(last)) {
                words.next();
            }
        } else if !word.starts_with("--") {
            operands.push(word);
        }
    }
    operands
}

fn or_empty(text: &str) -> &str {
    if text.is_empty() { "empty" } else { text }
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
