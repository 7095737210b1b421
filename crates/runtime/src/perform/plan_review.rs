//! What an attempt did to the plan: what stays, and what is reverted.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use regreen_documents::{PlanReview, RowChange, TaskFile, review};
use regreen_model::{PlanChanges, TaskKey};
use regreen_workspace::{
    MAX_FILE, ReadError, RealDisk, create_dir_all, create_file, read_text_file,
};

use crate::performer::{PerformError, Performer};

/// The plan before foreign code ran, and what must not change in it.
#[derive(Debug)]
pub(super) struct ReviewedPlan {
    pub(super) before: Rc<TaskFile>,
    /// The task, its root, their fixes, and the tasks that it is a part of.
    pub(super) running: Vec<TaskKey>,
}

/// Reverts what an agent must not do to the plan, and reports what else it did.
pub(super) fn review_plan(
    performer: &mut Performer,
    plan: &ReviewedPlan,
    put_back: &BTreeSet<TaskKey>,
    replaced: &mut ReplacedPlan,
) -> Result<PlanChanges, PerformError> {
    let before = &plan.before;
    let restored = restore_file(performer, before, replaced)?;
    let mut last = PlanReview::default();
    let mut kept = Ok(());
    let edited = performer.plan.edit(|now| {
        // The same parse: the file has not changed.
        last = if std::ptr::eq(now, &raw const **before) {
            PlanReview::default()
        } else {
            review(before, now, &plan.running, put_back)
        };
        let Some(text) = last.text.take() else {
            return Ok(None);
        };
        // Before the edit: if regreen is killed in between, the text is kept twice, not lost.
        kept = replaced.keep(now.text());
        Ok(kept.is_ok().then(|| TaskFile::read(text)))
    })?;
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

fn took_back_only_ticks(review: &PlanReview) -> bool {
    let mut what = review.reverted.iter().map(|one| one.what);
    what.all(|what| what == RowChange::Ticked)
        && review.vanished.is_empty()
        && review.skipped.is_empty()
}

/// Restores the file if it was removed or can't be read any more: what can't be read can't be reviewed.
/// Returns a warning if it did.
fn restore_file(
    performer: &mut Performer,
    before: &TaskFile,
    replaced: &ReplacedPlan,
) -> Result<Option<String>, PerformError> {
    let path = performer.paths.spec.tasks.clone();
    let warning = match performer.plan.read() {
        Ok(_) => return Ok(None),
        Err(ReadError::NotFound { .. }) => {
            "the agent removed the task file; it was restored".to_owned()
        }
        Err(error) => {
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
    Ok(Some(warning))
}

/// Who may have written the text that the review changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Author {
    /// regreen watched all the time.
    Agent,
    /// No process of regreen's watched between a crash and the resumption.
    AgentOrPerson,
}

/// Keeps the texts that a review replaces, so that nothing is lost.
#[derive(Debug)]
pub(crate) struct ReplacedPlan {
    folder: PathBuf,
    attempt: u32,
    author: Author,
    /// The last text that was kept, and where.
    kept: Option<(String, PathBuf)>,
}

impl ReplacedPlan {
    pub(crate) fn new(folder: PathBuf, attempt: u32, author: Author) -> Self {
        Self {
            folder,
            attempt,
            author,
            kept: None,
        }
    }

    /// Keeps a text that is about to be replaced, unless it was kept before.
    pub(crate) fn keep(&mut self, text: &str) -> io::Result<()> {
        if matches!(&self.kept, Some((last, _)) if last == text) {
            return Ok(());
        }
        let path = self.write_new(text)?;
        self.kept = Some((text.to_owned(), path));
        Ok(())
    }

    /// Keeps the text that the kept one was replaced with as well: their difference is what a
    /// person may accept.
    pub(crate) fn offer(&self, text: &str) -> io::Result<()> {
        match &self.kept {
            Some((_, path)) => fs::write(base_of(path), text),
            None => Ok(()),
        }
    }

    /// A warning for people, if a text was kept. A reverted tick needs none, unless a person may
    /// have made it.
    pub(crate) fn warning(
        &self,
        only_ticks: bool,
        shown: impl Fn(&Path) -> String,
    ) -> Option<String> {
        let path = shown(&self.kept.as_ref()?.1);
        match self.author {
            Author::Agent if only_ticks => None,
            Author::Agent => Some(format!(
                "some of the agent's changes to the task file were reverted; its version is kept as {path}; if they are yours, run `regreen accept-plan`"
            )),
            Author::AgentOrPerson => Some(format!(
                "some changes made to the task file since the interrupted attempt began were \
                 reverted; a person may have made them, so that version is kept as {path}; if they \
                 are yours, run `regreen accept-plan`"
            )),
        }
    }

    /// Moves something that can't be read as a plan to `<attempt>.plan.unreadable`, or the next free name.
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

    /// Creates `<attempt>.plan.md`, or `<attempt>.plan-2.md` if that exists.
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

/// Changes to the task file that were reverted, and that a person may accept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanOffer {
    /// Where the changed text is kept.
    pub kept: PathBuf,
    /// That text.
    pub changed: String,
    /// The text that it was replaced with.
    pub base: String,
}

impl PlanOffer {
    /// Finds the last changes that were reverted in a run and are not accepted.
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

    /// Offers it no longer.
    ///
    /// # Errors
    /// If the file can't be removed.
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
        let mut replaced = ReplacedPlan::new(folder.clone(), 3, Author::Agent);
        for text in ["one", "one", "two"] {
            replaced.keep(text).unwrap();
        }
        let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
        assert_eq!(text("3.plan.md"), "one");
        assert_eq!(text("3.plan-2.md"), "two");
        assert!(!folder.join("3.plan-3.md").exists());
    }
}
