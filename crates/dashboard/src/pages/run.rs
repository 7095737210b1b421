//! One run: what it is doing, when it did what, what failed, and its tasks.

use regreen_model::{Span, Timestamp};
use regreen_overview::{RunDetails, TaskState, TaskView};
use regreen_reporters::{headline, kind_and_place};

use super::{Site, badge, button, facts, form, home, page, questions, run_crumb, task_link, tree};
use crate::html::Html;
use crate::{address, plot, words};

/// How many failures are listed; the tree has all.
const FAILURES: usize = 30;
/// How many stretches of the timeline are listed.
const STRETCHES: usize = 40;
/// How many warnings are shown.
const WARNINGS: usize = 100;

pub(crate) fn run(site: &Site<'_>, run: &RunDetails) -> String {
    let now = site.machine.now();
    let title = format!("Run of {}", run.summary.spec);
    page(site, &title, &[run_crumb(&run.summary)], |h| {
        summary(h, run, now);
        questions::questions(h, site, run);
        stop(h, site, run);
        failures(h, run);
        timeline(h, run, now);
        tree::tree(h, site, run);
        warnings(h, run);
        earlier(h, run, now);
    })
}

fn summary(h: &mut Html, run: &RunDetails, now: Timestamp) {
    let summary = &run.summary;
    h.el("p", &[("class", "head")], |h| {
        badge(h, (words::state(summary.state), words::tone(summary.state)));
        let doing = summary.doing(now);
        h.text(doing.as_deref().unwrap_or(summary.state.words()));
    });
    home::progress(h, summary);
    let waited = Span::from_millis(run.view.waited_ms);
    facts(
        h,
        &[
            summary.workspace.clone(),
            run.view.agent().to_string(),
            format!("started {}", words::moment(summary.started)),
            format!("last activity {}", words::ago(now, summary.last_sign)),
            words::spent(&run.view.spent),
            format!("{} tokens", run.view.spent.tokens()),
            format!("waited {waited}"),
        ],
    );
}

fn stop(h: &mut Html, site: &Site<'_>, run: &RunDetails) {
    if !run.summary.is_active() || site.form_token.is_none() {
        return;
    }
    h.el("details", &[("id", "stop")], |h| {
        h.say("summary", &[], "Stop this run");
        h.say("p", &[], "`regreen run` resumes it later.");
        form(h, site, &run.summary.key, None, |h| {
            button(
                h,
                "action",
                "stop-after-task",
                "Stop after the current task",
            );
            button(h, "action", "stop", "Stop now");
        });
    });
}

/// Adds the tasks that are failing, and then those that were healed.
fn failures(h: &mut Html, run: &RunDetails) {
    let failed = run.view.tasks.iter().filter(|task| task.failure.is_some());
    let (done, open): (Vec<_>, Vec<_>) = failed.partition(|task| task.done);
    let failed: Vec<&TaskView> = open.into_iter().chain(done.into_iter().rev()).collect();
    if failed.is_empty() {
        return;
    }
    h.el("section", &[("aria-labelledby", "failures")], |h| {
        h.say(
            "h2",
            &[("id", "failures")],
            &format!("What failed ({})", failed.len()),
        );
        h.el("ul", &[("class", "rows")], |h| {
            failed
                .iter()
                .take(FAILURES)
                .for_each(|task| failure(h, run, task));
        });
        if failed.len() > FAILURES {
            let to = format!("{}?show=failed#tasks", address::run(&run.summary.key));
            h.link(&to, "All tasks that failed");
        }
    });
}

fn failure(h: &mut Html, run: &RunDetails, task: &TaskView) {
    let Some(record) = &task.failure else { return };
    h.el("li", &[], |h| {
        h.el("p", &[("class", "head")], |h| {
            badge(h, words::task_state(TaskState::of(task)));
            task_link(h, &run.summary.key, &task.key);
        });
        h.say(
            "p",
            &[("class", "facts")],
            &kind_and_place(record).unwrap_or_default(),
        );
        h.say("p", &[("class", "quote")], &headline(record));
    });
}

fn timeline(h: &mut Html, run: &RunDetails, now: Timestamp) {
    let stretches = run.view.timeline.stretches();
    if stretches.is_empty() {
        return;
    }
    let is_active = run.summary.is_active();
    // What a dead process was doing ended with its last sign of life.
    let end = if is_active { now } else { run.view.last };
    h.el("section", &[("aria-labelledby", "timeline")], |h| {
        h.say("h2", &[("id", "timeline")], "Timeline");
        plot::timeline(h, stretches, end);
        h.el("details", &[("id", "stretches")], |h| {
            h.say("summary", &[], "The latest of it as a list");
            h.el("ul", &[("class", "rows")], |h| {
                for stretch in stretches.iter().rev().take(STRETCHES) {
                    let task = stretch.task.and_then(|at| run.view.tasks.get(at));
                    h.el("li", &[], |h| {
                        let took = Span::from_millis(stretch.millis(end));
                        let at = words::moment(stretch.from);
                        h.text(&format!("{at} · {} · {took} ", stretch.work.name()));
                        if let Some(task) = task {
                            task_link(h, &run.summary.key, &task.key);
                        }
                    });
                }
            });
        });
    });
}

fn warnings(h: &mut Html, run: &RunDetails) {
    let warnings = &run.view.warnings;
    if warnings.is_empty() {
        return;
    }
    h.el("details", &[("id", "warnings")], |h| {
        h.say("summary", &[], &format!("Warnings ({})", warnings.len()));
        h.el("ul", &[("class", "rows")], |h| {
            let newest = warnings.iter().rev().take(WARNINGS);
            newest.for_each(|warning| h.say("li", &[], warning));
        });
    });
}

fn earlier(h: &mut Html, run: &RunDetails, now: Timestamp) {
    if run.earlier.is_empty() {
        return;
    }
    h.el("details", &[("id", "earlier")], |h| {
        h.say("summary", &[], "Earlier runs");
        h.el("ul", &[("class", "rows")], |h| {
            for earlier in &run.earlier {
                let mut key = run.summary.key.clone();
                key.run.clone_from(&earlier.run);
                h.el("li", &[], |h| {
                    h.link(&address::run(&key), &words::moment(earlier.started));
                    h.text(&format!(" {}", words::ago(now, earlier.started)));
                });
            }
        });
    });
}
