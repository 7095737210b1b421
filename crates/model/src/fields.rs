use serde::{Deserialize, Serialize};

/// What a task's block says about it, as written there: inline text first, then the
/// lines below it without their common indent. Any of them may be missing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fields {
    #[serde(rename = "do")]
    pub action: Option<String>,
    pub files: Option<String>,
    pub done_when: Option<String>,
    pub verify: Option<String>,
    pub commit: Option<String>,
}
