//! Creates the report of an attempt from what was observed.

use std::time::Duration;

use regreen_model::{
    AgentQuestion, AttemptClass, AttemptReport, Ending, FailureRecord, PlanChanges, TaskId,
    Timestamp, Transcript, TroubleClass,
};

use crate::failure_block::reports_failure;
use crate::last_words::last_words;
use crate::rank::signal_name;
use crate::retraction::retraction;
use crate::{
    admission, contradiction, has_failure_block, modification_request, parse_failure, signal,
};

const ASKED_FOR_ROWS: &str = "Task did not complete: the agent asked to change the plan instead";
const MASKED_WORDS: &str = "words that are masked";
const NOT_A_GOOD_END: &str = "The agent signalled completion, but reports that its run failed";

/// The observations about an attempt that has ended.
#[derive(Clone, Debug, Default)]
pub struct ObservedAttempt {
    /// The agent's decoded output.
    pub transcript: Transcript,
    /// How its process ended.
    pub ending: Ending,
    /// How the attempt ended.
    pub end: AttemptEnd,
    /// The idle limit, if that ended it rather than the limit for the whole attempt.
    pub idle_limit_ms: Option<u64>,
    /// Whether the agent's protocol reports how its run ended.
    pub reports_end: bool,
    /// Whether the agent used a tool; `None` if unknown.
    pub used_tools: Option<bool>,
    /// Whether anything showed that the agent made progress.
    pub progressed: bool,
    /// When the agent's service will be available again, if it names a time.
    pub trouble_ends: Option<Timestamp>,
    /// Whether the service named a time of day without a time zone, which was taken as local time.
    pub trouble_end_is_assumed: bool,
    /// Processes that it left running, which were ended.
    pub left_running: Vec<String>,
}

/// How an attempt ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AttemptEnd {
    /// The agent exited, or was ended by a limit or because it was done.
    #[default]
    Exited,
    /// The agent was never started.
    NotStarted {
        /// The reason, for people.
        why: String,
    },
    /// The user asked to stop.
    Cancelled,
    /// No exit status was seen.
    Unknown,
}

impl ObservedAttempt {
    /// Reports an attempt at a task, except for its changes to files and to the plan.
    #[must_use]
    pub fn task_report(&self, task: &TaskId, is_verify: bool) -> AttemptReport {
        let message = self.transcript.final_message.as_str();
        let own_words = self.transcript.own_words.as_str();
        let in_own_words = reports_failure(own_words, task);
        let block = parse_failure(if in_own_words { own_words } else { message }, task);
        let (request, bad_request) = match modification_request(message) {
            Some(Ok(request)) => (Some(request), None),
            Some(Err(why)) => (
                None,
                Some(format!(
                    "cannot parse the agent's request to change the plan: {why}"
                )),
            ),
            None => (None, None),
        };
        let says = &self.transcript;
        let reports_failure =
            in_own_words || says.message_says(|said| has_failure_block(said, task));
        let signalled =
            !reports_failure && says.message_says(|said| signal(said, task, is_verify).is_some());
        let asked_for_rows = request.is_some() || bad_request.is_some();
        let class = self.class();
        let unfinished = self.transcript.finished.is_none();
        let is_bad_end = self.reports_end && self.transcript.finished == Some(false);
        AttemptReport {
            failure: FailureRecord {
                error: match (&class, self.limit_error()) {
                    (AttemptClass::Ordinary, Some(why)) => why,
                    (AttemptClass::Ordinary, None) if unfinished => self.unfinished_error(),
                    (AttemptClass::Interrupted, _) => self.interruption_error().to_owned(),
                    _ if signalled && is_bad_end => NOT_A_GOOD_END.to_owned(),
                    _ if signalled => String::new(),
                    _ if asked_for_rows && !reports_failure => ASKED_FOR_ROWS.to_owned(),
                    _ => block.error,
                },
                attempted_fix: block.attempted_fix,
                last_words: last_words(&self.transcript, Some(task)),
                diagnosis: None,
            },
            signalled: signalled && !unfinished && !is_bad_end,
            reports_failure,
            contradiction: self.contradiction(task, is_verify),
            admission: admission(own_words).map(|found| found.phrase),
            used_tools: self.used_tools,
            unfinished: unfinished || is_bad_end,
            modification: request.map(Box::new),
            plan: PlanChanges {
                warnings: bad_request.into_iter().collect(),
                ..PlanChanges::default()
            },
            ..self.report_of(class)
        }
    }

