//! A command that runs tests.

use std::collections::BTreeSet;

use regreen_documents::is_plain_command;

use crate::found::without_colours;
use crate::runner::{CALLS, Call, Runner};
use crate::{TestResults, go, javascript, pytest, rust, tap, unittest};

/// The most tests that run again by name.
const MAX_ALONE: usize = 10;

/// A command that runs a test runner, and nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestCommand {
    runner: Runner,
    /// The row of [`CALLS`].
    row: usize,
    words: Vec<String>,
}

impl TestCommand {
    /// Reads a command; `None` if it isn't known to run tests, or may do more than that.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if !is_plain_command(text) {
            return None;
        }
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        let row = CALLS.iter().position(|call| is_called(&words, call))?;
        let call = &CALLS[row];
        let rest = &words[call.words.len()..];
        let is_out = |word: &String| word == "--" || call.stopping.contains(&word.as_str());
        if rest.iter().any(is_out) {
            return None;
        }
        Some(Self {
            runner: call.runner,
            row,
            words,
        })
    }

    fn call(&self) -> &'static Call {
        &CALLS[self.row]
    }

    /// Returns the command that runs all its tests, even after a failure, and names all results.
    #[must_use]
    pub fn whole(&self) -> String {
        let call = self.call();
        let (begin, rest) = self.words.split_at(call.words.len());
        let added = call.whole.iter().map(|word| (*word).to_owned());
        // Go takes the rest for the arguments of the tests once it has read a package. Of an option
        // that stands twice, the others use the later one.
        let words: Vec<String> = match self.runner {
            Runner::GoTest | Runner::NodeTest | Runner::CargoTest | Runner::Nextest => begin
                .iter()
                .cloned()
                .chain(added)
                .chain(rest.iter().cloned())
                .collect(),
            _ => self.words.iter().cloned().chain(added).collect(),
        };
        words.join(" ")
    }

    /// Returns the arguments that run only these tests; `None` if that can't be said safely.
    #[must_use]
    pub fn alone(&self, tests: &BTreeSet<String>) -> Option<Vec<String>> {
        if tests.is_empty() || tests.len() > MAX_ALONE {
            return None;
        }
        let call = self.call();
        let (begin, rest) = self.words.split_at(call.words.len());
        let kept = kept(call, rest)?;
        let chosen = chosen(self.runner, tests)?;
        Some(begin.iter().cloned().chain(kept).chain(chosen).collect())
    }

    /// Reads the command's output.
    #[must_use]
    pub fn results(&self, output: &str) -> TestResults {
        let plain = without_colours(output);
        let lines: Vec<&str> = plain
            .lines()
            .map(|line| line.trim_end_matches('\r'))
            .collect();
        match self.runner {
            Runner::Pytest => pytest::read(&lines),
            Runner::Unittest => unittest::read(&lines),
            Runner::CargoTest => rust::read_libtest(&lines),
            Runner::Nextest => rust::read_nextest(&lines),
            Runner::GoTest => go::read(&lines),
            Runner::Jest => javascript::read_jest(&lines),
            Runner::Vitest => javascript::read_vitest(&lines),
            Runner::Mocha => javascript::read_mocha(&lines),
            Runner::NodeTest => tap::read(&lines),
        }
    }
}

fn is_called(words: &[String], call: &Call) -> bool {
    let Some((program, rest)) = call.words.split_first() else {
        return false;
    };
    let is_program = |word: &String| word.rsplit('/').next() == Some(program);
    words.first().is_some_and(is_program)
        && words.len() > rest.len()
        && words[1..]
            .iter()
            .zip(rest)
            .all(|(word, known)| word == known)
}

/// Returns the options that stay when only some tests run. The names of files and tests are left out; an
/// unknown option might take the next word as its value.
fn kept(call: &Call, words: &[String]) -> Option<Vec<String>> {
    let mut kept = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if call.valued.contains(&word.as_str()) {
            kept.extend([word.clone(), words.next()?.clone()]);
        } else if call.flags.contains(&word.as_str())
            || (word.starts_with("--") && word.contains('='))
        {
            kept.push(word.clone());
        } else if word.starts_with('-') {
            return None;
        } else if call.runner == Runner::GoTest {
            // The packages.
            kept.push(word.clone());
        } else if matches!(call.runner, Runner::CargoTest | Runner::Nextest) {
            // A filter, to which the names would be added.
            return None;
        }
    }
    Some(kept)
}

