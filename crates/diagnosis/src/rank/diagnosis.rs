use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use regreen_model::{
    Confidence, Evidence, Failure, FailureCategory, FailureKind, RepairAction, RetryMode, fnv1a,
};

use super::cause::Candidate;
use super::exit::last_informative_line;
use crate::concrete_suggestions::made_concrete;
use crate::line::message_of;
use crate::rules::captures::installation;
use crate::rules::rule::{MATCHED, Rule};
use crate::rules::template::fill;
use crate::suggestions::{REST, of_rest, suggestions_for};

/// The longest line that a person would still quote.
const MAX_BLOCKER: usize = 300;
/// How much of a long line is quoted after the match.
const ROOM_AFTER: usize = 60;
/// A diagnosis is never entirely certain.
const MAX_CONFIDENCE: i32 = 99;

/// The result of the ranking, before it becomes a [`Failure`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Diagnosis {
    pub(crate) kind: FailureKind,
    /// The category; `None` for the default of the kind.
    pub(crate) category: Option<FailureCategory>,
    pub(crate) retry_mode: Option<RetryMode>,
    pub(crate) blocker: Option<String>,
    pub(crate) line: Option<u64>,
    /// Shown instead of the blocker.
    pub(crate) message: Option<String>,
    /// For the report, if no line can be quoted.
    pub(crate) phrase: Option<String>,
    pub(crate) repair: Option<RepairAction>,
    pub(crate) suggest: Vec<String>,
    pub(crate) completed_steps: Vec<String>,
    /// Steps that the agent reports as open.
    pub(crate) open_steps: Vec<String>,
    pub(crate) files: Vec<String>,
    pub(crate) rule: String,
    pub(crate) confidence: u8,
}

impl Diagnosis {
    pub(crate) fn new(kind: FailureKind, rule: &str) -> Self {
        Self {
            kind,
            category: None,
            retry_mode: None,
            blocker: None,
            line: None,
            message: None,
            phrase: None,
            repair: None,
            suggest: Vec::new(),
            completed_steps: Vec::new(),
            open_steps: Vec::new(),
            files: Vec::new(),
            rule: rule.to_owned(),
            confidence: 0,
        }
    }

    /// Creates the diagnosis that a rule gives for a line.
    pub(crate) fn of(candidate: &Candidate<'_>) -> Self {
        let Candidate {
            rule,
            finding,
            kind,
            score,
        } = candidate;
        let mut values = finding.captures.clone();
        let message = message_of(&finding.text);
        values.insert("line".to_owned(), message.to_owned());
        let mut following = finding
            .after
            .iter()
            .map(|line| message_of(line))
            .filter(|line| !line.is_empty());
        for name in ["next", "next2"] {
            let line = following.next().unwrap_or_default();
            values.insert(name.to_owned(), line.to_owned());
        }
        let template = rule.blocker.unwrap_or("{line}");
        let suggest = rule.suggest.iter().filter_map(|text| fill(text, &values));
        Self {
            retry_mode: rule.retry,
            blocker: fill(template, &values)
                .map(|text| quoted(&text, finding.captures.get(MATCHED)))
                .filter(|text| !text.is_empty()),
            line: Some(finding.line),
            repair: repair(rule, &values),
            suggest: suggest.collect(),
            confidence: u8::try_from((*score).clamp(1, MAX_CONFIDENCE)).unwrap_or(1),
            ..Self::new(*kind, rule.name)
        }
    }

    /// Creates a diagnosis that quotes the first line that passing runs don't print, or else the
    /// last informative line of the output.
    pub(crate) fn quoting_last_line(kind: FailureKind, rule: &str, evidence: &Evidence) -> Self {
        let new = evidence.output.new_lines.first();
        let new = new.map(|(number, text)| (*number, text.as_str()));
        let quoted = new.or_else(|| last_informative_line(evidence));
        Self {
            blocker: quoted.map(|(_, text)| shortened(text)),
            line: quoted.map(|(number, _)| number),
            ..Self::new(kind, rule)
        }
    }

    pub(crate) fn category(&self) -> FailureCategory {
        self.category.unwrap_or_else(|| self.kind.category())
    }

    pub(crate) fn into_failure(self, evidence: &Evidence) -> Failure {
        let retry_mode = self.retry_mode.unwrap_or_else(|| self.kind.retry_mode());
        let message = self
            .message
            .clone()
            .or_else(|| self.blocker.clone())
            .or_else(|| self.phrase.clone())
            .unwrap_or_else(|| capitalised(self.kind.words()));
        let category = self.category();
        let mut suggested_actions = self.suggest;
        if suggested_actions.is_empty() {
            suggested_actions = suggestions_for(self.kind, self.repair.as_ref());
            if category == FailureCategory::Partial {
                suggested_actions.retain(|action| action != REST);
                suggested_actions.extend(of_rest(&self.open_steps, self.blocker.as_deref()));
            }
        }
        let suggested_actions = made_concrete(suggested_actions, self.blocker.as_deref(), evidence);
        let files_modified = if evidence.files_changed.is_empty() {
            self.files
        } else {
            evidence.files_changed.clone()
        };
        Failure {
            category,
            kind: self.kind,
            message,
            fingerprint: fingerprint(self.kind, self.blocker.as_deref().unwrap_or_default()),
            blocked_on: self.blocker,
            line: self.line.and_then(|line| usize::try_from(line).ok()),
            retryable: retry_mode.is_retryable(),
            retry_mode,
            completed_steps: self.completed_steps,
            files_modified,
            tool_usage: evidence.tools.counts.clone(),
            last_successful_tool: evidence.tools.last_successful.clone(),
            suggested_actions,
            repair: self.repair,
            rule: self.rule,
            confidence: Confidence::percent(self.confidence),
        }
    }
}

