use std::fs;
use std::process::Command;

use regreen_workspace::{PathStatus, RelPath, path_status};

#[test]
fn path_status_distinguishes_tracked_ignored_and_untracked() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path();
    let of = |path: &str| path_status(root, &RelPath::new(path).unwrap());
    fs::create_dir(root.join("a")).unwrap();
    fs::write(root.join("a/x.pid"), "1").unwrap();
    fs::write(root.join(".gitignore"), ".env\n").unwrap();
    assert_eq!(of("a/x.pid"), PathStatus::NoRepository);
    for args in [["init", "-q"], ["add", "a"]] {
        let git = Command::new("git").args(args).current_dir(root).status();
        assert!(git.unwrap().success());
    }
    assert_eq!(of("a/x.pid"), PathStatus::Tracked);
    assert_eq!(of("a"), PathStatus::Tracked);
    assert_eq!(of(".env"), PathStatus::Ignored);
    assert_eq!(of("b.pid"), PathStatus::Untracked);
}
