//! What only a person can decide.

use regreen_model::{
    AnswerKind, Event, PersonAnswer, PersonChoice, PlainLine, PlannedRepair, RunOutcome,
};

use super::turn::Turn;
use super::{choosing, ending, healing, picking};
use crate::command::{Command, Question};
use crate::state::{Phase, TaskState};

const ERROR_CHARS: usize = 200;

/// Asks what is to become of the task. The question stays open, also where nobody can be asked
/// now: then the run ends with it, or goes on with other tasks.
pub(super) fn ask(turn: &mut Turn<'_>, why: &str, repair: Option<PlannedRepair>) {
    let Some(task) = turn.task() else { return };
    let (key, root) = (task.key().clone(), task.picked.root.clone());
    let question = question(turn, task, why, repair.clone());
    let reason = reason(&question);
    let why = why.to_owned();
    // It may take a person long to answer.
    turn.save_state();
    turn.ask(Command::AskPerson(Box::new(question)), |seq| {
        Event::PersonAsked {
            seq,
            task: key,
            why: why.clone(),
            repair,
        }
    });
    let (keep_going, asks) = (turn.state.config.keep_going, turn.state.config.asks);
    if keep_going {
        turn.withdraw();
        turn.emit(Event::TaskParked { task: root, why });
        picking::go_on(turn);
    } else if !asks {
        pause(turn, reason);
    }
}

/// Asks about a task that is next and that nobody has decided about; whether that is so.
pub(super) fn ask_again(turn: &mut Turn<'_>) -> bool {
    let phase = turn.task().map(|task| task.phase.clone());
    let Some(Phase::Asking { why, repair, .. }) = phase else {
        return false;
    };
    ask(turn, &why, repair);
    true
}

fn question(
    turn: &Turn<'_>,
    task: &TaskState,
    why: &str,
    repair: Option<PlannedRepair>,
) -> Question {
    // Nobody works at a group who could be told anything, and commands do not listen.
    let listens = !task.picked.is_group && turn.state.config.agent.reads_prompts();
    let can_be = |choice: &AnswerKind| match choice {
        AnswerKind::Context => listens,
        AnswerKind::Repair => repair.is_some(),
        _ => true,
    };
    Question {
        task: task.key().clone(),
        why: why.to_owned(),
        failure: task.failure.clone(),
        failed_attempt: task.failed_attempt,
        iterations: task.iterations,
        max_iterations: turn.state.config.limits.task_iterations,
        fixes: task.fixes.iter().map(|(fix, _)| fix.clone()).collect(),
        choices: AnswerKind::ALL.into_iter().filter(can_be).collect(),
        repair,
    }
}

/// Why the run ends, for whoever was not there.
fn reason(question: &Question) -> String {
    let Question { task, why, .. } = question;
    let failure = question.failure.as_ref();
    let error = PlainLine::first_of(failure.map_or("", |failure| &failure.error), ERROR_CHARS);
    match error.is_empty() {
        true => format!("task {task}: {why}"),
        false => format!("task {task}: {why}; it failed with: {error}"),
    }
}

pub(super) fn answered(turn: &mut Turn<'_>, answer: &PersonAnswer, choice: Option<&PersonChoice>) {
    let Some(task) = turn.task() else { return };
    let (key, question) = (task.key().clone(), question_of(turn, task));
    turn.emit(Event::PersonAnswered {
        task: key,
        answer: answer.clone(),
    });
    choosing::take_note(turn, choice.map_or(&[], std::slice::from_ref));
    match answer {
        // The file may have been edited, also where that was not the answer.
        PersonAnswer::Edit | PersonAnswer::Context { .. } | PersonAnswer::Skip => {
            picking::go_on(turn);
        }
        PersonAnswer::Repair => healing::ask_budget_again(turn),
        PersonAnswer::Fix => healing::ask_budget(turn, None),
        PersonAnswer::Stop => pause(turn, reason(&question)),
    }
}

/// Ends the run with the question open.
fn pause(turn: &mut Turn<'_>, why: String) {
    if !ending::stop_if_asked(turn) {
        ending::end(turn, RunOutcome::NeedsPerson { why });
    }
}

fn question_of(turn: &Turn<'_>, task: &TaskState) -> Question {
    let (why, repair) = match &task.phase {
        Phase::Asking { why, repair, .. } => (why.as_str(), repair.clone()),
        _ => ("", None),
    };
    question(turn, task, why, repair)
}
