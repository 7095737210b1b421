//! Diagnoses an agent's message. Sentences are weighed, not counted: the strongest one decides, and
//! a tool's error in it matters only if the agent doesn't say that it is resolved.

use std::cmp::Reverse;

use regreen_model::{Evidence, FailureCategory, FailureKind, Finding, Output, Source};

use super::cause::{Candidate, WEAK, candidates, choose};
use super::diagnosis::{Diagnosis, shortened};
use super::exit;
use super::plain_words;
use super::service::is_of_code;
use super::signs::Signs;
use super::signs::is_code;
use super::timeout;
use crate::cause_origin::{
    CauseOrigin, FAILURE_BLOCK, HARNESS_WORDS, MESSAGE_TONE, OPEN_STEPS, QUESTION, UNFINISHED,
};
use crate::clauses::{Statement, StatementKind, statement, wishes_to_know, without_harmless};
use crate::closing_words::ends_well;
use crate::contradiction::{Contradiction, admission};
use crate::failure_block::{has_any_failure_block, without_titles};
use crate::harness_words::{
    counts_failed_tests, counts_passed_tests, explains_no_change, passed_tests, program_output,
    refutation, without_tool_names,
};
use crate::line::message_of;
use crate::prose::{
    Fence, fences, is_quote, sentence_ranges, sentences, unfenced_lines, without_code,
    without_descriptions, without_quotations,
};
use crate::rules::RuleBook;
use crate::rules::lazy_regex::LazyRegex;
use crate::rules::rule::Role;
use crate::rules::rule::Rule;
use crate::scan::scan;
use crate::statements::{Line, Message, code_spans};

/// How much of the end of a message is read.
const MAX_MESSAGE: usize = 64 * 1024;
const SURE: i32 = 50;
/// The minimum score that counts against a claim of success.
const CLEAR: u8 = 66;
/// The same, if the claim itself expresses doubt.
const DOUBTFUL: u8 = 50;
/// Nothing that an agent says outweighs a diagnosis as sure as this.
const CERTAIN: u8 = 90;
/// A rule that counts only together with a claim.
const ADMISSION: &str = "agent_messages/admission";
const SIGNAL: &str = "agent_messages/task-complete";

pub(crate) fn diagnose(evidence: &Evidence) -> Option<Diagnosis> {
    let text = said(evidence);
    let output = scan(text.as_bytes(), Source::Agent);
    let mut found = candidates(&output.findings);
    found.retain(|c| !is_description(c, &text) && !is_echoed(c) && !is_overcome(c, &text));
    let spans = span_findings(&text);
    let mut in_spans = candidates(&spans);
    in_spans.retain(|c| !is_overcome(c, &text));
    let shown = scan_program_output(&text);
    let reading = Reading {
        in_spans,
        signs: Signs::of(&output.findings),
        claims: last_line(&output.findings, is_claim),
        says_done: in_a_sentence(&text, is_claim),
        says_work: in_a_sentence(&text, |rule| rule.role == Role::Step),
        signals: last_line(&output.findings, |rule| rule.name == SIGNAL).is_some(),
        shown_success: last_line(&output.findings, |rule| {
            rule.role == Role::Success && rule.origin != CauseOrigin::AgentMessage
        }),
        message: Message::read(&text),
        refutation: refutation(&text),
        passed_later: passed_tests(&text),
        counts_passed: counts_passed_tests(&text),
        needs_no_change: explains_no_change(&text),
        reports_result: RESULT.is_match(&text),
        ends_well: ends_well(&text),
        admission: admission(&text).filter(|found| !describes(&text, found.line)),
        statement: statement(&text),
        wish: wish(&text),
        shown_failure: shown.as_ref().and_then(shown_failure),
        found,
    };
    let diagnosis = reading.diagnose(evidence)?;
    if reading.is_outweighed(&diagnosis, evidence) {
        return None;
    }
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

/// Returns whether such a rule matches a sentence by itself.
fn in_a_sentence(text: &str, is: impl Fn(&Rule) -> bool) -> bool {
    let sentences = scan(sentences(text).as_bytes(), Source::Agent);
    last_line(&sentences.findings, is).is_some()
}

/// Returns the first sentence that wishes for an answer.
fn wish(text: &str) -> Option<Line> {
    let lines = own_lines_numbered(text);
    let mut wishes = lines.filter_map(|(n, line)| {
        let mut sentence = sentence_ranges(line).map(|at| line[at].trim());
        let sentence = sentence.find(|said| wishes_to_know(said))?;
        Some(Line {
            number: n as u64 + 1,
            text: sentence.to_owned(),
        })
    });
    wishes.next()
}

fn own_lines_numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    unfenced_lines(text).filter(|(_, line)| !is_quote(line))
}

