//! Things that checks depend on but git doesn't show: its configuration, hooks and ignored files.
//!
//! An agent may change all of them, and most changes are ordinary: a tool sets up hooks, an
//! installer fills a folder. Changes that weaken a check are not, and make the attempt fail.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

/// The surroundings observed at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Surroundings {
    /// The folder that git takes hooks from.
    pub hooks_folder: String,
    /// The files in that folder, by name.
    pub hooks: BTreeMap<String, Hook>,
    /// The repository's own configuration: each key with a fingerprint of its values, which may be
    /// secret.
    pub settings: BTreeMap<String, String>,
    /// Fingerprints of the files in git's `info` folder.
    pub info: BTreeMap<String, String>,
    /// The fingerprint of git's own exclude files.
    pub excludes: String,
    /// Files that only git's own exclude file hides.
    pub hidden: BTreeSet<String>,
    /// Ignored Python files and folders outside of package folders, with their fingerprints.
    pub ignored: BTreeMap<String, String>,
    /// The folders that installers fill.
    pub packages: BTreeMap<String, PackageFolder>,
    /// Existing files whose changes git doesn't show because of a flag in its index; `None` if this
    /// wasn't determined.
    pub flagged: Option<BTreeSet<String>>,
}

/// A file that git may run as a hook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hook {
    /// The fingerprint of its content.
    pub content: String,
    /// Whether it is executable and contains a command.
    pub does_something: bool,
    /// Whether git tracks it, so that changes show.
    pub tracked: bool,
}

/// A folder that an installer fills.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PackageFolder {
    /// The fingerprint of the installer's own records; empty if it keeps none.
    pub records: String,
    /// Whether git tracks files in it, so that changes show.
    pub tracked: bool,
    /// Packages and programs with their fingerprints; empty for those that were only partly read.
    pub entries: BTreeMap<String, String>,
}

/// A change that git does not show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tampering {
    /// A check may no longer find what it used to.
    Weakened(String),
    /// It may be legitimate.
    Listed(String),
}

impl fmt::Display for Tampering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Weakened(what) | Self::Listed(what)) = self;
        f.write_str(what)
    }
}

/// Settings that divert git from the files it should look at, or make it report less about them.
const MISLEADING: [&str; 11] = [
    "core.attributesfile",
    "core.bare",
    "core.checkstat",
    "core.fsmonitor",
    "core.ignorestat",
    "core.trustctime",
    "core.whitespace",
    "core.worktree",
    "diff.external",
    "diff.ignoresubmodules",
    "status.showuntrackedfiles",
];

/// Files that test runners and interpreters load automatically, whoever wrote them.
const LOADED_UNASKED: [&str; 7] = [
    "conftest.py",
    "sitecustomize.py",
    "usercustomize.py",
    "pytest.ini",
    "tox.ini",
    "jest.config.js",
    ".mocharc.js",
];

/// Libraries and programs used by checks, which a file with the same name would replace.
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

/// Files that `composer dump-autoload` writes without installing anything.
const REWRITTEN: [&str; 2] = ["autoload.php", "composer"];

/// Extensions of files that checks read.
const READ_BY_CHECKS: [&str; 21] = [
    "py", "js", "mjs", "cjs", "ts", "tsx", "jsx", "rb", "go", "rs", "java", "kt", "php", "c", "h",
    "cpp", "sh", "toml", "cfg", "ini", "mk",
];

/// Filters that tools set up in repositories, and the program of each.
const USUAL_FILTERS: [(&str, &str); 3] = [
    ("filter.lfs.", "git-lfs "),
    ("filter.git-crypt.", "git-crypt "),
    ("filter.nbstripout.", "nbstripout"),
];

/// Whether a setting names a program through which git passes files, so that other content can be
/// committed than was checked.
fn is_filter(key: &str, value: Option<&str>) -> bool {
    let value = value.unwrap_or_default().trim_start_matches('"');
    let is_switch = ["", "true", "false"].contains(&value);
    let is_usual = |(name, program): &(&str, &str)| {
        key.starts_with(name) && (is_switch || value.starts_with(program))
    };
    key.starts_with("filter.") && !USUAL_FILTERS.iter().any(is_usual)
}

impl Surroundings {
    /// Compares this with the surroundings after an attempt.
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
                // Git shows the change, and so does `regreen diff`.
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
                if MISLEADING.contains(&key.as_str())
                    || is_filter(key, after.settings.get(key).map(String::as_str))
                {
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
            // The patterns haven't changed, so any newly hidden files are hidden by old patterns.
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

    /// Returns files that git now reports as unchanged whatever they contain.
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

    /// Returns ignored files that shadow a library or get loaded automatically.
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
        // Only Python looks next to the program before it looks in the package folders.
        let is_installed = self.packages.iter().any(|(folder, packages)| {
            folder.ends_with("site-packages") && packages.entries.contains_key(stem)
        });
        let is_checker = is_module && CHECKERS.contains(&stem);
        LOADED_UNASKED.contains(&name) || (at_root && (is_checker || is_python && is_installed))
    }
}

/// The maximum number of hidden files to name.
const MAX_NAMED: usize = 5;

fn is_read_by_checks(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    READ_BY_CHECKS.contains(&ending) || name.to_ascii_lowercase().ends_with("makefile")
}

impl PackageFolder {
    /// Compares the packages of a folder. An installer that changes a package updates its records;
    /// a package that changed without that was edited.
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
        // Earlier versions didn't record this.
        assert_eq!(ordinary().tampering(&after), []);
    }

    #[test]
    fn a_setting_with_which_git_tells_less_weakens_the_check() {
        for key in [
            "status.showuntrackedfiles",
            "core.fsmonitor",
            "diff.external",
            "filter.own.clean",
        ] {
            check(
                |after| drop(after.settings.insert(key.to_owned(), "1".to_owned())),
                &[&format!("! git's setting {key} is new")],
            );
        }
        for (program, mark) in [("git-lfs clean -- %f", ""), ("./own.sh", "! ")] {
            let key = "filter.lfs.clean";
            let set = |after: &mut Surroundings| {
                drop(after.settings.insert(key.to_owned(), program.to_owned()));
            };
            check(set, &[&format!("{mark}git's setting {key} is new")]);
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
        // A file that has only just become tracked hides nothing.
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
