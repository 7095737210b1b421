//! Manifests and locks of cargo, Go, Bundler and Composer; submodules.

use serde_json::Value as Json;
use toml::{Table, Value};

use super::Says;
use crate::names::{is_crate, is_go_module, is_node_package};

pub(super) fn cargo_toml(text: &str) -> Says {
    let mut says = Says::default();
    let Ok(table) = text.parse::<Table>() else {
        return says;
    };
    let package = table.get("package").and_then(|package| package.get("name"));
    says.project = package.and_then(Value::as_str).map(str::to_owned);
    for list in ["dependencies", "dev-dependencies", "build-dependencies"] {
        cargo_list(&mut says, table.get(list), list);
    }
    let workspace = table.get("workspace").and_then(|w| w.get("dependencies"));
    cargo_list(&mut says, workspace, "workspace");
    says
}

fn cargo_list(says: &mut Says, list: Option<&Value>, group: &str) {
    for (name, value) in list.and_then(Value::as_table).into_iter().flatten() {
        let real = value.get("package").and_then(Value::as_str).unwrap_or(name);
        if is_crate(real) {
            says.add(real, real, group);
        }
    }
}

pub(super) fn cargo_lock(text: &str) -> Says {
    let mut says = Says::default();
    let table = text.parse::<Table>().unwrap_or_default();
    let packages = table.get("package").and_then(Value::as_array);
    let names = packages
        .into_iter()
        .flatten()
        .filter_map(|p| p.get("name")?.as_str());
    for name in names.filter(|name| is_crate(name)) {
        says.add(name, name, "");
    }
    says
}

pub(super) fn go_mod(text: &str) -> Says {
    let mut says = Says::default();
    let mut in_block = false;
    for line in text.lines().map(str::trim) {
        let line = line.split("//").next().unwrap_or_default().trim();
        match line.split_once(' ') {
            Some(("module", name)) => says.project = Some(name.trim().to_owned()),
            Some(("require", "(")) => in_block = true,
            Some(("require", rest)) => go_requirement(&mut says, rest),
            Some(("replace", rest)) => says.add_elsewhere(rest),
            _ if line == ")" => in_block = false,
            Some(_) if in_block => go_requirement(&mut says, line),
            _ => {}
        }
    }
    says
}

fn go_requirement(says: &mut Says, line: &str) {
    if let Some((name, version)) = line.split_once(' ').filter(|(name, _)| is_go_module(name)) {
        says.add(name, version.trim(), "");
    }
}

pub(super) fn gemfile(text: &str) -> Says {
    let mut says = Says::default();
    for line in text.lines().map(str::trim) {
        let Some(rest) = line.strip_prefix("gem ") else {
            continue;
        };
        let name = rest.split(['\'', '"']).nth(1).unwrap_or_default();
        let is_elsewhere = ["git:", "github:", "path:", ":git", ":path", "source:"]
            .iter()
            .any(|word| rest.contains(word));
        match is_crate(name) {
            true if !is_elsewhere => says.add(name, name, ""),
            _ => says.add_elsewhere(rest),
        }
    }
    says
}

/// `    rack (3.0.8)` below `specs:`.
pub(super) fn gemfile_lock(text: &str) -> Says {
    let mut says = Says::default();
    for line in text
        .lines()
        .filter(|line| line.starts_with("    ") && line.ends_with(')'))
    {
        let name = line.trim().split(' ').next().unwrap_or_default();
        if is_crate(name) {
            says.add(name, name, "");
        }
    }
    says
}

pub(super) fn composer(text: &str) -> Says {
    let mut says = Says::default();
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
                says.add(name, name, list);
            }
        }
    }
    if json.get("repositories").is_some() {
        says.add_elsewhere("repositories");
    }
    says
}

/// The folders of submodules, as targets of nothing.
pub(super) fn gitmodules(text: &str) -> Says {
    let paths = text.lines().filter_map(|line| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == "path").then(|| value.trim().to_owned())
    });
    Says {
        includes: paths.collect(),
        ..Says::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(says: &Says) -> Vec<&str> {
        says.packages
            .iter()
            .map(|package| package.name.as_str())
            .collect()
    }

    #[test]
    fn the_names_in_other_manifests_are_found() {
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
                "source 'x'\ngem 'rack', '~> 3'\ngem \"own\", path: '../x'\n"
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
