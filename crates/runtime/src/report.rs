//! What an attempt came to, from what was seen of it.

use std::time::Duration;

use regreen_agents::{Agent, reset_moment};
use regreen_diagnosis::{
    contradiction, has_failure_block, modification_request, parse_failure, signal,
};
use regreen_engine::AttemptOrder;
use regreen_model::{
    ApiTrouble, AttemptClass, AttemptReport, Ending, Evidence, Failure, PlanChanges, Timestamp,
    TroubleClass,
};
use regreen_supervisor::{EndReason, Ended, Exit, StartStep};

use crate::heard::{Heard, Question};
use crate::why;

/// Of an attempt that ended with a request for other rows in the plan.
const ASKED_FOR_ROWS: &str =
    "Task did not complete: the agent asked for other rows in the plan instead";

/// Of an attempt that signals completion, by an agent that calls its own run a failure.
const NOT_A_GOOD_END: &str =
    "The agent signalled completion, but says of itself that its run did not end well";

pub(crate) fn ending(ended: &Ended, limit: Duration) -> Ending {
    let timed_out = matches!(ended.reason, EndReason::HardLimit | EndReason::IdleLimit);
    Ending {
        exit_code: match ended.exit {
            Exit::Exited(code) => Some(code),
            Exit::NotStarted { .. } => Some(ended.exit.shell_code()),
            Exit::Signalled(_) | Exit::Unknown => None,
        },
        signal: match ended.exit {
            Exit::Signalled(signal) => Some(signal),
            _ => None,
        },
        timed_out,
        limit_ms: timed_out.then(|| millis(limit)),
        duration_ms: millis(ended.duration),
    }
}

pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// All but what the attempt did to the files and to the plan.
pub(crate) fn report(
    order: &AttemptOrder,
    agent: &Agent,
    ended: &Ended,
    ending: Ending,
    heard: &Heard,
    now: Timestamp,
) -> AttemptReport {
    let task = &order.task;
    let (id, message) = (&task.task.id, heard.final_message.as_str());
    let said = parse_failure(message, id);
    let (request, bad_request) = match modification_request(message) {
        Some(Ok(request)) => (Some(request), None),
        Some(Err(why)) => (
            None,
            Some(format!(
                "the agent's request to change the plan is not understood: {why}"
            )),
        ),
        None => (None, None),
    };
    let signalled = signal(message, id, task.is_verify).is_some();
    let reports_failure = has_failure_block(message, id);
    let asked_for_rows = request.is_some() || bad_request.is_some();
    let class = class(agent.program(), ended, heard, now);
    let unfinished = heard.finished.is_none();
    let is_bad_end = agent.reports_end() && heard.finished == Some(false);
    AttemptReport {
        error: match (&class, why_ended(ended, ending)) {
            (AttemptClass::Ordinary, Some(why)) => why,
            (AttemptClass::Ordinary, None) if unfinished => why_unfinished(ending, heard),
            (AttemptClass::Interrupted, _) => why_cut_off(ended).to_owned(),
            _ if signalled && is_bad_end => NOT_A_GOOD_END.to_owned(),
            _ if signalled => String::new(),
            _ if asked_for_rows && !reports_failure => ASKED_FOR_ROWS.to_owned(),
            _ => said.error,
        },
        class,
        ending,
        signalled: signalled && !unfinished && !is_bad_end,
        reports_failure,
        contradiction: contradiction(message).map(|found| found.phrase),
        attempted_fix: said.attempted_fix,
        session: heard.session.clone(),
        usage: heard.usage,
        unfinished: unfinished || is_bad_end,
        progressed: ended.stdout_bytes + ended.stderr_bytes > 0,
        modification: request.map(Box::new),
        plan: PlanChanges {
            warnings: bad_request.into_iter().collect(),
            ..PlanChanges::default()
        },
        ..AttemptReport::default()
    }
}

/// What an attempt of a delegation came to, but for the files. Nobody signals there: the end of
/// the agent says it.
pub(crate) fn delegated(
    program: &str,
    ended: &Ended,
    ending: Ending,
    heard: &Heard,
    now: Timestamp,
) -> AttemptReport {
    let class = class(program, ended, heard, now);
    let unfinished = heard.finished != Some(true);
    AttemptReport {
        error: match (&class, why_ended(ended, ending)) {
            (_, Some(why)) => why,
            (AttemptClass::Ordinary, None) if unfinished => why_unfinished(ending, heard),
            _ => String::new(),
        },
        class,
        ending,
        session: heard.session.clone(),
        usage: heard.usage,
        unfinished,
        progressed: ended.stdout_bytes + ended.stderr_bytes > 0,
        ..AttemptReport::default()
    }
}

