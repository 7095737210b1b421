//! Reads what the harness of an agent adds below its message: which files changed, which tests ran,
//! how the last command ended. These words refute a claim of success that the agent's own words
//! leave standing.
//!
//! A line counts only as a whole: a sentence that mentions an exit code or an empty diff is about the
//! work, not a record of it.

use std::sync::LazyLock;

use regex::{Regex, RegexSet};

use crate::prose::unfenced_lines;
use crate::statements::Line;

/// Returns the line that refutes a claim of success, if there is one.
pub(crate) fn refutation(text: &str) -> Option<Line> {
    let records = records(text);
    let changed_nothing = || {
        let line = records.iter().find(|record| record.shows_no_change());
        line.filter(|_| !explains_no_change(text) && !has_committed(text))
    };
    let ran_no_test = || {
        let line = records.iter().find(|record| record.shows_no_test());
        line.filter(|_| !records.iter().any(Record::shows_passed_tests))
    };
    let failed = || {
        let last = records.iter().rposition(Record::shows_failure)?;
        let recovered = records[last..].iter().any(Record::shows_success);
        records.get(last).filter(|_| !recovered)
    };
    let fell_short = || records.iter().find(|record| record.shows_shortfall());
    let found = failed()
        .or_else(fell_short)
        .or_else(ran_no_test)
        .or_else(changed_nothing)?;
    Some(Line {
        number: found.number,
        text: found.line.trim().to_owned(),
    })
}

/// Returns the part of a message that a program wrote, with the number of lines above it: all that
/// follows the first heading below the agent's own paragraph.
pub(crate) fn program_output(text: &str) -> Option<(usize, &str)> {
    let is_heading = |line: &&str| captured(&HEADING, line.trim()).is_some();
    let mut lines = text.lines().enumerate();
    let first = lines.by_ref().find(|(_, line)| !line.trim().is_empty())?;
    let (above, heading) = lines
        .filter(|_| !is_heading(&first.1))
        .find(|(_, line)| is_heading(line) || captured(&TOOL, line.trim()).is_some())?;
    let start = heading.as_ptr() as usize - text.as_ptr() as usize;
    Some((above, &text[start..]))
}

/// Removes the names of tools before what they print: `[tool result] boom` says `boom`.
pub(crate) fn without_tool_names(text: &str) -> String {
    let without = |line: &str| {
        let name = captured(&TOOL, line).map_or(0, str::len);
        format!(
            "{}\n",
            line[name..].strip_prefix(' ').unwrap_or(&line[name..])
        )
    };
    text.lines().map(without).collect()
}

/// Returns whether a text counts tests that passed, and none that failed.
pub(crate) fn counts_passed_tests(text: &str) -> bool {
    is(&COUNTED_PASSED, text) && !counts_failed_tests(text)
}

/// Returns the last line that shows that tests passed, and none that failed.
pub(crate) fn passed_tests(text: &str) -> Option<u64> {
    let records = records(text);
    let mut passed = records
        .iter()
        .filter(|record| record.shows_passed_tests() && !counts_failed_tests(record.said));
    passed.next_back().map(|record| record.number)
}

/// Returns whether a text counts tests that failed.
pub(crate) fn counts_failed_tests(text: &str) -> bool {
    is(&FAILED_TESTS, text)
}

/// A line that a program wrote, not the agent.
#[derive(Clone, Copy, Debug)]
struct Record<'t> {
    /// 1-based.
    number: u64,
    line: &'t str,
    /// The line without the name of the program that wrote it.
    said: &'t str,
    /// What the section or command above it is about.
    heading: Option<&'t str>,
}

