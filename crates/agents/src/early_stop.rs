use regreen_model::{AgentEvent, ApiTrouble, FailureKind, ResetTime, TroubleClass};

/// How often in a row an agent may retry its service before regreen waits instead: regreen's waits
/// are stored and shown, and the user can end them.
const RETRIES: u32 = 3;
/// regreen waits out longer limits without the agent.
const SHORT_WAIT_MS: u64 = 60_000;

/// Decides when to end an agent early because its service is unavailable.
#[derive(Clone, Debug, Default)]
pub struct EarlyStop {
    retries: u32,
}

impl EarlyStop {
    /// Handles the next event. Returns whether to end the agent now.
    pub fn should_stop(&mut self, event: &AgentEvent) -> bool {
        match event {
            AgentEvent::Trouble(trouble) => self.is_hopeless(trouble),
            // Nobody is there to answer.
            AgentEvent::Question { .. } => true,
            AgentEvent::Text { .. }
            | AgentEvent::ToolStarted { .. }
            | AgentEvent::ToolEnded { .. }
            | AgentEvent::FileEdited { .. } => {
                self.retries = 0;
                false
            }
            AgentEvent::Session { .. }
            | AgentEvent::Usage(_)
            | AgentEvent::FinalMessage { .. }
            | AgentEvent::Terminal { .. } => false,
        }
    }

    fn is_hopeless(&mut self, trouble: &ApiTrouble) -> bool {
        self.retries += 1;
        let is_long = match &trouble.resets {
            Some(ResetTime::After(millis)) => *millis > SHORT_WAIT_MS,
            Some(ResetTime::At(_) | ResetTime::Clock(_)) => true,
            // A limit without a known end may mean hours of silence.
            None => trouble.kind == FailureKind::RateLimited,
        };
        trouble.class != TroubleClass::Transient || is_long || self.retries >= RETRIES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trouble(class: TroubleClass, resets: Option<ResetTime>) -> AgentEvent {
        of_kind(class, FailureKind::ServiceUnavailable, resets)
    }

    fn of_kind(class: TroubleClass, kind: FailureKind, resets: Option<ResetTime>) -> AgentEvent {
        AgentEvent::Trouble(ApiTrouble {
            class,
            kind,
            message: String::new(),
            status: None,
            resets,
        })
    }

    #[test]
    fn trouble_that_will_not_pass_ends_the_agent_at_once() {
        let ends = |event| EarlyStop::default().should_stop(&event);
        assert!(ends(trouble(TroubleClass::Fatal, None)));
        assert!(ends(trouble(TroubleClass::Session, None)));
        assert!(ends(AgentEvent::Question {
            text: String::new(),
            permission: true
        }));
        assert!(!ends(trouble(TroubleClass::Transient, None)));
        let limit = |resets| of_kind(TroubleClass::Transient, FailureKind::RateLimited, resets);
        assert!(ends(limit(None)));
        let short = Some(ResetTime::After(2000));
        assert!(!ends(limit(short.clone())));
        assert!(!ends(trouble(TroubleClass::Transient, short)));
        for long in [ResetTime::After(3_600_000), ResetTime::At(1)] {
            assert!(ends(trouble(TroubleClass::Transient, Some(long))));
        }
    }

    #[test]
    fn an_agent_that_only_retries_is_ended_but_not_one_that_works_in_between() {
        let passing = trouble(TroubleClass::Transient, None);
        let mut stop = EarlyStop::default();
        assert!(!stop.should_stop(&passing));
        assert!(!stop.should_stop(&passing));
        assert!(!stop.should_stop(&AgentEvent::Text { text: "on".into() }));
        assert!(!stop.should_stop(&passing));
        assert!(!stop.should_stop(&passing));
        assert!(stop.should_stop(&passing));
    }
}
