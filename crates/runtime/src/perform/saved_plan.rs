//! The plan as it was when foreign code began to run, in a file for the process after a crash.
//!
//! The file is written in place, and synced before anything runs: a text that is incomplete shows that
//! nothing has. So a command costs one sync, and neither a new file nor a new name. Where the plan is still
//! the same, only the heading is written.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use regreen_documents::TaskFile;
use regreen_model::CommandSeq;
use regreen_workspace::{AttemptName, Digest, MAX_FILE, read_file, read_text_file};
use rustix::fs::OFlags;

use crate::atomic_file::{AtomicWriteError, sync_folder};
use crate::spec_paths::SpecPaths;

/// The first byte of a plan that was reviewed. No id of a run begins with it.
const REVIEWED: &[u8] = b"-";

/// The file with the saved plan.
#[derive(Debug)]
pub(crate) struct SavedPlan {
    path: PathBuf,
    /// Where earlier versions saved it.
    older_path: PathBuf,
    /// Open once it was written.
    file: Option<File>,
    /// What the file holds below its heading, if that is known.
    text: Option<Rc<TaskFile>>,
    /// Foreign code may have run since it was written, and the journal does not know what it changed.
    is_unreviewed: bool,
    /// The review failed, so the next process does it.
    is_owed: bool,
}

impl SavedPlan {
    pub(crate) fn new(paths: &SpecPaths) -> Self {
        Self {
            path: path_in(paths),
            older_path: older_path_in(paths),
            file: None,
            text: None,
            is_unreviewed: false,
            is_owed: false,
        }
    }

    /// Keeps the plan for the next process, which reviews what is there first.
    pub(crate) fn keep_for_next_run(&mut self) {
        self.is_owed = true;
    }

    /// Saves the plan for a command of a run.
    pub(crate) fn save(
        &mut self,
        run: &str,
        seq: CommandSeq,
        plan: &Rc<TaskFile>,
    ) -> Result<(), AtomicWriteError> {
        self.is_unreviewed = true;
        self.try_save(&heading(run, seq, plan.text()), plan)
            .map_err(|source| AtomicWriteError::new(&self.path, source))
    }

    fn try_save(&mut self, heading: &str, plan: &Rc<TaskFile>) -> io::Result<()> {
        if !self
            .file
            .as_ref()
            .is_some_and(|file| is_at(file, &self.path))
        {
            self.text = None;
            self.file = Some(open(&self.path)?);
        }
        let Some(file) = &self.file else {
            return Ok(());
        };
        let is_same = |text: &Rc<TaskFile>| Rc::ptr_eq(text, plan) || text.text() == plan.text();
        if self.text.as_ref().is_some_and(is_same) {
            file.write_all_at(heading.as_bytes(), 0)?;
        } else {
            self.text = None;
            let all = [heading.as_bytes(), plan.text().as_bytes()].concat();
            file.write_all_at(&all, 0)?;
            file.set_len(all.len() as u64)?;
            self.text = Some(Rc::clone(plan));
        }
        file.sync_data()
    }

    /// Forgets the plan: the journal knows what has changed in it. If a power cut undoes that, it is
    /// reviewed again, which finds nothing.
    pub(crate) fn forget(&mut self) {
        if self.is_owed {
            return;
        }
        self.is_unreviewed = false;
        match &self.file {
            Some(file) => {
                let _ = file.write_all_at(REVIEWED, 0);
            }
            // A killed process has left it.
            None => self.remove(),
        }
    }

    /// The plan that was saved for the command with this number, or for any one of the run.
    pub(crate) fn read(&self, run: &str, seq: Option<CommandSeq>) -> Option<String> {
        let saved = self.saved()?;
        let (found, text) = parse(&saved, run)?;
        seq.is_none_or(|seq| seq == found).then(|| text.to_owned())
    }

    /// The plan that version 0.1.0 saved for an attempt: it did so for attempts only.
    pub(crate) fn read_older(&self, name: &AttemptName) -> Option<String> {
        let saved = self.saved()?;
        let (_, text) = saved.split_once('\n')?;
        let AttemptName {
            run,
            task,
            occurrence,
            attempt,
        } = name;
        let heading = format!("{run} {task}+{occurrence} {attempt} {}\n", text.len());
        saved.starts_with(&heading).then(|| text.to_owned())
    }

    fn saved(&self) -> Option<String> {
        let saved = read_text_file(&self.path, MAX_FILE);
        let saved = saved.or_else(|_| read_text_file(&self.older_path, MAX_FILE));
        saved.ok()
    }

