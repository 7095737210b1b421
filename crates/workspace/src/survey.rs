//! A bounded survey of the workspace for an agent that lacks information. Never follows a link out
//! of it.

use std::path::Path;

use regreen_model::{LookedUp, Survey, visible_line};

use crate::programs::is_listed;
use crate::project_files::{configuration, main_files, propose_gate, test_folders};
use crate::walk::walk;
use crate::{Git, RealDisk, RelPath};

/// How many files are listed.
const MAX_FILES: usize = 20_000;
/// How much is read in total, and the maximum size of a file.
const MAX_READ: u64 = 16 * 1024 * 1024;
const MAX_FILE: u64 = 256 * 1024;
/// How many files and lines are reported per name.
const MAX_NAMED: usize = 8;
const MAX_LINES: usize = 5;
const LINE_CHARS: usize = 160;
/// How much of a file is checked for zero bytes, which only binary files contain.
const LOOKED_AT: usize = 1024;

/// Surveys a workspace, and finds where these names occur.
#[must_use]
pub fn survey(root: &Path, names: &[String]) -> Survey {
    let files = sorted(listed(root));
    let mut survey = of_names(root, &files, names);
    by_line(root, &files, &mut survey.looked_up);
    survey
}

/// Surveys a workspace without reading its files: finds the files with these names. `files` are those
/// of the workspace, if they are known.
#[must_use]
pub fn survey_names(root: &Path, files: Option<Vec<RelPath>>, names: &[String]) -> Survey {
    let files = files.unwrap_or_else(|| listed(root));
    of_names(root, &sorted(files), names)
}

fn of_names(root: &Path, files: &[String], names: &[String]) -> Survey {
    Survey {
        main_files: main_files(files),
        configuration: configuration(files),
        test_folders: test_folders(files),
        test_command: propose_gate(&RealDisk, root).map(str::to_owned),
        looked_up: by_names(names, files),
    }
}

/// Returns the names of the first files that can be displayed, those near the root first: they are the
/// most informative.
fn sorted(mut files: Vec<RelPath>) -> Vec<String> {
    files.truncate(MAX_FILES);
    let mut names: Vec<String> = files.iter().filter_map(readable_name).collect();
    names.sort_unstable();
    names.sort_by_cached_key(|path| path.matches('/').count());
    names
}

/// Lists the files that git tracks or would add; without git, those that aren't in a cache.
fn listed(root: &Path) -> Vec<RelPath> {
    let listed = Git::open(root).and_then(|git| git.listed_files());
    listed.unwrap_or_else(|_| {
        let found = walk(root, MAX_FILES).files.into_iter();
        found.map(|(path, _)| path).collect()
    })
}

/// Returns the name if it can be displayed as it is.
fn readable_name(path: &RelPath) -> Option<String> {
    let name = path.as_path().to_str()?;
    (!name.contains(char::is_control)).then(|| name.to_owned())
}

fn by_names(names: &[String], files: &[String]) -> Vec<LookedUp> {
    if names.is_empty() {
        return Vec::new();
    }
    let lower: Vec<String> = files.iter().map(|path| path.to_lowercase()).collect();
    let named = names.iter().map(|name| LookedUp {
        name: name.clone(),
        files: called(name, files, &lower),
        lines: Vec::new(),
    });
    named.collect()
}

/// Returns the files that are called like this. `lower` has their paths in lower case.
fn called(name: &str, files: &[String], lower: &[String]) -> Vec<String> {
    let wanted = name.to_lowercase();
    // A path that contains all of the name contains its last part.
    let last = wanted.rsplit('/').next().unwrap_or(&wanted);
    let wanted = if last.is_empty() { &wanted } else { last };
    let is_called = |(_, path): &(&String, &String)| !wanted.is_empty() && path.contains(wanted);
    let found = files.iter().zip(lower).filter(is_called);
    found
        .take(MAX_NAMED)
        .map(|(path, _)| path.clone())
        .collect()
}

/// Reads files until enough lines are found for every name, or the limit is reached.
fn by_line(root: &Path, files: &[String], looked_up: &mut [LookedUp]) {
    let mut left = MAX_READ;
    for path in files {
        if left == 0 || looked_up.iter().all(|one| one.lines.len() >= MAX_LINES) {
            break;
        }
        if let Some(text) = text_of(root, path, left.min(MAX_FILE)) {
            left = left.saturating_sub(text.len() as u64);
            for one in &mut *looked_up {
                note_lines(one, path, &text);
            }
        }
    }
}

/// Returns the text of a file that is inside the workspace and holds no secrets.
fn text_of(root: &Path, path: &str, max: u64) -> Option<String> {
    let place = root.join(path);
    let found = place.symlink_metadata().ok()?;
    let is_inside = || {
        Some(
            place
                .canonicalize()
                .ok()?
                .starts_with(root.canonicalize().ok()?),
        )
    };
    if !found.is_file() || found.len() > max || is_secret(path) || is_inside() != Some(true) {
        return None;
    }
    let bytes = crate::read_file(&place, MAX_FILE).ok()?;
    let beginning = bytes.get(..LOOKED_AT).unwrap_or(&bytes);
    (!beginning.contains(&0)).then(|| String::from_utf8_lossy(&bytes).into_owned())
}

