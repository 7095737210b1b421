use std::fs;
use std::path::Path;

use regreen_workspace::{MAX_FILE, read_file};
use serde::{Deserialize, Serialize};

use crate::package_names::is_listed;

/// The kind of a manifest or lock file, determined by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FileKind {
    Requirements,
    PyProject,
    SetupCfg,
    SetupPy,
    Pipfile,
    PythonLock,
    PackageJson,
    NpmLock,
    /// A lock file of yarn, pnpm or bun.
    NodeLock,
    /// Settings of a package manager.
    NodeSettings,
    CargoToml,
    CargoLock,
    GoMod,
    Gemfile,
    GemfileLock,
    Composer,
    Makefile,
    Justfile,
    Gitmodules,
    PipfileLock,
    ComposerLock,
    /// Settings of cargo, uv and others.
    ManagerSettings,
    /// Code that a target or a build runs or loads.
    Script,
    /// Any other file that must not change.
    Other,
}

const BY_NAME: &[(&str, FileKind)] = &[
    ("pyproject.toml", FileKind::PyProject),
    ("setup.cfg", FileKind::SetupCfg),
    ("setup.py", FileKind::SetupPy),
    ("Pipfile", FileKind::Pipfile),
    ("poetry.lock", FileKind::PythonLock),
    ("uv.lock", FileKind::PythonLock),
    ("pdm.lock", FileKind::PythonLock),
    ("pylock.toml", FileKind::PythonLock),
    ("package.json", FileKind::PackageJson),
    ("package-lock.json", FileKind::NpmLock),
    ("npm-shrinkwrap.json", FileKind::NpmLock),
    ("yarn.lock", FileKind::NodeLock),
    ("pnpm-lock.yaml", FileKind::NodeLock),
    ("bun.lock", FileKind::NodeLock),
    ("bun.lockb", FileKind::NodeLock),
    (".npmrc", FileKind::NodeSettings),
    (".yarnrc", FileKind::NodeSettings),
    (".yarnrc.yml", FileKind::NodeSettings),
    (".pnpmfile.cjs", FileKind::NodeSettings),
    ("pnpm-workspace.yaml", FileKind::Other),
    ("bunfig.toml", FileKind::NodeSettings),
    ("Cargo.toml", FileKind::CargoToml),
    ("Cargo.lock", FileKind::CargoLock),
    ("go.mod", FileKind::GoMod),
    ("go.sum", FileKind::Other),
    ("go.work", FileKind::GoMod),
    ("rust-toolchain.toml", FileKind::ManagerSettings),
    ("rust-toolchain", FileKind::ManagerSettings),
    ("Gemfile", FileKind::Gemfile),
    ("Gemfile.lock", FileKind::GemfileLock),
    ("composer.json", FileKind::Composer),
    ("composer.lock", FileKind::ComposerLock),
    ("GNUmakefile", FileKind::Makefile),
    ("makefile", FileKind::Makefile),
    ("Makefile", FileKind::Makefile),
    ("justfile", FileKind::Justfile),
    ("Justfile", FileKind::Justfile),
    (".justfile", FileKind::Justfile),
    (".gitmodules", FileKind::Gitmodules),
    ("manage.py", FileKind::Other),
    ("alembic.ini", FileKind::Other),
    ("knexfile.js", FileKind::Other),
    ("Pipfile.lock", FileKind::PipfileLock),
    ("uv.toml", FileKind::ManagerSettings),
    ("poetry.toml", FileKind::ManagerSettings),
    ("pdm.toml", FileKind::ManagerSettings),
    (".pdm.toml", FileKind::ManagerSettings),
    ("pip.conf", FileKind::ManagerSettings),
    (".python-version", FileKind::Other),
    ("MANIFEST.in", FileKind::Other),
    (".pnpmfile.mjs", FileKind::NodeSettings),
    ("hatch_build.py", FileKind::Script),
    ("pdm_build.py", FileKind::Script),
];

/// Folders with manifests of other projects.
const NOT_OURS: &str = "node_modules target vendor venv env dist build site-packages third_party";

/// Deeper manifests rarely belong to the project.
const MAX_DEPTH: usize = 3;
/// How many files are examined.
const MAX_ENTRIES: usize = 20_000;

