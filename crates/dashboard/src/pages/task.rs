//! One task: its attempts, why they failed, what was tried, and the fixes.

use regreen_model::{FailureRecord, Span, TaskFailure, TaskKey};
use regreen_overview::{AttemptRef, AttemptText, AttemptView, RunDetails, TaskState, TaskView};
use regreen_reporters::headline;

use super::{Site, badge, button, facts, form, page, questions, run_crumb, task_link};
use crate::html::Html;
use crate::{address, excerpt, words};

/// How many attempts are shown.
const ATTEMPTS: usize = 20;
/// For how many of them the blamed line is looked up.
const EXCERPTS: usize = 5;

pub(crate) fn task(site: &Site<'_>, run: &RunDetails, key: &TaskKey) -> Option<String> {
    let unknown;
    let task = match run.view.task(key) {
        Some(task) => task,
        None => {
            unknown = TaskView::untouched(key);
            &unknown
        }
    };
    let crumb = (address::task(&run.summary.key, key), key.id.to_string());
    let path = [run_crumb(&run.summary), crumb];
    Some(page(site, &words::name(key), &path, |h| {
        state(h, run, task);
        lineage(h, run, task);
        if let Some(question) = &task.question {
            questions::question(h, site, run, task, question);
        }
        attempts(h, site, run, task);
        decide(h, site, run, task);
    }))
}

fn state(h: &mut Html, run: &RunDetails, task: &TaskView) {
    let row = run.rows.iter().find(|row| row.key == task.key);
    let is_ticked = row.is_some_and(|row| row.done) && !task.done;
    h.el("p", &[("class", "head")], |h| {
        if is_ticked {
            badge(h, words::task_state(TaskState::Done));
        } else {
            badge(h, words::task_state(TaskState::of(task)));
        }
        let marks: Vec<String> = task.marks.iter().map(ToString::to_string).collect();
        h.text(&marks.join(" · "));
    });
    let commit = task.commit.as_ref().map(|hash| format!("commit {hash}"));
    facts(
        h,
        &[
            match task.attempts {
                1 => "1 attempt".to_owned(),
                many => format!("{many} attempts"),
            },
            words::spent(&task.spent),
            commit.unwrap_or_default(),
        ],
    );
}

/// Adds what the task fixes, and what fixes it.
fn lineage(h: &mut Html, run: &RunDetails, task: &TaskView) {
    if task.is_fix() {
        h.el("p", &[], |h| {
            h.text("Fixes ");
            task_link(h, &run.summary.key, &task.root);
        });
    }
    if task.fixes.is_empty() {
        return;
    }
    h.el("section", &[("aria-labelledby", "fixes")], |h| {
        h.say("h2", &[("id", "fixes")], "Fixes");
        h.el("ol", &[("class", "rows")], |h| {
            for fix in &task.fixes {
                let known = run.view.tasks.iter();
                let found = known
                    .filter(|one| one.key.id == fix.id)
                    .find(|one| one.is_fix());
                h.el("li", &[], |h| {
                    match found {
                        Some(found) => {
                            badge(h, words::task_state(TaskState::of(found)));
                            task_link(h, &run.summary.key, &found.key);
                        }
                        None => h.text(fix.id.as_str()),
                    }
                    if let Some(cause) = &fix.cause {
                        let cause = format!("because: {}", headline(cause));
                        h.say("p", &[("class", "quote")], &cause);
                    }
                });
            }
        });
    });
}

fn attempts(h: &mut Html, site: &Site<'_>, run: &RunDetails, task: &TaskView) {
    h.el("section", &[("aria-labelledby", "attempts")], |h| {
        h.say("h2", &[("id", "attempts")], "Attempts");
        if task.history.is_empty() {
            h.say("p", &[("class", "empty")], "None in this run.");
        }
        let newest = task.history.iter().rev().take(ATTEMPTS);
        for (at, attempt) in newest.enumerate() {
            let reference = AttemptRef {
                run: run.summary.key.clone(),
                task: task.key.clone(),
                number: attempt.number,
            };
            h.el("article", &[("class", "attempt")], |h| {
                self::attempt(h, attempt, &reference);
                if let Some(failure) = &attempt.failure {
                    self::failure(h, failure);
                    if at < EXCERPTS {
                        excerpt::blamed(h, site.machine, &reference, failure);
                    }
                    response(h, attempt);
                }
            });
        }
    });
}

