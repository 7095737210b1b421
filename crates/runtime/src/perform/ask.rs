use std::iter;

use regreen_documents::{InvalidState, RowId, StateDocument};
use regreen_engine::Question;
use regreen_model::{PersonAnswer, PersonChoice, TaskKey};
use regreen_store::Store;
use regreen_workspace::{RealDisk, edit_file};

use super::save_state::sound_state;
use crate::clock;
use crate::perform_error::PerformError;
use crate::performer::Performer;
use crate::person::{Asked, Person};

/// No more is kept of what a person says.
const CONTEXT_BYTES: usize = 8 * 1024;

/// Asks the person. What of the answer holds beyond the run is stored first: whoever comes
/// after a crash finds it with what was said outside of runs.
pub(crate) fn ask(
    performer: &mut Performer,
    question: &Question,
    store: &mut Store,
    person: &mut dyn Person,
) -> Result<(PersonAnswer, Option<PersonChoice>), PerformError> {
    let answer = heard(performer, question, person)?;
    if answer == PersonAnswer::Edit {
        forgive(performer, &question.task)?;
    }
    let choice = match answer.choice() {
        None => None,
        Some(what) => {
            let (task, at) = (question.task.clone(), clock::stored_ms(clock::now()));
            let number = store.choose(&performer.places.spec_key(), &task, what, at)?;
            Some(PersonChoice { number, task, what })
        }
    };
    Ok((answer, choice))
}

fn heard(
    performer: &Performer,
    question: &Question,
    person: &mut dyn Person,
) -> Result<PersonAnswer, PerformError> {
    let places = &performer.places;
    let log = |attempt| places.shown(&places.log(&performer.run, &question.task, attempt));
    let asked = Asked {
        question,
        log: question.failed_attempt.filter(|at| *at > 0).map(log),
        tasks: &places.spec.tasks,
    };
    let answer = person.ask(&asked, &performer.context.processes.stop);
    Ok(match answer.ok_or(PerformError::Stopped)? {
        PersonAnswer::Context { text } => PersonAnswer::Context {
            text: kept(performer, &text),
        },
        answer => answer,
    })
}

/// What is stored and shown, and told to the agent.
fn kept(performer: &Performer, text: &str) -> String {
    let mut kept = performer.context.processes.masks.mask(text);
    kept.truncate(kept.floor_char_boundary(CONTEXT_BYTES));
    kept
}

/// What the task and its fixes have used of their budgets counts no more.
fn forgive(performer: &mut Performer, task: &TaskKey) -> Result<(), PerformError> {
    let file = performer.plan.read()?;
    let Some(row) = file.resolve(task) else {
        return Ok(());
    };
    let rows: Vec<RowId> = iter::once(row).chain(file.all_fixes(row)).collect();
    sound_state(performer)?;
    let edited = edit_file(&RealDisk, &performer.places.state, |text| {
        let (mut state, _) = StateDocument::read(text)?;
        state.forgive_all(&file, &rows);
        let said = state.to_text();
        Ok::<_, InvalidState>((said != text).then_some(said))
    })?;
    performer.notices.edited(&edited);
    Ok(())
}
