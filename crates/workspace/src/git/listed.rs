use crate::RelPath;

use super::git_error::GitError;
use super::index_scan::OWN_FOLDER;
use super::invocation::Invocation;
use super::repository::Git;

impl Git {
    /// Every file that git has or would have: none that it was told to ignore.
    ///
    /// # Errors
    /// If git fails.
    pub fn listed_files(&self) -> Result<Vec<RelPath>, GitError> {
        let call = Invocation::reading("ls-files")
            .args(["-z", "--cached", "--others", "--deduplicate"])
            .arg("--exclude-standard");
        Ok(parse(&self.ask(call)?))
    }
}

/// What names no file inside is not listed.
fn parse(answer: &[u8]) -> Vec<RelPath> {
    let names = answer.split(|byte| *byte == 0);
    let paths = names.filter_map(|name| RelPath::new(name).ok());
    paths.filter(|path| !path.is_within(OWN_FOLDER)).collect()
}
