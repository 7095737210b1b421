//! Observes things that checks depend on but git doesn't show.
//!
//! The work is bounded: small files are read; everything else is identified by size, time and
//! inode; very large folders are only partly observed.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use regreen_model::{Hook, PackageFolder, Surroundings};
use sha2::{Digest as _, Sha256};

use crate::{Git, GitError, PathStatus, RelPath, path_status};

/// How much is read of hooks and files in git's `info` folder.
const MAX_READ: u64 = 256 * 1024;
/// How many files of a package folder are observed.
const MAX_FILES: usize = 30_000;
/// How many ignored files are observed.
const MAX_IGNORED: usize = 5_000;

/// Folders of programs and libraries that only installers change.
const PACKAGE_FOLDERS: [&str; 5] = ["node_modules", ".venv", "venv", "env", "vendor"];

/// Files in which installers keep records.
const RECORDS: [&str; 5] = [
    ".package-lock.json",
    ".yarn-integrity",
    ".yarn-state.yml",
    ".modules.yaml",
    "modules.txt",
];

/// The file in which `composer` keeps records, inside its folder.
const COMPOSER_RECORD: &str = "composer/installed.json";

/// Observes a workspace; without git, only the folders that installers fill. `ignored` lists what
/// git ignores, if a scan of the work tree has shown that.
///
/// # Errors
/// Returns an error if git fails.
pub fn observe_surroundings(
    root: &Path,
    git: Option<&Git>,
    ignored: Option<Vec<Vec<u8>>>,
) -> Result<Surroundings, GitError> {
    let mut seen = Surroundings {
        packages: package_folders(root),
        ..Surroundings::default()
    };
    let Some(git) = git else { return Ok(seen) };
    let common = git.common();
    let settings = git.own_settings()?;
    let hooks = git.hooks_folder()?;
    seen.hooks = hooks_in(root, &hooks);
    seen.hooks_folder = shown(root, &hooks);
    seen.info = files_in(&common.join("info"));
    let own_excludes = settings.get("core.excludesfile");
    let own_excludes = own_excludes.and_then(|values| values.last());
    let own_excludes = own_excludes.map(|path| root.join(path));
    let mut excludes = Vec::new();
    for file in [Some(common.join("info/exclude")), own_excludes]
        .into_iter()
        .flatten()
    {
        seen.hidden.extend(named(&git.hidden_by(&file)?));
        excludes.extend(read_start(&file));
        excludes.push(b'\n');
    }
    seen.excludes = hex(&excludes);
    let prints = settings
        .into_iter()
        .map(|(key, values)| (key, hex(values.join("\0").as_bytes())));
    seen.settings = prints.collect();
    let ignored = match ignored {
        Some(ignored) => ignored,
        None => git.ignored_entries()?,
    };
    seen.ignored = ignored
        .into_iter()
        .filter(|name| !is_in_package_folder(name))
        .map(|name| (text(&name), root.join(OsStr::from_bytes(&name))))
        .filter(|(name, path)| !name.ends_with('/') || holds_python(path))
        .take(MAX_IGNORED)
        .map(|(name, path)| (name, fingerprint_of_path(&path)))
        .collect();
    Ok(seen)
}

/// Returns a value that changes whenever git's settings, excludes or hooks do, judged only by the
/// metadata of their files.
#[must_use]
pub fn stamp_of_surroundings(git: &Git, hooks_folder: &str) -> String {
    let common = git.common();
    let hooks = git.root().join(hooks_folder);
    let mut paths = vec![
        common.join("config"),
        git.dir().join("config.worktree"),
        hooks.clone(),
    ];
    paths.extend(sorted(&common.join("info")));
    paths.extend(sorted(&hooks));
    let stamps = paths.iter().map(|path| {
        let found = path.symlink_metadata();
        let stamp = found.map(|found| {
            // This also detects a change of permissions.
            let (at, inode) = ((found.ctime(), found.ctime_nsec()), found.ino());
            format!("{at:?} {inode} {}", found.size())
        });
        format!("{} {}\n", path.display(), stamp.unwrap_or_default())
    });
    hex(stamps.collect::<String>().as_bytes())
}

/// Returns whether Python may import a folder as a package. Reports and caches don't matter.
fn holds_python(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths = entries.map(|entry| entry.path());
    paths.any(|path| path.extension() == Some(OsStr::new("py")))
}

