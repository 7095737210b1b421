//! Explains the result of one program by its words and its exit code.

use super::super::operands::{Search, has_flag, has_option, operands};
use super::super::word::unquoted;
use super::super::{SEARCHING, Simple, Stage, read};
use super::PathState;

/// A program that decides a check, and how it was run.
pub(super) struct ProgramCheck<'a> {
    /// Whether the thing it looks for exists, because the check was negated.
    pub(super) holds: bool,
    /// Its exit code, if known.
    pub(super) exit_code: Option<i32>,
    /// Its input, if it comes from other commands.
    pub(super) input: Option<String>,
    /// Looks up a path.
    pub(super) path: &'a dyn Fn(&str) -> PathState,
}

impl ProgramCheck<'_> {
    pub(super) fn of_words(&self, text: &str) -> Option<String> {
        let mut statements = read(text)?.statements;
        let (_, mut pipeline) = statements.pop()?.pipelines.pop()?;
        match pipeline.stages.pop()? {
            Stage::Simple(simple) => self.of_program(&simple),
            _ => None,
        }
    }

    pub(super) fn of_program(&self, simple: &Simple) -> Option<String> {
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
                let name = operands("command", &words).last().copied()?;
                self.either(
                    format!("{name} is installed"),
                    format!("{name} is not installed"),
                )
            }
            "pgrep" => {
                let name = operands("pgrep", &words).last().copied()?;
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

    /// Describes where it looks.
    fn place(&self, files: &[&&str]) -> String {
        match (files, &self.input) {
            ([], Some(input)) => format!("the output of `{input}`"),
            ([], None) => "its input".to_owned(),
            (files, _) => listed(files),
        }
    }

    fn of_test(&self, words: &[&str]) -> Option<String> {
        match words {
            ["!", rest @ ..] => ProgramCheck {
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
        let search = Search::of(words);
        let pattern = search.pattern?;
        let is_whole_folder = is_recursive || search.is_recursive;
        let place = match (search.files.as_slice(), &self.input) {
            ([], None) if is_whole_folder => "the folder".to_owned(),
            (files, _) => self.place(files),
        };
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
        let [left, right] = operands("diff", words)[..] else {
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
                let paths = operands("git", rest);
                let where_at = match paths.as_slice() {
                    [] => String::new(),
                    paths => format!(" in {}", listed(paths)),
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
        let says_no = has_flag(words, "e") || has_option(words, &["--exit-status"]);
        let operands = operands("jq", words);
        let (filter, files) = operands.split_first().filter(|_| says_no)?;
        let place = self.place(files);
        self.either(
            format!("`{filter}` is true in {place}"),
            match self.exit_code {
                Some(4) => format!("`{filter}` finds nothing in {place}"),
                _ => format!("`{filter}` is false or null in {place}"),
            },
        )
    }

    fn of_curl(&self, words: &[&str]) -> Option<String> {
        let url = operands("curl", words).last().copied()?;
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
        let [host, port] = operands("nc", words)[..] else {
            return None;
        };
        self.either(
            format!("something listens at {host}:{port}"),
            format!("nothing listens at {host}:{port}"),
        )
    }
}

fn is_quiet(word: &str) -> bool {
    matches!(word, "--quiet" | "--exit-code" | "-q")
}

fn or_empty(text: &str) -> &str {
    if text.is_empty() { "empty" } else { text }
}

fn listed(files: &[&&str]) -> String {
    let files: Vec<&str> = files.iter().map(|file| **file).collect();
    files.join(", ")
}
