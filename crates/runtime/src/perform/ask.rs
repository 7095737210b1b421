use std::iter;

use regreen_documents::{InvalidState, RowId, StateDocument};
use regreen_engine::Question;
use regreen_model::{PersonAnswer, PersonChoice, TaskKey};
use regreen_store::Store;
use regreen_workspace::{RealDisk, edit_file};

use super::state_file::ensure_state_file;
use crate::clock;
use crate::observer::{Person, PersonQuestion};
use crate::performer::{PerformError, Performer};

/// How much of a person's text is kept.
const CONTEXT_BYTES: usize = 8 * 1024;

/// Asks the person. A choice that outlives the run is stored first, so that a crash does not lose
/// it.
pub(crate) fn ask(
    performer: &mut Performer,
    question: &Question,
    store: &mut Store,
    person: &mut dyn Person,
) -> Result<(PersonAnswer, Option<PersonChoice>), PerformError> {
    let answer = ask_person(performer, question, person)?;
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
    Ok((answer, choice))
}

fn ask_person(
    performer: &Performer,
    question: &Question,
    person: &mut dyn Person,
) -> Result<PersonAnswer, PerformError> {
    let paths = &performer.paths;
    let log = |attempt| paths.shown(&paths.log(&performer.run, &question.task, attempt));
    let asked = PersonQuestion {
        question,
        log: question.failed_attempt.filter(|at| *at > 0).map(log),
        tasks: &paths.spec.tasks,
    };
    let answer = person.ask(&asked, &performer.context.processes.stop);
    Ok(match answer.ok_or(PerformError::Stopped)? {
        PersonAnswer::Context { text } => PersonAnswer::Context {
            text: kept(performer, &text),
        },
        answer => answer,
    })
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
