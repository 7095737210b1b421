//! All runs, and first what needs a person.

use regreen_model::Timestamp;
use regreen_overview::{RunState, RunSummary};

use super::{Site, badge, facts, page, task_link};
use crate::html::Html;
use crate::{address, words};

/// A run that ended longer ago needs no attention, whatever came of it.
const RECENT_MS: u64 = 7 * 24 * 3600 * 1000;

pub(crate) fn home(site: &Site<'_>) -> String {
    let (runs, now) = (site.machine.runs(), site.machine.now());
    page(site, "Runs", &[], |h| {
        attention(h, &runs, now);
        all(h, &runs, now);
    })
}

fn attention(h: &mut Html, runs: &[RunSummary], now: Timestamp) {
    let needs: Vec<&RunSummary> = runs.iter().filter(|run| needs_person(run, now)).collect();
    h.el("section", &[("aria-labelledby", "attention")], |h| {
        h.say("h2", &[("id", "attention")], "Needs you");
        if needs.is_empty() {
            h.say("p", &[("class", "empty")], "Nothing needs you.");
            return;
        }
        h.el("ul", &[("class", "cards")], |h| {
            needs.iter().for_each(|run| need(h, run, now));
        });
    });
}

fn needs_person(run: &RunSummary, now: Timestamp) -> bool {
    let is_stuck = match run.state {
        RunState::Killed | RunState::Failed | RunState::SetUp | RunState::TryLater => true,
        RunState::Running
        | RunState::Waiting
        | RunState::NeedsPerson
        | RunState::Stopped
        | RunState::Done => false,
    };
    let is_recent = now.since(run.last_sign) < RECENT_MS;
    !run.questions.is_empty() || (is_stuck && is_recent)
}

fn need(h: &mut Html, run: &RunSummary, now: Timestamp) {
    h.el("li", &[], |h| {
        for (task, why) in &run.questions {
            h.el("p", &[("class", "head")], |h| {
                badge(h, ("answer", "badge question"));
                task_link(h, &run.key, task);
            });
            h.say("p", &[], why);
        }
        if run.questions.is_empty() {
            head(h, run);
            h.say("p", &[], run.state.words());
        }
        let spec = format!("spec {}", run.spec);
        facts(
            h,
            &[spec, run.workspace.clone(), words::ago(now, run.last_sign)],
        );
    });
}

fn head(h: &mut Html, run: &RunSummary) {
    h.el("p", &[("class", "head")], |h| {
        badge(h, (words::state(run.state), words::tone(run.state)));
        h.link(&address::run(&run.key), &run.spec);
    });
}

fn all(h: &mut Html, runs: &[RunSummary], now: Timestamp) {
    h.el("section", &[("aria-labelledby", "all")], |h| {
        h.say("h2", &[("id", "all")], "All runs");
        if runs.is_empty() {
            let text = "No runs yet; `regreen run` starts one.";
            h.say("p", &[("class", "empty")], text);
            return;
        }
        h.el("ul", &[("class", "cards")], |h| {
            runs.iter().for_each(|run| card(h, run, now));
        });
    });
}

fn card(h: &mut Html, run: &RunSummary, now: Timestamp) {
    h.el("li", &[], |h| {
        head(h, run);
        progress(h, run);
        if let Some(doing) = run.doing(now) {
            h.say("p", &[], &doing);
        }
        let sign = format!("last activity {}", words::ago(now, run.last_sign));
        facts(h, &[run.workspace.clone(), sign, words::spent(&run.spent)]);
    });
}

/// Adds how much of the plan is ticked.
pub(super) fn progress(h: &mut Html, run: &RunSummary) {
    let (done, all) = run.done;
    let text = format!("{done} of {all} tasks done");
    h.el("p", &[("class", "progress")], |h| {
        let (value, max) = (done.to_string(), all.max(1).to_string());
        let label = format!("Progress of {}", run.spec);
        let bar = [
            ("value", value.as_str()),
            ("max", &max),
            ("aria-label", &label),
        ];
        h.say("progress", &bar, &text);
        h.text(" ");
        h.text(&text);
    });
}
