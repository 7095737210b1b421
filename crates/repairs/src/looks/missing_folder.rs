use regreen_model::{Failure, FailureKind, RepairAction};
use regreen_workspace::RelPath;

use crate::plan::{Deed, Plan};
use crate::scene::Scene;
use crate::text;
use crate::verdict::Verdict;

/// Folders that programs write to.
const OUTPUTS: [&str; 26] = [
    "build",
    "dist",
    "out",
    "output",
    "outputs",
    "tmp",
    "temp",
    "log",
    "logs",
    "report",
    "reports",
    "result",
    "results",
    "coverage",
    "artifacts",
    "artefacts",
    "gen",
    "generated",
    "cache",
    ".cache",
    "var",
    "run",
    "export",
    "exports",
    "target",
    "public",
];

/// What code that writes looks like.
const WRITES: [&str; 21] = [
    "\"w\"",
    "'w'",
    "\"wb\"",
    "'wb'",
    "\"a\"",
    "'a'",
    "\"w+\"",
    "'w+'",
    "\"x\"",
    "'x'",
    "writeFile",
    "createWriteStream",
    "write_text",
    "write_bytes",
    ".to_",
    "savefig",
    "File.write",
    "os.Create",
    "File::create",
    "cannot create",
    "cannot move",
];

/// What SQLite says where it cannot make its file.
const SQLITE: &str = "unable to open database";

/// Frames that write, whatever they are given.
const FRAMES: [&str; 3] = ["writeFile", "createWriteStream", "appendFile"];

/// Words of lines that only read.
const READS: [&str; 12] = [
    "cat:",
    "head:",
    "tail:",
    "grep:",
    "wc:",
    "diff:",
    "sort:",
    "ls:",
    "cannot stat",
    "cannot access",
    "can't open file",
    "source:",
];

/// Never made: they are made by their tools.
const NOT_OURS: [&str; 6] = [".git", ".regreen", "node_modules", ".venv", "venv", ".ssh"];

/// A folder that something is written to.
pub(super) fn look(scene: &Scene<'_>, failure: &Failure) -> Option<Verdict> {
    let suggested = match &failure.repair {
        Some(RepairAction::Mkdir { path }) => vec![path.clone()],
        _ if failure.kind == FailureKind::MissingFile => parents(scene, failure),
        _ => return None,
    };
    let found = suggested.iter().find_map(|text| {
        let folder = scene.locate(text)?;
        let is_absent = folder.under(scene.root).symlink_metadata().is_err();
        (is_absent && is_written(scene, failure, text, &folder)).then_some(folder)
    });
    let Some(folder) = found else {
        let is_ours = matches!(&failure.repair, Some(RepairAction::Mkdir { path }) if scene.locate(path).is_none());
        return is_ours.then(|| Verdict::refused("the folder would be outside the workspace"));
    };
    let not_ours = NOT_OURS
        .iter()
        .any(|name| folder.as_path().iter().any(|part| part == *name));
    if not_ours {
        return Some(Verdict::refused(format!(
            "{folder} is made by its own tool"
        )));
    }
    let action = RepairAction::Mkdir {
        path: folder.to_string(),
    };
    let does = format!("make the folder {folder}");
    Some(Verdict::Allowed(Plan::new(
        action,
        does,
        Deed::MakeFolder(folder),
    )))
}

/// The folders of what the line names; SQLite names nothing, but the code that opens does.
fn parents(scene: &Scene<'_>, failure: &Failure) -> Vec<String> {
    let line = text::blocker(failure);
    let lines: Vec<&str> = match line.contains(SQLITE) {
        true => text::tail(scene.output)
            .filter(|line| line.contains("connect"))
            .collect(),
        false => vec![line],
    };
    let words = lines.into_iter().flat_map(text::words);
    let parents = words
        .filter_map(|word| word.rsplit_once('/'))
        .map(|(folder, _)| folder);
    parents
        .filter(|folder| !folder.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Whether something says that a file was to be written there.
fn is_written(scene: &Scene<'_>, failure: &Failure, text: &str, folder: &RelPath) -> bool {
    let line = text::blocker(failure);
    if READS.iter().any(|word| line.contains(word)) {
        return false;
    }
    let is_output = folder
        .as_path()
        .iter()
        .any(|part| OUTPUTS.iter().any(|name| part == *name));
    let near = text::tail(scene.output).filter(|line| line.contains(text));
    let is_in_code = near
        .chain([line])
        .any(|line| WRITES.iter().any(|sign| line.contains(sign)));
    let mut frames = text::tail(scene.output);
    let is_in_frame = frames.any(|line| FRAMES.iter().any(|frame| line.contains(frame)));
    let is_database = line.contains(SQLITE);
    is_output || is_in_code || is_in_frame || is_database || is_redirected(scene, text)
}

/// Whether the task's own commands write there.
fn is_redirected(scene: &Scene<'_>, text: &str) -> bool {
    let signs = ["> ", ">", "-o ", "--output ", "--output=", "tee "];
    let mut written = signs.iter().map(|sign| format!("{sign}{text}/"));
    written.any(|written| scene.runs(&written))
}