/// Returns the arguments that choose these tests, each in the form that the runner gives to names.
fn chosen(runner: Runner, tests: &BTreeSet<String>) -> Option<Vec<String>> {
    let words = |words: &[&str]| {
        words
            .iter()
            .map(|word| (*word).to_owned())
            .collect::<Vec<_>>()
    };
    match runner {
        Runner::Pytest => {
            let ids = tests.iter().map(|test| pytest_id(test));
            let ids: Vec<String> = ids.collect::<Option<_>>()?;
            Some([words(&["-rA", "--maxfail=0"]), ids].concat())
        }
        Runner::Unittest => {
            let names = tests.iter().map(|test| of_letters(test, "_."));
            Some([words(&["-v"]), names.collect::<Option<_>>()?].concat())
        }
        Runner::CargoTest => {
            let names = tests.iter().map(|test| rust_path(test));
            let names: Vec<String> = names.collect::<Option<_>>()?;
            Some([words(&["--no-fail-fast", "--", "--exact"]), names].concat())
        }
        Runner::Nextest => {
            let names = tests.iter().map(|test| rust_path(test));
            let names: Vec<String> = names.collect::<Option<_>>()?;
            let filter = names.iter().map(|name| format!("test(={name})"));
            let filter = filter.collect::<Vec<_>>().join(" + ");
            Some([words(&["--no-fail-fast", "-E"]), vec![filter]].concat())
        }
        Runner::GoTest => {
            let names = tests.iter().map(|test| go_test(test));
            let names: Vec<String> = names.collect::<Option<_>>()?;
            let filter = format!("^({})$", names.join("|"));
            Some([words(&["-v", "-count=1", "-run"]), vec![filter]].concat())
        }
        Runner::Jest => Some(vec![
            "--verbose".to_owned(),
            "-t".to_owned(),
            pattern(tests, " › "),
        ]),
        Runner::Vitest => Some(vec!["-t".to_owned(), pattern(tests, " > ")]),
        Runner::Mocha => Some(vec!["--grep".to_owned(), pattern(tests, " › ")]),
        Runner::NodeTest => None,
    }
}

/// A path in the workspace and a name, as in `tests/test_a.py::test_b[1]`. A word that begins with `@`
/// names a file with arguments.
fn pytest_id(test: &str) -> Option<String> {
    let (path, name) = test.split_once("::")?;
    let of_path = |c: char| c.is_alphanumeric() || "_-./ ".contains(c);
    let is_path = path.ends_with(".py")
        && path.starts_with(|c: char| c.is_alphanumeric() || c == '_')
        && path.chars().all(of_path)
        && !path.split('/').any(|part| part == "..");
    (is_path && !name.is_empty()).then(|| test.to_owned())
}

/// The name, if it consists only of letters, digits and these, and begins with a letter.
fn of_letters(name: &str, others: &str) -> Option<String> {
    let is_one = |c: char| c.is_ascii_alphanumeric() || others.contains(c);
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    (begins && name.chars().all(is_one)).then(|| name.to_owned())
}

/// The path of a test, without the binary before it.
fn rust_path(test: &str) -> Option<String> {
    let (binary, path) = test.split_once(' ')?;
    of_letters(binary, "_-:.$")?;
    of_letters(path, "_:")
}

/// The function of a Go test, without its package and without a part of it.
fn go_test(test: &str) -> Option<String> {
    let name = test.rsplit(' ').next()?;
    let function = name.split('/').next()?;
    of_letters(function, "_").filter(|name| name.starts_with("Test"))
}

