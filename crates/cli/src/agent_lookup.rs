//! Who works, of those that are here.

use regreen_agents::{Agent, AgentChoice, Interpreter};

/// The agent that is meant. `has` tells whether a program is installed.
#[must_use]
pub fn look_up(choice: &AgentChoice, has: impl Fn(&str) -> bool) -> Agent {
    match choice {
        // The shell is what is left when no agent is installed, and none is known yet.
        AgentChoice::Auto | AgentChoice::Shell => Agent::Shell(interpreter(has)),
        AgentChoice::Command(line) => Agent::Command(line.clone()),
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

    #[test]
    fn without_any_agent_the_shell_works_in_the_best_shell_there_is() {
        let bash = Agent::Shell(Interpreter::Bash);
        assert_eq!(look_up(&AgentChoice::Auto, |_| true), bash);
        assert_eq!(look_up(&AgentChoice::Shell, |_| true), bash);
        let sh = Agent::Shell(Interpreter::Sh);
        assert_eq!(look_up(&AgentChoice::Auto, |_| false), sh);
        let command: AgentChoice = "command:my-agent -x".parse().unwrap();
        assert_eq!(look_up(&command, |_| false).program(), "my-agent");
    }
}
