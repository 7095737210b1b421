//! Reads what a project's own scripts say in plain English. No tool prints these words, so no rule
//! knows them; they are read only where the rules are not sure, and only in the line that is quoted
//! and, if that only says that it is over, in the lines above it.

use regreen_model::{Evidence, FailureKind};

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
/// How many lines of a short output are read.
const READ_LINES: usize = 6;

/// What plain words mean. The first entry that matches a line counts.
static MEANINGS: [(FailureKind, LazyRegex); 11] = [
    (
        FailureKind::NotExecutable,
        LazyRegex::new(
            r"(?xi) \bnot\s(?:marked\s(?:as\s)?|an?\s)?executable\b
                | \b(?:lacks?|without|no|missing)\s(?:the\s|its\s|an?\s)?(?:execut(?:e|able)|exec|\+x|x)[\s-](?:bit|permission|right|flag)s?\b
                | \b(?:execut(?:e|able)|exec|\+x)[\s-](?:bit|permission|flag)\s(?:is\s)?(?:missing|not\sset|unset|off)\b
                | \b(?:may|can)(?:\snot|not|'t)\sbe\s(?:executed|started|run)\b.*\b(?:mode|permission|bit)\b",
        ),
    ),
    (
        FailureKind::CrlfScript,
        LazyRegex::new(
            r"(?xi) \b(?:CRLF|CR/LF|DOS|Windows)[\s-](?:style\s)?(?:line[\s-]?(?:endings?|ends?|breaks?)|newlines?)\b
                | \bcarriage\sreturns?\b",
        ),
    ),
    (
        FailureKind::PortInUse,
        LazyRegex::new(
            r"(?xi) \bport\b.{0,40}\b(?:busy|in\suse|used|taken|occupied|held|blocked|not\s(?:free|available)|unavailable|allocated)\b
                | \b(?:something|someone|another\s\w+|a\s\w+)\s(?:else\s)?(?:is\s|already\s|is\salready\s)?(?:listens?|listening|runs|running|sits|bound)\s(?:on|to)\s(?:port\s|:)?\d{2,5}\b
                | \bno\sfree\sport\b",
        ),
    ),
    (
        FailureKind::DatabaseSchemaMissing,
        LazyRegex::new(
            r"(?xi) \b(?:schema|migrations?|tables?)\b.{0,40}\b(?:missing|pending|not\s(?:been\s)?(?:applied|created|there|run|migrated|initiali[sz]ed|found)|out\sof\sdate|outdated|does(?:\snot|n't)\sexist)\b
                | \b(?:no|missing|without|unapplied)\s(?:\w+\s)?(?:tables?|schema|migrations?)\b",
        ),
    ),
    (
        FailureKind::DataCorrupt,
        LazyRegex::new(
            r"(?xi) \bcached?\b.{0,60}\b(?:corrupt(?:ed)?|stale|damaged|broken|unreadable|outdated|incompatible|invalid|garbage|(?:from|of|for|by)\sanother\sversion|old\sversion|does(?:\snot|n't)\smatch)\b
                | \b(?:corrupt(?:ed)?|stale|damaged|broken|unreadable|outdated|incompatible)\b.{0,30}\bcache\b",
        ),
    ),
    (
        FailureKind::StaleLock,
        LazyRegex::new(
            r"(?xi) \block(?:ed|[\s-]?file|s)?\b.{0,60}\b(?:held|holds|exists|present|stale|owned|taken|left|another|still\sthere|in\sthe\sway|by\s(?:pid|process))\b
                | \b(?:held|stale|left-?over|another|existing)\b.{0,30}\block(?:[\s-]?file)?\b
                | \banother\s(?:instance|process|build|run|job|copy|deploy(?:ment)?|server)\b.{0,40}\b(?:is|seems|appears|runs|running|active|in\sprogress)\b
                | \balready\s(?:running|in\sprogress|started)\b.{0,60}\b(?:pid|process|lock)\b
                | \S\.(?:pid|lock|lck)\b.{0,60}\b(?:process|pid|owner|running|at\swork|alive|active|busy|in\suse)\b",
        ),
    ),
    (
        FailureKind::MissingEnvVar,
        LazyRegex::new(
            r"(?x) \$?\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b.{0,20}\b(?i:not\sset|unset|blank|empty|missing|undefined|not\sdefined|required|has\sno\svalue|nowhere)\b
                | \b(?i:set|define|export|needs?|requires?|missing|without|no|expects?|fill\sin)\b.{0,30}\$?\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b",
        ),
    ),
    (
        FailureKind::MissingCommand,
        LazyRegex::new(
            r"(?xi) \bnot\s(?:on|in)\s(?:the\s|your\s|my\s|this\s)?\$?PATH\b
                | \b(?:cannot|can't|could\snot|couldn't|unable\sto)\s(?:find|locate|run|start)\s(?:the\s)?(?:program|command|executable|binary)\b
                | \b(?:program|command|executable|binary)\b.{0,40}\b(?:missing|not\s(?:found|there|available|installed))\b",
        ),
    ),
    (
        FailureKind::SyntaxError,
        LazyRegex::new(
            r"(?i)\bsyntax error\b|\bdoes not parse\b|\bunbalanced (?:braces?|brackets?|parenthes[ei]s)\b",
        ),
    ),
    (
        FailureKind::MissingFile,
        LazyRegex::new(
            r"(?xi) \b(?:files?|folders?|director(?:y|ies)|dirs?|paths?|settings|config(?:uration)?|template|fixtures?|data|output|input|artifacts?|artefacts?|generated|headers?|[\w-]+/[\w./-]+|\.?[\w-]+\.[a-z][a-z0-9]{0,9})\b.{0,60}
                  \b(?:missing|absent|gone|nowhere|not\s(?:there|here|present|found|be\sfound|exist(?:ing)?|been\s(?:generated|created|built|made))|does(?:\snot|n't)\sexist|never\s(?:generated|created|built|made)|no\slonger\sthere)\b
                | \b(?:cannot|can't|could\snot|couldn't|unable\sto)\s(?:find|locate|see|open|read|load|write|create|save)\b.{0,60}(?:[\w.-]+/[\w.-]+|\.?[\w-]+\.[a-z][a-z0-9]{0,9}\b|\bfolder\b|\bfile\b|\bdirectory\b)
                | \b(?:missing|no\ssuch|there\sis\sno|there's\sno|no)\s(?:\w+\s){0,3}(?:files?|folders?|director(?:y|ies)|path)\b
                | \bno\s\.env\b | \b(?:missing|there\sis\sno|there's\sno)\b.{0,30}(?:[\w.-]+/[\w./-]+|\.?[\w-]+\.[a-z][a-z0-9]{0,9}\b)",
        ),
    ),
    (
        FailureKind::ServiceUnavailable,
        LazyRegex::new(
            r"(?xi) \b(?:not\sready|warming\sup|still\s(?:starting|booting|loading|warming)|starting\sup)\b
                | \b(?:try|come\sback|check)\s(?:it\s)?(?:again\s)?(?:later|in\s(?:a\s(?:moment|minute|bit|few\s\w+)|\d+\s?\w+)|shortly|soon)\b
                | \btemporar(?:y|ily)\s(?:un|fail|out|not|down|over)\w*",
        ),
    ),
];

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

/// Reads the quoted line of a diagnosis that is not sure once more, and the lines above it if it
/// says little.
pub(crate) fn reread(diagnosis: Diagnosis, evidence: &Evidence) -> Diagnosis {
    if diagnosis.kind != FailureKind::RuntimeException || diagnosis.confidence >= UNSURE {
        return diagnosis;
    }
    let quoted = diagnosis.line.zip(diagnosis.blocker.as_deref());
    let says_little = quoted.is_some_and(|(_, line)| GIVES_UP.is_match(message_of(line)));
    let reads_on = says_little && evidence.output.lines <= SHORT_OUTPUT;
    let around = informative_lines(evidence)
        .take(READ_LINES)
        .filter(|_| reads_on);
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
        None => diagnosis,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        ] {
            assert_eq!(meaning(line), Some(kind), "{line}");
        }
    }

    #[test]
    fn other_words_have_none() {
        for line in [
            "2 of 9 checks are red",
            "the total is 12 but should be 13",
            "expected blue, got green",
            "warning: port 80 is busy, using 8080",
        ] {
            assert_eq!(meaning(line), None, "{line}");
        }
    }
}
