//! Updates an index of regreen's own from the work tree.

use std::fs::{self, Metadata};
use std::path::Path;
use std::{fmt, io};

use rustix::fs::{Access, AtFlags, CWD, accessat};

use crate::RelPath;

use super::invocation::Invocation;
use super::own_index::{Difference, OwnIndex, is_filter_failure};
use super::raw_diff::{Entry, index_info};
use super::repository::Git;
use super::runner::GitError;

/// How many paths git may refuse before the whole operation fails.
const MAX_REFUSED: usize = 64;

/// The paths to add to an index and to remove from it.
#[derive(Debug, Default)]
pub(super) struct StagingPlan {
    /// Paths to add, or to remove if they no longer exist.
    pub(super) take: Vec<RelPath>,
    /// Paths to remove although something exists there: a folder, or a path behind a link.
    pub(super) drop: Vec<RelPath>,
    pub(super) warnings: Vec<SnapshotWarning>,
}

impl StagingPlan {
    /// Decides about each listed path. Files larger than `max_file` are left out.
    pub(super) fn new<'a>(
        root: &Path,
        found: impl IntoIterator<Item = (&'a RelPath, Difference)>,
        max_file: u64,
    ) -> Self {
        let mut plan = Self::default();
        for (path, found) in found {
            match PathAction::of(root, path, found) {
                PathAction::Take(bytes) if bytes > max_file => {
                    plan.warn(path, OmissionReason::TooLarge { bytes });
                }
                PathAction::Take(_) => plan.take.push(path.clone()),
                PathAction::Drop => plan.drop.push(path.clone()),
                PathAction::TakeRepository => {
                    // If the repository has replaced a file, git would only remove the file.
                    if found == Difference::Changed {
                        plan.drop.push(path.clone());
                    }
                    plan.take.push(path.clone());
                }
                PathAction::Unreadable => plan.warn(path, OmissionReason::Unreadable),
                PathAction::Leave => {}
            }
        }
        plan
    }

    pub(super) fn is_empty(&self) -> bool {
        self.take.is_empty() && self.drop.is_empty()
    }

    fn warn(&mut self, path: &RelPath, why: OmissionReason) {
        self.warnings.push(SnapshotWarning {
            path: path.clone(),
            why,
        });
    }
}

/// The action for a path that differs from the index.
enum PathAction {
    /// Takes it, with its length.
    Take(u64),
    TakeRepository,
    Drop,
    Unreadable,
    Leave,
}

impl PathAction {
    fn of(root: &Path, path: &RelPath, found: Difference) -> Self {
        let is_behind_link = || path.folders().any(|folder| is_link(&root.join(folder)));
        if found == Difference::Untracked || is_behind_link() {
            return Self::Drop;
        }
        let place = path.under(root);
        match fs::symlink_metadata(&place) {
            Err(error) if is_absence(&error) => match found {
                Difference::Skipped => Self::Leave,
                _ => Self::Take(0),
            },
            Err(_) => Self::Unreadable,
            Ok(metadata) => Self::of_present(&place, &metadata),
        }
    }

    fn of_present(place: &Path, metadata: &Metadata) -> Self {
        if metadata.is_dir() {
            return match fs::symlink_metadata(place.join(".git")) {
                Ok(_) => Self::TakeRepository,
                Err(_) => Self::Drop,
            };
        }
        if metadata.is_file() && accessat(CWD, place, Access::READ_OK, AtFlags::EACCESS).is_err() {
            return Self::Unreadable;
        }
        if metadata.is_file() || metadata.is_symlink() {
            return Self::Take(metadata.len());
        }
        // A pipe or socket has replaced the file.
        Self::Drop
    }
}

fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink())
}

pub(super) fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Applies a plan completely or not at all.
pub(super) fn stage(index: OwnIndex<'_>, plan: &StagingPlan) -> Result<(), GitError> {
    drop_paths(index, &plan.drop)?;
    if plan.take.is_empty() {
        return Ok(());
    }
    index.ask(taking(&plan.take)).map(drop)
}

/// Applies a plan as far as git accepts it.
pub(super) fn stage_best_effort(
    index: OwnIndex<'_>,
    plan: StagingPlan,
) -> Result<Vec<SnapshotWarning>, GitError> {
    drop_paths(index, &plan.drop)?;
    let mut bisection = Bisection {
        index,
        refused: 0,
        warnings: plan.warnings,
    };
    bisection.take(&plan.take)?;
    Ok(bisection.warnings)
}

