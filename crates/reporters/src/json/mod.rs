mod escaping;
mod public_event;

use std::io::Write;

use regreen_model::{Event, OutlineRow, Timestamp};
use serde::Serialize;

use self::public_event::PublicEvent;
use crate::output::Output;
use crate::reporter::Reporter;
use crate::summary::Summary;

/// Grows when a field or an event changes its meaning or goes away; what is only added
/// leaves it as it is.
const VERSION: u8 = 1;

/// One JSON object per line, for programs.
#[derive(Debug)]
pub struct JsonLines<W> {
    summary: Summary,
    /// The plan differs from what was last written of it.
    plan_is_new: bool,
    output: Output<W>,
}

/// What every line has.
#[derive(Serialize)]
struct Envelope<'e> {
    v: u8,
    at: String,
    run: &'e str,
    #[serde(flatten)]
    event: PublicEvent<'e>,
}

impl<W: Write> JsonLines<W> {
    pub fn new(writer: W) -> Self {
        Self {
            summary: Summary::default(),
            plan_is_new: false,
            output: Output::new(writer),
        }
    }

    fn write(&mut self, now: Timestamp, event: PublicEvent<'_>) {
        let line = escaping::to_line(&Envelope {
            v: VERSION,
            at: now.iso8601(),
            run: &self.summary.tally().run,
            event,
        });
        // Nothing in an event can fail to become JSON: all its keys are text.
        if let Ok(line) = line {
            self.output.line(&line);
        }
    }

    /// The plan comes with the time of what happens next, before it.
    fn write_plan(&mut self, now: Timestamp) {
        if std::mem::take(&mut self.plan_is_new) {
            let plan = PublicEvent::plan(self.summary.rows());
            self.write(now, plan);
        }
    }
}

impl<W: Write> Reporter for JsonLines<W> {
    fn outline(&mut self, rows: &[OutlineRow]) {
        self.plan_is_new |= self.summary.replace_outline(rows);
    }

    fn recall(&mut self, at: Timestamp, event: &Event) {
        self.summary.recall(at, event);
    }

    fn event(&mut self, now: Timestamp, event: &Event) {
        self.write_plan(now);
        self.summary.event(now, event);
        let public = PublicEvent::of(event, self.summary.tally(), || self.summary.figures());
        if let Some(public) = public {
            self.write(now, public);
        }
    }

    fn finish(&mut self, _now: Timestamp) {
        self.output.flush();
    }
}
