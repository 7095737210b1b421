use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::open::beside;

/// What SQLite keeps beside a file. They belong to it: its newest steps may stand only there.
const COMPANIONS: [&str; 2] = ["-wal", "-shm"];

/// Moves a file that cannot be used out of the way, with all that belongs to it, and says
/// where it is now (`regreen.db.damaged-1`). Nobody may have it open.
///
/// # Errors
/// If a file cannot be renamed.
pub fn set_aside(path: &Path) -> io::Result<PathBuf> {
    let place = free_place(path)?;
    // The file itself last: were it gone first and we ended here, the next to open the path
    // would take its log for a leftover and remove it.
    for ending in COMPANIONS {
        match fs::rename(beside(path, ending), beside(&place, ending)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    fs::rename(path, &place)?;
    Ok(place)
}

fn free_place(path: &Path) -> io::Result<PathBuf> {
    for n in 1..=u32::MAX {
        let place = beside(path, &format!(".damaged-{n}"));
        if is_free(&place)? {
            return Ok(place);
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

fn is_free(place: &Path) -> io::Result<bool> {
    let mut taken = place.try_exists()?;
    for ending in COMPANIONS {
        taken |= beside(place, ending).try_exists()?;
    }
    Ok(!taken)
}
