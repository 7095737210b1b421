//! What `regreen ci` shows: a line per thing that happened, or JSON.

use regreen_reporters::{Status, StatusLine, Tone};
use regreen_runtime::{CiEnd, CiEvent, FailedCheck, GreenReport};
use serde_json::{Value, json};

use crate::output;
use crate::problem::Problem;

/// More names than this are counted only.
const NAMES: usize = 6;

#[derive(Debug)]
pub(super) struct CiView {
    is_json: bool,
}

impl CiView {
    pub(super) fn new(is_json: bool) -> Self {
        Self { is_json }
    }

    pub(super) fn event(&self, event: &CiEvent) {
        if self.is_json {
            print_json(&serde_json::to_value(event).unwrap_or_default());
        } else if let CiEvent::Notice { text } = event {
            output::note(&output::printable_line(text));
        } else {
            // If the reader is gone, it has read enough.
            let _ = output::print_lines(&[line_of(event)]);
        }
    }

    pub(super) fn end(&self, end: &CiEnd) -> Result<(), Problem> {
        if self.is_json {
            print_json(&json_of(end));
            return Ok(());
        }
        output::print_lines(&end_lines(end))
    }
}

fn print_json(value: &Value) {
    let _ = output::print(&(output::escaped(&value.to_string()) + "\n"));
}

fn line_of(event: &CiEvent) -> StatusLine {
    match event {
        CiEvent::Pushed { branch, commit } => {
            StatusLine::labelled("PUSH", shown(branch)).trailing(commit.clone())
        }
        CiEvent::PullRequest {
            number,
            url,
            is_new,
        } => {
            let opened = if *is_new { "opened " } else { "" };
            StatusLine::labelled("PR", shown(&format!("{opened}#{number} {url}")))
        }
        CiEvent::Waiting {
            commit,
            pending,
            missing,
        } => StatusLine::new(Status::Wait, shown(&waiting(pending, missing)))
            .trailing(commit.clone()),
        CiEvent::Failed(failed) => failed_line(failed),
        CiEvent::Rerun { checks } => StatusLine::new(
            Status::Retry,
            shown(&format!("running again: {}", listed(checks))),
        ),
        CiEvent::Flaky { check } => StatusLine::new(
            Status::Warn,
            shown(&format!("{check} is flaky: it passed when it ran again")),
        ),
        CiEvent::FixAdded { task, title } => {
            StatusLine::new(Status::Fix, shown(&format!("{task} added: {title}")))
        }
        CiEvent::Merged { base } => StatusLine::labelled("MERGE", shown(base)),
        CiEvent::Notice { text } => StatusLine::new(Status::Warn, shown(text)),
    }
}

fn waiting(pending: &[String], missing: &[String]) -> String {
    let parts = [("running", pending), ("not reported yet", missing)];
    let parts = parts.into_iter().filter(|(_, names)| !names.is_empty());
    let parts: Vec<String> = parts
        .map(|(words, names)| format!("{} {words}: {}", names.len(), listed(names)))
        .collect();
    if parts.is_empty() {
        "for checks that may appear late".to_owned()
    } else {
        parts.join(" · ")
    }
}

fn failed_line(failed: &FailedCheck) -> StatusLine {
    let mut head = format!("{} {}", failed.check, failed.conclusion);
    for part in [&failed.kind, &failed.place].into_iter().flatten() {
        head.push_str(" · ");
        head.push_str(part);
    }
    let step = failed.step.as_ref().map(|step| format!("step: {step}"));
    let log = failed.log.as_ref().map(|log| match failed.line {
        Some(line) => format!("log: {log}, line {line}"),
        None => format!("log: {log}"),
    });
    StatusLine::new(Status::Fail, shown(&head))
        .detail(shown(step.as_deref().unwrap_or_default()))
        .wrapped_detail(shown(failed.blocker.as_deref().unwrap_or_default()))
        .detail(shown(log.as_deref().unwrap_or_default()))
}

fn end_lines(end: &CiEnd) -> Vec<StatusLine> {
    match end {
        CiEnd::Green(report) => vec![green_line(report)],
        CiEnd::NeedsPerson { reasons, help } => {
            let mut lines: Vec<StatusLine> = reasons
                .iter()
                .map(|reason| StatusLine::new(Status::Ask, shown(reason)).wrapped())
                .collect();
            lines.push(StatusLine::labelled("Next", shown(help)).wrapped());
            lines
        }
        CiEnd::OutOfCycles { cycles } => vec![
            StatusLine::new(
                Status::End,
                format!("not green after {cycles} fixes, which is the limit"),
            )
            .toned(Tone::Bad)
            .detail("--max-cycles N allows more"),
        ],
        CiEnd::TryLater { why } => vec![
            StatusLine::new(Status::End, shown(why))
                .wrapped()
                .toned(Tone::Bad)
                .detail("run this command again later; it goes on from here"),
        ],
        CiEnd::FixFailed { task, .. } => vec![
            StatusLine::new(
                Status::End,
                format!("fix {task} did not pass, so nothing was pushed"),
            )
            .toned(Tone::Bad)
            .detail(format!("`regreen why {task}` shows more")),
        ],
        CiEnd::Stopped(_) => vec![
            StatusLine::new(Status::Stop, "stopped")
                .detail("run this command again; it goes on from here"),
        ],
    }
}

fn green_line(report: &GreenReport) -> StatusLine {
    let noun = if report.passed == 1 {
        "check"
    } else {
        "checks"
    };
    let head = format!("{} {noun} passed", report.passed);
    let mut line = StatusLine::new(Status::Pass, head).trailing(report.commit.clone());
    if report.fixes > 0 {
        line = line.detail(format!("fixes: {}", report.fixes));
    }
    if !report.flaky.is_empty() {
        line = line.detail(shown(&format!(
            "passed only when run again: {}",
            listed(&report.flaky)
        )));
    }
    if !report.without_result.is_empty() {
        let names = listed(&report.without_result);
        line = line.detail(shown(&format!("without a result: {names}")));
    }
    if report.is_blocked {
        line = line.detail("GitHub wants more before a merge, such as a review");
    }
    line
}

fn json_of(end: &CiEnd) -> Value {
    let (outcome, mut more) = match end {
        CiEnd::Green(report) => ("green", serde_json::to_value(report).unwrap_or_default()),
        CiEnd::NeedsPerson { reasons, help } => {
            ("needs_person", json!({"reasons": reasons, "help": help}))
        }
        CiEnd::OutOfCycles { cycles } => ("out_of_cycles", json!({"cycles": cycles})),
        CiEnd::TryLater { why } => ("try_later", json!({"why": why})),
        CiEnd::FixFailed { task, code } => ("fix_failed", json!({"task": task, "code": code})),
        CiEnd::Stopped(signal) => ("stopped", json!({"signal": signal})),
    };
    more["event"] = "end".into();
    more["outcome"] = outcome.into();
    more["exit_code"] = super::exit_of(end).code().into();
    more
}

fn listed(names: &[String]) -> String {
    let shown = names
        .iter()
        .take(NAMES)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    match names.len().saturating_sub(NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn shown(text: &str) -> String {
    output::printable_line(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(count: usize) -> Vec<String> {
        (1..=count).map(|n| format!("job {n}")).collect()
    }

    #[test]
    fn a_wait_says_what_for() {
        assert_eq!(
            waiting(&names(2), &names(8)),
            "2 running: job 1, job 2 · 8 not reported yet: job 1, job 2, job 3, job 4, job 5, job 6 and 2 more"
        );
        assert_eq!(waiting(&[], &[]), "for checks that may appear late");
    }
}
