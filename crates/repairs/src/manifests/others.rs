//! Manifests and locks of cargo, Go, Bundler and Composer; submodules.

use serde_json::Value as Json;
use toml::{Table, Value};

use super::ManifestContent;
use crate::package_names::{is_crate, is_go_module, is_node_package};

pub(super) fn cargo_toml(text: &str) -> ManifestContent {
    let mut content = ManifestContent::default();
    let Ok(table) = text.parse::<Table>() else {
        return content;
    };
    let package = table.get("package").and_then(|package| package.get("name"));
    content.project = package.and_then(Value::as_str).map(str::to_owned);
    for list in ["dependencies", "dev-dependencies", "build-dependencies"] {
        cargo_list(&mut content, table.get(list), list);
    }
    let workspace = table.get("workspace").and_then(|w| w.get("dependencies"));
    cargo_list(&mut content, workspace, "workspace");
    for key in ["patch", "replace"] {
        if table.contains_key(key) {
            content.add_elsewhere(key);
        }
    }
    let tables = table.values();
    tables.for_each(|value| cargo_sources(&mut content, value));
    content
}

/// Records dependencies with their own sources, wherever they are.
fn cargo_sources(content: &mut ManifestContent, value: &Value) {
    let Some(table) = value.as_table() else {
        return;
    };
    for (key, inner) in table {
        match key.as_str() {
            "git" | "registry" | "registry-index" if inner.is_str() => content.add_elsewhere(key),
            _ => cargo_sources(content, inner),
        }
    }
}

fn cargo_list(content: &mut ManifestContent, list: Option<&Value>, group: &str) {
    for (name, value) in list.and_then(Value::as_table).into_iter().flatten() {
        let real = value.get("package").and_then(Value::as_str).unwrap_or(name);
        if is_crate(real) {
            content.add(real, real, group);
        }
    }
}

pub(super) fn cargo_lock(text: &str) -> ManifestContent {
    let mut content = ManifestContent::default();
    let table = text.parse::<Table>().unwrap_or_default();
    let packages = table.get("package").and_then(Value::as_array);
    let names = packages
        .into_iter()
        .flatten()
        .filter_map(|p| p.get("name")?.as_str());
    for name in names.filter(|name| is_crate(name)) {
        content.add(name, name, "");
    }
    let packages = packages.into_iter().flatten();
    let mut sources: Vec<&str> = packages
        .filter_map(|package| package.get("source")?.as_str())
        .collect();
    sources.sort_unstable();
    sources.dedup();
    // cargo uses a registry only if a manifest or a setting names it. Otherwise the only one is the
    // default, or cargo refuses the lock file.
    match sources.as_slice() {
        [] => {}
        [only] if only.starts_with("registry+https://") => {}
        [first, ..] => content.add_elsewhere(first),
    }
    content
}

/// Tables and keys of settings that change where packages come from or which program installs them.
const STEERING: [&str; 16] = [
    "source",
    "registries",
    "registry",
    "patch",
    "paths",
    "http",
    "net",
    "proxy",
    "index",
    "url",
    "find-links",
    "trusted-host",
    "path",
    "mirror",
    "gemfile",
    "credential",
];

/// Reads settings of cargo, rustup, uv, Poetry, PDM, pip and Bundler, line by line.
pub(super) fn manager_settings(text: &str) -> ManifestContent {
    let mut content = ManifestContent::default();
    let lines = text.lines().map(str::trim);
    for line in lines.filter(|line| !line.starts_with('#')) {
        let key = line.split(['=', ':']).next().unwrap_or_default();
        let key = key.to_ascii_lowercase();
        let word = STEERING.iter().find(|word| key.contains(**word));
        word.into_iter()
            .for_each(|word| content.add_elsewhere(word));
    }
    content
}

pub(super) fn go_mod(text: &str) -> ManifestContent {
    let mut content = ManifestContent::default();
    let mut in_block = false;
    for line in text.lines().map(str::trim) {
        let line = line.split("//").next().unwrap_or_default().trim();
        match line.split_once(' ') {
            Some(("module", name)) => content.project = Some(name.trim().to_owned()),
            Some(("require", "(")) => in_block = true,
            Some(("require", rest)) => go_requirement(&mut content, rest),
            Some(("replace", rest)) => content.add_elsewhere(rest),
            _ if line == ")" => in_block = false,
            Some(_) if in_block => go_requirement(&mut content, line),
            _ => {}
        }
    }
    content
}

fn go_requirement(content: &mut ManifestContent, line: &str) {
    if let Some((name, version)) = line.split_once(' ').filter(|(name, _)| is_go_module(name)) {
        content.add(name, version.trim(), "");
    }
}

