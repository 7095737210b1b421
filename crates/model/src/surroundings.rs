//! What checks depend on and git does not show: its own configuration, hooks, and what is ignored.
//!
//! An agent may change all of it. Most of that is ordinary: a tool sets up hooks, an installer fills a
//! folder. What weakens a check is not: then the attempt has failed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

/// The observations at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Surroundings {
    /// The folder that git takes hooks from.
    pub hooks_folder: String,
    /// The files in it, by name.
    pub hooks: BTreeMap<String, Hook>,
    /// The repository's own configuration: each key with the fingerprint of its values, which may
    /// be secret.
    pub settings: BTreeMap<String, String>,
    /// Fingerprints of the files in git's `info` folder.
    pub info: BTreeMap<String, String>,
    /// The fingerprint of git's own exclude files.
    pub excludes: String,
    /// Files that only git's own exclude file hides.
    pub hidden: BTreeSet<String>,
    /// Ignored files and folders of Python outside of package folders, with their fingerprints.
    pub ignored: BTreeMap<String, String>,
    /// The folders that installers fill.
    pub packages: BTreeMap<String, PackageFolder>,
    /// Files that are there and whose changes git does not show, because a flag in its index says
    /// so; none if it wasn't asked.
    pub flagged: Option<BTreeSet<String>>,
}

/// A file that git may run as a hook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hook {
    /// The fingerprint of its content.
    pub content: String,
    /// It is executable and has a command in it.
    pub does_something: bool,
    /// Git tracks it, so that its changes are seen.
    pub tracked: bool,
}

/// A folder that an installer fills.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PackageFolder {
    /// The fingerprint of what the installer writes about its work; empty if it writes nothing.
    pub records: String,
    /// Git tracks files in it, so that their changes are seen.
    pub tracked: bool,
    /// Packages and programs, with their fingerprints; empty for those that were not wholly seen.
    pub entries: BTreeMap<String, String>,
}

/// A change that git does not show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tampering {
    /// A check may no longer find what it found before.
    Weakened(String),
    /// It may be as it should be.
    Listed(String),
}

impl fmt::Display for Tampering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Weakened(what) | Self::Listed(what)) = self;
        f.write_str(what)
    }
}

/// Settings that lead git away from the files that it should look at, or let it tell less of them.
const MISLEADING: [&str; 8] = [
    "core.bare",
    "core.fsmonitor",
    "core.ignorestat",
    "core.whitespace",
    "core.worktree",
    "diff.external",
    "diff.ignoresubmodules",
    "status.showuntrackedfiles",
];

/// Files that test runners and interpreters load by themselves, regardless of their author.
const LOADED_UNASKED: [&str; 7] = [
    "conftest.py",
    "sitecustomize.py",
    "usercustomize.py",
    "pytest.ini",
    "tox.ini",
    "jest.config.js",
    ".mocharc.js",
];

/// Libraries and programs that checks run, which a file of that name would replace.
const CHECKERS: [&str; 14] = [
    "pytest",
    "unittest",
    "coverage",
    "tox",
    "nose",
    "mypy",
    "ruff",
    "flake8",
    "hypothesis",
    "jest",
    "vitest",
    "mocha",
    "eslint",
    "tsc",
];

/// What `composer dump-autoload` writes into its folder without installing anything.
const REWRITTEN: [&str; 2] = ["autoload.php", "composer"];

/// Endings of files that a check reads.
const READ_BY_CHECKS: [&str; 21] = [
    "py", "js", "mjs", "cjs", "ts", "tsx", "jsx", "rb", "go", "rs", "java", "kt", "php", "c", "h",
    "cpp", "sh", "toml", "cfg", "ini", "mk",
];

impl Surroundings {
    /// Compares with what is there after an attempt.
    #[must_use]
    pub fn tampering(&self, after: &Self) -> Vec<Tampering> {
        let mut found = self.hook_changes(after);
        found.extend(self.setting_changes(after));
        found.extend(self.info_changes(after));
        found.extend(self.new_flags(after));
        found.extend(self.new_shadows(after));
        for (folder, packages) in &after.packages {
            if let Some(before) = self.packages.get(folder) {
                found.extend(before.changes(folder, packages));
            } else {
                found.push(Tampering::Listed(format!("{folder} is new")));
            }
        }
        found
    }

