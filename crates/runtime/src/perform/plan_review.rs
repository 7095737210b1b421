//! The review of a plan after an attempt: which changes stay, and which are reverted.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use regreen_documents::{ForeignCode, PlanReview, RowChange, TaskFile, review_after};
use regreen_model::{PlanChanges, TaskKey};
use regreen_workspace::{
    EditFileError, EditReport, MAX_FILE, ReadError, RealDisk, create_dir_all, create_file,
    read_text_file,
};

use super::state_file::read_state;
use crate::performer::{PerformError, Performer};
use crate::plan_file::EditPlanError;
use crate::spec_paths::SpecPaths;

/// The plan before foreign code ran.
#[derive(Debug)]
pub(super) struct ReviewedPlan {
    pub(super) before: Rc<TaskFile>,
    /// The task that it ran for.
    pub(super) task: Option<TaskKey>,
}

impl ReviewedPlan {
    /// The task, its root, their fixes, and the tasks that it is a part of: those must not change.
    fn running(&self, paths: &SpecPaths) -> Vec<TaskKey> {
        let Some(task) = &self.task else {
            return Vec::new();
        };
        let mut running = self.before.worked_on(task);
        let wholes = read_state(paths).wholes(&task.id);
        let rows = wholes.iter().flat_map(|id| self.before.rows_with_id(id));
        running.extend(rows.filter_map(|row| self.before.key(row)));
        running
    }
}

/// Reverts forbidden changes to the plan, and reports the others.
pub(super) fn review_plan(
    performer: &mut Performer,
    plan: &ReviewedPlan,
    put_back: &BTreeSet<TaskKey>,
    replaced: &mut ReplacedPlan,
) -> Result<PlanChanges, PerformError> {
    let mut restored = None;
    let (edited, mut last, kept) = match revert(performer, plan, put_back, replaced) {
        Err(EditFileError::Read(error)) => {
            restored = Some(restore_file(performer, &plan.before, replaced, &error)?);
            revert(performer, plan, put_back, replaced)?
        }
        reverted => reverted?,
    };
    kept?;
    performer.notices.edited(&edited);
    if !took_back_only_ticks(&last) {
        replaced.offer(performer.plan.latest()?.text())?;
    }
    let shown = |path: &Path| performer.paths.shown(path);
    last.warnings
        .extend(replaced.warning(took_back_only_ticks(&last), shown));
    last.warnings.extend(restored);
    Ok(last.into_changes())
}

/// What was written, what the review found, and whether the text that was replaced could be kept.
type Reverted = (EditReport, PlanReview, io::Result<()>);

/// Reverts what the review does not let stay.
fn revert(
    performer: &mut Performer,
    plan: &ReviewedPlan,
    put_back: &BTreeSet<TaskKey>,
    replaced: &mut ReplacedPlan,
) -> Result<Reverted, EditPlanError> {
    let before = &plan.before;
    let paths = &performer.paths;
    let mut last = PlanReview::default();
    let mut kept = Ok(());
    let edited = performer.plan.edit(|now| {
        // The same parse: the file has not changed.
        last = if std::ptr::eq(now, &raw const **before) {
            PlanReview::default()
        } else {
            review_after(replaced.code, before, now, &plan.running(paths), put_back)
        };
        let Some(text) = last.text.take() else {
            return Ok(None);
        };
        // Before the edit: if regreen is killed in between, the text is kept twice, not lost.
        kept = replaced.keep(now.text());
        Ok(kept.is_ok().then(|| TaskFile::read(text)))
    })?;
    Ok((edited, last, kept))
}

fn took_back_only_ticks(review: &PlanReview) -> bool {
    let mut what = review.reverted.iter().map(|one| one.what);
    what.all(|what| what == RowChange::Ticked)
        && review.vanished.is_empty()
        && review.skipped.is_empty()
}

/// Restores the file if it was removed or is no longer readable, because only a readable file can
/// be reviewed. Returns a warning if it did.
fn restore_file(
    performer: &mut Performer,
    before: &TaskFile,
    replaced: &ReplacedPlan,
    error: &ReadError,
) -> Result<String, PerformError> {
    let path = performer.paths.spec.tasks.clone();
    let warning = match error {
        ReadError::NotFound { .. } => "the agent removed the task file; it was restored".to_owned(),
        error => {
            let kept = replaced.move_aside(&path)?;
            let kept = performer.paths.shown(&kept);
            format!(
                "the task file could not be read ({error}); it was moved to {kept}, and restored as it was"
            )
        }
    };
    if let Some(folder) = path.parent() {
        create_dir_all(&RealDisk, folder)?;
    }
    create_file(&RealDisk, &path, before.text())?;
    Ok(warning)
}

/// Keeps the texts that a review replaces, so that nothing is lost.
#[derive(Debug)]
pub(crate) struct ReplacedPlan {
    folder: PathBuf,
    attempt: u32,
    /// What ran meanwhile.
    code: ForeignCode,
    /// The last text that was kept, and its path.
    kept: Option<(String, PathBuf)>,
}

