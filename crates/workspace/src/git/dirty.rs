use std::collections::BTreeSet;

use crate::RelPath;

use super::git_error::GitError;
use super::index_scan::OWN_FOLDER;
use super::invocation::Invocation;
use super::repository::Git;

impl Git {
    /// Every path that a commit of everything would change: staged, not staged, or unknown
    /// to git so far.
    ///
    /// # Errors
    /// If git fails.
    pub fn dirty_paths(&self) -> Result<BTreeSet<RelPath>, GitError> {
        let call = Invocation::reading("status")
            .args(["--porcelain=v1", "-z", "--untracked-files=all"])
            .args(["--no-renames", "--ignore-submodules=none"]);
        let doing = call.subcommand();
        let answer = self.ask(call)?;
        parse(&answer).ok_or_else(|| GitError::not_understood(doing))
    }
}

/// `XY path`, each ended by a zero byte; a repository of its own ends in a slash.
fn parse(answer: &[u8]) -> Option<BTreeSet<RelPath>> {
    let lines = answer.split(|byte| *byte == 0);
    let paths = lines.filter(|line| !line.is_empty()).map(|line| {
        let path = line.get(3..)?;
        RelPath::new(path.strip_suffix(b"/").unwrap_or(path)).ok()
    });
    let mut paths: BTreeSet<RelPath> = paths.collect::<Option<_>>()?;
    paths.retain(|path| !path.is_within(OWN_FOLDER));
    Some(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read_whatever_their_state_and_name() {
        let answer = b" M a\0?? b\nc\0A  \"d\0UU e\0?? repo/\0?? .regreen/x\0";
        let paths: Vec<String> = parse(answer)
            .unwrap()
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(paths, ["\"\\\"d\"", "a", "\"b\\nc\"", "e", "repo"]);
        assert_eq!(parse(b" M /etc/passwd\0"), None);
    }
}
