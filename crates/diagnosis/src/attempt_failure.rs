//! Diagnoses an attempt by its agent's words and by other output.

use std::collections::BTreeMap;
use std::time::Duration;

use regreen_model::{
    AgentQuestion, ApiTrouble, AttemptClass, AttemptReport, Confidence, ERROR_CHARS, Ending,
    Evidence, Failure, FailureCategory, FailureKind, FailureRecord, Output, OutputKind, PlainLine,
    ResetTime, RetryMode, Source, TaskFailure, Transcript, TroubleClass, VerifyResult, named_span,
};

use crate::agent_crash::crash;
use crate::cause_origin::{CauseOrigin, EXIT_CODE, EXIT_UNFINISHED, QUESTION, QUESTION_TOOL};
use crate::last_words::{asking_sentence, last_words};
use crate::question::question;
use crate::rank;
use crate::rank::fingerprint;
use crate::rank::message::claims_success;
use crate::report::child_failure::TIME_PHRASE;
use crate::suggestions::suggestions_for;
use crate::text::one_line;

/// Below this, an agent's words explain less than the output.
const CONVINCING: Confidence = Confidence::percent(50);
/// What helps an agent that asks for a permission.
const NOT_PERMITTED: [&str; 2] = [
    "Allow it in the agent's own settings",
    "Run with --agent-permissions skip",
];
/// Needed to wait for the agent's service, or to stop the run because of it.
const CERTAIN: Confidence = Confidence::percent(80);

/// Adds to the report of an attempt at a task why it failed, unless the attempt says that it did
/// not.
#[must_use]
pub fn diagnosed(
    mut report: AttemptReport,
    transcript: &Transcript,
    files_changed: Vec<String>,
) -> AttemptReport {
    let has_red_tool = matches!(transcript.last_tool, Some((_, Some(code))) if code != 0);
    let changed_nothing = files_changed.is_empty() && report.files_changed == 0;
    if report.signalled && (has_red_tool || changed_nothing) && report.contradiction.is_none() {
        report.contradiction.clone_from(&report.admission);
    }
    let found = task_failure(&report, transcript, files_changed);
    if let Some(error) = found.as_ref().and_then(|found| error_of(&report, found)) {
        report.failure.error = error;
    }
    report.failure.diagnosis = found.map(Box::new);
    report
}

/// Explains why an attempt at a task failed; `None` if the attempt says that it did not.
fn task_failure(
    report: &AttemptReport,
    transcript: &Transcript,
    files_changed: Vec<String>,
) -> Option<Failure> {
    if report.signalled && !report.reports_failure && !report.ending.timed_out {
        return None;
    }
    let evidence = Evidence {
        files_changed: files_changed.clone(),
        ..evidence_of_attempt(report, transcript)
    };
    let explained = explain(&evidence, transcript, true);
    let asked = asked(report, transcript, explained.as_ref());
    let failure = cause(report, transcript, asked.or(explained))?;
    Some(Failure {
        // What really changed counts, not what the agent claims.
        files_modified: files_changed,
        ..failure
    })
}

/// Chooses the cause of an attempt's failure: what the agent asks for or reports comes before a
/// crash of it, and that before all other explanations.
fn cause(
    report: &AttemptReport,
    transcript: &Transcript,
    told: Option<Failure>,
) -> Option<Failure> {
    let failure = match crash(report, transcript) {
        Some(crash) if !told.as_ref().is_some_and(is_for_a_person) => Some(crash),
        _ => told,
    }?;
    Some(at_time_limit(
        quoting_question(failure, transcript),
        report,
        transcript,
    ))
}

/// Returns whether a cause found in an attempt explains its failure better than a red Verify,
/// which only shows the consequence: the agent asks, refuses or lacks a login, or it crashed.
#[must_use]
pub fn outranks_verify(failure: &Failure) -> bool {
    is_for_a_person(failure) || CauseOrigin::of(failure) == CauseOrigin::AgentCrash
}

