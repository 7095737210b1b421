//! People's decisions: answers to questions, and choices made outside of runs or at other terminals.

use regreen_model::{
    AnswerKind, Event, PersonAnswer, PersonChoice, PlainLine, PlannedRepair, RunOutcome,
    StopSignal, TaskKey, Timestamp,
};

use super::turn::Turn;
use super::{Decision, attempting, ending, healing, picking};
use crate::command::{Command, Question};
use crate::state::{Phase, State, TaskState};

const ERROR_CHARS: usize = 200;

/// Asks what to do about the task. If nobody can be asked now, the question stays open, and the run
/// ends or continues with other tasks.
pub(super) fn ask(turn: &mut Turn<'_>, why: &str, repair: Option<PlannedRepair>) {
    let Some(task) = turn.task() else { return };
    let (key, root) = (task.key().clone(), task.picked.root.clone());
    let question = question(turn, task, why, repair.clone());
    let reason = reason(&question);
    let why = why.to_owned();
    let is_answered = matches!(
        task.phase,
        Phase::Asking {
            is_answered: true,
            ..
        }
    );
    // A person may take long to answer.
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
    if is_answered {
        // The answer is there for the asking.
    } else if keep_going {
        turn.withdraw();
        park(turn, root, why);
    } else if !asks {
        pause(turn, reason);
    }
}

/// Leaves the question open, and continues with other tasks.
fn park(turn: &mut Turn<'_>, root: TaskKey, why: String) {
    turn.emit(Event::TaskParked { task: root, why });
    picking::continue_run(turn);
}

/// Waits for answers if nothing is left to do but tasks that wait for people. Returns whether it does.
pub(super) fn await_answers(turn: &mut Turn<'_>, state: &State, waiting: &[&TaskKey]) -> bool {
    let Some(limit) = turn.state.config.answer_wait_ms else {
        return false;
    };
    if waiting.is_empty() || turn.state.stops_after_task {
        return false;
    }
    let since = turn.state.awaiting_since.unwrap_or(turn.now);
    let until = (limit < u64::MAX).then(|| since.plus(limit));
    if until.is_some_and(|until| until <= turn.now) {
        return false;
    }
    let asks = |task: &&TaskState| matches!(task.phase, Phase::Asking { .. });
    let is_parked = |task: &&TaskState| waiting.contains(&&task.picked.root);
    let tasks = state.tasks.values().filter(asks).filter(is_parked);
    let tasks = tasks.map(|task| task.key().clone()).collect();
    turn.save_state();
    turn.ask(Command::AwaitAnswers { until }, |seq| {
        Event::AnswersAwaited {
            seq,
            tasks,
            since,
            until,
        }
    });
    true
}

/// Looks again: someone may have edited the plan, and the time may be up.
pub(super) fn awaited(state: &State, now: Timestamp) -> Decision {
    let mut turn = Turn::about_run(state, now);
    if state.stops_after_task {
        let signal = StopSignal::AfterTask;
        ending::end(&mut turn, RunOutcome::Stopped { signal });
    } else {
        picking::continue_run(&mut turn);
    }
    turn.decision()
}

/// Records what people have decided at other terminals. If that settles the pending command, or may make another
/// task the next one, the plan is read again.
pub(super) fn decided(
    state: &State,
    now: Timestamp,
    choices: &[PersonChoice],
    answered: &[TaskKey],
) -> Decision {
    let pending = state.tasks.values().find(|task| task.phase.seq().is_some());
    let mut turn = match pending {
        Some(task) => Turn::about(state, now, task.key()),
        None => Turn::about_run(state, now),
    };
    record_choices(&mut turn, choices);
    for task in answered {
        turn.look_at(task);
        let phase = turn.state.tasks.get(task).map(|task| &task.phase);
        if let Some(Phase::Asking { seq: None, .. }) = phase {
            turn.emit(Event::AnswerGiven { task: task.clone() });
        }
    }
    if turn.has_news() {
        continue_after(&mut turn, pending.is_some());
    }
    turn.decision()
}

fn continue_after(turn: &mut Turn<'_>, was_pending: bool) {
    let phase = turn.task().map_or(Phase::Open, |task| task.phase.clone());
    match phase {
        // Nothing is being performed, so the agent hasn't been asked yet, and needn't be.
        Phase::Attempting { attempt, .. } if is_decided(turn) => {
            let why = "someone decided about the task before the attempt began";
            attempting::ended(turn, attempt, &picking::interrupted(why));
        }
        phase if phase.seq().is_some() => {}
        _ if was_pending => picking::continue_run(turn),
        _ if turn.state.reading.is_some() || turn.state.awaiting.is_some() => turn.read_plan(),
        _ => {}
    }
}

/// Asks again about the next task if its question is still open. Returns whether it is.
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
    // No agent works on a group, and commands don't read prompts.
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

/// Returns the reason why the run ends, for a person who wasn't watching.
fn reason(question: &Question) -> String {
    let Question { task, why, .. } = question;
    let failure = question.failure.as_ref();
    let error = PlainLine::first_of(failure.map_or("", |failure| &failure.error), ERROR_CHARS);
    if error.is_empty() {
        format!("task {task}: {why}")
    } else {
        format!("task {task}: {why}; it failed with: {error}")
    }
}

pub(super) fn answered(turn: &mut Turn<'_>, answer: &PersonAnswer, choice: Option<&PersonChoice>) {
    let Some(task) = turn.task() else { return };
    let (key, question) = (task.key().clone(), question_of(turn, task));
    let root = task.picked.root.clone();
    turn.emit(Event::PersonAnswered {
        task: key,
        answer: answer.clone(),
    });
    record_choices(turn, choice.map_or(&[], std::slice::from_ref));
    match answer {
        // The person may have edited the file, whatever the answer was.
        PersonAnswer::Edit | PersonAnswer::Context { .. } | PersonAnswer::Skip => {
            picking::continue_run(turn);
        }
        PersonAnswer::Repair => healing::make_planned_fix(turn),
        PersonAnswer::Fix => healing::make_fix(turn, None),
        // The answer from another terminal was for another question.
        PersonAnswer::Stop if turn.state.config.keep_going => park(turn, root, question.why),
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

/// Records the choices that the run hasn't seen yet.
pub(super) fn record_choices(turn: &mut Turn<'_>, choices: &[PersonChoice]) {
    for choice in choices {
        if choice.number > turn.state.choices_seen {
            turn.look_at(&choice.task);
            turn.emit(Event::Chosen {
                choice: choice.clone(),
            });
        }
    }
}

/// Whether a person has decided about the task. The choice takes effect once nothing of the task is
/// pending.
pub(super) fn is_decided(turn: &Turn<'_>) -> bool {
    turn.task().is_some_and(|task| task.choice.is_some())
}
