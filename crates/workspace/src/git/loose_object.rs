//! Writes trees and commits the way git stores new objects: one file each.
//!
//! The content is stored uncompressed, as git does with `core.compression=0`, because these objects
//! are small and consist mostly of hashes.

use std::fs::{self, FileTimes, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;
use sha1::{Digest as _, Sha1};
use sha2::Sha256;

use crate::files::{open_file, read_file};

use super::repository::Oid;

/// The maximum size of a commit that is read here.
const MAX_COMMIT: u64 = 1024 * 1024;
/// The maximum size of an uncompressed block.
const MAX_BLOCK: usize = 0xffff;

/// The hash function for a repository's object names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ObjectHash {
    Sha1,
    Sha256,
}

impl ObjectHash {
    /// Returns the length of a name in bytes.
    pub(super) fn length(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
        }
    }

    /// Returns the hash function whose names are this long.
    pub(super) fn of(name: &Oid) -> Self {
        match name.as_str().len() {
            40 => Self::Sha1,
            _ => Self::Sha256,
        }
    }

    /// Returns the name of the tree without entries, which git knows in every repository.
    pub(super) fn empty_tree(self) -> String {
        hex(&self.name_of(b"tree 0\0", b""))
    }

    fn name_of(self, header: &[u8], body: &[u8]) -> Vec<u8> {
        match self {
            Self::Sha1 => Sha1::new_with_prefix(header)
                .chain_update(body)
                .finalize()
                .to_vec(),
            Self::Sha256 => Sha256::new_with_prefix(header)
                .chain_update(body)
                .finalize()
                .to_vec(),
        }
    }
}

/// The kind of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ObjectKind {
    Tree,
    Commit,
}

/// The folder of a repository that holds new objects.
#[derive(Clone, Debug)]
pub(super) struct LooseObjects {
    folder: PathBuf,
    hash: ObjectHash,
}

impl LooseObjects {
    /// `common` is the git directory that all work trees share.
    pub(super) fn new(common: &Path, hash: ObjectHash) -> Self {
        Self {
            folder: common.join("objects"),
            hash,
        }
    }

    /// Stores an object and returns its name, as bytes.
    pub(super) fn write(&self, kind: ObjectKind, body: &[u8]) -> io::Result<Vec<u8>> {
        let word = match kind {
            ObjectKind::Tree => "tree",
            ObjectKind::Commit => "commit",
        };
        let header = format!("{word} {}\0", body.len()).into_bytes();
        let name = self.hash.name_of(&header, body);
        let hex = hex(&name);
        let (start, rest) = hex.split_at(2);
        let folder = self.folder.join(start);
        let path = folder.join(rest);
        if is_kept(&path) {
            return Ok(name);
        }
        fs::create_dir_all(&folder)?;
        write_file(&folder, &path, &zlib(&[header, body.to_vec()].concat()))?;
        Ok(name)
    }
}

impl LooseObjects {
    /// Returns the tree of a commit that git has just stored; `None` if it isn't a loose object, or
    /// not what its name says.
    pub(super) fn tree_of_commit(&self, commit: &Oid) -> Option<Oid> {
        let (start, rest) = commit.as_str().split_at_checked(2)?;
        let bytes = read_file(&self.folder.join(start).join(rest), MAX_COMMIT).ok()?;
        let limit = usize::try_from(MAX_COMMIT).ok()?;
        let object = decompress_to_vec_zlib_with_limit(&bytes, limit).ok()?;
        let end = object.iter().position(|byte| *byte == 0)?;
        let (header, body) = object.split_at_checked(end + 1)?;
        if !header.starts_with(b"commit ")
            || hex(&self.hash.name_of(header, body)) != commit.as_str()
        {
            return None;
        }
        let line = body.split(|byte| *byte == b'\n').next()?;
        Oid::parse(std::str::from_utf8(line.strip_prefix(b"tree ")?).ok()?)
    }
}

/// Returns whether the object exists. Also updates its time, because `git gc` may remove an old one
/// that nothing refers to yet.
fn is_kept(path: &Path) -> bool {
    let now = FileTimes::new().set_modified(SystemTime::now());
    open_file(path).is_ok_and(|file| file.set_times(now).is_ok())
}