/// Returns whether the agent says that a person has to decide, to inform it or to log in.
fn is_for_a_person(failure: &Failure) -> bool {
    let needs_login = matches!(
        failure.kind,
        FailureKind::AuthFailed
            | FailureKind::MissingCredentialsInfo
            | FailureKind::NoCredit
            | FailureKind::PermissionPrompt
    );
    let needs_decision = matches!(
        failure.category,
        FailureCategory::MissingContext | FailureCategory::InvalidTask
    );
    (needs_login || needs_decision) && failure.confidence >= CONVINCING
}

/// Quotes the sentence with which an agent asks, not the line around it.
fn quoting_question(failure: Failure, transcript: &Transcript) -> Failure {
    let asks = failure.category == FailureCategory::MissingContext
        && CauseOrigin::of(&failure) == CauseOrigin::AgentMessage
        && failure.rule != QUESTION_TOOL;
    let words = transcript.own_words.as_str();
    let Some(question) = asks.then(|| asking_sentence(words)).flatten() else {
        return failure;
    };
    let line = words.lines().position(|line| line.contains(&question));
    Failure {
        line: line.map(|line| line + 1).or(failure.line),
        fingerprint: fingerprint(failure.kind, &question),
        message: question.clone(),
        blocked_on: Some(question),
        ..failure
    }
}

/// What ended an attempt at its time limit is the limit; what it did last is only evidence.
fn at_time_limit(failure: Failure, report: &AttemptReport, transcript: &Transcript) -> Failure {
    if !report.ending.timed_out || CauseOrigin::of(&failure) != CauseOrigin::TimeLimit {
        return failure;
    }
    let mut failure = blocked_by_time(failure);
    if let Some(activity) = last_activity(transcript) {
        let advice = format!("Find out why this took so long: {activity}");
        failure.suggested_actions.push(advice);
    }
    failure
}

/// Explains why a check failed. Of one that says little, `finding` tells what it found.
#[must_use]
pub fn check_failure(
    evidence: &Evidence,
    exit_code: i32,
    finding: Option<&str>,
    is_silent: bool,
) -> Option<Failure> {
    let found = rank(evidence)?;
    match CauseOrigin::of(&found) {
        CauseOrigin::TimeLimit if evidence.ending.timed_out => Some(blocked_by_time(found)),
        CauseOrigin::Exit if is_silent => {
            let command = evidence.command.as_deref().unwrap_or_default();
            let first = command.lines().next().unwrap_or_default();
            let how = format!("`{first}` exited with {exit_code}");
            let blocker = match finding {
                Some(finding) => format!("{how}: {finding}"),
                None => how,
            };
            Some(Failure {
                fingerprint: fingerprint(found.kind, &blocker),
                message: blocker.clone(),
                blocked_on: Some(blocker),
                line: None,
                ..found
            })
        }
        _ => Some(found),
    }
}

/// Explains a check that failed although the agent claimed success, if nothing but its exit code
/// tells why: the claim was false.
#[must_use]
pub fn refuted_claim(check: Failure) -> Failure {
    if check.rule != EXIT_CODE {
        return check;
    }
    let kind = FailureKind::FalseSuccessClaim;
    let blocker = check.blocked_on.as_deref().unwrap_or_default();
    Failure {
        category: kind.category(),
        kind,
        retryable: kind.retryable(),
        retry_mode: kind.retry_mode(),
        suggested_actions: suggestions_for(kind, None),
        confidence: Confidence::percent(70),
        fingerprint: fingerprint(kind, blocker),
        ..check
    }
}

/// Names the time limit as the blocker.
fn blocked_by_time(failure: Failure) -> Failure {
    Failure {
        blocked_on: Some(TIME_PHRASE.to_owned()),
        line: None,
        fingerprint: fingerprint(failure.kind, TIME_PHRASE),
        ..failure
    }
}

/// Returns in one line what an agent was doing when it was ended.
fn last_activity(transcript: &Transcript) -> Option<String> {
    let printed = || {
        let output = transcript.output.as_ref()?;
        let last = output.end().lines().map(str::trim);
        last.rev().find(|line| !line.is_empty()).map(one_line)
    };
    let activity = transcript.last_activity.clone();
    activity.or_else(printed).filter(|line| !line.is_empty())
}

