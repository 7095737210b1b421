use std::path::Path;

use regreen_engine::Question;
use regreen_model::PersonAnswer;

use crate::stop::Stop;

/// The person who runs regreen, if a run can ask one.
pub trait Person {
    /// What is to become of the task; `None` if somebody asked to stop before there was an
    /// answer.
    fn ask(&mut self, asked: &Asked<'_>, stop: &Stop) -> Option<PersonAnswer>;
}

/// A question, and where to look before it is answered.
#[derive(Clone, Debug)]
pub struct Asked<'a> {
    pub question: &'a Question,
    /// What the attempt printed that failed: from the workspace on.
    pub log: Option<String>,
    /// The file in which the task stands.
    pub tasks: &'a Path,
}