/// Writes a file so that no partial object ever has its final name. `git gc` removes drafts with
/// this prefix.
fn write_file(folder: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let draft = folder.join(format!("tmp_obj_{}_{number}", std::process::id()));
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o444)
        .open(&draft)
        .and_then(|mut file| file.write_all(bytes))
        .and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        let _gc_removes_it = fs::remove_file(&draft);
    }
    written
}

/// Wraps bytes in the zlib format, uncompressed.
fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0x78, 0x01];
    let mut blocks = bytes.chunks(MAX_BLOCK).peekable();
    while let Some(block) = blocks.next() {
        let is_last = blocks.peek().is_none();
        let length = u16::try_from(block.len()).unwrap_or(u16::MAX);
        out.push(u8::from(is_last));
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(&(!length).to_le_bytes());
        out.extend_from_slice(block);
    }
    out.extend_from_slice(&adler32(bytes).to_be_bytes());
    out
}

fn adler32(bytes: &[u8]) -> u32 {
    const MODULUS: u32 = 65_521;
    /// How many bytes can be added before the sums must be reduced.
    const RUN: usize = 5552;
    let (mut low, mut high) = (1_u32, 0_u32);
    for run in bytes.chunks(RUN) {
        for byte in run {
            low += u32::from(*byte);
            high += low;
        }
        low %= MODULUS;
        high %= MODULUS;
    }
    (high << 16) | low
}

pub(super) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| {
        DIGITS
            .get(usize::from(value))
            .map_or('0', |digit| char::from(*digit))
    };
    let digits = bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]);
    digits.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_empty_tree_has_its_known_name_in_both_formats() {
        let names = [ObjectHash::Sha1, ObjectHash::Sha256].map(|hash| {
            let folder = tempfile::tempdir().unwrap();
            let objects = LooseObjects::new(folder.path(), hash);
            hex(&objects.write(ObjectKind::Tree, b"").unwrap())
        });
        assert_eq!(
            names,
            [
                "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
                "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
            ]
        );
    }

    #[test]
    fn the_checksum_is_the_one_of_zlib() {
        assert_eq!(adler32(b"Wikipedia"), 0x11e6_0398);
        assert_eq!(adler32(&[0xff; 100_000]), {
            let (mut low, mut high) = (1_u64, 0_u64);
            for _ in 0..100_000 {
                low = (low + 255) % 65_521;
                high = (high + low) % 65_521;
            }
            u32::try_from((high << 16) | low).unwrap()
        });
    }

    #[test]
    fn the_tree_of_a_commit_is_read_from_a_sound_object_only() {
        let folder = tempfile::tempdir().unwrap();
        let objects = LooseObjects::new(folder.path(), ObjectHash::Sha1);
        let tree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
        let body = format!("tree {tree}\nauthor a <a@b> 0 +0000\n\ntree of another\n");
        let commit = objects.write(ObjectKind::Commit, body.as_bytes()).unwrap();
        let commit = Oid::parse(&hex(&commit)).unwrap();
        assert_eq!(objects.tree_of_commit(&commit), Oid::parse(tree));
        let other = objects.write(ObjectKind::Tree, b"").unwrap();
        let other = Oid::parse(&hex(&other)).unwrap();
        assert_eq!(objects.tree_of_commit(&other), None);
        let path = |oid: &Oid| {
            let (start, rest) = oid.as_str().split_at(2);
            folder.path().join("objects").join(start).join(rest)
        };
        fs::remove_file(path(&other)).unwrap();
        fs::copy(path(&commit), path(&other)).unwrap();
        assert_eq!(objects.tree_of_commit(&other), None, "under another name");
    }

    #[test]
    fn an_object_that_exists_is_written_once_and_made_young() {
        let folder = tempfile::tempdir().unwrap();
        let objects = LooseObjects::new(folder.path(), ObjectHash::Sha1);
        let name = hex(&objects.write(ObjectKind::Commit, b"x").unwrap());
        let path = folder
            .path()
            .join("objects")
            .join(&name[..2])
            .join(&name[2..]);
        let old = SystemTime::UNIX_EPOCH;
        open_file(&path).unwrap().set_modified(old).unwrap();
        objects.write(ObjectKind::Commit, b"x").unwrap();
        assert!(fs::metadata(&path).unwrap().modified().unwrap() > old);
    }
}
