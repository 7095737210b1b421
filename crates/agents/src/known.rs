use crate::abilities::Abilities;
use crate::{
    Assignment, Decoder, Invocation, Options, PromptOn, StdinPlan, claude, codex, gemini, opencode,
};

/// A coding agent that is called by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
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
    pub(crate) argv: fn(&Options, &Assignment<'_>) -> Vec<String>,
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

impl Known {
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

    pub(crate) fn invocation(self, options: &Options, assignment: &Assignment<'_>) -> Invocation {
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
            stdin: StdinPlan::Text(assignment.prompt.to_owned()),
            prompt_on: PromptOn::Stdin,
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
