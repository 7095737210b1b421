//! Manifests and locks of JavaScript projects.

use serde_json::Value;

use super::recipe::Recipe;
use super::targets::written_by;
use super::{ManifestContent, Target, digest};
use crate::package_names::{is_node_package, is_target};

const LISTS: [(&str, &str); 4] = [
    ("dependencies", ""),
    ("devDependencies", "dev"),
    ("optionalDependencies", "optional"),
    ("peerDependencies", "peer"),
];

pub(super) fn package_json(text: &str) -> ManifestContent {
    let mut content = ManifestContent::default();
    let Ok(json) = serde_json::from_str::<Value>(text) else {
        return content;
    };
    content.project = json.get("name").and_then(Value::as_str).map(str::to_owned);
    for (list, group) in LISTS {
        for (name, version) in json
            .get(list)
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            let version = version.as_str().unwrap_or_default();
            if !is_node_package(name) || is_elsewhere(version) {
                content.add_elsewhere(name.trim_start_matches('@'));
            } else {
                content.add(name, version, group);
            }
        }
    }
    content.steering = steering(&json);
    content.has_members = json.get("workspaces").is_some();
    for (name, recipe) in json
        .get("scripts")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        content.targets.extend(script(name, recipe));
    }
    content
}

/// Keys besides the lists that influence which packages are installed, and from where.
const STEERING: &str = "\
    overrides resolutions workspaces pnpm packageManager devEngines bundleDependencies \
    bundledDependencies dependenciesMeta peerDependenciesMeta optionalDependencies \
    installConfig trustedDependencies patchedDependencies";

fn steering(json: &Value) -> Option<String> {
    let said: Vec<String> = STEERING
        .split(' ')
        .filter_map(|key| Some(format!("{key}:{}", json.get(key)?)))
        .collect();
    (!said.is_empty()).then(|| digest(said.join("\n").as_bytes()))
}

fn script(name: &str, recipe: &Value) -> Option<Target> {
    let recipe = recipe.as_str()?;
    let mut target = Target {
        makes: written_by(recipe),
        // npm runs these before and after it.
        needs: ["pre", "post"].map(|when| format!("{when}{name}")).into(),
        ..Target::called(name)
    };
    target.add(&Recipe::of(recipe));
    is_target(name).then_some(target)
}

/// Returns whether a version is a URL, a repository or a folder outside.
fn is_elsewhere(version: &str) -> bool {
    let is_inside = version.starts_with("workspace:") || version.starts_with("npm:");
    let leads_out = version.contains("..");
    (version.contains(':') || version.contains('/')) && (!is_inside || leads_out)
}

/// Lists the packages of a lock file.
pub(super) fn npm_lock(text: &str) -> ManifestContent {
    let mut content = ManifestContent::default();
    let Ok(json) = serde_json::from_str::<Value>(text) else {
        return content;
    };
    let packages = json.get("packages").and_then(Value::as_object);
    for (path, package) in packages.into_iter().flatten() {
        let name = path.rsplit_once("node_modules/").map(|(_, name)| name);
        let version = package
            .get("version")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if let Some(name) = name.filter(|name| is_node_package(name)) {
            content.add(name, version, "");
        }
    }
    content
}

/// Reads settings that say where packages come from.
pub(super) fn settings(text: &str) -> ManifestContent {
    let steers = [
        "registry",
        "Registry",
        "yarnPath",
        "yarn-path",
        "script-shell",
        "node-options",
    ];
    let lines = text.lines().map(str::trim);
    let said = lines.filter(|line| !line.starts_with(['#', ';']));
    let elsewhere = said.filter(|line| steers.iter().any(|word| line.contains(word)));
    let mut content = ManifestContent::default();
    for line in elsewhere {
        content.add_elsewhere(line);
    }
    content
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn package_json_lists_packages_and_scripts() {
        let content = package_json(
            r#"{"name":"x","dependencies":{"ms":"2.1.3","evil":"git+https://h/x","@a/b":"workspace:*"},
                "devDependencies":{"jest":"^29","up":"file:../up","--opt":"1"},
                "scripts":{"gen":"node gen.js > src/v.js","-x":"no"}}"#,
        );
        let names: Vec<&str> = content.packages.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["ms", "@a/b", "jest"]);
        assert_eq!(content.elsewhere.len(), 3);
        assert_eq!(content.targets.len(), 1);
        assert_eq!(content.targets[0].makes, ["src/v.js"]);
    }

    #[test]
    fn npm_lock_lists_its_tree() {
        let content = npm_lock(
            r#"{"packages":{"":{},"node_modules/ms":{"version":"2.1.3"},"node_modules/a/node_modules/@b/c":{"version":"1"}}}"#,
        );
        let names: Vec<&str> = content.packages.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["ms", "@b/c"]);
        assert_eq!(npm_lock("not json"), ManifestContent::default());
    }
}
