/// How a program is called: everything a supervisor has to know to start it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// The program and its arguments; never a line for a shell to take apart.
    pub argv: Vec<String>,
    pub env_set: Vec<(String, String)>,
    pub env_remove: Vec<String>,
    pub stdin: StdinPlan,
    pub prompt_on: PromptOn,
}

/// What a program reads on its standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StdinPlan {
    /// The end of input at once.
    Empty,
    /// This text, then the end of input.
    Text(String),
    /// Whatever its decoder answers, for as long as it runs.
    Protocol,
}

/// Where the prompt is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptOn {
    Stdin,
    Argument,
    /// It takes no prompt.
    Nowhere,
}