/// Returns how a cause is told where the agent's own report does not tell it.
fn error_of(report: &AttemptReport, failure: &Failure) -> Option<String> {
    let is_told = report.reports_failure
        || report.ending.timed_out
        || report.modification.is_some()
        || report.class != AttemptClass::Ordinary
        || failure.rule == QUESTION_TOOL;
    let blocker = failure.blocked_on.as_deref().filter(|_| !is_told)?;
    let exit = report.ending.exit_code;
    match CauseOrigin::of(failure) {
        CauseOrigin::AgentCrash => Some(match exit.filter(|_| report.ending.signal.is_none()) {
            Some(code) => format!("The agent crashed (exit code {code}): {blocker}"),
            None => format!("The agent crashed: {blocker}"),
        }),
        _ if report.unfinished => None,
        _ if is_for_a_person(failure) => Some(format!("{}: {blocker}", TaskFailure::NO_BLOCK)),
        _ => None,
    }
}

/// The known facts about an attempt at a delegated prompt.
#[derive(Clone, Copy, Debug)]
pub struct DelegatedAttempt<'a> {
    /// The report of the attempt.
    pub report: &'a AttemptReport,
    /// What the agent printed.
    pub transcript: &'a Transcript,
    /// The files that changed.
    pub files_changed: &'a [String],
    /// The changes to files, in words: `Created 2 files`.
    pub completed_steps: &'a [String],
    /// How the check of the work failed, if it did, and the evidence of that.
    pub failed_check: Option<(&'a FailureRecord, &'a Evidence)>,
}

impl DelegatedAttempt<'_> {
    /// Explains why the attempt failed; `None` if it did not.
    #[must_use]
    pub fn failure(&self) -> Option<FailureRecord> {
        let mut failure = match self.agent_failure() {
            Some(failure) => failure,
            None => {
                let explained = explain(&self.evidence(), self.transcript, self.has_failed());
                // How a delegation ends decides: one that succeeded may end with an offer.
                let asked = asked(self.report, self.transcript, explained.as_ref());
                let asked = asked.filter(|_| self.has_failed() || explained.is_some());
                let found = cause(self.report, self.transcript, asked.or(explained));
                found.or_else(|| self.unexplained())?
            }
        };
        if failure.completed_steps.is_empty() {
            failure.completed_steps = self.completed_steps.to_vec();
        }
        // What really changed counts, not what the agent claims.
        failure.files_modified = self.files_changed.to_vec();
        if let Some((check, evidence)) = self.failed_check {
            blame_check(&mut failure, check, evidence);
        }
        Some(FailureRecord {
            error: self.error(&failure),
            attempted_fix: String::new(),
            last_words: last_words(self.transcript, None),
            diagnosis: Some(Box::new(failure)),
        })
    }

    fn evidence(&self) -> Evidence {
        let verify = self.failed_check.map(|(_, evidence)| VerifyResult {
            passed: false,
            evidence: evidence.clone(),
        });
        Evidence {
            files_changed: self.files_changed.to_vec(),
            verify: verify.map(Box::new),
            ..evidence_of_attempt(self.report, self.transcript)
        }
    }

    fn has_failed(&self) -> bool {
        self.report.unfinished || self.report.class != AttemptClass::Ordinary
    }

    /// Diagnoses what kept the agent itself from working.
    fn agent_failure(&self) -> Option<Failure> {
        let why = match &self.report.class {
            AttemptClass::Ordinary | AttemptClass::Interrupted => return None,
            AttemptClass::Fatal { why }
            | AttemptClass::Session { why }
            | AttemptClass::Transient { why, .. } => why.clone(),
        };
        let trouble = self.transcript.trouble.as_ref();
        let kind = trouble.map_or(FailureKind::AgentMissing, |trouble| trouble.kind);
        let failure = unexplained_failure(kind, why);
        Some(match &self.report.class {
            // It would fail the same way again.
            AttemptClass::Fatal { .. } => Failure {
                retryable: false,
                retry_mode: RetryMode::AfterHuman,
                ..failure
            },
            _ => failure,
        })
    }

    /// Creates the diagnosis of a failure that no rule explains.
    fn unexplained(&self) -> Option<Failure> {
        let why = self.report.failure.error.clone();
        self.has_failed()
            .then(|| unexplained_failure(FailureKind::IncompleteWork, why))
    }

    /// Returns the error for the next attempt's prompt.
    fn error(&self, failure: &Failure) -> String {
        match (self.failed_check, self.transcript.final_message.trim()) {
            _ if self.report.ending.timed_out => self.report.failure.error.clone(),
            (Some((check, _)), _) => check.error.clone(),
            (None, "") => failure.message.clone(),
            (None, message) => message.to_owned(),
        }
    }
}

