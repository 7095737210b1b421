//! Values that follow from what a rule took out of a line.

use std::collections::BTreeMap;

use crate::names::{PYTHON, PYTHON_LOCAL, look_up};

type Derive = fn(&str) -> Option<String>;

/// The captures, and with them `package` and `check` for an import, `folder` for a path.
pub(crate) fn with_derived(mut captures: BTreeMap<String, String>) -> BTreeMap<String, String> {
    let derivations: [(&str, &str, Derive); 4] = [
        ("module", "package", python_package),
        ("module", "check", python_check),
        ("specifier", "package", node_package),
        ("path", "folder", parent_folder),
    ];
    for (from, to, derive) in derivations {
        if let Some(value) = captures.get(from).and_then(|value| derive(value)) {
            captures.insert(to.to_owned(), value);
        }
    }
    captures
}

/// What to install for an import, unless it is the project's own module: those are not
/// packages, and a package of the same name is somebody else's.
fn python_package(module: &str) -> Option<String> {
    let mut prefix = module;
    loop {
        if let Some(distribution) = look_up(PYTHON, prefix) {
            return Some(distribution.to_owned());
        }
        match prefix.rsplit_once('.') {
            Some((shorter, _)) => prefix = shorter,
            None => break,
        }
    }
    let is_own = module.contains('.') || module.starts_with('_') || PYTHON_LOCAL.contains(&module);
    (!is_own).then(|| module.to_owned())
}

/// Modules that are programs of the same name, too.
const PYTHON_PROGRAMS: [&str; 12] = [
    "black", "coverage", "flake8", "isort", "mypy", "pip", "poetry", "pylint", "pytest", "ruff",
    "tox", "uvicorn",
];

/// What shows that it is there now.
fn python_check(module: &str) -> Option<String> {
    Some(match PYTHON_PROGRAMS.contains(&module) {
        true => format!("{module} --version"),
        false => format!("python3 -c 'import {module}'"),
    })
}

/// `lodash/fp` is in `lodash`, `@a/b/c` in `@a/b`; paths and aliases are in none.
fn node_package(specifier: &str) -> Option<String> {
    let is_own = specifier.starts_with(['.', '/', '~', '#'])
        || specifier.starts_with("@/")
        || specifier.contains(':');
    if is_own || specifier.is_empty() {
        return None;
    }
    let parts = if specifier.starts_with('@') { 2 } else { 1 };
    let name: Vec<&str> = specifier.split('/').take(parts).collect();
    (name.len() == parts).then(|| name.join("/"))
}

fn parent_folder(path: &str) -> Option<String> {
    let (folder, _) = path.rsplit_once('/')?;
    (!folder.is_empty()).then(|| folder.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_names_the_package_that_has_it() {
        assert_eq!(python_package("yaml").as_deref(), Some("PyYAML"));
        assert_eq!(python_package("yaml.nodes").as_deref(), Some("PyYAML"));
        assert_eq!(
            python_package("google.protobuf.message").as_deref(),
            Some("protobuf")
        );
        assert_eq!(python_package("rich").as_deref(), Some("rich"));
    }

    #[test]
    fn a_projects_own_module_is_no_package() {
        for own in ["utils", "utils.helpers", "app.db", "_native", "settings"] {
            assert_eq!(python_package(own), None, "{own}");
        }
    }

    #[test]
    fn a_node_package_is_the_first_part_of_what_is_imported() {
        assert_eq!(node_package("lodash/fp").as_deref(), Some("lodash"));
        assert_eq!(node_package("@a/b/c").as_deref(), Some("@a/b"));
        for own in ["./x", "/x", "@/x", "~/x", "node:fs", "@a"] {
            assert_eq!(node_package(own), None, "{own}");
        }
    }
}
