mod escaping;
mod public_event;

use std::io::Write;

use regreen_model::{Event, OutlineRow, Timestamp};
use serde::Serialize;

use self::public_event::PublicEvent;
use crate::lines::Output;
use crate::reporter::Reporter;
use crate::summary::Summary;

/// Grows when a field or an event changes its meaning or goes away, not when one is added.
const VERSION: u8 = 1;

/// Writes one JSON object per line, for programs.
#[derive(Debug)]
pub struct JsonLines<W> {
    summary: Summary,
    /// The plan differs from the one that was last written.
    plan_is_new: bool,
    output: Output<W>,
}

/// The fields of every line.
#[derive(Serialize)]
struct Envelope<'e> {
    v: u8,
    at: String,
    run: &'e str,
    #[serde(flatten)]
    event: PublicEvent<'e>,
}

impl<W: Write> JsonLines<W> {
    /// Makes a reporter that writes to this.
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
            run: &self.summary.totals().run,
            event,
        });
        // Nothing in an event can fail to become JSON: all its keys are text.
        if let Ok(line) = line {
            self.output.write(&format!("{line}\n"));
        }
    }

    /// The plan comes with the time of what happens next, before it; after the start of the run.
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
        // Every line names its run, and only its start tells which one that is.
        let is_start = matches!(event, Event::RunStarted { .. });
        if !is_start {
            self.write_plan(now);
        }
        self.summary.event(now, event);
        let public = PublicEvent::of(event, self.summary.totals(), || self.summary.figures());
        if let Some(public) = public {
            self.write(now, public);
        }
        if is_start {
            self.write_plan(now);
        }
    }

    fn finish(&mut self, _now: Timestamp) {
        self.output.flush();
    }
}
