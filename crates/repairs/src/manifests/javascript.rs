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

/// Keys besides the lists that influence which packages are installed and from where.
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
        // npm runs these before and after the script.
        needs: ["pre", "post"].map(|when| format!("{when}{name}")).into(),
        ..Target::called(name)
    };
    target.add(&Recipe::of(recipe));
    is_target(name).then_some(target)
}

/// Returns whether a version is a URL, a repository or an outside folder.
fn is_elsewhere(version: &str) -> bool {
    let is_inside = version.starts_with("workspace:") || version.starts_with("npm:");
    let leads_out = version.contains("..");
    (version.contains(':') || version.contains('/')) && (!is_inside || leads_out)
}

/// Lists the packages of a lock file.
pub(super) fn npm_lock(text: &str) -> ManifestContent {
    let mut content = ManifestContent::default();
    let Ok(json) = serde_json::from_str::<Value>(text) else {
        content.add_elsewhere("unreadable");
        return content;
    };
    npm_sources(&mut content, &json);
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

/// Collects the addresses of all packages, in all versions of the format.
fn npm_sources(content: &mut ManifestContent, entry: &Value) {
    let field = |key: &str| entry.get(key).and_then(Value::as_str);
    let is_link = entry.get("link").and_then(Value::as_bool) == Some(true);
    match field("resolved") {
        Some(_) if is_link => content.add_elsewhere("link"),
        Some(address) => content.add_source(address),
        // Older versions have the address here.
        None => field("version")
            .filter(|version| version.contains([':', '/']))
            .into_iter()
            .for_each(|address| content.add_source(address)),
    }
    for list in ["packages", "dependencies"] {
        let entries = entry.get(list).and_then(Value::as_object);
        for inner in entries.into_iter().flat_map(|entries| entries.values()) {
            npm_sources(content, inner);
        }
    }
}

/// Prefixes of addresses that aren't in a registry.
const ELSEWHERE: [&str; 13] = [
    "file:",
    "link:",
    "portal:",
    "exec:",
    "git:",
    "git+",
    "git@",
    "ssh:",
    "github:",
    "gitlab:",
    "bitbucket:",
    "gist:",
    "__archiveUrl",
];

/// Collects the addresses in a lock file of yarn, pnpm or bun. These formats are read word by word:
/// anything that looks like an address counts, wherever it is.
pub(super) fn text_lock(text: &str) -> ManifestContent {
    let mut content = ManifestContent::default();
    // Escapes could hide an address, and a binary file could hide anything.
    if text.contains(['\\', '\0', char::REPLACEMENT_CHARACTER]) {
        content.add_elsewhere("unreadable");
        return content;
    }
    let lines = text.lines().map(str::trim);
    for line in lines.filter(|line| !line.starts_with(['#']) && !line.starts_with("deprecated:")) {
        let ends = |c: char| c.is_whitespace() || "\"'`,{}[]()<>".contains(c);
        for word in line.split(ends) {
            add_word(&mut content, word);
        }
    }
    content
}

fn add_word(content: &mut ManifestContent, word: &str) {
    // `pkg@file:./x` and `pkg@npm:1.0`: the address starts after the name.
    let parts = word.split('@').filter(|part| !part.is_empty());
    let is_elsewhere = |part: &str| ELSEWHERE.iter().any(|start| part.starts_with(start));
    let named = parts.clone().find(|part| is_elsewhere(part));
    let is_patch =
        parts.clone().any(|part| part.starts_with("patch:")) && !word.contains("builtin");
    match word.find("://") {
        Some(_) if word.contains("git+") || word.contains("ssh:") => content.add_elsewhere("git"),
        // A name may precede the address.
        Some(at) => {
            let before = word.get(..at).unwrap_or_default();
            let scheme = before.rfind(|c: char| !c.is_ascii_alphanumeric());
            let address = word.get(scheme.map_or(0, |at| at + 1)..);
            content.add_source(address.unwrap_or_default());
        }
        None if is_patch => content.add_elsewhere("patch"),
        None => named.into_iter().for_each(|_| content.add_elsewhere(word)),
    }
    if word.contains("__archiveUrl") || matches!(word, "directory:" | "repo:") {
        content.add_elsewhere(word);
    }
}

/// Reads settings that determine where packages come from.
pub(super) fn settings(text: &str) -> ManifestContent {
    let steers = [
        "registry",
        "Registry",
        "yarnPath",
        "yarn-path",
        "script-shell",
        "node-options",
        "plugins",
        "proxy",
        "cafile",
        "strict-ssl",
        "userconfig",
        "globalconfig",
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
        assert_eq!(npm_lock("not json").elsewhere, ["unreadable"]);
    }

    #[test]
    fn text_lock_files_name_the_source_of_packages() {
        let yarn = "ms@^2.1.3, ms@2.1.3:\n  version \"2.1.3\"\n  resolved \"https://a.example/ms-2.1.3.tgz#574\"\n";
        assert_eq!(text_lock(yarn).sources, ["https://a.example"]);
        let berry = "\"ms@npm:^2.1.3\":\n  version: 2.1.3\n  resolution: \"ms@npm:2.1.3\"\n\"ts@patch:ts@npm%3A5#optional!builtin<compat/ts>\":\n";
        let pnpm = "packages:\n  '@a/simple-git@3.0.0':\n    resolution: {integrity: sha512-abc==}\n    deprecated: see https://b.example\n";
        let bun =
            "{\n  \"packages\": {\n    \"ms\": [\"ms@2.1.3\", \"\", {}, \"sha512-a\"],\n  }\n}\n";
        for plain in [berry, pnpm, bun] {
            assert_eq!(text_lock(plain), ManifestContent::default(), "{plain}");
        }
        for strange in [
            "\"x@git+ssh://git@h/x.git\":",
            "\"x@file:./x\":",
            "x@link:../x",
            "resolution: \"x@npm:1::__archiveUrl=https%3A%2F%2Fh\"",
            "resolution: {directory: vendor/x, type: directory}",
            "resolution: {commit: abc, repo: x, type: git}",
            "\"x\": [\"x@github:a/b#c\"]",
            "\"x@patch:x@npm%3A1#./evil.patch\":",
            "resolved \"\\x68ttps://h\"",
        ] {
            assert!(!text_lock(strange).elsewhere.is_empty(), "{strange}");
        }
    }
}