impl ReplacedPlan {
    pub(crate) fn new(folder: PathBuf, attempt: u32, code: ForeignCode) -> Self {
        Self {
            folder,
            attempt,
            code,
            kept: None,
        }
    }

    /// Keeps a text that is about to be replaced, unless it is already kept.
    pub(crate) fn keep(&mut self, text: &str) -> io::Result<()> {
        if matches!(&self.kept, Some((last, _)) if last == text) {
            return Ok(());
        }
        let path = self.write_new(text)?;
        self.kept = Some((text.to_owned(), path));
        Ok(())
    }

    /// Also keeps the text that replaced the kept one: a person may accept their difference.
    pub(crate) fn offer(&self, text: &str) -> io::Result<()> {
        match &self.kept {
            Some((_, path)) => fs::write(base_of(path), text),
            None => Ok(()),
        }
    }

    /// Returns a warning if a text was kept. A reverted tick needs none, unless a person may have
    /// made it.
    pub(crate) fn warning(
        &self,
        only_ticks: bool,
        shown: impl Fn(&Path) -> String,
    ) -> Option<String> {
        let path = shown(&self.kept.as_ref()?.1);
        if only_ticks && self.code != ForeignCode::Unknown {
            return None;
        }
        Some(match self.code.when() {
            None => format!(
                "some of the agent's changes to the task file were reverted; its version is kept as {path}; if they are yours, run `regreen accept-plan`"
            ),
            Some(when) => format!(
                "some changes made to the task file {when} were reverted; a person may have made \
                 them, so that version is kept as {path}; if they are yours, run `regreen accept-plan`"
            ),
        })
    }

    /// Moves a file that can't be read as a plan to `<attempt>.plan.unreadable`, or the next free
    /// name.
    fn move_aside(&self, path: &Path) -> io::Result<PathBuf> {
        fs::create_dir_all(&self.folder)?;
        let mut n = 1_u32;
        loop {
            let name = match n {
                1 => format!("{}.plan.unreadable", self.attempt),
                n => format!("{}.plan-{n}.unreadable", self.attempt),
            };
            let kept = self.folder.join(name);
            if fs::symlink_metadata(&kept).is_err() {
                fs::rename(path, &kept)?;
                return Ok(kept);
            }
            n += 1;
        }
    }

    /// Creates `<attempt>.plan.md`, or `<attempt>.plan-2.md` and so on if that exists.
    fn write_new(&self, text: &str) -> io::Result<PathBuf> {
        fs::create_dir_all(&self.folder)?;
        let mut n = 1_u32;
        loop {
            let name = match n {
                1 => format!("{}.plan.md", self.attempt),
                n => format!("{}.plan-{n}.md", self.attempt),
            };
            let path = self.folder.join(name);
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(mut file) => {
                    file.write_all(text.as_bytes())?;
                    file.sync_all()?;
                    return Ok(path);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => n += 1,
                Err(error) => return Err(error),
            }
        }
    }
}

/// Reverted changes to the task file that a person may accept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanOffer {
    /// The file with the changed text.
    pub kept: PathBuf,
    /// The changed text.
    pub changed: String,
    /// The text that replaced it.
    pub base: String,
}

impl PlanOffer {
    /// Finds the last changes of a run that were reverted and not accepted.
    #[must_use]
    pub fn last_of(run_folder: &Path) -> Option<Self> {
        let files = |folder: &Path| -> Vec<PathBuf> {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            entries.map(|entry| entry.path()).collect()
        };
        let folders = files(run_folder).into_iter().filter(|path| path.is_dir());
        let folders = folders.chain([run_folder.to_owned()]);
        let all = folders.flat_map(|folder| files(&folder));
        let offered = all.filter(|path| base_of(path).is_file());
        let changed_at = |path: &PathBuf| fs::metadata(path).and_then(|file| file.modified()).ok();
        let kept = offered.max_by_key(changed_at)?;
        Some(Self {
            changed: read_text_file(&kept, MAX_FILE).ok()?,
            base: read_text_file(&base_of(&kept), MAX_FILE).ok()?,
            kept,
        })
    }

    /// Withdraws the offer.
    ///
    /// # Errors
    /// Returns an error if the file can't be removed.
    pub fn close(&self) -> io::Result<()> {
        fs::remove_file(base_of(&self.kept))
    }
}

fn base_of(kept: &Path) -> PathBuf {
    kept.with_extension("base.md")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_replaced_text_is_kept_once_and_none_over_another() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("1.1");
        let mut replaced = ReplacedPlan::new(folder.clone(), 3, ForeignCode::Agent);
        for text in ["one", "one", "two"] {
            replaced.keep(text).unwrap();
        }
        let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
        assert_eq!(text("3.plan.md"), "one");
        assert_eq!(text("3.plan-2.md"), "two");
        assert!(!folder.join("3.plan-3.md").exists());
    }
}
