use regreen_model::{Permissions, PromptKind};

/// One attempt, as an agent gets it.
#[derive(Clone, Copy, Debug)]
pub struct Assignment<'a> {
    /// Of the task, or of what is delegated.
    pub task_id: &'a str,
    pub title: &'a str,
    /// From 1.
    pub attempt: u32,
    pub spec_dir: &'a str,
    /// The workspace, where the agent is started.
    pub root: &'a str,
    /// The session to go on with, for an agent that has sessions.
    pub session: Option<&'a str>,
    pub prompt: &'a str,
    pub kind: PromptKind,
    /// The task's own commands, for the agent that runs nothing else.
    pub steps: &'a [String],
}

impl Assignment<'_> {
    /// What every agent finds in its environment.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        [
            ("REGREEN_TASK_ID", self.task_id.to_string()),
            ("REGREEN_SPEC_DIR", self.spec_dir.to_owned()),
            ("REGREEN_ATTEMPT", self.attempt.to_string()),
            ("REGREEN_PROMPT_KIND", self.kind.name().to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }
}

/// What the user, and only the user, says about how an agent is called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentOptions {
    pub permissions: Permissions,
    /// The model to work with; the agent's own choice if not said.
    pub model: Option<String>,
    /// More arguments, after regreen's own.
    pub arguments: Vec<String>,
    /// More environment.
    pub environment: Vec<(String, String)>,
}

/// How a program is called: everything a supervisor has to know to start it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// The program and its arguments; never a line for a shell to take apart.
    pub argv: Vec<String>,
    pub env_set: Vec<(String, String)>,
    pub env_remove: Vec<String>,
    pub stdin: StdinContent,
    pub prompt_on: PromptChannel,
}

/// What a program reads on its standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StdinContent {
    /// The end of input at once.
    Empty,
    /// This text, then the end of input.
    Text(String),
    /// Whatever its decoder answers, for as long as it runs.
    Protocol,
}

/// Where the prompt is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptChannel {
    Stdin,
    Argument,
    /// It takes no prompt.
    Nowhere,
}
