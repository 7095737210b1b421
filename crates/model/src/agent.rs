use std::fmt;

use serde::{Deserialize, Serialize};

use crate::named_enum;

named_enum! {
    /// Whether an agent that works unattended may do everything.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Permissions {
        /// The agent is told not to ask, because nobody is there to answer.
        #[default]
        Skip = "skip",
        /// Only what the agent's own configuration allows.
        Own = "own",
    }
}

/// How regreen talks to an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentKind {
    /// Runs the tasks' own commands and reads no prompt.
    Shell,
    /// Any program that takes a prompt and prints an answer.
    Command,
    /// Any program that speaks the Agent Client Protocol.
    Acp,
    /// A coding agent that regreen knows by name.
    Coding,
}

impl AgentKind {
    fn of(name: &str) -> Self {
        match name.split_once(':') {
            Some(("command", _)) => Self::Command,
            Some(("acp", _)) => Self::Acp,
            _ if name == "shell" => Self::Shell,
            _ => Self::Coding,
        }
    }
}

/// The agent that a run works with. Serialized as it is displayed: `shell`,
/// `claude (permissions: skip)`, `command:sh agent.sh`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct AgentIdentity {
    kind: AgentKind,
    name: String,
    permissions: Option<Permissions>,
}

impl AgentIdentity {
    /// Creates the agent that `--agent` calls `name`, with what it may do without asking.
    #[must_use]
    pub fn new(name: impl Into<String>, permissions: Option<Permissions>) -> Self {
        let name = name.into();
        Self {
            kind: AgentKind::of(&name),
            name,
            permissions,
        }
    }

    /// Returns how regreen talks to this agent.
    #[must_use]
    pub fn kind(&self) -> AgentKind {
        self.kind
    }

    /// Returns its name as `--agent` takes it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns what it may do without asking; `None` if the agent has no permissions to set.
    #[must_use]
    pub fn permissions(&self) -> Option<Permissions> {
        self.permissions
    }

    /// Returns whether the agent reads prompts. The shell agent only runs the tasks' commands.
    #[must_use]
    pub fn reads_prompts(&self) -> bool {
        self.kind != AgentKind::Shell
    }
}

impl Default for AgentIdentity {
    fn default() -> Self {
        Self::new("", None)
    }
}

impl fmt::Display for AgentIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        match self.permissions {
            Some(permissions) => write!(f, " (permissions: {permissions})"),
            None => Ok(()),
        }
    }
}

impl From<String> for AgentIdentity {
    fn from(text: String) -> Self {
        // A command line may contain anything, so don't look for permissions in it.
        let has_permissions = AgentKind::of(&text) != AgentKind::Command;
        let found = Permissions::ALL.into_iter().find_map(|permissions| {
            let name = text.strip_suffix(&format!(" (permissions: {permissions})"))?;
            Some(Self::new(name, Some(permissions)))
        });
        found
            .filter(|_| has_permissions)
            .unwrap_or_else(|| Self::new(text, None))
    }
}

impl From<AgentIdentity> for String {
    fn from(agent: AgentIdentity) -> Self {
        agent.to_string()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, kind: AgentKind, name: &str, permissions: Option<Permissions>) {
        let json = serde_json::to_string(text).unwrap();
        let agent: AgentIdentity = serde_json::from_str(&json).unwrap();
        assert_eq!((agent.kind(), agent.name()), (kind, name));
        assert_eq!(agent.permissions(), permissions);
        assert_eq!(serde_json::to_string(&agent).unwrap(), json);
    }

    #[test]
    fn the_text_of_older_journals_is_read_as_the_agent_it_names() {
        check("shell", AgentKind::Shell, "shell", None);
        check("sim", AgentKind::Coding, "sim", None);
        check(
            "claude (permissions: skip)",
            AgentKind::Coding,
            "claude",
            Some(Permissions::Skip),
        );
        check(
            "acp:gemini --acp (permissions: own)",
            AgentKind::Acp,
            "acp:gemini --acp",
            Some(Permissions::Own),
        );
        for command in ["command:sh x.sh", "command:echo (permissions: skip)"] {
            check(command, AgentKind::Command, command, None);
        }
    }

    #[test]
    fn only_commands_read_no_prompts() {
        assert!(!AgentIdentity::new("shell", None).reads_prompts());
        assert!(AgentIdentity::new("command:shell", None).reads_prompts());
        assert!(AgentIdentity::default().reads_prompts());
    }

    proptest! {
        #[test]
        fn any_text_is_written_as_it_was_read(text in "(acp:|command:)?\\PC{0,9}( \\(permissions: (skip|own)\\)){0,2}") {
            prop_assert_eq!(AgentIdentity::from(text.clone()).to_string(), text);
        }
    }
}
