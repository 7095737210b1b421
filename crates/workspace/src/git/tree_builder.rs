//! Writes an index as tree objects, as `git write-tree` does.

use std::io;

use super::index_file::{CachedTree, IndexFile};
use super::loose_object::{LooseObjects, ObjectKind, hex};
use super::repository::Oid;

const FOLDER_MODE: &str = "40000";

/// A folder whose entries are being collected.
struct OpenFolder<'t> {
    /// The length of its path, including the slash, at the start of each entry's path.
    path_length: usize,
    name: Vec<u8>,
    /// The body of the tree object so far.
    body: Vec<u8>,
    cached: Option<&'t CachedTree>,
}

/// The open folders, from the top down to that of the last entry.
struct TreeBuilder<'t> {
    objects: &'t LooseObjects,
    open: Vec<OpenFolder<'t>>,
    /// The path of the innermost open folder, with a slash.
    path: Vec<u8>,
    /// The number of entries left in a folder whose tree is already known.
    skipped: usize,
    failed: Option<io::Error>,
}

/// Writes the trees that aren't cached in the index, and returns the name of the root tree.
pub(super) fn write_trees(index: &IndexFile, objects: &LooseObjects) -> io::Result<Option<Oid>> {
    if let Some((_, name)) = &index.cached_trees.known {
        return Ok(Oid::parse(&hex(name)));
    }
    let mut builder = TreeBuilder {
        objects,
        open: vec![OpenFolder {
            path_length: 0,
            name: Vec::new(),
            body: Vec::new(),
            cached: Some(&index.cached_trees),
        }],
        path: Vec::new(),
        skipped: 0,
        failed: None,
    };
    index.walk(&mut |entry| builder.add(entry.path, entry.mode, entry.oid));
    builder.finish()
}

impl TreeBuilder<'_> {
    fn add(&mut self, path: &[u8], mode: u32, oid: &[u8]) {
        if self.skipped > 0 {
            self.skipped -= 1;
            return;
        }
        while !path.starts_with(&self.path) {
            self.close();
        }
        loop {
            let rest = path.get(self.path.len()..).unwrap_or_default();
            let Some(slash) = rest.iter().position(|byte| *byte == b'/') else {
                self.push(&format!("{mode:o}"), rest, oid);
                return;
            };
            let name = rest.get(..slash).unwrap_or_default();
            let above = self.open.last().and_then(|folder| folder.cached);
            let cached = above.and_then(|above| above.folders.get(name));
            if let Some((entries, tree)) = cached.and_then(|cached| cached.known.as_ref()) {
                self.push(FOLDER_MODE, name, tree);
                self.skipped = entries.saturating_sub(1);
                return;
            }
            self.path.extend_from_slice(name);
            self.path.push(b'/');
            self.open.push(OpenFolder {
                path_length: self.path.len(),
                name: name.to_vec(),
                body: Vec::new(),
                cached,
            });
        }
    }

    fn push(&mut self, mode: &str, name: &[u8], oid: &[u8]) {
        if let Some(folder) = self.open.last_mut() {
            folder.body.extend_from_slice(mode.as_bytes());
            folder.body.push(b' ');
            folder.body.extend_from_slice(name);
            folder.body.push(0);
            folder.body.extend_from_slice(oid);
        }
    }

    /// Writes the innermost open folder, and adds it to its parent.
    fn close(&mut self) {
        let Some(folder) = self.open.pop() else {
            return;
        };
        let above = self.open.last().map_or(0, |folder| folder.path_length);
        self.path.truncate(above);
        match self.objects.write(ObjectKind::Tree, &folder.body) {
            Ok(tree) => self.push(FOLDER_MODE, &folder.name, &tree),
            Err(error) => self.failed = Some(error),
        }
    }

    fn finish(mut self) -> io::Result<Option<Oid>> {
        while self.open.len() > 1 {
            self.close();
        }
        if let Some(error) = self.failed {
            return Err(error);
        }
        let top = self
            .open
            .pop()
            .map(|folder| folder.body)
            .unwrap_or_default();
        let name = self.objects.write(ObjectKind::Tree, &top)?;
        Ok(Oid::parse(&hex(&name)))
    }
}
