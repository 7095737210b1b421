//! Reads an index that git has written, to know its contents without running git.
//!
//! The format is git's own (`gitformat-index`), versions 2 to 4. For features that regreen doesn't
//! need to understand, [`IndexFile::read`] returns `None` and git is asked instead: a split or
//! sparse index, conflicts, files that are only intended to be added, unknown extensions.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use crate::RelPath;
use crate::files::{MAX_FILE, read_file};

use super::loose_object::{ObjectHash, hex};
use super::own_index::Difference;
use super::raw_diff::{Entry, Mode};
use super::repository::Oid;

/// The length of the stat data before the object name.
const STAT: usize = 40;
const MODE_AT: usize = 24;
const ASSUMED_UNCHANGED: u16 = 1 << 15;
const EXTENDED: u16 = 1 << 14;
const STAGE: u16 = 0b11 << 12;
const SKIP_WORKTREE: u16 = 1 << 14;
const INTENT_TO_ADD: u16 = 1 << 13;

/// A parsed index.
#[derive(Debug)]
pub(super) struct IndexFile {
    bytes: Vec<u8>,
    version: u32,
    count: usize,
    hash: ObjectHash,
    pub(super) cached_trees: CachedTree,
}

/// One entry of an index.
#[derive(Clone, Copy, Debug)]
pub(super) struct IndexEntry<'a> {
    pub(super) path: &'a [u8],
    pub(super) mode: u32,
    /// The name of the object, as bytes.
    pub(super) oid: &'a [u8],
    flags: u16,
    more_flags: u16,
}

impl IndexEntry<'_> {
    fn flagged(&self) -> Option<Difference> {
        if self.more_flags & SKIP_WORKTREE != 0 {
            Some(Difference::Skipped)
        } else if self.flags & ASSUMED_UNCHANGED != 0 {
            Some(Difference::AssumedUnchanged)
        } else {
            None
        }
    }

    fn to_entry(self) -> Option<Entry> {
        Some(Entry {
            mode: Mode::parse(&format!("{:06o}", self.mode))?,
            oid: Oid::parse(&hex(self.oid))?,
        })
    }
}

/// A folder whose tree object is cached in the index.
#[derive(Debug, Default)]
pub(super) struct CachedTree {
    /// The number of entries below it, and the name of its tree; `None` if something changed there.
    pub(super) known: Option<(usize, Vec<u8>)>,
    pub(super) folders: BTreeMap<Vec<u8>, CachedTree>,
}