    fn remove(&self) {
        // What can't be removed is reviewed again after a crash, which finds nothing.
        let _ = fs::remove_file(&self.path);
        let _ = fs::remove_file(&self.older_path);
    }
}

impl Drop for SavedPlan {
    /// A process that ends by itself leaves nothing to review.
    fn drop(&mut self) {
        if self.file.is_some() && !self.is_unreviewed {
            self.remove();
        }
    }
}

/// Whether a run ended before it could review the plan: the next one does so first.
#[must_use]
pub fn is_plan_unreviewed(paths: &SpecPaths) -> bool {
    let is_unreviewed = |path: PathBuf| {
        let saved = read_file(&path, MAX_FILE);
        saved.is_ok_and(|saved| !saved.starts_with(REVIEWED))
    };
    is_unreviewed(path_in(paths)) || is_unreviewed(older_path_in(paths))
}

/// The heading has the same length for all commands of a run.
fn heading(run: &str, seq: CommandSeq, text: &str) -> String {
    let digest = Digest::of(text.as_bytes());
    format!("{run} #{seq:012} {:012} {digest}\n", text.len())
}

/// The number of the command and the plan, if all of it was saved for this run. Earlier versions wrote
/// no digest: they gave the file its name when it was complete.
fn parse<'s>(saved: &'s str, run: &str) -> Option<(CommandSeq, &'s str)> {
    let (heading, text) = saved.split_once('\n')?;
    let mut words = heading.strip_prefix(run)?.strip_prefix(" #")?.split(' ');
    let seq = words.next()?.parse().ok()?;
    let length: usize = words.next()?.parse().ok()?;
    let digest = words.next();
    let is_whole = length == text.len()
        && digest.is_none_or(|digest| digest == Digest::of(text.as_bytes()).to_string());
    is_whole.then_some((seq, text))
}

/// Opens the file, or creates it durably. Foreign code may have put a link or a pipe in its place.
fn open(path: &Path) -> io::Result<File> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    if fs::symlink_metadata(path).is_ok_and(|found| !found.is_file()) {
        fs::remove_file(path)?;
    }
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .custom_flags(flags.bits().cast_signed())
        .open(path)?;
    sync_folder(folder)?;
    Ok(file)
}

/// Whether the path still leads to the open file: foreign code may have removed or replaced it.
fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(ours), Ok(found)) = (file.metadata(), fs::symlink_metadata(path)) else {
        return false;
    };
    (ours.dev(), ours.ino()) == (found.dev(), found.ino())
}

fn path_in(paths: &SpecPaths) -> PathBuf {
    paths.scratch_of_spec("plan-before")
}

/// Earlier versions had one file for all specs.
fn older_path_in(paths: &SpecPaths) -> PathBuf {
    paths.scratch().join("plan-before")
}

#[cfg(test)]
mod tests {
    use regreen_workspace::Spec;

    use super::*;

    fn paths(root: &Path, name: &str) -> SpecPaths {
        let tasks = root.join("specs").join(name).join("tasks.md");
        let name = name.to_owned();
        SpecPaths::new(root, Spec { name, tasks })
    }

    fn in_folder(root: &Path) -> SavedPlan {
        SavedPlan::new(&paths(root, "demo"))
    }

    fn plan(text: &str) -> Rc<TaskFile> {
        Rc::new(TaskFile::read(text))
    }

    #[test]
    fn the_next_process_finds_the_plan_of_the_last_command() {
        let root = tempfile::tempdir().unwrap();
        let mut saved = in_folder(root.path());
        let long = plan("- [ ] 1.1 One\n- [ ] 1.2 Two\n");
        let short = plan("- [x] 1.1 One\n");
        for (seq, plan) in [(3, &long), (4, &long), (5, &short), (6, &long)] {
            saved.save("run", seq, plan).unwrap();
            let next = in_folder(root.path());
            assert_eq!(next.read("run", Some(seq)).as_deref(), Some(plan.text()));
            assert_eq!(next.read("run", None).as_deref(), Some(plan.text()));
            assert_eq!(next.read("run", Some(seq + 1)), None);
            assert_eq!(next.read("other", None), None);
        }
    }

