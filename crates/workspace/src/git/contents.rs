//! Reads the texts of files in a snapshot, and restores some of them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::{Disk, RelPath};

use super::invocation::Invocation;
use super::repository::{Git, Oid};
use super::runner::GitError;
use super::snapshots::Snapshots;
use super::undo::UndoError;

/// The maximum size of all texts together. The rest is left out.
const MAX_TEXTS: usize = 8 * 1024 * 1024;

impl Git {
    /// Returns the texts that these files have in a snapshot. Leaves out files that the snapshot
    /// doesn't have, and those that are no UTF-8 text.
    ///
    /// # Errors
    /// Returns an error if git fails, or doesn't know the snapshot.
    pub fn texts(
        &self,
        snapshot: &Oid,
        paths: &BTreeSet<RelPath>,
    ) -> Result<BTreeMap<RelPath, String>, GitError> {
        // git reads a name per line.
        let is_one_line = |path: &&RelPath| !path.as_bytes().contains(&b'\n');
        let paths: Vec<&RelPath> = paths.iter().filter(is_one_line).collect();
        if paths.is_empty() {
            return Ok(BTreeMap::new());
        }
        let mut names = Vec::new();
        for path in &paths {
            names.extend_from_slice(snapshot.as_str().as_bytes());
            names.push(b':');
            names.extend_from_slice(path.as_bytes());
            names.push(b'\n');
        }
        let call = Invocation::reading("cat-file")
            .arg("--batch")
            .max_stdout(Some(MAX_TEXTS))
            .stdin(names);
        let answer = self.ask(call)?;
        let mut rest = answer.as_slice();
        let mut texts = BTreeMap::new();
        for path in paths {
            let Some((content, after)) = next_object(rest) else {
                break;
            };
            rest = after;
            let text = content.and_then(|content| String::from_utf8(content.to_vec()).ok());
            texts.extend(text.map(|text| (path.clone(), text)));
        }
        Ok(texts)
    }
}

impl Snapshots {
    /// Writes these files as the snapshot has them. Files that it doesn't have stay as they are.
    /// Returns the paths that were written.
    ///
    /// # Errors
    /// Returns an error if git fails, or a file can't be written.
    pub fn restore_files(
        &mut self,
        disk: &dyn Disk,
        snapshot: &Oid,
        paths: &BTreeSet<RelPath>,
    ) -> Result<Vec<RelPath>, UndoError> {
        let mut entries = self.git().entries(snapshot)?;
        entries.retain(|path, _| paths.contains(path));
        let filters = self.filters_in_a_run()?;
        self.restore_entries(disk, &filters, entries)
    }
}

impl Snapshots {
    /// Writes all files of a snapshot below `files` in a folder outside the work tree.
    ///
    /// # Errors
    /// Returns an error if git fails, or a file can't be written.
    pub fn check_out_beside(&mut self, snapshot: &Oid, folder: &Path) -> Result<(), UndoError> {
        let entries = self.git().entries(snapshot)?;
        let filters = self.filters_in_a_run()?;
        self.check_out(&entries, &filters, folder)
    }
}

/// Splits off the answer about one object: `<oid> blob <size>\n<content>\n`. Without content,
/// the object is missing or no file.
fn next_object(answer: &[u8]) -> Option<(Option<&[u8]>, &[u8])> {
    let end = answer.iter().position(|byte| *byte == b'\n')?;
    let (head, rest) = (answer.get(..end)?, answer.get(end + 1..)?);
    let head = String::from_utf8_lossy(head);
    let mut words = head.rsplit(' ');
    let size = words.next().and_then(|size| size.parse::<usize>().ok());
    let kind = words.next().unwrap_or_default();
    match size {
        Some(size) if ["blob", "tree", "commit", "tag"].contains(&kind) => {
            let content = rest.get(..size)?;
            let rest = rest.get(size + 1..)?;
            Some(((kind == "blob").then_some(content), rest))
        }
        _ => Some((None, rest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_split_by_their_size_and_missing_objects_have_no_content() {
        let answer = b"0a1b blob 4\na\nb\n\n0a1b:no such missing\n0c1d tree 2\nxx\n";
        let (first, rest) = next_object(answer).unwrap();
        assert_eq!(first, Some(&b"a\nb\n"[..]));
        let (second, rest) = next_object(rest).unwrap();
        assert_eq!(second, None);
        assert_eq!(next_object(rest), Some((None, &b""[..])));
        assert_eq!(next_object(b"0a1b blob 40\ncut"), None);
    }
}
