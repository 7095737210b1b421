use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use regreen_model::TaskId;
use regreen_workspace::{
    AttemptName, ChangeKind, Git, Oid, PlainRunner, RelPath, Snapshot, SnapshotLimits, Snapshots,
};
use tempfile::TempDir;

/// Every file that must not change, with its mode, time and content.
pub(crate) type Fingerprint = BTreeMap<PathBuf, (u32, i64, i64, Vec<u8>)>;

/// A repository in a temporary folder, isolated from the machine's own git settings.
pub(crate) struct Repo {
    folder: TempDir,
    root: PathBuf,
}

pub(crate) fn quiet_env() -> Vec<(OsString, OsString)> {
    [
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_AUTHOR_DATE", "@1000000000 +0000"),
        ("GIT_COMMITTER_DATE", "@1000000000 +0000"),
    ]
    .map(|(name, value)| (name.into(), value.into()))
    .into()
}

pub(crate) fn run_git(folder: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args(args)
        .current_dir(folder)
        .envs(quiet_env())
        .output()
        .unwrap();
    assert!(output.status.success(), "git {args:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn moment() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_794_787_200)
}

pub(crate) fn rel(path: &str) -> RelPath {
    RelPath::new(path).unwrap()
}

pub(crate) fn attempt(number: u32) -> AttemptName {
    AttemptName {
        run: "r1".to_owned(),
        task: TaskId::parse("1.3").unwrap(),
        occurrence: 0,
        attempt: number,
    }
}

impl Repo {
    /// Creates a repository without a commit.
    pub(crate) fn unborn() -> Self {
        Self::unborn_in("work")
    }

    pub(crate) fn unborn_in(name: &str) -> Self {
        Self::unborn_as(name, &[])
    }

    /// Creates a repository in another format.
    pub(crate) fn unborn_as(name: &str, format: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join(name);
        fs::create_dir_all(root.join(".regreen")).unwrap();
        run_git(&root, &[&["init", "-q", "-b", "main"], format].concat());
        let repo = Self { folder, root };
        repo.git(&["config", "user.name", "Ann"]);
        repo.git(&["config", "user.email", "ann@example.org"]);
        repo
    }

    /// Creates a repository with these files in one commit; each contains its own name.
    pub(crate) fn with(files: &[&str]) -> Self {
        let repo = Self::unborn();
        for file in files {
            repo.write(file, file);
        }
        repo.commit_all("base");
        repo
    }

    pub(crate) fn commit_all(&self, message: &str) {
        self.git(&["add", "-A", "--", ".", ":!.regreen"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
    }

    /// Returns another folder beside the work tree.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn scratch(&self) -> PathBuf {
        self.root.join(".regreen")
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        run_git(&self.root, args)
    }

    /// Runs git and expects it to stop with conflicts.
    pub(crate) fn git_that_stops(&self, args: &[&str]) {
        let mut command = Command::new("git");
        command.args(args).current_dir(&self.root).envs(quiet_env());
        assert!(!command.output().unwrap().status.success(), "{args:?}");
    }

    pub(crate) fn write(&self, path: &str, content: &str) {
        self.write_bytes(Path::new(path), content.as_bytes());
    }

    pub(crate) fn write_bytes(&self, path: &Path, content: &[u8]) {
        let place = self.root.join(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, content).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    pub(crate) fn remove(&self, path: &str) {
        fs::remove_file(self.path(path)).unwrap();
    }

    pub(crate) fn link(&self, target: &str, path: &str) {
        symlink(target, self.path(path)).unwrap();
    }

    pub(crate) fn hook(&self, name: &str, script: &str) {
        let hook = self.path(".git/hooks").join(name);
        fs::write(&hook, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub(crate) fn open(&self) -> Git {
        let runner = PlainRunner::with_env(quiet_env());
        Git::open_with(&self.root, Arc::new(runner)).unwrap()
    }

    pub(crate) fn snapshots(&self) -> Snapshots {
        Snapshots::new(self.open(), &self.scratch(), SnapshotLimits::default())
    }

    /// Creates snapshots in an environment with these variables, for example for another global
    /// configuration.
    pub(crate) fn snapshots_with(&self, more: &[(&str, &Path)]) -> Snapshots {
        let mut env = quiet_env();
        env.extend(more.iter().map(|(name, value)| (name.into(), value.into())));
        let git = Git::open_with(&self.root, Arc::new(PlainRunner::with_env(env))).unwrap();
        Snapshots::new(git, &self.scratch(), SnapshotLimits::default())
    }

    pub(crate) fn head(&self) -> Option<Oid> {
        self.open().head().unwrap()
    }

    pub(crate) fn files_of(&self, oid: &Oid) -> Vec<String> {
        let listed = self.git(&["ls-tree", "-r", "-z", "--name-only", oid.as_str()]);
        listed.split_terminator('\0').map(str::to_owned).collect()
    }

    pub(crate) fn content_in(&self, oid: &Oid, path: &str) -> String {
        self.git(&["cat-file", "-p", &format!("{oid}:{path}")])
    }

    /// Returns `git status` in short form, one line per path.
    pub(crate) fn status(&self) -> String {
        self.git(&["status", "--porcelain", "-uall", "--", ".", ":!.regreen"])
    }

    /// Returns everything except regreen's own folder, its references and git's objects.
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        let mut files = Fingerprint::new();
        let own = [".regreen", ".git/objects", ".git/refs/regreen"];
        collect(&self.root, &own.map(|own| self.path(own)), &mut files);
        files
    }
}

fn collect(folder: &Path, except: &[PathBuf], files: &mut Fingerprint) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let found = path.symlink_metadata().unwrap();
        if except.contains(&path) {
            continue;
        }
        if found.is_dir() {
            collect(&path, except, files);
            continue;
        }
        let content = if found.is_file() {
            fs::read(&path).unwrap_or_default()
        } else {
            Vec::new()
        };
        let mut mark = (found.mode(), found.mtime(), found.mtime_nsec(), content);
        if path.to_string_lossy().contains("/sharedindex.") {
            // Git updates the time of this file when it reads it, to keep it from being pruned.
            (mark.1, mark.2) = (0, 0);
        }
        files.insert(path, mark);
    }
}

/// Checks that nothing has changed.
#[track_caller]
pub(crate) fn assert_untouched(repo: &Repo, before: &Fingerprint) {
    let now = repo.fingerprint();
    let differing = |path: &&PathBuf| now.get(*path) != before.get(*path);
    let paths: Vec<&PathBuf> = now.keys().chain(before.keys()).filter(differing).collect();
    assert!(paths.is_empty(), "touched: {paths:?}");
}

/// Takes the snapshots around `act`, and checks that they change nothing themselves.
pub(crate) fn around(
    repo: &Repo,
    snapshots: &mut Snapshots,
    number: u32,
    act: impl FnOnce(&Repo),
) -> (Snapshot, Snapshot) {
    let untouched = repo.fingerprint();
    let before = snapshots.take_before(&attempt(number), moment()).unwrap();
    assert_untouched(repo, &untouched);
    act(repo);
    let untouched = repo.fingerprint();
    let after = snapshots
        .take_after(&attempt(number), &before.oid, moment())
        .unwrap();
    assert_untouched(repo, &untouched);
    (before, after)
}

/// Takes the snapshots around `act`, and checks the changes between them. Returns the later one.
#[track_caller]
pub(crate) fn check_attempt(repo: &Repo, expected: &[&str], act: impl FnOnce(&Repo)) -> Snapshot {
    let mut snapshots = repo.snapshots();
    let (before, after) = around(repo, &mut snapshots, 1, act);
    assert_eq!(changes(snapshots.git(), &before, &after), expected);
    after
}

/// Returns the changes as `A path` lines.
pub(crate) fn changes(git: &Git, before: &Snapshot, after: &Snapshot) -> Vec<String> {
    let changes = git.changed_files(&before.oid, &after.oid).unwrap();
    if let Some(known) = &after.changed {
        let compared = changes.iter().map(|change| change.path.clone());
        assert_eq!(*known, compared.collect());
    }
    let letter = |kind| match kind {
        ChangeKind::Added => 'A',
        ChangeKind::Modified => 'M',
        ChangeKind::Deleted => 'D',
        ChangeKind::TypeChanged => 'T',
    };
    changes
        .into_iter()
        .map(|change| format!("{} {}", letter(change.kind), change.path))
        .collect()
}
