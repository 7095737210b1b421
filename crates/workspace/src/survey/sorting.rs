//! Which files say most about a project, by their names. The lists come with what lies near
//! the top first.

const MOST: usize = 10;
/// Deeper down such names are those of parts.
const DEPTH: usize = 3;

const MAIN_STEMS: [&str; 12] = [
    "readme", "main", "__main__", "index", "app", "lib", "server", "cli", "manage", "program",
    "mod", "__init__",
];

const CONFIGURATION: [&str; 22] = [
    "package.json",
    "tsconfig.json",
    "cargo.toml",
    "pyproject.toml",
    "requirements.txt",
    "setup.py",
    "setup.cfg",
    "tox.ini",
    "go.mod",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "makefile",
    "justfile",
    "gemfile",
    "composer.json",
    "dockerfile",
    "docker-compose.yml",
    "compose.yaml",
    "cmakelists.txt",
    "regreen.toml",
    ".env.example",
];

const TEST_FOLDERS: [&str; 5] = ["test", "tests", "__tests__", "spec", "e2e"];

pub(super) fn main_files(files: &[String]) -> Vec<String> {
    let is_main = |name: &str| MAIN_STEMS.contains(&name.split('.').next().unwrap_or(name));
    let main = first(files, |path| {
        depth(path) <= DEPTH && is_main(&name_of(path))
    });
    match main.is_empty() {
        // Whatever lies near the top is better than nothing.
        true => first(files, |path| !is_other(path)),
        false => main,
    }
}

/// What is told under another heading, or hidden.
fn is_other(path: &str) -> bool {
    is_configuration(path) || test_folder(path).is_some() || name_of(path).starts_with('.')
}

pub(super) fn configuration(files: &[String]) -> Vec<String> {
    first(files, |path| depth(path) <= DEPTH && is_configuration(path))
}

fn is_configuration(path: &str) -> bool {
    let name = name_of(path);
    CONFIGURATION.contains(&name.as_str()) || name.starts_with("config.")
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

/// The outermost folder on the way to a file that is one of tests.
fn test_folder(path: &str) -> Option<String> {
    let (folders, _) = path.rsplit_once('/')?;
    let mut way = String::new();
    for part in folders.split('/') {
        way.push_str(part);
        way.push('/');
        if TEST_FOLDERS.contains(&part.to_lowercase().as_str()) {
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