/// Returns whether the text only describes what the work does.
fn is_description(candidate: &Candidate<'_>, text: &str) -> bool {
    let may_be = matches!(
        candidate.kind,
        FailureKind::IncompleteWork
            | FailureKind::ImpossibleTask
            | FailureKind::MissingReference
            | FailureKind::FalseSuccessClaim
    );
    let index = usize::try_from(candidate.finding.line).map_or(0, |line| line.saturating_sub(1));
    let line = text.lines().nth(index).unwrap_or_default();
    // What an agent did to a check may be said in code.
    let rest = || match candidate.kind {
        FailureKind::FalseSuccessClaim => {
            without_harmless(&without_descriptions(&without_quotations(line)))
        }
        _ => without_descriptions(&without_code(line)),
    };
    let fences = fences(text);
    let is_code = |fence: &Fence| fence.first < index && index < fence.last;
    may_be
        && !fences.closed.iter().any(is_code)
        && candidate.rule.origin == CauseOrigin::AgentMessage
        && candidate.rule.matches(message_of(line))
        && !candidate.rule.matches(message_of(&rest()))
}

/// Returns whether what a line (1-based) seems to admit only describes what the work does.
fn describes(text: &str, line: usize) -> bool {
    let line = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
    admission(&without_descriptions(line)).is_none()
}

/// Returns whether a tool's error is in a sentence that says that it is overcome.
fn is_overcome(candidate: &Candidate<'_>, text: &str) -> bool {
    let index = usize::try_from(candidate.finding.line).map_or(0, |line| line.saturating_sub(1));
    let line = text.lines().nth(index).unwrap_or_default();
    is_tool(candidate) && OVERCOME.is_match(line)
}

/// Matches reports of work or its results in words that don't claim that all is done.
static RESULT: LazyRegex = LazyRegex::new(
    r"(?i)\b(?:i|we)(?:'ve| have)? (?:\w+ )?(?:switched|corrected|changed|adjusted|reworked|simplified|tightened|resolved|cleaned|enabled|bumped|upgraded|reduced|reproduced|improved|swapped|enlarged|hardened|turned)\b|^\W*(?:switched|corrected|changed|adjusted|reworked|simplified|tightened|resolved|cleaned|enabled|bumped|upgraded|reduced|reproduced|improved|swapped|hardened|turned|made|raised|lowered)\b|\b(?:is|are|stays?|runs?) (?:\w+ )?(?:stable|gone|clean|green|idempotent|consistent|reproducible|deterministic|correct|fixed)\b|\bnow (?:\w+ly )?\w+s\b",
);

static OVERCOME: LazyRegex = LazyRegex::new(
    r"(?i)\breproduced\b|\bthen (?:i )?fixed\b|\bno longer\b|\bany ?more\b|\b(?:is|are) gone\b|\bused to\b|\bbefore: .*\bafter: ",
);

/// Scans what programs printed below the agent's own words; `None` if nothing is shown, or if the
/// agent's own words leave a doubt.
fn scan_program_output(text: &str) -> Option<Output> {
    let (above, printed) = program_output(text)?;
    let own: String = text
        .lines()
        .take(above)
        .map(|line| format!("{line}\n"))
        .collect();
    let has_doubt = Message::read(&own).doubt.is_some() || has_any_failure_block(text);
    let own = scan(own.as_bytes(), Source::Agent);
    let is_trouble = |c: &Candidate<'_>| c.score >= WEAK;
    if has_doubt || candidates(&own.findings).iter().any(is_trouble) {
        return None;
    }
    let mut output = scan(without_tool_names(printed).as_bytes(), Source::Command);
    for finding in &mut output.findings {
        finding.line += above as u64;
    }
    Some(output)
}

