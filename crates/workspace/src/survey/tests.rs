use std::os::unix::fs::symlink;
use std::path::PathBuf;

use super::*;
use crate::Identity;

/// A folder with these files; each ends with a line that names `bcrypt`.
fn folder(files: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for path in files {
        write(folder.path().join(path), "first\nimport bcrypt\n");
    }
    folder
}

fn write(path: PathBuf, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn look(root: &Path, name: &str) -> (Survey, LookedUp) {
    let found = survey(root, &[name.to_owned()]);
    (found.clone(), found.looked_up[0].clone())
}

#[test]
fn a_stranger_is_told_where_everything_is() {
    let files = [
        "README.md",
        "pyproject.toml",
        "src/app/main.py",
        "src/app/auth.py",
        "tests/unit/test_auth.py",
        "node_modules/x/index.js",
    ];
    let (survey, auth) = look(folder(&files).path(), "auth");
    assert_eq!(survey.main_files, ["README.md", "src/app/main.py"]);
    assert_eq!(survey.configuration, ["pyproject.toml"]);
    assert_eq!(survey.test_folders, ["tests/"]);
    assert_eq!(auth.files, ["src/app/auth.py", "tests/unit/test_auth.py"]);
    assert_eq!(auth.lines, Vec::<String>::new());
}

#[test]
fn a_path_that_is_elsewhere_is_found_by_its_last_part() {
    let root = folder(&["lib/deep/auth.py"]);
    let (_, found) = look(root.path(), "src/Auth.py");
    assert_eq!(found.files, ["lib/deep/auth.py"]);
}

#[test]
fn secrets_links_and_what_is_no_text_are_not_read() {
    let outside = folder(&["loot.txt"]);
    let root = folder(&["a.txt", ".env", "config/secrets.yml", "key.pem"]);
    write(root.path().join("b.bin"), "\0bcrypt");
    write(root.path().join("huge"), &"bcrypt\n".repeat(100_000));
    symlink(
        outside.path().join("loot.txt"),
        root.path().join("link.txt"),
    )
    .unwrap();
    symlink(outside.path(), root.path().join("linked")).unwrap();
    let (_, found) = look(root.path(), "bcrypt");
    assert_eq!(found.lines, ["a.txt:2: import bcrypt"]);
}

#[test]
fn what_git_ignores_is_not_looked_at() {
    let root = folder(&["a.txt", "build/b.txt", ".regreen/c.txt"]);
    write(root.path().join(".gitignore"), "build/\n");
    let identity = Identity {
        name: "Tester",
        email: "tester@example.com",
    };
    Git::init(root.path(), identity).unwrap();
    let (_, found) = look(root.path(), "bcrypt");
    assert_eq!(found.lines, ["a.txt:2: import bcrypt"]);
}

#[test]
fn little_is_told_of_much() {
    let names: Vec<String> = (0..50).map(|n| format!("auth{n}.txt")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let (_, found) = look(folder(&names).path(), "AUTH");
    assert_eq!(found.files.len(), MAX_NAMED);
    let root = folder(&names);
    write(
        root.path().join("a"),
        &format!("bcrypt{}\u{1b}[31m\n", "x".repeat(9999)),
    );
    let (_, found) = look(root.path(), "bcrypt");
    assert_eq!(found.lines.len(), MAX_LINES);
    let is_harmless = |line: &String| line.len() < 300 && !line.contains('\u{1b}');
    assert!(found.lines.iter().all(is_harmless));
}
