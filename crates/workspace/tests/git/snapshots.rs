use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use regreen_workspace::{OmissionReason, SnapshotLimits, Snapshots};

use crate::repo::{Repo, around, attempt, changes, check_attempt, moment};

#[test]
fn snapshots_detect_every_change_and_touch_nothing() {
    let repo = Repo::with(&["edited", "gone", "run", "to-link", "same", "dir/to-file"]);
    repo.write("staged", "staged");
    repo.git(&["add", "staged"]);
    repo.write("unknown", "before");
    repo.git(&["stash", "push", "-q", "--", "staged"]);
    repo.hook("post-commit", "touch hook-ran");
    repo.hook(
        "reference-transaction",
        "case $(cat) in *regreen*) ;; *) touch hook-ran;; esac",
    );
    let mut snapshots = repo.snapshots();
    let (before, after) = around(&repo, &mut snapshots, 1, |repo| {
        repo.write("edited", "other");
        repo.remove("gone");
        fs::set_permissions(repo.path("run"), fs::Permissions::from_mode(0o755)).unwrap();
        repo.remove("to-link");
        repo.link("same", "to-link");
        fs::remove_dir_all(repo.path("dir")).unwrap();
        repo.write("dir", "a file now");
        repo.write("new/deep/file", "new");
        repo.write("unknown", "after");
    });
    assert_eq!(
        changes(snapshots.git(), &before, &after),
        [
            "A dir",
            "D dir/to-file",
            "M edited",
            "D gone",
            "A new/deep/file",
            "M run",
            "T to-link",
            "M unknown",
        ]
    );
    assert!(!repo.path("hook-ran").exists());
    assert_eq!(before.warnings, []);
}

#[test]
fn a_save_with_the_same_stat_data_is_detected() {
    // The same length, and the same timestamp as far as the file system can tell.
    let repo = Repo::with(&["f"]);
    let mut snapshots = repo.snapshots();
    for round in 0..30 {
        let (before, after) = around(&repo, &mut snapshots, round, |repo| {
            repo.write("f", &format!("{round:05}"));
        });
        assert_eq!(
            changes(snapshots.git(), &before, &after),
            ["M f"],
            "{round}"
        );
        if round % 10 == 0 {
            // The user's index is as new as the file.
            repo.git(&["add", "f"]);
        }
    }
}

#[test]
fn a_copied_index_is_not_trusted_more_than_the_original() {
    // A file saved at the moment the index was written has the recorded stat data; git then reads
    // it, because the index isn't newer than the file.
    let repo = Repo::unborn();
    repo.git(&["config", "core.trustctime", "false"]);
    let long_ago = SystemTime::now() - Duration::from_secs(3600);
    let set_time = |path: &str| {
        let file = fs::File::options().write(true).open(repo.path(path));
        file.unwrap().set_modified(long_ago).unwrap();
    };
    repo.write("f", "f");
    set_time("f");
    repo.commit_all("base");
    repo.write("f", "F");
    set_time("f");
    set_time(".git/index");
    let snapshot = repo.snapshots().take_before(&attempt(1), moment()).unwrap();
    assert_eq!(repo.content_in(&snapshot.oid, "f"), "F");
}

#[test]
fn ignored_files_and_regreens_own_are_not_in_snapshots() {
    let repo = Repo::with(&["f"]);
    repo.write(".gitignore", "*.log\nbuild/\n");
    repo.write("a.log", "x");
    repo.write("build/out", "x");
    repo.write(".regreen/runs/1.log", "x");
    let snapshot = repo.snapshots().take_before(&attempt(1), moment()).unwrap();
    assert_eq!(repo.files_of(&snapshot.oid), [".gitignore", "f"]);
}

#[test]
fn tracked_files_that_are_ignored_are_in_snapshots() {
    let repo = Repo::with(&["kept.log"]);
    repo.write(".gitignore", "*.log\n");
    let mut snapshots = repo.snapshots();
    let (before, after) = around(&repo, &mut snapshots, 1, |repo| {
        repo.write("kept.log", "other");
        repo.write("forced.log", "x");
        repo.git(&["add", "-f", "forced.log"]);
    });
    assert_eq!(
        changes(snapshots.git(), &before, &after),
        ["A forced.log", "M kept.log"]
    );
}

