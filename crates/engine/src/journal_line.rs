use regreen_model::{Event, Timestamp};
use serde::{Deserialize, Serialize};

use crate::input::Input;

/// One step of a run, as a journal that is written to a file has it: one line of JSON each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalLine {
    /// In milliseconds since 1970.
    pub now: Timestamp,
    pub input: Input,
    pub events: Vec<Event>,
}