/// Returns the repair that the rule names, or the installation of whatever is missing.
fn repair(rule: &Rule, values: &BTreeMap<String, String>) -> Option<RepairAction> {
    let named = rule.repair.as_ref().and_then(|repair| repair.fill(values));
    named.or_else(|| rule.provider.then(|| installation(values)).flatten())
}

/// Shortens a line that is too long to quote to the part around the match.
fn quoted(text: &str, matched: Option<&String>) -> String {
    let flat = flattened(text);
    let end = matched.and_then(|matched| {
        let matched = flattened(matched);
        flat.find(&matched).map(|at| at + matched.len())
    });
    let too_long = flat.chars().count() > MAX_BLOCKER;
    match end.filter(|end| too_long && *end > MAX_BLOCKER) {
        Some(end) => {
            let start = end.saturating_sub(MAX_BLOCKER - ROOM_AFTER);
            shortened(&flat[flat.ceil_char_boundary(start)..])
        }
        None => shortened(&flat),
    }
}

fn flattened(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(crate) fn shortened(text: &str) -> String {
    let flat = flattened(text);
    match flat.char_indices().nth(MAX_BLOCKER) {
        Some((cut, _)) => flat[..cut].to_owned(),
        None => flat,
    }
}

fn capitalised(words: &str) -> String {
    let mut chars = words.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars).collect()
    })
}

/// Matches everything that varies between runs: folders, addresses, ids, times, numbers. The last
/// part of a path stays, because it matters which file is missing.
const VARYING: &str = r"(?x)
    (?:[A-Za-z]:)?(?:[\w.~@+-]*[/\\])+   # folders
  | \b0x[0-9a-fA-F]+\b
  | \b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b
  | \b[0-9a-fA-F]*[0-9][0-9a-fA-F]*[a-fA-F][0-9a-fA-F]{5,}\b
  | \d+(?:[.,:]\d+)*";

static VARIES: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(VARYING).ok());

/// Returns a hash of kind and blocker as 16 hexadecimal digits.
pub(crate) fn fingerprint(kind: FailureKind, blocker: &str) -> String {
    let text = format!("{}\0{}", kind.name(), essence(blocker));
    format!("{:016x}", fnv1a(text.as_bytes()))
}

/// Removes everything that varies between runs.
pub(crate) fn essence(blocker: &str) -> String {
    let same = match VARIES.as_ref() {
        Some(varies) => varies.replace_all(blocker, |found: &Captures<'_>| {
            let is_folder = found[0].ends_with(['/', '\\']);
            if is_folder { "" } else { "#" }
        }),
        None => blocker.into(),
    };
    let mut text = String::new();
    for c in same.to_lowercase().chars() {
        let c = if c.is_whitespace() { ' ' } else { c };
        let repeats = matches!(c, ' ' | '#') && text.ends_with(c);
        if !repeats {
            text.push(c);
        }
    }
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(blocker: &str) -> String {
        fingerprint(FailureKind::MissingFile, blocker)
    }

    #[test]
    fn a_blocker_has_the_same_fingerprint_in_every_run() {
        for (a, b) in [
            ("open /tmp/a1/x.json: no", "open /srv/x.json: no"),
            ("main.rs:3:5: bad", "src/main.rs:14:9: bad"),
            ("at 0x7ffe115db180", "at 0x602000000014"),
            ("2026-01-02 03:04:05 boom", "2026-11-16 23:59:59 boom"),
            ("took 12ms", "took 7ms"),
            (
                "job 6f0c1a2b-1111-2222-3333-444455556666",
                "job 00000000-1111-2222-3333-444455556666",
            ),
        ] {
            assert_eq!(of(a), of(b), "{a} / {b}");
        }
    }

    #[test]
    fn different_blockers_have_different_fingerprints() {
        assert_ne!(of("no module named 'a'"), of("no module named 'b'"));
        assert_ne!(of("open /tmp/x.json"), of("open /tmp/y.json"));
        let other = fingerprint(FailureKind::RuntimeException, "boom");
        assert_ne!(of("boom"), other);
    }

    #[test]
    fn fingerprints_are_stable_between_versions() {
        assert_eq!(of("boom"), of("boom"));
        assert_eq!(of("boom").len(), 16);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
    }

    proptest! {
        #[test]
        fn numbers_do_not_matter(a in 0_u64.., b in 0_u64..) {
            prop_assert_eq!(of(&format!("line {a} failed")), of(&format!("line {b} failed")));
        }

        #[test]
        fn folders_do_not_matter(a in "(/[a-z0-9_.-]{1,8}){1,5}", b in "(/[a-z0-9_.-]{1,8}){1,5}") {
            prop_assert_eq!(of(&format!("open {a}/x.toml")), of(&format!("open {b}/x.toml")));
        }
    }
}
