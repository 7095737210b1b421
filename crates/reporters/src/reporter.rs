use regreen_model::{Event, OutlineRow, Timestamp};

/// A view of a run. It only observes: nothing it does, not even an error, affects the run.
pub trait Reporter {
    /// Shows the current plan: each time it is read, and when a run is resumed.
    fn outline(&mut self, rows: &[OutlineRow]);

    /// Notes an event from before this process resumed the run, without showing it.
    fn recall(&mut self, at: Timestamp, event: &Event);

    /// Shows an event.
    fn event(&mut self, now: Timestamp, event: &Event);

    /// Tells a view the time, if the events that it got are older.
    fn set_clock(&mut self, _now: Timestamp) {}

    /// Shows what the agent is doing right now. Called whenever the agent prints something, so it
    /// must be very cheap.
    fn activity(&mut self, _line: &str) {}

    /// Ends the view; no more events follow.
    fn finish(&mut self, now: Timestamp);
}

/// Two views of the same run, or a view and a summary.
impl<A: Reporter, B: Reporter> Reporter for (A, B) {
    fn outline(&mut self, rows: &[OutlineRow]) {
        self.0.outline(rows);
        self.1.outline(rows);
    }

    fn recall(&mut self, at: Timestamp, event: &Event) {
        self.0.recall(at, event);
        self.1.recall(at, event);
    }

    fn event(&mut self, now: Timestamp, event: &Event) {
        self.0.event(now, event);
        self.1.event(now, event);
    }

    fn set_clock(&mut self, now: Timestamp) {
        self.0.set_clock(now);
        self.1.set_clock(now);
    }

    fn activity(&mut self, line: &str) {
        self.0.activity(line);
        self.1.activity(line);
    }

    fn finish(&mut self, now: Timestamp) {
        self.0.finish(now);
        self.1.finish(now);
    }
}

/// Implements [`Reporter`] for pointers to a reporter.
macro_rules! report_through {
    ($($pointer:ty),*) => {$(
        impl<R: Reporter + ?Sized> Reporter for $pointer {
            fn outline(&mut self, rows: &[OutlineRow]) {
                (**self).outline(rows);
            }

            fn recall(&mut self, at: Timestamp, event: &Event) {
                (**self).recall(at, event);
            }

            fn event(&mut self, now: Timestamp, event: &Event) {
                (**self).event(now, event);
            }

            fn set_clock(&mut self, now: Timestamp) {
                (**self).set_clock(now);
            }

            fn activity(&mut self, line: &str) {
                (**self).activity(line);
            }

            fn finish(&mut self, now: Timestamp) {
                (**self).finish(now);
            }
        }
    )*};
}

report_through!(Box<R>, &mut R);
