//! Determines whether a program is still the recorded one.

use std::fs::{self, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use regreen_workspace::open_file;
use sha2::{Digest, Sha256};

/// Larger files aren't compared, and so are never used.
const MAX_SIZE: u64 = 512 * 1024 * 1024;

/// Identifies a program: by its content if it is in the workspace, where the agent works, otherwise
/// by the path that its links lead to. `None` if it isn't a program.
pub(super) fn fingerprint(root: &Path, path: &Path) -> Option<String> {
    let real = path.canonicalize().ok()?;
    let stat = real.metadata().ok()?;
    if !stat.is_file() || stat.permissions().mode() & 0o111 == 0 {
        return None;
    }
    if real.starts_with(root) {
        digest_of(&real)
    } else {
        Some(format!("-> {}", real.display()))
    }
}

/// Returns the digest of a regular file.
pub(super) fn digest_of(path: &Path) -> Option<String> {
    let stat = path.symlink_metadata().ok()?;
    if !stat.is_file() || stat.len() > MAX_SIZE {
        return None;
    }
    hash(&mut open_file(path).ok()?.take(MAX_SIZE)).ok()
}

fn hash(file: &mut impl Read) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = file.read(&mut buffer)?;
        match buffer.get(..read) {
            Some(bytes) if read > 0 => hasher.update(bytes),
            _ => break,
        }
    }
    let digest = hasher.finalize();
    Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Changes whenever a file, or the link to it, is written or replaced: nobody can set the time of
/// the last status change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp([(u64, u64, i64, i64); 2]);

pub(super) fn stamp(path: &Path) -> Option<Stamp> {
    let of = |stat: Metadata| (stat.dev(), stat.ino(), stat.ctime(), stat.ctime_nsec());
    let link = path.symlink_metadata().ok().map(of)?;
    let file = fs::metadata(path).ok().map(of)?;
    Some(Stamp([link, file]))
}
