//! Values derived from the captures of a rule.

use std::collections::BTreeMap;

use regreen_model::RepairAction;

type Derive = fn(&str) -> Option<String>;

/// Adds `package` and `check` for an import, and `folder` for a path.
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

/// Returns the package for an import, unless it is the project's own module: that isn't a package,
/// and a package with the same name would be an unrelated one.
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

/// Modules that are also programs with the same name.
const PYTHON_PROGRAMS: [&str; 12] = [
    "black", "coverage", "flake8", "isort", "mypy", "pip", "poetry", "pylint", "pytest", "ruff",
    "tox", "uvicorn",
];

/// Returns the command that proves that the module is installed.
fn python_check(module: &str) -> Option<String> {
    Some(match PYTHON_PROGRAMS.contains(&module) {
        true => format!("{module} --version"),
        false => format!("python3 -c 'import {module}'"),
    })
}

/// Returns the package of a specifier: `lodash/fp` is in `lodash`, `@a/b/c` in `@a/b`; paths and
/// aliases have none.
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

/// Returns the installation that provides what the captures name; `None` for names without a known
/// package, such as misspelled ones.
pub(crate) fn installation(captures: &BTreeMap<String, String>) -> Option<RepairAction> {
    let command = captures.get("command").and_then(|name| of_command(name));
    command.or_else(|| {
        let name = captures.get("library").or_else(|| captures.get("header"))?;
        let package = library(name)?;
        Some(RepairAction::AptInstall {
            args: vec![package],
        })
    })
}

fn of_command(name: &str) -> Option<RepairAction> {
    let by = [
        ("pip_install", PIP),
        ("npm_install", NPM),
        ("cargo_install", CARGO),
        ("apt_install", APT),
    ];
    by.into_iter().find_map(|(action, table)| {
        let package = look_up(table, name)?;
        RepairAction::from_parts(action, vec![package.to_owned()])
    })
}

/// Returns the library of a header or name: `openssl/ssl.h` and `openssl` both belong to OpenSSL.
fn library(name: &str) -> Option<String> {
    let first = name.split('/').next().unwrap_or(name);
    let stem = first.strip_suffix(".h").unwrap_or(first);
    let package = look_up(LIBRARIES, name).or_else(|| look_up(LIBRARIES, stem))?;
    Some(package.to_owned())
}

include!(concat!(env!("OUT_DIR"), "/names.rs"));

/// Looks up the package of a name in one of the tables.
pub(crate) fn look_up(table: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    let found = table.binary_search_by(|(known, _)| (*known).cmp(name));
    found.ok().map(|at| table[at].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_gets_the_package_that_provides_it() {
        assert_eq!(python_package("yaml").as_deref(), Some("PyYAML"));
        assert_eq!(python_package("yaml.nodes").as_deref(), Some("PyYAML"));
        assert_eq!(
            python_package("google.protobuf.message").as_deref(),
            Some("protobuf")
        );
        assert_eq!(python_package("rich").as_deref(), Some("rich"));
    }

    #[test]
    fn a_projects_own_module_is_not_a_package() {
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

    fn of(name: &str, value: &str) -> Option<String> {
        let captures = BTreeMap::from([(name.to_owned(), value.to_owned())]);
        installation(&captures).map(|action| action.to_string())
    }

    #[test]
    fn known_names_have_their_package() {
        assert_eq!(of("command", "rg").as_deref(), Some("apt_install ripgrep"));
        assert_eq!(
            of("command", "pytest").as_deref(),
            Some("pip_install pytest")
        );
        assert_eq!(
            of("command", "tsc").as_deref(),
            Some("npm_install typescript")
        );
        assert_eq!(of("command", "just").as_deref(), Some("cargo_install just"));
        assert_eq!(
            of("header", "openssl/ssl.h").as_deref(),
            Some("apt_install libssl-dev")
        );
        assert_eq!(
            of("header", "Python.h").as_deref(),
            Some("apt_install python3-dev")
        );
        assert_eq!(
            of("library", "ssl").as_deref(),
            Some("apt_install libssl-dev")
        );
    }

    #[test]
    fn no_package_is_guessed_for_a_misspelt_name() {
        assert_eq!(of("command", "pyhton"), None);
        assert_eq!(of("header", "mine/own.h"), None);
    }
}