/// Why it failed, from what the commands printed that it ran, or from its own words; nothing
/// of an attempt that says it has not failed.
pub(crate) fn diagnosed(
    report: &AttemptReport,
    heard: &Heard,
    files_changed: Vec<String>,
) -> Option<Failure> {
    let ending = report.ending;
    if report.signalled && !report.reports_failure && !ending.timed_out {
        return None;
    }
    let evidence = Evidence {
        ending,
        // Whoever decides what to do about a time limit goes by this alone.
        progressed: Some(report.progressed),
        files_changed: files_changed.clone(),
        ..why::evidence(heard)
    };
    let found = why::why(&evidence, heard, true)?;
    // What the agent says that it did is not what is there.
    Some(Failure {
        files_modified: files_changed,
        ..found
    })
}

/// Nothing is to be said where it is known who cut it off.
fn why_cut_off(ended: &Ended) -> &'static str {
    match ended.reason {
        EndReason::Cancelled => "",
        _ => "nobody saw how the agent ended",
    }
}

/// What ended it from outside, if something did.
fn why_ended(ended: &Ended, ending: Ending) -> Option<String> {
    let limit = Duration::from_millis(ending.limit_ms?);
    Some(match ended.reason {
        EndReason::IdleLimit => {
            "The agent was ended: no output, no work and no file changed for as long as the idle limit allows".to_owned()
        }
        _ => format!("The agent was ended: it had not finished after {limit:?}"),
    })
}

/// An agent that says nothing of its end may be anywhere in its work.
fn why_unfinished(ending: Ending, heard: &Heard) -> String {
    if let Some(Question { text, .. }) = &heard.question {
        return format!("The agent stopped to ask something: {text}");
    }
    let how = match (ending.exit_code, ending.signal) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "nobody knows how".to_owned(),
    };
    format!("The agent ended before it had finished ({how})")
}

fn class(program: &str, ended: &Ended, heard: &Heard, now: Timestamp) -> AttemptClass {
    let trouble = heard
        .trouble
        .as_ref()
        .filter(|_| heard.finished != Some(true));
    match (ended.reason, ended.exit) {
        (EndReason::Cancelled, _) | (_, Exit::Unknown) => AttemptClass::Interrupted,
        (_, Exit::NotStarted { step, errno }) => AttemptClass::Fatal {
            why: not_started(program, step, errno),
        },
        _ => match (&heard.question, trouble) {
            (
                Some(Question {
                    text,
                    permission: true,
                }),
                _,
            ) => AttemptClass::Fatal {
                why: not_permitted(text),
            },
            (_, Some(trouble)) => of_trouble(trouble, now),
            (_, None) => AttemptClass::Ordinary,
        },
    }
}

fn not_permitted(text: &str) -> String {
    format!(
        "the agent asks for a permission that nobody can give it here: {text}. Allow it in the agent's own settings, or run with --agent-permissions skip"
    )
}

fn not_started(program: &str, step: StartStep, errno: i32) -> String {
    let why = std::io::Error::from_raw_os_error(errno);
    match step {
        StartStep::Folder => format!("the workspace cannot be entered: {why}"),
        StartStep::Program => {
            format!(
                "the agent's program {program} cannot be started: {why}. Install it, or choose another with --agent"
            )
        }
    }
}

