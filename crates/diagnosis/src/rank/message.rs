//! Diagnoses an agent's message. Sentences are weighed, not counted: the strongest one decides,
//! and a tool's error in it matters only if the agent does not say that it is resolved.

use std::cmp::Reverse;

use regreen_model::{Evidence, FailureCategory, FailureKind, Finding, Source};

use super::cause::{Candidate, WEAK, candidates};
use super::diagnosis::{Diagnosis, shortened};
use super::exit;
use super::service::is_of_code;
use super::signs::Signs;
use super::signs::is_code;
use super::timeout;
use crate::cause_origin::{CauseOrigin, FAILURE_BLOCK, MESSAGE_TONE, OPEN_STEPS};
use crate::line::message_of;
use crate::prose::sentences;
use crate::prose::without_descriptions;
use crate::rules::RuleBook;
use crate::rules::rule::Role;
use crate::rules::rule::Rule;
use crate::scan::scan;
use crate::statements::{Message, code_spans};

/// How much of the end of a message is read.
const MAX_MESSAGE: usize = 64 * 1024;
const SURE: i32 = 50;
/// The lowest score that counts against a claim of success.
const CLEAR: u8 = 66;
/// The same, if the claim itself expresses doubt.
const DOUBTFUL: u8 = 50;
/// A rule that counts only together with a claim.
const ADMISSION: &str = "agent_messages/admission";
const SIGNAL: &str = "agent_messages/task-complete";

pub(crate) fn diagnose(evidence: &Evidence) -> Option<Diagnosis> {
    let text = said(evidence);
    let output = scan(text.as_bytes(), Source::Agent);
    let mut found = candidates(&output.findings);
    found.retain(|c| !is_description(c, &text));
    let spans = span_findings(&text);
    let reading = Reading {
        in_spans: candidates(&spans),
        signs: Signs::of(&output.findings),
        claims: last_line(&output.findings, is_claim),
        says_done: in_a_sentence(&text, is_claim),
        says_work: in_a_sentence(&text, |rule| rule.role == Role::Step),
        signals: last_line(&output.findings, |rule| rule.name == SIGNAL).is_some(),
        shown_success: last_line(&output.findings, |rule| {
            rule.role == Role::Success && rule.origin != CauseOrigin::AgentMessage
        }),
        message: Message::read(&text),
        found,
    };
    let diagnosis = reading.diagnose(evidence)?;
    let diagnosis = reading.as_timeout(diagnosis, evidence);
    Some(Diagnosis {
        completed_steps: reading.message.completed_steps.clone(),
        open_steps: reading.message.open_steps.clone(),
        files: reading.message.files.clone(),
        ..diagnosis
    })
}

/// Returns whether a message claims that the work is done.
pub(crate) fn claims_success(text: &str) -> bool {
    let output = scan(text.as_bytes(), Source::Agent);
    last_line(&output.findings, is_claim).is_some() || in_a_sentence(text, is_claim)
}

/// Returns whether such a rule matches a sentence, read on its own.
fn in_a_sentence(text: &str, is: impl Fn(&Rule) -> bool) -> bool {
    let sentences = scan(sentences(text).as_bytes(), Source::Agent);
    last_line(&sentences.findings, is).is_some()
}

/// Returns whether the text only describes what the work does.
fn is_description(candidate: &Candidate<'_>, text: &str) -> bool {
    let may_be = matches!(
        candidate.kind,
        FailureKind::IncompleteWork | FailureKind::ImpossibleTask | FailureKind::MissingReference
    );
    let index = usize::try_from(candidate.finding.line).map_or(0, |line| line.saturating_sub(1));
    let line = text.lines().nth(index).unwrap_or_default();
    let rest = || without_descriptions(line);
    may_be
        && candidate.rule.origin == CauseOrigin::AgentMessage
        && candidate.rule.matches(message_of(line))
        && !candidate.rule.matches(message_of(&rest()))
}

