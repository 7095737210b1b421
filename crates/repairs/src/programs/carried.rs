//! Environment variables that repairs of an earlier run set, for the run that follows.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::launchers::launcher_folder;

/// Returns the variables that repairs of an earlier run set and that are still valid: that run's
/// launchers become this one's, and anything that no longer exists in the workspace is dropped.
///
/// `earlier` and `launchers` are the launcher folders of the two runs, relative to `root`; `path`
/// is the PATH that regreen was started with.
#[must_use]
pub fn carried_environment(
    root: &Path,
    variables: &[(String, String)],
    earlier: &Path,
    launchers: &Path,
    path: &OsStr,
) -> Vec<(String, String)> {
    let Ok(root) = root.canonicalize() else {
        return Vec::new();
    };
    let set = variables.iter().rev().find(|(name, _)| name == "PATH");
    let sources = set.map(|(_, value)| sources(&root, value, earlier));
    let sources = sources.unwrap_or_default();
    let carried = variables.iter().filter_map(|(name, value)| {
        let value = match name.as_str() {
            "PATH" => path_with(&root, &sources, launchers, path)?,
            "VIRTUAL_ENV" => {
                let is_used =
                    |source: &String| root.join(source).parent() == Some(Path::new(value));
                sources.iter().any(is_used).then(|| value.clone())?
            }
            _ => value.clone(),
        };
        Some((name.clone(), value))
    });
    carried.collect()
}

/// Returns the existing program folders that the earlier run's launchers stood for.
fn sources(root: &Path, path: &str, earlier: &Path) -> Vec<String> {
    let own = root.join(earlier);
    let folders = std::env::split_paths(path);
    let sources = folders.filter_map(|folder| {
        let source = folder.strip_prefix(&own).ok()?;
        is_there(root, source).then(|| source.to_str().map(str::to_owned))?
    });
    sources.collect()
}

/// Whether a folder of programs is in the workspace, and in a virtual environment also its Python.
fn is_there(root: &Path, source: &Path) -> bool {
    let folder = root.join(source);
    let is_folder = folder.symlink_metadata().is_ok_and(|stat| stat.is_dir());
    let is_environment = source.ends_with("bin") && !source.starts_with("vendor");
    is_folder && (!is_environment || folder.join("python").exists())
}

fn path_with(root: &Path, sources: &[String], launchers: &Path, path: &OsStr) -> Option<String> {
    if sources.is_empty() {
        return None;
    }
    let own = sources
        .iter()
        .map(|source| launcher_folder(root, launchers, source));
    let all: Vec<PathBuf> = own.chain(std::env::split_paths(path)).collect();
    std::env::join_paths(all).ok()?.into_string().ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_later_run_gets_what_is_still_there_under_its_own_launchers() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for bin in [".venv/bin", "node_modules/.bin"] {
            fs::create_dir_all(root.join(bin)).unwrap();
        }
        fs::write(root.join(".venv/bin/python"), "").unwrap();
        let shown = root.display();
        let variables = [
            ("LANG".to_owned(), "C.UTF-8".to_owned()),
            (
                "PATH".to_owned(),
                format!("{shown}/old/bin/.venv/bin:{shown}/old/bin/node_modules/.bin:/gone"),
            ),
            ("VIRTUAL_ENV".to_owned(), format!("{shown}/.venv")),
        ];
        let carried = || {
            carried_environment(
                &root,
                &variables,
                Path::new("old/bin"),
                Path::new("new/bin"),
                OsStr::new("/usr/bin"),
            )
        };
        let value = |name: &str| {
            let found = carried().into_iter().find(|(set, _)| set == name);
            found.map(|(_, value)| value)
        };
        assert_eq!(value("LANG").as_deref(), Some("C.UTF-8"));
        assert_eq!(value("VIRTUAL_ENV"), Some(format!("{shown}/.venv")));
        assert_eq!(
            value("PATH"),
            Some(format!(
                "{shown}/new/bin/.venv/bin:{shown}/new/bin/node_modules/.bin:/usr/bin"
            ))
        );
        fs::remove_dir_all(root.join(".venv")).unwrap();
        assert_eq!(value("VIRTUAL_ENV"), None);
        let left = format!("{shown}/new/bin/node_modules/.bin:/usr/bin");
        assert_eq!(value("PATH"), Some(left));
        fs::remove_dir_all(root.join("node_modules")).unwrap();
        assert_eq!(value("PATH"), None);
        assert_eq!(value("LANG").as_deref(), Some("C.UTF-8"));
    }
}