    /// Returns the words that contradict the signal, as far as they may be shown.
    fn contradiction(&self, task: &TaskId, is_verify: bool) -> Option<String> {
        let find = |said: &str| {
            let found = contradiction(said).or_else(|| retraction(said, task, is_verify));
            found.map(|found| found.phrase)
        };
        let is_there = self.transcript.message_says(|said| find(said).is_some());
        let shown = || find(&self.transcript.final_message).unwrap_or(MASKED_WORDS.to_owned());
        is_there.then(shown)
    }

    /// Reports an attempt at a delegated prompt, except for its changes to files. There is no
    /// completion signal: the way in which the agent ends decides.
    #[must_use]
    pub fn delegation_report(&self) -> AttemptReport {
        let class = self.class();
        let unfinished = self.transcript.finished != Some(true);
        AttemptReport {
            failure: FailureRecord::new(match (&class, self.limit_error()) {
                (_, Some(why)) => why,
                (AttemptClass::Ordinary, None) if unfinished => self.unfinished_error(),
                _ => String::new(),
            }),
            unfinished,
            ..self.report_of(class)
        }
    }

    fn report_of(&self, class: AttemptClass) -> AttemptReport {
        AttemptReport {
            class,
            ending: self.ending,
            session: self.transcript.session.clone(),
            usage: self.transcript.usage,
            progressed: self.progressed,
            left_running: self.left_running.clone(),
            ..AttemptReport::default()
        }
    }

    fn class(&self) -> AttemptClass {
        match &self.end {
            AttemptEnd::Cancelled | AttemptEnd::Unknown => AttemptClass::Interrupted,
            AttemptEnd::NotStarted { why } => AttemptClass::Fatal { why: why.clone() },
            // This isn't trouble with its service: it was ended because nobody is there to answer.
            AttemptEnd::Exited if self.transcript.question.is_some() => AttemptClass::Ordinary,
            AttemptEnd::Exited => self.trouble_class(),
        }
    }

    fn trouble_class(&self) -> AttemptClass {
        let has_succeeded = self.transcript.finished == Some(true);
        let trouble = self.transcript.trouble.as_ref();
        let Some(trouble) = trouble.filter(|_| !has_succeeded) else {
            return AttemptClass::Ordinary;
        };
        let why = trouble.message.clone();
        match trouble.class {
            TroubleClass::Fatal => AttemptClass::Fatal { why },
            TroubleClass::Session => AttemptClass::Session { why },
            TroubleClass::Transient => AttemptClass::Transient {
                why: if self.trouble_end_is_assumed {
                    format!("{why} (assumed to be local time)")
                } else {
                    why
                },
                until: self.trouble_ends,
            },
        }
    }

