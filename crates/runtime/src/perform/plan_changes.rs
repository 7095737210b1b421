use std::collections::BTreeSet;
use std::rc::Rc;

use regreen_documents::{PlanReview, TaskFile, review, verify_commands};
use regreen_model::{Claim, PlanChanges, TaskKey};
use regreen_workspace::{ReadError, RealDisk, create_dir_all, create_file};

use crate::perform_error::PerformError;
use crate::performer::Performer;

/// The plan as it was when an attempt began, and whose attempt it was.
#[derive(Debug)]
pub(crate) struct PlanBefore {
    pub(crate) file: Rc<TaskFile>,
    /// The task that was worked on, its root and their fixes.
    pub(crate) running: Vec<TaskKey>,
}

impl PlanBefore {
    pub(crate) fn of(file: &Rc<TaskFile>, task: &TaskKey) -> Self {
        let root = file.resolve(task).map(|row| file.root(row));
        let rows = root.into_iter().flat_map(|root| {
            let fixes = file.all_fixes(root);
            std::iter::once(root).chain(fixes)
        });
        let mut running: Vec<TaskKey> = rows.filter_map(|row| file.key(row)).collect();
        if !running.contains(task) {
            running.push(task.clone());
        }
        Self {
            file: Rc::clone(file),
            running,
        }
    }
}

/// Takes back what an agent must not do to the plan, and says what else it did.
pub(crate) fn settle_plan(
    performer: &mut Performer,
    before: &PlanBefore,
    put_back: &BTreeSet<TaskKey>,
    agents_version: &std::path::Path,
) -> Result<PlanChanges, PerformError> {
    let was_removed = put_file_back(performer, before)?;
    let mut last = PlanReview::default();
    let mut rejected = None;
    let edited = performer.plan.edit(|now| {
        // The very same reading: nobody has touched the file.
        last = match std::ptr::eq(now, &raw const *before.file) {
            true => PlanReview::default(),
            false => review(&before.file, now, &before.running, put_back),
        };
        rejected = last.restored.then(|| now.text().to_owned());
        Ok(last.text.take().map(TaskFile::read))
    })?;
    performer.notices.edited(&edited);
    if let Some(text) = rejected {
        // Nothing is ever lost, not even this.
        std::fs::write(agents_version, text)?;
    }
    if was_removed {
        let warning = "the agent removed the task file: it was put back";
        last.warnings.push(warning.to_owned());
    }
    Ok(changes(last))
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

fn changes(review: PlanReview) -> PlanChanges {
    let claims = review.claims.into_iter().map(|claim| Claim {
        verify: claim
            .verify
            .as_deref()
            .map(verify_commands)
            .unwrap_or_default(),
        task: claim.key,
    });
    PlanChanges {
        claims: claims.collect(),
        skipped: review.skipped,
        put_back: review.vanished,
        added: review.added,
        edited: review.edited,
        warnings: review.warnings,
    }
}
