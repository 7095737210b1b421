use regreen_model::{Event, OutlineRow, Timestamp};

/// A view of a run, or something that counts along. It only looks: nothing it does, and no
/// trouble it has, changes the run.
pub trait Reporter {
    /// The plan as it is now: each time it was read, and when a run is taken over.
    fn outline(&mut self, rows: &[OutlineRow]);

    /// Something happened before this process took the run over. To be known, not shown.
    fn recall(&mut self, at: Timestamp, event: &Event);

    fn event(&mut self, now: Timestamp, event: &Event);

    /// What the agent is doing right now, in its own words. Comes as often as the agent
    /// speaks, so it must cost next to nothing.
    fn activity(&mut self, _line: &str) {}

    /// Nothing more will come.
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

/// A view that is chosen when the program runs, or that somebody else keeps.
macro_rules! as_its_target {
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

as_its_target!(Box<R>, &mut R);
