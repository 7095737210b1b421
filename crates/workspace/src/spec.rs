use std::path::{Component, Path, PathBuf};

use crate::{Disk, FileKind, read_text};

/// The folder with a workspace's specs, and the file in it that names the current one.
const SPECS: &str = "specs";
const CURRENT: &str = ".current-spec";
/// The task file of a spec folder.
const TASKS: &str = "tasks.md";

/// The settings file of smart-ralph's plugin.
const SETTINGS: &str = ".claude/ralph-specum.local.md";
const SPECS_DIRS: &str = "specs_dirs:";

/// Returns the folders that contain specs, relative to the workspace: `specs`, or those that the
/// settings of smart-ralph's plugin name (`specs_dirs`). The first one is for new specs and names
/// the current one. Folders outside of the workspace are ignored.
#[must_use]
pub fn specs_folders(disk: &dyn Disk, root: &Path) -> Vec<PathBuf> {
    let settings = read_text(disk, &root.join(SETTINGS)).map(|read| read.text);
    let settings = settings.unwrap_or_default();
    let mut lines = settings.lines().map(str::trim_end);
    let has_front_matter = lines.next() == Some("---");
    let mut front_matter = lines.take_while(|line| *line != "---");
    let named = front_matter.find_map(|line| line.strip_prefix(SPECS_DIRS));
    let named = named.filter(|_| has_front_matter).unwrap_or_default();
    let names = named.split(',').map(|name| {
        let name = name.trim_matches(|c: char| c.is_whitespace() || "[]\"'".contains(c));
        name.trim_start_matches("./").trim_end_matches('/')
    });
    let is_usable = |name: &&str| {
        let is_folder = kind(disk, &root.join(name)) == Some(FileKind::Folder);
        !name.is_empty() && !leads_out(root, name) && is_folder
    };
    let folders: Vec<PathBuf> = names.filter(is_usable).map(PathBuf::from).collect();
    if folders.is_empty() {
        vec![PathBuf::from(SPECS)]
    } else {
        folders
    }
}

/// Returns the file that names the current spec.
#[must_use]
pub fn current_spec_file(disk: &dyn Disk, root: &Path) -> PathBuf {
    let folders = specs_folders(disk, root);
    let first = folders.first().map_or(Path::new(SPECS), PathBuf::as_path);
    root.join(first).join(CURRENT)
}

/// The name and task file of a spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// The name of the spec.
    pub name: String,
    /// The path of its task file.
    pub tasks: PathBuf,
}

/// Why no spec was chosen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// The name or path that the user gave does not exist.
    #[error("spec or task file {asked} not found")]
    NotFound {
        /// The name or path.
        asked: String,
        /// The specs of the workspace.
        specs: Vec<String>,
    },
    /// The current spec does not exist.
    #[error("{} names the spec {asked}, which does not exist", Path::new(SPECS).join(CURRENT).display())]
    CurrentMissing {
        /// Its name.
        asked: String,
        /// The specs of the workspace.
        specs: Vec<String>,
    },
    /// The current spec is outside of the workspace. Only the user may choose such a spec, not the
    /// repository.
    #[error("{} names {asked}, which is outside the workspace", Path::new(SPECS).join(CURRENT).display())]
    CurrentOutside {
        /// The path.
        asked: String,
        /// The specs of the workspace.
        specs: Vec<String>,
    },
    /// There are several specs and no current one.
    #[error("several specs found, and none is selected")]
    Several {
        /// The specs of the workspace.
        specs: Vec<String>,
    },
    /// The workspace has no spec.
    #[error("no spec found in {}", root.display())]
    None {
        /// The workspace.
        root: PathBuf,
    },
}

impl SpecError {
    /// Returns the specs to choose from.
    #[must_use]
    pub fn specs(&self) -> &[String] {
        match self {
            Self::NotFound { specs, .. }
            | Self::CurrentMissing { specs, .. }
            | Self::CurrentOutside { specs, .. }
            | Self::Several { specs } => specs,
            Self::None { .. } => &[],
        }
    }
}

