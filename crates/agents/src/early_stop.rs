use regreen_model::{AgentEvent, ApiTrouble, FailureKind, ResetTime, TroubleClass};

/// So often in a row an agent may try to reach its service before we wait in its place:
/// our waits are stored, shown and can be cut short.
const RETRIES: u32 = 3;
/// A limit that lasts longer is waited for without the agent.
const SHORT_WAIT_MS: u64 = 60_000;

/// For how long there is a point in listening to an agent.
#[derive(Clone, Debug, Default)]
pub struct EarlyStop {
    retries: u32,
}

impl EarlyStop {
    /// Whether nothing better can come after this.
    pub fn ends_with(&mut self, event: &AgentEvent) -> bool {
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
            // A limit whose end nobody tells may last for hours, in which nothing is said.
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
    fn what_cannot_get_better_is_ended_at_its_first_sign() {
        let ends = |event| EarlyStop::default().ends_with(&event);
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
    fn an_agent_that_only_retries_is_ended_and_one_that_works_in_between_is_not() {
        let passing = trouble(TroubleClass::Transient, None);
        let mut patience = EarlyStop::default();
        assert!(!patience.ends_with(&passing));
        assert!(!patience.ends_with(&passing));
        assert!(!patience.ends_with(&AgentEvent::Text { text: "on".into() }));
        assert!(!patience.ends_with(&passing));
        assert!(!patience.ends_with(&passing));
        assert!(patience.ends_with(&passing));
    }
}