fn note_lines(one: &mut LookedUp, path: &str, text: &str) {
    let wanted = one.name.to_lowercase();
    let room = MAX_LINES.saturating_sub(one.lines.len());
    let found = text.lines().zip(1..);
    let found = found.filter(|(line, _)| line.to_lowercase().contains(&wanted));
    let told = found.map(|(line, n)| {
        let line = visible_line(line.trim(), LINE_CHARS);
        format!("{path}:{n}: {line}")
    });
    // Don't let one file use up the limit.
    one.lines.extend(told.take(room.min(2)));
}

/// Extensions and names of files that hold keys and passwords. They are never read.
const ENDINGS: &str = ".pem .key .p12 .pfx .jks .keystore .kdbx .tfstate";
const NAMES: &str = "\
    .netrc .npmrc .pypirc .pgpass .htpasswd .git-credentials .envrc id_rsa id_ed25519 id_ecdsa";
const PARTS: [&str; 4] = ["secret", "credential", "password", "token"];
/// Examples of secret files, which contain no secrets.
const EXAMPLES: [&str; 4] = ["example", "sample", "template", "dist"];

/// Returns whether a file may hold secrets, judged by its name.
pub(super) fn is_secret(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    let is_env = name == ".env" || name.starts_with(".env.") || name.ends_with(".env");
    let is_data = !is_source(&name);
    is_listed(NAMES, &name)
        || ENDINGS.split(' ').any(|ending| name.ends_with(ending))
        || is_env && !EXAMPLES.iter().any(|example| name.contains(example))
        || is_data && PARTS.iter().any(|part| name.contains(part))
}

/// Returns whether this is source code, which is about secrets but doesn't contain them.
fn is_source(name: &str) -> bool {
    const SOURCES: [&str; 12] = [
        ".rs", ".py", ".js", ".ts", ".tsx", ".go", ".java", ".rb", ".c", ".cpp", ".h", ".md",
    ];
    SOURCES.iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    use super::*;
    use crate::Identity;

    /// Creates a folder with these files; the last line of each contains `bcrypt`.
    fn folder(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for path in files {
            write(folder.path().join(path), "first\nimport bcrypt\n");
        }
        folder
    }

    fn write(path: PathBuf, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn look(root: &Path, name: &str) -> (Survey, LookedUp) {
        let found = survey(root, &[name.to_owned()]);
        (found.clone(), found.looked_up[0].clone())
    }

    #[test]
    fn main_files_configuration_and_tests_are_listed() {
        let files = [
            "README.md",
            "pyproject.toml",
            "src/app/main.py",
            "src/app/auth.py",
            "tests/unit/test_auth.py",
            "node_modules/x/index.js",
        ];
        let (survey, auth) = look(folder(&files).path(), "auth");
        assert_eq!(survey.main_files, ["README.md", "src/app/main.py"]);
        assert_eq!(survey.configuration, ["pyproject.toml"]);
        assert_eq!(survey.test_folders, ["tests/"]);
        assert_eq!(auth.files, ["src/app/auth.py", "tests/unit/test_auth.py"]);
        assert_eq!(auth.lines, Vec::<String>::new());
    }

    #[test]
    fn a_moved_file_is_found_by_its_name() {
        let root = folder(&["lib/deep/auth.py"]);
        let (_, found) = look(root.path(), "src/Auth.py");
        assert_eq!(found.files, ["lib/deep/auth.py"]);
    }

    #[test]
    fn secrets_links_and_binary_files_are_not_read() {
        let outside = folder(&["loot.txt"]);
        let root = folder(&["a.txt", ".env", "config/secrets.yml", "key.pem"]);
        write(root.path().join("b.bin"), "\0bcrypt");
        write(root.path().join("huge"), &"bcrypt\n".repeat(100_000));
        symlink(
            outside.path().join("loot.txt"),
            root.path().join("link.txt"),
        )
        .unwrap();
        symlink(outside.path(), root.path().join("linked")).unwrap();
        let (_, found) = look(root.path(), "bcrypt");
        assert_eq!(found.lines, ["a.txt:2: import bcrypt"]);
    }

    #[test]
    fn ignored_files_are_not_searched() {
        let root = folder(&["a.txt", "build/b.txt", ".regreen/c.txt"]);
        write(root.path().join(".gitignore"), "build/\n");
        let identity = Identity {
            name: "Tester",
            email: "tester@example.com",
        };
        Git::init(root.path(), identity).unwrap();
        let (_, found) = look(root.path(), "bcrypt");
        assert_eq!(found.lines, ["a.txt:2: import bcrypt"]);
    }

    #[test]
    fn results_are_limited() {
        let names: Vec<String> = (0..50).map(|n| format!("auth{n}.txt")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let (_, found) = look(folder(&names).path(), "AUTH");
        assert_eq!(found.files.len(), MAX_NAMED);
        let root = folder(&names);
        write(
            root.path().join("a"),
            &format!("bcrypt{}\u{1b}[31m\n", "x".repeat(9999)),
        );
        let (_, found) = look(root.path(), "bcrypt");
        assert_eq!(found.lines.len(), MAX_LINES);
        let is_harmless = |line: &String| line.len() < 300 && !line.contains('\u{1b}');
        assert!(found.lines.iter().all(is_harmless));
    }

    #[test]
    fn secret_files_are_recognized_by_name() {
        for path in [
            ".env",
            "a/.env.local",
            "prod.env",
            "tls/server.KEY",
            "home/.netrc",
            "config/secrets.yml",
            "aws-credentials",
            "id_rsa",
        ] {
            assert!(is_secret(path), "{path}");
        }
        for path in [".env.example", "src/token.rs", "README.md", "keyboard.py"] {
            assert!(!is_secret(path), "{path}");
        }
    }
}
