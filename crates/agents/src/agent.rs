use std::str::FromStr;

use thiserror::Error;

use crate::command::{CommandDecoder, CommandLine};
use crate::shell::{self, Interpreter, ShellDecoder};
use crate::{Assignment, Decoder, Invocation};

/// Who works on the tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Agent {
    /// Runs the tasks' own commands.
    Shell(Interpreter),
    /// Any program that takes a prompt and prints an answer.
    Command(CommandLine),
}

impl Agent {
    /// As it is called on the command line.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Shell(_) => "shell",
            Self::Command(_) => "command",
        }
    }

    /// The program that has to be there.
    #[must_use]
    pub fn program(&self) -> &str {
        match self {
            Self::Shell(interpreter) => interpreter.program(),
            Self::Command(line) => line.program(),
        }
    }

    /// Whether a conversation can be taken up again.
    #[must_use]
    pub fn has_sessions(&self) -> bool {
        match self {
            Self::Shell(_) | Self::Command(_) => false,
        }
    }

    /// Whether what it prints is what commands print, and no words of its own.
    #[must_use]
    pub fn prints_what_commands_print(&self) -> bool {
        matches!(self, Self::Shell(_))
    }

    /// Whether it tells which tools it uses, so that none seen means none used.
    #[must_use]
    pub fn tells_tools(&self) -> bool {
        match self {
            Self::Shell(_) => true,
            Self::Command(_) => false,
        }
    }

    #[must_use]
    pub fn invocation(&self, assignment: &Assignment<'_>) -> Invocation {
        match self {
            Self::Shell(interpreter) => shell::invocation(*interpreter, assignment),
            Self::Command(line) => line.invocation(assignment),
        }
    }

    #[must_use]
    pub fn decoder(&self, assignment: &Assignment<'_>) -> Box<dyn Decoder> {
        match self {
            Self::Shell(_) => Box::new(ShellDecoder::new(assignment.steps)),
            Self::Command(_) => Box::new(CommandDecoder::default()),
        }
    }
}

/// What `--agent` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentChoice {
    /// The first that is installed.
    Auto,
    Shell,
    Command(CommandLine),
}

impl AgentChoice {
    /// All that can be asked for, as it is written.
    pub const KNOWN: [&str; 3] = ["auto", "shell", "command:PROGRAM ARGS"];
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AgentChoiceError {
    #[error("unknown agent `{0}`: known are {known}", known = AgentChoice::KNOWN.join(", "))]
    Unknown(String),
    #[error("`command:{0}` names no program to run")]
    NoProgram(String),
    #[error("in `command:{0}` a quote is not closed")]
    OpenQuote(String),
}

impl FromStr for AgentChoice {
    type Err = AgentChoiceError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        match text.split_once(':') {
            Some(("command", line)) => command(line).map(Self::Command),
            None if text == "auto" => Ok(Self::Auto),
            None if text == "shell" => Ok(Self::Shell),
            _ => Err(AgentChoiceError::Unknown(text.to_owned())),
        }
    }
}

fn command(line: &str) -> Result<CommandLine, AgentChoiceError> {
    CommandLine::parse(line).ok_or_else(|| match shell_words::split(line) {
        Ok(_) => AgentChoiceError::NoProgram(line.to_owned()),
        Err(_) => AgentChoiceError::OpenQuote(line.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        text.parse::<AgentChoice>().unwrap_err().to_string()
    }

    #[test]
    fn agents_are_asked_for_by_name() {
        assert_eq!("auto".parse(), Ok(AgentChoice::Auto));
        assert_eq!(" shell ".parse(), Ok(AgentChoice::Shell));
        let Ok(AgentChoice::Command(line)) = "command:./agent.sh --x 'a: b'".parse() else {
            panic!("a command");
        };
        assert_eq!(line.program(), "./agent.sh");
    }

    #[test]
    fn what_cannot_be_asked_for_is_told_with_what_can() {
        assert_eq!(
            error("clyde"),
            "unknown agent `clyde`: known are auto, shell, command:PROGRAM ARGS"
        );
        assert_eq!(
            error("command"),
            "unknown agent `command`: known are auto, shell, command:PROGRAM ARGS"
        );
        assert_eq!(error("command: "), "`command:` names no program to run");
        assert_eq!(
            error("command:a 'b"),
            "in `command:a 'b` a quote is not closed"
        );
    }
}
