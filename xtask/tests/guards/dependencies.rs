//! Licences and sources of dependencies, by the rules in `deny.toml`.
//!
//! The GitHub workflow runs cargo-deny itself. This guard reads the same rules, so that a test run
//! without that program doesn't skip them.

use std::process::Command;

use serde_json::Value;
use toml::Table;

use crate::tree;

/// Returns the violations of `deny.toml` in Cargo's metadata.
fn complaints(rules: &Table, metadata: &Value) -> Vec<String> {
    let packages = metadata["packages"].as_array().expect("packages");
    let foreign = packages
        .iter()
        .filter(|package| !package["source"].is_null());
    let mut sources: Vec<&str> = Vec::new();
    let mut complaints = Vec::new();
    for package in foreign {
        let text = |field: &str| package[field].as_str().unwrap_or_default();
        let name = format!("{} {}", text("name"), text("version"));
        let licence = text("license");
        if !is_allowed(licence, &|word| allows(rules, word)) {
            complaints.push(format!("{name}: licence {licence:?}"));
        }
        if !text("source").starts_with("registry+") {
            complaints.push(format!("{name} comes from {}", text("source")));
        }
        sources.push(text("source"));
    }
    sources.sort_unstable();
    sources.dedup();
    if sources.len() > 1 {
        complaints.push(format!("more than one registry: {sources:?}"));
    }
    complaints
}

fn allows(rules: &Table, licence: &str) -> bool {
    let allowed = rules["licenses"]["allow"].as_array();
    let mut allowed = allowed.into_iter().flatten();
    allowed.any(|one| one.as_str() == Some(licence))
}

/// Whether an SPDX expression can be satisfied: one side of every OR, both of every AND.
fn is_allowed(expression: &str, allows: &dyn Fn(&str) -> bool) -> bool {
    let expression = expression.replace('/', " OR ");
    let mut tokens = Vec::new();
    for word in expression.split_whitespace() {
        let inner = word.trim_start_matches('(');
        tokens.extend((inner.len()..word.len()).map(|_| "("));
        let bare = inner.trim_end_matches(')');
        tokens.push(bare);
        tokens.extend((bare.len()..inner.len()).map(|_| ")"));
    }
    let mut at = 0;
    let is_met = alternatives(&tokens, &mut at, allows);
    is_met && at == tokens.len()
}

fn alternatives(tokens: &[&str], at: &mut usize, allows: &dyn Fn(&str) -> bool) -> bool {
    let mut is_met = conjunction(tokens, at, allows);
    while tokens.get(*at) == Some(&"OR") {
        *at += 1;
        is_met |= conjunction(tokens, at, allows);
    }
    is_met
}

fn conjunction(tokens: &[&str], at: &mut usize, allows: &dyn Fn(&str) -> bool) -> bool {
    let mut is_met = licence(tokens, at, allows);
    while tokens.get(*at) == Some(&"AND") {
        *at += 1;
        is_met &= licence(tokens, at, allows);
    }
    is_met
}

/// Parses one licence, with its exception, if any, or an expression in parentheses.
fn licence(tokens: &[&str], at: &mut usize, allows: &dyn Fn(&str) -> bool) -> bool {
    let Some(&token) = tokens.get(*at) else {
        return false;
    };
    *at += 1;
    if token == "(" {
        let is_met = alternatives(tokens, at, allows);
        *at += 1;
        return is_met;
    }
    if tokens.get(*at) == Some(&"WITH") {
        let with = format!("{token} WITH {}", tokens.get(*at + 1).unwrap_or(&""));
        *at += 2;
        return allows(&with);
    }
    allows(token)
}

#[test]
fn dependencies_have_allowed_licences_and_one_source() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args([
            "metadata",
            "--format-version=1",
            "--locked",
            "--all-features",
        ])
        .current_dir(tree::root())
        .output()
        .expect("cargo can be run");
    let metadata = serde_json::from_slice(&output.stdout);
    let metadata = metadata.unwrap_or_else(|_| panic!("{output:?}"));
    let rules: Table = tree::read("deny.toml").parse().expect("deny.toml is TOML");
    assert_eq!(complaints(&rules, &metadata), [""; 0]);
}

#[test]
fn a_forbidden_licence_or_source_is_found() {
    let rules: Table = "[licenses]\nallow = ['MIT', 'Apache-2.0']"
        .parse()
        .expect("TOML");
    let package = |licence: &str, source: &str| {
        serde_json::json!({"packages": [
            {"name": "a", "version": "1.0.0", "license": licence, "source": source},
            {"name": "ours", "version": "1.0.0", "license": null, "source": null},
        ]})
    };
    let registry = "registry+index";
    for fine in [
        "MIT",
        "GPL-3.0 OR MIT",
        "MIT/Apache-2.0",
        "(MIT OR GPL-3.0) AND Apache-2.0",
    ] {
        assert_eq!(
            complaints(&rules, &package(fine, registry)),
            [""; 0],
            "{fine}"
        );
    }
    for bad in [
        "GPL-3.0",
        "MIT AND GPL-3.0",
        "",
        "Apache-2.0 WITH LLVM-exception",
    ] {
        assert_eq!(
            complaints(&rules, &package(bad, registry)).len(),
            1,
            "{bad}"
        );
    }
    let git = complaints(&rules, &package("MIT", "git+elsewhere"));
    assert_eq!(git, ["a 1.0.0 comes from git+elsewhere"]);
}
