//! Compares snapshots of generated work trees with `git add -A` into an empty index.
//!
//! `SNAPSHOT_TREES=1000 cargo nextest run -p regreen-workspace generated_trees` compares that many.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use proptest::prelude::*;
use regreen_workspace::{RelPath, Snapshot, Snapshots};

use crate::repo::{Repo, attempt, moment, quiet_env, run_git};

/// Parts of paths: odd ones, some whose order depends on the slash, and some that patterns match.
const PARTS: [&[u8]; 19] = [
    b"a",
    b"a.b",
    b"a-b",
    b"a0",
    b"-rf",
    b":(top)x",
    b"new\nline",
    b"tab\there",
    b"quo\"te",
    b"back\\slash",
    b" space ",
    b"\xc3\xa9",
    b"e\xcc\x81",
    b"\xff\xfe",
    b"*glob?",
    b"out.log",
    b"keep.log",
    b"text.up",
    b"sub module",
];

/// The last part is for repositories and for files in their place, never for folders: git looks
/// into a folder with tracked files even after it has become a repository.
const FOR_REPOSITORIES: usize = PARTS.len() - 1;

/// One thing in a work tree.
#[derive(Clone, Debug)]
enum Item {
    File(Vec<usize>, String, bool),
    Link(Vec<usize>, usize),
    /// A repository in the work tree, with a commit.
    Repository(Vec<usize>),
    /// A file with patterns for its folder.
    Ignore(Vec<usize>, String),
    Remove(Vec<usize>),
    /// The user stages or commits everything.
    Stage,
    Commit,
}

fn path() -> impl Strategy<Value = Vec<usize>> {
    proptest::collection::vec(0..FOR_REPOSITORIES, 1..4)
}

fn path_of_repository() -> impl Strategy<Value = Vec<usize>> {
    path().prop_map(|mut path| {
        path.pop();
        path.push(FOR_REPOSITORIES);
        path
    })
}

fn item() -> impl Strategy<Value = Item> {
    prop_oneof![
        12 => (prop_oneof![9 => path(), 1 => path_of_repository()], "[a-z]{0,3}(\r?\n[a-z]{0,3}){0,2}", any::<bool>())
            .prop_map(|(path, text, executable)| Item::File(path, text, executable)),
        2 => (path(), 0..PARTS.len()).prop_map(|(path, target)| Item::Link(path, target)),
        1 => path_of_repository().prop_map(Item::Repository),
        2 => (path(), prop_oneof![
            Just("*.log\n!keep.log\n".to_owned()),
            Just("/a/\n".to_owned()),
            Just("a*\n!a.b\n".to_owned()),
            Just("*\n".to_owned()),
        ]).prop_map(|(path, patterns)| Item::Ignore(path, patterns)),
        2 => path().prop_map(Item::Remove),
        1 => Just(Item::Stage),
        1 => Just(Item::Commit),
    ]
}

/// The storage format and configuration of the repository.
#[derive(Clone, Debug)]
struct Format {
    init: Vec<&'static str>,
    settings: Vec<(&'static str, &'static str)>,
}

fn format() -> impl Strategy<Value = Format> {
    let init = prop_oneof![
        4 => Just(vec![]),
        1 => Just(vec!["--object-format=sha256"]),
        1 => Just(vec!["--ref-format=reftable"]),
    ];
    let settings = prop_oneof![
        3 => Just(vec![]),
        1 => Just(vec![("index.version", "4")]),
        1 => Just(vec![("core.splitIndex", "true")]),
        1 => Just(vec![("core.untrackedCache", "true"), ("index.skipHash", "true")]),
        1 => Just(vec![("core.autocrlf", "input")]),
        1 => Just(vec![("core.fsync", "loose-object")]),
    ];
    (init, settings).prop_map(|(init, settings)| Format { init, settings })
}

struct GeneratedTree {
    repo: Repo,
    /// The user's own configuration, which has a filter.
    config: PathBuf,
}

impl GeneratedTree {
    fn new(format: &Format) -> Self {
        let repo = Repo::unborn_as("work", &format.init);
        for (key, value) in &format.settings {
            repo.git(&["config", key, value]);
        }
        let config = repo.beside("gitconfig");
        let filter = "[filter \"upper\"]\n\tclean = tr a-z A-Z\n\tsmudge = cat\n\trequired\n";
        fs::write(&config, filter).unwrap();
        repo.write(".gitattributes", "*.up filter=upper\na text eol=crlf\n");
        Self { repo, config }
    }

    fn place(&self, path: &[usize]) -> PathBuf {
        let parts = path.iter().map(|part| OsStr::from_bytes(PARTS[*part]));
        self.repo.root().join(parts.collect::<PathBuf>())
    }

    /// Makes room at a path, unless a file or a repository above is in the way.
    fn clear(&self, path: &[usize]) -> Option<PathBuf> {
        let place = self.place(path);
        let root = self.repo.root();
        let above = place.ancestors().skip(1).take_while(|above| *above != root);
        let is_inside = above
            .into_iter()
            .any(|above| above.join(".git").exists() || above.is_symlink() || above.is_file());
        if is_inside || fs::create_dir_all(place.parent()?).is_err() {
            return None;
        }
        if place.is_dir() && !place.is_symlink() {
            fs::remove_dir_all(&place).unwrap();
        } else {
            let _nothing_there = fs::remove_file(&place);
        }
        Some(place)
    }