    fn hook_changes(&self, after: &Self) -> Vec<Tampering> {
        let moved = self.hooks_folder != after.hooks_folder;
        let mut found = Vec::new();
        for (name, hook) in &self.hooks {
            let now = after.hooks.get(name);
            if now == Some(hook) {
                continue;
            }
            let is_lost = hook.does_something && !now.is_some_and(|now| now.does_something);
            found.push(match now {
                None if is_lost && moved => Tampering::Weakened(format!(
                    "the hook {name} no longer runs: git takes hooks from {} now",
                    after.hooks_folder
                )),
                // Git shows it, and so does `regreen diff`.
                _ if hook.tracked && !moved => continue,
                None if is_lost => Tampering::Weakened(format!("the hook {name} was removed")),
                Some(_) if is_lost => Tampering::Weakened(format!(
                    "the hook {name} no longer does anything: it is empty or not executable"
                )),
                None => Tampering::Listed(format!("the hook {name} was removed")),
                Some(_) => Tampering::Listed(format!("the hook {name} was changed")),
            });
        }
        let new = after
            .hooks
            .keys()
            .filter(|name| !self.hooks.contains_key(*name));
        found.extend(new.map(|name| Tampering::Listed(format!("the hook {name} is new"))));
        found
    }

    fn setting_changes(&self, after: &Self) -> Vec<Tampering> {
        let keys: BTreeSet<&String> = self.settings.keys().chain(after.settings.keys()).collect();
        let changed = keys
            .into_iter()
            .filter(|key| self.settings.get(*key) != after.settings.get(*key));
        changed
            .map(|key| {
                let how = match (self.settings.get(key), after.settings.get(key)) {
                    (None, _) => "is new",
                    (_, None) => "was removed",
                    _ => "was changed",
                };
                let what = format!("git's setting {key} {how}");
                if MISLEADING.contains(&key.as_str()) {
                    Tampering::Weakened(what)
                } else {
                    Tampering::Listed(what)
                }
            })
            .collect()
    }

    fn info_changes(&self, after: &Self) -> Vec<Tampering> {
        let names: BTreeSet<&String> = self.info.keys().chain(after.info.keys()).collect();
        let changed = names
            .into_iter()
            .filter(|name| self.info.get(*name) != after.info.get(*name));
        let mut found: Vec<Tampering> = changed
            .map(|name| Tampering::Listed(format!(".git/info/{name} was changed")))
            .collect();
        if self.excludes == after.excludes {
            // Files hidden now are hidden by patterns that were there before.
            return found;
        }
        let newly_hidden = after.hidden.difference(&self.hidden);
        found.extend(
            newly_hidden
                .filter(|path| is_read_by_checks(path))
                .take(MAX_NAMED)
                .map(|path| {
                    Tampering::Weakened(format!(
                        "git's own exclude file hides {path}, which a check may read"
                    ))
                }),
        );
        found
    }

    /// Files that git calls unchanged whatever is in them.
    fn new_flags(&self, after: &Self) -> Vec<Tampering> {
        let (Some(before), Some(after)) = (&self.flagged, &after.flagged) else {
            return Vec::new();
        };
        let new = after.difference(before).take(MAX_NAMED);
        new.map(|path| {
            Tampering::Weakened(format!(
                "git's index hides changes of {path} (assume-unchanged or skip-worktree)"
            ))
        })
        .collect()
    }

    /// Ignored files that are loaded instead of a library, or without being asked for.
    fn new_shadows(&self, after: &Self) -> Vec<Tampering> {
        let changed = after
            .ignored
            .iter()
            .filter(|(path, print)| self.ignored.get(*path) != Some(print));
        changed
            .filter(|(path, _)| after.shadows(path))
            .map(|(path, _)| {
                Tampering::Weakened(format!(
                    "{path} is ignored by git, and checks load it instead of what they should"
                ))
            })
            .collect()
    }

    fn shadows(&self, path: &str) -> bool {
        let name = path
            .trim_end_matches('/')
            .rsplit('/')
            .next()
            .unwrap_or(path);
        let stem = name.split('.').next().unwrap_or(name);
        let is_python = path.ends_with('/') || name.ends_with(".py");
        let is_module = is_python || name.ends_with(".js");
        let at_root = !path.trim_end_matches('/').contains('/');
        // Only Python looks beside the program before it looks where packages are installed.
        let is_installed = self.packages.iter().any(|(folder, packages)| {
            folder.ends_with("site-packages") && packages.entries.contains_key(stem)
        });
        let is_checker = is_module && CHECKERS.contains(&stem);
        LOADED_UNASKED.contains(&name) || (at_root && (is_checker || is_python && is_installed))
    }
}

