use std::collections::BTreeSet;
use std::path::Path;
use std::rc::Rc;

use regreen_documents::{PlanReview, Tampering, TaskFile, review};
use regreen_model::{PlanChanges, TaskKey};
use regreen_workspace::{ReadError, RealDisk, create_dir_all, create_file};

use super::replaced_plan::{Author, ReplacedPlan};
use crate::perform_error::PerformError;
use crate::performer::Performer;

/// The plan as it was when an attempt began, and whose attempt it was.
#[derive(Debug)]
pub(crate) struct PlanBefore {
    pub(crate) file: Rc<TaskFile>,
    /// The task that was worked on, its root and their fixes.
    pub(crate) running: Vec<TaskKey>,
    /// Whose the changes since then are.
    pub(crate) author: Author,
}

impl PlanBefore {
    pub(crate) fn of(file: &Rc<TaskFile>, task: &TaskKey, author: Author) -> Self {
        Self {
            file: Rc::clone(file),
            running: file.worked_on(task),
            author,
        }
    }
}

/// Takes back what an agent must not do to the plan, and says what else it did.
pub(crate) fn settle_plan(
    performer: &mut Performer,
    before: &PlanBefore,
    put_back: &BTreeSet<TaskKey>,
    replaced: &mut ReplacedPlan,
) -> Result<PlanChanges, PerformError> {
    let was_removed = put_file_back(performer, before)?;
    let mut last = PlanReview::default();
    let mut kept = Ok(());
    let edited = performer.plan.edit(|now| {
        // The very same reading: nobody has touched the file.
        last = match std::ptr::eq(now, &raw const *before.file) {
            true => PlanReview::default(),
            false => review(&before.file, now, &before.running, put_back),
        };
        let Some(text) = last.text.take() else {
            return Ok(None);
        };
        // Before the edit: whoever is killed in between finds it twice rather than never.
        kept = replaced.keep(now.text());
        Ok(kept.is_ok().then(|| TaskFile::read(text)))
    })?;
    kept?;
    performer.notices.edited(&edited);
    let shown = |path: &Path| performer.places.shown(path);
    last.warnings
        .extend(replaced.warning(took_back_only_ticks(&last), shown));
    if was_removed {
        let warning = "the agent removed the task file: it was put back";
        last.warnings.push(warning.to_owned());
    }
    Ok(last.into_changes())
}

fn took_back_only_ticks(review: &PlanReview) -> bool {
    let mut what = review.reverted.iter().map(|one| one.what);
    !review.reverted.is_empty()
        && what.all(|what| what == Tampering::Ticked)
        && review.vanished.is_empty()
        && review.skipped.is_empty()
}

/// Whether the agent had removed the whole file.
fn put_file_back(performer: &mut Performer, before: &PlanBefore) -> Result<bool, PerformError> {
    match performer.plan.read() {
        Err(ReadError::NotFound { path }) => {
            if let Some(folder) = path.parent() {
                create_dir_all(&RealDisk, folder)?;
            }
            create_file(&RealDisk, &path, before.file.text())?;
            Ok(true)
        }
        Err(error) => Err(error.into()),
        Ok(_) => Ok(false),
    }
}
