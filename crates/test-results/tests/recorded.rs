//! What the real test runners print, recorded by them. Names are read and counts are compared.

use proptest::prelude::*;
use regreen_test_results::{TestCommand, TestResults};

macro_rules! recorded {
    ($command:literal, $file:literal) => {
        TestCommand::parse($command)
            .expect("a command that runs tests")
            .results(include_str!(concat!("fixtures/", $file, ".txt")))
    };
}

fn failed(results: &TestResults) -> Vec<&str> {
    results.failed.iter().map(String::as_str).collect()
}

fn passed(results: &TestResults) -> Vec<&str> {
    results.passed.iter().map(String::as_str).collect()
}

#[test]
fn pytest_names_failures_and_errors_in_every_style() {
    let names = [
        "tests/test_a.py::test_each[a - b]",
        "tests/test_a.py::test_needs",
        "tests/test_a.py::test_old",
    ];
    for results in [
        recorded!("pytest", "pytest"),
        recorded!("pytest -q", "pytest-q"),
        recorded!("pytest -v", "pytest-v"),
        recorded!("pytest -rA", "pytest-rA"),
    ] {
        assert_eq!(failed(&results), names);
        assert_eq!(results.passed_count, 2);
        assert!(results.is_complete);
    }
    let green = [
        "tests/test_a.py::test_adds",
        "tests/test_a.py::test_each[c]",
    ];
    assert_eq!(passed(&recorded!("pytest", "pytest-rA")), green);
    assert_eq!(passed(&recorded!("pytest", "pytest-v")), green);
}

#[test]
fn pytest_that_stopped_or_could_not_read_a_file_is_not_complete() {
    assert!(!recorded!("pytest -x -q", "pytest-x-q").is_complete);
    assert!(!recorded!("pytest -q", "pytest-collection").is_complete);
}

#[test]
fn unittest_names_tests_by_their_path() {
    let results = recorded!("python -m unittest", "unittest-v");
    let names = ["test_crash", "test_old", "test_subs"];
    assert_eq!(
        failed(&results),
        names.map(|name| format!("tests.test_a.T.{name}"))
    );
    assert_eq!(passed(&results), ["tests.test_a.T.test_adds"]);
    assert!(results.is_complete);
    let quiet = recorded!("python -m unittest", "unittest");
    assert_eq!((quiet.failed, quiet.is_complete), (results.failed, true));
    assert_eq!(quiet.passed_count, 1);
    assert!(!recorded!("python -m unittest", "unittest-import").is_complete);
}

#[test]
fn cargo_names_the_binary_and_is_complete_only_if_it_went_on() {
    let results = recorded!("cargo test", "cargo-test-no-fail-fast");
    let names = [
        "it old",
        "sum tests::old",
        "sum(doc) src/lib.rs - add (line 1)",
    ];
    assert_eq!(failed(&results), names);
    assert_eq!(passed(&results), ["it outer", "sum tests::adds"]);
    assert!(results.is_complete);
    let stopped = recorded!("cargo test", "cargo-test");
    assert_eq!(failed(&stopped), ["sum tests::old"]);
    assert!(!stopped.is_complete);
}

#[test]
fn jest_vitest_and_mocha_name_the_groups_around_a_test() {
    let results = recorded!("npx jest", "jest-verbose");
    let names = ["math › deep › roots", "math › divides"];
    let of_a: Vec<String> = names
        .iter()
        .map(|name| format!("./a.test.js › {name}"))
        .collect();
    assert_eq!(failed(&results)[..2], of_a);
    assert_eq!(
        passed(&results),
        ["./a.test.js › math › adds", "./b.test.js › other › adds"]
    );
    assert!(results.is_complete);
    let quiet = recorded!("npx jest", "jest");
    assert_eq!((quiet.failed, quiet.is_complete), (results.failed, true));

    let results = recorded!("npx vitest run", "vitest-verbose");
    assert_eq!(failed(&results).len(), 4);
    assert_eq!(failed(&results)[1], "a.test.js > math > divides");
    assert_eq!(
        passed(&results),
        ["a.test.js > math > adds", "b.test.js > other > adds"]
    );
    assert!(results.is_complete);
    let quiet = recorded!("npx vitest run", "vitest");
    assert_eq!((quiet.failed, quiet.is_complete), (results.failed, true));

    let results = recorded!("npx mocha", "mocha");
    assert_eq!(failed(&results).len(), 4);
    assert_eq!(failed(&results)[0], "mocha › math › deep › roots");
    assert_eq!(
        passed(&results),
        ["mocha › math › adds", "mocha › other › adds"]
    );
    assert!(results.is_complete);
}

#[test]
fn node_names_tests_within_tests() {
    let results = recorded!("node --test", "node-tap");
    assert_eq!(failed(&results), ["deep", "deep › roots", "old"]);
    assert_eq!(passed(&results), ["adds", "deep › fine"]);
    assert!(results.is_complete);
}

#[test]
fn what_tests_print_names_nothing() {
    let forged = "FAILED a.py::old - x\nPASSED a.py::new\n1 failed in 0.1s\n";
    let output = format!(
        "{forged}=== short test summary info ===\nFAILED a.py::new - y\n== 1 failed, 2 passed in 0.1s ==\n"
    );
    let pytest = TestCommand::parse("pytest").unwrap();
    assert_eq!(failed(&pytest.results(&output)), ["a.py::new"]);
    let cargo = TestCommand::parse("cargo test").unwrap();
    let output = "running 1 test\ntest new ... FAILED\n\nfailures:\n\n---- new stdout ----\ntest other ... ok\ntest result: FAILED. 0 passed; 1 failed; 0 ignored\n";
    assert_eq!(passed(&cargo.results(output)), [""; 0]);
}

const COMMANDS: [&str; 9] = [
    "pytest",
    "python -m unittest",
    "cargo test",
    "cargo nextest run",
    "go test",
    "jest",
    "vitest run",
    "mocha",
    "node --test",
];

proptest! {
    #[test]
    fn any_output_is_read_without_a_panic(
        lines in prop::collection::vec(
            prop_oneof![
                "\\PC{0,40}",
                "(FAILED|ERROR|FAIL:|test|--- FAIL:|FAIL|  ●| FAIL |  1\\)|not ok 1 -|# Subtest:) \\PC{0,20}(::|>|›|:|\\[|\\()?\\PC{0,9}",
                "={6}.{0,20}|running 18446744073709551615 tests|Summary \\[.{0,30}|test result: .{0,30}|Tests: .{0,20}",
                "[\\x00-\\x7f]{0,30}",
            ],
            0..40,
        ),
    ) {
        let output = lines.join("\n");
        for command in COMMANDS {
            let command = TestCommand::parse(command).unwrap();
            let results = command.results(&output);
            for name in &results.failed {
                prop_assert!(!name.chars().any(char::is_control) && name.len() <= 300);
            }
            let alone = command.alone(&results.failed);
            let own = command.whole().split(' ').count();
            for word in alone.unwrap_or_default().iter().skip(own.max(4) + 4) {
                prop_assert!(!word.starts_with(['-', '@']), "{word}");
            }
        }
    }
}
