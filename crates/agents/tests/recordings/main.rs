//! The decoders, fed with the output of real agents (`cargo xtask agents-e2e --record`).

#![expect(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "recordings are files, and this is a test"
)]

mod properties;
mod recording;

use std::fmt::Write as _;

use regreen_agents::EarlyStop;
use regreen_model::{AgentEvent, FailureKind, ResetTime, TroubleClass};

use crate::recording::{Recording, agents, all, found};

/// Describes an event briefly.
fn told(event: &AgentEvent) -> String {
    match event {
        AgentEvent::Session { id } => format!("session {id}"),
        AgentEvent::Text { text } => format!("text {text:?}"),
        AgentEvent::ToolStarted { name, input, .. } => format!("tool {name}: {input}"),
        AgentEvent::ToolEnded { name, ok, exit, .. } => {
            format!("tool {name} ended: ok {ok}, exit {exit:?}")
        }
        AgentEvent::FileEdited { path } => format!("file {path}"),
        AgentEvent::Usage(usage) => format!(
            "usage {} in, {} out, {:?} micro USD",
            usage.input_tokens, usage.output_tokens, usage.cost_micro_usd
        ),
        AgentEvent::Trouble(trouble) => format!(
            "trouble {:?} {:?} {:?} {:?}: {}",
            trouble.class, trouble.kind, trouble.status, trouble.resets, trouble.message
        ),
        AgentEvent::Question { text, permission } => format!("question {permission} {text}"),
        AgentEvent::FinalMessage { text } => format!("final {text:?}"),
        AgentEvent::Terminal { ok } => format!("end: ok {ok}"),
    }
}

#[test]
fn every_recording_is_understood() {
    let mut page = String::new();
    for recording in all() {
        let _ = writeln!(page, "# {}", recording.name);
        for event in recording.events() {
            let _ = writeln!(page, "{}", told(&event));
        }
    }
    insta::assert_snapshot!("events", page);
}

fn has_finished(recording: &Recording) -> Option<bool> {
    let events = recording.events();
    events.iter().find_map(|event| match event {
        AgentEvent::Terminal { ok } => Some(*ok),
        _ => None,
    })
}

#[test]
fn an_agent_that_succeeds_or_reports_a_failure_has_finished() {
    for case in ["success", "failed_block", "failing_tool"] {
        for agent in agents() {
            let recording = found(agent, case);
            assert_eq!(has_finished(&recording), Some(true), "{}", recording.name);
            let says = |word: &str| {
                let events = recording.events();
                events.iter().any(
                    |event| matches!(event, AgentEvent::FinalMessage { text } if text.contains(word)),
                )
            };
            assert_eq!(says("TASK_COMPLETE"), case == "success");
            assert_eq!(says("FAILED"), case != "success");
        }
    }
}

/// Returns the trouble at which the agent is ended, or the last one.
#[track_caller]
fn trouble(agent: &str, case: &str) -> (TroubleClass, FailureKind, Option<ResetTime>) {
    let recording = found(agent, case);
    let mut early_stop = EarlyStop::default();
    let mut last = None;
    for event in recording.events() {
        let is_over = early_stop.should_stop(&event);
        if let AgentEvent::Trouble(trouble) = event {
            last = Some((trouble.class, trouble.kind, trouble.resets));
        }
        if is_over {
            break;
        }
    }
    last.unwrap_or_else(|| panic!("no trouble in {}", recording.name))
}

#[test]
fn every_trouble_has_its_class_for_every_agent() {
    for agent in agents() {
        let (class, kind, _) = trouble(agent, "unauthorized");
        assert_eq!(class, TroubleClass::Fatal, "{agent}");
        assert_eq!(kind, FailureKind::AuthFailed, "{agent}");
        let (class, kind, _) = trouble(agent, "rate_limited");
        assert_eq!(class, TroubleClass::Transient, "{agent}");
        assert_eq!(kind, FailureKind::RateLimited, "{agent}");
        let (class, kind, _) = trouble(agent, "context_overflow");
        assert_eq!(class, TroubleClass::Session, "{agent}");
        assert_eq!(kind, FailureKind::ContextOverflow, "{agent}");
        let (class, kind, _) = trouble(agent, "lost_session");
        assert_eq!(class, TroubleClass::Session, "{agent}");
        assert_eq!(kind, FailureKind::SessionLost, "{agent}");
    }
}

#[test]
fn a_service_that_is_down_is_a_trouble_that_passes() {
    for agent in agents() {
        if agent == "acp_gemini" {
            // It retries silently for minutes.
            assert_eq!(has_finished(&found(agent, "overloaded")), None);
            continue;
        }
        let (class, kind, _) = trouble(agent, "overloaded");
        assert_eq!(class, TroubleClass::Transient, "{agent}");
        assert_eq!(kind, FailureKind::ServiceUnavailable, "{agent}");
    }
}

#[test]
fn a_reported_reset_time_is_understood() {
    let hour = Some(ResetTime::After(3_600_000));
    // Codex doesn't report it.
    for agent in ["claude", "gemini", "opencode", "acp_gemini"] {
        assert_eq!(trouble(agent, "rate_limited").2, hour, "{agent}");
    }
}

#[test]
fn a_login_that_is_refused_ends_it_at_the_first_sign() {
    for agent in agents() {
        let recording = found(agent, "unauthorized");
        let mut early_stop = EarlyStop::default();
        let events = recording.events();
        let signs = events
            .iter()
            .filter(|event| matches!(event, AgentEvent::Trouble(_)));
        let first = signs.into_iter().next().unwrap();
        assert!(early_stop.should_stop(first), "{agent}");
    }
}

#[test]
fn a_silent_agent_has_not_finished() {
    for agent in agents() {
        assert_eq!(has_finished(&found(agent, "hang")), None, "{agent}");
    }
}

#[test]
fn a_conversation_is_led_as_it_was_recorded() {
    for recording in all() {
        let name = &recording.name;
        assert_eq!(recording.answers(), recording.told, "{name}");
        assert_eq!(
            recording.told.is_empty(),
            !name.starts_with("acp_"),
            "{name}"
        );
    }
}
