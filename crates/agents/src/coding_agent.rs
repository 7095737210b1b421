use crate::{
    AgentOptions, Assignment, Decoder, Invocation, PromptChannel, StdinContent, claude, codex,
    gemini, opencode,
};

/// A coding agent that is called by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodingAgent {
    Claude,
    Codex,
    Gemini,
    Opencode,
}

/// All that has to be known of such an agent: how it is called, and how it is read.
#[derive(Debug)]
pub(crate) struct Adapter {
    /// As its program is called.
    pub(crate) name: &'static str,
    /// As people call it.
    pub(crate) title: &'static str,
    /// Its arguments. The prompt comes on its standard input.
    pub(crate) argv: fn(&AgentOptions, &Assignment<'_>) -> Vec<String>,
    pub(crate) decoder: fn(&Assignment<'_>) -> Box<dyn Decoder>,
    /// The flag that lets it do everything without asking.
    pub(crate) skips_with: &'static str,
    pub(crate) credentials: Credentials,
    pub(crate) abilities: Abilities,
}

/// Where it can be seen, without asking anybody, that somebody has logged in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credentials {
    pub variables: &'static [&'static str],
    /// In the home folder.
    pub files: &'static [&'static str],
}

impl CodingAgent {
    /// In the order in which `auto` looks for them.
    pub const ALL: [Self; 4] = [Self::Claude, Self::Codex, Self::Gemini, Self::Opencode];

    fn adapter(self) -> &'static Adapter {
        match self {
            Self::Claude => &claude::ADAPTER,
            Self::Codex => &codex::ADAPTER,
            Self::Gemini => &gemini::ADAPTER,
            Self::Opencode => &opencode::ADAPTER,
        }
    }

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }

    /// Its name, which is also its program.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.adapter().name
    }

    #[must_use]
    pub fn title(self) -> &'static str {
        self.adapter().title
    }

    #[must_use]
    pub fn skips_with(self) -> &'static str {
        self.adapter().skips_with
    }

    /// Whether it says what it has cost.
    #[must_use]
    pub fn tells_cost(self) -> bool {
        match self {
            Self::Claude | Self::Opencode => true,
            Self::Codex | Self::Gemini => false,
        }
    }

    #[must_use]
    pub fn credentials(self) -> Credentials {
        self.adapter().credentials
    }

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
        let own = (adapter.argv)(options, assignment);
        let mut environment = assignment.environment();
        environment.extend(options.environment.iter().cloned());
        Invocation {
            argv: std::iter::once(adapter.name.to_owned())
                .chain(own)
                .collect(),
            env_set: environment,
            env_remove: Vec::new(),
            stdin: StdinContent::Text(assignment.prompt.to_owned()),
            prompt_on: PromptChannel::Stdin,
        }
    }

    pub(crate) fn decoder(self, assignment: &Assignment<'_>) -> Box<dyn Decoder> {
        (self.adapter().decoder)(assignment)
    }
}

/// The name of a session goes into a command line: only what looks like one is a name.
pub(crate) fn is_session_id(id: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
    let has_size = (1..=200).contains(&id.len());
    has_size && !id.starts_with('-') && id.chars().all(is_plain)
}

/// What an agent lets us see, in the words of the documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// When the name of its session is known.
    pub session: &'static str,
    /// Whether a session can be gone on with.
    pub resume: &'static str,
    pub tools: &'static str,
    /// Whether a command that failed is told as one.
    pub failed_commands: &'static str,
    pub files: &'static str,
    pub tokens: &'static str,
    pub cost: &'static str,
    /// How it tells that its service refuses it.
    pub errors: &'static str,
    /// What shows that it has finished.
    pub end: &'static str,
}

impl Abilities {
    /// What is told of each agent, in order.
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
