use regreen_model::{Event, Timestamp};

/// Whoever watches a run. Nothing they do can hold it up or change it.
pub trait Audience {
    /// Something happened, and is stored.
    fn event(&mut self, now: Timestamp, event: &Event);

    /// What the agent is doing right now, in its own words.
    fn activity(&mut self, line: &str);
}
