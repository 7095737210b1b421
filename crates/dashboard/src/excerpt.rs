//! The line that a failure is blamed on, with what stands around it.

use regreen_model::FailureRecord;
use regreen_overview::{AttemptRef, AttemptText, LogLine, LogPage, Machine, PageStart};

use crate::address;
use crate::html::Html;

/// How many lines an excerpt has.
const LINES: usize = 12;

/// Adds the blamed line from the output of the check or of the agent.
pub(crate) fn blamed(
    h: &mut Html,
    machine: &dyn Machine,
    attempt: &AttemptRef,
    failure: &FailureRecord,
) {
    let found = failure.diagnosis.as_ref();
    let text = found.and_then(|found| found.blocked_on.as_deref());
    let text = text.unwrap_or(failure.error.as_str());
    let places = [AttemptText::Verify, AttemptText::Log];
    let page = places.into_iter().find_map(|place| {
        let page = machine.text(attempt, place, Some(text), PageStart::Blamed, LINES);
        Some((place, page.ok().filter(|page| page.blamed.is_some())?))
    });
    let Some((place, page)) = page else { return };
    let to = format!("{}#blamed", address::text(attempt, place));
    h.el("figure", &[("class", "excerpt")], |h| {
        h.el("figcaption", &[], |h| {
            let line = page.blamed.unwrap_or_default();
            h.link(&to, &format!("line {line} of {}", page.total));
            h.text(match place {
                AttemptText::Verify => " of the output of Verify",
                _ => " of the output of the agent",
            });
        });
        lines(h, &page, "", |_| "line");
    });
}

/// Adds the lines of a page. The blamed one is marked.
pub(crate) fn lines(
    h: &mut Html,
    page: &LogPage,
    blamed_id: &'static str,
    class: impl Fn(&LogLine) -> &'static str,
) {
    // A box that scrolls must be reachable with the keyboard.
    let label = "Lines of the output";
    let pre = [
        ("class", "log"),
        ("tabindex", "0"),
        ("role", "region"),
        ("aria-label", label),
    ];
    h.el("div", &pre, |h| {
        for line in &page.lines {
            let is_blamed = page.blamed == Some(line.number);
            let class = if is_blamed {
                "line blamed"
            } else {
                class(line)
            };
            let attributes = [("class", class), ("id", blamed_id)];
            let with_id = is_blamed && !blamed_id.is_empty();
            let count = if with_id { 2 } else { 1 };
            h.el("div", attributes.get(..count).unwrap_or(&attributes), |h| {
                h.say("span", &[("class", "number")], &line.number.to_string());
                if is_blamed {
                    h.say("mark", &[], &line.text);
                } else {
                    h.say("code", &[], &line.text);
                }
            });
        }
    });
}
