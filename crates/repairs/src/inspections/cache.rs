use std::fs;
use std::io::Read;
use std::path::Path;

use regreen_model::{Failure, FailureKind, RepairAction};
use regreen_workspace::{MAX_FILE, PathStatus, RelPath, open_file, path_status, read_file};

use crate::context::RepairContext;
use crate::failure_text;
use crate::inspect::Proposal;
use crate::plan::{Action, RepairPlan};

/// The tag of a folder that may be deleted at any time (<https://bford.info/cachedir/>).
const SIGNATURE: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55";

/// Failure kinds that a corrupt cache explains.
const SPOILT: [FailureKind; 3] = [
    FailureKind::DataCorrupt,
    FailureKind::DataFormatError,
    FailureKind::IntegrityMismatch,
];

/// Words for corrupt data, used if the failure kind isn't specific.
const WORDS: [&str; 10] = [
    "corrupt",
    "malformed",
    "truncated",
    "unpickling",
    "ran out of input",
    "bad magic",
    "not a database",
    "checksum",
    "unexpected end of",
    "invalid load key",
];

/// Extensions of programs and libraries, which a line names only to say where something happened.
const CODE: [&str; 12] = [
    "py", "pyc", "js", "mjs", "cjs", "ts", "rs", "rb", "go", "so", "php", "java",
];

/// Proposes to set aside a corrupt cache that is marked as one.
pub(super) fn inspect(context: &RepairContext<'_>, failure: &Failure) -> Option<Proposal> {
    if failure.kind == FailureKind::DiskFull {
        return Some(Proposal::for_person(
            "free disk space",
            "you must decide what may be deleted",
        ));
    }
    if let Some(RepairAction::CleanCache { path }) = &failure.repair {
        return Some(suggested(context, failure, path));
    }
    let line = failure_text::blocker(failure).to_ascii_lowercase();
    let is_said = WORDS.iter().any(|word| line.contains(word));
    let is_spoilt = SPOILT.contains(&failure.kind)
        || (is_said && failure.kind == FailureKind::RuntimeException);
    if !is_spoilt {
        return None;
    }
    let folder = match spoilt_file(context, failure) {
        Some(file) => cache_of(context, &file)?,
        None => named_cache(context, failure)?,
    };
    Some(propose(context, &folder))
}

/// Finds the marked cache that the line itself names.
fn named_cache(context: &RepairContext<'_>, failure: &Failure) -> Option<RelPath> {
    let words = failure_text::words(failure_text::blocker(failure)).into_iter();
    // A bare word may be anything, even if a folder has that name.
    let words = words.filter(|word| word.contains('/') || word.starts_with('.'));
    let mut places = words.filter_map(|word| context.locate(word.trim_end_matches('/')));
    places.find(|place| is_marked(&place.under(context.root)))
}

/// Finds the corrupt file that the failure is about: the last one named that is in a cache.
fn spoilt_file(context: &RepairContext<'_>, failure: &Failure) -> Option<RelPath> {
    let lines: Vec<&str> = failure_text::tail(context.output)
        .chain([failure_text::blocker(failure)])
        .collect();
    let words = lines
        .iter()
        .rev()
        .flat_map(|line| failure_text::words(line));
    let mut places = words
        .filter(|word| word.contains(['/', '.']))
        .filter_map(|word| context.locate(word));
    let is_code = |place: &RelPath| {
        let ending = place
            .as_path()
            .extension()
            .and_then(|ending| ending.to_str());
        ending.is_some_and(|ending| CODE.contains(&ending))
    };
    places.find(|place| {
        !is_code(place)
            && cache_of(context, place).is_some()
            && is_spoilt(&place.under(context.root))
    })
}

/// Returns whether a file may be corrupt. A file in a known format must actually be.
fn is_spoilt(path: &Path) -> bool {
    let is_json = path.extension().is_some_and(|ending| ending == "json");
    match read_file(path, MAX_FILE) {
        Ok(bytes) if is_json => serde_json::from_slice::<serde_json::Value>(&bytes).is_err(),
        Ok(_) => true,
        Err(_) => false,
    }
}

