use std::iter;

use regreen_documents::{InvalidState, RowId, StateDocument};
use regreen_engine::{Input, Phase, Question, State};
use regreen_model::{CommandSeq, PersonAnswer, PersonChoice, TaskKey, Timestamp};
use regreen_store::Store;
use regreen_workspace::{RealDisk, edit_file};

use super::state_file::ensure_state_file;
use crate::clock;
use crate::observer::{AnswerWait, OpenQuestion, Person, PersonQuestion, Reply};
use crate::performer::{PerformError, Performer};

/// How much of a person's text is kept.
const CONTEXT_BYTES: usize = 8 * 1024;

/// Asks the person. A choice that outlives the run is stored first, so that a crash does not lose
/// it. Returns `None` if someone has decided about a task at another terminal, which may settle the question.
pub(crate) fn ask(
    performer: &mut Performer,
    question: &Question,
    store: &mut Store,
    person: &mut dyn Person,
) -> Result<Option<(PersonAnswer, Option<PersonChoice>)>, PerformError> {
    let Some(answer) = ask_person(performer, question, person)? else {
        return Ok(None);
    };
    if answer == PersonAnswer::Edit {
        reset_budget(performer, &question.task)?;
    }
    let choice = match answer.choice() {
        None => None,
        Some(what) => {
            let (task, at) = (question.task.clone(), clock::stored_ms(clock::now()));
            let number = store.choose(&performer.paths.spec_key(), &task, what, at)?;
            Some(PersonChoice { number, task, what })
        }
    };
    Ok(Some((answer, choice)))
}

/// Waits for answers. Returns `None` if someone has decided something.
pub(crate) fn await_answers(
    performer: &Performer,
    state: &State,
    seq: CommandSeq,
    until: Option<Timestamp>,
    person: &mut dyn Person,
) -> Result<Option<Input>, PerformError> {
    let stop = &performer.context.processes.stop;
    match person.wait(&open_questions(state), until, stop) {
        AnswerWait::Decided => Ok(None),
        AnswerWait::Over => Ok(Some(Input::Awaited { seq })),
        AnswerWait::Stopped => Err(PerformError::Stopped),
    }
}

/// Returns the questions that are open, but not being asked.
pub(crate) fn open_questions(state: &State) -> Vec<OpenQuestion<'_>> {
    let open = state.tasks.values().filter_map(|task| match &task.phase {
        Phase::Asking {
            seq: None,
            why,
            is_answered: false,
            ..
        } => Some(OpenQuestion {
            task: task.key(),
            why,
            error: task.failure.as_ref().map(|failure| failure.error.as_str()),
        }),
        _ => None,
    });
    open.collect()
}

fn ask_person(
    performer: &Performer,
    question: &Question,
    person: &mut dyn Person,
) -> Result<Option<PersonAnswer>, PerformError> {
    let paths = &performer.paths;
    let log = |attempt| paths.shown(&paths.log(&performer.run, &question.task, attempt));
    let asked = PersonQuestion {
        question,
        log: question.failed_attempt.filter(|at| *at > 0).map(log),
        tasks: &paths.spec.tasks,
    };
    match person.ask(&asked, &performer.context.processes.stop) {
        Reply::Stopped => Err(PerformError::Stopped),
        Reply::Decided => Ok(None),
        Reply::Answer(PersonAnswer::Context { text }) => Ok(Some(PersonAnswer::Context {
            text: kept(performer, &text),
        })),
        Reply::Answer(answer) => Ok(Some(answer)),
    }
}

/// Returns the part of the text that is stored, shown and passed to the agent.
fn kept(performer: &Performer, text: &str) -> String {
    let mut kept = performer.context.processes.masks.mask(text);
    kept.truncate(kept.floor_char_boundary(CONTEXT_BYTES));
    kept
}

/// Resets the budgets of the task and its fixes.
fn reset_budget(performer: &mut Performer, task: &TaskKey) -> Result<(), PerformError> {
    let file = performer.plan.read()?;
    let Some(row) = file.resolve(task) else {
        return Ok(());
    };
    let rows: Vec<RowId> = iter::once(row).chain(file.all_fixes(row)).collect();
    ensure_state_file(performer)?;
    let edited = edit_file(&RealDisk, &performer.paths.state, |text| {
        let (mut state, _) = StateDocument::read(text)?;
        state.forgive_all(&file, &rows);
        let said = state.to_text();
        Ok::<_, InvalidState>((said != text).then_some(said))
    })?;
    performer.notices.edited(&edited);
    Ok(())
}
