//! No absolute paths of the machine that a file was written on.

use std::path::Path;

use crate::tree;

/// Prefixes of home folders, which a name and more must follow.
const HOMES: [&str; 4] = ["/home/", "/Users/", "C:\\Users\\", "C:\\\\Users\\\\"];
const ROOT_HOME: &str = "/root/";
/// Files that need such a word, and why.
const ALLOWED: [(&str, &str); 3] = [
    ("Cargo.lock", "cargo writes where packages come from"),
    ("fuzz/Cargo.lock", "cargo writes where packages come from"),
    (
        "xtask/tests/guards/machine_paths.rs",
        "the rules themselves",
    ),
];

/// Returns the part of a line that does not belong there.
fn complaint(line: &str, own_location: &str) -> Option<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let starts = HOMES.iter().find(|home| {
        let mut behind = line
            .match_indices(**home)
            .map(|(at, _)| &line[at + home.len()..]);
        behind.any(|path| path.starts_with(is_name))
    });
    if let Some(home) = starts {
        return Some(format!("a path below {home}"));
    }
    if line.contains(ROOT_HOME) {
        return Some(format!("a path below {ROOT_HOME}"));
    }
    names(line, own_location).then(|| format!("the checkout's own place, {own_location}"))
}

/// Whether a line has a path below this one. A checkout right below `/` shares its name with many
/// other folders, so such a match proves nothing.
fn names(line: &str, place: &str) -> bool {
    let is_deep = place.matches('/').count() >= 2;
    let below = format!("{place}/");
    let stands_alone = |at: usize| !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '.');
    is_deep && line.match_indices(&below).any(|(at, _)| stands_alone(at))
}

fn complaints(file: &Path, text: &str, own_location: &str) -> Vec<String> {
    let lines = text.lines().enumerate();
    lines
        .filter_map(|(at, line)| {
            let complaint = complaint(line, own_location)?;
            Some(format!("{}:{}: {complaint}", file.display(), at + 1))
        })
        .collect()
}

#[test]
fn no_file_names_a_path_of_one_machine() {
    let own_location = tree::root().to_str().expect("the folder's name is text");
    let is_allowed = |file: &Path| ALLOWED.iter().any(|(name, _)| file == Path::new(name));
    let mut found = Vec::new();
    for file in tree::files().iter().filter(|file| !is_allowed(file)) {
        let bytes = std::fs::read(tree::root().join(file)).expect("it can be read");
        let text = String::from_utf8_lossy(&bytes);
        found.extend(complaints(file, &text, own_location));
    }
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn paths_of_machines_are_distinguished_from_others() {
    for line in [
        "see /home/ann/regreen",
        "at /Users/ann/x.rs",
        "C:\\Users\\ann",
        "\"C:\\\\Users\\\\ann\"",
        "/root/.cargo",
        "/srv/checkout/src",
    ] {
        assert!(complaint(line, "/srv/checkout").is_some(), "{line}");
    }
    for line in [
        "the /home/ folder",
        "/home/<name>/",
        "/usr/bin/env",
        "/tmp/x",
        "/rooted",
        "in/srv/checkout/src",
    ] {
        assert_eq!(complaint(line, "/srv/checkout"), None, "{line}");
    }
}

#[test]
fn exceptions_are_files_that_exist() {
    for (file, _) in ALLOWED {
        assert!(tree::root().join(file).is_file(), "{file}");
    }
}
