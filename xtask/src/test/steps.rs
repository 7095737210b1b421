//! The steps of `cargo xtask test`.

use super::step::{Action, Closing, Step, Stream};
use super::tool;

pub(super) fn all() -> Vec<Step> {
    vec![
        cargo("formatting", &["fmt", "--all", "--check"]),
        cargo("clippy", &CLIPPY),
        tests(),
        doc_tests(),
        dependencies(),
    ]
}

const CLIPPY: [&str; 7] = [
    "clippy",
    "--workspace",
    "--all-targets",
    "--all-features",
    "--",
    "-D",
    "warnings",
];

fn cargo(title: &'static str, arguments: &[&'static str]) -> Step {
    Step {
        title,
        action: Action::Cargo(arguments.to_vec()),
        closing: None,
    }
}

/// All tests, the guards among them.
fn tests() -> Step {
    let selection = ["--workspace", "--all-features"];
    if tool::is_installed("nextest") {
        let arguments = [&["nextest", "run", "--no-fail-fast"], &selection[..]].concat();
        return Step {
            closing: Some(Closing {
                stream: Stream::Stderr,
                is_closing: |line| line.contains("Summary ["),
            }),
            ..cargo("tests and guards (nextest)", &arguments)
        };
    }
    let targets = ["--lib", "--bins", "--tests"];
    Step {
        closing: Some(RESULTS),
        ..cargo(
            "tests and guards (cargo test; nextest is not installed)",
            &[&["test"], &selection[..], &targets[..]].concat(),
        )
    }
}

fn doc_tests() -> Step {
    Step {
        closing: Some(RESULTS),
        ..cargo("doc tests", &["test", "--doc", "--workspace", "--quiet"])
    }
}

/// The last lines of cargo's own runner.
const RESULTS: Closing = Closing {
    stream: Stream::Stdout,
    is_closing: is_result,
};

/// A runner's closing line about a crate that has any tests.
fn is_result(line: &str) -> bool {
    line.starts_with("test result:") && !line.contains(" 0 passed; 0 failed; 0 ignored;")
}

fn dependencies() -> Step {
    let title = "licences and sources of dependencies (cargo-deny)";
    if tool::is_installed("deny") {
        return cargo(title, &["deny", "check", "bans", "licenses", "sources"]);
    }
    Step {
        title,
        action: Action::Skip("cargo-deny is not installed (cargo install cargo-deny)"),
        closing: None,
    }
}
