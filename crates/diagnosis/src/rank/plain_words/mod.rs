//! Reads what a project's own scripts say in plain English. No tool prints these words, so no rule
//! knows them; they are read only where the rules are not sure, and only in the line that is quoted
//! and, if that only says that it is over, in the lines above it.

mod meanings;

use regreen_model::{Evidence, FailureKind};

use self::meanings::MEANINGS;
use super::diagnosis::{Diagnosis, shortened};
use super::exit::informative_lines;
use crate::line::{LineKind, message_of};
use crate::rules::lazy_regex::LazyRegex;

/// The rule that such a diagnosis names.
pub(crate) const PLAIN_WORDS: &str = "generic/plain-words";

/// A diagnosis that is surer than this needs no second reading.
const UNSURE: u8 = 40;
/// How sure plain words are: sure enough for a look at the workspace, which decides.
const CONFIDENCE: u8 = 45;
/// A longer output is not a few words of a script.
const SHORT_OUTPUT: u64 = 40;
/// An output that is so short is read as a whole.
const FEW_LINES: u64 = 6;
/// How many lines of a short output are read.
const READ_LINES: usize = 6;

/// A statement that something is missing, whatever it is.
static ABSENCE: LazyRegex = LazyRegex::new(
    r"(?xi) \b(?:missing|absent|nowhere|not\s(?:there|here|present|found|installed|available|importable|be\s(?:found|imported|loaded))|isn't\s(?:there|here|installed|available)|does(?:\snot|n't)\sexist|uninstalled)\b
        | \b(?:needs?|requires?|depends\son|expects?|wants?|install)\s\S
        | \b(?:cannot|can't|could\snot|couldn't|unable\sto)\s(?:find|locate|import|load|require|use)\b
        | \bthere(?:'s|\sis)\sno\b | \bwithout\s\S
        | \b(?:run|do|call|build|make|generate|execute)\s.{1,40}\bfirst\b | \bnothing\sto\s\w",
);

/// A line that only says that it is over.
static GIVES_UP: LazyRegex = LazyRegex::new(
    r"(?xi)^\W*(?:giving\sup|abort(?:ed|ing)?|stop(?:ped|ping)?|exit(?:ed|ing)?|quit(?:ting)?|failed|failure|fail|error|(?:the\s)?(?:check|build|test|setup|run|script|command|step)s?\s(?:has\s|have\s)?failed|cannot\s(?:continue|go\son|proceed)|see\sabove|sorry)\b[^/:]{0,30}$",
);

/// Returns what a line means in plain English, if that is a kind of failure.
pub(crate) fn meaning(line: &str) -> Option<FailureKind> {
    let line = message_of(line);
    if LineKind::of(line) != LineKind::Plain {
        return None;
    }
    let entry = MEANINGS.iter().find(|(_, words)| words.is_match(line));
    entry.map(|(kind, _)| *kind)
}

/// Returns whether a run that was green prints this line as well.
fn is_known(evidence: &Evidence, line: u64) -> bool {
    let mut findings = evidence.output.findings.iter();
    findings.any(|finding| finding.line == line && finding.is_known)
}

/// Returns whether a line is from the last command that a shell echoed, and not from a green run.
fn is_last_said(evidence: &Evidence, line: u64) -> bool {
    let command_at = evidence.output.last_command_at.unwrap_or_default();
    line > command_at && !is_known(evidence, line)
}

/// Reads the quoted line of a diagnosis that is not sure once more, and the lines above it if it
/// says little.
pub(crate) fn reread(diagnosis: Diagnosis, evidence: &Evidence) -> Diagnosis {
    if diagnosis.kind != FailureKind::RuntimeException || diagnosis.confidence >= UNSURE {
        return diagnosis;
    }
    let quoted = diagnosis.line.zip(diagnosis.blocker.as_deref());
    let says_little = quoted.is_some_and(|(_, line)| GIVES_UP.is_match(message_of(line)));
    let most = if says_little { SHORT_OUTPUT } else { FEW_LINES };
    let reads_on = evidence.output.lines <= most;
    let around = informative_lines(evidence)
        .take(READ_LINES)
        .filter(|(line, _)| reads_on && is_last_said(evidence, *line));
    let lines: Vec<(u64, &str)> = quoted.into_iter().chain(around).collect();
    let found = lines
        .iter()
        .find_map(|(number, line)| Some((*number, *line, meaning(line)?)));
    let lacks = |line: &str| {
        let line = message_of(line);
        LineKind::of(line) == LineKind::Plain && ABSENCE.is_match(line)
    };
    let absent = || {
        let line = lines.iter().find(|(_, line)| lacks(line))?;
        Some((line.0, line.1, diagnosis.kind))
    };
    match found.or_else(absent) {
        Some((number, line, kind)) => Diagnosis {
            blocker: Some(shortened(line)),
            line: Some(number),
            confidence: CONFIDENCE,
            message: None,
            ..Diagnosis::new(kind, PLAIN_WORDS)
        },
        None if reads_on && !says_little && quoted.is_some_and(|(_, line)| names_file(line)) => {
            Diagnosis {
                confidence: CONFIDENCE,
                message: None,
                ..Diagnosis {
                    rule: PLAIN_WORDS.to_owned(),
                    ..diagnosis
                }
            }
        }
        None => diagnosis,
    }
}

/// Returns whether a line names a file or folder. If an output of a few words does, the workspace can
/// show what they mean.
fn names_file(line: &str) -> bool {
    let words = line.split(|c: char| c.is_whitespace() || "'\"`()[]{}<>,;=".contains(c));
    LineKind::of(line) == LineKind::Plain
        && words
            .map(|word| word.trim_end_matches([':', '.', '!', '?']))
            .any(|word| NAMED_FILE.is_match(word))
}

static NAMED_FILE: LazyRegex = LazyRegex::new(
    r"^(?:[\w.@~-]+/)+[\w.@~-]*$|^[\w-]{2,}\.[A-Za-z]\w{0,9}$|^\.[a-z]\w+(?:\.\w+)?$",
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_words_that_name_a_file_are_sure_enough_for_a_look_at_it() {
        let confidence = |text: &str| {
            let output = crate::scan(text.as_bytes(), regreen_model::Source::Command);
            let ending = regreen_model::Ending {
                exit_code: Some(3),
                ..Default::default()
            };
            let source = regreen_model::Source::Command;
            let found = super::super::of_command(&crate::evidence_of(output, source, None, ending));
            found.map(|found| found.confidence)
        };
        let named = "go: step ci/steps/lint.sh, the x flag of this file is off\n";
        assert_eq!(confidence(named), Some(CONFIDENCE));
        assert_eq!(confidence("go: the second step went astray\n"), Some(20));
        let long = format!("{}{named}", "step\n".repeat(30));
        assert_eq!(confidence(&long), Some(20));
        assert!(names_file("start: .env.example is all there is"));
        assert!(!names_file("it took 1.5 s, i.e. too long"));
    }

    #[test]
    fn plain_words_have_a_meaning() {
        use FailureKind as K;
        for (line, kind) in [
            ("tools/lint.sh is not executable", K::NotExecutable),
            (
                "deploy: hooks/pre.sh lacks the executable bit",
                K::NotExecutable,
            ),
            ("scripts/run.sh has Windows line endings", K::CrlfScript),
            ("port 8081 is busy", K::PortInUse),
            ("something is already listening on :9000", K::PortInUse),
            (
                "the users table is missing, run the migrations",
                K::DatabaseSchemaMissing,
            ),
            (
                "the cache in .cache/tool is from another version",
                K::DataCorrupt,
            ),
            ("another build is running (see .build.lock)", K::StaleLock),
            ("lock file var/app.lock is held by process 71", K::StaleLock),
            ("APP_TOKEN is not set", K::MissingEnvVar),
            ("please export API_URL first", K::MissingEnvVar),
            ("no server known (API_URL is blank)", K::MissingEnvVar),
            (
                "var/worker.pid says that process 71 is at work",
                K::StaleLock,
            ),
            ("server: no .env here", K::MissingFile),
            ("protoc-gen-x is not on the PATH", K::MissingCommand),
            ("syntax error in parser.ts", K::SyntaxError),
            (
                "cannot find the settings file conf/app.ini (template: conf/app.ini.example)",
                K::MissingFile,
            ),
            ("gen/version.py has not been generated", K::MissingFile),
            ("output folder reports/daily is missing", K::MissingFile),
            ("the index is still warming up", K::ServiceUnavailable),
            ("the total is 12 but should be 13", K::TestFailure),
            ("expected blue, got green", K::TestFailure),
            (
                "the folder 'var/run' has to exist before the daemon starts",
                K::MissingFile,
            ),
            (
                "release.sh: the tool 'yq' is required but could not be located",
                K::MissingCommand,
            ),
            ("deps.lock no longer matches deps.toml", K::LockfileOutdated),
            (
                "Node 20 or newer is needed, this is v16.20.2",
                K::WrongToolVersion,
            ),
            (
                "cannot talk to the queue on 127.0.0.1:5672: nobody is listening",
                K::ConnectionRefused,
            ),
            (
                "format check: 3 files would change: a.py b.py c.py",
                K::LintError,
            ),
            ("could not store chunk 81: the volume is full", K::DiskFull),
            (
                "import of 'yamlish' did not work (is it installed?)",
                K::MissingPythonModule,
            ),
            ("host db.internal.example is not known here", K::DnsFailure),
            (
                "user 'app' may not read /srv/keys/tls.key",
                K::PermissionDenied,
            ),
            ("the server does not accept our token", K::AuthFailed),
            (
                "data/users.csv line 17: expected 5 columns, found 4",
                K::DataFormatError,
            ),
            ("don't know what to do with '--fast'", K::BadUsage),
            (
                "registry answered 502, giving up after 5 tries",
                K::ServiceUnavailable,
            ),
            (
                "sha256 of tool.tgz is 9f2c, manifest says 11ab",
                K::IntegrityMismatch,
            ),
            (
                "there are uncommitted changes, refusing to tag",
                K::GitDirtyTree,
            ),
        ] {
            assert_eq!(meaning(line), Some(kind), "{line}");
        }
    }

    #[test]
    fn other_words_have_none() {
        for line in [
            "2 of 9 checks are red",
            "warning: port 80 is busy, using 8080",
        ] {
            assert_eq!(meaning(line), None, "{line}");
        }
    }
}
