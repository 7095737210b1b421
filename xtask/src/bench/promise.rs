//! What a benchmark promises, and what it measured.

use std::process::ExitCode;

/// A figure with its bar.
#[derive(Clone, Debug)]
pub(super) struct Promise {
    pub(super) what: &'static str,
    /// `None` if it can't be measured on this machine.
    pub(super) measured: Option<f64>,
    pub(super) bar: Bar,
}

/// Where a figure has to be.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bar {
    AtMost(f64),
    AtLeast(f64),
}

/// What a benchmark has found out.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) promises: Vec<Promise>,
    /// What is worth knowing beside them: rounds, and the figures of others.
    pub(super) facts: Vec<(String, String)>,
}

impl Promise {
    pub(super) fn at_most(what: &'static str, measured: impl Into<Option<f64>>, most: f64) -> Self {
        let measured = measured.into();
        let bar = Bar::AtMost(most);
        Self {
            what,
            measured,
            bar,
        }
    }

    pub(super) fn at_least(what: &'static str, measured: f64, least: f64) -> Self {
        let (measured, bar) = (Some(measured), Bar::AtLeast(least));
        Self {
            what,
            measured,
            bar,
        }
    }

    fn is_kept(&self) -> bool {
        self.measured.is_none_or(|measured| match self.bar {
            Bar::AtMost(most) => measured <= most,
            Bar::AtLeast(least) => measured >= least,
        })
    }

    fn shown(&self) -> String {
        let measured = self.measured.map(|number| format!("{number:.1}"));
        measured.unwrap_or_else(|| "unknown".to_owned())
    }

    fn bar_shown(&self) -> String {
        match self.bar {
            Bar::AtMost(most) => format!("≤ {most:.1}"),
            Bar::AtLeast(least) => format!("≥ {least:.1}"),
        }
    }
}

impl Report {
    pub(super) fn fact(&mut self, what: impl Into<String>, found: impl Into<String>) {
        self.facts.push((what.into(), found.into()));
    }

    /// Returns the facts and promises, with a table of the latter.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for (what, found) in &self.facts {
            text += &format!("{what}: {found}\n");
        }
        text += &format!("\n{:<52} {:>9} {:>9}\n", "", "measured", "promised");
        for promise in &self.promises {
            let verdict = if promise.is_kept() { "" } else { "  NOT KEPT" };
            let (shown, bar) = (promise.shown(), promise.bar_shown());
            text += &format!("{:<52} {shown:>9} {bar:>9}{verdict}\n", promise.what);
        }
        text
    }

    /// Returns the same as a table of a page.
    pub(super) fn table(&self) -> String {
        let mut table = "| | measured | bar |\n|---|---|---|\n".to_owned();
        for promise in &self.promises {
            let verdict = if promise.is_kept() { "" } else { ", missed" };
            let (shown, bar) = (promise.shown(), promise.bar_shown());
            table += &format!("| {} | {shown} | {bar}{verdict} |\n", promise.what);
        }
        for (what, found) in &self.facts {
            table += &format!("| {what} | {found} | |\n");
        }
        table
    }

    pub(super) fn are_all_kept(&self) -> bool {
        self.promises.iter().all(Promise::is_kept)
    }

    /// Prints everything; the exit code says whether all promises are kept.
    pub(super) fn print(&self) -> ExitCode {
        print!("{}", self.text());
        match self.are_all_kept() {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_is_kept_up_to_its_bar() {
        assert!(Promise::at_most("", 2.0, 2.0).is_kept());
        assert!(!Promise::at_most("", 2.1, 2.0).is_kept());
        assert!(Promise::at_most("", None, 2.0).is_kept());
        assert!(Promise::at_least("", 200.0, 200.0).is_kept());
        assert!(!Promise::at_least("", 199.0, 200.0).is_kept());
    }

    #[test]
    fn a_table_names_what_is_missed() {
        let mut report = Report {
            promises: vec![Promise::at_most("ms each", 3.0, 2.0)],
            ..Report::default()
        };
        report.fact("bare loop", "1.0, 1.1");
        assert!(!report.are_all_kept());
        assert!(
            report
                .table()
                .contains("| ms each | 3.0 | ≤ 2.0, missed |\n")
        );
        assert!(report.table().ends_with("| bare loop | 1.0, 1.1 | |\n"));
        assert!(report.text().contains("NOT KEPT"));
    }
}
