//! Every dependency is declared once, in the root manifest's table.

use toml::{Table, Value};

use crate::manifest::Manifest;
use crate::tree;

fn complaints(manifest: &Manifest) -> Vec<String> {
    let name = manifest.name();
    let dependencies = manifest.dependencies().into_iter();
    dependencies
        .filter(|dependency| !dependency.is_inherited())
        .map(|dependency| format!("{name}: {} is not of the root's table", dependency.name))
        .collect()
}

fn manifests() -> Vec<Manifest> {
    let crates = tree::crates();
    let mut manifests: Vec<Manifest> = crates.iter().map(|c| Manifest::of_crate(c)).collect();
    manifests.push(Manifest::of(&tree::read("xtask/Cargo.toml")));
    manifests
}

#[test]
fn versions_of_dependencies_stand_once() {
    let complaints: Vec<String> = manifests().iter().flat_map(complaints).collect();
    assert_eq!(complaints, Vec::<String>::new());
}

#[test]
fn crates_share_their_version_edition_and_licence() {
    for manifest in manifests() {
        for key in ["version", "edition", "rust-version", "license", "publish"] {
            let value = manifest.package().get(key);
            let is_shared = value.and_then(|value| value.get("workspace")?.as_bool());
            assert_eq!(is_shared, Some(true), "{key} of {}", manifest.name());
        }
    }
}

#[test]
fn a_version_of_its_own_is_found() {
    let manifest =
        |line: &str| Manifest::of(&format!("[package]\nname = 'a'\n[dependencies]\n{line}"));
    for own in [
        "serde = '1'",
        "serde = { version = '1' }",
        "serde = { path = '../serde' }",
        "serde = { workspace = true, version = '1' }",
    ] {
        let manifest = manifest(own);
        assert_eq!(complaints(&manifest).len(), 1, "{own}");
    }
    assert_eq!(complaints(&manifest("serde.workspace = true")).len(), 0);
    let with_features = "serde = { workspace = true, features = ['rc'] }";
    assert_eq!(complaints(&manifest(with_features)).len(), 0);
}

/// Two entries for one package would be two versions of it.
#[test]
fn the_table_names_each_package_once() {
    let root: Table = tree::read("Cargo.toml").parse().expect("it can be read");
    let table = root["workspace"]["dependencies"]
        .as_table()
        .expect("a table");
    let renamed = table
        .iter()
        .filter(|(_, value)| value.get("package").is_some());
    let names: Vec<&Value> = renamed.map(|(_, value)| value).collect();
    assert_eq!(names, Vec::<&Value>::new());
}
