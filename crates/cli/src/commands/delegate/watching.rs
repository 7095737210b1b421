use std::time::{Duration, Instant};

use regreen_model::{Event, OutlineRow, Timestamp, visible_line};
use regreen_runtime::{Audience, DelegationObserver};

use crate::output;

/// What fits beside a prompt in any terminal.
const SHOWN_CHARS: usize = 76;
const SHOW_EVERY: Duration = Duration::from_millis(200);

/// Somebody who waits for an agent: sees what it does if that is a terminal, and in any case
/// what regreen does about failures.
#[derive(Debug, Default)]
pub(super) struct Watching {
    shown: Option<Instant>,
}

impl Watching {
    /// Nothing is left on the line.
    pub(super) fn finish(&mut self) {
        if self.shown.take().is_some() {
            output::replace_line("");
        }
    }
}

impl Audience for Watching {
    fn outline(&mut self, _rows: &[OutlineRow]) {}

    fn recall(&mut self, _at: Timestamp, _event: &Event) {}

    fn event(&mut self, _now: Timestamp, _event: &Event) {}

    fn activity(&mut self, line: &str) {
        let is_due = self.shown.is_none_or(|shown| shown.elapsed() >= SHOW_EVERY);
        if output::can_be_watched() && is_due {
            self.shown = Some(Instant::now());
            output::replace_line(&visible_line(line.trim(), SHOWN_CHARS));
        }
    }
}

impl DelegationObserver for Watching {
    fn milestone(&mut self, line: &str) {
        self.finish();
        output::say(&visible_line(line, SHOWN_CHARS * 4));
    }
}