impl Record<'_> {
    fn shows_no_change(&self) -> bool {
        let is_about_changes = self.heading.is_some_and(is_about_changes);
        is(&NO_CHANGE, self.said)
            || (is_about_changes && (is(&NOTHING, self.said) || counts_no_change(self.said)))
    }

    /// Whether it counts fewer things than there are: `6/9 criteria met`.
    fn shows_shortfall(&self) -> bool {
        let counts = SHORTFALL
            .as_ref()
            .and_then(|regex| regex.captures(self.said));
        let number = |found: &regex::Captures<'_>, n| found.get(n)?.as_str().parse::<u64>().ok();
        counts.is_some_and(|found| number(&found, 1) < number(&found, 2))
    }

    fn shows_no_test(&self) -> bool {
        is(&NO_TEST, self.said)
    }

    fn shows_passed_tests(&self) -> bool {
        is(&PASSED_TESTS, self.said)
    }

    fn shows_failure(&self) -> bool {
        let is_of_program = self.said != self.line.trim();
        is(&FAILED, self.said)
            || is(&FAILED, self.line.trim())
            || (is_of_program && is(&PROGRAM_FAILED, self.said))
    }

    fn shows_success(&self) -> bool {
        is(&SUCCEEDED, self.said)
    }
}

/// Returns whether a heading or a command is about the files that changed. The changes to something
/// else, such as "Breaking changes", are the agent's own summary.
fn is_about_changes(heading: &str) -> bool {
    is(&CHANGES, heading) && !is(&OTHER_CHANGES, heading)
}

/// Returns whether a line says in any words that no file was changed: it has no other words.
fn counts_no_change(line: &str) -> bool {
    let mut words = line
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .peekable();
    let is_among = |list: &str, word: &str| list.split(' ').any(|known| known == word);
    let mut denies = false;
    words.peek().is_some()
        && words.all(|word| {
            let is_null = is_among(NULL_WORDS, &word);
            denies |= is_null;
            is_null || is_among(CHANGE_WORDS, &word)
        })
        && denies
}

const NULL_WORDS: &str = "no none nothing 0 zero empty unchanged";
const CHANGE_WORDS: &str = "file files path paths line lines change changes changed diff diffs diffstat edit edits edited \
    modified modification modifications touched written insertion insertions deletion deletions commit commits were was \
    has have been made found recorded detected by the this in of to since output new any total and s";

/// Returns the records of a message: lines outside fences that are not sentences, below the first
/// paragraph, which is the agent's.
fn records(text: &str) -> Vec<Record<'_>> {
    let mut heading = None;
    let mut records = Vec::new();
    let below = unfenced_lines(text)
        .skip_while(|(_, line)| line.trim().is_empty())
        .skip_while(|(_, line)| !line.trim().is_empty() && !is_of_harness(line));
    for (n, line) in below {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            continue;
        }
        if let Some(found) = captured(&HEADING, trimmed) {
            heading = Some(found);
        }
        if !is(&SENTENCE, trimmed) || captured(&PROGRAM, trimmed).is_some() {
            records.push(Record {
                number: n as u64 + 1,
                line,
                said: captured(&PROGRAM, trimmed).unwrap_or(trimmed),
                heading,
            });
        }
    }
    records
}

/// Returns whether a line begins with the name of a program in brackets, which no paragraph does.
fn is_of_harness(line: &str) -> bool {
    line.starts_with('[') && captured(&PROGRAM, line).is_some()
}

/// Returns whether the agent says why nothing had to be changed.
pub(crate) fn explains_no_change(text: &str) -> bool {
    is(&NO_CHANGE_NEEDED, text)
}

/// Returns whether the work was committed, so that a clean tree says nothing.
fn has_committed(text: &str) -> bool {
    is(&COMMITTED, text)
}

type Pattern = LazyLock<Option<Regex>>;
type Patterns = LazyLock<Option<RegexSet>>;

trait Matches {
    fn matches(&self, text: &str) -> bool;
}

impl Matches for Pattern {
    fn matches(&self, text: &str) -> bool {
        self.as_ref().is_some_and(|regex| regex.is_match(text))
    }
}

