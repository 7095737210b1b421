use std::io::Read;
use std::os::unix::fs::MetadataExt;

use regreen_model::{Failure, FailureKind, RepairAction};
use regreen_workspace::RelPath;

use crate::folder::Folder;
use crate::plan::{Deed, Plan};
use crate::scene::Scene;
use crate::text;
use crate::verdict::Verdict;

/// Longer files are no scripts.
const MAX_SIZE: u64 = 1024 * 1024;

/// Files that want such line ends.
const WINDOWS: [&str; 4] = [".bat", ".cmd", ".ps1", ".vbs"];

/// A script whose lines end as on Windows, so that its interpreter is not found.
pub(super) fn look(scene: &Scene<'_>, failure: &Failure) -> Option<Verdict> {
    let suggested = match &failure.repair {
        Some(RepairAction::CrlfToLf { path }) => Some(path.as_str()),
        _ => match failure.kind {
            FailureKind::CrlfScript | FailureKind::BadInterpreter => None,
            _ if shows_crlf(scene, failure) => None,
            _ => return None,
        },
    };
    let places = match suggested {
        Some(path) => match scene.locate(path) {
            Some(place) => vec![place],
            None => {
                return Some(Verdict::refused(format!(
                    "{} is not in the workspace",
                    path.escape_debug()
                )));
            }
        },
        None => scripts(scene, failure),
    };
    match places.as_slice() {
        [place] => Some(verdict(scene, place)),
        [] => None,
        _ => Some(Verdict::refused("several scripts could be meant")),
    }
}

fn verdict(scene: &Scene<'_>, place: &RelPath) -> Verdict {
    let action = RepairAction::CrlfToLf {
        path: place.to_string(),
    };
    let plan = Plan::new(
        action,
        format!("end the lines of {place} as on Unix"),
        Deed::UnixLineEnds(place.clone()),
    );
    match script(scene, place) {
        Err(why) => Verdict::refused(format!("{place} {why}")),
        Ok(_) if wants_crlf(scene, place) => {
            Verdict::ask(plan, ".gitattributes wants such line ends")
        }
        Ok(_) => Verdict::Allowed(plan),
    }
}

/// Shells that stumble over such a line show its end.
fn shows_crlf(scene: &Scene<'_>, failure: &Failure) -> bool {
    let kinds = [
        FailureKind::BadUsage,
        FailureKind::SyntaxError,
        FailureKind::MissingCommand,
    ];
    let ends = ["\\r'", "\r: ", "^M"];
    kinds.contains(&failure.kind) && ends.iter().any(|end| scene.output.contains(end))
}

/// What the task runs, or the output names, that is such a script.
fn scripts(scene: &Scene<'_>, failure: &Failure) -> Vec<RelPath> {
    let commands = scene
        .commands
        .iter()
        .flat_map(|command| text::words(command));
    let words = commands.chain(text::words(text::blocker(failure)));
    let mut places: Vec<RelPath> = words
        .filter_map(|word| scene.locate(word))
        .filter(|place| script(scene, place).is_ok())
        .collect();
    places.sort();
    places.dedup();
    places
}

/// The bytes of a script all of whose lines end in CRLF, or why it is none.
pub(crate) fn script(scene: &Scene<'_>, place: &RelPath) -> Result<Vec<u8>, &'static str> {
    let name = place.to_string().to_ascii_lowercase();
    if WINDOWS.iter().any(|ending| name.ends_with(ending)) || place.is_within(".git") {
        return Err("is not a script for Unix");
    }
    let opened = Folder::of(scene.root, place).and_then(|(folder, name)| folder.file(&name));
    let Ok((mut file, stat)) = opened.and_then(|file| file.metadata().map(|stat| (file, stat)))
    else {
        return Err("cannot be read");
    };
    if !stat.is_file() || stat.len() > MAX_SIZE || stat.nlink() > 1 {
        return Err("is not a plain script");
    }
    let mut bytes = Vec::new();
    if file.read_to_end(&mut bytes).is_err() || bytes.contains(&0) {
        return Err("is not text");
    }
    let is_script =
        bytes.starts_with(b"#!") || [".sh", ".bash"].iter().any(|ending| name.ends_with(ending));
    let ends = bytes.iter().filter(|byte| **byte == b'\n').count();
    let crlf = bytes.windows(2).filter(|pair| pair == b"\r\n").count();
    match () {
        () if !is_script => Err("does not say that it is a script (`#!`)"),
        () if crlf == 0 => Err("has no such line ends"),
        () if crlf != ends => Err("has line ends of both sorts"),
        () => Ok(bytes),
    }
}

/// Whether git was told to keep them.
fn wants_crlf(scene: &Scene<'_>, place: &RelPath) -> bool {
    let text = std::fs::read_to_string(scene.root.join(".gitattributes")).unwrap_or_default();
    let path = place.to_string();
    let covers = |pattern: &str| match pattern.strip_prefix('*') {
        Some(ending) => path.ends_with(ending),
        None => path.ends_with(pattern.trim_start_matches('/')),
    };
    let lines = text.lines().filter(|line| line.contains("eol=crlf"));
    let mut patterns = lines.filter_map(|line| line.split_ascii_whitespace().next());
    patterns.any(covers)
}
