//! Finds the agent that a run uses.

use regreen_agents::{Agent, AgentChoice, AgentOptions, CodingAgent, Interpreter};
use regreen_model::AgentIdentity;
use regreen_redaction::Masks;
use regreen_workspace::{Programs, RealDisk};

use crate::config::Settings;

/// Returns the agent that the settings ask for; for `auto`, the first that is installed.
pub fn find_agent(settings: &Settings, programs: &Programs) -> Agent {
    look_up(
        settings.agent.value.choice(),
        settings.agent_options(),
        |program| programs.has(&RealDisk, program),
    )
}

/// Names the agent as the settings do, without secrets in its command line; `auto` becomes the
/// agent that it stands for.
pub fn identity(settings: &Settings, agent: &Agent) -> AgentIdentity {
    let requested = &settings.agent.value;
    let name = match requested.choice() {
        AgentChoice::Auto => agent.name().to_owned(),
        _ => Masks::built_in().mask(&requested.to_string()),
    };
    AgentIdentity::new(name, agent.permissions())
}

fn look_up(choice: &AgentChoice, options: AgentOptions, has: impl Fn(&str) -> bool) -> Agent {
    match choice {
        AgentChoice::Auto => {
            let mut known = CodingAgent::ALL.into_iter();
            match known.find(|known| has(known.name())) {
                Some(known) => Agent::CodingAgent(known, options),
                // No agent is installed.
                None => Agent::Shell(interpreter(has)),
            }
        }
        AgentChoice::Shell => Agent::Shell(interpreter(has)),
        AgentChoice::Command(line) => Agent::Command(line.clone()),
        AgentChoice::CodingAgent(known) => Agent::CodingAgent(*known, options),
        AgentChoice::Acp(line) => Agent::Acp(line.clone(), options),
    }
}

fn interpreter(has: impl Fn(&str) -> bool) -> Interpreter {
    if has(Interpreter::Bash.program()) {
        Interpreter::Bash
    } else {
        Interpreter::Sh
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(choice: &AgentChoice, here: &[&str]) -> Agent {
        look_up(choice, AgentOptions::default(), |program| {
            here.contains(&program)
        })
    }

    #[test]
    fn without_any_agent_the_shell_works_in_the_best_shell_there_is() {
        let bash = Agent::Shell(Interpreter::Bash);
        assert_eq!(found(&AgentChoice::Auto, &["bash"]), bash);
        assert_eq!(found(&AgentChoice::Shell, &["bash", "claude"]), bash);
        let sh = Agent::Shell(Interpreter::Sh);
        assert_eq!(found(&AgentChoice::Auto, &[]), sh);
        let command: AgentChoice = "command:my-agent -x".parse().unwrap();
        assert_eq!(found(&command, &["claude"]).program(), "my-agent");
    }

    #[test]
    fn the_first_agent_that_is_installed_works() {
        let name = |here: &[&str]| found(&AgentChoice::Auto, here).name();
        assert_eq!(name(&["bash", "opencode", "codex"]), "codex");
        assert_eq!(name(&["gemini", "opencode"]), "gemini");
        assert_eq!(name(&["opencode", "gemini", "codex", "claude"]), "claude");
    }
}
