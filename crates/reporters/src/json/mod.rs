mod escaping;
mod public_event;

use std::io::Write;

use regreen_model::{Event, OutlineRow, Timestamp};
use serde::Serialize;

use self::public_event::PublicEvent;
use crate::lines::Output;
use crate::reporter::Reporter;
use crate::summary::Summary;

/// Raised when a field or event changes meaning or is removed, not when one is added.
const VERSION: u8 = 1;

/// Writes one JSON object per line, for programs.
#[derive(Debug)]
pub struct JsonLines<W> {
    summary: Summary,
    /// The plan differs from the last one written.
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
    /// Creates a reporter that writes to `writer`.
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
        // An event always serializes, because all its keys are strings.
        if let Ok(line) = line {
            self.output.write(&format!("{line}\n"));
        }
    }

    /// Writes the plan with the time of the next event, before that event but after the start of
    /// the run.
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
        // Every line names its run, which is known only from its start.
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
