//! What of the budgets cannot be kept with an agent.

use regreen_agents::Agent;
use regreen_model::{Budget, Budgets};

/// What people should know who rely on a budget.
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
    fn whoever_says_what_it_costs_needs_no_word() {
        assert!(notices(CodingAgent::Claude, &limited()).is_empty());
        assert!(notices(CodingAgent::Codex, &Budgets::default()).is_empty());
    }

    #[test]
    fn whoever_does_not_say_what_it_costs_cannot_be_held_to_it() {
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
