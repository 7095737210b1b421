//! The project's own programs, and which of them the processes of a run may find in PATH.
//!
//! An agent can write its own `grep` or `python3` into `.venv/bin` or `node_modules/.bin`. So PATH
//! never gets such a folder. It gets one with launchers for those programs that were there when the
//! run started or that our own installations wrote, and that haven't changed since.

mod carried;
mod fingerprint;
mod launchers;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

pub use carried::carried_environment;
use fingerprint::{Stamp, digest_of, fingerprint, stamp};
pub(crate) use launchers::launcher_folder;
pub use launchers::renew_launchers;

/// The programs of a workspace that may be used: those that were there when the run started, those
/// that our own installations have written since, and those that a person was asked about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramRecord {
    /// The folders by path, relative to the root: `.venv/bin`.
    folders: BTreeMap<String, RecordedFolder>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct RecordedFolder {
    /// A digest of a virtual environment's settings, which name the library that its Python uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    settings: Option<String>,
    /// Fingerprints by name.
    programs: BTreeMap<String, String>,
}

/// The state of all programs before an installation.
#[derive(Debug)]
pub(crate) struct ProgramStamps(BTreeMap<String, BTreeMap<String, Stamp>>);

impl ProgramRecord {
    /// Records the programs that are in the workspace now.
    #[must_use]
    pub fn read(root: &Path) -> Self {
        let Ok(root) = root.canonicalize() else {
            return Self::default();
        };
        let folders = program_folders(&root).into_iter();
        let folders = folders.map(|folder| {
            let recorded = RecordedFolder::read(&root, &folder, |_| true);
            (folder, recorded)
        });
        Self {
            folders: folders.collect(),
        }
    }

    /// Records one program and, in a virtual environment, the Python and the settings it runs with.
    pub(crate) fn of_program(root: &Path, folder: &str, name: &str) -> Self {
        let is_environment = settings_of(root, folder).is_some();
        let recorded = RecordedFolder::read(root, folder, |other| {
            other == name || (is_environment && other == "python")
        });
        Self {
            folders: BTreeMap::from([(folder.to_owned(), recorded)]),
        }
    }

    /// Adds the programs that an installation wrote, replacing those that it overwrote.
    pub fn add(&mut self, installed: Self) {
        for (folder, added) in installed.folders {
            let recorded = self.folders.entry(folder).or_default();
            recorded.settings = added.settings.or(recorded.settings.take());
            recorded.programs.extend(added.programs);
        }
    }

    /// Returns whether the record is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.folders.is_empty()
    }

    /// Returns whether a program may be used: it is recorded, and neither it nor its environment
    /// has changed.
    pub(crate) fn has(&self, root: &Path, folder: &str, name: &str) -> bool {
        let recorded = self.folders.get(folder);
        recorded.is_some_and(|recorded| {
            recorded.is_intact(root, folder) && recorded.has(root, folder, name)
        })
    }

    /// Returns the names in a folder that PATH may get. Names in the system's own folders are
    /// excluded, because they would change the meaning of the system's programs; interpreters are
    /// included, because they are the purpose of an environment.
    fn usable(&self, root: &Path, folder: &str, path: &OsStr) -> Vec<&str> {
        let Some(recorded) = self.folders.get(folder) else {
            return Vec::new();
        };
        if !recorded.is_intact(root, folder) {
            return Vec::new();
        }
        let names = recorded.programs.keys().map(String::as_str);
        names
            .filter(|name| is_interpreter(name) || !is_of_system(name, path))
            .filter(|name| recorded.has(root, folder, name))
            .collect()
    }
}

impl RecordedFolder {
    fn read(root: &Path, folder: &str, is_wanted: impl Fn(&str) -> bool) -> Self {
        let names = names_in(&root.join(folder)).into_iter();
        let programs = names.filter(|name| is_wanted(name)).filter_map(|name| {
            let print = fingerprint(root, &root.join(folder).join(&name))?;
            Some((name, print))
        });
        Self {
            settings: settings_of(root, folder),
            programs: programs.take(MAX_PROGRAMS).collect(),
        }
    }

    fn has(&self, root: &Path, folder: &str, name: &str) -> bool {
        let recorded = self.programs.get(name);
        recorded.is_some() && recorded == fingerprint(root, &root.join(folder).join(name)).as_ref()
    }

    /// Returns whether an environment still has the recorded settings and the recorded Python,
    /// which its scripts name in their first line.
    fn is_intact(&self, root: &Path, folder: &str) -> bool {
        let settings = settings_of(root, folder);
        let is_environment = settings.is_some() || self.settings.is_some();
        !is_environment || (self.settings == settings && self.has(root, folder, "python"))
    }
}

