//! The version in Cargo.toml is the version of everything that is published.

use serde_json::Value as Json;
use toml::Table;

use crate::tree;

/// Returns the files that repeat the version, and what they say.
fn versions() -> [(&'static str, String); 2] {
    let project: Table = tree::read("python/pyproject.toml")
        .parse()
        .expect("it is TOML");
    let python = project["project"]["version"].as_str();
    let plugin: Json =
        serde_json::from_str(&tree::read("plugin/.claude-plugin/plugin.json")).expect("it is JSON");
    let plugin = plugin["version"].as_str();
    [
        (
            "python/pyproject.toml",
            python.unwrap_or_default().to_owned(),
        ),
        (
            "plugin/.claude-plugin/plugin.json",
            plugin.unwrap_or_default().to_owned(),
        ),
    ]
}

#[test]
fn every_package_has_the_version_of_the_program() {
    let workspace: Table = tree::read("Cargo.toml").parse().expect("it is TOML");
    let version = workspace["workspace"]["package"]["version"].as_str();
    for (file, found) in versions() {
        assert_eq!(Some(found.as_str()), version, "{file}");
    }
}

#[test]
fn the_marketplace_offers_the_plugin_of_this_repository() {
    let marketplace: Json =
        serde_json::from_str(&tree::read(".claude-plugin/marketplace.json")).expect("it is JSON");
    let offered = marketplace["plugins"].as_array().expect("a list");
    for plugin in offered {
        let source = plugin["source"].as_str().expect("a folder");
        let manifest = tree::read(format!("{source}/.claude-plugin/plugin.json"));
        let manifest: Json = serde_json::from_str(&manifest).expect("it is JSON");
        assert_eq!(manifest["name"], plugin["name"]);
        // The manifest has the version: one more would have to be kept up to date.
        assert_eq!(plugin.get("version"), None);
    }
    assert_eq!(offered.len(), 1);
}