#[test]
fn a_newly_ignored_file_does_not_count_as_deleted() {
    let repo = Repo::with(&["f", "tracked.log"]);
    repo.write("build/out", "unknown to git");
    let mut snapshots = repo.snapshots();
    let (before, after) = around(&repo, &mut snapshots, 1, |repo| {
        repo.write(".gitignore", "build/\n*.log\n");
        repo.git(&["add", ".gitignore"]);
        // Git should stop tracking this one.
        repo.git(&["rm", "-q", "--cached", "tracked.log"]);
    });
    assert_eq!(
        changes(snapshots.git(), &before, &after),
        ["A .gitignore", "D tracked.log"]
    );
}

#[test]
fn hostile_file_names_are_supported() {
    let repo = Repo::with(&["f"]);
    let names: [&[u8]; 11] = [
        b"-rf",
        b"--force",
        b"line\nbreak",
        b"\"quoted\"",
        b"it's",
        b"\xff\xfe no text",
        b":(exclude)*",
        b"*",
        b"tab\tand\\back",
        b" ",
        b"$(touch pwned)",
    ];
    let mut snapshots = repo.snapshots();
    let write_all = |repo: &Repo, content: &[u8]| {
        for name in names {
            repo.write_bytes(Path::new(OsStr::from_bytes(name)), content);
        }
    };
    let (none, some) = around(&repo, &mut snapshots, 1, |repo| write_all(repo, b"1"));
    let (_, other) = around(&repo, &mut snapshots, 2, |repo| write_all(repo, b"2"));
    let git = snapshots.git();
    let added = git.changed_files(&none.oid, &some.oid).unwrap();
    let mut expected: Vec<&[u8]> = names.to_vec();
    expected.sort_unstable();
    let found: Vec<&[u8]> = added.iter().map(|change| change.path.as_bytes()).collect();
    assert_eq!(found, expected);

    for change in added {
        let only = [change.path.clone()];
        let diff = git.diff(&some.oid, &other.oid, Some(&only), None).unwrap();
        let text = String::from_utf8_lossy(&diff.bytes).into_owned();
        assert_eq!(text.matches("diff --git").count(), 1, "{}", change.path);
    }
    assert!(!repo.path("pwned").exists());
}

#[test]
fn too_large_files_are_left_out_and_reported() {
    let repo = Repo::with(&["f"]);
    repo.write("large", &"x".repeat(2000));
    let limits = SnapshotLimits { max_file: 1000 };
    let mut snapshots = Snapshots::new(repo.open(), &repo.scratch(), limits);
    let snapshot = snapshots.take_before(&attempt(1), moment()).unwrap();
    assert_eq!(repo.files_of(&snapshot.oid), ["f"]);
    let why: Vec<OmissionReason> = snapshot
        .warnings
        .iter()
        .map(|warning| warning.why)
        .collect();
    assert_eq!(why, [OmissionReason::TooLarge { bytes: 2000 }]);
}

/// Writes the user's own configuration with one filter.
fn users_filter(repo: &Repo, filter: &str) -> PathBuf {
    let path = repo.beside("gitconfig");
    fs::write(&path, filter).unwrap();
    path
}

#[test]
fn a_missing_filter_does_not_stop_a_snapshot() {
    let repo = Repo::with(&["f"]);
    let filter = "[filter \"lfs\"]\n\tclean = no-such-program clean -- %f\n\trequired\n";
    let global = users_filter(&repo, filter);
    repo.write(".gitattributes", "*.bin filter=lfs\n");
    repo.write("one.bin", "one");
    repo.write("two.txt", "two");
    let mut snapshots = repo.snapshots_with(&[("GIT_CONFIG_GLOBAL", &global)]);
    let (before, after) = around(&repo, &mut snapshots, 1, |repo| {
        repo.write("one.bin", "other");
        repo.write("three.bin", "three");
    });
    assert_eq!(
        changes(snapshots.git(), &before, &after),
        ["M one.bin", "A three.bin"]
    );
    assert_eq!(repo.content_in(&after.oid, "one.bin"), "other");
}

#[test]
fn a_working_filter_of_the_user_is_used() {
    let repo = Repo::with(&["f"]);
    let filter = "[filter \"upper\"]\n\tclean = tr a-z A-Z\n\tsmudge = tr A-Z a-z\n\trequired\n";
    let global = users_filter(&repo, filter);
    repo.write(".gitattributes", "*.up filter=upper\n");
    repo.write("one.up", "ONE");
    repo.commit_all("filtered");
    let mut snapshots = repo.snapshots_with(&[("GIT_CONFIG_GLOBAL", &global)]);
    let (before, after) = around(&repo, &mut snapshots, 1, |repo| {
        // Saved again with the same content.
        repo.write("one.up", "one");
        repo.write("two.up", "two");
    });
    assert_eq!(changes(snapshots.git(), &before, &after), ["A two.up"]);
    assert_eq!(repo.content_in(&after.oid, "two.up"), "TWO");
}

