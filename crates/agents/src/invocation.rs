use regreen_model::{Permissions, PromptKind};

/// The assignment of an agent for one attempt.
#[derive(Clone, Copy, Debug)]
pub struct Assignment<'a> {
    /// The id of the task or of the delegation.
    pub task_id: &'a str,
    /// The title of the task.
    pub title: &'a str,
    /// The number of the attempt, counted from 1.
    pub attempt: u32,
    /// The folder of the spec.
    pub spec_dir: &'a str,
    /// The workspace, in which the agent is started.
    pub root: &'a str,
    /// The session to resume, if the agent has sessions.
    pub session: Option<&'a str>,
    /// The prompt.
    pub prompt: &'a str,
    /// The kind of the prompt.
    pub kind: PromptKind,
    /// The task's own commands, for the shell agent.
    pub steps: &'a [String],
}

/// Options for an agent that only the user may set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentOptions {
    /// The permissions of the agent.
    pub permissions: Permissions,
    /// The model; if not set, the agent chooses.
    pub model: Option<String>,
    /// Arguments after regreen's own.
    pub arguments: Vec<String>,
    /// Environment variables besides regreen's own.
    pub environment: Vec<(String, String)>,
}

/// How to start a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// The program and its arguments, without a shell in between.
    pub argv: Vec<String>,
    /// Environment variables to set.
    pub env_set: Vec<(String, String)>,
    /// The standard input of the program.
    pub stdin: StdinContent,
}

impl Invocation {
    /// Creates an invocation with the environment that every agent gets.
    pub(crate) fn new(argv: Vec<String>, stdin: StdinContent, assignment: &Assignment<'_>) -> Self {
        let environment = [
            ("REGREEN_TASK_ID", assignment.task_id.to_owned()),
            ("REGREEN_SPEC_DIR", assignment.spec_dir.to_owned()),
            ("REGREEN_ATTEMPT", assignment.attempt.to_string()),
            ("REGREEN_PROMPT_KIND", assignment.kind.name().to_owned()),
        ];
        Self {
            argv,
            env_set: environment
                .map(|(name, value)| (name.to_owned(), value))
                .into(),
            stdin,
        }
    }

    /// Adds the user's environment variables.
    pub(crate) fn with_environment(mut self, options: &AgentOptions) -> Self {
        self.env_set.extend(options.environment.iter().cloned());
        self
    }
}

/// The standard input of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StdinContent {
    /// End of input at once.
    Empty,
    /// This text, then end of input.
    Text(String),
    /// Whatever its decoder answers, for as long as it runs.
    Protocol,
}
