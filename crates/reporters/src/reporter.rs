use regreen_model::{Event, OutlineRow, Timestamp};

/// A view of a run. It only observes: nothing that it does, and no trouble that it has,
/// changes the run.
pub trait Reporter {
    /// Shows the plan as it is now: each time it is read, and when a run is taken over.
    fn outline(&mut self, rows: &[OutlineRow]);

    /// Takes note of an event from before this process took the run over, without showing it.
    fn recall(&mut self, at: Timestamp, event: &Event);

    /// Shows an event.
    fn event(&mut self, now: Timestamp, event: &Event);

    /// Shows what the agent does right now. Called as often as the agent prints something,
    /// so it must cost next to nothing.
    fn activity(&mut self, _line: &str) {}

    /// Ends the view: no more events follow.
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

    fn activity(&mut self, line: &str) {
        self.0.activity(line);
        self.1.activity(line);
    }

    fn finish(&mut self, now: Timestamp) {
        self.0.finish(now);
        self.1.finish(now);
    }
}

/// Implements [`Reporter`] for pointers to one.
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
