use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;

use regreen_model::{Failure, FailureKind, RepairAction};
use regreen_workspace::RelPath;
use rustix::process::geteuid;

use crate::folder::Folder;
use crate::plan::{Deed, Plan};
use crate::scene::Scene;
use crate::text;
use crate::verdict::Verdict;

/// A script that may not be run because nobody has said so.
pub(super) fn look(scene: &Scene<'_>, failure: &Failure) -> Option<Verdict> {
    let path = match &failure.repair {
        Some(RepairAction::ChmodX { path }) => path.as_str(),
        _ => match failure.kind {
            FailureKind::NotExecutable | FailureKind::PermissionDenied => {
                started(text::blocker(failure))?
            }
            _ => return None,
        },
    };
    let Some(place) = scene.locate(path) else {
        return Some(Verdict::refused(format!(
            "{} is not in the workspace",
            path.escape_debug()
        )));
    };
    Some(match why_not_place(scene, &place) {
        Some(why) => Verdict::refused(format!("{place} {why}")),
        None => {
            let action = RepairAction::ChmodX {
                path: place.to_string(),
            };
            let does = format!("make {place} executable");
            Verdict::Allowed(Plan::new(action, does, Deed::MakeExecutable(place)))
        }
    })
}

/// What a line says could not be started. A file that could not be written is none.
fn started(line: &str) -> Option<&str> {
    let is_other = ["cannot ", "can't ", "could not ", "cd: ", "mkdir", "open("]
        .iter()
        .any(|word| line.contains(word));
    let before = line
        .strip_suffix(": Permission denied")
        .or_else(|| line.strip_suffix(": permission denied"));
    let path = match before {
        Some(before) => before
            .rsplit(' ')
            .next()?
            .trim_matches(['\'', '"', '‘', '’', '`']),
        None => text::after(line, "Permission denied: ").or_else(|| text::after(line, "spawn "))?,
    };
    (!is_other && path.contains('/')).then_some(path)
}

fn why_not_place(scene: &Scene<'_>, place: &RelPath) -> Option<&'static str> {
    let opened = Folder::of(scene.root, place).and_then(|(folder, name)| folder.file(&name));
    match opened {
        Ok(file) => why_not(place, &file),
        Err(_) => Some("cannot be read"),
    }
}

/// Why a file must not be made executable, or that it need not be.
pub(crate) fn why_not(place: &RelPath, file: &File) -> Option<&'static str> {
    let Ok(stat) = file.metadata() else {
        return Some("cannot be read");
    };
    let is_private = [".git", ".regreen"]
        .iter()
        .any(|folder| place.is_within(folder));
    match stat {
        _ if is_private => Some("is not the project's"),
        stat if !stat.is_file() => Some("is not a file"),
        // Another name of the same file may be outside the workspace.
        stat if stat.nlink() > 1 => Some("has other names, which may be anywhere"),
        stat if stat.uid() != geteuid().as_raw() => Some("belongs to somebody else"),
        stat if stat.mode() & 0o100 != 0 => Some("is executable already"),
        stat if stat.mode() & 0o6000 != 0 => Some("runs as somebody else"),
        _ if !has_shebang(file) => Some("does not say that it is a script (`#!`)"),
        _ => None,
    }
}

fn has_shebang(mut file: &File) -> bool {
    let mut start = [0; 2];
    file.read_exact(&mut start).is_ok() && start == *b"#!"
}