fn is_claim(rule: &Rule) -> bool {
    rule.role == Role::Success && rule.origin == CauseOrigin::AgentMessage
}

/// Scans code spans inside sentences, where tools are quoted, each as a line.
fn span_findings(text: &str) -> Vec<Finding> {
    let spans = code_spans(text);
    let joined: Vec<&str> = spans.iter().map(|span| span.text.as_str()).collect();
    let mut findings = scan(joined.join("\n").as_bytes(), Source::Command).findings;
    for finding in &mut findings {
        let index = usize::try_from(finding.line).unwrap_or(1).saturating_sub(1);
        finding.line = spans.get(index).map_or(finding.line, |span| span.number);
        // The neighbours of a span are other spans, not the lines around it.
        finding.before.clear();
        finding.after.clear();
    }
    findings
}

fn said(evidence: &Evidence) -> String {
    let whole = match &evidence.final_message {
        Some(message) => message.clone(),
        None => format!("{}\n{}", evidence.output.head, evidence.output.tail),
    };
    let start = whole.ceil_char_boundary(whole.len().saturating_sub(MAX_MESSAGE));
    whole[start..].to_owned()
}

fn last_line(findings: &[Finding], is: impl Fn(&Rule) -> bool) -> Option<u64> {
    let rule = |finding: &&Finding| RuleBook::ours().rule(&finding.rule).is_some_and(&is);
    findings
        .iter()
        .filter(rule)
        .map(|finding| finding.line)
        .max()
}

struct Reading<'a> {
    found: Vec<Candidate<'a>>,
    /// Findings in code spans, where tools are quoted.
    in_spans: Vec<Candidate<'a>>,
    signs: Signs,
    /// The line that claims that the work is done.
    claims: Option<u64>,
    /// Whether a sentence claims it, whatever the rest of its line says.
    says_done: bool,
    /// Whether a sentence says that some work was done.
    says_work: bool,
    /// The line that is the completion signal.
    signals: bool,
    /// The line in which a tool's output shows success.
    shown_success: Option<u64>,
    message: Message,
}

