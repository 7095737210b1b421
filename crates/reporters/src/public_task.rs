use regreen_model::TaskKey;
use serde::Serialize;

/// Which task is meant, for programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PublicTask {
    pub id: String,
    /// 0 for the first task with this id in the file.
    pub occurrence: u32,
    pub title: String,
}

impl PublicTask {
    pub(crate) fn all(keys: &[TaskKey]) -> Vec<Self> {
        keys.iter().map(Self::from).collect()
    }
}

impl From<&TaskKey> for PublicTask {
    fn from(key: &TaskKey) -> Self {
        Self {
            id: key.id.to_string(),
            occurrence: key.occurrence,
            title: key.title.clone(),
        }
    }
}
