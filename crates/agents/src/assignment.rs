use regreen_model::PromptKind;

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