#[test]
fn nested_repositories_are_recorded_and_not_entered() {
    let repo = Repo::with(&["f"]);
    let inner = repo.path("inner");
    let empty = repo.path("empty");
    let after = check_attempt(&repo, &["A inner"], |repo| {
        repo.write("inner/file", "x");
        fs::create_dir_all(&empty).unwrap();
        for folder in [&inner, &empty] {
            crate::repo::run_git(folder, &["init", "-q"]);
        }
        let commit = ["-c", "user.name=a", "-c", "user.email=a@b", "commit"];
        let commit = [&commit[..], &["-q", "--allow-empty", "-m", "x"]].concat();
        crate::repo::run_git(&inner, &commit);
    });
    let why: Vec<String> = after.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        why,
        ["empty is a repository without commits: it is neither in the snapshot nor committed"]
    );
}

#[test]
fn files_with_index_flags_are_in_snapshots() {
    let repo = Repo::with(&["assumed", "skipped"]);
    repo.git(&["update-index", "--assume-unchanged", "assumed"]);
    repo.git(&["update-index", "--skip-worktree", "skipped"]);
    let mut snapshots = repo.snapshots();
    let (before, after) = around(&repo, &mut snapshots, 1, |repo| {
        repo.write("assumed", "other");
        repo.write("skipped", "other");
    });
    assert_eq!(
        changes(snapshots.git(), &before, &after),
        ["M assumed", "M skipped"]
    );
}

#[test]
fn files_that_git_does_not_miss_are_flagged() {
    let repo = Repo::with(&["kept", "missing"]);
    let mut snapshots = repo.snapshots();
    around(&repo, &mut snapshots, 1, |repo| {
        repo.git(&["update-index", "--skip-worktree", "missing"]);
        repo.remove("missing");
    });
    let flagged: Vec<String> = snapshots
        .flagged()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(flagged, ["missing"]);
}

#[test]
fn snapshots_are_ordinary_commits_by_regreen() {
    let repo = Repo::with(&["f"]);
    repo.git(&["config", "commit.gpgsign", "true"]);
    repo.git(&["config", "gpg.program", "false"]);
    repo.git(&["config", "--unset", "user.name"]);
    repo.git(&["config", "user.useConfigOnly", "true"]);
    let mut snapshots = repo.snapshots();
    around(&repo, &mut snapshots, 1, |repo| repo.write("f", "other"));
    let shown = repo.git(&[
        "show",
        "--format=%an %ae %ct %s",
        "--name-status",
        "refs/regreen/r1/1.3/1/after",
    ]);
    assert_eq!(
        shown,
        "regreen regreen@localhost 1794787200 refs/regreen/r1/1.3/1/after\n\nM\tf\n"
    );
    assert_eq!(repo.git(&["reflog", "--all"]).matches("regreen").count(), 0);
}

#[test]
fn a_repeated_snapshot_replaces_the_first() {
    let repo = Repo::with(&["f"]);
    repo.snapshots().take_before(&attempt(1), moment()).unwrap();
    repo.write("f", "other");
    // Another process: nothing is cached, and a killed git left its lock behind.
    fs::write(repo.scratch().join("snapshot-index.lock"), "").unwrap();
    let again = repo.snapshots().take_before(&attempt(1), moment()).unwrap();
    let kept = repo.open().snapshots(Some("r1")).unwrap();
    assert_eq!(kept.len(), 1);
    assert_eq!(kept.first().unwrap().oid, again.oid);
    assert_eq!(repo.content_in(&again.oid, "f"), "other");
}

#[test]
fn snapshots_are_listed_by_run() {
    let repo = Repo::with(&["f"]);
    let mut snapshots = repo.snapshots();
    for number in [1, 2, 10] {
        around(&repo, &mut snapshots, number, |repo| {
            repo.write("f", &number.to_string());
        });
    }
    let mut other_run = attempt(1);
    "r10".clone_into(&mut other_run.run);
    snapshots.take_before(&other_run, moment()).unwrap();
    repo.git(&["update-ref", "refs/regreen/something-else", "HEAD"]);

    let git = repo.open();
    let numbers = |run| -> Vec<u32> {
        let kept = git.snapshots(run).unwrap();
        kept.iter().map(|one| one.name.attempt).collect()
    };
    assert_eq!(numbers(Some("r1")), [1, 1, 2, 2, 10, 10]);
    assert_eq!(numbers(None).len(), 7);
}
