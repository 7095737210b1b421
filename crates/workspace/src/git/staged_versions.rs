//! The versions of files that are only staged: no work tree and no commit has them. An attempt that
//! resets the index, or adds everything to it, takes them away.

use std::collections::{BTreeMap, BTreeSet};

use crate::RelPath;

use super::attempt_name::{AttemptName, SnapshotSide};
use super::index_file::IndexFile;
use super::invocation::Invocation;
use super::loose_object::ObjectHash;
use super::repository::{Git, Oid};

/// The versions of some files in the user's index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StagedVersions(BTreeMap<RelPath, Oid>);

impl Git {
    /// Returns the versions of these paths in the user's index; none if only git can read that.
    #[must_use]
    pub fn staged_versions(&self, paths: &BTreeSet<RelPath>) -> StagedVersions {
        if paths.is_empty() {
            return StagedVersions::default();
        }
        let hash = ObjectHash::of(self.null_oid());
        let index = IndexFile::read(&self.dir().join("index"), hash);
        let entries = index.ok().flatten().map(|index| index.entries_of(paths));
        let entries = entries.into_iter().flatten();
        StagedVersions(entries.map(|(path, entry)| (path, entry.oid)).collect())
    }

    /// Returns the versions that the index no longer has, and none of these trees. They are kept
    /// under the references of the attempt.
    #[must_use]
    pub fn lost_versions(
        &self,
        before: &StagedVersions,
        trees: &[&Oid],
        attempt: &AttemptName,
    ) -> Vec<(RelPath, Oid)> {
        let paths: BTreeSet<RelPath> = before.0.keys().cloned().collect();
        let now = self.staged_versions(&paths);
        let gone = before.0.iter();
        let gone = gone.filter(|(path, oid)| now.0.get(*path) != Some(oid));
        let lost = gone.filter(|(path, oid)| !trees.iter().any(|tree| self.has(tree, path, oid)));
        let lost: Vec<_> = lost
            .map(|(path, oid)| (path.clone(), oid.clone()))
            .collect();
        for (_, oid) in &lost {
            self.keep_version(attempt, oid);
        }
        lost
    }

    /// Whether a tree has this version of a file.
    fn has(&self, tree: &Oid, path: &RelPath, version: &Oid) -> bool {
        let Ok(path) = std::str::from_utf8(path.as_bytes()) else {
            return false;
        };
        let name = format!("{}:{path}", tree.as_str());
        let call = Invocation::reading("rev-parse").args(["--verify", "--quiet", name.as_str()]);
        let reply = self.run(call);
        reply.is_ok_and(|reply| String::from_utf8_lossy(&reply.stdout).trim() == version.as_str())
    }

    fn keep_version(&self, attempt: &AttemptName, version: &Oid) {
        let snapshot = attempt.reference(SnapshotSide::After);
        let folder = snapshot.strip_suffix("after").unwrap_or(&snapshot);
        let kept = format!("{folder}lost/staged/{}", version.as_str());
        let call = Invocation::writing("update-ref").config("core.logAllRefUpdates=false");
        let _gone_already = self.ask(call.args([kept.as_str(), version.as_str()]));
    }
}