impl IndexFile {
    /// Reads an index; `None` if git must be asked.
    pub(super) fn read(path: &Path, hash: ObjectHash) -> io::Result<Option<Self>> {
        match read_file(path, MAX_FILE) {
            Ok(bytes) => Ok(Self::parse(bytes, hash)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Some(Self::empty(hash))),
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn empty(hash: ObjectHash) -> Self {
        Self {
            bytes: Vec::new(),
            version: 2,
            count: 0,
            hash,
            cached_trees: CachedTree::default(),
        }
    }

    fn parse(bytes: Vec<u8>, hash: ObjectHash) -> Option<Self> {
        let mut header = Cursor::new(&bytes);
        if header.take(4)? != b"DIRC" {
            return None;
        }
        let version = header.number()?;
        let count = usize::try_from(header.number()?).ok()?;
        if !(2..=4).contains(&version) {
            return None;
        }
        let mut index = Self {
            bytes,
            version,
            count,
            hash,
            cached_trees: CachedTree::default(),
        };
        let mut is_plain = true;
        let end = index.walk(&mut |entry| {
            is_plain &= entry.flags & STAGE == 0
                && entry.more_flags & INTENT_TO_ADD == 0
                && entry.mode != 0o040_000;
        })?;
        index.cached_trees = index.parse_extensions(end)?;
        is_plain.then_some(index)
    }

    /// Passes every entry to `see`, in order. Returns the end of the entries.
    pub(super) fn walk(&self, see: &mut dyn FnMut(IndexEntry<'_>)) -> Option<usize> {
        let mut rest = Cursor::new(&self.bytes);
        let mut path = Vec::new();
        if self.count == 0 {
            return Some(12.min(self.bytes.len()));
        }
        rest.take(12)?;
        for _ in 0..self.count {
            let start = rest.at;
            let stat = rest.take(STAT)?;
            let mode = stat.get(MODE_AT..MODE_AT + 4)?;
            let oid = rest.take(self.hash.length())?;
            let flags = rest.short()?;
            let more_flags = if flags & EXTENDED != 0 {
                rest.short()?
            } else {
                0
            };
            if self.version == 4 {
                let dropped = rest.varint()?;
                path.truncate(path.len().checked_sub(dropped)?);
                path.extend_from_slice(rest.until_zero()?);
            } else {
                path.clear();
                path.extend_from_slice(rest.until_zero()?);
                // The zero byte after the path is part of the padding.
                let length = rest.at - 1 - start;
                rest.at = start + (length + 8) / 8 * 8;
            }
            see(IndexEntry {
                path: &path,
                mode: u32::from_be_bytes(mode.try_into().ok()?),
                oid,
                flags,
                more_flags,
            });
        }
        Some(rest.at)
    }

    fn parse_extensions(&self, from: usize) -> Option<CachedTree> {
        let mut trees = CachedTree::default();
        let end = self.bytes.len().checked_sub(self.hash.length());
        let Some(end) = end.filter(|end| from < *end) else {
            return Some(trees);
        };
        let mut rest = Cursor::new(self.bytes.get(..end)?);
        rest.at = from;
        while rest.at < end {
            let name = rest.take(4)?;
            let length = usize::try_from(rest.number()?).ok()?;
            let body = rest.take(length)?;
            match name {
                b"TREE" => {
                    let mut body = Cursor::new(body);
                    if length > 0 {
                        (_, trees) = parse_cached_tree(&mut body, self.hash)?;
                    }
                }
                // A capital letter means that the extension may be ignored.
                name if name.first()?.is_ascii_uppercase() => {}
                _ => return None,
            }
        }
        Some(trees)
    }

    /// Lists the files that the user told git to skip.
    pub(super) fn flagged(&self) -> BTreeMap<RelPath, Difference> {
        let mut found = BTreeMap::new();
        self.walk(&mut |entry| {
            if let Some(what) = entry.flagged()
                && let Ok(path) = RelPath::new(entry.path)
            {
                found.insert(path, what);
            }
        });
        found
    }

    /// Returns the entries of these paths.
    pub(super) fn entries_of(&self, paths: &BTreeSet<RelPath>) -> BTreeMap<RelPath, Entry> {
        let by_bytes: BTreeMap<&[u8], &RelPath> =
            paths.iter().map(|path| (path.as_bytes(), path)).collect();
        let mut found = BTreeMap::new();
        self.walk(&mut |seen| {
            if let Some(path) = by_bytes.get(seen.path)
                && let Some(entry) = seen.to_entry()
            {
                found.insert((*path).clone(), entry);
            }
        });
        found
    }

    /// Lists all files.
    pub(super) fn paths(&self) -> Vec<RelPath> {
        let mut paths = Vec::with_capacity(self.count);
        self.walk(&mut |entry| paths.extend(RelPath::new(entry.path)));
        paths
    }

    /// Returns which of these top-level folders contain a tracked file.
    pub(super) fn tracked_folders<'a>(&self, folders: &BTreeSet<&'a [u8]>) -> BTreeSet<&'a [u8]> {
        let mut found = BTreeSet::new();
        self.walk(&mut |entry| {
            let end = entry.path.iter().position(|byte| *byte == b'/');
            let top = end.and_then(|end| entry.path.get(..end));
            if let Some(folder) = top.and_then(|top| folders.get(top)) {
                found.insert(*folder);
            }
        });
        found
    }
}

fn parse_cached_tree(rest: &mut Cursor<'_>, hash: ObjectHash) -> Option<(Vec<u8>, CachedTree)> {
    let name = rest.until_zero()?.to_vec();
    let entries: i64 = rest.word(b' ')?.parse().ok()?;
    let folders: usize = rest.word(b'\n')?.parse().ok()?;
    let mut tree = CachedTree::default();
    if let Ok(entries) = usize::try_from(entries) {
        tree.known = Some((entries, rest.take(hash.length())?.to_vec()));
    }
    for _ in 0..folders {
        let (name, folder) = parse_cached_tree(rest, hash)?;
        tree.folders.insert(name, folder);
    }
    Some((name, tree))
}

/// Reads bytes from the start; `None` if there are too few.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(count)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    fn short(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.take(2)?.try_into().ok()?))
    }

    /// Returns the bytes up to the next zero byte, and skips that byte.
    fn until_zero(&mut self) -> Option<&'a [u8]> {
        self.until(0)
    }

    fn until(&mut self, end: u8) -> Option<&'a [u8]> {
        let rest = self.bytes.get(self.at..)?;
        let length = rest.iter().position(|byte| *byte == end)?;
        self.at += length + 1;
        rest.get(..length)
    }

    fn word(&mut self, end: u8) -> Option<&'a str> {
        std::str::from_utf8(self.until(end)?).ok()
    }

    /// Reads a number of variable length, as in the offsets of packs.
    fn varint(&mut self) -> Option<usize> {
        let mut value = 0_usize;
        loop {
            let byte = *self.take(1)?.first()?;
            value = (value << 7) | usize::from(byte & 0x7f);
            if byte & 0x80 == 0 {
                return Some(value);
            }
            value = value.checked_add(1).filter(|value| *value < 1 << 40)?;
        }
    }
}