impl Reading<'_> {
    /// Tries the steps in the order of their precedence.
    fn diagnose(&self, evidence: &Evidence) -> Option<Diagnosis> {
        if let Some(error_line) = self.message.failure_line {
            return Some(self.of_block(error_line));
        }
        if self.claims.is_some() {
            let refuted = self.false_claim();
            return refuted.or_else(|| self.in_spite_of_claim(CLEAR));
        }
        if self.says_done {
            let refuted = self.false_claim();
            let doubted = || self.in_spite_of_claim(DOUBTFUL);
            let cut_short = || self.of_budget().or_else(doubted);
            return refuted.or_else(cut_short).or_else(|| self.of_open_steps());
        }
        self.of_time()
            .or_else(|| self.of_api())
            .or_else(|| {
                self.of_words()
                    .filter(|words| i32::from(words.confidence) >= SURE)
            })
            .or_else(|| self.of_tool())
            .or_else(|| self.of_words())
            .or_else(|| self.of_open_steps())
            .or_else(|| self.of_tone())
            .or_else(|| self.unexplained(evidence))
    }

    /// Diagnoses clear statements despite a claim of success. A question or gap after finished
    /// work belongs to the next task, not to this one.
    fn in_spite_of_claim(&self, at_least: u8) -> Option<Diagnosis> {
        let words = self
            .of_words()
            .filter(|words| !self.signals && words.confidence >= at_least)?;
        let is_question = words.kind.category() == FailureCategory::MissingContext;
        (!is_question || self.signs.nothing_done).then_some(words)
    }

    /// Diagnoses the `Error:` line of a failure block, and no other line. It often quotes a tool,
    /// so it is read both as a tool's line and as the agent's own words.
    fn of_block(&self, line: u64) -> Diagnosis {
        let text = self.message.failure_text.clone();
        let bytes = text.as_deref().unwrap_or_default().as_bytes();
        let as_output = scan(bytes, Source::Command);
        let as_words = scan(bytes, Source::Agent);
        let (quoted, said) = (
            candidates(&as_output.findings),
            candidates(&as_words.findings),
        );
        let on_line = self.found.iter().filter(|c| c.finding.line == line);
        let all = on_line.chain(&quoted).chain(&said);
        let best = all.max_by_key(|c| c.score);
        let diagnosis = match best {
            Some(best) => Diagnosis::of(best),
            None => Diagnosis {
                confidence: 60,
                ..Diagnosis::new(self.unknown_kind(), FAILURE_BLOCK)
            },
        };
        Diagnosis {
            blocker: text.as_deref().map(shortened),
            line: Some(line),
            ..diagnosis
        }
    }

    fn unknown_kind(&self) -> FailureKind {
        if self.has_done_work() {
            FailureKind::IncompleteWork
        } else {
            FailureKind::RuntimeException
        }
    }

    /// Diagnoses a claim of success that the same text refutes.
    fn false_claim(&self) -> Option<Diagnosis> {
        let is_refuted =
            |c: &&Candidate<'_>| self.shown_success.is_some_and(|line| line > c.finding.line);
        let proofs = self
            .found
            .iter()
            .filter(|c| is_tool(c) && c.rule.proves && c.score >= SURE);
        let proof = proofs
            .filter(|c| is_code(c.kind) && !is_refuted(c))
            .max_by_key(|c| c.score);
        let false_claim = FailureKind::FalseSuccessClaim;
        if let Some(proof) = proof {
            return Some(Diagnosis {
                kind: false_claim,
                repair: None,
                suggest: Vec::new(),
                retry_mode: None,
                ..Diagnosis::of(proof)
            });
        }
        let admits = self
            .found
            .iter()
            .filter(|c| c.kind == false_claim)
            .max_by_key(|c| c.score);
        admits.map(Diagnosis::of)
    }

    /// Diagnoses a timeout that a runner reports.
    fn of_time(&self) -> Option<Diagnosis> {
        let is_time = |c: &&Candidate<'_>| {
            c.rule.origin == CauseOrigin::TimeLimit && c.kind.category() == FailureCategory::Timeout
        };
        let best = self.found.iter().filter(is_time).max_by_key(|c| c.score)?;
        (best.score >= SURE && !self.message.is_long()).then(|| Diagnosis::of(best))
    }

    /// Diagnoses a failure of the agent's own service or program.
    fn of_api(&self) -> Option<Diagnosis> {
        let own = self
            .found
            .iter()
            .filter(|c| c.rule.origin == CauseOrigin::AgentService && c.score >= SURE)
            .filter(|c| !is_of_code(&c.finding.text));
        own.max_by_key(|c| (c.score, Reverse(c.finding.line)))
            .map(Diagnosis::of)
    }

    /// Diagnoses work that a budget stopped; what is reported as done is the part before that.
    fn of_budget(&self) -> Option<Diagnosis> {
        let is_budget = |own: &Diagnosis| own.kind == FailureKind::BudgetExhausted;
        self.of_api().filter(is_budget)
    }

    fn of_words(&self) -> Option<Diagnosis> {
        let own = self
            .found
            .iter()
            .filter(|c| c.rule.origin == CauseOrigin::AgentMessage && self.counts(c));
        let best = own.max_by_key(|c| (c.score, Reverse(c.finding.line)))?;
        let best = self.rest_of_work(best);
        let mut diagnosis = Diagnosis::of(best);
        let leaves_work = best.kind.category() == FailureCategory::Partial;
        if leaves_work
            && !self.has_done_work()
            && let Some(tool) = self.strongest_tool()
        {
            return Some(Diagnosis::of(tool));
        }
        if leaves_work && let Some(tool) = self.strongest_tool() {
            let of_tool = Diagnosis::of(tool);
            diagnosis.repair = of_tool.repair;
        }
        Some(diagnosis)
    }

    /// If work was done and the message mentions remaining work, a step that only a person can do
    /// is that remaining work.
    fn rest_of_work<'c>(&'c self, best: &'c Candidate<'c>) -> &'c Candidate<'c> {
        if best.kind != FailureKind::ImpossibleTask || !self.has_done_work() {
            return best;
        }
        let rest = self
            .found
            .iter()
            .filter(|c| c.kind == FailureKind::IncompleteWork && c.score >= SURE && self.counts(c));
        rest.max_by_key(|c| c.score).unwrap_or(best)
    }

    /// Weak statements count only if they fit the work: problems after work, doubts without any.
    fn counts(&self, candidate: &Candidate<'_>) -> bool {
        let is_trouble = candidate.kind.category() == FailureCategory::Partial;
        let fits = is_trouble == self.has_done_work() && self.claims.is_none();
        candidate.rule.name != ADMISSION && (candidate.score >= SURE || fits)
    }

    /// Diagnoses a tool's error if there is nothing else; incomplete work if some was done before.
    fn of_tool(&self) -> Option<Diagnosis> {
        let tool = self.strongest_tool()?;
        let diagnosis = Diagnosis::of(tool);
        if !self.has_done_work() {
            return Some(diagnosis);
        }
        Some(Diagnosis {
            kind: FailureKind::IncompleteWork,
            retry_mode: None,
            ..diagnosis
        })
    }

    /// Diagnoses steps of which some are marked as done and others are not.
    fn of_open_steps(&self) -> Option<Diagnosis> {
        let open = self.message.open_steps.first()?;
        let some_done = !self.message.completed_steps.is_empty();
        some_done.then(|| Diagnosis {
            blocker: Some(shortened(open)),
            confidence: 60,
            ..Diagnosis::new(FailureKind::IncompleteWork, OPEN_STEPS)
        })
    }

    /// Diagnoses a message that claims neither success nor work and negates something: nothing was
    /// done, because something was missing.
    fn of_tone(&self) -> Option<Diagnosis> {
        let line =
            self.message.doubt.as_ref().filter(|_| {
                !self.has_done_work() && (!self.says_work || self.signs.nothing_done)
            })?;
        Some(Diagnosis {
            blocker: Some(shortened(&line.text)),
            line: Some(line.number),
            confidence: 30,
            ..Diagnosis::new(FailureKind::MissingReference, MESSAGE_TONE)
        })
    }

    fn strongest_tool(&self) -> Option<&Candidate<'_>> {
        let all = self.found.iter().chain(&self.in_spans);
        let tools = all.filter(|c| is_tool(c) && c.score >= WEAK && c.rule.role != Role::Frame);
        tools.max_by_key(|c| (c.score, Reverse(c.finding.line)))
    }

    fn has_done_work(&self) -> bool {
        !self.signs.nothing_done
            && (self.signs.steps > 0 || !self.message.completed_steps.is_empty())
    }

    /// Diagnoses a nonzero exit code that nothing explains. Exit code 0 of an agent means nothing.
    fn unexplained(&self, evidence: &Evidence) -> Option<Diagnosis> {
        if exit::signal(evidence).is_some() {
            return exit::over(evidence, None);
        }
        let code = evidence.ending.exit_code?;
        (code != 0).then(|| exit::unexplained(evidence))
    }

    /// Decides whether a reported timeout came with progress.
    fn as_timeout(&self, diagnosis: Diagnosis, evidence: &Evidence) -> Diagnosis {
        if diagnosis.kind.category() != FailureCategory::Timeout {
            return diagnosis;
        }
        let is_idle = diagnosis.kind == FailureKind::TimeoutNoProgress;
        let kind = timeout::kind(self.has_done_work() || !(is_idle || self.signs.nothing_done));
        Diagnosis {
            kind,
            suggest: timeout::suggestions(evidence, kind),
            ..diagnosis
        }
    }
}

fn is_tool(candidate: &Candidate<'_>) -> bool {
    !matches!(
        candidate.rule.origin,
        CauseOrigin::AgentMessage | CauseOrigin::AgentService
    )
}