/// Finds a spec by name, folder or file; without `asked`, the current or only one. Paths are
/// relative to `here`; names are looked up in the workspace.
///
/// # Errors
/// Returns an error if no spec or more than one matches.
pub fn find_spec(
    disk: &dyn Disk,
    root: &Path,
    here: &Path,
    asked: Option<&str>,
) -> Result<Spec, SpecError> {
    if let Some(asked) = asked {
        return named(disk, root, here, asked).ok_or_else(|| SpecError::NotFound {
            asked: asked.to_owned(),
            specs: specs(disk, root),
        });
    }
    if let Some(current) = current(disk, root) {
        if leads_out(root, &current) || links_out(disk, root, &current) {
            return Err(SpecError::CurrentOutside {
                asked: current,
                specs: specs(disk, root),
            });
        }
        return named(disk, root, root, &current).ok_or_else(|| SpecError::CurrentMissing {
            asked: current,
            specs: specs(disk, root),
        });
    }
    let mut specs = specs(disk, root);
    match (specs.pop(), specs.is_empty()) {
        (None, _) => Err(SpecError::None {
            root: root.to_owned(),
        }),
        (Some(only), true) => named(disk, root, root, &only).ok_or_else(|| SpecError::None {
            root: root.to_owned(),
        }),
        (Some(last), false) => {
            specs.push(last);
            Err(SpecError::Several { specs })
        }
    }
}

/// Lists the names of all specs of a workspace, sorted.
#[must_use]
pub fn specs(disk: &dyn Disk, root: &Path) -> Vec<String> {
    let mut specs = Vec::new();
    for folder in specs_folders(disk, root) {
        let names = disk.list(&root.join(&folder)).unwrap_or_default();
        let names = names.into_iter().filter_map(|name| name.into_string().ok());
        specs.extend(
            names
                .filter(|name| exists(disk, &root.join(&folder).join(name).join(TASKS)))
                .filter(|name| !links_out(disk, root, name)),
        );
    }
    specs.sort();
    specs.dedup();
    specs
}

/// Returns the folder of the current spec, whatever it contains.
#[must_use]
pub fn current_spec_folder(disk: &dyn Disk, root: &Path) -> Option<PathBuf> {
    let current = current(disk, root).filter(|current| !leads_out(root, current))?;
    let is_folder = |path: &PathBuf| kind(disk, path) == Some(FileKind::Folder);
    places(disk, root, &current).into_iter().find(is_folder)
}

fn current(disk: &dyn Disk, root: &Path) -> Option<String> {
    let text = read_text(disk, &current_spec_file(disk, root)).ok()?.text;
    let name = text.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

fn leads_out(root: &Path, asked: &str) -> bool {
    let path = root.join(asked);
    let climbs = path.components().any(|part| part == Component::ParentDir);
    climbs || !path.starts_with(root)
}

/// Returns whether a spec's folder is a link that leads out of the workspace.
fn links_out(disk: &dyn Disk, root: &Path, asked: &str) -> bool {
    let places = places(disk, root, asked);
    places.iter().any(|place| is_outside(disk, root, place))
}

/// Returns whether a folder is outside of the workspace, with links resolved.
fn is_outside(disk: &dyn Disk, root: &Path, folder: &Path) -> bool {
    let (Ok(root), Ok(real)) = (disk.resolve(root), disk.resolve(folder)) else {
        return false;
    };
    !real.starts_with(&root)
}

fn named(disk: &dyn Disk, root: &Path, here: &Path, asked: &str) -> Option<Spec> {
    let path = here.join(asked);
    let here = (kind(disk, &path) == Some(FileKind::Folder) && exists(disk, &path.join(TASKS)))
        .then(|| in_folder(&path, last_name(&path)));
    let in_specs = || {
        let mut folders = places(disk, root, asked).into_iter();
        let folder = folders.find(|folder| exists(disk, &folder.join(TASKS)));
        let folder = folder.filter(|folder| !is_outside(disk, root, folder))?;
        Some(in_folder(&folder, last_name(&folder)))
    };
    // A name is a spec's; a path is what it leads to. Otherwise any folder with the name of a spec
    // could take its place.
    let is_name = Path::new(asked).components().count() == 1 && !asked.starts_with('.');
    let found = if is_name {
        in_specs().or(here)
    } else {
        here.or_else(in_specs)
    };
    if found.is_some() {
        return found;
    }
    // Accept any other file; reading it will report what is wrong.
    kind(disk, &path)?;
    Some(Spec {
        name: name_of_file(&path),
        tasks: path,
    })
}

/// Returns where a spec with this name may be, most likely first.
fn places(disk: &dyn Disk, root: &Path, asked: &str) -> Vec<PathBuf> {
    let folders = specs_folders(disk, root).into_iter();
    let folders = folders.map(|folder| root.join(folder).join(asked));
    folders.chain([root.join(asked)]).collect()
}

fn in_folder(folder: &Path, name: String) -> Spec {
    Spec {
        name,
        tasks: folder.join(TASKS),
    }
}

/// Names `tasks.md` after its folder, and any other file after itself.
fn name_of_file(path: &Path) -> String {
    let folder = path.parent().map(last_name).filter(|name| !name.is_empty());
    match (path.file_name(), folder) {
        (Some(name), Some(folder)) if name == TASKS => folder,
        _ => path
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned())
            .unwrap_or_default(),
    }
}

