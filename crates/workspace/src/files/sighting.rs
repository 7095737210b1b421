use std::io;
use std::path::Path;

use super::digest::Digest;
use super::disk::{Disk, FileId, FileKind};

/// What was seen under a name: which file, and what it held.
///
/// Both are needed to recognise it again. The same file with other bytes is a save made
/// in place; other files with the same bytes are two saves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sighting {
    id: FileId,
    /// None for a link or whatever else has no content of its own.
    bytes: Option<Vec<u8>>,
}

impl Sighting {
    pub(crate) fn of(disk: &dyn Disk, path: &Path) -> io::Result<Sighting> {
        let stat = disk.stat(path)?;
        let bytes = match stat.kind {
            FileKind::Regular => Some(disk.read(path)?),
            FileKind::Folder | FileKind::Other => None,
        };
        Ok(Sighting { id: stat.id, bytes })
    }

    /// A file that was just written here.
    pub(crate) fn written(disk: &dyn Disk, path: &Path, content: &[u8]) -> io::Result<Sighting> {
        Ok(Sighting {
            id: disk.stat(path)?.id,
            bytes: Some(content.to_vec()),
        })
    }

    pub(crate) fn holds(&self, content: &[u8]) -> bool {
        self.bytes.as_deref() == Some(content)
    }

    pub(crate) fn digest(&self) -> Option<Digest> {
        self.bytes.as_deref().map(Digest::of)
    }
}
