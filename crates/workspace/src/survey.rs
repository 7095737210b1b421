//! A look at a workspace for somebody who lacks something: bounded, and nothing is followed
//! out of it.

mod secret_files;
mod sorting;

use std::fs;
use std::path::Path;

use regreen_model::{LookedUp, Survey, visible_line};

use self::secret_files::is_secret;
use self::sorting::{configuration, main_files, test_folders};
use crate::hashes::walk;
use crate::{Git, RelPath};

/// No more files are looked at.
const MAX_FILES: usize = 20_000;
/// No more is read, and of no larger files.
const MAX_READ: u64 = 16 * 1024 * 1024;
const MAX_FILE: u64 = 256 * 1024;
/// Told of each thing.
const MAX_NAMED: usize = 8;
const MAX_LINES: usize = 5;
const LINE_CHARS: usize = 160;
/// A file with a byte of zero among its first is no text.
const LOOKED_AT: usize = 1024;

/// What there is in a workspace, and where these things are named in it.
#[must_use]
pub fn survey(root: &Path, names: &[String]) -> Survey {
    let mut files: Vec<String> = listed(root).iter().filter_map(readable_name).collect();
    // What lies near the top says most.
    files.sort_by_key(|path| (path.matches('/').count(), path.clone()));
    let mut looked_up: Vec<LookedUp> = names.iter().map(|name| by_name(name, &files)).collect();
    by_line(root, &files, &mut looked_up);
    Survey {
        main_files: main_files(&files),
        configuration: configuration(&files),
        test_folders: test_folders(&files),
        looked_up,
    }
}

/// What git has or would have; without git all that is written by hand.
fn listed(root: &Path) -> Vec<RelPath> {
    let listed = Git::open(root).and_then(|git| git.listed_files());
    let mut files = listed.unwrap_or_else(|_| {
        let found = walk(root, MAX_FILES).files.into_iter();
        found.map(|(path, _)| path).collect()
    });
    files.truncate(MAX_FILES);
    files
}

/// A name that can be told as it is.
fn readable_name(path: &RelPath) -> Option<String> {
    let name = path.as_path().to_str()?;
    (!name.contains(char::is_control)).then(|| name.to_owned())
}

fn by_name(name: &str, files: &[String]) -> LookedUp {
    let wanted = name.to_lowercase();
    let last = wanted.rsplit('/').next().unwrap_or(&wanted);
    let called = |path: &&String| is_called(path, &wanted) || is_called(path, last);
    LookedUp {
        name: name.to_owned(),
        files: files
            .iter()
            .filter(called)
            .take(MAX_NAMED)
            .cloned()
            .collect(),
        lines: Vec::new(),
    }
}

fn is_called(path: &str, wanted: &str) -> bool {
    !wanted.is_empty() && path.to_lowercase().contains(wanted)
}

/// Reads files until enough is known of everything, or enough was read.
fn by_line(root: &Path, files: &[String], looked_up: &mut [LookedUp]) {
    let mut left = MAX_READ;
    for path in files {
        if left == 0 || looked_up.iter().all(|one| one.lines.len() >= MAX_LINES) {
            break;
        }
        if let Some(text) = text_of(root, path, left.min(MAX_FILE)) {
            left = left.saturating_sub(text.len() as u64);
            for one in &mut *looked_up {
                note_lines(one, path, &text);
            }
        }
    }
}

/// The text of a file that is one, lies in the workspace and keeps no secrets.
fn text_of(root: &Path, path: &str, max: u64) -> Option<String> {
    let place = root.join(path);
    let found = place.symlink_metadata().ok()?;
    let is_inside = || {
        Some(
            place
                .canonicalize()
                .ok()?
                .starts_with(root.canonicalize().ok()?),
        )
    };
    if !found.is_file() || found.len() > max || is_secret(path) || is_inside() != Some(true) {
        return None;
    }
    let bytes = fs::read(&place).ok()?;
    let beginning = bytes.get(..LOOKED_AT).unwrap_or(&bytes);
    (!beginning.contains(&0)).then(|| String::from_utf8_lossy(&bytes).into_owned())
}

fn note_lines(one: &mut LookedUp, path: &str, text: &str) {
    let wanted = one.name.to_lowercase();
    let room = MAX_LINES.saturating_sub(one.lines.len());
    let found = text.lines().zip(1..);
    let found = found.filter(|(line, _)| line.to_lowercase().contains(&wanted));
    let told = found.map(|(line, n)| {
        let line = visible_line(line.trim(), LINE_CHARS);
        format!("{path}:{n}: {line}")
    });
    // One file does not tell it all.
    one.lines.extend(told.take(room.min(2)));
}

#[cfg(test)]
mod tests;
