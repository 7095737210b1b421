use regreen_model::{Event, OutlineRow, Timestamp};

/// Whoever watches a run. Nothing they do can hold it up or change it.
pub trait Audience {
    /// The plan as it is now; told each time it was read.
    fn outline(&mut self, rows: &[OutlineRow]);

    /// Something that happened before this process took the run over.
    fn recall(&mut self, at: Timestamp, event: &Event);

    /// Something happened, and is stored.
    fn event(&mut self, now: Timestamp, event: &Event);

    /// What the agent is doing right now, in its own words.
    fn activity(&mut self, line: &str);
}
