use std::fs;
use std::process::Command;

use regreen_workspace::{RelPath, Standing, standing};

#[test]
fn git_says_what_it_tracks_ignores_and_would_take() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path();
    let of = |path: &str| standing(root, &RelPath::new(path).unwrap());
    fs::create_dir(root.join("a")).unwrap();
    fs::write(root.join("a/x.pid"), "1").unwrap();
    fs::write(root.join(".gitignore"), ".env\n").unwrap();
    assert_eq!(of("a/x.pid"), Standing::NoRepository);
    for args in [["init", "-q"], ["add", "a"]] {
        let git = Command::new("git").args(args).current_dir(root).status();
        assert!(git.unwrap().success());
    }
    assert_eq!(of("a/x.pid"), Standing::Tracked);
    assert_eq!(of("a"), Standing::Tracked);
    assert_eq!(of(".env"), Standing::Ignored);
    assert_eq!(of("b.pid"), Standing::Committable);
}