fn shown(root: &Path, path: &Path) -> String {
    let inner = path.strip_prefix(root).unwrap_or(path);
    inner.to_string_lossy().into_owned()
}

fn text(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

/// Returns the names outside of package folders, as text.
fn named(names: &[Vec<u8>]) -> BTreeSet<String> {
    let outside = names.iter().filter(|name| !is_in_package_folder(name));
    outside.take(MAX_IGNORED).map(|name| text(name)).collect()
}

fn is_in_package_folder(name: &[u8]) -> bool {
    let mut parts = name.split(|byte| *byte == b'/');
    parts.any(|part| {
        let skipped = [
            &b"__pycache__"[..],
            b"target",
            b"dist",
            b"build",
            b".regreen",
        ];
        skipped.contains(&part)
            || PACKAGE_FOLDERS
                .iter()
                .any(|folder| folder.as_bytes() == part)
    })
}

fn hooks_in(root: &Path, folder: &Path) -> BTreeMap<String, Hook> {
    let mut hooks = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (
            entry.path(),
            entry.file_name().to_string_lossy().into_owned(),
        );
        let Ok(found) = path.metadata() else { continue };
        if !found.is_file() || name.ends_with(".sample") {
            continue;
        }
        let content = read_start(&path);
        let inside = RelPath::inside(root, &path).ok();
        let inside = inside.filter(|place| !place.is_within(".git"));
        let hook = Hook {
            does_something: found.permissions().mode() & 0o111 != 0 && has_command(&content),
            tracked: inside.is_some_and(|place| path_status(root, &place) == PathStatus::Tracked),
            content: hex(&content),
        };
        hooks.insert(name, hook);
    }
    hooks
}

/// Returns whether a script does anything before it ends. A binary always counts.
fn has_command(content: &[u8]) -> bool {
    let text = String::from_utf8_lossy(content);
    let is_idle = |line: &&str| {
        line.is_empty()
            || line.starts_with('#')
            || line.starts_with("set ")
            || matches!(*line, "true" | ":")
    };
    let first = text.lines().map(str::trim).find(|line| !is_idle(line));
    first.is_some_and(|line| {
        let mut words = line.split([' ', ';', '&', '|']);
        let is_exit = words.next() == Some("exit");
        let is_success = words.next().is_none_or(|status| matches!(status, "" | "0"));
        !(is_exit && is_success) && line != "exec true"
    })
}

/// Returns the fingerprints of the small files in a folder.
fn files_in(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        // `git gc` writes `refs` for dumb web servers.
        .filter(|entry| entry.path().is_file() && entry.file_name() != "refs")
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, hex(&read_start(&entry.path())))
        })
        .collect()
}

fn read_start(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Ok(file) = crate::open_file(path) {
        let _what_can_be_read = file.take(MAX_READ).read_to_end(&mut bytes);
    }
    bytes
}