    #[test]
    fn a_plan_that_was_not_saved_as_a_whole_is_none() {
        let root = tempfile::tempdir().unwrap();
        let mut saved = in_folder(root.path());
        saved.save("run", 1, &plan("- [ ] 1.1 One\n")).unwrap();
        let whole = fs::read(&saved.path).unwrap();
        for end in 0..whole.len() {
            fs::write(&saved.path, &whole[..end]).unwrap();
            assert_eq!(saved.read("run", None), None, "{end}");
        }
        // The text of one save below the heading of another.
        let mixed = [&whole[..whole.len() - 2], b"!\n"].concat();
        fs::write(&saved.path, mixed).unwrap();
        assert_eq!(saved.read("run", None), None);
        fs::write(&saved.path, "run #7 14\n- [ ] 1.1 One\n").unwrap();
        let older = saved.read("run", Some(7));
        assert_eq!(older.as_deref(), Some("- [ ] 1.1 One\n"));
    }

    #[test]
    fn a_plan_that_was_reviewed_is_not_reviewed_again() {
        let root = tempfile::tempdir().unwrap();
        let mut saved = in_folder(root.path());
        let path = saved.path.clone();
        saved.save("run", 1, &plan("- [ ] 1.1 One\n")).unwrap();
        drop(saved);
        assert!(path.exists(), "the process died before the review");
        let mut saved = in_folder(root.path());
        saved.save("run", 1, &plan("- [ ] 1.1 One\n")).unwrap();
        saved.forget();
        assert_eq!(saved.read("run", None), None);
        saved.save("run", 2, &plan("- [ ] 1.1 One\n")).unwrap();
        assert!(saved.read("run", Some(2)).is_some());
        saved.forget();
        drop(saved);
        assert!(!path.exists());
    }

    #[test]
    fn a_link_or_a_pipe_in_its_place_is_replaced() {
        let root = tempfile::tempdir().unwrap();
        let mut saved = in_folder(root.path());
        let one = plan("- [ ] 1.1 One\n");
        saved.save("run", 1, &one).unwrap();
        let other = root.path().join("other");
        fs::write(&other, "other").unwrap();
        for (seq, kind) in [(2, "link"), (3, "pipe")] {
            fs::remove_file(&saved.path).unwrap();
            if kind == "link" {
                std::os::unix::fs::symlink(&other, &saved.path).unwrap();
            } else {
                rustix::fs::mkfifoat(rustix::fs::CWD, &saved.path, rustix::fs::Mode::RWXU).unwrap();
            }
            saved.save("run", seq, &one).unwrap();
            assert!(saved.read("run", Some(seq)).is_some(), "{kind}");
        }
        assert_eq!(fs::read_to_string(&other).unwrap(), "other");
    }

    #[test]
    fn another_spec_leaves_the_plan_as_it_was_saved() {
        let root = tempfile::tempdir().unwrap();
        let (demo, other) = (paths(root.path(), "demo"), paths(root.path(), "other"));
        let one = plan("- [ ] 1.1 One\n");
        SavedPlan::new(&demo).save("run", 1, &one).unwrap();
        let mut saved = SavedPlan::new(&other);
        saved.forget();
        saved.save("later", 1, &plan("- [ ] 2.1 Two\n")).unwrap();
        saved.forget();
        drop(saved);
        assert!(is_plan_unreviewed(&demo) && !is_plan_unreviewed(&other));
        let found = SavedPlan::new(&demo).read("run", Some(1));
        assert_eq!(found.as_deref(), Some(one.text()));
    }

    #[test]
    fn a_plan_that_an_earlier_version_saved_is_found_and_forgotten() {
        let root = tempfile::tempdir().unwrap();
        let demo = paths(root.path(), "demo");
        fs::create_dir_all(demo.scratch()).unwrap();
        fs::write(older_path_in(&demo), "run #7 14\n- [ ] 1.1 One\n").unwrap();
        let mut saved = SavedPlan::new(&demo);
        assert!(is_plan_unreviewed(&demo));
        let found = saved.read("run", Some(7));
        assert_eq!(found.as_deref(), Some("- [ ] 1.1 One\n"));
        saved.forget();
        assert!(!is_plan_unreviewed(&demo));
        assert_eq!(saved.read("run", None), None);
    }

    #[test]
    fn a_file_that_foreign_code_removed_is_written_again() {
        let root = tempfile::tempdir().unwrap();
        let mut saved = in_folder(root.path());
        let one = plan("- [ ] 1.1 One\n");
        saved.save("run", 1, &one).unwrap();
        fs::remove_file(&saved.path).unwrap();
        saved.save("run", 2, &one).unwrap();
        assert!(saved.read("run", Some(2)).is_some());
    }
}
