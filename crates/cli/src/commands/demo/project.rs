//! The project that the demo works on.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use regreen_runtime::create_own_folder;
use regreen_workspace::{CommitError, CommitRequest, Git, GitError, Identity, RelPath};
use thiserror::Error;

use super::place::{make_folder, usual_places};
use crate::output;

pub const TASKS: &str = include_str!("../../../templates/demo/tasks.md");
const AGENT: &str = include_str!("../../../templates/demo/agent.sh");
const CHECK: &str = include_str!("../../../templates/demo/check.sh");
const TEAM: &str = include_str!("../../../templates/demo/team.txt");

pub const RELEASE: &str = include_str!("../../../templates/demo/release.md");
const RELEASE_SCRIPT: &str = include_str!("../../../templates/demo/release.sh");

const TASK_FILE: &str = "specs/hello/tasks.md";
const RELEASE_FILE: &str = "specs/release/tasks.md";
/// The files of the project at the start.
const FILES: [(&str, &str); 4] = [
    (TASK_FILE, TASKS),
    ("agent.sh", AGENT),
    ("check.sh", CHECK),
    // Blocks the creation of a folder.
    ("team", TEAM),
];

/// Files added later: another list, and which list is current for commands that name none.
const MORE_FILES: [(&str, &str); 3] = [
    (RELEASE_FILE, RELEASE),
    ("release.sh", RELEASE_SCRIPT),
    ("specs/.current-spec", "hello\n"),
];

const IDENTITY: Identity<'_> = Identity {
    name: "regreen demo",
    email: "demo@example.invalid",
};

/// Why the demo project could not be set up.
#[derive(Debug, Error)]
pub enum ProjectError {
    #[error("there is no place for a small project: {}", refusals.join("; "))]
    NoPlace { refusals: Vec<String> },
    #[error("cannot write {}", path.display())]
    Write {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("cannot read {}", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("cannot enter {}", folder.display())]
    Enter {
        folder: PathBuf,
        #[source]
        source: io::Error,
    },
}

#[derive(Debug)]
pub struct Project {
    pub folder: PathBuf,
    /// Whether it is a git repository, so that there are commits and diffs to show.
    pub in_git: bool,
}

impl Project {
    /// Creates the project in a temporary folder, which is kept.
    pub fn make(here: &Path) -> Result<Self, ProjectError> {
        let folder = make_folder(&usual_places(), here)?;
        write_all(&folder, &FILES)?;
        let in_git = put_into_git(&folder);
        Ok(Self { folder, in_git })
    }

    /// Adds the second list.
    pub fn add_release(&self) -> Result<(), ProjectError> {
        write_all(&self.folder, &MORE_FILES)?;
        if self.in_git
            && let Err(error) = commit(&self.folder, &MORE_FILES, "A release to be made")
        {
            output::note(&format!("the second list is not committed: {error}"));
        }
        Ok(())
    }

    /// Returns the current text of the list.
    pub fn tasks(&self) -> Result<String, ProjectError> {
        self.text(TASK_FILE)
    }

    /// Returns the current text of the second list.
    pub fn release(&self) -> Result<String, ProjectError> {
        self.text(RELEASE_FILE)
    }

    fn text(&self, path: &str) -> Result<String, ProjectError> {
        let path = self.folder.join(path);
        fs::read_to_string(&path).map_err(|source| ProjectError::Read { path, source })
    }
}

fn write_all(folder: &Path, files: &[(&str, &str)]) -> Result<(), ProjectError> {
    for (name, text) in files {
        let path = folder.join(name);
        write(&path, text).map_err(|source| ProjectError::Write { path, source })?;
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text)
}

/// Returns whether that worked; the run is worth seeing without git as well.
fn put_into_git(folder: &Path) -> bool {
    match commit_all(folder) {
        Ok(()) => true,
        Err(error) => {
            let is_missing = matches!(error, StartError::Git(GitError::Missing));
            if !is_missing {
                output::note(&format!("the project is made without git: {error}"));
            }
            // Half a repository would only confuse.
            let _ = fs::remove_dir_all(folder.join(".git"));
            false
        }
    }
}

#[derive(Debug, Error)]
enum StartError {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Commit(#[from] CommitError),
    #[error(transparent)]
    Folder(#[from] io::Error),
}

fn commit_all(folder: &Path) -> Result<(), StartError> {
    Git::init(folder, IDENTITY)?;
    create_own_folder(folder)?;
    commit(folder, &FILES, "Three tasks for an agent")
}

fn commit(folder: &Path, files: &[(&str, &str)], message: &str) -> Result<(), StartError> {
    let git = Git::open(folder)?;
    let paths = files
        .iter()
        .filter_map(|(name, _)| RelPath::new(*name).ok());
    let request = CommitRequest {
        key: format!("demo {message}"),
        message: message.to_owned(),
        paths: paths.collect(),
        leave_alone: BTreeSet::new(),
        spec_files: BTreeSet::new(),
        parent: None,
    };
    git.commit(&request, &folder.join(".regreen/scratch"))?;
    Ok(())
}