    fn add(&self, item: &Item) -> Option<()> {
        match item {
            Item::File(path, text, executable) => {
                let place = self.clear(path)?;
                fs::write(&place, text).unwrap();
                let mode = if *executable { 0o755 } else { 0o644 };
                fs::set_permissions(&place, fs::Permissions::from_mode(mode)).unwrap();
            }
            Item::Link(path, target) => {
                symlink(OsStr::from_bytes(PARTS[*target]), self.clear(path)?).unwrap();
            }
            Item::Repository(path) => {
                let place = self.clear(path)?;
                fs::create_dir(&place).unwrap();
                run_git(&place, &["init", "-q", &self.object_format()]);
                fs::write(place.join("inner"), "inner").unwrap();
                run_git(&place, &["add", "inner"]);
                let identity = ["-c", "user.name=n", "-c", "user.email=e"];
                run_git(&place, &[&identity[..], &["commit", "-qm", "x"]].concat());
            }
            Item::Ignore(path, patterns) => {
                let place = self.clear(path)?;
                fs::create_dir(&place).unwrap();
                fs::write(place.join(".gitignore"), patterns).unwrap();
                for name in ["a", "out.log", "keep.log"] {
                    fs::write(place.join(name), name).unwrap();
                }
            }
            Item::Remove(path) => drop(self.clear(path)),
            Item::Stage => drop(self.git(None, &["add", "-A", "--", ":/", EXCEPT_OWN])),
            Item::Commit => drop(self.git(None, &["commit", "-qm", "x"])),
        }
        Some(())
    }

    fn object_format(&self) -> String {
        let format = self.repo.git(&["rev-parse", "--show-object-format"]);
        format!("--object-format={}", format.trim())
    }

    /// Runs git as the user, whether it succeeds or not.
    fn git(&self, index: Option<&Path>, args: &[&str]) -> String {
        let mut git = Command::new("git");
        git.args(args).current_dir(self.repo.root());
        git.envs(quiet_env()).env("GIT_CONFIG_GLOBAL", &self.config);
        if let Some(index) = index {
            git.env("GIT_INDEX_FILE", index);
        }
        String::from_utf8_lossy(&git.output().unwrap().stdout).into_owned()
    }

    fn snapshots(&self) -> Snapshots {
        let config = ("GIT_CONFIG_GLOBAL", self.config.as_path());
        self.repo.snapshots_with(&[config])
    }

    /// Returns the tree that git makes of everything that isn't ignored.
    fn added_by_git(&self) -> String {
        let index = self.repo.beside("judge-index");
        let _from_before = fs::remove_file(&index);
        let git = |args: &[&str]| self.git(Some(&index), args);
        git(&[
            "-c",
            "core.splitIndex=false",
            "add",
            "-A",
            "--",
            ":/",
            EXCEPT_OWN,
        ]);
        git(&["write-tree"]).trim().to_owned()
    }

    fn tree_of(&self, snapshot: &Snapshot) -> String {
        let tree = format!("{}^{{tree}}", snapshot.oid);
        self.repo.git(&["rev-parse", &tree]).trim().to_owned()
    }

    /// Forgets tracked files that are now ignored: an empty index would not have them.
    fn untrack_ignored(&self) {
        let listed = self.git(None, &["ls-files", "-z", "-ci", "--exclude-standard"]);
        if !listed.is_empty() {
            fs::remove_file(self.repo.path(".git/index")).unwrap();
        }
    }
}

const EXCEPT_OWN: &str = ":(exclude,top).regreen";

fn cases() -> u32 {
    let asked = std::env::var("SNAPSHOT_TREES").ok();
    asked.and_then(|number| number.parse().ok()).unwrap_or(12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]
    #[test]
    fn generated_trees_are_kept_as_git_would_add_them(
        format in format(),
        first in proptest::collection::vec(item(), 1..25),
        then in proptest::collection::vec(item(), 0..8),
    ) {
        let tree = GeneratedTree::new(&format);
        let mut snapshots = tree.snapshots();
        for item in &first {
            let _skipped_if_impossible = tree.add(item);
        }
        tree.untrack_ignored();
        let before = snapshots.take_before(&attempt(1), moment()).unwrap();
        prop_assert_eq!(tree.tree_of(&before), tree.added_by_git(), "before");
        // The second snapshot starts from the index of the first.
        for item in then.iter().filter(|item| !matches!(item, Item::Ignore(..))) {
            let _skipped_if_impossible = tree.add(item);
        }
        let after = snapshots.take_after(&attempt(1), &before.oid, moment()).unwrap();
        prop_assert_eq!(tree.tree_of(&after), tree.added_by_git(), "after");
        let compared = snapshots.git().changed_files(&before.oid, &after.oid).unwrap();
        let compared: Vec<RelPath> = compared.into_iter().map(|change| change.path).collect();
        if let Some(changed) = after.changed {
            prop_assert_eq!(changed.into_iter().collect::<Vec<_>>(), compared);
        }
        tree.repo.git(&["fsck", "--strict", "--no-dangling", "--no-progress"]);
    }
}