/// Finds the manifests below `root`.
pub(super) fn find(root: &Path) -> Vec<(String, FileKind)> {
    let (mut found, mut left) = (Vec::new(), MAX_ENTRIES);
    visit(root, "", MAX_DEPTH, &mut left, &mut found);
    let is_file = |path: &&str| {
        let stat = root.join(path).symlink_metadata();
        stat.is_ok_and(|stat| stat.is_file())
    };
    let hidden = HIDDEN.iter().copied().filter(is_file);
    found.extend(hidden.map(|path| (path.to_owned(), FileKind::ManagerSettings)));
    found
}

/// Settings in folders that aren't searched.
const HIDDEN: [&str; 3] = [".cargo/config.toml", ".cargo/config", ".bundle/config"];

fn visit(
    folder: &Path,
    prefix: &str,
    depth: usize,
    left: &mut usize,
    found: &mut Vec<(String, FileKind)>,
) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let Some(rest) = left.checked_sub(1) else {
            return;
        };
        *left = rest;
        let (name, kind) = (entry.file_name(), entry.file_type());
        let (Some(name), Ok(kind)) = (name.to_str(), kind) else {
            continue;
        };
        let path = format!("{prefix}{name}");
        if kind.is_dir() && depth > 0 && is_ours(name) {
            visit(&entry.path(), &format!("{path}/"), depth - 1, left, found);
        } else if kind.is_file() {
            found.extend(kind_of(&path, name).map(|kind| (path, kind)));
        }
    }
}

/// Larger packages inside the workspace always require consent.
const MAX_FOLDER_FILES: usize = 3000;
const MAX_FOLDER_BYTES: u64 = 64 * 1024 * 1024;
/// Files that installers and interpreters leave in a package.
const LEFT_BEHIND: &str = ".git node_modules __pycache__ .venv target .pytest_cache .mypy_cache";

/// Returns a digest of a file, or of all files in a folder; `None` if it doesn't exist, is too
/// large, or leads elsewhere.
pub(super) fn folder_digest(root: &Path, folder: &str) -> Option<String> {
    let (mut open, mut listed, mut bytes) = (vec![folder.to_owned()], Vec::new(), 0);
    while let Some(path) = open.pop() {
        let full = root.join(&path);
        let stat = full.symlink_metadata().ok()?;
        if stat.is_dir() {
            let names = fs::read_dir(&full).ok()?.flatten();
            let names = names.filter_map(|entry| entry.file_name().into_string().ok());
            let names =
                names.filter(|name| !is_listed(LEFT_BEHIND, name) && !name.ends_with(".egg-info"));
            open.extend(names.map(|name| format!("{path}/{name}")));
        } else if stat.is_file() {
            bytes += stat.len();
            if bytes > MAX_FOLDER_BYTES || listed.len() >= MAX_FOLDER_FILES {
                return None;
            }
            listed.push(format!(
                "{path} {}",
                super::digest(&read_file(&full, MAX_FILE).ok()?)
            ));
        } else {
            return None;
        }
    }
    listed.sort();
    (!listed.is_empty()).then(|| super::digest(listed.join("\n").as_bytes()))
}

fn is_ours(folder: &str) -> bool {
    !folder.starts_with('.') && !is_listed(NOT_OURS, folder)
}

fn kind_of(path: &str, name: &str) -> Option<FileKind> {
    let known = BY_NAME.iter().find(|(known, _)| *known == name);
    known
        .map(|(_, kind)| *kind)
        .or_else(|| is_requirements(path, name).then_some(FileKind::Requirements))
}

/// Matches `requirements.txt`, `requirements-dev.txt`, `dev-requirements.txt`,
/// `requirements/test.txt`.
fn is_requirements(path: &str, name: &str) -> bool {
    let is_in_folder = path.split('/').rev().nth(1) == Some("requirements");
    let has_ending = name.ends_with(".txt") || name.ends_with(".in");
    has_ending && (name.contains("requirements") || name.contains("constraints") || is_in_folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_are_found_outside_of_installed_packages() {
        let root = tempfile::tempdir().unwrap();
        for path in [
            "requirements.txt",
            "requirements/dev.txt",
            "web/package.json",
            "node_modules/x/package.json",
            ".venv/pyproject.toml",
            "notes.txt",
        ] {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let mut found: Vec<String> = find(root.path())
            .into_iter()
            .map(|(path, _)| path)
            .collect();
        found.sort();
        assert_eq!(
            found,
            [
                "requirements.txt",
                "requirements/dev.txt",
                "web/package.json"
            ]
        );
    }
}