/// Returns the failure that a program printed last, unless it succeeded later.
fn shown_failure(output: &Output) -> Option<Diagnosis> {
    let all = candidates(&output.findings);
    let is_clear = |c: &&Candidate<'_>| match c.rule.role {
        Role::Cause => c.score >= SURE,
        Role::Wrapper => c.rule.proves && c.score > 0,
        _ => false,
    };
    let succeeded = output.findings.iter().filter(|finding| {
        let rule = RuleBook::ours().rule(&finding.rule);
        rule.is_some_and(|rule| rule.role == Role::Success) && !counts_failed_tests(&finding.text)
    });
    let succeeded = succeeded.map(|finding| finding.line).max();
    let is_last = |c: &&Candidate<'_>| succeeded.is_none_or(|line| line < c.finding.line);
    let clear: Vec<Candidate<'_>> = all
        .iter()
        .filter(is_clear)
        .filter(is_last)
        .copied()
        .collect();
    let chosen = choose(&clear, None)?;
    Some(Diagnosis {
        kind: FailureKind::FalseSuccessClaim,
        repair: None,
        suggest: Vec::new(),
        retry_mode: None,
        ..Diagnosis::of(&chosen)
    })
}

/// Returns whether an agent's words were found in a command that a shell echoed.
fn is_echoed(candidate: &Candidate<'_>) -> bool {
    let is_command = candidate.finding.text.trim_start().starts_with("$ ");
    is_command && candidate.rule.origin == CauseOrigin::AgentMessage
}

fn is_claim(rule: &Rule) -> bool {
    rule.role == Role::Success && rule.origin == CauseOrigin::AgentMessage
}

/// Scans the code spans in sentences, where tools are quoted, each as a line.
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
    without_titles(&whole[start..])
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
    /// Whether there is a line with the completion signal.
    signals: bool,
    /// The line in which a tool's output shows success.
    shown_success: Option<u64>,
    message: Message,
    /// The line with which the harness refutes a claim.
    refutation: Option<Line>,
    /// The last line in which the harness shows that tests passed.
    passed_later: Option<u64>,
    /// Whether the message counts tests that passed, and none that failed.
    counts_passed: bool,
    /// Whether it says why nothing had to be changed.
    needs_no_change: bool,
    /// Whether it says what was changed, or how things are now.
    reports_result: bool,
    /// Whether it ends with a check that passed, and admits nothing.
    ends_well: bool,
    /// The sentence that admits unfinished work.
    admission: Option<Contradiction>,
    /// The sentence that states something against a success.
    statement: Option<Statement>,
    /// The sentence that wishes for an answer.
    wish: Option<Line>,
    /// A failure in the output of programs below words without any doubt.
    shown_failure: Option<Diagnosis>,
}

