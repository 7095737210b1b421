//! `regreen accept-plan`: applies changes to the task file that a run reverted but a person made.

use std::path::PathBuf;

use regreen_documents::{
    TaskFile, choices_of_change, line_diff, with_accepted_changes, with_reopened,
};
use regreen_runtime::{
    LockPurpose, PlanOffer, SpecPaths, is_plan_unreviewed, lock_tree, open_store,
    open_store_read_only,
};
use regreen_workspace::{RealDisk, edit_file, read_text};

use super::choices::record_choice;
use crate::arguments::AcceptPlan;
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;
use crate::spec_context::SpecContext;

/// Shows the last reverted changes, applies them again and records what they decide.
pub fn run(arguments: &AcceptPlan) -> Result<Exit, Problem> {
    let context = SpecContext::find(arguments.spec.as_deref())?;
    let places = &context.places;
    let file = &places.spec.tasks;
    let shown = PathBuf::from(places.shown(file));
    let nothing = || Problem::NothingToAccept {
        file: shown.clone(),
    };
    // If there is nothing to accept, nothing is created.
    last_offer(places)?.ok_or_else(nothing)?;
    let _lock = lock_tree(places, LockPurpose::Change)?;
    if is_plan_unreviewed(places) {
        return Err(Problem::NotReviewed { file: file.clone() });
    }
    let offer = last_offer(places)?.ok_or_else(nothing)?;
    let before = read_text(&RealDisk, file)?.text;
    let after = accepted(places, &offer, &before)?;
    let diff = line_diff(&before, &after).unwrap_or_default();
    let lines = diff.lines().map(output::printable);
    output::print(&lines.map(|line| format!("{line}\n")).collect::<String>())?;
    if arguments.dry_run {
        return Ok(Exit::Success);
    }
    let mut conflict = None;
    // Someone may save the file meanwhile, so the last write counts.
    let mut written = (before, after);
    let edited = edit_file(&RealDisk, file, |text| {
        match accepted(places, &offer, text) {
            Ok(after) => {
                written = (text.to_owned(), after.clone());
                Ok(Some(after))
            }
            Err(problem) => {
                conflict = Some(problem);
                Ok(None)
            }
        }
    });
    let edited = edited.map_err(|error| Problem::from_edit(error, file))?;
    super::tasks::report_edit(&edited);
    if let Some(problem) = conflict {
        return Err(problem);
    }
    // The file first: a recorded choice relies on it.
    let mut store = open_store(&places.root)?;
    let (before, after) = (TaskFile::read(written.0), TaskFile::read(written.1));
    for (task, what) in choices_of_change(&before, &after) {
        record_choice(&mut store, places, &[task], what)?;
    }
    offer.close().map_err(|source| {
        Problem::Read(regreen_workspace::ReadError::Io {
            path: offer.kept.clone(),
            source,
        })
    })?;
    output::print("accepted\n")?;
    Ok(Exit::Success)
}

fn accepted(places: &SpecPaths, offer: &PlanOffer, current: &str) -> Result<String, Problem> {
    let merged = with_accepted_changes(&offer.base, &offer.changed, current);
    let merged = merged.ok_or_else(|| Problem::CannotMerge {
        file: places.spec.tasks.clone(),
        kept: places.shown(&offer.kept),
    })?;
    let after = with_reopened(&TaskFile::read(current), merged);
    Ok(after.text().to_owned())
}

/// Returns the last reverted changes, from the newest run of the spec that has any.
fn last_offer(places: &SpecPaths) -> Result<Option<PlanOffer>, Problem> {
    let Some(store) = open_store_read_only(&places.root)? else {
        return Ok(None);
    };
    let runs = store.runs(usize::MAX).map_err(Problem::journal)?;
    let mut runs = runs.iter().filter(|run| run.spec == places.spec_key());
    Ok(runs.find_map(|run| PlanOffer::last_of(&places.run_folder(run.id.as_str()))))
}
