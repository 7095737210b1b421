//! Makes suggestions concrete: with the command that runs the failing test, the port, the path or the
//! variable, where the output names it.

use std::collections::BTreeMap;

use regreen_model::{Evidence, FailureKind, Source};

use crate::place::SourcePlace;
use crate::rank::kind_of_line;
use crate::rules::lazy_regex::LazyRegex;
use crate::rules::template::fill;

/// General suggestions, and what they say where the value is known.
const CONCRETE: [(&str, &str); 14] = [
    ("Run the test alone", "Run the test alone: {test}"),
    (
        "Stop the process that holds the port, or use another port",
        "Stop the process that holds port {port}, or use another port than {port}",
    ),
    ("Find it: ss -ltnp", "Find it: ss -ltnp 'sport = :{port}'"),
    ("Check the path", "Check the path: {path}"),
    (
        "Create the file, or run the step that generates it",
        "Create {path}, or run the step that generates it",
    ),
    (
        "Check file permissions",
        "Check file permissions: ls -ld {path}",
    ),
    (
        "Use a path that the user may write to",
        "Use a path that the user may write to, instead of {path}",
    ),
    (
        "Write to another location",
        "Write to another location than {path}",
    ),
    (
        "Set the variable, for example from .env.example",
        "Set {variable}, for example from .env.example",
    ),
    (
        "Fix the first error; the others may follow from it",
        "Fix the first error, in {place}; the others may follow from it",
    ),
    (
        "Fix the code at the reported location",
        "Fix the code in {place}",
    ),
    (
        "Correct the data at the reported location",
        "Correct the data in {place}",
    ),
    ("Run: chmod +x on the script", "Run: chmod +x {path}"),
    (
        "Convert the script to LF line endings",
        "Convert {path} to LF line endings",
    ),
];

/// Replaces general suggestions by concrete ones, where the quoted line or the output has the value.
pub(crate) fn made_concrete(
    suggestions: Vec<String>,
    blocker: Option<&str>,
    evidence: &Evidence,
) -> Vec<String> {
    let values = values(blocker.unwrap_or_default(), evidence);
    let concrete = |general: String| {
        let known = CONCRETE.iter().find(|(text, _)| *text == general);
        known
            .and_then(|(_, template)| fill(template, &values))
            .unwrap_or(general)
    };
    suggestions.into_iter().map(concrete).collect()
}

/// Returns another way to reach the goal that fits what blocks this one.
pub(crate) fn alternative(blocker: Option<&str>) -> String {
    let way = blocker
        .and_then(|line| kind_of_line(line, Source::Command))
        .and_then(way_around)
        .unwrap_or("try another way around the blocker");
    format!("Adjust approach: {way}")
}

fn way_around(kind: FailureKind) -> Option<&'static str> {
    use FailureKind as K;
    Some(match kind {
        K::MissingPythonModule
        | K::MissingNodeModule
        | K::MissingRustCrate
        | K::PackageNotFound => "do without the missing package, or use one that is installed",
        K::MissingCommand | K::BadInterpreter | K::WrongToolVersion => {
            "use a program that is installed here"
        }
        K::MissingFile | K::MissingManifest => "work with the files that are there",
        K::PermissionDenied | K::ReadOnlyFs | K::NotExecutable => {
            "write below the project folder, where the user may"
        }
        K::PortInUse => "use a port that is free",
        K::ConnectionRefused
        | K::DnsFailure
        | K::TlsError
        | K::ServiceUnavailable
        | K::RateLimited => {
            "do the part that needs no network first, or use a local stand-in for the service"
        }
        K::AuthFailed | K::MissingCredentialsInfo => "do the part that needs no login first",
        K::MissingEnvVar => "give the variable a default for development",
        K::TimeoutWithProgress | K::TimeoutNoProgress => "work in smaller parts",
        K::OutOfMemory | K::DiskFull | K::FdLimit => "process the data in smaller parts",
        K::GitMergeConflict | K::GitPushRejected => "start from the newest state of the branch",
        K::DatabaseSchemaMissing | K::DatabaseLocked => "use a fresh database for the tests",
        K::TestFailure | K::TestCollectionError => {
            "look at what the failing test expects, and change the smallest part that gives it"
        }
        K::CompileError | K::TypeCheckError | K::SyntaxError | K::LinkError => {
            "make a smaller change that compiles, then go on from there"
        }
        _ => return None,
    })
}

fn values(blocker: &str, evidence: &Evidence) -> BTreeMap<String, String> {
    let place = SourcePlace::in_line(blocker).map(|place| place.to_string());
    let found = [
        ("test", test_command(blocker, evidence)),
        ("port", captured(&PORT, blocker)),
        ("path", captured(&PATH, blocker)),
        ("variable", captured(&VARIABLE, blocker)),
        ("place", place),
    ];
    let known = found
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    known.collect()
}

