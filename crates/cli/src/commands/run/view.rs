//! What a run looks like: lines, JSON, or a live view on a terminal.

use std::io::{self, Write as _};

use regreen_model::{Event, OutlineRow, Timestamp};
use regreen_reporters::{JsonLines, Lines, Live, Palette, Reporter, Summary, Term};
use regreen_runtime::RunObserver;

use crate::output;

pub fn palette(has_colours: bool) -> Palette {
    match has_colours {
        true => Palette::Coloured,
        false => Palette::Plain,
    }
}

/// Shows a run while it goes on, and sums it up in the end.
pub struct View {
    reporter: Box<dyn Reporter>,
    summary: Summary,
    /// The summary is told in words.
    speaks: bool,
}

impl View {
    pub fn choose(json: bool) -> Self {
        let palette = palette(output::has_colours());
        let reporter: Box<dyn Reporter> = if json {
            Box::new(JsonLines::new(io::stdout()))
        } else if output::is_live() {
            Box::new(Live::new(Term::buffered_stdout(), palette))
        } else {
            Box::new(Lines::new(io::stdout(), palette))
        };
        Self {
            reporter,
            summary: Summary::default(),
            speaks: !json,
        }
    }

    /// Sums it up, and returns that as JSON.
    pub fn finish(mut self, now: Timestamp) -> String {
        self.reporter.finish(now);
        if self.speaks {
            self.speak();
        }
        serde_json::to_string(&self.summary).unwrap_or_default() + "\n"
    }

    /// The figures are the result; that it went wrong is for whoever looks for errors.
    fn speak(&self) {
        let Some(headline) = self.summary.headline() else {
            return;
        };
        let is_good = self.summary.figures().exit_code == Some(0);
        if is_good {
            let _ = writeln!(io::stdout(), "\n{headline}");
        } else {
            let _ = writeln!(io::stdout());
            let _ = writeln!(io::stderr(), "{headline}");
        }
        for line in self.summary.details() {
            let _ = writeln!(io::stdout(), "{line}");
        }
    }
}

impl RunObserver for View {
    fn outline(&mut self, rows: &[OutlineRow]) {
        self.reporter.outline(rows);
        self.summary.outline(rows);
    }

    fn recall(&mut self, at: Timestamp, event: &Event) {
        self.reporter.recall(at, event);
        self.summary.recall(at, event);
    }

    fn event(&mut self, now: Timestamp, event: &Event) {
        self.reporter.event(now, event);
        self.summary.event(now, event);
    }

    fn activity(&mut self, line: &str) {
        self.reporter.activity(line);
    }
}
