//! The pure crates: no clock, no files, no processes, no async runtime.

use std::collections::BTreeSet;

use toml::{Table, Value};

use crate::arrows::folder_of;
use crate::manifest::Manifest;
use crate::tree;

const PURE: [&str; 9] = [
    "model",
    "documents",
    "diagnosis",
    "engine",
    "agents",
    "forge",
    "redaction",
    "tampering",
    "test-results",
];

const RUNTIMES: [&str; 5] = [
    "tokio",
    "async-std",
    "smol",
    "async-executor",
    "futures-executor",
];

fn pure_crates() -> Vec<String> {
    let mut crates = tree::crates();
    crates.retain(|folder| PURE.contains(&folder.as_str()));
    crates
}

#[test]
fn pure_crates_forbid_effects_by_the_same_rules() {
    let rules = tree::read("crates/model/clippy.toml");
    let table: Table = rules.parse().expect("clippy.toml can be read");
    for kind in [
        "disallowed-methods",
        "disallowed-types",
        "disallowed-macros",
    ] {
        let paths = table[kind].as_array().map_or(0, Vec::len);
        assert!(paths > 0, "{kind}");
    }
    for folder in pure_crates() {
        let own = tree::read(own_rules(&folder));
        assert!(
            own == rules,
            "crates/{folder}/clippy.toml differs from that of model"
        );
    }
}

/// A crate's clippy.toml replaces the root's.
#[test]
fn the_rules_of_the_root_hold_in_crates_with_rules_of_their_own() {
    let root: Table = tree::read("clippy.toml").parse().expect("it can be read");
    let has_own = |folder: &String| tree::root().join(own_rules(folder)).is_file();
    for folder in tree::crates().into_iter().filter(has_own) {
        let own: Table = tree::read(own_rules(&folder))
            .parse()
            .expect("it can be read");
        for (key, value) in &root {
            assert_eq!(own.get(key), Some(value), "{key} of {folder}");
        }
    }
}

fn own_rules(folder: &str) -> String {
    format!("crates/{folder}/clippy.toml")
}

#[test]
fn pure_crates_bring_no_async_runtime() {
    let lock: Table = tree::read("Cargo.lock").parse().expect("it can be read");
    for folder in pure_crates() {
        let built_from = everything_below(&lock, &folder);
        let runtimes: Vec<&&str> = RUNTIMES
            .iter()
            .filter(|r| built_from.contains(**r))
            .collect();
        assert_eq!(runtimes, Vec::<&&str>::new(), "crates/{folder}");
    }
}

/// Returns the names of all packages that a crate is built from, directly or indirectly.
fn everything_below(lock: &Table, folder: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open: Vec<String> = Manifest::of_crate(folder)
        .built_from()
        .map(Into::into)
        .collect();
    while let Some(name) = open.pop() {
        if !found.insert(name.clone()) {
            continue;
        }
        match folder_of(&name) {
            // The lock file includes the dev-dependencies of our own crates.
            Some(ours) => open.extend(Manifest::of_crate(ours).built_from().map(Into::into)),
            None => open.extend(locked_dependencies(lock, &name)),
        }
    }
    found
}

/// Returns the dependencies of a package in the lock file, in any of its versions there.
fn locked_dependencies(lock: &Table, name: &str) -> Vec<String> {
    let packages = lock["package"].as_array().expect("packages are listed");
    let versions = packages
        .iter()
        .filter(|package| package.get("name").and_then(Value::as_str) == Some(name));
    versions
        .filter_map(|package| package.get("dependencies")?.as_array())
        .flatten()
        .filter_map(|entry| Some(entry.as_str()?.split(' ').next()?.to_owned()))
        .collect()
}

#[test]
fn what_a_dependency_brings_along_is_found() {
    let lock = "
        [[package]]
        name = 'web'
        dependencies = ['net 1.0.0']
        [[package]]
        name = 'net'
        dependencies = ['tokio']
        [[package]]
        name = 'tokio'";
    let lock: Table = lock.parse().unwrap();
    assert_eq!(locked_dependencies(&lock, "web"), ["net"]);
    assert_eq!(locked_dependencies(&lock, "net"), ["tokio"]);
    let below_documents = everything_below(&tree::read("Cargo.lock").parse().unwrap(), "documents");
    assert!(below_documents.contains("itoa"), "{below_documents:?}");
}
