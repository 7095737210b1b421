//! Finds the agent that a run uses.

use regreen_agents::{Agent, AgentChoice, AgentOptions, CodingAgent, Interpreter};
use regreen_model::AgentIdentity;
use regreen_redaction::Masks;
use regreen_workspace::{Programs, RealDisk};

use crate::config::Settings;

/// Returns the agent that the settings ask for; for `auto`, the first one installed.
pub fn find_agent(settings: &Settings, programs: &Programs) -> Agent {
    look_up(
        settings.agent.value.choice(),
        settings.agent_options(),
        |program| programs.has(&RealDisk, program),
    )
}

/// Names the agent as the settings do, without secrets in its command line; resolves `auto` to the
/// agent it stands for.
pub fn identity(settings: &Settings, agent: &Agent) -> AgentIdentity {
    let requested = &settings.agent.value;
    let name = match requested.choice() {
        AgentChoice::Auto => agent.name().to_owned(),
        _ => Masks::built_in().mask(&requested.to_string()),
    };
    AgentIdentity::new(name, agent.permissions())
}

/// Returns where a login of the agent was found, without reading it or contacting a service.
pub fn found_login(known: CodingAgent) -> Option<String> {
    let credentials = known.credentials();
    if let Some(variable) = credentials.variables.iter().find(|name| is_set(name)) {
        return Some(format!("{variable} is set"));
    }
    let home = std::env::home_dir().unwrap_or_default();
    let mut files = credentials.files.iter();
    let file = files.find(|file| home.join(file).is_file())?;
    Some(format!("~/{file} found"))
}

/// Returns why an agent seems not to be logged in; `None` if it may well be.
pub fn missing_login(agent: &Agent) -> Option<String> {
    let Agent::CodingAgent(known, options) = agent else {
        return None;
    };
    let elsewhere = known.credentials().elsewhere;
    let is_elsewhere = elsewhere.iter().any(|name| is_set(name));
    // Someone who sets variables or arguments for the agent may log it in with them.
    let is_customized = !options.environment.is_empty() || !options.arguments.is_empty();
    // There, Claude Code stores its login in the keychain.
    let in_keychain = cfg!(target_os = "macos") && *known == CodingAgent::Claude;
    if is_elsewhere || is_customized || in_keychain || found_login(*known).is_some() {
        return None;
    }
    Some(format!(
        "no login of {} was found; if it isn't stored elsewhere, run `{}` and log in before you leave the run alone",
        known.title(),
        known.name()
    ))
}

fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
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
        AgentChoice::Command(line) => Agent::Command(line.clone(), options),
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
