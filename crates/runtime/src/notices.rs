//! Notices for the user, in addition to the events of a run.

use std::collections::BTreeSet;

use regreen_agents::Agent;
use regreen_model::{Budget, Budgets};
use regreen_workspace::{EditReport, WriteMethod};

/// Messages for people, each shown once.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    waiting: Vec<String>,
    shown: BTreeSet<String>,
}

impl Notices {
    pub(crate) fn add(&mut self, message: String) {
        if self.shown.insert(message.clone()) {
            self.waiting.push(message);
        }
    }

    pub(crate) fn add_all(&mut self, messages: impl IntoIterator<Item = String>) {
        for message in messages {
            self.add(message);
        }
    }

    /// Adds a notice if a file was edited in an unusual way.
    pub(crate) fn edited(&mut self, edited: &EditReport) {
        self.add_all(edited.recovered.iter().map(ToString::to_string));
        if let WriteMethod::InPlace(why) = edited.written {
            self.add(format!(
                "files cannot be replaced atomically, so they are written in place: {why}"
            ));
        }
    }

    pub(crate) fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.waiting)
    }
}

/// Warns about budgets that cannot be enforced with this agent.
pub(crate) fn budget_notices(agent: &Agent, budgets: &Budgets) -> Vec<String> {
    let is_set = |limit: fn(&Budget) -> Option<u64>| {
        limit(&budgets.run).is_some() || limit(&budgets.task).is_some()
    };
    let reports_tokens = agent.reports_tokens();
    let instead = match reports_tokens {
        Some(true) => "a token or time limit",
        Some(false) | None => "a time limit",
    };
    let cost = is_set(|budget| budget.cost_micro_usd);
    let cost = cost.then(|| notice(agent, ["cost", "cost"], agent.reports_cost(), instead));
    let tokens = is_set(|budget| budget.tokens);
    let tokens = tokens.then(|| notice(agent, ["token", "tokens"], reports_tokens, instead));
    [cost, tokens].into_iter().flatten().flatten().collect()
}

fn notice(
    agent: &Agent,
    [limit, used]: [&str; 2],
    is_reported: Option<bool>,
    instead: &str,
) -> Option<String> {
    let name = agent.name();
    match is_reported {
        Some(true) => None,
        Some(false) => Some(format!(
            "the {limit} limit cannot be enforced: the agent {name} does not report its {used}. Set {instead} instead"
        )),
        None => Some(format!(
            "the {limit} limit is enforced only if the agent reports its {used}, and not every {name} agent does. If this one does not, set {instead} instead"
        )),
    }
}

#[cfg(test)]
mod tests {
    use regreen_agents::{AgentChoice, AgentOptions, CodingAgent};

    use super::*;

    #[test]
    fn no_message_is_shown_twice() {
        let mut notices = Notices::default();
        notices.add("once".into());
        assert_eq!(notices.take(), ["once"]);
        notices.add("once".into());
        assert!(notices.take().is_empty());
    }

    fn limited() -> Budgets {
        Budgets {
            run: Budget {
                cost_micro_usd: Some(1),
                ..Budget::default()
            },
            task: Budget {
                tokens: Some(1),
                ..Budget::default()
            },
        }
    }

    fn notices(known: CodingAgent, budgets: &Budgets) -> Vec<String> {
        budget_notices(&Agent::CodingAgent(known, AgentOptions::default()), budgets)
    }

    #[test]
    fn an_agent_that_reports_its_cost_needs_no_notice() {
        assert!(notices(CodingAgent::Claude, &limited()).is_empty());
        assert!(notices(CodingAgent::Codex, &Budgets::default()).is_empty());
    }

    #[test]
    fn a_budget_that_an_agent_does_not_report_on_gets_a_notice() {
        assert_eq!(
            notices(CodingAgent::Codex, &limited()),
            [
                "the cost limit cannot be enforced: the agent codex does not report its cost. Set a token or time limit instead"
            ]
        );
        let Ok(AgentChoice::Command(line)) = "command:agent".parse() else {
            panic!("a command");
        };
        let said = budget_notices(
            &Agent::Command(line.clone(), AgentOptions::default()),
            &limited(),
        );
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(
            said.iter()
                .all(|said| said.ends_with("Set a time limit instead"))
        );
        let said = budget_notices(&Agent::Acp(line, AgentOptions::default()), &limited());
        assert!(said.iter().all(|said| said.contains("not every acp agent")));
    }
}