impl Reading<'_> {
    /// Tries the steps in order of precedence.
    fn diagnose(&self, evidence: &Evidence) -> Option<Diagnosis> {
        if let Some(error_line) = self.message.failure_line {
            return Some(self.of_block(error_line));
        }
        if self.claims.is_some() {
            let refuted = self.false_claim();
            return refuted.or_else(|| self.in_spite_of_claim(CLEAR));
        }
        if self.says_done {
            // What an agent that was cut short says is done is a list, not a claim.
            return self
                .of_budget()
                .or_else(|| self.false_claim())
                .or_else(|| self.in_spite_of_claim(DOUBTFUL))
                .or_else(|| self.of_open_steps())
                .or_else(|| self.of_admission())
                .or_else(|| self.of_open_statement());
        }
        self.of_time()
            .or_else(|| self.of_api())
            .or_else(|| self.shown_failure.clone())
            .or_else(|| self.of_weakened_check())
            .or_else(|| self.of_harness().filter(|_| self.is_sure_of_itself()))
            .or_else(|| {
                self.of_words()
                    .filter(|words| i32::from(words.confidence) >= SURE)
            })
            .or_else(|| self.of_wish())
            .or_else(|| self.of_tool())
            .or_else(|| self.of_words())
            .or_else(|| self.of_open_steps())
            .or_else(|| self.of_harness())
            .or_else(|| self.of_tone())
            .or_else(|| self.of_admission())
            .or_else(|| self.of_open_statement())
            .or_else(|| self.of_plan())
            .or_else(|| self.unexplained(evidence))
    }

    /// Diagnoses clear statements despite a claim of success. A question or gap after finished work
    /// concerns the next task, not this one.
    fn in_spite_of_claim(&self, at_least: u8) -> Option<Diagnosis> {
        let words = self
            .of_words()
            .filter(|words| !self.signals && words.confidence >= at_least)?;
        let is_question = words.kind.category() == FailureCategory::MissingContext;
        (!is_question || self.signs.nothing_done).then_some(words)
    }

    /// Diagnoses the `Error:` line of a failure block and no other line. It often quotes a tool, so
    /// it is read both as a tool's line and as the agent's own words.
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
        // A line that only says "error" explains less than plain words do.
        let plain = text.as_deref().and_then(plain_words::meaning);
        let best = best.filter(|c| plain.is_none() || c.rule.role != Role::Symptom);
        let diagnosis = match best {
            Some(best) => Diagnosis::of(best),
            None => Diagnosis {
                confidence: 60,
                ..Diagnosis::new(plain.unwrap_or_else(|| self.unknown_kind()), FAILURE_BLOCK)
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
        let success = self.shown_success.max(self.passed_later);
        let is_refuted = |c: &&Candidate<'_>| success.is_some_and(|line| line > c.finding.line);
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
            .filter(|c| c.kind == false_claim && !self.is_outdated(c))
            .max_by_key(|c| c.score);
        let shown = || self.shown_failure.clone();
        admits
            .map(Diagnosis::of)
            .or_else(|| self.of_weakened_check())
            .or_else(|| self.of_harness())
            .or_else(shown)
            .or_else(|| self.of_unchecked_claim())
    }

    /// Diagnoses a check that was weakened so that it passes, whatever the rest of the message claims.
    fn of_weakened_check(&self) -> Option<Diagnosis> {
        let stated = self.states(StatementKind::WeakenedCheck)?;
        Some(of_statement(stated, FailureKind::FalseSuccessClaim, 76))
    }

    /// Diagnoses a claim that the agent itself didn't check, unless it ends with another check that
    /// passed.
    fn of_unchecked_claim(&self) -> Option<Diagnosis> {
        let stated = self
            .states(StatementKind::NotChecked)
            .filter(|_| !self.ends_well)?;
        Some(of_statement(stated, FailureKind::FalseSuccessClaim, 66))
    }

    /// Diagnoses a wish for an answer, which is a question without its mark.
    fn of_wish(&self) -> Option<Diagnosis> {
        let wish = self
            .wish
            .as_ref()
            .filter(|_| !self.signals && !self.ends_well)?;
        Some(Diagnosis {
            blocker: Some(shortened(&wish.text)),
            line: Some(wish.number),
            confidence: 70,
            ..Diagnosis::new(FailureKind::NeedsClarification, QUESTION)
        })
    }

    /// Diagnoses steps that the agent only plans, without a claim that anything is done.
    fn of_plan(&self) -> Option<Diagnosis> {
        let is_open = !self.signals && !self.ends_well && !self.counts_passed;
        let plan = self.message.plan.as_ref().filter(|_| is_open)?;
        Some(Diagnosis {
            blocker: Some(shortened(&plan.text)),
            line: Some(plan.number),
            confidence: 50,
            ..Diagnosis::new(FailureKind::IncompleteWork, OPEN_STEPS)
        })
    }

    /// Diagnoses what the agent leaves unchecked or open, without a claim that all is done.
    fn of_open_statement(&self) -> Option<Diagnosis> {
        let stated = self.statement.as_ref().filter(|_| !self.signals)?;
        Some(of_statement(stated, FailureKind::IncompleteWork, 50))
    }

    fn states(&self, kind: StatementKind) -> Option<&Statement> {
        self.statement.as_ref().filter(|stated| stated.kind == kind)
    }

    /// Returns whether a line counts failed tests, and a later one of the harness only passed ones.
    fn is_outdated(&self, candidate: &Candidate<'_>) -> bool {
        let line = candidate.finding.line;
        counts_failed_tests(&candidate.finding.text)
            && self.passed_later.is_some_and(|passed| passed > line)
    }

    /// Diagnoses a claim that only the harness's own words refute.
    fn of_harness(&self) -> Option<Diagnosis> {
        let line = self.refutation.as_ref()?;
        Some(Diagnosis {
            blocker: Some(shortened(&line.text)),
            line: Some(line.number),
            confidence: 70,
            ..Diagnosis::new(FailureKind::FalseSuccessClaim, HARNESS_WORDS)
        })
    }

    /// Returns whether the agent's words leave no doubt.
    fn is_sure_of_itself(&self) -> bool {
        self.message.doubt.as_ref().is_none_or(|doubt| {
            let refuted = self.refutation.as_ref();
            refuted.is_some_and(|line| line.number <= doubt.number)
        })
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

    /// Diagnoses work that a budget stopped; the work reported as done is the part before that.
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

    /// Returns the remaining work as the cause: if work was done and the message mentions a rest, a
    /// step that only a person can do is that rest.
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

    /// Whether a statement counts. Weak ones do only if they fit the work: problems after work,
    /// doubts without any.
    fn counts(&self, candidate: &Candidate<'_>) -> bool {
        let is_trouble = candidate.kind.category() == FailureCategory::Partial;
        let fits = is_trouble == self.has_done_work() && self.claims.is_none();
        let is_weak_cue = || !self.counts_passed && fits;
        candidate.rule.name != ADMISSION && (candidate.score >= SURE || is_weak_cue())
    }

    /// Diagnoses a tool's error if there is nothing else, or incomplete work if some was done
    /// before.
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

    /// Diagnoses a list of steps in which some are marked as done and others aren't.
    fn of_open_steps(&self) -> Option<Diagnosis> {
        let open = self.message.open_steps.first()?;
        let some_done = !self.message.completed_steps.is_empty();
        some_done.then(|| Diagnosis {
            blocker: Some(shortened(open)),
            confidence: 60,
            ..Diagnosis::new(FailureKind::IncompleteWork, OPEN_STEPS)
        })
    }

    /// Diagnoses an admission of unfinished work that no rule names. Below a signal it takes a second
    /// sign, which only a run knows.
    fn of_admission(&self) -> Option<Diagnosis> {
        let admitted = self.admission.as_ref().filter(|_| !self.signals)?;
        Some(Diagnosis {
            blocker: Some(shortened(&admitted.phrase)),
            line: Some(admitted.line as u64),
            confidence: 50,
            ..Diagnosis::new(FailureKind::IncompleteWork, UNFINISHED)
        })
    }

    /// Returns whether the message tells of trouble on the way, and ends with a check that passed.
    /// What programs have shown, and what people are asked for, stays.
    fn is_outweighed(&self, diagnosis: &Diagnosis, evidence: &Evidence) -> bool {
        let is_trouble = match (diagnosis.kind, diagnosis.kind.category()) {
            (FailureKind::FalseSuccessClaim, _) => false,
            (FailureKind::IncompleteWork, _) | (_, FailureCategory::ToolError) => {
                diagnosis.confidence < CERTAIN
            }
            _ => diagnosis.rule == MESSAGE_TONE,
        };
        let is_shown = self.shown_failure.is_some() || self.refutation.is_some();
        let is_block = self.message.failure_line.is_some();
        let has_ended_well = evidence.ending.exit_code.is_none_or(|code| code == 0);
        self.ends_well && is_trouble && !is_shown && !is_block && has_ended_well
    }

    /// Diagnoses a message that claims neither success nor work and negates something: nothing was
    /// done, because something was missing.
    fn of_tone(&self) -> Option<Diagnosis> {
        let line = self.message.doubt.as_ref().filter(|_| {
            let did_nothing = !self.says_work || self.signs.nothing_done;
            let reports_result = self.needs_no_change || self.reports_result || self.counts_passed;
            !self.has_done_work() && did_nothing && !reports_result
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

    /// Diagnoses a nonzero exit code that nothing explains. An agent's exit code 0 means nothing.
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

fn of_statement(stated: &Statement, kind: FailureKind, confidence: u8) -> Diagnosis {
    Diagnosis {
        blocker: Some(shortened(&stated.text)),
        line: Some(stated.line),
        confidence,
        ..Diagnosis::new(kind, UNFINISHED)
    }
}

fn is_tool(candidate: &Candidate<'_>) -> bool {
    !matches!(
        candidate.rule.origin,
        CauseOrigin::AgentMessage | CauseOrigin::AgentService
    )
}
