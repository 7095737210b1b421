use serde::{Deserialize, Serialize};

/// Something in a file that was understood only in part, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// 1-based.
    pub line: usize,
    pub message: String,
}

impl Warning {
    #[must_use]
    pub fn new(line: usize, message: impl Into<String>) -> Self {
        Self {
            line,
            message: message.into(),
        }
    }
}
