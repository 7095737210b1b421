//! Finds the most informative files of a project by their names. The lists start with files near
//! the root.

use std::path::Path;

use crate::programs::is_listed;
use crate::{Disk, read_text};

const MOST: usize = 10;
/// Deeper files with such names belong to parts of the project.
const DEPTH: usize = 3;

const MAIN_STEMS: [&str; 12] = [
    "readme", "main", "__main__", "index", "app", "lib", "server", "cli", "manage", "program",
    "mod", "__init__",
];

const CONFIGURATION: &str = "\
    package.json tsconfig.json cargo.toml pyproject.toml requirements.txt setup.py setup.cfg \
    tox.ini go.mod pom.xml build.gradle build.gradle.kts makefile justfile gemfile \
    composer.json dockerfile docker-compose.yml compose.yaml cmakelists.txt regreen.toml \
    .env.example";

const TEST_FOLDERS: [&str; 5] = ["test", "tests", "__tests__", "spec", "e2e"];

pub(super) fn main_files(files: &[String]) -> Vec<String> {
    let is_main = |name: &str| MAIN_STEMS.contains(&name.split('.').next().unwrap_or(name));
    let main = first(files, |path| {
        depth(path) <= DEPTH && is_main(&name_of(path))
    });
    match main.is_empty() {
        // Any file near the root is better than none.
        true => first(files, |path| !is_other(path)),
        false => main,
    }
}

/// Returns whether a file is listed elsewhere or hidden.
fn is_other(path: &str) -> bool {
    is_configuration(path) || test_folder(path).is_some() || name_of(path).starts_with('.')
}

pub(super) fn configuration(files: &[String]) -> Vec<String> {
    first(files, |path| depth(path) <= DEPTH && is_configuration(path))
}

fn is_configuration(path: &str) -> bool {
    let name = name_of(path);
    is_listed(CONFIGURATION, &name) || name.starts_with("config.")
}

pub(super) fn test_folders(files: &[String]) -> Vec<String> {
    let mut folders: Vec<String> = Vec::new();
    for path in files {
        if let Some(folder) = test_folder(path)
            && !folders.contains(&folder)
            && folders.len() < MOST
        {
            folders.push(folder);
        }
    }
    folders
}

/// Returns the outermost test folder on the path of a file.
fn test_folder(path: &str) -> Option<String> {
    let (folders, _) = path.rsplit_once('/')?;
    let mut way = String::new();
    for part in folders.split('/') {
        way.push_str(part);
        way.push('/');
        if TEST_FOLDERS
            .iter()
            .any(|name| part.eq_ignore_ascii_case(name))
        {
            return Some(way);
        }
    }
    None
}

fn first(files: &[String], is_it: impl Fn(&str) -> bool) -> Vec<String> {
    let found = files.iter().filter(|path| is_it(path));
    found.take(MOST).cloned().collect()
}

fn depth(path: &str) -> usize {
    path.matches('/').count()
}

fn name_of(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_lowercase()
}

/// Manifests, the text they must contain, and the command that then checks the whole project.
const GATES: &[(&str, &str, &str)] = &[
    ("Cargo.toml", "", "cargo test"),
    ("package.json", "\"test\"", "npm test"),
    ("go.mod", "", "go test ./..."),
    ("pyproject.toml", "pytest", "python -m pytest"),
    ("pytest.ini", "", "python -m pytest"),
    ("pom.xml", "", "mvn -q test"),
    ("build.gradle", "", "./gradlew test"),
    ("build.gradle.kts", "", "./gradlew test"),
    ("mix.exs", "", "mix test"),
    ("Gemfile", "rspec", "bundle exec rspec"),
    ("composer.json", "\"test\"", "composer test"),
];

/// Guesses a command that checks the whole workspace from its manifests.
#[must_use]
pub fn propose_gate(disk: &dyn Disk, root: &Path) -> Option<&'static str> {
    let text = |name: &str| read_text(disk, &root.join(name)).ok().map(|file| file.text);
    // A make target is what the project's developers run themselves.
    if text("Makefile").is_some_and(|makefile| has_test_target(&makefile)) {
        return Some("make test");
    }
    // The test script that `npm init` writes always fails.
    let is_test = |manifest: &str, says: &str| {
        manifest.contains(says) && !manifest.contains("no test specified")
    };
    let fits = |(manifest, says, _): &&(&str, &str, &str)| {
        text(manifest).is_some_and(|manifest| is_test(&manifest, says))
    };
    GATES.iter().find(fits).map(|(_, _, gate)| *gate)
}

fn has_test_target(makefile: &str) -> bool {
    makefile.lines().any(|line| line.starts_with("test:"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::RealDisk;

    use super::*;

    #[test]
    fn the_gate_comes_from_the_manifests() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(propose_gate(&RealDisk, root.path()), None);
        fs::write(root.path().join("package.json"), "{\"scripts\": {}}").unwrap();
        assert_eq!(propose_gate(&RealDisk, root.path()), None);
        fs::write(root.path().join("go.mod"), "").unwrap();
        assert_eq!(propose_gate(&RealDisk, root.path()), Some("go test ./..."));
        fs::write(root.path().join("Makefile"), "all:\ntest: all\n").unwrap();
        assert_eq!(propose_gate(&RealDisk, root.path()), Some("make test"));
    }
}
