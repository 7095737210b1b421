//! Which crate may depend on which.

use crate::manifest::{Dependency, Manifest};
use crate::tree;

/// Every crate there is or will be, and what it may be built from.
const ARROWS: [(&str, &[&str]); 13] = [
    ("model", &[]),
    ("documents", &["model"]),
    ("diagnosis", &["model"]),
    ("agents", &["model"]),
    ("redaction", &["model"]),
    ("store", &["model"]),
    ("reporters", &["model", "diagnosis"]),
    ("engine", &["model", "diagnosis"]),
    ("supervisor", &["model", "redaction"]),
    ("workspace", &["model"]),
    ("repairs", &["model", "supervisor", "workspace"]),
    ("runtime", &BELOW_RUNTIME),
    ("cli", &BELOW_CLI),
];

const BELOW_RUNTIME: [&str; 10] = [
    "model",
    "documents",
    "diagnosis",
    "agents",
    "redaction",
    "store",
    "engine",
    "supervisor",
    "workspace",
    "repairs",
];

const BELOW_CLI: [&str; 12] = [
    "model",
    "documents",
    "diagnosis",
    "agents",
    "redaction",
    "store",
    "engine",
    "supervisor",
    "workspace",
    "repairs",
    "runtime",
    "reporters",
];

/// What a crate may be built from only with a feature of its own, which the product does not
/// turn on: the crate, the feature, what it brings.
const WITH_FEATURE: (&str, &str, &str) = ("engine", "sim", "documents");

pub(crate) fn package_of(folder: &str) -> String {
    match folder {
        "cli" => "regreen".to_owned(),
        folder => format!("regreen-{folder}"),
    }
}

/// The folder of one of our own crates.
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
    let is_allowed = |other: &str| allowed.contains(&other) || is_optional(folder, other, manifest);
    let forbidden = ours.filter(|other| !is_allowed(other));
    complaints.extend(forbidden.map(|other| format!("{folder} must not depend on {other}")));
    complaints
}

/// Whether an arrow is there only with the one feature that may bring it.
fn is_optional(folder: &str, other: &str, manifest: &Manifest) -> bool {
    let (crate_with_it, feature, brings) = WITH_FEATURE;
    let dependencies = manifest.dependencies();
    let mut arrows = dependencies
        .iter()
        .filter(|dependency| !dependency.is_dev && folder_of(dependency.name) == Some(other));
    (folder, other) == (crate_with_it, brings)
        && arrows.all(Dependency::is_optional)
        && !manifest.default_features().contains(&feature)
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
fn an_arrow_that_needs_a_feature_has_to_be_optional() {
    let manifest = |arrow: &str, features: &str| {
        Manifest::of(&format!(
            "[package]\nname = 'regreen-engine'\n[dependencies]\nregreen-documents = {arrow}\n{features}"
        ))
    };
    let optional = "{ workspace = true, optional = true }";
    let sim = "[features]\nsim = ['dep:regreen-documents']";
    assert_eq!(complaints("engine", &manifest(optional, sim)), [""; 0]);
    let always = manifest("{ workspace = true }", "");
    assert_eq!(
        complaints("engine", &always),
        ["engine must not depend on documents"]
    );
    let by_default = manifest(optional, "[features]\ndefault = ['sim']\nsim = []");
    assert_eq!(complaints("engine", &by_default).len(), 1);
}

#[test]
fn the_product_is_built_without_the_simulator() {
    let (with_it, feature, _) = WITH_FEATURE;
    let package = package_of(with_it);
    for folder in tree::crates().iter().filter(|folder| *folder != with_it) {
        let manifest = Manifest::of_crate(folder);
        let dependencies = manifest.dependencies();
        let turns_it_on =
            |one: &Dependency<'_>| one.name == package && one.features().contains(&feature);
        assert!(!dependencies.iter().any(turns_it_on), "{folder}");
    }
}

/// An arrow back would be a cycle that cargo refuses only once both crates exist.
#[test]
fn arrows_point_downwards_only() {
    for (at, (name, allowed)) in ARROWS.iter().enumerate() {
        for other in *allowed {
            let below = ARROWS.iter().position(|(name, _)| name == other);
            assert!(below.is_some_and(|below| below < at), "{name} → {other}");
        }
    }
}
