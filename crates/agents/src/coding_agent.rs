use regreen_model::Permissions;

use crate::{
    AgentOptions, Assignment, Decoder, Invocation, StdinContent, claude, codex, gemini, opencode,
};

/// A coding agent that regreen knows by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodingAgent {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// opencode.
    Opencode,
}

/// Everything that regreen knows about a coding agent: how to call it and how to read its output.
#[derive(Debug)]
pub(crate) struct Adapter {
    /// The name of its program.
    pub(crate) name: &'static str,
    /// Its name in texts for people.
    pub(crate) title: &'static str,
    pub(crate) flags: Flags,
    pub(crate) decoder: fn(&Assignment<'_>) -> Box<dyn Decoder>,
    pub(crate) credentials: Credentials,
    pub(crate) abilities: Abilities,
}

/// The arguments of a coding agent, which reads the prompt from its standard input.
#[derive(Debug)]
pub(crate) struct Flags {
    pub(crate) first: &'static [&'static str],
    /// Replaces `first` when a session is resumed.
    pub(crate) first_of_resumed: &'static [&'static str],
    /// Lets it do everything without asking.
    pub(crate) skip: &'static str,
    pub(crate) model: &'static str,
    /// The flag for the session; `None` if the session comes after all options.
    pub(crate) session: Option<&'static str>,
    pub(crate) last: &'static [&'static str],
}

impl Flags {
    fn arguments(&self, options: &AgentOptions, session: Option<&str>) -> Vec<String> {
        let is_resumed = session.is_some();
        let first = if is_resumed {
            self.first_of_resumed
        } else {
            self.first
        };
        let mut arguments = first.to_vec();
        if options.permissions == Permissions::Skip {
            arguments.push(self.skip);
        }
        if let Some(model) = &options.model {
            arguments.extend([self.model, model]);
        }
        if let (Some(flag), Some(session)) = (self.session, session) {
            arguments.extend([flag, session]);
        }
        arguments.extend(options.arguments.iter().map(String::as_str));
        arguments.extend(session.filter(|_| self.session.is_none()));
        arguments.extend(self.last);
        arguments.into_iter().map(str::to_owned).collect()
    }
}

/// The places where a login can be detected without asking the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credentials {
    /// Environment variables that hold a key or a token.
    pub variables: &'static [&'static str],
    /// Files in the home folder.
    pub files: &'static [&'static str],
    /// Environment variables that show that another login or another place for it is used.
    pub elsewhere: &'static [&'static str],
}

impl CodingAgent {
    /// All agents, in the order in which `auto` looks for them.
    pub const ALL: [Self; 4] = [Self::Claude, Self::Codex, Self::Gemini, Self::Opencode];

    fn adapter(self) -> &'static Adapter {
        match self {
            Self::Claude => &claude::ADAPTER,
            Self::Codex => &codex::ADAPTER,
            Self::Gemini => &gemini::ADAPTER,
            Self::Opencode => &opencode::ADAPTER,
        }
    }

    /// Returns the agent with that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|agent| agent.name() == name)
    }

    /// Returns its name, which is also the name of its program.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.adapter().name
    }

    /// Returns its name in texts for people.
    #[must_use]
    pub fn title(self) -> &'static str {
        self.adapter().title
    }

    /// Returns the flag that lets it do everything without asking.
    #[must_use]
    pub fn skip_flag(self) -> &'static str {
        self.adapter().flags.skip
    }

    /// Returns whether it reports its cost.
    #[must_use]
    pub fn reports_cost(self) -> bool {
        match self {
            Self::Claude | Self::Opencode => true,
            Self::Codex | Self::Gemini => false,
        }
    }

    /// Returns where its login can be detected.
    #[must_use]
    pub fn credentials(self) -> Credentials {
        self.adapter().credentials
    }

    /// Returns what regreen can observe of it.
    #[must_use]
    pub fn abilities(self) -> Abilities {
        self.adapter().abilities
    }

    pub(crate) fn invocation(
        self,
        options: &AgentOptions,
        assignment: &Assignment<'_>,
    ) -> Invocation {
        let adapter = self.adapter();
        let arguments = adapter.flags.arguments(options, assignment.session);
        let argv = [adapter.name.to_owned()].into_iter().chain(arguments);
        let stdin = StdinContent::Text(assignment.prompt.to_owned());
        Invocation::new(argv.collect(), stdin, assignment).with_environment(options)
    }

    pub(crate) fn decoder(self, assignment: &Assignment<'_>) -> Box<dyn Decoder> {
        (self.adapter().decoder)(assignment)
    }
}

/// Returns whether a session id is safe on a command line.
pub(crate) fn is_session_id(id: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
    let has_size = (1..=200).contains(&id.len());
    has_size && !id.starts_with('-') && id.chars().all(is_plain)
}

/// The information that regreen gets from an agent, in the words of the documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// When its session id becomes known.
    pub session: &'static str,
    /// Whether a session can be resumed.
    pub resume: &'static str,
    /// Its reports about tools.
    pub tools: &'static str,
    /// Whether it reports a failed command as failed.
    pub failed_commands: &'static str,
    /// Its reports about files.
    pub files: &'static str,
    /// Whether it reports its token usage.
    pub tokens: &'static str,
    /// Whether it reports its cost.
    pub cost: &'static str,
    /// How it reports being refused by its service.
    pub errors: &'static str,
    /// The sign that it has finished.
    pub end: &'static str,
}

impl Abilities {
    /// The column titles for [`Self::row`].
    pub const TITLES: [&str; 9] = [
        "session id",
        "resume",
        "tools",
        "failed commands",
        "files",
        "tokens",
        "cost",
        "errors",
        "end",
    ];

    /// Returns all values, in the order of [`Self::TITLES`].
    #[must_use]
    pub fn row(&self) -> [&'static str; 9] {
        [
            self.session,
            self.resume,
            self.tools,
            self.failed_commands,
            self.files,
            self.tokens,
            self.cost,
            self.errors,
            self.end,
        ]
    }
}