pub(super) fn gemfile(text: &str) -> ManifestContent {
    let mut content = ManifestContent::default();
    for line in text.lines().map(str::trim) {
        let quoted = line.split(['\'', '"']).nth(1).unwrap_or_default();
        let first = line.split([' ', '(']).next().unwrap_or_default();
        match first {
            "source" if !quoted.is_empty() => content.add_source(quoted),
            "source" | "git" | "path" | "plugin" | "gemspec" | "eval_gemfile" | "git_source"
            | "require_relative" | "load" => content.add_elsewhere(first),
            _ => {}
        }
        let Some(rest) = line.strip_prefix("gem ") else {
            continue;
        };
        let name = rest.split(['\'', '"']).nth(1).unwrap_or_default();
        let is_elsewhere = ["git:", "github:", "path:", ":git", ":path", "source:"]
            .iter()
            .any(|word| rest.contains(word));
        match is_crate(name) {
            true if !is_elsewhere => content.add(name, name, ""),
            _ => content.add_elsewhere(rest),
        }
    }
    content
}

/// Parses lines such as `    rack (3.0.8)` below `specs:`.
pub(super) fn gemfile_lock(text: &str) -> ManifestContent {
    let mut content = ManifestContent::default();
    for line in text.lines() {
        match line.trim().split_once(' ') {
            Some(("remote:", address)) => content.add_source(address),
            _ if matches!(line, "GIT" | "PATH" | "PLUGIN SOURCE") => content.add_elsewhere(line),
            _ => {}
        }
    }
    for line in text
        .lines()
        .filter(|line| line.starts_with("    ") && line.ends_with(')'))
    {
        let name = line.trim().split(' ').next().unwrap_or_default();
        if is_crate(name) {
            content.add(name, name, "");
        }
    }
    content
}

pub(super) fn composer(text: &str) -> ManifestContent {
    let mut content = ManifestContent::default();
    let json = serde_json::from_str::<Json>(text).unwrap_or_default();
    for list in ["require", "require-dev"] {
        for name in json
            .get(list)
            .and_then(Json::as_object)
            .into_iter()
            .flatten()
            .map(|(name, _)| name)
        {
            if is_node_package(&format!("@{name}")) {
                content.add(name, name, list);
            }
        }
    }
    if json.get("repositories").is_some() {
        content.add_elsewhere("repositories");
    }
    content
}

/// Collects the address of each package.
pub(super) fn composer_lock(text: &str) -> ManifestContent {
    let mut content = ManifestContent::default();
    let Ok(json) = serde_json::from_str::<Json>(text) else {
        content.add_elsewhere("unreadable");
        return content;
    };
    let lists = ["packages", "packages-dev"].into_iter();
    let packages = lists
        .filter_map(|list| json.get(list)?.as_array())
        .flatten();
    for package in packages {
        for place in ["dist", "source"] {
            let address = package.get(place).and_then(|place| place.get("url"));
            let address = address.and_then(Json::as_str);
            address
                .into_iter()
                .for_each(|address| content.add_source(address));
        }
    }
    content
}

/// Lists the folders of submodules as includes.
pub(super) fn gitmodules(text: &str) -> ManifestContent {
    let paths = text.lines().filter_map(|line| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == "path").then(|| value.trim().to_owned())
    });
    ManifestContent {
        includes: paths.collect(),
        ..ManifestContent::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(content: &ManifestContent) -> Vec<&str> {
        content
            .packages
            .iter()
            .map(|package| package.name.as_str())
            .collect()
    }

    #[test]
    fn packages_of_other_manifests_are_read() {
        assert_eq!(
            names(&cargo_toml(
                "[dependencies]\nserde='1'\nj={package='serde_json',version='1'}\n[dev-dependencies]\ninsta='1'"
            )),
            ["serde_json", "serde", "insta"]
        );
        assert_eq!(
            names(&cargo_lock("[[package]]\nname='a'\nversion='1'\n")),
            ["a"]
        );
        assert_eq!(
            names(&go_mod(
                "module x\n\nrequire github.com/a/b v1.0.0\nrequire (\n\tgithub.com/c/d v1 // indirect\n)\n"
            )),
            ["github.com/a/b", "github.com/c/d"]
        );
        assert_eq!(
            names(&gemfile(
                "source 'https://a.example'\ngem 'rack', '~> 3'\ngem \"own\", path: '../x'\n"
            )),
            ["rack"]
        );
        assert_eq!(
            names(&gemfile_lock("GEM\n  specs:\n    rack (3.0.8)\n")),
            ["rack"]
        );
        assert_eq!(
            names(&composer(
                r#"{"require":{"php":">=8","monolog/monolog":"^3"}}"#
            )),
            ["monolog/monolog"]
        );
        assert_eq!(
            gitmodules("[submodule \"x\"]\n\tpath = vendor/lib\n\turl = y\n").includes,
            ["vendor/lib"]
        );
    }
}