fn attempt(h: &mut Html, attempt: &AttemptView, reference: &AttemptRef) {
    h.say("h3", &[], &format!("Attempt {}", attempt.number));
    let took = attempt
        .took_ms
        .map(|millis| Span::from_millis(millis).to_string());
    let files = match attempt.files_changed {
        0 => String::new(),
        1 => "1 file changed".to_owned(),
        many => format!("{many} files changed"),
    };
    facts(
        h,
        &[
            words::moment(attempt.started),
            words::prompt(attempt.prompt).to_owned(),
            took.unwrap_or_default(),
            files,
        ],
    );
    h.el("p", &[("class", "links")], |h| links(h, reference));
}

/// Adds links to everything that an attempt left.
pub(super) fn links(h: &mut Html, attempt: &AttemptRef) {
    let texts = [
        (AttemptText::Log, "Log"),
        (AttemptText::Verify, "Verify"),
        (AttemptText::Prompt, "Prompt"),
        (AttemptText::Diff, "Diff"),
    ];
    for (text, name) in texts {
        let label = format!("{name} of attempt {}", attempt.number);
        let to = address::text(attempt, text);
        h.say("a", &[("href", to.as_str()), ("aria-label", &label)], name);
    }
}

fn failure(h: &mut Html, failure: &FailureRecord) {
    let found = failure.confident_diagnosis();
    if let Some(found) = found {
        h.el("dl", &[("class", "failure")], |h| {
            fact(h, "Category", &found.category.name().replace('_', " "));
            fact(h, "Kind", found.kind.words());
        });
    }
    h.say("p", &[("class", "quote")], &headline(failure));
    if failure.attempted_fix != TaskFailure::NO_ATTEMPTED_FIX && !failure.attempted_fix.is_empty() {
        h.say(
            "p",
            &[],
            &format!("The agent tried: {}", failure.attempted_fix),
        );
    }
    for advice in found.map(|found| found.advice()).unwrap_or_default() {
        h.say("p", &[], &format!("May help: {advice}"));
    }
}

fn fact(h: &mut Html, name: &str, value: &str) {
    h.el("div", &[], |h| {
        h.say("dt", &[], name);
        h.say("dd", &[], value);
    });
}

fn response(h: &mut Html, attempt: &AttemptView) {
    let Some(what) = &attempt.response.what else {
        return;
    };
    let (helped, class) = match attempt.response.helped {
        Some(true) => ("helped", "badge good"),
        Some(false) => ("did not help", "badge bad"),
        None => ("not known yet", "badge plain"),
    };
    h.el("p", &[("class", "head")], |h| {
        h.text(&format!("Tried next: {what}"));
        badge(h, (helped, class));
    });
}

/// Adds what a person can decide outside of questions.
fn decide(h: &mut Html, site: &Site<'_>, run: &RunDetails, task: &TaskView) {
    if site.form_token.is_none() {
        return;
    }
    h.el("details", &[("id", "decide")], |h| {
        h.say("summary", &[], "Decide about this task");
        if run.summary.is_active() {
            let text =
                "A run is at work here. Stop it first, or answer the question about the task.";
            h.say("p", &[], text);
            return;
        }
        form(h, site, &run.summary.key, Some(&task.key), |h| {
            for (value, effect) in [
                (
                    "retry",
                    "start over, with all its attempts, when the run goes on",
                ),
                ("skip", "leave it out until it is retried"),
                ("done", "mark it as done without verifying it"),
            ] {
                h.el("p", &[("class", "choice")], |h| {
                    button(h, "action", value, value);
                    h.say("span", &[], effect);
                });
            }
        });
    });
}
