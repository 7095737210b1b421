//! What people should know beside the events of a run.

use std::collections::BTreeSet;

use regreen_agents::Agent;
use regreen_model::{Budget, Budgets};
use regreen_workspace::{EditReport, WriteMethod};

/// Messages for people, each told once.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    waiting: Vec<String>,
    told: BTreeSet<String>,
}

impl Notices {
    pub(crate) fn add(&mut self, message: String) {
        if self.told.insert(message.clone()) {
            self.waiting.push(message);
        }
    }

    pub(crate) fn add_all(&mut self, messages: impl IntoIterator<Item = String>) {
        for message in messages {
            self.add(message);
        }
    }

    /// Tells how a file was edited, if that is unusual.
    pub(crate) fn edited(&mut self, edited: &EditReport) {
        self.add_all(edited.recovered.iter().map(ToString::to_string));
        if let WriteMethod::InPlace(why) = edited.written {
            self.add(format!(
                "files are written in place, without the promises of an exchange: {why}"
            ));
        }
    }

    pub(crate) fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.waiting)
    }
}

/// Tells which budgets cannot be enforced with this agent.
pub(crate) fn budget_notices(agent: &Agent, budgets: &Budgets) -> Vec<String> {
    let is_set = |limit: fn(&Budget) -> Option<u64>| {
        limit(&budgets.run).is_some() || limit(&budgets.task).is_some()
    };
    let reports_tokens = agent.reports_tokens();
    let instead = match reports_tokens {
        Some(true) => "Limit its tokens or its time instead",
        Some(false) | None => "Limit its time instead",
    };
    let cost = is_set(|budget| budget.cost_micro_usd);
    let cost = cost.then(|| notice(agent, "cost", agent.reports_cost(), instead));
    let tokens = is_set(|budget| budget.tokens);
    let tokens = tokens.then(|| notice(agent, "tokens", reports_tokens, instead));
    [cost, tokens].into_iter().flatten().flatten().collect()
}

fn notice(agent: &Agent, what: &str, is_told: Option<bool>, instead: &str) -> Option<String> {
    let name = agent.name();
    match is_told {
        Some(true) => None,
        Some(false) => Some(format!(
            "the limit of {what} cannot be kept: the agent {name} does not say what it has used up. {instead}"
        )),
        None => Some(format!(
            "the limit of {what} can only be kept if the agent says what it has used up, and not every {name} agent does. {instead}, if this one does not"
        )),
    }
}

#[cfg(test)]
mod tests {
    use regreen_agents::{AgentChoice, AgentOptions, CodingAgent};

    use super::*;

    #[test]
    fn no_message_is_told_twice() {
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
    fn an_agent_that_tells_its_cost_needs_no_notice() {
        assert!(notices(CodingAgent::Claude, &limited()).is_empty());
        assert!(notices(CodingAgent::Codex, &Budgets::default()).is_empty());
    }

    #[test]
    fn an_agent_that_does_not_tell_its_cost_cannot_be_held_to_a_budget() {
        assert_eq!(
            notices(CodingAgent::Codex, &limited()),
            [
                "the limit of cost cannot be kept: the agent codex does not say what it has used up. Limit its tokens or its time instead"
            ]
        );
        let Ok(AgentChoice::Command(line)) = "command:agent".parse() else {
            panic!("a command");
        };
        let said = budget_notices(&Agent::Command(line.clone()), &limited());
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(
            said.iter()
                .all(|said| said.ends_with("Limit its time instead"))
        );
        let said = budget_notices(&Agent::Acp(line, AgentOptions::default()), &limited());
        assert!(said.iter().all(|said| said.contains("not every acp agent")));
    }
}
