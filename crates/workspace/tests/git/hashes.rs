use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};

use proptest::prelude::*;
use regreen_workspace::{ChangeKind, ContentNotKept, HashLimits, HashSnapshot, RelPath};
use tempfile::TempDir;

fn folder(files: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in files {
        write(&folder, file, file);
    }
    folder
}

fn write(folder: &TempDir, path: &str, content: &str) {
    let place = folder.path().join(path);
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    fs::write(place, content).unwrap();
}

fn take(root: &Path, previous: Option<&HashSnapshot>) -> HashSnapshot {
    let now = SystemTime::now();
    HashSnapshot::take(root, previous, HashLimits::default(), now)
}

fn changes(before: &HashSnapshot, after: &HashSnapshot) -> Vec<String> {
    let changes = before.changed_files(after).into_iter();
    changes
        .map(|change| format!("{:?} {}", change.kind, change.path))
        .collect()
}

#[test]
fn excluded_files_are_not_in_the_snapshot() {
    let folder = folder(&["specs/a/tasks.md", "work"]);
    let own = BTreeSet::from([RelPath::new("specs/a/tasks.md").unwrap()]);
    let take = || {
        let (limits, now) = (HashLimits::default(), SystemTime::now());
        HashSnapshot::take_excluding(&own, folder.path(), None, limits, now)
    };
    let before = take();
    write(&folder, "specs/a/tasks.md", "edited");
    write(&folder, "work", "done");
    assert_eq!(changes(&before, &take()), ["Modified work"]);
}

#[test]
fn every_kind_of_change_is_detected_without_git() {
    let folder = folder(&[
        "edited", "gone", "to-link", "run", "same", "touched", "a/b/c",
    ]);
    symlink("same", folder.path().join("link")).unwrap();
    let before = take(folder.path(), None);
    write(&folder, "edited", "EDITED");
    fs::remove_file(folder.path().join("gone")).unwrap();
    fs::remove_file(folder.path().join("to-link")).unwrap();
    symlink("same", folder.path().join("to-link")).unwrap();
    fs::remove_file(folder.path().join("link")).unwrap();
    symlink("run", folder.path().join("link")).unwrap();
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(folder.path().join("run"), executable).unwrap();
    write(&folder, "touched", "touched");
    write(&folder, "a/new\nline", "x");
    let after = take(folder.path(), Some(&before));
    assert_eq!(
        changes(&before, &after),
        [
            "Added \"a/new\\nline\"",
            "Modified edited",
            "Deleted gone",
            "Modified link",
            "Modified run",
            "TypeChanged to-link",
        ]
    );
    assert_eq!(before.diff(&after), Err(ContentNotKept));
    assert!(!after.is_incomplete());
}

#[test]
fn caches_and_environments_are_not_listed() {
    let folder = folder(&["src/target/kept.rs", "f"]);
    let before = take(folder.path(), None);
    for path in [
        ".git/index",
        ".regreen/regreen.db",
        "web/node_modules/x/index.js",
        ".venv/bin/python",
        "env/pyvenv.cfg",
        "env/lib/x.py",
        "target/CACHEDIR.TAG",
        "target/debug/x",
        "pkg/__pycache__/x.pyc",
    ] {
        write(&folder, path, "x");
    }
    write(&folder, "src/target/kept.rs", "changed");
    let after = take(folder.path(), Some(&before));
    assert_eq!(changes(&before, &after), ["Modified src/target/kept.rs"]);
}

#[test]
fn limits_are_respected_and_reported() {
    let names: Vec<String> = (0..50).map(|n| format!("d{}/f{n}", n % 5)).collect();
    let folder = folder(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let few = HashLimits {
        max_files: 20,
        ..HashLimits::default()
    };
    let take_few = || HashSnapshot::take(folder.path(), None, few, SystemTime::now());
    let (one, two) = (take_few(), take_few());
    assert!(one.is_incomplete());
    assert_eq!(changes(&one, &two), [] as [&str; 0]);

    // Too large to read, but size and time still differ.
    let short = HashLimits {
        max_file: 3,
        ..HashLimits::default()
    };
    write(&folder, "large", "12345");
    let before = HashSnapshot::take(folder.path(), None, short, SystemTime::now());
    write(&folder, "large", "123456");
    let after = HashSnapshot::take(folder.path(), Some(&before), short, SystemTime::now());
    assert_eq!(changes(&before, &after), ["Modified large"]);
}

#[test]
fn files_with_the_same_stat_data_are_not_read_again() {
    let folder = folder(&["f"]);
    let later = SystemTime::now() + Duration::from_secs(60);
    let limits = HashLimits::default();
    let before = HashSnapshot::take(folder.path(), None, limits, later);
    // Reading would now exceed the limit, so the fingerprint must be the old one.
    let none = HashLimits {
        max_total: 0,
        ..limits
    };
    let after = HashSnapshot::take(folder.path(), Some(&before), none, later);
    let apart = HashSnapshot::take(folder.path(), None, none, later);
    assert_eq!(changes(&before, &after), [] as [&str; 0]);
    assert_ne!(after, apart);
}

#[test]
fn a_save_within_the_timestamp_resolution_is_detected() {
    let folder = folder(&["f"]);
    let mut before = take(folder.path(), None);
    for round in 0..200 {
        write(&folder, "f", &format!("{round:05}"));
        let after = take(folder.path(), Some(&before));
        assert_eq!(changes(&before, &after), ["Modified f"], "{round}");
        before = after;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]
    #[test]
    fn the_difference_is_exactly_what_was_done(
        start in proptest::collection::btree_map("[a-d](/[e-g])?", "[xy]{1,3}", 0..8),
        end in proptest::collection::btree_map("[a-d](/[e-g])?", "[xy]{1,3}", 0..8),
    ) {
        // A name cannot be a file and a folder at once.
        let fits = |map: &std::collections::BTreeMap<String, String>| {
            let files = map.keys().filter(|key| key.contains('/'));
            files.map(|key| key[..1].to_owned()).all(|folder| !map.contains_key(&folder))
        };
        prop_assume!(fits(&start) && fits(&end));
        let folder = tempfile::tempdir().unwrap();
        let fill = |map: &std::collections::BTreeMap<String, String>| {
            for entry in fs::read_dir(folder.path()).unwrap().flatten() {
                let path = entry.path();
                if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
            }
            for (path, content) in map { write(&folder, path, content); }
        };
        fill(&start);
        let before = take(folder.path(), None);
        fill(&end);
        let after = take(folder.path(), Some(&before));
        let found: Vec<(String, ChangeKind)> = before.changed_files(&after).into_iter()
            .map(|change| (change.path.to_string(), change.kind)).collect();
        let names: BTreeSet<&String> = start.keys().chain(end.keys()).collect();
        let expected: Vec<(String, ChangeKind)> = names.into_iter().filter_map(|name| {
            let kind = match (start.get(name), end.get(name)) {
                (None, _) => ChangeKind::Added,
                (_, None) => ChangeKind::Deleted,
                (old, new) if old != new => ChangeKind::Modified,
                _ => return None,
            };
            Some((name.clone(), kind))
        }).collect();
        prop_assert_eq!(found, expected);
    }
}