/// A pattern for exactly these tests. It begins with `^`, so that no name can be an option.
fn pattern(tests: &BTreeSet<String>, joint: &str) -> String {
    let names = tests.iter().map(|test| {
        let name = test
            .split_once(joint)
            .map_or(test.as_str(), |(_, name)| name);
        regex::escape(&name.replace(joint, " "))
    });
    format!("^({})$", names.collect::<Vec<_>>().join("|"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alone(command: &str, tests: &[&str]) -> Option<String> {
        let tests = tests.iter().map(|test| (*test).to_owned()).collect();
        Some(TestCommand::parse(command)?.alone(&tests)?.join(" "))
    }

    #[test]
    fn only_a_command_that_runs_nothing_but_tests_is_understood() {
        for text in [
            "pytest",
            "pytest -q tests",
            "python -m pytest -x",
            "cargo test --workspace",
            "npx jest",
            "cargo nextest run -p web",
            "go test ./...",
            "./node_modules/.bin/mocha",
            ".venv/bin/pytest -q",
            "python3 -m unittest",
            "node --test",
        ] {
            assert!(TestCommand::parse(text).is_some(), "{text}");
        }
        for text in [
            "make test",
            "npm test",
            "pytest && ruff check",
            "pytest | tail",
            "pytest; true",
            "cargo build",
            "python -m http.server",
            "pytest $(x)",
            "CI=1 pytest",
            "jest --bail",
            "",
            "cargo test -- --nocapture",
            "python3 -m unittest -f",
            "vitest",
        ] {
            assert_eq!(TestCommand::parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_whole_command_runs_all_tests_and_names_them() {
        let whole = |text: &str| TestCommand::parse(text).map(|command| command.whole());
        let is = |text: &str, whole_text: &str| {
            assert_eq!(whole(text).as_deref(), Some(whole_text));
        };
        is("pytest -x tests", "pytest -x tests -rA --maxfail=0");
        is("cargo test -p web", "cargo test --no-fail-fast -p web");
        is("go test ./...", "go test -v -failfast=false ./...");
        is("npx jest a", "npx jest a --verbose --bail=0");
        is("node --test", "node --test --test-reporter=tap");
    }

    #[test]
    fn tests_run_alone_by_arguments_that_are_never_options() {
        let is = |command: &str, tests: &[&str], expected: &str| {
            assert_eq!(alone(command, tests).as_deref(), Some(expected));
        };
        is(
            "pytest -q tests",
            &["tests/test_a.py::test_each[a - b]"],
            "pytest -q -rA --maxfail=0 tests/test_a.py::test_each[a - b]",
        );
        is(
            "python -m unittest",
            &["t.T.test_a"],
            "python -m unittest -v t.T.test_a",
        );
        is(
            "cargo test -p web",
            &["web tests::a", "it b"],
            "cargo test -p web --no-fail-fast -- --exact b tests::a",
        );
        is(
            "cargo nextest run",
            &["web::it b"],
            "cargo nextest run --no-fail-fast -E test(=b)",
        );
        is(
            "go test -race ./...",
            &["x/y TestA/one"],
            "go test -race ./... -v -count=1 -run ^(TestA)$",
        );
        is(
            "npx jest src",
            &["a.test.js › math (new) › adds"],
            r"npx jest --verbose -t ^(math \(new\) adds)$",
        );
    }

    #[test]
    fn a_name_that_could_be_anything_else_is_not_passed_on() {
        for test in [
            "-p evil.py::x",
            "@a.py::x",
            "../a.py::x",
            "/a.py::x",
            "a.py",
            "--co=x.py::y",
            "a.sh::x",
        ] {
            assert_eq!(alone("pytest", &[test]), None, "{test}");
        }
        for test in ["-x", "a;b", "t.T.test_a x", "$(x)"] {
            assert_eq!(alone("python -m unittest", &[test]), None, "{test}");
        }
        for test in [
            "web --nocapture",
            "web a) + all(",
            "src/lib.rs - add (line 1)",
            "a",
        ] {
            assert_eq!(alone("cargo test", &[test]), None, "{test}");
            assert_eq!(alone("cargo nextest run", &[test]), None, "{test}");
        }
        assert_eq!(alone("go test", &["x -exec=evil"]), None);
        // Options that are not known may take the next word as a value.
        assert_eq!(alone("pytest --deselect a", &["a.py::x"]), None);
        assert_eq!(alone("cargo test some_filter", &["web a"]), None);
    }

    #[test]
    fn many_tests_do_not_run_alone() {
        let tests: Vec<String> = (0..11).map(|n| format!("a.py::test_{n}")).collect();
        let tests: Vec<&str> = tests.iter().map(String::as_str).collect();
        assert_eq!(alone("pytest", &tests), None);
        assert!(alone("pytest", &tests[..10]).is_some());
    }
}