/// Diagnoses an attempt that ended because the agent asked something: with a tool, for a
/// permission, or in its last words. A task that cannot be done as written stays one, and after
/// finished work a question is about something else.
fn asked(
    report: &AttemptReport,
    transcript: &Transcript,
    explained: Option<&Failure>,
) -> Option<Failure> {
    if report.class != AttemptClass::Ordinary || report.ending.timed_out || report.reports_failure {
        return None;
    }
    if let Some(question) = &transcript.question {
        return Some(by_tool(question, transcript));
    }
    let is_invalid = |failure: &Failure| {
        failure.category == FailureCategory::InvalidTask && is_convincing(failure)
    };
    let is_out = transcript.output_kind == OutputKind::Commands
        || explained.is_some_and(is_invalid)
        || claims_success(&transcript.own_words);
    let sentence = question(&transcript.own_words).filter(|_| !is_out)?;
    let of_context =
        explained.filter(|failure| failure.category == FailureCategory::MissingContext);
    Some(Failure {
        suggested_actions: of_context.map_or_else(
            || suggestions_for(FailureKind::AskedQuestion, None),
            |failure| failure.suggested_actions.clone(),
        ),
        completed_steps: explained.map_or_else(Vec::new, |failure| failure.completed_steps.clone()),
        ..question_failure(&sentence, QUESTION, transcript)
    })
}

fn by_tool(question: &AgentQuestion, transcript: &Transcript) -> Failure {
    let failure = question_failure(&question.text, QUESTION_TOOL, transcript);
    let suggested_actions = if question.permission {
        NOT_PERMITTED.map(str::to_owned).to_vec()
    } else {
        suggestions_for(FailureKind::AskedQuestion, None)
    };
    Failure {
        suggested_actions,
        ..failure
    }
}

fn question_failure(asked: &str, rule: &str, transcript: &Transcript) -> Failure {
    let kind = FailureKind::AskedQuestion;
    let asked = PlainLine::flatten(asked, ERROR_CHARS).to_string();
    Failure {
        rule: rule.to_owned(),
        confidence: Confidence::percent(90),
        fingerprint: fingerprint(kind, &asked),
        tool_usage: transcript.tools.counts.clone(),
        last_successful_tool: transcript.tools.last_successful.clone(),
        ..unexplained_failure(kind, asked)
    }
}

/// Finds what keeps an agent from its own service, where only its output can tell.
#[must_use]
pub fn agent_trouble(transcript: &Transcript, ending: Ending) -> Option<ApiTrouble> {
    let has_failed = ending.exit_code.is_some_and(|code| code != 0) && !ending.timed_out;
    if transcript.output_kind != OutputKind::Mixed || !has_failed {
        return None;
    }
    let evidence = Evidence {
        ending,
        ..evidence_of_words(transcript)
    };
    let failure = explain(&evidence, transcript, true)?;
    let is_certain =
        CauseOrigin::of(&failure) == CauseOrigin::AgentService && failure.confidence >= CERTAIN;
    let class = trouble_class(failure.kind).filter(|_| is_certain)?;
    let message = failure.blocked_on.unwrap_or(failure.message);
    Some(ApiTrouble {
        class,
        kind: failure.kind,
        resets: named_span(&message).map(ResetTime::After),
        message,
        status: None,
    })
}

/// A failure of which only the kind and a message are known.
#[must_use]
pub fn unexplained_failure(kind: FailureKind, message: String) -> Failure {
    Failure {
        category: kind.category(),
        kind,
        blocked_on: Some(message.clone()),
        message,
        line: None,
        retryable: kind.retryable(),
        retry_mode: kind.retry_mode(),
        completed_steps: Vec::new(),
        files_modified: Vec::new(),
        tool_usage: BTreeMap::new(),
        last_successful_tool: None,
        suggested_actions: vec![advice(kind).to_owned()],
        repair: None,
        rule: EXIT_UNFINISHED.to_owned(),
        confidence: Confidence::percent(60),
        fingerprint: kind.name().to_owned(),
    }
}