fn hex(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn package_folders(root: &Path) -> BTreeMap<String, PackageFolder> {
    let mut found = BTreeMap::new();
    for folder in libraries(root) {
        let place = root.join(&folder);
        if place.symlink_metadata().is_ok_and(|found| found.is_dir()) {
            let mut packages = package_folder(&place, MAX_FILES);
            packages.tracked = RelPath::inside(root, &place)
                .is_ok_and(|inside| path_status(root, &inside) == PathStatus::Tracked);
            found.insert(folder, packages);
        }
    }
    found
}

/// Returns the folders with packages and programs, relative to the workspace.
fn libraries(root: &Path) -> Vec<String> {
    let mut folders: Vec<String> = ["node_modules", "node_modules/.bin", "vendor"]
        .map(str::to_owned)
        .to_vec();
    for environment in [".venv", "venv", "env"] {
        if !root.join(environment).join("pyvenv.cfg").is_file() {
            continue;
        }
        folders.push(format!("{environment}/bin"));
        let lib = root.join(environment).join("lib");
        for entry in fs::read_dir(lib).into_iter().flatten().flatten() {
            let python = entry.file_name().to_string_lossy().into_owned();
            folders.push(format!("{environment}/lib/{python}/site-packages"));
        }
    }
    folders
}

/// Computes the fingerprints of each package and of the installers' records.
fn package_folder(folder: &Path, mut room: usize) -> PackageFolder {
    let mut found = PackageFolder::default();
    let mut records = records_beside(folder);
    let composer = fingerprint_of_path(&folder.join(COMPOSER_RECORD));
    if !composer.is_empty() {
        records.push_str(&format!("{COMPOSER_RECORD} {composer}\n"));
    }
    for path in sorted(folder) {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let is_record = RECORDS.contains(&name.as_str()) || name.ends_with(".dist-info");
        if is_record {
            records.push_str(&format!("{name} {}\n", record_stamp(&path)));
        } else if name != "__pycache__" && !name.starts_with('.') {
            let mut hasher = Sha256::new();
            let is_whole = hash_tree(&path, &mut hasher, &mut room);
            let print = is_whole.then(|| hex(&hasher.finalize()));
            found.entries.insert(name, print.unwrap_or_default());
        }
    }
    if !records.is_empty() {
        found.records = hex(records.as_bytes());
    }
    found
}

/// Returns the records for a folder of programs, which are installed along with the packages beside
/// them.
fn records_beside(folder: &Path) -> String {
    let is_programs = folder.ends_with("bin") || folder.ends_with(".bin");
    let Some(parent) = folder.parent().filter(|_| is_programs) else {
        return String::new();
    };
    let mut beside: Vec<PathBuf> = vec![parent.to_owned()];
    beside.extend(
        sorted(&parent.join("lib"))
            .iter()
            .map(|lib| lib.join("site-packages")),
    );
    let records = beside
        .iter()
        .flat_map(|folder| sorted(folder))
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            RECORDS.contains(&name.as_ref()) || name.ends_with(".dist-info")
        });
    records
        .map(|path| format!("{} {}\n", path.display(), record_stamp(&path)))
        .collect()
}

/// Returns the state of an installer's record.
fn record_stamp(path: &Path) -> String {
    let record = if path.is_dir() {
        path.join("RECORD")
    } else {
        path.to_owned()
    };
    fingerprint_of_path(&record)
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// Hashes a tree. Returns whether it was within the limit.
fn hash_tree(path: &Path, hasher: &mut Sha256, room: &mut usize) -> bool {
    let Ok(found) = path.symlink_metadata() else {
        return true;
    };
    let name = path.file_name().unwrap_or_default();
    if name == "__pycache__" || name == ".cache" {
        return true;
    }
    if *room == 0 {
        return false;
    }
    *room -= 1;
    if found.is_dir() {
        let inner = sorted(path);
        return inner.iter().all(|inner| hash_tree(inner, hasher, room));
    }
    hasher.update(path.as_os_str().as_bytes());
    hasher.update(fingerprint(path, &found).as_bytes());
    true
}

fn fingerprint_of_path(path: &Path) -> String {
    path.symlink_metadata()
        .map(|found| fingerprint(path, &found))
        .unwrap_or_default()
}

/// Returns a fingerprint. Folders are identified by their inode, because their contents are listed
/// separately.
fn fingerprint(path: &Path, found: &Metadata) -> String {
    if found.is_symlink() {
        let target = fs::read_link(path).unwrap_or_default();
        return format!("-> {}", target.display());
    }
    if found.is_dir() {
        return format!("folder {}", found.ino());
    }
    let (size, inode) = (found.size(), found.ino());
    format!("{size} {} {} {inode}", found.mtime(), found.mtime_nsec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_that_ends_before_it_does_anything_has_no_command() {
        for script in [
            "",
            "#!/bin/sh\n",
            "exit 0\nmake lint\n",
            "set -e\n\nexit 0; make lint\n",
        ] {
            assert!(!has_command(script.as_bytes()), "{script:?}");
        }
        for script in [
            "make lint\nexit 0\n",
            "set -e\nmake lint\n",
            "[ -t 0 ] || exit 0\nmake\n",
            "#!/bin/sh\nexit 1\n",
        ] {
            assert!(has_command(script.as_bytes()), "{script:?}");
        }
    }

    #[test]
    fn a_package_beyond_the_bound_has_a_name_and_no_fingerprint() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "b"] {
            let package = folder.path().join(name);
            fs::create_dir(&package).unwrap();
            fs::write(package.join("1"), "1").unwrap();
        }
        let seen = package_folder(folder.path(), 3);
        assert_eq!(seen.entries["a"].len(), 32);
        assert_eq!(seen.entries["b"], "");
    }
}
