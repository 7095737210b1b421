//! Where the product touches the world outside the workspace's files.

use std::path::PathBuf;

use crate::arrows::DEV_ONLY;
use crate::tree;

/// All places that start a program, and whose program it is.
const STARTERS: [(&str, &str); 7] = [
    (
        "crates/cli/src/commands/mcp.rs",
        "regreen itself, for a tool",
    ),
    (
        "crates/cli/src/commands/run/detach.rs",
        "regreen itself, detached",
    ),
    (
        "crates/cli/src/commands/run/person/editor.rs",
        "the user's own editor",
    ),
    ("crates/cli/src/user_program.rs", "the user's own"),
    ("crates/supervisor/src/keeper.rs", "agents, Verify, hooks"),
    (
        "crates/supervisor/src/keepers.rs",
        "regreen itself, as keeper",
    ),
    ("crates/workspace/src/git/plain_runner.rs", "git"),
];

/// All places that read files other than through `workspace`, which refuses everything but regular
/// files and limits how much it reads.
const READERS: [(&str, &str); 14] = [
    (
        "crates/cli/src/commands/demo/project.rs",
        "regreen's own demo",
    ),
    (
        "crates/cli/src/commands/explain.rs",
        "an open pipe of the shell",
    ),
    (
        "crates/repairs/src/inspections/own_processes.rs",
        "small regular files, and the system's",
    ),
    ("crates/repairs/src/manifests/mod.rs", "small regular files"),
    ("crates/runtime/src/atomic_file.rs", "folders, to sync them"),
    (
        "crates/runtime/src/delegate/log.rs",
        "a lock of regreen's own",
    ),
    ("crates/store/src/store.rs", "the journal, a regular file"),
    (
        "crates/supervisor/src/last_copy.rs",
        "the plan, if it is a regular file",
    ),
    ("crates/supervisor/src/system/connection.rs", "the system's"),
    ("crates/supervisor/src/system/linux.rs", "the system's"),
    (
        "crates/supervisor/src/system/process_info.rs",
        "the system's",
    ),
    ("crates/workspace/src/files/bounded.rs", "the one place"),
    ("crates/workspace/src/files/real_disk.rs", "folders"),
    ("crates/workspace/src/git/scratch_index.rs", "git's index"),
];

/// Whether a line of code uses `std::process::Command`.
fn starts_programs(line: &str) -> bool {
    line.contains("process::") && line.contains("Command")
}

/// Whether a line of code reads a file by its path.
fn reads_files(line: &str) -> bool {
    let calls = [
        "fs::read(",
        "read_to_string(&",
        "fs::read_to_string(",
        "File::open(",
    ];
    let is_call = |call: &&str| line.contains(*call);
    calls.iter().any(is_call) && !line.contains(".read_to_string(&mut")
}

/// Returns the code of a source file, without its tests.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .take_while(|line| !line.starts_with("#[cfg(test)]"))
}

/// Returns the source files of the product, with their texts.
pub(crate) fn sources() -> impl Iterator<Item = (PathBuf, String)> {
    let is_source = |path: &PathBuf| {
        let is_rust = path.extension().is_some_and(|extension| extension == "rs");
        let is_product = !DEV_ONLY
            .iter()
            .any(|name| path.iter().nth(1) == Some(name.as_ref()));
        let is_in_src = path.iter().nth(2).is_some_and(|folder| folder == "src")
            && path.iter().all(|folder| folder != "tests");
        is_rust && path.starts_with("crates") && is_product && is_in_src
    };
    let files = tree::files().into_iter().filter(is_source);
    files.map(|path| (path.clone(), tree::read(path)))
}

#[test]
fn programs_are_started_in_these_places_only() {
    let found: Vec<PathBuf> = sources()
        .filter(|(_, text)| text.lines().any(starts_programs))
        .map(|(path, _)| path)
        .collect();
    assert_eq!(found, STARTERS.map(|(path, _)| PathBuf::from(path)));
}

/// Where git calls are built and started. A single place builds them all, and turns off what a
/// repository could make git run.
const GIT: [(&str, &str, &str); 6] = [
    (
        "GitCall {",
        "crates/workspace/src/git/invocation.rs",
        "makes them",
    ),
    (
        "Invocation::with_hooks(",
        "crates/workspace/src/git/commit.rs",
        "the user's own commit",
    ),
    (
        "Invocation::transferring(",
        "crates/workspace/src/git/remote.rs",
        "fetches, pushes and merges for the user",
    ),
    (
        "OsString::from(\"git\")",
        "crates/runtime/src/tree/git_tree.rs",
        "runs it under a keeper",
    ),
    (
        "program: \"git\"",
        "crates/workspace/src/git/plain_runner.rs",
        "runs all others",
    ),
    // A repair is inspected and applied as installers are.
    (
        "ToolCommand::new(\"git ",
        "crates/repairs/src/inspections/project_setup.rs",
        "fetches submodules",
    ),
];

#[test]
fn every_call_of_git_goes_through_one_place() {
    for (words, place, what) in GIT {
        assert_eq!(places_with(words), [PathBuf::from(place)], "{what}");
    }
}

/// Returns the source files whose code, without tests, contains these words.
fn places_with(words: &str) -> Vec<PathBuf> {
    let has_them = |text: &str| {
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        code.replace("pub struct GitCall {", "").contains(words)
    };
    let found = sources().filter(|(_, text)| has_them(text));
    found.map(|(path, _)| path).collect()
}

#[test]
fn files_are_read_in_these_places_only() {
    let known = READERS.map(|(path, _)| PathBuf::from(path));
    let found: Vec<PathBuf> = sources()
        .filter(|(_, text)| code(text).any(reads_files))
        .map(|(path, _)| path)
        .filter(|path| !known.contains(path))
        .collect();
    assert_eq!(
        found,
        [""; 0].map(PathBuf::from),
        "use regreen_workspace::read_file"
    );
}

#[test]
fn a_file_that_is_read_is_found() {
    for line in [
        "let text = fs::read(path)?;",
        "std::fs::read_to_string(x)",
        "File::open(path)",
    ] {
        assert!(reads_files(line), "{line}");
    }
    assert!(!reads_files("let text = read_text_file(&path, MAX_FILE)?;"));
    assert!(!reads_files("file.take(9).read_to_string(&mut text)"));
    let test = "fn a() {}\n#[cfg(test)]\nmod tests { fs::read(x) }";
    assert!(!code(test).any(reads_files));
}

#[test]
fn a_program_that_is_started_is_found() {
    for line in [
        "use std::process::Command;",
        "use std::process::{Child, Command};",
        "let mut child = std::process::Command::new(x);",
        "use std::os::unix::process::CommandExt;",
    ] {
        assert!(starts_programs(line), "{line}");
    }
    assert!(!starts_programs("use regreen_engine::{Command, Input};"));
    assert!(!starts_programs("use std::process::ExitCode;"));
}
