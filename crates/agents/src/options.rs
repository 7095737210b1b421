use std::fmt;

/// What the user, and only the user, says about how an agent is called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub permissions: Permissions,
    /// The model to work with; the agent's own choice if not said.
    pub model: Option<String>,
    /// More arguments, after regreen's own.
    pub arguments: Vec<String>,
    /// More environment.
    pub environment: Vec<(String, String)>,
}

/// Whether an agent that works alone may do everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Permissions {
    /// It is told not to ask: nobody is there to answer.
    #[default]
    Skip,
    /// What its own configuration allows, and nothing else.
    Own,
}

impl Permissions {
    pub const ALL: [Self; 2] = [Self::Skip, Self::Own];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Skip => "skip",
            Self::Own => "own",
        }
    }
}

impl fmt::Display for Permissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