/// How many hidden files are named.
const MAX_NAMED: usize = 5;

fn is_read_by_checks(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    READ_BY_CHECKS.contains(&ending) || name.to_ascii_lowercase().ends_with("makefile")
}

impl PackageFolder {
    /// An installer that changes a package says so in its records. A package that changed without
    /// that was edited.
    fn changes(&self, folder: &str, after: &Self) -> Vec<Tampering> {
        if self.tracked {
            return Vec::new();
        }
        if self.records != after.records {
            return vec![Tampering::Listed(format!(
                "{folder}: packages were installed"
            ))];
        }
        let replaced = self.entries.iter().filter(|(name, print)| {
            let now = after.entries.get(*name);
            let is_seen = |print: &str| !print.is_empty();
            now.is_some_and(|now| now != *print && is_seen(now) && is_seen(print))
        });
        let mut found: Vec<Tampering> = replaced
            .map(|(name, _)| {
                if self.records.is_empty() || REWRITTEN.contains(&name.as_str()) {
                    return Tampering::Listed(format!("{folder}/{name} was changed"));
                }
                Tampering::Weakened(format!("{folder}/{name} was changed, not by an installer"))
            })
            .collect();
        let new = after
            .entries
            .keys()
            .filter(|name| !self.entries.contains_key(*name));
        found.extend(new.map(|name| {
            let what = format!("{folder}/{name} is new, not by an installer");
            let is_loaded = LOADED_UNASKED.contains(&name.as_str()) || name.ends_with(".pth");
            if is_loaded {
                Tampering::Weakened(what)
            } else {
                Tampering::Listed(what)
            }
        }));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hook(content: &str, does_something: bool) -> Hook {
        Hook {
            content: content.to_owned(),
            does_something,
            tracked: false,
        }
    }

    fn ordinary() -> Surroundings {
        let prints = |names: &[&str]| {
            let prints = names
                .iter()
                .map(|name| ((*name).to_owned(), "1".to_owned()));
            prints.collect::<BTreeMap<_, _>>()
        };
        let packages = PackageFolder {
            records: "r".to_owned(),
            tracked: false,
            entries: prints(&["jest", "reports"]),
        };
        let libraries = PackageFolder {
            records: "r".to_owned(),
            tracked: false,
            entries: prints(&["requests"]),
        };
        Surroundings {
            hooks_folder: ".git/hooks".to_owned(),
            hooks: BTreeMap::from([("pre-commit".to_owned(), hook("lint", true))]),
            info: prints(&["exclude"]),
            packages: BTreeMap::from([
                (".venv/lib/python3/site-packages".to_owned(), libraries),
                ("node_modules".to_owned(), packages),
            ]),
            ..Surroundings::default()
        }
    }

    #[track_caller]
    fn check(change: impl FnOnce(&mut Surroundings), expected: &[&str]) {
        let before = ordinary();
        let mut after = before.clone();
        change(&mut after);
        let found = before.tampering(&after);
        let found: Vec<String> = found
            .iter()
            .map(|one| match one {
                Tampering::Weakened(what) => format!("! {what}"),
                Tampering::Listed(what) => what.clone(),
            })
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_hook_that_no_longer_runs_weakens_the_check() {
        check(
            |after| after.hooks.clear(),
            &["! the hook pre-commit was removed"],
        );
        let emptied =
            "! the hook pre-commit no longer does anything: it is empty or not executable";
        check(
            |after| drop(after.hooks.insert("pre-commit".to_owned(), hook("", false))),
            &[emptied],
        );
        check(
            |after| {
                after.hooks.clear();
                after.hooks_folder = "/dev/null".to_owned();
            },
            &["! the hook pre-commit no longer runs: git takes hooks from /dev/null now"],
        );
    }

    #[test]
    fn harmless_settings_of_tools_are_only_listed() {
        check(
            |after| {
                after.hooks_folder = ".husky/_".to_owned();
                after
                    .hooks
                    .insert("pre-commit".to_owned(), hook("husky", true));
                let set = |value: &str| value.to_owned();
                let settings = &mut after.settings;
                settings.insert("core.hookspath".to_owned(), set(".husky/_"));
                settings.insert("user.name".to_owned(), set("Ann"));
                settings.insert("remote.origin.url".to_owned(), set("git@example.org:x"));
            },
            &[
                "the hook pre-commit was changed",
                "git's setting core.hookspath is new",
                "git's setting remote.origin.url is new",
                "git's setting user.name is new",
            ],
        );
        check(
            |after| {
                let folder = after.packages.get_mut("node_modules").unwrap();
                folder.records = "installed".to_owned();
                folder.entries.insert("jest".to_owned(), "2".to_owned());
            },
            &["node_modules: packages were installed"],
        );
    }

    #[test]
    fn a_hidden_or_shadowing_file_weakens_the_check() {
        check(
            |after| {
                after.info.insert("exclude".to_owned(), "2".to_owned());
                after.excludes = "2".to_owned();
                after.hidden = BTreeSet::from(["notes.md".to_owned(), "src/x.py".to_owned()]);
            },
            &[
                ".git/info/exclude was changed",
                "! git's own exclude file hides src/x.py, which a check may read",
            ],
        );
        check(
            |after| after.hidden = BTreeSet::from(["src/x.py".to_owned()]),
            &[],
        );
        for path in ["pytest.py", "tests/conftest.py", "requests/", "jest.js"] {
            let said = format!(
                "! {path} is ignored by git, and checks load it instead of what they should"
            );
            check(
                |after| drop(after.ignored.insert(path.to_owned(), "1".to_owned())),
                &[said.as_str()],
            );
        }
        for path in ["src/version.py", "reports/", "reports.js", "coverage"] {
            check(
                |after| drop(after.ignored.insert(path.to_owned(), "1".to_owned())),
                &[],
            );
        }
    }

    #[test]
    fn a_file_whose_changes_git_hides_weakens_the_check() {
        let flagged = |path: &str| Some(BTreeSet::from([path.to_owned()]));
        let before = Surroundings {
            flagged: flagged("local.env"),
            ..ordinary()
        };
        let mut after = before.clone();
        assert_eq!(before.tampering(&after), []);
        after.flagged = flagged("tests/a.py");
        let said = "git's index hides changes of tests/a.py (assume-unchanged or skip-worktree)";
        let weakened = Tampering::Weakened(said.to_owned());
        assert_eq!(before.tampering(&after), [weakened]);
        // Earlier versions did not ask.
        assert_eq!(ordinary().tampering(&after), []);
    }

    #[test]
    fn a_setting_with_which_git_tells_less_weakens_the_check() {
        for key in [
            "status.showuntrackedfiles",
            "core.fsmonitor",
            "diff.external",
        ] {
            check(
                |after| drop(after.settings.insert(key.to_owned(), "1".to_owned())),
                &[&format!("! git's setting {key} is new")],
            );
        }
    }

    #[test]
    fn a_package_that_no_installer_changed_weakens_the_check() {
        check(
            |after| {
                let folder = after.packages.get_mut("node_modules").unwrap();
                folder.entries.insert("jest".to_owned(), "2".to_owned());
                folder.entries.insert("x.pth".to_owned(), "2".to_owned());
            },
            &[
                "! node_modules/jest was changed, not by an installer",
                "! node_modules/x.pth is new, not by an installer",
            ],
        );
    }

    #[test]
    fn a_package_is_only_listed_where_its_installer_keeps_no_record() {
        let package = |records: &str, tracked, print: &str| PackageFolder {
            records: records.to_owned(),
            tracked,
            entries: BTreeMap::from([("bundle".to_owned(), print.to_owned())]),
        };
        let listed = [Tampering::Listed("vendor/bundle was changed".to_owned())];
        let before = package("", false, "1");
        assert_eq!(before.changes("vendor", &package("", false, "2")), listed);
        let before = package("r", true, "1");
        assert_eq!(before.changes("vendor", &package("r", true, "2")), []);
        // A file that is tracked only now hides nothing.
        let before = package("r", false, "1");
        assert_eq!(before.changes("vendor", &package("r", true, "2")).len(), 1);
    }

    #[test]
    fn a_package_that_was_not_wholly_seen_is_not_compared() {
        check(
            |after| {
                let folder = after.packages.get_mut("node_modules").unwrap();
                folder.entries.insert("jest".to_owned(), String::new());
            },
            &[],
        );
    }
}