/// Returns the nearest parent folder that is marked as a cache.
fn cache_of(context: &RepairContext<'_>, file: &RelPath) -> Option<RelPath> {
    let marked = file
        .folders()
        .find(|folder| is_marked(&context.root.join(folder)))?;
    RelPath::inside(context.root, marked).ok()
}

/// Returns whether a folder has a cache tag, or contains only compiled Python. A virtual
/// environment may be tagged too, but is more than a cache.
fn is_marked(folder: &Path) -> bool {
    let is_venv = folder.join("pyvenv.cfg").exists();
    (has_tag(folder) && !is_venv) || is_compiled_python(folder)
}

fn has_tag(folder: &Path) -> bool {
    let tag = folder.join("CACHEDIR.TAG");
    let is_file = tag.symlink_metadata().is_ok_and(|stat| stat.is_file());
    let mut start = Vec::new();
    let read =
        open_file(&tag).map(|file| file.take(SIGNATURE.len() as u64).read_to_end(&mut start));
    is_file && read.is_ok() && start == SIGNATURE
}

fn is_compiled_python(folder: &Path) -> bool {
    let is_named = folder.file_name().is_some_and(|name| name == "__pycache__");
    let entries: Vec<_> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .collect();
    let is_compiled = |entry: &fs::DirEntry| {
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        is_file
            && entry
                .path()
                .extension()
                .is_some_and(|ending| ending == "pyc")
    };
    is_named && !entries.is_empty() && entries.iter().all(is_compiled)
}

/// Handles a failure that gives only the usual name of the cache: finds the one folder with that
/// name.
fn suggested(context: &RepairContext<'_>, failure: &Failure, path: &str) -> Proposal {
    let Some(place) = context.locate(path) else {
        return Proposal::outside_workspace(path);
    };
    if place.under(context.root).is_dir() {
        return propose(context, &place);
    }
    let words = failure_text::tail(context.output)
        .chain([failure_text::blocker(failure)])
        .flat_map(failure_text::words);
    let beside = words
        .filter_map(|word| context.locate(word))
        .find_map(|file| {
            let folder = file.as_path().parent()?.join(path);
            RelPath::inside(context.root, &folder)
                .ok()
                .filter(|place| place.under(context.root).is_dir())
        });
    match beside {
        Some(place) => propose(context, &place),
        None => Proposal::refused(format!("{place} does not exist")),
    }
}

fn propose(context: &RepairContext<'_>, folder: &RelPath) -> Proposal {
    let recorded = RepairAction::CleanCache {
        path: folder.to_string(),
    };
    let plan = RepairPlan::new(
        recorded,
        format!("move the corrupt cache {folder} aside"),
        Action::SetAside(folder.clone()),
    );
    let full = folder.under(context.root);
    match () {
        () if !full.symlink_metadata().is_ok_and(|stat| stat.is_dir()) => {
            Proposal::refused(format!("{folder} is not a folder"))
        }
        () if [".git", ".regreen"]
            .iter()
            .any(|name| folder.is_within(name)) =>
        {
            Proposal::refused(format!("{folder} is not a cache"))
        }
        () if !is_marked(&full) => Proposal::ask(
            plan,
            format!("{folder} is not marked as a cache (CACHEDIR.TAG)"),
        ),
        () if full.join(".git").exists() => {
            Proposal::ask(plan, format!("{folder} contains a repository"))
        }
        () if is_tracked(context, folder) => {
            Proposal::ask(plan, format!("git tracks files in {folder}"))
        }
        () => Proposal::Allowed(plan),
    }
}

/// Returns whether git tracks files in it, or can't tell.
fn is_tracked(context: &RepairContext<'_>, folder: &RelPath) -> bool {
    matches!(
        path_status(context.root, folder),
        PathStatus::Tracked | PathStatus::Unknown
    )
}