    /// Returns the error for an interruption; empty if the reason for it is known.
    fn interruption_error(&self) -> &'static str {
        match self.end {
            AttemptEnd::Cancelled => "",
            _ => "it is unknown how the agent ended",
        }
    }

    fn limit_error(&self) -> Option<String> {
        let limit = Duration::from_millis(self.ending.limit_ms?);
        let idle_limit = self.idle_limit_ms.map(Duration::from_millis);
        Some(match idle_limit {
            Some(idle) => format!(
                "The agent was idle for {idle:?} (--idle-timeout): no output, no CPU use and no changed file"
            ),
            None => format!("The agent did not finish within {limit:?}"),
        })
    }

    fn unfinished_error(&self) -> String {
        if let Some(AgentQuestion { text, permission }) = &self.transcript.question {
            let asked = if *permission {
                "The agent asked for a permission that no one can grant here"
            } else {
                "The agent stopped to ask something"
            };
            return format!("{asked}: {text}");
        }
        let how = match (self.ending.exit_code, self.ending.signal) {
            (Some(code), _) => format!("exit code {code}"),
            (None, Some(signal)) => format!("killed by {}", signal_name(signal)),
            (None, None) => "unknown".to_owned(),
        };
        format!("The agent exited before it had finished ({how})")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regreen_model::{AgentEvent, ApiTrouble, FailureKind};

    use super::*;

    fn report(attempt: &ObservedAttempt) -> AttemptReport {
        attempt.task_report(&TaskId::parse("1.1").unwrap(), false)
    }

    fn exited(code: i32, message: &str, finished: bool) -> ObservedAttempt {
        ObservedAttempt {
            transcript: Transcript {
                final_message: message.to_owned(),
                finished: Some(finished),
                ..Transcript::default()
            },
            ending: Ending {
                exit_code: Some(code),
                ..Ending::default()
            },
            ..ObservedAttempt::default()
        }
    }

    #[test]
    fn how_an_attempt_ended_decides_its_class() {
        let class = |end| {
            let attempt = ObservedAttempt {
                end,
                ..exited(3, "", false)
            };
            attempt.class()
        };
        assert_eq!(class(AttemptEnd::Cancelled), AttemptClass::Interrupted);
        assert_eq!(class(AttemptEnd::Unknown), AttemptClass::Interrupted);
        assert_eq!(class(AttemptEnd::Exited), AttemptClass::Ordinary);
        let why = "claude cannot be started".to_owned();
        assert_eq!(
            class(AttemptEnd::NotStarted { why: why.clone() }),
            AttemptClass::Fatal { why }
        );
    }

    #[test]
    fn only_a_failed_attempt_has_an_error() {
        let error = |attempt| report(&attempt).failure.error;
        assert_eq!(error(exited(0, "TASK_COMPLETE", true)), "");
        assert_eq!(error(exited(0, "hm", true)), "Task did not complete: hm");
        let limited = |idle_limit_ms| ObservedAttempt {
            ending: Ending {
                timed_out: true,
                limit_ms: Some(2000),
                ..Ending::default()
            },
            idle_limit_ms,
            ..exited(0, "TASK_COMPLETE", true)
        };
        assert_eq!(error(limited(None)), "The agent did not finish within 2s");
        let idle = error(limited(Some(1500)));
        assert!(
            idle.starts_with("The agent was idle for 1.5s (--idle-timeout)"),
            "{idle}"
        );
        // The user who asked to stop knows why it was interrupted.
        let cancelled = ObservedAttempt {
            end: AttemptEnd::Cancelled,
            ..exited(0, "hm", true)
        };
        assert_eq!(error(cancelled), "");
    }

    fn some_event() -> impl Strategy<Value = AgentEvent> {
        let text = || prop_oneof![Just("TASK_COMPLETE".to_owned()), Just("Done.".to_owned())];
        prop_oneof![
            text().prop_map(|text| AgentEvent::Text { text }),
            text().prop_map(|text| AgentEvent::FinalMessage { text }),
            any::<bool>().prop_map(|ok| AgentEvent::Terminal { ok }),
            Just(AgentEvent::ToolStarted {
                call: "c".into(),
                name: "t".into(),
                input: String::new(),
            }),
        ]
    }

    proptest! {
        #[test]
        fn no_agent_that_calls_its_run_a_failure_has_passed(
            mut events in prop::collection::vec(some_event(), 0..8),
            at in any::<prop::sample::Index>(),
        ) {
            events.insert(at.index(events.len() + 1), AgentEvent::Terminal { ok: false });
            let mut attempt = ObservedAttempt {
                reports_end: true,
                ending: Ending {
                    exit_code: Some(0),
                    ..Ending::default()
                },
                ..ObservedAttempt::default()
            };
            events.into_iter().for_each(|event| attempt.transcript.record(event));
            let report = report(&attempt);
            prop_assert!(report.unfinished && !report.signalled);
            prop_assert!(!report.failure.error.is_empty());
            prop_assert!(attempt.delegation_report().unfinished);
        }
    }

    #[test]
    fn a_failure_block_in_a_fence_beats_the_signal() {
        let message =
            "I tried.\n```\nTask 1.1: x FAILED\n- Error: no space left\n```\nTASK_COMPLETE";
        let mut attempt = exited(0, message, true);
        attempt.transcript.own_words = message.to_owned();
        let report = report(&attempt);
        assert!(report.reports_failure && !report.signalled);
        assert_eq!(report.failure.error, "no space left");
        assert_eq!(report.failure.last_words, "I tried.");
    }

    #[test]
    fn the_exit_code_of_a_command_means_nothing_for_the_task() {
        let report = report(&exited(3, "TASK_COMPLETE", false));
        assert!(report.signalled && !report.unfinished);
    }

    #[test]
    fn transient_trouble_lasts_until_the_time_that_the_service_names() {
        let mut attempt = exited(1, "", false);
        attempt.transcript.trouble = Some(ApiTrouble {
            class: TroubleClass::Transient,
            kind: FailureKind::RateLimited,
            message: "slow down".into(),
            status: Some(429),
            resets: None,
        });
        attempt.trouble_ends = Some(Timestamp::from_millis(61_000));
        let expected = AttemptClass::Transient {
            why: "slow down".into(),
            until: attempt.trouble_ends,
        };
        assert_eq!(attempt.class(), expected);
        attempt.trouble_end_is_assumed = true;
        let AttemptClass::Transient { why, .. } = attempt.class() else {
            panic!("{:?}", attempt.class());
        };
        assert_eq!(why, "slow down (assumed to be local time)");
        attempt.transcript.finished = Some(true);
        assert_eq!(attempt.class(), AttemptClass::Ordinary);
    }
}
