//! The files of the repository, for these tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folders without any of our own files.
const NOT_OURS: [&str; 5] = [".git", "target", ".regreen", "corpus", "artifacts"];

pub(crate) fn root() -> &'static Path {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().expect("xtask stands in the repository")
}

pub(crate) fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the names of the folders below `crates/`.
pub(crate) fn crates() -> Vec<String> {
    let mut names: Vec<String> = entries(&root().join("crates"))
        .filter(|path| path.join("Cargo.toml").is_file())
        .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    assert!(!names.is_empty());
    names
}

/// Returns all files of the repository, relative to its top folder, sorted: git lists new files first.
pub(crate) fn files() -> Vec<PathBuf> {
    let mut files = tracked().unwrap_or_else(|| {
        let mut files = Vec::new();
        walk(root(), &mut files);
        files
    });
    files.sort();
    assert!(files.contains(&PathBuf::from("Cargo.toml")));
    files
}

/// Returns the files that git tracks or would add; `None` outside a checkout.
fn tracked() -> Option<Vec<PathBuf>> {
    let arguments = [
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ];
    let output = Command::new("git")
        .args(arguments)
        .current_dir(root())
        .output()
        .ok()?;
    let names = String::from_utf8(output.stdout).ok()?;
    let exists = |name: &&str| !name.is_empty() && root().join(name).is_file();
    let files: Vec<PathBuf> = names
        .split('\0')
        .filter(exists)
        .map(PathBuf::from)
        .collect();
    (output.status.success() && !files.is_empty()).then_some(files)
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    for path in entries(folder) {
        let name = path.file_name().and_then(|name| name.to_str());
        if name.is_some_and(|name| NOT_OURS.contains(&name)) || path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            walk(&path, files);
        } else if let Ok(relative) = path.strip_prefix(root()) {
            files.push(relative.to_owned());
        }
    }
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    entries.map(|entry| entry.expect("a folder can be listed").path())
}

#[test]
fn a_walk_finds_what_git_knows() {
    let mut walked = Vec::new();
    walk(root(), &mut walked);
    for file in files() {
        let is_ours = file
            .iter()
            .all(|part| !NOT_OURS.iter().any(|name| part == *name));
        assert!(!is_ours || walked.contains(&file), "{}", file.display());
    }
}
