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
