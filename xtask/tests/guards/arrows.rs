//! Which crate may depend on which.

use crate::manifest::Manifest;
use crate::tree;

/// Every crate, present or planned, and the crates it may depend on.
const ARROWS: [(&str, &[&str]); 23] = [
    ("model", &[]),
    ("documents", &["model"]),
    ("diagnosis", &["model"]),
    ("agents", &["model"]),
    ("forge", &["model"]),
    ("redaction", &["model"]),
    ("store", &["model"]),
    ("tampering", &["model"]),
    ("test-results", &["documents"]),
    ("overview", &["model", "store"]),
    ("history", &["model", "diagnosis", "store"]),
    ("reporters", &["model", "diagnosis"]),
    ("dashboard", &["model", "overview", "history", "reporters"]),
    ("tui", &["model", "overview", "reporters"]),
    ("mcp", &["model"]),
    ("engine", &["model", "diagnosis"]),
    ("supervisor", &["model", "redaction"]),
    ("workspace", &["model"]),
    ("repairs", &["model", "supervisor", "workspace"]),
    ("runtime", &BELOW_RUNTIME),
    ("cli", &BELOW_CLI),
    ("simulator", &["model", "documents", "engine"]),
    ("test-support", &[]),
];

const BELOW_RUNTIME: [&str; 13] = [
    "model",
    "documents",
    "diagnosis",
    "tampering",
    "test-results",
    "agents",
    "forge",
    "redaction",
    "store",
    "engine",
    "supervisor",
    "workspace",
    "repairs",
];

const BELOW_CLI: [&str; 20] = [
    "model",
    "documents",
    "diagnosis",
    "tampering",
    "test-results",
    "agents",
    "forge",
    "redaction",
    "store",
    "history",
    "engine",
    "supervisor",
    "workspace",
    "repairs",
    "runtime",
    "overview",
    "reporters",
    "dashboard",
    "tui",
    "mcp",
];

/// Crates for tests and tools only: the product is built without them.
pub(crate) const DEV_ONLY: [&str; 2] = ["simulator", "test-support"];

pub(crate) fn package_of(folder: &str) -> String {
    match folder {
        "cli" => "regreen".to_owned(),
        folder => format!("regreen-{folder}"),
    }
}

/// Returns the folder of one of our own crates.
pub(crate) fn folder_of(package: &str) -> Option<&str> {
    match package {
        "regreen" => Some("cli"),
        package => package.strip_prefix("regreen-"),
    }
}

fn complaints(folder: &str, manifest: &Manifest) -> Vec<String> {
    let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == folder) else {
        return vec![format!("crates/{folder} is not in the table of arrows")];
    };
    let mut complaints = Vec::new();
    if manifest.name() != package_of(folder) {
        complaints.push(format!("crates/{folder} is called {}", manifest.name()));
    }
    let ours = manifest.built_from().filter_map(folder_of);
    let forbidden = ours.filter(|other| !allowed.contains(other));
    complaints.extend(forbidden.map(|other| format!("{folder} must not depend on {other}")));
    complaints
}

#[test]
fn crates_depend_only_on_what_the_architecture_allows() {
    let complaints: Vec<String> = tree::crates()
        .iter()
        .flat_map(|folder| complaints(folder, &Manifest::of_crate(folder)))
        .collect();
    assert_eq!(complaints, Vec::<String>::new());
}

#[test]
fn a_forbidden_arrow_is_found_wherever_it_is_declared() {
    let manifest = |table: &str| {
        let arrow = "regreen-store.workspace = true";
        Manifest::of(&format!(
            "[package]\nname = 'regreen-documents'\n[{table}]\n{arrow}"
        ))
    };
    for table in [
        "dependencies",
        "build-dependencies",
        "target.'cfg(unix)'.dependencies",
    ] {
        let found = complaints("documents", &manifest(table));
        assert_eq!(found, ["documents must not depend on store"], "{table}");
    }
    assert_eq!(
        complaints("documents", &manifest("dev-dependencies")),
        [""; 0]
    );
    assert_eq!(complaints("utils", &manifest("dependencies")).len(), 1);
}

#[test]
fn the_product_is_built_without_the_crates_for_tests() {
    for (folder, allowed) in ARROWS {
        let dev_only = allowed.iter().find(|other| DEV_ONLY.contains(other));
        assert_eq!(dev_only, None, "{folder}");
    }
}

/// A reverse arrow would be a cycle, which cargo rejects only once both crates exist.
#[test]
fn arrows_point_downwards_only() {
    for (at, (name, allowed)) in ARROWS.iter().enumerate() {
        for other in *allowed {
            let below = ARROWS.iter().position(|(name, _)| name == other);
            assert!(below.is_some_and(|below| below < at), "{name} → {other}");
        }
    }
}