fn last_name(path: &Path) -> String {
    let name = path.components().next_back();
    name.map(|name| name.as_os_str().to_string_lossy().into_owned())
        .unwrap_or_default()
}

fn exists(disk: &dyn Disk, path: &Path) -> bool {
    kind(disk, path).is_some()
}

/// Returns the kind of file that a path leads to, following links.
fn kind(disk: &dyn Disk, path: &Path) -> Option<FileKind> {
    let real = disk.resolve(path).ok()?;
    disk.stat(&real).ok().map(|stat| stat.kind)
}

/// Returns the workspace around a folder: its git top level, or the folder itself.
#[must_use]
pub fn workspace_root(disk: &dyn Disk, start: &Path) -> PathBuf {
    let has_git = |folder: &&Path| disk.stat(&folder.join(".git")).is_ok();
    let top = start.ancestors().find(has_git);
    top.unwrap_or(start).to_owned()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::RealDisk;

    use super::*;

    fn workspace(specs: &[&str]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
        for spec in specs {
            let folder = root.path().join("specs").join(spec);
            let made =
                fs::create_dir_all(&folder).and_then(|()| fs::write(folder.join("tasks.md"), ""));
            made.unwrap_or_else(|error| panic!("{error}"));
        }
        root
    }

    fn find(root: &Path, asked: Option<&str>) -> Result<String, SpecError> {
        let spec = find_spec(&RealDisk, root, root, asked)?;
        let tasks = spec.tasks.strip_prefix(root).unwrap_or(&spec.tasks);
        Ok(format!("{}: {}", spec.name, tasks.display()))
    }

    #[test]
    fn specs_are_looked_for_where_smart_ralph_is_told_to() {
        let root = workspace(&["login"]);
        let api = root.path().join("packages/api/specs/orders");
        fs::create_dir_all(&api).unwrap();
        fs::write(api.join("tasks.md"), "").unwrap();
        fs::create_dir_all(root.path().join(".claude")).unwrap();
        let settings = |text: &str| fs::write(root.path().join(SETTINGS), text).unwrap();
        settings(
            "---\nspecs_dirs: [\"./packages/api/specs/\", './specs', \"../out\", \"gone\"]\n---\n",
        );
        assert_eq!(specs(&RealDisk, root.path()), ["login", "orders"]);
        for name in ["orders", "login"] {
            assert!(find(root.path(), Some(name)).is_ok(), "{name}");
        }
        let current = current_spec_file(&RealDisk, root.path());
        assert!(current.ends_with("packages/api/specs/.current-spec"));
        fs::write(current, "orders\n").unwrap();
        assert_eq!(
            find(root.path(), None).unwrap(),
            "orders: packages/api/specs/orders/tasks.md"
        );
        let folder = current_spec_folder(&RealDisk, root.path());
        assert_eq!(folder, Some(api));
        settings("specs_dirs: [\"packages/api/specs\"]\n");
        assert_eq!(specs(&RealDisk, root.path()), ["login"]);
    }

    #[test]
    fn a_spec_is_found_by_name_folder_or_file() {
        let root = workspace(&["login", "logout"]);
        fs::write(root.path().join("todo.md"), "").unwrap();
        for (asked, found) in [
            ("login", "login: specs/login/tasks.md"),
            ("specs/login", "login: specs/login/tasks.md"),
            ("specs/login/", "login: specs/login/tasks.md"),
            ("./specs/login/tasks.md", "login: ./specs/login/tasks.md"),
            ("todo.md", "todo: todo.md"),
        ] {
            let tasks = find(root.path(), Some(asked)).unwrap();
            assert_eq!(tasks.replace("//", "/"), found.replace("./", ""), "{asked}");
        }
    }

    /// Otherwise an agent that creates the folder could choose what runs next.
    #[test]
    fn a_folder_with_the_name_of_a_spec_does_not_take_its_place() {
        let root = workspace(&["login"]);
        fs::create_dir_all(root.path().join("login")).unwrap();
        fs::write(root.path().join("login/tasks.md"), "").unwrap();
        let spec = "login: specs/login/tasks.md";
        assert_eq!(find(root.path(), Some("login")).unwrap(), spec);
        assert_eq!(find(root.path(), None).unwrap(), spec);
        fs::write(root.path().join("specs/.current-spec"), "login").unwrap();
        assert_eq!(find(root.path(), None).unwrap(), spec);
        let path = find(root.path(), Some("./login")).unwrap();
        assert_eq!(path, "login: login/tasks.md");
    }

    #[test]
    fn the_default_is_the_current_or_the_only_spec() {
        let root = workspace(&["login"]);
        assert_eq!(
            find(root.path(), None).unwrap(),
            "login: specs/login/tasks.md"
        );
        let root = workspace(&["login", "logout"]);
        assert_eq!(
            find(root.path(), None).unwrap_err().specs(),
            ["login".to_owned(), "logout".to_owned()]
        );
        fs::write(root.path().join("specs/.current-spec"), "logout\n").unwrap();
        assert_eq!(
            find(root.path(), None).unwrap(),
            "logout: specs/logout/tasks.md"
        );
    }

    #[test]
    fn a_spec_folder_that_is_a_link_out_of_the_workspace_is_not_a_spec() {
        let outer = tempfile::tempdir().unwrap();
        let root = outer.path().join("inner");
        fs::create_dir_all(outer.path().join("elsewhere")).unwrap();
        fs::create_dir_all(root.join("specs")).unwrap();
        fs::write(outer.path().join("elsewhere/tasks.md"), "- [ ] 1 A\n").unwrap();
        std::os::unix::fs::symlink("../../elsewhere", root.join("specs/login")).unwrap();
        assert_eq!(specs(&RealDisk, &root), [""; 0]);
        let find = |asked| find_spec(&RealDisk, &root, &root, asked);
        assert!(matches!(find(None), Err(SpecError::None { .. })));
        assert!(matches!(
            find(Some("login")),
            Err(SpecError::NotFound { .. })
        ));
        fs::write(root.join("specs/.current-spec"), "login").unwrap();
        assert!(matches!(find(None), Err(SpecError::CurrentOutside { .. })));
    }

    #[test]
    fn the_repository_cannot_choose_a_spec_outside_of_itself() {
        let outer = workspace(&["outer"]);
        let root = outer.path().join("inner");
        fs::create_dir_all(root.join("specs/login")).unwrap();
        fs::write(root.join("specs/login/tasks.md"), "").unwrap();
        let outside = outer.path().join("specs/outer").display().to_string();
        for asked in [
            outside.as_str(),
            "../specs/outer",
            "specs/../../specs/outer",
        ] {
            fs::write(root.join("specs/.current-spec"), asked).unwrap();
            let error = find(&root, None).unwrap_err();
            assert!(matches!(error, SpecError::CurrentOutside { .. }), "{asked}");
            // The user may choose it.
            assert!(find(&root, Some(asked)).is_ok(), "{asked}");
        }
        let inside = root.join("specs/login").display().to_string();
        for asked in [inside.as_str(), "./specs/login", "login"] {
            fs::write(root.join("specs/.current-spec"), asked).unwrap();
            assert!(find(&root, None).is_ok(), "{asked}");
        }
    }

    #[test]
    fn errors_list_the_existing_specs() {
        let root = workspace(&["login"]);
        let error = find(root.path(), Some("signup")).unwrap_err();
        assert_eq!(error.to_string(), "spec or task file signup not found");
        assert_eq!(error.specs(), ["login".to_owned()]);
        fs::write(root.path().join("specs/.current-spec"), "gone").unwrap();
        assert!(matches!(
            find(root.path(), None),
            Err(SpecError::CurrentMissing { .. })
        ));
        let empty = workspace(&[]);
        assert!(matches!(
            find(empty.path(), None),
            Err(SpecError::None { .. })
        ));
    }

    #[test]
    fn the_workspace_is_the_git_top_level_in_worktrees_too() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("a/b");
        fs::create_dir_all(&inner).unwrap();
        assert_eq!(workspace_root(&RealDisk, &inner), inner);
        // In a worktree `.git` is a file.
        fs::write(folder.path().join(".git"), "gitdir: elsewhere").unwrap();
        assert_eq!(workspace_root(&RealDisk, &inner), folder.path());
    }
}
