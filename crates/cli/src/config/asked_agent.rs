use std::fmt;
use std::str::FromStr;

use regreen_agents::{AgentChoice, AgentChoiceError};
use serde::{Serialize, Serializer};

use super::bad_value::BadValue;

/// The agent that was asked for, also in the words it was asked for with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedAgent {
    text: String,
    choice: AgentChoice,
}

impl Default for AskedAgent {
    fn default() -> Self {
        Self {
            text: "auto".to_owned(),
            choice: AgentChoice::Auto,
        }
    }
}

impl AskedAgent {
    #[must_use]
    pub fn choice(&self) -> &AgentChoice {
        &self.choice
    }

    /// Whether it brings a program of its own, which only the user may choose.
    #[must_use]
    pub fn brings_program(&self) -> bool {
        match self.choice {
            AgentChoice::Auto | AgentChoice::Shell | AgentChoice::CodingAgent(_) => false,
            AgentChoice::Command(_) | AgentChoice::Acp(_) => true,
        }
    }

    /// The agents that are asked for by name alone.
    pub fn names() -> impl Iterator<Item = &'static str> {
        let known = AgentChoice::FORMS.into_iter();
        known.filter(|agent| !agent.contains(':'))
    }
}

impl FromStr for AskedAgent {
    type Err = BadValue;

    fn from_str(text: &str) -> Result<Self, BadValue> {
        let text = text.trim();
        match text.parse() {
            Ok(choice) => Ok(Self {
                text: text.to_owned(),
                choice,
            }),
            Err(error) => Err(bad_agent(&error)),
        }
    }
}

fn bad_agent(error: &AgentChoiceError) -> BadValue {
    match error {
        AgentChoiceError::Unknown(name) => BadValue::new(
            format!("there is no agent `{name}`"),
            format!("known are: {}", AgentChoice::FORMS.join(", ")),
        ),
        AgentChoiceError::NoProgram(_) | AgentChoiceError::OpenQuote(_) => BadValue::new(
            error.to_string(),
            "write the program and its arguments as in a shell: command:my-agent --fast",
        ),
    }
}

impl fmt::Display for AskedAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for AskedAgent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_an_agent_that_brings_no_program() {
        for name in AskedAgent::names() {
            let agent: AskedAgent = name.parse().unwrap();
            assert!(!agent.brings_program(), "{name}");
            assert_eq!(agent.to_string(), name);
        }
        let command: AskedAgent = " command:./agent.sh -x ".parse().unwrap();
        assert!(command.brings_program());
        assert_eq!(command.to_string(), "command:./agent.sh -x");
        assert_eq!("auto".parse(), Ok(AskedAgent::default()));
    }

    #[test]
    fn an_unknown_agent_is_told_with_the_known_ones() {
        assert_eq!(
            "clyde".parse::<AskedAgent>().unwrap_err().to_string(),
            "there is no agent `clyde`; known are: auto, claude, codex, gemini, opencode, shell, command:PROGRAM ARGS, acp:PROGRAM ARGS"
        );
    }
}
