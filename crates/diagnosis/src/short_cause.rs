//! A failure's cause in a few words, for titles.

use std::sync::LazyLock;

use regex::Regex;
use regreen_model::{Failure, FailureKind, FailureRecord, TaskFailure};

use crate::cause_origin::CauseOrigin;

macro_rules! patterns {
    ($($(#[$doc:meta])* $name:ident = $pattern:literal;)+) => {
        $($(#[$doc])* static $name: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new($pattern).ok());)+
    };
}

patterns! {
    /// Matches the name of something that isn't installed.
    MISSING = r#"(?x)
        No\ module\ named\ ['"]?(?P<module>[\w.-]+)
      | Cannot\ find\ (?:module|package)\ ['"](?P<package>[@\w][^'"]*)['"]
      | (?:^|[\s:])(?P<command>[\w.+-]+):\ (?:command\ )?not\ found
      | [Cc]ommand\ ['"]?(?P<named>[\w.+-]+)['"]?\ not\ found
      | (?:executable\ file|program)\ [`'"]?(?P<program>[\w.+-]+)[`'"]?\ (?:was\ )?not\ found"#;
    /// Matches the speaker or the severity before a message.
    PREFIX = r"(?x)^\s*(?:
        (?:/[^\s:]+/)[\w.+-]+:\s+
      | (?:ba|da|z|k)?sh:\s+
      | (?:python[\d.]*|node|ruby|perl|php|npm|yarn|pnpm|make(?:\[\d+\])?|pip|git|cargo|go|gcc|cc|ld|java|docker):\s+
      | line\s\d+:\s+ | \d+:\s+
      | npm\s(?:ERR!|error)\s+ | E\s{2,} | >\s+
      | \[?(?i:error|fatal|err|critical|failure|failed)(?:\s\w+\d+|\[\w+\])?\]?\s?:\s+
      | \#\#\[error\]\s* | ::error(?:\s[^:]*)?::\s*
      | \*{3}\s+
      | Uncaught\s+
    )";
    /// Matches an absolute path with folders, up to its last part.
    FOLDERS = r"(?P<before>^|[\s'\x22(=])/(?:[^\s/'\x22:]+/)+(?P<name>[^\s/'\x22:]+)";
    /// Matches the quotation of a terse check, up to what it found.
    CHECK = r"^`[^`]*` exited with \d+: ";
}

/// Returns a failure's cause in a few words, without paths and the names of the programs that
/// report it.
#[must_use]
pub fn short_cause(failure: &FailureRecord) -> String {
    let found = failure.diagnosis.as_deref();
    let quoted = found.and_then(|found| found.blocked_on.as_deref());
    let text = quoted.unwrap_or_else(|| failure.cause());
    let first = text.lines().find(|line| !line.trim().is_empty());
    let first = first.unwrap_or_default().trim();
    found
        .and_then(|found| known_cause(found, first))
        .unwrap_or_else(|| plain(first))
}

/// Returns the words for causes that are always described in the same way.
fn known_cause(failure: &Failure, line: &str) -> Option<String> {
    if CauseOrigin::of(failure) == CauseOrigin::AgentCrash {
        return Some(format!("the agent crashed: {line}"));
    }
    if let Some(check) = CHECK.as_ref().and_then(|check| check.find(line)) {
        return Some(line[check.end()..].to_owned());
    }
    let is_missing = matches!(
        failure.kind,
        FailureKind::MissingPythonModule
            | FailureKind::MissingNodeModule
            | FailureKind::MissingCommand
            | FailureKind::TestCollectionError
    );
    let found = MISSING.as_ref()?.captures(line).filter(|_| is_missing)?;
    let names = ["module", "package", "command", "named", "program"];
    let name = names.iter().find_map(|name| found.name(name))?;
    Some(format!("{} is not installed", name.as_str()))
}

fn plain(line: &str) -> String {
    let mut rest = line;
    for prefix in ["Verify failed: ", TaskFailure::NO_BLOCK] {
        let stripped = rest.strip_prefix(prefix);
        rest = stripped.map_or(rest, |said| said.trim_start_matches([':', ' ']));
    }
    if rest.is_empty() {
        return line.to_owned();
    }
    while let Some(prefix) = PREFIX.as_ref().and_then(|prefix| prefix.find(rest)) {
        let said = &rest[prefix.end()..];
        if said.trim().is_empty() {
            break;
        }
        rest = said;
    }
    match FOLDERS.as_ref() {
        Some(folders) => folders.replace_all(rest, "$before$name").into_owned(),
        None => rest.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Scanner, evidence_of, rank};
    use regreen_model::{Ending, Source};

    #[track_caller]
    fn check(line: &str, expected: &str) {
        let mut scanner = Scanner::new(Source::Command);
        scanner.feed(line.as_bytes());
        let ending = Ending {
            exit_code: Some(1),
            ..Ending::default()
        };
        let evidence = evidence_of(scanner.finish(), Source::Command, None, ending);
        let failure = FailureRecord {
            diagnosis: rank(&evidence).map(Box::new),
            ..FailureRecord::new(format!("Verify failed: `x` ended with exit code 1\n{line}"))
        };
        assert_eq!(short_cause(&failure), expected, "{line}");
    }

    #[test]
    fn the_cause_is_told_without_who_tells_it() {
        check(
            "/opt/ann/.pyenv/versions/3.11.7/bin/python3: No module named pytest",
            "pytest is not installed",
        );
        check("bash: line 3: jq: command not found", "jq is not installed");
        check("sh: 1: tsc: not found", "tsc is not installed");
        check(
            "Error: Cannot find module 'left-pad'",
            "left-pad is not installed",
        );
        check(
            "cat: /srv/work/project/out/report.json: No such file or directory",
            "cat: report.json: No such file or directory",
        );
        check(
            "error[E0432]: unresolved import `x`",
            "unresolved import `x`",
        );
        check("npm ERR! missing script: build", "missing script: build");
        check(
            "fatal: not a git repository (or any of the parent directories): .git",
            "not a git repository (or any of the parent directories): .git",
        );
    }

    #[test]
    fn a_failure_without_a_diagnosis_is_told_by_its_first_line() {
        let told = |error: &str| short_cause(&FailureRecord::new(error));
        assert_eq!(told("Task did not complete: hm"), "hm");
        assert_eq!(told("Task did not complete"), "Task did not complete");
        assert_eq!(told(""), "");
    }

    #[test]
    fn hostile_lines_are_read_quickly() {
        for unit in ["error: ", "/a", "sh: ", "E  ", "1: "] {
            let _ = plain(&unit.repeat(100_000 / unit.len()));
        }
    }
}