impl Matches for Patterns {
    fn matches(&self, text: &str) -> bool {
        self.as_ref().is_some_and(|set| set.is_match(text))
    }
}

fn is(pattern: &impl Matches, text: &str) -> bool {
    pattern.matches(text)
}

fn captured<'t>(pattern: &Pattern, text: &'t str) -> Option<&'t str> {
    let found = pattern.as_ref()?.captures(text)?;
    found.get(1).map(|found| found.as_str())
}

/// Builds patterns that match whole lines.
fn whole_lines(patterns: &[&str]) -> Option<RegexSet> {
    RegexSet::new(
        patterns
            .iter()
            .map(|pattern| format!("(?i)^(?:{pattern})$")),
    )
    .ok()
}

/// A line that names what follows: `--- verify: pytest ---`, `== diff ==`, `$ git status`, `# files`.
static HEADING: Pattern = LazyLock::new(|| {
    Regex::new(r"^(?:-{2,}|={2,}|#{1,4}|>{1,3}|\$)\s+([^\s(].*?)(?:\s*(?:-{2,}|={2,}|:))?$").ok()
});
/// The name of the program that writes a line: `[harness] …`, `runner: …`, `>>> …`, `# …`.
static PROGRAM: Pattern = LazyLock::new(|| {
    Regex::new(
        r"^(?:\[[\w -]{2,24}\]|(?i:(?:\w+ )?(?:harness|runner|wrapper|observer|supervisor|orchestrator|monitor|git|ci|verify|check|checker|guard|audit|auditor|watcher|validator|verifier|gate|hook|inspector|tool_result|post-check|system))\s?[:>]|>{1,3}|#)\s+(\S.*)$",
    )
    .ok()
});
/// The call of a tool, or its result: `[tool] Bash: make`.
static TOOL: Pattern = LazyLock::new(|| {
    Regex::new(r"(?i)^(\[(?:tool(?:[ _](?:call|result|use))?|verify|verifier|runner|harness|ci|check|post-check|gate)\])\s").ok()
});
/// A sentence of prose: a capital, several words, a full stop.
static SENTENCE: Pattern = LazyLock::new(|| {
    Regex::new(r"^(?:[-*•]\s+|\d+[.)]\s+)?\p{Lu}[^:]*(?:\s\S+){4,}[.!?)]\W*$|^\p{Lu}\w+: .*(?:\s\S+){4,}\.$").ok()
});
/// Sections and commands that list changes.
static CHANGES: Pattern = LazyLock::new(|| {
    Regex::new(
        r"(?i)\bdiff(?:stat)?\b|\bchange[sd]?\b|\bmodified\b|\bgit (?:status|log|show)\b|\bfiles\b",
    )
    .ok()
});
/// Changes to something other than files.
static OTHER_CHANGES: Pattern = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:breaking|api|schema|database|behaviou?r\w*|config\w*|public|dependency|dependencies|user|visible|further|planned|remaining|known|interface|ui|visual|functional)\b").ok()
});
/// Counts of what was reached.
static SHORTFALL: Pattern = LazyLock::new(|| {
    Regex::new(r"(?i)\b(\d+)\s?(?:/|of|out of)\s?(\d+) (?:\w+ ){0,2}(?:met|ticked|checked|done|complete[d]?|fulfilled|satisfied|reached|passed|passing|pass|green|found|present|covered)\b").ok()
});
/// An empty list.
static NOTHING: Patterns = LazyLock::new(|| {
    whole_lines(&[
        r"[(\[]?(?:empty|none|nothing|no output|no (?:file |new )?(?:changes?|commits?)|no files?)(?:, no (?:new )?\w+)*[)\]]?\.?",
        r"0|\[\]|-",
    ])
});
static NO_CHANGE: Patterns = LazyLock::new(|| {
    whole_lines(&[
        r"0 files? (?:were |was )?(?:changed|modified|touched|edited)\b.*",
        r"(?:(?:number of )?files?[ _]|paths?[ _])?(?:changed|modified|touched|edited)(?: files?| paths?)?(?: (?:since|by|in|during)\b[^:=]*)?\s*[:=]\s*(?:none|0|no|nothing|\[\])",
        r"no (?:files?|changes?|paths?|edits?)(?: (?:was|were|have been))? (?:changed|modified|touched|edited|made|detected|found|recorded|written)\b.*",
        r"nothing (?:was |has been )?(?:changed|modified|touched|written)\b.*",
        r"(?:the )?(?:git |workspace |working )?(?:diff|diffstat|patch|change ?set) (?:is|was) empty\b.*",
        r"(?:empty|no) (?:git |workspace )?(?:diff|patch|change ?set)\b.*",
        r"(?:\w+ )?(?:diff|diffstat|patch|change ?set)\s*[:=]\s*(?:empty|none|0 (?:bytes|lines|files)|nothing)\b.*",
        r"changes?(?: \w+){1,4}\s*[:=]\s*(?:none|0|nothing)",
        r"(?:the )?(?:working |work)?\s?tree (?:(?:is|was) )?(?:identical|unchanged|the same|clean)\b.*",
        r"nothing to commit, working tree clean\b.*",
        r"(?:modified|changed): 0,? (?:created|added): 0,? (?:deleted|removed): 0",
        r"changes?: (?:none|0)",
        r".*\b(?:but|and|session|attempt|run|agent)\b.*\bno (?:\w+ )?(?:files?|edits?|writes?|changes?|commits?|patch(?:es)?)\b(?: (?:was|were|has been|have been|and|or|nor|call|calls)\b.*)?\.?",
        r"(?:git status|git diff|head|branch|tree|workspace)[^:]{0,30}: (?:nothing|unchanged|clean|empty|none)\b.*",
        r"(?:geänderte|veränderte) dateien\s?: (?:keine|0)|keine (?:datei(?:en)?|änderung(?:en)?)\b.*|(?:fichiers? modifiés?|modifications?)\s?: (?:aucune?|0)|aucune? (?:fichier|modification)\b.*|(?:archivos|ficheros) modificados\s?: (?:ninguno|0)|ning[uú]n (?:archivo|cambio)\b.*",
    ])
});
/// Reasons to change nothing.
static NO_CHANGE_NEEDED: Pattern = LazyLock::new(|| {
    Regex::new(
        r"(?i)\bno (?:code |file |further )?changes? (?:was|were|is|are) (?:needed|necessary|required)|\bnothing (?:needed|had|has|needs) to (?:change|be (?:done|changed))|\balready (?:done|fixed|implemented|in place|there|correct|present|exists?|passes|handled)|\b(?:as asked|as requested|as instructed),? (?:i )?(?:changed|touched|edited|modified) nothing|\b(?:read-only|analysis|review|report) only\b|\breview (?:is )?(?:finished|complete|done)",
    )
    .ok()
});
/// Work that is in a commit.
static COMMITTED: Pattern = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:committed|commit(?:s|ted)?|pushed|merged)\b[^.\n]{0,60}\b[0-9a-f]{7,40}\b|(?m)^[0-9a-f]{7,40} \S").ok()
});
static NO_TEST: Patterns = LazyLock::new(|| {
    whole_lines(&[
        r"no (?:tests?|specs?|examples|test cases)(?: (?:was|were))? (?:ran|run|found|executed|collected|matched)\b.*",
        r"(?:collected|ran|running|executed|found) 0 (?:tests?|items|specs|examples|test cases)\b.*",
        r"0 (?:tests?|specs|examples|test cases)(?: (?:was|were))?(?: (?:ran|run|executed|found|collected))?(?:[,;. ].*)?",
        r"0 (?:of|/|out of) \d+ (?:tests?|specs|examples)\b.*",
        r"(?:0 (?:passing|passed)\b.*|.*\b(?:skipped|deselected|pending)\b.*\b0 (?:passing|passed))",
        r"(?:number of )?tests?[ _](?:run|ran|executed)\s*[:=]\s*0",
        r"tests?(?: run| executed)?\s*[:=]\s*0\b(?:.*\btotal)?",
        r"tests? (?:are|were|was) skipped\.?",
        r"tests:\s+\d+ skipped, \d+ total",
        r"(?:=+ )?[1-9]\d* (?:skipped|deselected|pending)(?:,? [1-9]\d* (?:skipped|deselected|pending|warnings?))*(?: in [\d.]+ ?m?s)?(?: =+)?",
        r"test result: ok\. 0 passed;.*",
        r"\?\s+\S+\s+\[no test files\]",
    ])
});
static PASSED_TESTS: Patterns = LazyLock::new(|| {
    whole_lines(&[
        r".*\b[1-9]\d* (?:tests? )?(?:passed|passing|ok|succeeded)\b.*",
        r"ok\s+\S+\s+[\d.(].*",
        r".*\btests run: [1-9].*",
        r"ran [1-9]\d* tests?\b.*",
        r".*\b[1-9]\d* examples?,.*",
    ])
});
static COUNTED_PASSED: Pattern = LazyLock::new(|| {
    Regex::new(r"(?i)\b[1-9]\d* (?:\w+ )?(?:tests? )?(?:are |all )?(?:passed|passing|pass|green)\b|\b(?:both|they all|all of them) pass\b|\b(?:suite|job|build|pipeline|ci) is green\b|\ball (?:[1-9]\d* |the )?(?:\w+ )?tests? (?:now )?(?:pass|are green)").ok()
});
static FAILED_TESTS: Pattern = LazyLock::new(|| {
    Regex::new(r"(?i)\b[1-9]\d* (?:tests? )?(?:failed|failing|failures?|errors?)\b").ok()
});
const FAILURE_WORD: &str = r"(?:failed|fail|failing|failure|red|error|errored|broken|not ok|unhealthy|unsuccessful|timed out|timeout|✗|✘|✖|❌)";
static FAILED: Patterns = LazyLock::new(|| {
    let keys = r"(?:the )?(?:last |final |post-)?(?:verify|verification|check|checks|build|tests?|test suite|lint|ci|e2e|pipeline|command|tool call|result|status|outcome|verdict|health ?check|smoke test)(?: (?:command|result|status|outcome|step|run|verdict))?";
    let result = format!(
        r"{keys}(?: (?:is|was|has))?(?:\s?[:=]|\s?\.{{2,}}|\s?…|\s?->|\s?→| -)?\s*{FAILURE_WORD}\b?.*"
    );
    let row = format!(r"[\w@/-]+(?: [\w@/-]+)?\s*(?:\.{{3,}}|…)\s*{FAILURE_WORD}");
    let code = r"(?:exit|return|rc|status)(?:[ _-]?(?:code|status|value))?";
    let exit = format!(r"\[?(?:last )?{code}\]?\s*[:=]?\s*\(?[1-9]\d*[)\]]?");
    let ended = r".*\b(?:exited|ended|finished|terminated|failed|returned)(?: with)?(?: an?)?(?: non-?zero)?(?: exit)?(?: code| status)?:? \(?[1-9]\d*\)?";
    let failed = format!(r".*`? (?:failed|errored) \({code}:? [1-9]\d*\)\.?");
    whole_lines(&[
        result.as_str(),
        row.as_str(),
        exit.as_str(),
        ended,
        failed.as_str(),
        r".*(?:->|→|=>|:) (?:exit(?:ed)?(?: with)?(?: code| status)?:? [1-9]\d*|FAIL(?:ED|URE)?)\.?",
        r"(?:last )?(?:command|cmd|verify|check|tool call|run|step)\b.*\b(?:rc|exit[ _-]?(?:code|status))\s*[=:]\s*[1-9]\d*",
        // Without a mark in front, it may be a number that was changed.
        r"(?:\[[\w -]+\]|\$) .*(?:->|→|=>) [1-9]\d{0,2}",
        r#".*"exit_?(?:code|status)"\s*:\s*[1-9]\d*.*"#,
        r"missing: .*[\w.-]+[./][\w.-]+.*",
        r"(?:exit|return) (?:code|status) of .*: [1-9]\d*",
        r"(?:last|final) (?:tool call|command|step)\b.*(?:->|→|=>) (?:\w+ )?error\b.*",
        r"expected\b.*\bto (?:be|have been) \w+\b.*\b(?:was|is|were|are|has|have)(?: not|n't)\b.*",
        r"expected\b.*\b(?:to exist|to change|changes? (?:in|to|of))\b.*\b(?:not|n't|none|no)\b.*",
        r"(?:[1-9]\d*|an?|the|one|two|some) (?:\w+ ){0,2}(?:tests?|assertions?|checks?|specs?)\b.*\b(?:deleted|removed|disabled|skipped|replaced|commented out|weakened)\b.*",
        r"(?:segmentation fault|bus error|aborted|killed)(?: \(core dumped\))?",
    ])
});
/// Matches the end of what a named program says about a command.
static PROGRAM_FAILED: Pattern = LazyLock::new(|| {
    Regex::new(r"(?i)\bexit(?:ed)?(?: (?:status|code))?:? ?[1-9]\d*\W*$|\btimed out\b[^.]*$").ok()
});
static SUCCEEDED: Patterns = LazyLock::new(|| {
    whole_lines(&[
        r".*(?:->|→|=>|:) (?:exit(?:ed)?(?: with)?(?: code| status)?:? 0|OK|PASS(?:ED)?)\.?",
        r".*\b(?:ok|passed|succeeded|success|green|✓|✔|✅)\b?(?: \(.*\))?\.?",
        r"\[?(?:last )?(?:exit|rc)(?:[ _-]?(?:code|status))?\]?\s*[:=]?\s*0\]?",
        r".*\bexited with 0",
        r".*\b[1-9]\d* passed\b.*",
    ])
});

