use std::str::FromStr;

use regreen_model::OutputKind;
use thiserror::Error;

use crate::acp::{self, AcpDecoder};
use crate::coding_agent::is_session_id;
use crate::command::{CommandDecoder, CommandLine};
use crate::shell::{self, Interpreter, ShellDecoder};
use crate::{Abilities, AgentOptions, Assignment, CodingAgent, Decoder, Invocation, Permissions};

/// The agent that works on the tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Agent {
    /// Runs the tasks' own commands.
    Shell(Interpreter),
    /// Any program that takes a prompt and prints an answer.
    Command(CommandLine, AgentOptions),
    /// A coding agent that regreen knows by name.
    CodingAgent(CodingAgent, AgentOptions),
    /// Any program that speaks the Agent Client Protocol.
    Acp(CommandLine, AgentOptions),
}

impl Agent {
    /// Returns its name on the command line.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Shell(_) => "shell",
            Self::Command(..) => "command",
            Self::CodingAgent(known, _) => known.name(),
            Self::Acp(..) => "acp",
        }
    }

    /// Returns the program that must be installed.
    #[must_use]
    pub fn program(&self) -> &str {
        match self {
            Self::Shell(interpreter) => interpreter.program(),
            Self::Command(line, _) | Self::Acp(line, _) => line.program(),
            Self::CodingAgent(known, _) => known.name(),
        }
    }

    /// Returns what it may do without asking; `None` if the agent has no permissions to set.
    #[must_use]
    pub fn permissions(&self) -> Option<Permissions> {
        match self {
            Self::Shell(_) | Self::Command(..) => None,
            Self::CodingAgent(_, options) | Self::Acp(_, options) => Some(options.permissions),
        }
    }

    /// Returns whether its sessions can be resumed.
    #[must_use]
    pub fn has_sessions(&self) -> bool {
        match self {
            Self::Shell(_) | Self::Command(..) => false,
            Self::CodingAgent(..) | Self::Acp(..) => true,
        }
    }

    /// Returns whether its protocol reports how its run ended. A command has only an exit code,
    /// which says nothing about the task.
    #[must_use]
    pub fn reports_end(&self) -> bool {
        matches!(self, Self::CodingAgent(..) | Self::Acp(..))
    }

    /// Returns the kind of its output.
    #[must_use]
    pub fn output_kind(&self) -> OutputKind {
        match self {
            Self::Shell(_) => OutputKind::Commands,
            Self::Command(..) => OutputKind::Mixed,
            Self::CodingAgent(..) | Self::Acp(..) => OutputKind::Messages,
        }
    }

    /// Returns the session to resume, if the id is valid for this agent.
    #[must_use]
    pub fn session<'s>(&self, id: Option<&'s str>) -> Option<&'s str> {
        id.filter(|id| self.has_sessions() && is_session_id(id))
    }

    /// Returns whether it reports every tool use, so that no report means no use.
    #[must_use]
    pub fn reports_tools(&self) -> bool {
        match self {
            Self::Shell(_) | Self::CodingAgent(..) => true,
            Self::Command(..) | Self::Acp(..) => false,
        }
    }

    /// Returns whether it reports its token usage; `None` if unknown. Commands use none.
    #[must_use]
    pub fn reports_tokens(&self) -> Option<bool> {
        match self {
            Self::Shell(_) | Self::CodingAgent(..) => Some(true),
            Self::Command(..) => Some(false),
            Self::Acp(..) => None,
        }
    }

    /// Returns whether it reports its cost; `None` if unknown. Commands cost nothing.
    #[must_use]
    pub fn reports_cost(&self) -> Option<bool> {
        match self {
            Self::Shell(_) => Some(true),
            Self::Command(..) => Some(false),
            Self::CodingAgent(known, _) => Some(known.reports_cost()),
            Self::Acp(..) => None,
        }
    }

    /// Returns what regreen can observe of any agent that speaks the protocol.
    #[must_use]
    pub fn acp_abilities() -> Abilities {
        acp::ABILITIES
    }

    /// Returns how to start it.
    #[must_use]
    pub fn invocation(&self, assignment: &Assignment<'_>) -> Invocation {
        match self {
            Self::Shell(interpreter) => shell::invocation(*interpreter, assignment),
            Self::Command(line, options) => line.invocation(options, assignment),
            Self::CodingAgent(known, options) => known.invocation(options, assignment),
            Self::Acp(line, options) => acp::invocation(line, options, assignment),
        }
    }

    /// Returns the decoder for its output.
    #[must_use]
    pub fn decoder(&self, assignment: &Assignment<'_>) -> Box<dyn Decoder> {
        match self {
            Self::Shell(_) => Box::new(ShellDecoder::new(assignment.steps)),
            Self::Command(..) => Box::new(CommandDecoder::default()),
            Self::CodingAgent(known, _) => known.decoder(assignment),
            Self::Acp(_, options) => Box::new(AcpDecoder::new(options, assignment)),
        }
    }
}

