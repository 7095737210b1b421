use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;

use regreen_model::{Failure, FailureKind, RepairAction};
use regreen_workspace::{MAX_FILE, RelPath, read_text_file};
use rustix::process::geteuid;

use crate::context::RepairContext;
use crate::failure_text;
use crate::folder::Folder;
use crate::inspect::Proposal;
use crate::plan::{Action, RepairPlan};

/// Handles a script that isn't executable.
pub(super) fn inspect_executable(
    context: &RepairContext<'_>,
    failure: &Failure,
) -> Option<Proposal> {
    let line = failure_text::blocker(failure);
    let path = match &failure.repair {
        Some(RepairAction::ChmodX { path }) => path.as_str(),
        _ => match (failure.kind, started(line)) {
            (FailureKind::NotExecutable | FailureKind::PermissionDenied, Some(path)) => path,
            (FailureKind::NotExecutable, None) => {
                return only_script(context, line).map(becoming_executable);
            }
            _ => return None,
        },
    };
    let Some(place) = context.locate(path) else {
        return Some(Proposal::outside_workspace(path));
    };
    Some(match why_not_place(context, &place) {
        Some(why) => Proposal::refused(format!("{place} {why}")),
        None => becoming_executable(place),
    })
}

fn becoming_executable(place: RelPath) -> Proposal {
    let recorded = RepairAction::ChmodX {
        path: place.to_string(),
    };
    let does = format!("make {place} executable");
    Proposal::Allowed(RepairPlan::new(
        recorded,
        does,
        Action::MakeExecutable(place),
    ))
}

/// Finds the only script that a line names and that is not executable.
fn only_script(context: &RepairContext<'_>, line: &str) -> Option<RelPath> {
    let places = failure_text::words(line)
        .into_iter()
        .filter_map(|word| context.locate(word));
    let mut scripts: Vec<RelPath> = places
        .filter(|place| why_not_place(context, place).is_none())
        .collect();
    scripts.dedup();
    let mut scripts = scripts.into_iter();
    scripts.next().filter(|_| scripts.next().is_none())
}

/// Returns the file that couldn't be started. A file that couldn't be written doesn't count.
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
        None => failure_text::after(line, "Permission denied: ")
            .or_else(|| failure_text::after(line, "spawn "))?,
    };
    (!is_other && path.contains('/')).then_some(path)
}

fn why_not_place(context: &RepairContext<'_>, place: &RelPath) -> Option<&'static str> {
    let opened = Folder::of(context.root, place).and_then(|(folder, name)| folder.file(&name));
    match opened {
        Ok(file) => why_not_executable(place, &file),
        Err(_) => Some("cannot be read"),
    }
}

/// Returns why a file must not, or need not, be made executable.
pub(crate) fn why_not_executable(place: &RelPath, file: &File) -> Option<&'static str> {
    let Ok(stat) = file.metadata() else {
        return Some("cannot be read");
    };
    let is_private = [".git", ".regreen"]
        .iter()
        .any(|folder| place.is_within(folder));
    match stat {
        _ if is_private => Some("is not the project's"),
        stat if !stat.is_file() => Some("is not a file"),
        // A hard link may be outside the workspace.
        stat if stat.nlink() > 1 => Some("has hard links, which may be anywhere"),
        stat if stat.uid() != geteuid().as_raw() => Some("belongs to another user"),
        stat if stat.mode() & 0o100 != 0 => Some("is already executable"),
        stat if stat.mode() & 0o6000 != 0 => Some("runs as another user"),
        _ if !has_shebang(file) => Some("does not say that it is a script (`#!`)"),
        _ => None,
    }
}

fn has_shebang(mut file: &File) -> bool {
    let mut start = [0; 2];
    file.read_exact(&mut start).is_ok() && start == *b"#!"
}

/// Larger files aren't scripts.
const MAX_SIZE: u64 = 1024 * 1024;

/// Extensions of files that need CRLF line endings.
const WINDOWS: [&str; 4] = [".bat", ".cmd", ".ps1", ".vbs"];

