use std::path::Path;

use regreen_model::{Failure, FailureKind, RepairAction};
use regreen_workspace::RelPath;

use crate::context::RepairContext;
use crate::failure_text;
use crate::inspect::Proposal;
use crate::plan::{Action, RepairPlan};

/// Names of folders that programs write to.
const OUTPUTS: &str = "\
    build dist out output outputs tmp temp log logs report reports result results coverage \
    artifacts artefacts gen generated cache .cache var run export exports target public";

/// Signs of code that writes a file.
const WRITES: [&str; 22] = [
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
    "cannot touch",
];

/// SQLite's message if it can't create its file.
const SQLITE: &str = "unable to open database";

/// Functions in a stack trace that write.
const FRAMES: [&str; 3] = ["writeFile", "createWriteStream", "appendFile"];

/// Functions that read.
const READERS: [&str; 6] = [
    "readFile",
    "createReadStream",
    "read_text",
    "read_bytes",
    "read_csv",
    "File.read",
];

/// Signs of a line about reading.
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

/// Words with which a script says that it reads.
const READ_WORDS: [&str; 6] = ["reads ", "reading", "loading", "input", "source", "fixture"];

/// Words with which a script says that it writes.
const WRITE_WORDS: [&str; 6] = ["write", "writing", "save", "output", "store ", "put "];

/// Folders that only their own tools create.
const NOT_OURS: [&str; 6] = [".git", ".regreen", "node_modules", ".venv", "venv", ".ssh"];

/// Handles a missing folder that a program writes to.
pub(super) fn inspect(context: &RepairContext<'_>, failure: &Failure) -> Option<Proposal> {
    let suggested = match &failure.repair {
        Some(RepairAction::Mkdir { path }) => vec![path.clone()],
        _ if failure.kind == FailureKind::MissingFile => parents(context, failure),
        _ => return None,
    };
    let found = suggested.iter().find_map(|text| {
        let folder = context.locate(text)?;
        let is_absent = folder.under(context.root).symlink_metadata().is_err();
        (is_absent && is_written(context, failure, text, &folder)).then_some(folder)
    });
    let Some(folder) = found else {
        let is_ours = matches!(&failure.repair, Some(RepairAction::Mkdir { path }) if context.locate(path).is_none());
        return is_ours.then(|| Proposal::refused("the folder would be outside the workspace"));
    };
    let not_ours = NOT_OURS
        .iter()
        .any(|name| folder.as_path().iter().any(|part| part == *name));
    if not_ours {
        return Some(Proposal::refused(format!(
            "{folder} is created by its own tool"
        )));
    }
    if let Some(why) = in_the_way(context, &folder) {
        return Some(Proposal::refused(why));
    }
    let recorded = RepairAction::Mkdir {
        path: folder.to_string(),
    };
    let does = format!("create the folder {folder}");
    Some(Proposal::Allowed(RepairPlan::new(
        recorded,
        does,
        Action::MakeFolder(folder),
    )))
}

/// Returns why the folder must not be created: a file is in the way, or a folder with a similar
/// name exists, so that this one is probably a typo.
fn in_the_way(context: &RepairContext<'_>, folder: &RelPath) -> Option<String> {
    let above: Vec<&Path> = folder.folders().collect();
    let is_file = |path: &&&Path| context.root.join(path).is_file();
    if let Some(file) = above.iter().find(is_file) {
        return Some(format!("{} is a file", file.display()));
    }
    let is_there = |path: &Path| context.root.join(path).is_dir();
    let mut parents = std::iter::once(folder.as_path()).chain(above);
    let first_new = parents.rfind(|path| !is_there(path))?;
    let name = first_new.file_name()?.to_str()?;
    let beside = context.root.join(first_new.parent()?);
    let entries = std::fs::read_dir(beside).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.path().is_dir());
    let mut names = folders.filter_map(|entry| entry.file_name().into_string().ok());
    let near = names.find(|other| is_nearly(other, name))?;
    Some(format!(
        "{name} is similar to the folder {near}: probably a typo"
    ))
}

fn is_nearly(one: &str, other: &str) -> bool {
    one.len() >= 4 && one != other && strsim::damerau_levenshtein(one, other) == 1
}

/// Returns the folders of the files that the line names; for SQLite, of those that the code opens.
fn parents(context: &RepairContext<'_>, failure: &Failure) -> Vec<String> {
    let line = failure_text::blocker(failure);
    let lines: Vec<&str> = match line.contains(SQLITE) {
        true => failure_text::tail(context.output)
            .filter(|line| line.contains("connect"))
            .collect(),
        false => vec![line],
    };
    let names_folder = is_about_folder(line);
    let words = lines.into_iter().flat_map(failure_text::words);
    let folders = words.filter_map(|word| match word.rsplit_once('/') {
        _ if names_folder && is_folder_name(word) => Some(word.trim_end_matches('/')),
        Some((folder, _)) => Some(folder),
        None => None,
    });
    folders
        .filter(|folder| !folder.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Words with which a script says that a folder is missing, not a file in it.
const FOLDER_WORDS: [&str; 3] = ["folder", "director", " dir "];

fn is_about_folder(line: &str) -> bool {
    let said = line.to_ascii_lowercase();
    let own = said.replace("no such file or directory", "");
    FOLDER_WORDS.iter().any(|word| own.contains(word))
}

/// Returns whether a word can be the name of a folder: a path, or a usual folder for output.
fn is_folder_name(word: &str) -> bool {
    let last = word.trim_end_matches('/').rsplit('/').next();
    let has_ending = last.is_some_and(|last| last.trim_start_matches('.').contains('.'));
    !has_ending && (word.contains('/') || OUTPUTS.split_ascii_whitespace().any(|name| name == word))
}

/// Returns whether there are signs of writing a file there, and none of reading it.
fn is_written(
    context: &RepairContext<'_>,
    failure: &Failure,
    text: &str,
    folder: &RelPath,
) -> bool {
    let line = failure_text::blocker(failure);
    let has = |line: &str, signs: &[&str]| signs.iter().any(|sign| line.contains(sign));
    if has(line, &READS) {
        return false;
    }
    if is_about_folder(line) {
        let said = line.to_ascii_lowercase();
        if has(&said, &READ_WORDS) {
            return false;
        }
        if has(&said, &WRITE_WORDS) {
            return true;
        }
    }
    let lines = || failure_text::tail(context.output).chain([line]);
    let mut near = lines().filter(|line| line.contains(text));
    if near.any(|line| has(line, &WRITES)) || lines().any(|line| has(line, &FRAMES)) {
        return true;
    }
    let mut near = lines().filter(|line| line.contains(text));
    let is_opened = near.any(|line| line.contains("open("));
    if is_opened || lines().any(|line| has(line, &READERS)) {
        // It was opened without a sign of writing, but opening a database creates it.
        return line.contains(SQLITE);
    }
    let mut parts = folder.as_path().iter();
    let is_output = parts.any(|part| OUTPUTS.split(' ').any(|name| part == name));
    is_output || line.contains(SQLITE) || is_redirected(context, text)
}

/// Returns whether the task's own commands write there.
fn is_redirected(context: &RepairContext<'_>, text: &str) -> bool {
    let signs = ["> ", ">", "-o ", "--output ", "--output=", "tee "];
    let mut written = signs.iter().map(|sign| format!("{sign}{text}/"));
    written.any(|written| context.runs(&written))
}
