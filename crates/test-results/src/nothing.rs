//! Runs of tests that pass because there is no test.

use regreen_documents::is_plain_command;

use crate::found::{count_of, without_colours};
use crate::runner::Runner;

/// The words that call a runner which passes without a test. Others fail then.
const CALLED: &[(&[&str], Runner)] = &[
    (&["cargo", "test"], Runner::CargoTest),
    (&["go", "test"], Runner::GoTest),
    (&["-m", "unittest"], Runner::Unittest),
    (&["jest"], Runner::Jest),
    (&["vitest"], Runner::Vitest),
    (&["mocha"], Runner::Mocha),
    (&["node", "--test"], Runner::NodeTest),
];

/// Returns whether a command that passed is known to have run no test: its filter names none, or there
/// are none. Commands that may do more than run tests aren't read.
#[must_use]
pub fn ran_no_test(command: &str, output: &str) -> bool {
    if !is_plain_command(command) {
        return false;
    }
    let words: Vec<&str> = command.split_whitespace().collect();
    let is_called = |called: &[&str]| {
        let mut windows = words.windows(called.len());
        windows.any(|window| {
            let mut pairs = window.iter().zip(called);
            pairs.all(|(word, called)| word.rsplit('/').next() == Some(called))
        })
    };
    let called = CALLED.iter().find(|(called, _)| is_called(called));
    let plain = without_colours(output);
    let lines: Vec<&str> = plain.lines().map(str::trim).collect();
    called.is_some_and(|(_, runner)| says_none(*runner, &lines))
}

fn says_none(runner: Runner, lines: &[&str]) -> bool {
    let has = |text: &str| lines.iter().any(|line| line.contains(text));
    match runner {
        Runner::CargoTest => all_are(lines, "test result: ", |line| {
            count_of(line, "passed") == Some(0) && count_of(line, "failed") == Some(0)
        }),
        Runner::GoTest => {
            let is_package = |line: &&&str| line.starts_with("ok ") || line.starts_with("ok\t");
            let packages = lines.iter().filter(is_package);
            let is_empty = |line: &&str| line.contains("[no tests to run]");
            let says_so = has("[no test files]") || has("[no tests to run]");
            says_so && packages.clone().all(is_empty) && !has("--- PASS")
        }
        Runner::Unittest => all_are(lines, "Ran ", |line| line.starts_with("Ran 0 tests")),
        Runner::Jest => has("No tests found, exiting with code 0"),
        Runner::Vitest => has("No test files found, exiting with code 0"),
        Runner::Mocha => lines.contains(&"0 passing") || all_are(lines, "0 passing (", |_| true),
        Runner::NodeTest => lines.contains(&"# tests 0") || lines.contains(&"ℹ tests 0"),
        Runner::Pytest | Runner::Nextest => false,
    }
}

/// Whether there are such lines, and all of them are like this.
fn all_are(lines: &[&str], start: &str, is_so: impl Fn(&str) -> bool) -> bool {
    let mut such = lines
        .iter()
        .filter(|line| line.starts_with(start))
        .peekable();
    such.peek().is_some() && such.all(|line| is_so(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_a_test_is_known() {
        let cargo = "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 7 filtered out; finished in 0.00s\n";
        let one = cargo.replace("0 passed", "1 passed");
        for (command, output) in [
            ("cargo test no_such_test", cargo.repeat(3)),
            (
                "python3 -m unittest",
                "\n----\nRan 0 tests in 0.000s\n\nOK\n".to_owned(),
            ),
            (
                "go test -run TestX ./...",
                "ok  \ta/b\t0.01s [no tests to run]\n".to_owned(),
            ),
            ("go test ./...", "?   \ta/b\t[no test files]\n".to_owned()),
            (
                "npx jest --passWithNoTests",
                "No tests found, exiting with code 0\n".to_owned(),
            ),
            (
                "node --test",
                "TAP version 13\n1..0\n# tests 0\n# pass 0\n".to_owned(),
            ),
            ("npx mocha", "\n\n  0 passing (1ms)\n".to_owned()),
        ] {
            assert!(ran_no_test(command, &output), "{command}");
        }
        for (command, output) in [
            ("cargo test", format!("{one}{cargo}")),
            ("cargo test --no-run", String::new()),
            // The end of the output says nothing about the rest.
            ("cargo test | tail -3", cargo.to_owned()),
            (
                "python3 -m unittest",
                "Ran 3 tests in 0.000s\n\nOK\n".to_owned(),
            ),
            (
                "go test ./...",
                "?   \ta/b\t[no test files]\nok  \ta/c\t0.01s\n".to_owned(),
            ),
            ("node --test", "# tests 10\n# pass 10\n".to_owned()),
            ("npx mocha", "  10 passing (1ms)\n".to_owned()),
            ("echo cargo-test", cargo.to_owned()),
        ] {
            assert!(!ran_no_test(command, &output), "{command}");
        }
    }
}
