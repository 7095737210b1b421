use std::path::Path;

use regreen_workspace::{Git, GitError, Oid, RelPath};

use crate::repo::{Repo, around, assert_untouched, attempt, moment, rel};

#[test]
fn a_diff_ignores_the_users_diff_settings() {
    let repo = Repo::with(&["a", "b"]);
    for (name, value) in [
        ("color.ui", "always"),
        ("diff.external", "false"),
        ("diff.noprefix", "true"),
        ("diff.shout.textconv", "tr a-z A-Z <"),
    ] {
        repo.git(&["config", name, value]);
    }
    repo.write(".gitattributes", "a diff=shout\n");
    let mut snapshots = repo.snapshots();
    let (before, after) = around(&repo, &mut snapshots, 1, |repo| {
        repo.write("a", "other\n");
        repo.write("b", "other\n");
    });
    let git = snapshots.git();
    let only = [rel("a")];
    let diff = git
        .diff(&before.oid, &after.oid, Some(&only), None)
        .unwrap();
    assert_eq!(
        String::from_utf8(diff.bytes).unwrap(),
        "diff --git a/a b/a\nindex 2e65efe..e45c9c2 100644\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+other\n"
    );
    let all = git.diff(&before.oid, &after.oid, None, None).unwrap();
    assert!(!all.cut && all.bytes.len() > 200);
    let none = git.diff(&before.oid, &after.oid, Some(&[]), None).unwrap();
    assert_eq!(none.bytes, b"");
    let cut = git.diff(&before.oid, &after.oid, None, Some(30)).unwrap();
    assert_eq!((cut.bytes.as_slice(), cut.cut), (&all.bytes[..30], true));
}

#[test]
fn lines_are_counted_per_file_and_a_diff_is_streamed() {
    let repo = Repo::with(&["a", "gone"]);
    let mut snapshots = repo.snapshots();
    let (before, after) = around(&repo, &mut snapshots, 1, |repo| {
        repo.write("a", "one\ntwo\n");
        repo.write("tab\tand\nbreak", "x\n");
        std::fs::write(repo.path("picture"), b"\0\x01\x02").unwrap();
        repo.remove("gone");
    });
    let git = snapshots.git();
    let counts = git.changed_lines(&before.oid, &after.oid).unwrap();
    let counts: Vec<_> = counts
        .iter()
        .map(|count| (count.path.to_string(), count.lines))
        .collect();
    let expected = [
        ("a", Some((2, 1))),
        ("gone", Some((0, 1))),
        ("picture", None),
        ("\"tab\\tand\\nbreak\"", Some((1, 0))),
    ];
    assert_eq!(
        counts,
        expected.map(|(path, lines)| (path.to_owned(), lines))
    );
    let whole = git.diff(&before.oid, &after.oid, None, None).unwrap();
    let mut handed = Vec::new();
    git.diff_into(&before.oid, &after.oid, None, |bytes| {
        handed.extend_from_slice(bytes);
        true
    })
    .unwrap();
    assert_eq!(handed, whole.bytes);
    git.diff_into(&before.oid, &after.oid, None, |_| false)
        .unwrap();
    let nothing = repo.open().diff_into(&before.oid, &before.oid, None, |_| {
        panic!("there is nothing to hand on")
    });
    nothing.unwrap();
    let unknown = Oid::parse(&"1".repeat(40)).unwrap();
    assert!(matches!(
        git.diff_into(&before.oid, &unknown, None, |_| true),
        Err(GitError::Failed { .. })
    ));
}

#[test]
fn thousands_of_paths_fit_into_one_diff() {
    let repo = Repo::with(&["f"]);
    let mut snapshots = repo.snapshots();
    let name = |n: u32| format!("{n}-{}", "x".repeat(200));
    let (before, after) = around(&repo, &mut snapshots, 1, |repo| {
        for n in 0..400 {
            repo.write(&name(n), "new");
        }
    });
    let paths: Vec<RelPath> = (0..400).map(|n| rel(&name(n))).collect();
    let git = snapshots.git();
    let diff = git
        .diff(&before.oid, &after.oid, Some(&paths), None)
        .unwrap();
    let text = String::from_utf8(diff.bytes).unwrap();
    assert_eq!(text.matches("diff --git").count(), 400);
}

#[test]
fn dirty_paths_are_found_without_touching_the_index() {
    let repo = Repo::with(&[
        "same", "edited", "staged", "both", "gone", "removed", "moved",
    ]);
    repo.write("edited", "x");
    repo.write("staged", "x");
    repo.git(&["add", "staged"]);
    repo.write("both", "x");
    repo.git(&["add", "both"]);
    repo.write("both", "y");
    repo.remove("gone");
    repo.git(&["rm", "-q", "removed"]);
    repo.git(&["mv", "moved", "there"]);
    repo.write("new/line\nbreak", "x");
    repo.write(".regreen/x", "x");
    repo.write("same", "same");
    let untouched = repo.fingerprint();
    let dirty: Vec<String> = repo
        .open()
        .dirty_paths()
        .unwrap()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        dirty,
        [
            "both",
            "edited",
            "gone",
            "moved",
            "\"new/line\\nbreak\"",
            "removed",
            "staged",
            "there",
        ]
    );
    assert_untouched(&repo, &untouched);
}

#[test]
fn a_folder_inside_a_repository_is_refused() {
    let repo = Repo::with(&["sub/f"]);
    let open = |path: &Path| Git::open(path).unwrap_err();
    assert!(matches!(open(&repo.path("sub")), GitError::NoWorkTree));
    assert!(matches!(open(&repo.path(".git")), GitError::NoWorkTree));
    let outside = tempfile::tempdir().unwrap();
    assert!(matches!(open(outside.path()), GitError::NoWorkTree));
}

#[test]
fn regreen_started_by_a_hook_still_finds_its_own_index() {
    // A hook's environment names another index and repository.
    let repo = Repo::with(&["f"]);
    let other = Repo::with(&["other"]);
    let mut env = crate::repo::quiet_env();
    for (name, path) in [("GIT_DIR", ".git"), ("GIT_INDEX_FILE", ".git/index")] {
        env.push((name.into(), other.path(path).into_os_string()));
    }
    let runner = regreen_workspace::PlainRunner::with_env(env);
    let git = Git::open_with(repo.root(), std::sync::Arc::new(runner)).unwrap();
    let limits = regreen_workspace::SnapshotLimits::default();
    let mut snapshots = regreen_workspace::Snapshots::new(git, &repo.scratch(), limits);
    let snapshot = snapshots.take_before(&attempt(1), moment()).unwrap();
    assert_eq!(repo.files_of(&snapshot.oid), ["f"]);
}
