/// One attempt of a delegation, as people look for it afterwards.
///
/// Category, kind and outcome are names here, not types: a file may hold what a later version
/// of regreen added, and that is still worth showing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delegation {
    /// The name of the delegation.
    pub id: String,
    /// Of the attempt, from 1.
    pub number: u32,
    /// When it began.
    pub at_ms: i64,
    pub agent: String,
    /// What the agent was told besides the prompt.
    pub prompt_kind: String,
    pub prompt: String,
    pub timeout_ms: u64,
    /// From the workspace on.
    pub log: String,
    /// `None` while it is at work.
    pub outcome: Option<String>,
    pub duration_ms: Option<u64>,
    pub category: Option<String>,
    pub kind: Option<String>,
    pub message: Option<String>,
    pub blocked_on: Option<String>,
    pub files: Vec<String>,
    /// What was done about its failure.
    pub tried: Option<String>,
    /// Whether the next attempt succeeded; `None` if nobody knows.
    pub helped: Option<bool>,
}
