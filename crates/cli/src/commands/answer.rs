//! `regreen answer`: answers what a run asks, from any terminal.

use std::path::Path;

use regreen_model::{ChoiceKind, PersonAnswer, TaskKey};
use regreen_overview::{Activity, AnswerChoice, OpenQuestion, TaskView};

use super::choices;
use crate::answers;
use crate::arguments::{Answer, OneTask};
use crate::exit::Exit;
use crate::known_runs::{KnownRun, known_runs};
use crate::output;
use crate::problem::Problem;
use crate::spec_context::{SpecContext, current_dir};

/// Finds the question, and answers it.
pub fn run(arguments: &Answer) -> Result<Exit, Problem> {
    let here = current_dir()?;
    let runs = known_runs();
    let (run, task, question) = find(&runs, &here, &arguments.question)?;
    let text = arguments.text.as_deref();
    output::print_text(&give(run, task, question, arguments.choice, text)?)?;
    Ok(Exit::Success)
}

/// Passes the answer to the run if it is at work, or keeps it for the next one. What can be decided
/// without a run is decided at once, like `skip`, `done` and `retry`. Returns what was done.
pub fn give(
    run: &KnownRun,
    task: &TaskView,
    question: &OpenQuestion,
    choice: AnswerChoice,
    text: Option<&str>,
) -> Result<String, Problem> {
    let answer = answer(run, task, question, choice, text)?;
    let is_active = run.holder.is_some();
    let choice = match choice {
        AnswerChoice::Retry | AnswerChoice::Edit => Some(ChoiceKind::Retry),
        AnswerChoice::Skip => Some(ChoiceKind::Skip),
        AnswerChoice::Done => Some(ChoiceKind::Done),
        _ => None,
    };
    match choice {
        Some(what) if !is_active || what == ChoiceKind::Done => decide(run, &task.key, what),
        _ => pass_on(run, task, question, answer),
    }
}

/// Finds the question about a task: in this workspace, or else in the only one that has it.
fn find<'r>(
    runs: &'r [KnownRun],
    here: &Path,
    id: &str,
) -> Result<(&'r KnownRun, &'r TaskView, &'r OpenQuestion), Problem> {
    let all = || {
        runs.iter().flat_map(|run| {
            let questions = run.questions().into_iter();
            questions.map(move |(task, question)| (run, task, question))
        })
    };
    let named: Vec<_> = all()
        .filter(|(_, task, _)| task.key.id.as_str() == id)
        .collect();
    let mut near = named
        .iter()
        .filter(|(run, ..)| here.starts_with(&run.paths.root));
    match (near.next(), near.next(), named.as_slice()) {
        (Some(found), None, _) | (None, None, [found]) => Ok(*found),
        (_, _, [_, ..]) => Err(Problem::ManyQuestions {
            id: id.to_owned(),
            known: named
                .iter()
                .map(|(run, ..)| output::path_from_home(&run.paths.spec.tasks))
                .collect(),
        }),
        _ => Err(Problem::NoSuchQuestion {
            id: id.to_owned(),
            known: all().map(|(_, task, _)| task.key.id.to_string()).collect(),
        }),
    }
}

/// Returns the answer for the run.
fn answer(
    run: &KnownRun,
    task: &TaskView,
    question: &OpenQuestion,
    choice: AnswerChoice,
    text: Option<&str>,
) -> Result<PersonAnswer, Problem> {
    let refused = |why: &str| Problem::NotThatAnswer {
        why: why.to_owned(),
    };
    let text = text.map(str::trim).filter(|text| !text.is_empty());
    if text.is_some() && choice != AnswerChoice::Context {
        return Err(refused("only `context` takes a text"));
    }
    let listens = !task.is_group && run.view.agent().reads_prompts();
    match choice {
        // The task starts over; what was edited is in the file.
        AnswerChoice::Retry | AnswerChoice::Edit | AnswerChoice::Done => Ok(PersonAnswer::Edit),
        AnswerChoice::Context if !listens => {
            Err(refused("the agent of this task does not read prompts"))
        }
        AnswerChoice::Context => text
            .map(|text| PersonAnswer::Context {
                text: text.to_owned(),
            })
            .ok_or_else(|| refused("`context` needs the text for the agent")),
        AnswerChoice::Repair if question.repair.is_none() => {
            Err(refused("no repair is proposed for this task"))
        }
        AnswerChoice::Repair => Ok(PersonAnswer::Repair),
        AnswerChoice::Fix => Ok(PersonAnswer::Fix),
        AnswerChoice::Skip => Ok(PersonAnswer::Skip),
        AnswerChoice::Stop => Ok(PersonAnswer::Stop),
    }
}

/// Decides as `regreen skip`, `done` and `retry` do in that workspace.
pub fn decide(run: &KnownRun, task: &TaskKey, what: ChoiceKind) -> Result<String, Problem> {
    let context = SpecContext {
        here: run.paths.root.clone(),
        places: run.paths.clone(),
    };
    let named = OneTask {
        task: task.id.to_string(),
        line: run.line_of(task),
        spec: Some(run.paths.spec.tasks.display().to_string()),
    };
    choices::decide(&context, &named, what)
}

fn pass_on(
    run: &KnownRun,
    task: &TaskView,
    question: &OpenQuestion,
    answer: PersonAnswer,
) -> Result<String, Problem> {
    let id = &task.key.id;
    let is_waiting = run.holder.is_some() && matches!(run.view.activity, Activity::Asking { .. });
    if answer == PersonAnswer::Stop && !is_waiting {
        return Ok(format!("the question about {id} stays open\n"));
    }
    let what = answer.kind().name();
    answers::give(&run.paths, task, question, answer).map_err(Problem::GiveAnswer)?;
    let root = output::path_from_home(&run.paths.root);
    Ok(if is_waiting {
        format!("answered {id}: {what}; the run in {root} continues\n")
    } else if run.holder.is_some() {
        format!(
            "answered {id}: {what}; the run in {root} takes it as soon as its current step has ended\n"
        )
    } else {
        format!("answered {id}: {what}; `regreen run` in {root} continues with it\n")
    })
}