impl ProgramStamps {
    pub(crate) fn of(root: &Path) -> Self {
        let folders = program_folders(root).into_iter();
        let stamps = folders.map(|folder| {
            let full = root.join(&folder);
            let names = names_in(&full).into_iter();
            let stamps = names.filter_map(|name| Some((name.clone(), stamp(&full.join(&name))?)));
            (folder, stamps.collect())
        });
        Self(stamps.collect())
    }

    /// Records the programs that were written since. An untouched one that was there before doesn't
    /// become ours because something else was installed beside it.
    pub(crate) fn written_since(&self, root: &Path) -> ProgramRecord {
        let folders = program_folders(root).into_iter();
        let folders = folders.filter_map(|folder| {
            let before = self.0.get(&folder);
            let is_written = |name: &str| {
                let then = before.and_then(|stamps| stamps.get(name));
                then != stamp(&root.join(&folder).join(name)).as_ref()
            };
            let mut recorded = RecordedFolder::read(root, &folder, is_written);
            if before.is_some() {
                recorded.settings = None;
            }
            (!recorded.programs.is_empty()).then_some((folder, recorded))
        });
        ProgramRecord {
            folders: folders.collect(),
        }
    }
}

/// Returns the digest of a virtual environment's settings, given its folder of programs.
fn settings_of(root: &Path, folder: &str) -> Option<String> {
    let environment = folder.strip_suffix("/bin")?;
    digest_of(&root.join(environment).join("pyvenv.cfg"))
}

/// More programs than any project has.
const MAX_PROGRAMS: usize = 5000;

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.take(MAX_PROGRAMS).collect()
}

/// Deeper folders rarely belong to the project.
const MAX_DEPTH: usize = 3;
/// How many folders are examined.
const MAX_FOLDERS: usize = 5000;
/// Folders with other people's projects.
const NOT_OURS: [&str; 4] = ["node_modules", "target", "vendor", "site-packages"];

/// Finds the folders in which package managers put programs.
fn program_folders(root: &Path) -> Vec<String> {
    let (mut found, mut left) = (Vec::new(), MAX_FOLDERS);
    visit(root, "", MAX_DEPTH, &mut left, &mut found);
    found.sort();
    found
}

fn visit(folder: &Path, prefix: &str, depth: usize, left: &mut usize, found: &mut Vec<String>) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    for entry in folders {
        let Some(rest) = left.checked_sub(1) else {
            return;
        };
        *left = rest;
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        let (full, path) = (entry.path(), format!("{prefix}{name}"));
        let bin = match name.as_str() {
            "node_modules" => Some(".bin"),
            "vendor" => Some("bin"),
            _ if full.join("pyvenv.cfg").symlink_metadata().is_ok() => Some("bin"),
            _ => None,
        };
        let is_folder = |bin: &&str| {
            let stat = full.join(bin).symlink_metadata();
            stat.is_ok_and(|stat| stat.is_dir())
        };
        match bin {
            Some(bin) => found.extend(
                Some(bin)
                    .filter(is_folder)
                    .map(|bin| format!("{path}/{bin}")),
            ),
            None if depth > 0 && !name.starts_with('.') && !NOT_OURS.contains(&name.as_str()) => {
                visit(&full, &format!("{path}/"), depth - 1, left, found);
            }
            None => {}
        }
    }
}

/// Folders whose programs come with the system. (Those of `/usr/local` and of the home folder are
/// installed by people, and an environment should take precedence over them.)
const OF_SYSTEM: [&str; 5] = [
    "/bin",
    "/sbin",
    "/usr/bin",
    "/usr/sbin",
    "/run/current-system/sw/bin",
];

fn is_of_system(name: &str, path: &OsStr) -> bool {
    let mut folders = std::env::split_paths(path)
        .filter(|folder| OF_SYSTEM.iter().any(|system| folder == Path::new(system)));
    folders.any(|folder| folder.join(name).symlink_metadata().is_ok())
}

/// Recognizes `node`, `python3.12`, and the pip that belongs to a Python.
fn is_interpreter(name: &str) -> bool {
    let rest = name
        .strip_prefix("python")
        .or_else(|| name.strip_prefix("pip"));
    let is_version = |rest: &str| rest.chars().all(|c| c.is_ascii_digit() || c == '.');
    name == "node" || rest.is_some_and(is_version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_interpreters_may_have_a_name_of_the_system() {
        for name in ["python", "python3", "python3.12", "pip", "pip3.12", "node"] {
            assert!(is_interpreter(name), "{name}");
        }
        for name in [
            "grep",
            "bash",
            "sh",
            "python-grep",
            "pipx",
            "nodejs",
            "pytest",
        ] {
            assert!(!is_interpreter(name), "{name}");
        }
        let path = OsStr::new("/usr/local/bin:/usr/bin:/bin");
        assert!(is_of_system("sh", path));
        assert!(!is_of_system("zqtool", path));
        assert!(!is_of_system("sh", OsStr::new("/opt/tools")));
    }
}