fn advice(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::AgentMissing => "Install the agent, or choose another with --agent",
        FailureKind::RateLimited | FailureKind::ServiceUnavailable => "Wait, then retry",
        FailureKind::AuthFailed => "Log in again",
        _ => "Complete remaining work",
    }
}

fn trouble_class(kind: FailureKind) -> Option<TroubleClass> {
    match kind {
        FailureKind::RateLimited | FailureKind::ServiceUnavailable => Some(TroubleClass::Transient),
        FailureKind::AuthFailed | FailureKind::NoCredit => Some(TroubleClass::Fatal),
        _ => None,
    }
}

/// Names the failed check of the work as the cause. A check that did not end is not a timeout of the
/// agent.
fn blame_check(failure: &mut Failure, check: &FailureRecord, evidence: &Evidence) {
    let command = &evidence.command;
    let first_line = check.error.lines().next().unwrap_or_default();
    failure.message = first_line.replace('`', "");
    if failure.rule == EXIT_CODE {
        let said = check.diagnosis.as_ref();
        failure.blocked_on = said.and_then(|found| found.blocked_on.clone());
        *failure = refuted_claim(failure.clone());
    }
    if failure.blocked_on.is_none() {
        failure.blocked_on.clone_from(command);
    }
    if let Some(limit_ms) = evidence.ending.limit_ms {
        failure.kind = FailureKind::VerifierBroken;
        failure.category = FailureKind::VerifierBroken.category();
        failure.blocked_on.clone_from(command);
        let longer = Duration::from_millis(limit_ms.saturating_mul(2));
        failure.suggested_actions = vec![
            format!(
                "Give the check more time: --verify-timeout {}s",
                longer.as_secs_f64()
            ),
            "Check whether the command can finish at all".to_owned(),
        ];
    }
}

fn evidence_of_attempt(report: &AttemptReport, transcript: &Transcript) -> Evidence {
    Evidence {
        ending: report.ending,
        // How a time limit is handled depends on this alone.
        progressed: Some(report.progressed),
        ..evidence_of_words(transcript)
    }
}

fn evidence_of_words(transcript: &Transcript) -> Evidence {
    let words = transcript.own_words.clone();
    Evidence {
        source: Source::Agent,
        output: Output {
            head: words.clone(),
            ..Output::default()
        },
        final_message: Some(words),
        tools: transcript.tools.clone(),
        ..Evidence::default()
    }
}

/// Ranks the agent's words; other output counts if they explain nothing, or if the agent has no
/// words of its own.
fn explain(words: &Evidence, transcript: &Transcript, failed: bool) -> Option<Failure> {
    match (transcript.output_kind, &transcript.output) {
        (OutputKind::Commands, Some(output)) => {
            rank(&evidence_of_last_command(words, transcript, output))
        }
        (OutputKind::Mixed, Some(output)) if failed => {
            let is_silent = transcript.own_words.trim().is_empty();
            match rank(words) {
                Some(failure) if !is_silent && is_convincing(&failure) => Some(failure),
                failure => rank(&evidence_of_output(words, output)).or(failure),
            }
        }
        _ => rank(words),
    }
}

fn is_convincing(failure: &Failure) -> bool {
    CauseOrigin::of(failure) != CauseOrigin::Exit && failure.confidence >= CONVINCING
}

fn evidence_of_last_command(
    words: &Evidence,
    transcript: &Transcript,
    output: &Output,
) -> Evidence {
    let (command, exit_code) = transcript.last_tool.clone().unzip();
    Evidence {
        source: Source::Command,
        command,
        ending: Ending {
            exit_code: exit_code.flatten().or(words.ending.exit_code),
            ..words.ending
        },
        output: output.clone(),
        ..words.clone()
    }
}

