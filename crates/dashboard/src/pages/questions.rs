//! Questions, with the forms that answer them.

use regreen_overview::{AnswerChoice, OpenQuestion, RunDetails, TaskView};
use regreen_reporters::{headline, kind_and_place};

use super::{Site, button, form, hidden, task_link};
use crate::html::Html;
use crate::words;

/// Adds all open questions of a run.
pub(super) fn questions(h: &mut Html, site: &Site<'_>, run: &RunDetails) {
    let asked: Vec<_> = open(run).collect();
    if asked.is_empty() {
        return;
    }
    h.el("section", &[("aria-labelledby", "questions")], |h| {
        h.say("h2", &[("id", "questions")], "Needs you");
        for (task, question) in asked {
            h.el("h3", &[], |h| task_link(h, &run.summary.key, &task.key));
            self::question(h, site, run, task, question);
        }
    });
}

/// Returns the questions that are open. Ticked tasks are settled.
fn open(run: &RunDetails) -> impl Iterator<Item = (&TaskView, &OpenQuestion)> {
    let asked = run.view.questions();
    asked.filter(|(task, _)| {
        let mut open = run.summary.questions.iter();
        open.any(|(key, _)| *key == task.key)
    })
}

/// Adds one question: why it is asked, and a button for each answer.
pub(super) fn question(
    h: &mut Html,
    site: &Site<'_>,
    run: &RunDetails,
    task: &TaskView,
    question: &OpenQuestion,
) {
    h.el("div", &[("class", "question")], |h| {
        h.say("p", &[], &question.why);
        if let Some(failure) = &task.failure {
            let kind = kind_and_place(failure).unwrap_or_default();
            h.say("p", &[("class", "facts")], &kind);
            h.say("p", &[("class", "quote")], &headline(failure));
        }
        if let Some(repair) = &question.repair {
            h.say("p", &[], &format!("Proposed repair: {}", repair.does));
        }
        let since = words::ago(site.machine.now(), question.asked);
        h.say("p", &[("class", "facts")], &format!("asked {since}"));
        for choice in AnswerChoice::ALL {
            if choice.is_possible(run, task, question) {
                answer(h, site, run, task, choice);
            }
        }
    });
}

fn answer(h: &mut Html, site: &Site<'_>, run: &RunDetails, task: &TaskView, choice: AnswerChoice) {
    form(h, site, &run.summary.key, Some(&task.key), |h| {
        hidden(h, "action", "answer");
        if choice == AnswerChoice::Context {
            let id = format!("context-{}-{}", task.key.id, task.key.occurrence);
            h.say("label", &[("for", &id)], "What the agent should know");
            let field = [
                ("id", id.as_str()),
                ("name", "text"),
                ("rows", "3"),
                ("required", ""),
            ];
            h.el("textarea", &field, |_| {});
        }
        h.el("p", &[("class", "choice")], |h| {
            button(h, "choice", choice.name(), choice.name());
            h.say("span", &[], choice.effect());
        });
    });
}
