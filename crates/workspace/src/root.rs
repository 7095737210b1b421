use std::path::{Path, PathBuf};

use crate::Disk;

/// The workspace around a folder: its git top level, else the folder itself.
#[must_use]
pub fn workspace_root(disk: &dyn Disk, start: &Path) -> PathBuf {
    let has_git = |folder: &&Path| disk.stat(&folder.join(".git")).is_ok();
    let top = start.ancestors().find(has_git);
    top.unwrap_or(start).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RealDisk;

    #[test]
    fn the_git_top_level_is_the_workspace_also_of_a_worktree() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("a/b");
        std::fs::create_dir_all(&inner).unwrap();
        assert_eq!(workspace_root(&RealDisk, &inner), inner);
        // In a worktree `.git` is a file.
        std::fs::write(folder.path().join(".git"), "gitdir: elsewhere").unwrap();
        assert_eq!(workspace_root(&RealDisk, &inner), folder.path());
    }
}
