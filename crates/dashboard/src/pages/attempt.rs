//! A text that an attempt left: its log, the log of its checks, its prompt or its diff.

use regreen_overview::{AttemptRef, AttemptText, LogLine, LogPage, PageStart, RunDetails};

use super::{Site, page, run_crumb, task};
use crate::html::Html;
use crate::{address, excerpt, words};

/// How many lines a page shows.
const LINES: usize = 500;

pub(crate) fn attempt_text(
    site: &Site<'_>,
    run: &RunDetails,
    attempt: &AttemptRef,
    text: AttemptText,
) -> String {
    let known = run.view.task(&attempt.task);
    let failure = known.and_then(|task| task.attempt(attempt.number)?.failure.as_ref());
    let found = failure.and_then(|failure| failure.diagnosis.as_ref());
    let blamed = found.and_then(|found| found.blocked_on.as_deref());
    let start = match (site.query.get("from"), text) {
        ("end", _) => PageStart::End,
        ("", AttemptText::Prompt | AttemptText::Diff) => PageStart::Line(1),
        (from, _) => from.parse().map_or(PageStart::Blamed, PageStart::Line),
    };
    let read = site.machine.text(attempt, text, blamed, start, LINES);
    let title = format!(
        "{}: attempt {} at {}",
        title(text),
        attempt.number,
        words::name(&attempt.task)
    );
    let task_page = address::task(&attempt.run, &attempt.task);
    let path = [
        run_crumb(&run.summary),
        (task_page, attempt.task.id.to_string()),
    ];
    page(site, &title, &path, |h| {
        h.el("p", &[("class", "links")], |h| task::links(h, attempt));
        match read {
            Ok(page) => lines(h, attempt, text, &page),
            Err(why) => h.say("p", &[("class", "empty")], &why),
        }
    })
}

fn title(text: AttemptText) -> &'static str {
    match text {
        AttemptText::Log => "Log",
        AttemptText::Verify => "Verify",
        AttemptText::Prompt => "Prompt",
        AttemptText::Diff => "Diff",
    }
}

fn lines(h: &mut Html, attempt: &AttemptRef, text: AttemptText, page: &LogPage) {
    if page.lines.is_empty() {
        h.say("p", &[("class", "empty")], "It is empty.");
        return;
    }
    turn(h, attempt, text, page);
    excerpt::lines(h, page, "blamed", |line| class(text, line));
    turn(h, attempt, text, page);
}

fn class(text: AttemptText, line: &LogLine) -> &'static str {
    let first = line.text.chars().next();
    match (text, first) {
        (AttemptText::Diff, Some('+')) => "line added",
        (AttemptText::Diff, Some('-')) => "line removed",
        (AttemptText::Diff, Some('@')) => "line place",
        _ => "line",
    }
}

fn turn(h: &mut Html, attempt: &AttemptRef, text: AttemptText, page: &LogPage) {
    let of = address::text(attempt, text);
    let first = page.lines.first().map_or(1, |line| line.number);
    let last = page.lines.last().map_or(1, |line| line.number);
    h.el("p", &[("class", "turn")], |h| {
        if first > 1 {
            let from = first.saturating_sub(LINES).max(1);
            h.link(&format!("{of}?from={from}"), "Earlier lines");
        }
        h.say(
            "span",
            &[],
            &format!("lines {first} to {last} of {}", page.total),
        );
        if page.blamed.is_some() {
            h.link(&format!("{of}#blamed"), "The blamed line");
        }
        if last < page.total {
            h.link(&format!("{of}?from={}", last + 1), "Later lines");
            h.link(&format!("{of}?from=end"), "The end");
        }
    });
}