/// How runners name a failed test, and the command that runs it alone.
static TESTS: [(LazyRegex, &str); 5] = [
    (
        LazyRegex::new(
            r"(?:^|\s)(?:FAILED|ERROR) (?P<name>[\w./-]+\.py(?:::[\w.-]+(?:\[[\w.-]+\])?)+)",
        ),
        "pytest {name}",
    ),
    (
        LazyRegex::new(
            r"^(?:test (?P<name>\w+(?:::\w+)*) \.\.\. FAILED|---- (?P<name2>\w+(?:::\w+)*) stdout ----)",
        ),
        "cargo test {name} -- --exact",
    ),
    (
        LazyRegex::new(r"^\s*--- FAIL: (?P<name>\w+)"),
        "go test -run '^{name}$' ./...",
    ),
    (
        LazyRegex::new(r"^rspec (?P<name>\./[\w./-]+:\d+)"),
        "bundle exec rspec {name}",
    ),
    (
        LazyRegex::new(r"^(?:FAIL|ERROR): (?P<name2>\w+) \((?P<name>[\w.]+)\)"),
        "python -m unittest {name}",
    ),
];

/// Returns the command that runs the failed test alone: the one that the quoted line names, or the
/// first one that the end of the output names.
fn test_command(blocker: &str, evidence: &Evidence) -> Option<String> {
    let found = evidence
        .output
        .findings
        .iter()
        .map(|found| found.text.as_str());
    let lines = std::iter::once(blocker)
        .chain(found)
        .chain(evidence.output.end().lines());
    lines.into_iter().find_map(|line| {
        TESTS.iter().find_map(|(form, command)| {
            // No other program can import the script that ran.
            let is_importable = |name: &String| !name.starts_with("__main__.");
            let name = captured(form, line).filter(is_importable)?;
            fill(command, &BTreeMap::from([("name".to_owned(), name)]))
        })
    })
}

static PORT: LazyRegex = LazyRegex::new(r"(?i)(?:\bport\s+|:|',\s)(?P<name>[1-9]\d{1,4})\b");
static PATH: LazyRegex = LazyRegex::new(
    r#"(?:^|[\s'"`‘(:])(?P<name>(?:\.{0,2}/)?(?:[\w@.+-]+/)*[\w@+-]*\.[A-Za-z]\w{0,9}|(?:\.{0,2}/)?(?:[\w@.+-]+/)+[\w@.+-]+)(?:['"`’):,;]|\s|$)"#,
);
static VARIABLE: LazyRegex = LazyRegex::new(r"\b(?P<name>[A-Z][A-Z0-9]*_[A-Z0-9_]+|[A-Z]{4,})\b");

/// Returns what the form calls `name`, or else `name2`.
fn captured(form: &LazyRegex, line: &str) -> Option<String> {
    let (_, named) = form.captures(line)?;
    let of = |wanted: &str| named.iter().find(|(name, _)| *name == wanted);
    let (_, value) = of("name").or_else(|| of("name2"))?;
    Some((*value).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(general: &str, blocker: &str, output: &str, expected: &str) {
        let evidence = crate::evidence_of(
            crate::scan(output.as_bytes(), Source::Command),
            Source::Command,
            None,
            regreen_model::Ending::default(),
        );
        let made = made_concrete(vec![general.to_owned()], Some(blocker), &evidence);
        assert_eq!(made, [expected]);
    }

    #[test]
    fn a_failed_test_is_named_with_its_command() {
        for (line, command) in [
            (
                "FAILED tests/test_a.py::test_x - assert 1 == 2",
                "pytest tests/test_a.py::test_x",
            ),
            (
                "test parser::empty ... FAILED",
                "cargo test parser::empty -- --exact",
            ),
            (
                "--- FAIL: TestParse (0.00s)",
                "go test -run '^TestParse$' ./...",
            ),
            (
                "FAIL: test_x (tests.test_a.T.test_x)",
                "python -m unittest tests.test_a.T.test_x",
            ),
        ] {
            let expected = format!("Run the test alone: {command}");
            check("Run the test alone", line, "", &expected);
            check(
                "Run the test alone",
                "assert 1 == 2",
                &format!("{line}\n"),
                &expected,
            );
        }
        check("Run the test alone", "2 failed", "", "Run the test alone");
    }

    #[test]
    fn ports_paths_and_variables_are_named() {
        let port = "Stop the process that holds the port, or use another port";
        let expected = "Stop the process that holds port 8081, or use another port than 8081";
        check(port, "port 8081 is busy", "", expected);
        check(
            port,
            "listen EADDRINUSE: address already in use :::8081",
            "",
            expected,
        );
        check(
            "Check the path",
            "cat: conf/app.ini: No such file or directory",
            "",
            "Check the path: conf/app.ini",
        );
        check(
            "Check file permissions",
            "cp: cannot create regular file '/etc/x': Permission denied",
            "",
            "Check file permissions: ls -ld /etc/x",
        );
        check(
            "Set the variable, for example from .env.example",
            "KeyError: 'APP_TOKEN'",
            "",
            "Set APP_TOKEN, for example from .env.example",
        );
    }

    #[test]
    fn the_alternative_fits_the_blocker() {
        let around = |line: &str| alternative(Some(line));
        assert_eq!(
            around("ModuleNotFoundError: No module named 'bcrypt'"),
            "Adjust approach: do without the missing package, or use one that is installed"
        );
        assert_eq!(
            around("OSError: [Errno 98] Address already in use"),
            "Adjust approach: use a port that is free"
        );
        assert_eq!(
            around("the last package is left"),
            "Adjust approach: try another way around the blocker"
        );
        assert_eq!(
            alternative(None),
            "Adjust approach: try another way around the blocker"
        );
    }
}