#[cfg(test)]
mod tests {
    use super::*;

    fn check(records: &str, expected: Option<&str>) {
        let text = format!("Done. All tests pass.\n\n{records}\n");
        let found = refutation(&text).map(|line| line.text);
        assert_eq!(found.as_deref(), expected, "{records}");
    }

    #[test]
    fn a_record_of_the_harness_refutes_a_claim() {
        check("--- git diff ---\n(empty)", Some("(empty)"));
        check(
            "$ git diff --stat\n(no files changed)",
            Some("(no files changed)"),
        );
        check(
            "$ git diff --stat\n0 files, 0 lines changed",
            Some("0 files, 0 lines changed"),
        );
        check("### Breaking changes\nNone.", None);
        check("$ make\nexit status 2", Some("exit status 2"));
        check("no tests ran in 0.01s", Some("no tests ran in 0.01s"));
    }

    #[test]
    fn a_sentence_about_the_work_refutes_nothing() {
        check("- Retries: 3 -> 5", None);
        check("- `count()` now returns 12", None);
        check("The tool ends with exit code 2 if the diff is empty.", None);
        check("(empty)", None);
    }

    #[test]
    fn a_later_success_outweighs_a_failure() {
        check("run 1: exit code 1\nrun 2: exit code 0", None);
        check("tests: failed\ntests: passed", None);
    }

    #[test]
    fn a_clean_tree_says_nothing_of_work_that_is_committed_or_was_not_needed() {
        let clean = "\n\nnothing to commit, working tree clean\n";
        for claim in [
            "Committed as 3f2a1c9. Done.",
            "Done: it was already fixed, no changes were needed.",
        ] {
            assert_eq!(refutation(&format!("{claim}{clean}")), None, "{claim}");
        }
        assert!(refutation(&format!("Done.{clean}")).is_some());
    }
}
