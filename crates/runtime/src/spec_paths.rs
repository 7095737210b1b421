use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use regreen_model::{TaskId, TaskKey, fnv1a};
use regreen_workspace::{RelPath, Spec};

/// regreen's own folder in a workspace.
const OWN: &str = ".regreen";
const STATE: &str = ".ralph-state.json";
const PROGRESS: &str = ".progress.md";

/// The paths of a spec's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecPaths {
    /// The workspace.
    pub root: PathBuf,
    /// The spec.
    pub spec: Spec,
    /// The state file.
    pub state: PathBuf,
    /// The progress file.
    pub progress: PathBuf,
}

impl SpecPaths {
    /// Puts the state and progress files beside a `tasks.md`. For any other task file, puts them
    /// into regreen's own folder.
    #[must_use]
    pub fn new(root: &Path, spec: Spec) -> Self {
        let is_spec = spec
            .tasks
            .file_name()
            .is_some_and(|name| name == "tasks.md");
        let folder = if is_spec {
            spec.tasks.parent().unwrap_or(root).to_owned()
        } else {
            let name = path_part(&relative(root, &spec.tasks));
            root.join(OWN).join("specs").join(name)
        };
        Self {
            root: root.to_owned(),
            state: folder.join(STATE),
            progress: folder.join(PROGRESS),
            spec,
        }
    }

    /// Returns regreen's own folder in the workspace.
    #[must_use]
    pub fn own(&self) -> PathBuf {
        own_folder(&self.root)
    }

    /// Returns the path of the database.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        database(&self.root)
    }

    /// Returns a folder that only one process at a time uses.
    #[must_use]
    pub fn scratch(&self) -> PathBuf {
        self.own().join("scratch")
    }

    /// Returns a file in that folder for this spec alone: a run of another one leaves it as it is.
    pub(crate) fn scratch_of_spec(&self, name: &str) -> PathBuf {
        let spec = fnv1a(self.spec_key().as_bytes());
        self.scratch().join(format!("{name}-{spec:016x}"))
    }

    /// Returns the spec's name in the journal: the path of its task file.
    #[must_use]
    pub fn spec_key(&self) -> String {
        relative(&self.root, &self.spec.tasks)
    }

    /// Returns the folder of the spec.
    #[must_use]
    pub fn spec_folder(&self) -> PathBuf {
        let folder = self.spec.tasks.parent().unwrap_or(&self.root);
        folder.to_owned()
    }

    /// Returns the folder of a run, which has its logs.
    #[must_use]
    pub fn run_folder(&self, run: &str) -> PathBuf {
        self.own().join("runs").join(path_part(run))
    }

    /// Returns the folder of a task's attempts in a run.
    #[must_use]
    pub fn task_folder(&self, run: &str, task: &TaskKey) -> PathBuf {
        self.run_folder(run)
            .join(task_part(&task.id, task.occurrence))
    }

    /// Returns the log of an attempt.
    #[must_use]
    pub fn log(&self, run: &str, task: &TaskKey, attempt: u32) -> PathBuf {
        self.task_folder(run, task).join(format!("{attempt}.log"))
    }

    /// Returns a path relative to the workspace, for people and prompts.
    #[must_use]
    pub fn shown(&self, path: &Path) -> String {
        relative(&self.root, path)
    }

    /// Returns those of the spec's own files that are in the workspace.
    #[must_use]
    pub fn spec_files(&self) -> [Option<RelPath>; 3] {
        let inside = |path: &Path| RelPath::inside(&self.root, path).ok();
        [
            inside(&self.spec.tasks),
            inside(&self.progress),
            inside(&self.state),
        ]
    }

    pub(crate) fn state_file(&self) -> Option<RelPath> {
        let [_, _, state] = self.spec_files();
        state
    }

    /// Returns the spec's files that are committed. The state file isn't, because it belongs to
    /// this machine.
    pub(crate) fn committed_files(&self) -> BTreeSet<RelPath> {
        let [tasks, progress, _state] = self.spec_files();
        [tasks, progress].into_iter().flatten().collect()
    }
}

/// Returns regreen's own folder in a workspace.
#[must_use]
pub fn own_folder(root: &Path) -> PathBuf {
    root.join(OWN)
}

/// Returns the database of a workspace, which has its journal and history.
pub(crate) fn database(root: &Path) -> PathBuf {
    own_folder(root).join("regreen.db")
}

fn relative(root: &Path, path: &Path) -> String {
    let inner = path.strip_prefix(root).unwrap_or(path);
    inner.to_string_lossy().into_owned()
}

/// Names the folder of a task by its id; a second row with the same id gets its own.
fn task_part(id: &TaskId, occurrence: u32) -> String {
    let id = path_part(id.as_str());
    match occurrence {
        0 => id,
        n => format!("{id}+{n}"),
    }
}

/// Escapes a text so that it is a single path component and can't lead anywhere else.
fn path_part(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let mut part = String::new();
    for (at, c) in text.char_indices() {
        if is_plain(c) && !(at == 0 && c == '.') {
            part.push(c);
        } else {
            part.push_str(&format!("%{:02x}", u32::from(c)));
        }
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(tasks: &str) -> SpecPaths {
        let spec = Spec {
            name: "x".into(),
            tasks: tasks.into(),
        };
        SpecPaths::new(Path::new("/w"), spec)
    }

    #[test]
    fn a_spec_has_its_files_beside_it_and_any_other_list_in_our_folder() {
        let spec = paths("/w/specs/x/tasks.md");
        assert_eq!(spec.state, Path::new("/w/specs/x/.ralph-state.json"));
        assert_eq!(spec.spec_key(), "specs/x/tasks.md");
        let single = paths("/w/docs/todo.md");
        assert_eq!(
            single.progress,
            Path::new("/w/.regreen/specs/docs%2ftodo.md/.progress.md")
        );
    }

    #[test]
    fn no_name_leads_out_of_the_folder_of_runs() {
        let key = TaskKey {
            id: TaskId::parse("1.3").unwrap(),
            occurrence: 1,
            title: String::new(),
        };
        let log = paths("/w/tasks.md").log("../../etc", &key, 2);
        assert_eq!(
            log,
            Path::new("/w/.regreen/runs/%2e.%2f..%2fetc/1.3+1/2.log")
        );
    }
}
