use thiserror::Error;

/// Why something cannot be the value of a setting, and what can.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{problem}; {way_out}")]
pub struct BadValue {
    pub problem: String,
    pub way_out: String,
}

impl BadValue {
    pub fn new(problem: impl Into<String>, way_out: impl Into<String>) -> Self {
        Self {
            problem: problem.into(),
            way_out: way_out.into(),
        }
    }
}