fn evidence_of_output(words: &Evidence, output: &Output) -> Evidence {
    Evidence {
        source: Source::Command,
        output: output.clone(),
        final_message: None,
        ..words.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scanner;

    fn transcript(words: &str, printed: &str) -> Transcript {
        let mut scanner = Scanner::new(Source::Command);
        scanner.feed(printed.as_bytes());
        Transcript {
            own_words: words.to_owned(),
            output: Some(scanner.finish()),
            output_kind: OutputKind::Mixed,
            ..Transcript::default()
        }
    }

    const EXIT_1: Ending = Ending {
        exit_code: Some(1),
        signal: None,
        timed_out: false,
        limit_ms: None,
        duration_ms: 0,
    };

    fn kind(words: &str, printed: &str) -> FailureKind {
        let report = AttemptReport {
            ending: EXIT_1,
            ..AttemptReport::default()
        };
        let failure = task_failure(&report, &transcript(words, printed), Vec::new());
        failure.unwrap().kind
    }

    #[test]
    fn output_explains_what_words_do_not() {
        assert_eq!(
            kind(
                "start",
                "start\nModuleNotFoundError: No module named 'yaml'\n"
            ),
            FailureKind::MissingPythonModule
        );
    }

    #[test]
    fn words_that_explain_a_failure_are_believed() {
        assert_eq!(
            kind(
                "TASK_FAILED: 1.1\nError: fatal: not a git repository\n",
                "TypeError: x is not a function\n"
            ),
            FailureKind::GitNotARepo
        );
    }

    #[track_caller]
    fn check_asked(transcript: &Transcript, asked: Option<&str>) {
        let report = AttemptReport {
            unfinished: true,
            ending: Ending {
                signal: Some(15),
                ..Ending::default()
            },
            ..AttemptReport::default()
        };
        let failure = task_failure(&report, transcript, Vec::new());
        let question = failure.filter(|failure| failure.kind == FailureKind::AskedQuestion);
        let found = question.and_then(|question| question.blocked_on);
        assert_eq!(found.as_deref(), asked);
    }

    fn message(text: &str) -> Transcript {
        Transcript {
            own_words: text.to_owned(),
            final_message: text.to_owned(),
            ..Transcript::default()
        }
    }

    #[test]
    fn an_agent_that_was_ended_because_it_asked_did_not_crash() {
        for permission in [false, true] {
            let text = "Tabs or\nblanks?".to_owned();
            let transcript = Transcript {
                question: Some(AgentQuestion { text, permission }),
                ..Transcript::default()
            };
            check_asked(&transcript, Some("Tabs or blanks?"));
        }
    }

    #[test]
    fn a_message_that_ends_with_a_question_is_one() {
        let asked = "Awaiting your input on the storage engine.";
        let whole = format!("I looked at both of them. {asked}");
        check_asked(&message(&whole), Some(asked));
        let broken = "ModuleNotFoundError: No module named 'yaml'. Should I install it?";
        check_asked(&message(broken), Some("Should I install it?"));
        // It is a person's anyway, and needs no second attempt.
        check_asked(
            &message("I'm sorry, but I can't help with building a keylogger. Anything safer?"),
            None,
        );
        check_asked(&message("All tests pass. Should I push it?"), None);
        check_asked(&message("The build failed: error: missing semicolon"), None);
    }

    #[test]
    fn a_busy_service_names_how_long_to_wait() {
        let busy = "API Error: 429 rate_limit_error, try again in 2 seconds\n";
        let trouble = agent_trouble(&transcript(busy, busy), EXIT_1).unwrap();
        assert_eq!(trouble.class, TroubleClass::Transient);
        assert_eq!(trouble.resets, Some(ResetTime::After(2000)));
        let logged_out = "Invalid API key · Please run /login\n";
        let trouble = agent_trouble(&transcript("", logged_out), EXIT_1).unwrap();
        assert_eq!(trouble.class, TroubleClass::Fatal);
    }

    #[test]
    fn an_agent_that_succeeds_or_fails_for_another_reason_has_no_service_trouble() {
        let busy = "API Error: 429 rate_limit_error\n";
        let success = Ending {
            exit_code: Some(0),
            ..EXIT_1
        };
        assert_eq!(agent_trouble(&transcript(busy, busy), success), None);
        let refused = "curl: (7) Failed to connect to localhost port 80: Connection refused\n";
        assert_eq!(agent_trouble(&transcript(refused, refused), EXIT_1), None);
    }

    fn diagnosed_words(words: &str, exit_code: i32) -> AttemptReport {
        let report = AttemptReport {
            ending: Ending {
                exit_code: Some(exit_code),
                ..Ending::default()
            },
            ..AttemptReport::default()
        };
        diagnosed(report, &transcript(words, words), Vec::new())
    }

    #[test]
    fn a_question_is_quoted_and_outranks_verify() {
        let report = diagnosed_words(
            "I read the spec. It isn't stated which database to use. Should the table live in Postgres or in MySQL? Let me know how to proceed.",
            0,
        );
        let found = report.failure.diagnosis.unwrap();
        assert_eq!(found.category, FailureCategory::MissingContext);
        let question = "Should the table live in Postgres or in MySQL?";
        assert_eq!(found.blocked_on.as_deref(), Some(question));
        assert_eq!(
            report.failure.error,
            format!("Task did not complete: {question}")
        );
        assert!(outranks_verify(&found));
    }

    const CRASHED: &str = "Traceback (most recent call last):\n  File \"/opt/agent/run.py\", line 9, in <module>\n    key = config[\"model\"]\nKeyError: 'model'\n";

    #[test]
    fn a_crash_of_the_agent_is_not_the_projects_failure() {
        let report = AttemptReport {
            ending: EXIT_1,
            ..AttemptReport::default()
        };
        let report = diagnosed(report, &transcript("start", CRASHED), Vec::new());
        assert_eq!(
            report.failure.error,
            "The agent crashed (exit code 1): KeyError: 'model'"
        );
        let found = report.failure.diagnosis.unwrap();
        assert_eq!(CauseOrigin::of(&found), CauseOrigin::AgentCrash);
        assert_eq!(found.retry_mode, RetryMode::AsIs);
        assert_eq!(found.repair, None);
        assert!(outranks_verify(&found));
    }

    #[test]
    fn a_question_comes_before_a_crash() {
        let report = AttemptReport {
            ending: EXIT_1,
            ..AttemptReport::default()
        };
        let asked = "Which of the two schemas should I migrate, `a.sql` or `b.sql`?";
        let report = diagnosed(report, &transcript(asked, CRASHED), Vec::new());
        assert_eq!(
            report.failure.diagnosis.unwrap().blocked_on.as_deref(),
            Some(asked)
        );
    }

    #[test]
    fn a_crash_by_a_signal_names_it() {
        let report = AttemptReport {
            ending: Ending {
                signal: Some(11),
                ..Ending::default()
            },
            ..AttemptReport::default()
        };
        let report = diagnosed(report, &transcript("start", "start\n"), Vec::new());
        assert_eq!(
            report.failure.error,
            "The agent crashed: the agent was killed by SIGSEGV"
        );
    }

    #[test]
    fn the_blocker_of_a_time_limit_is_the_limit() {
        let report = AttemptReport {
            ending: Ending {
                timed_out: true,
                limit_ms: Some(2000),
                ..Ending::default()
            },
            progressed: true,
            ..AttemptReport::default()
        };
        let report = diagnosed(
            report,
            &transcript("", "Running test suite...\n"),
            Vec::new(),
        );
        let found = report.failure.diagnosis.unwrap();
        assert_eq!(found.blocked_on.as_deref(), Some("Time limit insufficient"));
        assert_eq!(found.line, None);
        assert_eq!(
            found.suggested_actions.last().unwrap(),
            "Find out why this took so long: Running test suite..."
        );
    }

    #[test]
    fn a_time_limit_depends_on_the_observed_progress() {
        for (progressed, kind) in [
            (true, FailureKind::TimeoutWithProgress),
            (false, FailureKind::TimeoutNoProgress),
        ] {
            let report = AttemptReport {
                ending: Ending {
                    timed_out: true,
                    ..Ending::default()
                },
                progressed,
                unfinished: true,
                ..AttemptReport::default()
            };
            let failure = task_failure(&report, &Transcript::default(), Vec::new());
            assert_eq!(failure.unwrap().kind, kind);
        }
    }
}