/// The value of `--agent`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentChoice {
    /// The first coding agent that is installed.
    Auto,
    /// The shell agent.
    Shell,
    /// A program that takes a prompt.
    Command(CommandLine),
    /// A coding agent.
    CodingAgent(CodingAgent),
    /// A program that speaks the Agent Client Protocol.
    Acp(CommandLine),
}

impl AgentChoice {
    /// The forms of the value.
    pub const FORMS: [&str; 8] = [
        "auto",
        "claude",
        "codex",
        "gemini",
        "opencode",
        "shell",
        "command:PROGRAM ARGS",
        "acp:PROGRAM ARGS",
    ];
}

/// Why a value of `--agent` is invalid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AgentChoiceError {
    /// No agent has this name.
    #[error("unknown agent `{0}`; known agents: {known}", known = AgentChoice::FORMS.join(", "))]
    Unknown(String),
    /// The command line is empty.
    #[error("`{0}` is missing the program to run")]
    NoProgram(String),
    /// The command line has an open quote.
    #[error("unclosed quote in `{0}`")]
    OpenQuote(String),
}

impl FromStr for AgentChoice {
    type Err = AgentChoiceError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let unknown = || AgentChoiceError::Unknown(text.to_owned());
        match (text.split_once(':'), text) {
            (Some(("command", line)), _) => command(text, line).map(Self::Command),
            (Some(("acp", line)), _) => command(text, line).map(Self::Acp),
            (_, "auto") => Ok(Self::Auto),
            (_, "shell") => Ok(Self::Shell),
            (_, name) => CodingAgent::named(name)
                .map(Self::CodingAgent)
                .ok_or_else(unknown),
        }
    }
}

fn command(text: &str, line: &str) -> Result<CommandLine, AgentChoiceError> {
    CommandLine::parse(line).ok_or_else(|| match shell_words::split(line) {
        Ok(_) => AgentChoiceError::NoProgram(text.to_owned()),
        Err(_) => AgentChoiceError::OpenQuote(text.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        text.parse::<AgentChoice>().unwrap_err().to_string()
    }

    #[test]
    fn the_documentation_says_who_reports_cost() {
        for known in CodingAgent::ALL {
            let documented = known.abilities().cost == "yes";
            assert_eq!(known.reports_cost(), documented, "{known:?}");
        }
    }

    #[test]
    fn agents_are_chosen_by_name() {
        assert_eq!("auto".parse(), Ok(AgentChoice::Auto));
        assert_eq!(" shell ".parse(), Ok(AgentChoice::Shell));
        let Ok(AgentChoice::Command(line)) = "command:./agent.sh --x 'a: b'".parse() else {
            panic!("a command");
        };
        assert_eq!(line.program(), "./agent.sh");
        for known in CodingAgent::ALL {
            assert_eq!(known.name().parse(), Ok(AgentChoice::CodingAgent(known)));
        }
        let Ok(AgentChoice::Acp(line)) = "acp:gemini --acp".parse() else {
            panic!("an agent of the protocol");
        };
        assert_eq!(line.argv(), ["gemini", "--acp"]);
    }

    #[test]
    fn an_unknown_agent_is_refused_with_the_known_forms() {
        assert_eq!(
            error("clyde"),
            "unknown agent `clyde`; known agents: auto, claude, codex, gemini, opencode, shell, command:PROGRAM ARGS, acp:PROGRAM ARGS"
        );
        assert!(error("command").starts_with("unknown agent `command`; "));
        assert_eq!(
            error("command: "),
            "`command:` is missing the program to run"
        );
        assert_eq!(error("acp:"), "`acp:` is missing the program to run");
        assert_eq!(error("command:a 'b"), "unclosed quote in `command:a 'b`");
    }

    #[test]
    fn only_a_session_id_becomes_part_of_a_command_line() {
        let claude = Agent::CodingAgent(CodingAgent::Claude, AgentOptions::default());
        let id = "ef094c3c-43bd-491d-a190-8d4f82efe0f3";
        assert_eq!(claude.session(Some(id)), Some(id));
        for bad in ["", "-x", "--resume", "a b", "a\nb", "$(id)"] {
            assert_eq!(claude.session(Some(bad)), None, "{bad:?}");
        }
        assert_eq!(Agent::Shell(Interpreter::Sh).session(Some(id)), None);
    }
}