fn drop_paths(index: OwnIndex<'_>, paths: &[RelPath]) -> Result<(), GitError> {
    if paths.is_empty() {
        return Ok(());
    }
    let call = Invocation::writing("update-index")
        .args(["-z", "--force-remove", "--stdin"])
        .stdin_paths(paths);
    index.ask(call).map(drop)
}

fn taking(paths: &[RelPath]) -> Invocation {
    Invocation::writing("update-index")
        .args(["-z", "--add", "--remove", "--replace", "--stdin"])
        .stdin_paths(paths)
}

/// Adds every path that git accepts, and finds the refused ones by bisection.
struct Bisection<'a> {
    index: OwnIndex<'a>,
    refused: usize,
    warnings: Vec<SnapshotWarning>,
}

impl Bisection<'_> {
    fn take(&mut self, paths: &[RelPath]) -> Result<(), GitError> {
        if paths.is_empty() {
            return Ok(());
        }
        // Mixed line endings must not keep a file out of a snapshot.
        let call = taking(paths).config("core.safecrlf=false");
        let refusal = match self.index.ask(call) {
            Err(refusal @ GitError::Failed { .. }) if !is_filter_failure(&refusal) => refusal,
            other => return other.map(drop),
        };
        if let [path] = paths {
            return self.give_up(path, refusal);
        }
        let (first, second) = paths.split_at(paths.len() / 2);
        self.take(first)?;
        self.take(second)
    }

    fn give_up(&mut self, path: &RelPath, refusal: GitError) -> Result<(), GitError> {
        self.refused += 1;
        if self.refused > MAX_REFUSED {
            return Err(refusal);
        }
        let is_folder = path.under(self.index.git.root()).is_dir();
        self.warnings.push(SnapshotWarning {
            path: path.clone(),
            why: if is_folder {
                OmissionReason::RepositoryWithoutCommit
            } else {
                OmissionReason::Refused
            },
        });
        Ok(())
    }
}

/// Sets entries of an index, or of the user's if none is given.
pub(super) fn set_entries<'a>(
    git: &Git,
    index: Option<&Path>,
    entries: impl IntoIterator<Item = (&'a RelPath, Option<&'a Entry>)>,
) -> Result<(), GitError> {
    let lines = index_info(entries, git.null_oid());
    if lines.is_empty() {
        return Ok(());
    }
    let call = Invocation::writing("update-index").args(["-z", "--index-info"]);
    git.ask(call.maybe_index(index).stdin(lines)).map(drop)
}

/// Refreshes the stat data of unchanged files. Otherwise, a file that was merely touched would be
/// read every time.
pub(super) fn refresh(index: OwnIndex<'_>) -> Result<(), GitError> {
    let call = Invocation::writing("update-index").args(["-q", "--unmerged", "--refresh"]);
    index.ask(call).map(drop)
}

/// Clears a flag that makes git skip these paths.
pub(super) fn unflag(index: OwnIndex<'_>, flag: &str, paths: &[&RelPath]) -> Result<(), GitError> {
    if paths.is_empty() {
        return Ok(());
    }
    let call = Invocation::writing("update-index")
        .args(["-z", flag, "--stdin"])
        .stdin_paths(paths.iter().copied());
    index.ask(call).map(drop)
}

/// A path whose content in the snapshot differs from the work tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotWarning {
    /// The path.
    pub path: RelPath,
    /// The reason.
    pub why: OmissionReason,
}

/// Why a snapshot doesn't hold the exact content of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OmissionReason {
    /// It can't be read; the snapshot has git's last known content.
    Unreadable,
    /// It exceeds the size limit; the snapshot has git's last known content.
    TooLarge {
        /// The length of the file.
        bytes: u64,
    },
    /// It is a repository without a commit, so there is nothing to record.
    RepositoryWithoutCommit,
    /// Git refused it in every way that was tried.
    Refused,
}

impl fmt::Display for SnapshotWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.path)?;
        match self.why {
            OmissionReason::Unreadable => f.write_str("cannot be read"),
            OmissionReason::TooLarge { bytes } => write!(f, "is too large ({bytes} bytes)"),
            OmissionReason::RepositoryWithoutCommit => {
                f.write_str("is a repository without commits")
            }
            OmissionReason::Refused => f.write_str("was rejected by git"),
        }?;
        f.write_str(": it is neither in the snapshot nor committed")
    }
}