fn of_trouble(trouble: &ApiTrouble, now: Timestamp) -> AttemptClass {
    let why = trouble.message.clone();
    match trouble.class {
        TroubleClass::Fatal => AttemptClass::Fatal { why },
        TroubleClass::Session => AttemptClass::Session { why },
        TroubleClass::Transient => AttemptClass::Transient {
            why,
            until: trouble
                .resets
                .as_ref()
                .and_then(|resets| reset_moment(resets, now)),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use regreen_agents::{AgentChoice, AgentOptions, CodingAgent};
    use regreen_model::{
        AgentEvent, FailureKind, PickedTask, PromptKind, ResetTime, TaskId, TaskKey,
    };

    use super::*;

    fn ended(exit: Exit, reason: EndReason) -> Ended {
        Ended {
            exit,
            reason,
            duration: Duration::from_secs(3),
            stdout_bytes: 0,
            stderr_bytes: 0,
            leftovers_ended: 0,
            unended: 0,
        }
    }

    #[test]
    fn what_was_cut_off_was_interrupted_and_what_is_missing_is_fatal() {
        let now = Timestamp::default();
        let heard = Heard::default();
        let class = |exit, reason| class("claude", &ended(exit, reason), &heard, now);
        assert_eq!(
            class(Exit::Signalled(15), EndReason::Cancelled),
            AttemptClass::Interrupted
        );
        assert_eq!(
            class(Exit::Unknown, EndReason::Normal),
            AttemptClass::Interrupted
        );
        assert_eq!(
            class(Exit::Exited(3), EndReason::Normal),
            AttemptClass::Ordinary
        );
        let missing = Exit::NotStarted {
            step: StartStep::Program,
            errno: 2,
        };
        let AttemptClass::Fatal { why } = class(missing, EndReason::Normal) else {
            panic!("an agent that is missing is fatal");
        };
        assert!(why.contains("claude"), "{why}");
    }

    #[test]
    fn an_error_is_only_told_where_there_was_one() {
        let error = |message: &str, reason| {
            let ended = ended(Exit::Exited(0), reason);
            let heard = Heard {
                final_message: message.to_owned(),
                finished: Some(true),
                ..Heard::default()
            };
            let ending = ending(&ended, Duration::from_secs(2));
            let now = Timestamp::default();
            report(&order(), &agent("command:sh"), &ended, ending, &heard, now).error
        };
        assert_eq!(error("TASK_COMPLETE", EndReason::Normal), "");
        assert_eq!(error("hm", EndReason::Normal), "Task did not complete: hm");
        assert_eq!(
            error("TASK_COMPLETE", EndReason::HardLimit),
            "The agent was ended: it had not finished after 2s"
        );
        // Whoever asked to stop knows why it was cut off.
        assert_eq!(error("hm", EndReason::Cancelled), "");
    }

    fn agent(name: &str) -> Agent {
        if let Some(known) = CodingAgent::named(name) {
            return Agent::CodingAgent(known, AgentOptions::default());
        }
        match name.parse() {
            Ok(AgentChoice::Acp(line)) => Agent::Acp(line, AgentOptions::default()),
            Ok(AgentChoice::Command(line)) => Agent::Command(line),
            other => panic!("{name}: {other:?}"),
        }
    }

    fn some_event() -> impl Strategy<Value = AgentEvent> {
        let text = || prop_oneof![Just("TASK_COMPLETE".to_owned()), Just("Done.".to_owned())];
        prop_oneof![
            text().prop_map(|text| AgentEvent::Text { text }),
            text().prop_map(|text| AgentEvent::FinalMessage { text }),
            any::<bool>().prop_map(|ok| AgentEvent::Terminal { ok }),
            Just(AgentEvent::ToolStarted {
                call: "c".into(),
                name: "t".into()
            }),
        ]
    }

    proptest! {
        #[test]
        fn no_agent_that_calls_its_run_a_failure_has_passed(
            mut events in prop::collection::vec(some_event(), 0..8),
            at in any::<prop::sample::Index>(),
            name in prop::sample::select(vec!["claude", "codex", "gemini", "opencode", "acp:a"]),
            reason in prop::sample::select(vec![EndReason::Normal, EndReason::Enough]),
        ) {
            events.insert(at.index(events.len() + 1), AgentEvent::Terminal { ok: false });
            let mut heard = Heard::default();
            events.into_iter().for_each(|event| heard.note(event));
            let ended = ended(Exit::Exited(0), reason);
            let ending = ending(&ended, Duration::from_secs(2));
            let now = Timestamp::default();
            let report = report(&order(), &agent(name), &ended, ending, &heard, now);
            prop_assert!(report.unfinished && !report.signalled);
            prop_assert!(!report.error.is_empty());
            let delegated = delegated(name, &ended, ending, &heard, now);
            prop_assert!(delegated.unfinished);
        }
    }

    #[test]
    fn the_exit_code_of_a_command_means_nothing_for_the_task() {
        let ended = ended(Exit::Exited(3), EndReason::Normal);
        let heard = Heard {
            final_message: "TASK_COMPLETE".into(),
            finished: Some(false),
            ..Heard::default()
        };
        let ending = ending(&ended, Duration::from_secs(2));
        let now = Timestamp::default();
        let report = report(&order(), &agent("command:sh"), &ended, ending, &heard, now);
        assert!(report.signalled && !report.unfinished);
    }

    #[test]
    fn a_time_limit_is_called_what_was_seen_of_the_attempt() {
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
            let found = diagnosed(&report, &Heard::default(), Vec::new()).unwrap();
            assert_eq!(found.kind, kind);
        }
    }

    fn order() -> AttemptOrder {
        let task = TaskKey {
            id: TaskId::parse("1.1").unwrap(),
            occurrence: 0,
            title: "Write it".into(),
        };
        AttemptOrder {
            task: PickedTask {
                has_fixes: false,
                root: task.clone(),
                task,
                index: 0,
                total: 1,
                is_verify: false,
                is_group: false,
                verify: Vec::new(),
                commit: None,
                failed_before: None,
            },
            attempt: 1,
            iteration: 1,
            max_iterations: 5,
            prompt: PromptKind::First,
            previous: None,
            cut_off: None,
            failed_attempt: None,
            session: None,
            timeout_ms: 2000,
            idle_timeout_ms: None,
            put_back: BTreeSet::new(),
            context: Vec::new(),
            environment: vec![],
        }
    }

    #[test]
    fn a_reset_time_is_a_moment_however_it_was_said() {
        let now = Timestamp::from_millis(1000);
        let trouble = |resets| ApiTrouble {
            class: TroubleClass::Transient,
            kind: FailureKind::RateLimited,
            message: "slow down".into(),
            status: Some(429),
            resets: Some(resets),
        };
        for resets in [ResetTime::At(61_000), ResetTime::After(60_000)] {
            let AttemptClass::Transient { until, .. } = of_trouble(&trouble(resets), now) else {
                panic!("a rate limit passes");
            };
            assert_eq!(until, Some(Timestamp::from_millis(61_000)));
        }
    }
}