/// Handles a script with CRLF line endings, whose interpreter isn't found.
pub(super) fn inspect_line_ends(
    context: &RepairContext<'_>,
    failure: &Failure,
) -> Option<Proposal> {
    let suggested = match &failure.repair {
        Some(RepairAction::CrlfToLf { path }) => Some(path.as_str()),
        _ => match failure.kind {
            FailureKind::CrlfScript | FailureKind::BadInterpreter => None,
            _ if shows_crlf(context, failure) => None,
            _ => return None,
        },
    };
    let places = match suggested {
        Some(path) => match context.locate(path) {
            Some(place) => meant_script(context, failure, place),
            None => {
                return Some(Proposal::outside_workspace(path));
            }
        },
        None => scripts(context, failure),
    };
    match places.as_slice() {
        [place] => Some(line_ends_proposal(context, place)),
        [] => None,
        _ => Some(Proposal::refused("several scripts could be meant")),
    }
}

/// Returns the script that is meant: the suggested one, unless it is in order and the output names
/// another that isn't.
fn meant_script(
    context: &RepairContext<'_>,
    failure: &Failure,
    suggested: RelPath,
) -> Vec<RelPath> {
    let named = scripts(context, failure);
    if crlf_script(context, &suggested).is_err() && named.len() == 1 {
        named
    } else {
        vec![suggested]
    }
}

fn line_ends_proposal(context: &RepairContext<'_>, place: &RelPath) -> Proposal {
    let recorded = RepairAction::CrlfToLf {
        path: place.to_string(),
    };
    let plan = RepairPlan::new(
        recorded,
        format!("convert {place} to Unix line endings"),
        Action::UnixLineEnds(place.clone()),
    );
    match crlf_script(context, place) {
        Err(why) => Proposal::refused(format!("{place} {why}")),
        Ok(_) if wants_crlf(context, place) => {
            Proposal::ask(plan, ".gitattributes asks for these line endings")
        }
        Ok(_) => Proposal::Allowed(plan),
    }
}

/// Returns whether the output shows a CR, as shells print it for such scripts.
fn shows_crlf(context: &RepairContext<'_>, failure: &Failure) -> bool {
    let kinds = [
        FailureKind::BadUsage,
        FailureKind::SyntaxError,
        FailureKind::MissingCommand,
    ];
    let ends = ["\\r'", "\r: ", "^M"];
    kinds.contains(&failure.kind) && ends.iter().any(|end| context.output.contains(end))
}

/// Finds the CRLF scripts that the task runs or the output names.
fn scripts(context: &RepairContext<'_>, failure: &Failure) -> Vec<RelPath> {
    let commands = context
        .commands
        .iter()
        .flat_map(|command| failure_text::words(command));
    let words = commands.chain(failure_text::words(failure_text::blocker(failure)));
    let mut places: Vec<RelPath> = words
        .filter_map(|word| context.locate(word))
        .filter(|place| crlf_script(context, place).is_ok())
        .collect();
    places.sort();
    places.dedup();
    places
}

/// Returns the content of a script with CRLF on every line, or why it isn't one.
pub(crate) fn crlf_script(
    context: &RepairContext<'_>,
    place: &RelPath,
) -> Result<Vec<u8>, &'static str> {
    let name = place.to_string().to_ascii_lowercase();
    if WINDOWS.iter().any(|ending| name.ends_with(ending)) || place.is_within(".git") {
        return Err("is not a script for Unix");
    }
    let opened = Folder::of(context.root, place).and_then(|(folder, name)| folder.file(&name));
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
        () if crlf == 0 => Err("has no such line endings"),
        () if crlf != ends => Err("has mixed line endings"),
        () => Ok(bytes),
    }
}

/// Returns whether `.gitattributes` asks for CRLF.
fn wants_crlf(context: &RepairContext<'_>, place: &RelPath) -> bool {
    let text = read_text_file(&context.root.join(".gitattributes"), MAX_FILE).unwrap_or_default();
    let path = place.to_string();
    let covers = |pattern: &str| match pattern.strip_prefix('*') {
        Some(ending) => path.ends_with(ending),
        None => path.ends_with(pattern.trim_start_matches('/')),
    };
    let lines = text.lines().filter(|line| line.contains("eol=crlf"));
    let mut patterns = lines.filter_map(|line| line.split_ascii_whitespace().next());
    patterns.any(covers)
}
