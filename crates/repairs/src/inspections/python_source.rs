//! Finds the manifest that lists a Python package, and what to install from it.

use super::registries::Registries;
use crate::context::RepairContext;
use crate::manifests::{FileKind, ManifestFile, Package};
use crate::package_names::normalized;

/// The arguments for pip, all of them from manifests as of when the run started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct InstallSource {
    pub(super) package: String,
    pub(super) file: String,
    pub(super) args: Vec<String>,
    /// The requirement by itself, if `args` installs more than that.
    pub(super) alone: Option<String>,
    /// Why a person should decide.
    pub(super) doubt: Option<String>,
}

/// The manifests in order: requirements are made for installing, locks come last.
const KINDS: [FileKind; 6] = [
    FileKind::Requirements,
    FileKind::PyProject,
    FileKind::SetupCfg,
    FileKind::SetupPy,
    FileKind::Pipfile,
    FileKind::PythonLock,
];

/// Finds the first manifest that lists one of the packages.
pub(super) fn find(context: &RepairContext<'_>, names: &[String]) -> Option<InstallSource> {
    find_in(context, &KINDS, names)
}

/// Finds the manifest in which the project itself asks for a package. A lock also has those of its
/// dependencies, whose names may be ordinary words.
pub(super) fn find_direct(context: &RepairContext<'_>, name: &str) -> Option<InstallSource> {
    let [direct @ .., _lock] = &KINDS;
    find_in(context, direct, &[name.to_owned()])
}

fn find_in(
    context: &RepairContext<'_>,
    kinds: &[FileKind],
    names: &[String],
) -> Option<InstallSource> {
    kinds.iter().find_map(|kind| {
        let mut files: Vec<(&str, &ManifestFile)> = context.manifests.of_kind(*kind).collect();
        files.retain(|(path, _)| !path.contains("constraints"));
        // The root's comes first, then the shortest name.
        files.sort_by_key(|(path, _)| {
            (path.matches('/').count(), path.ends_with(".in"), path.len())
        });
        files.into_iter().find_map(|(path, file)| {
            let package = names
                .iter()
                .find_map(|name| file.content.package(name, normalized))?;
            Some(source(context, path, file, package))
        })
    })
}

fn source(
    context: &RepairContext<'_>,
    path: &str,
    file: &ManifestFile,
    package: &Package,
) -> InstallSource {
    let is_whole = file.kind == FileKind::Requirements && is_unchanged(context, path);
    let args = match file.kind {
        _ if is_whole => vec!["-r".to_owned(), path.to_owned()],
        FileKind::Requirements | FileKind::PythonLock => vec![package.requirement.clone()],
        _ => group(context, file, &package.group),
    };
    InstallSource {
        package: package.name.clone(),
        file: path.to_owned(),
        alone: is_whole.then(|| package.requirement.clone()),
        args,
        doubt: doubt(context, path, &package.name),
    }
}

/// Returns whether a file, everything it includes, and the manifests of the projects it installs
/// are unchanged.
fn is_unchanged(context: &RepairContext<'_>, path: &str) -> bool {
    let all = context.manifests.with_includes(path);
    let mut projects = all
        .iter()
        .filter_map(|path| context.manifests.file(path))
        .flat_map(|file| &file.content.projects);
    let are_same = all
        .iter()
        .all(|path| context.manifests.is_unchanged(context.root, path));
    are_same
        && projects.all(|folder| {
            changed_project(context, folder).is_none() && changed_build(context, folder).is_none()
        })
}

/// Files with code that runs when a project is built.
const BUILD: [&str; 4] = [
    "pyproject.toml",
    "setup.py",
    "hatch_build.py",
    "pdm_build.py",
];

/// Returns what has changed since the run started in the code that builds a project: its build back
/// end, what its scripts import, and everything in a package that isn't the project itself.
pub(super) fn changed_build(context: &RepairContext<'_>, folder: &str) -> Option<String> {
    let (root, manifests) = (context.root, context.manifests);
    if !folder.is_empty() && !manifests.is_same_folder(root, folder) {
        return Some(folder.to_owned());
    }
    let files = BUILD.map(|name| match folder {
        "" => name.to_owned(),
        folder => format!("{folder}/{name}"),
    });
    files.iter().find_map(|file| {
        let changed = manifests.changed_import(root, file);
        changed.or_else(|| {
            let mut folders = manifests.file(file)?.content.build_folders.iter();
            folders
                .find(|folder| !manifests.is_same_folder(root, folder))
                .cloned()
        })
    })
}

/// Files that influence how a project is built and installed.
const PROJECT: &str = "pyproject.toml setup.cfg setup.py MANIFEST.in uv.toml pip.conf";

/// Returns the first file of a project that has changed since the run started.
pub(super) fn changed_project(context: &RepairContext<'_>, folder: &str) -> Option<String> {
    let files = PROJECT.split(' ').map(|name| match folder {
        "" => name.to_owned(),
        folder => format!("{folder}/{name}"),
    });
    context.manifests.first_changed(context.root, files)
}

/// Returns the requirements of the main list and of the package's group, pinned by the lock file.
fn group(context: &RepairContext<'_>, file: &ManifestFile, group: &str) -> Vec<String> {
    let listed = file.content.packages.iter();
    let wanted = listed.filter(|package| package.group.is_empty() || package.group == group);
    wanted.map(|package| pinned(context, package)).collect()
}

fn pinned(context: &RepairContext<'_>, package: &Package) -> String {
    let mut locks = context.manifests.of_kind(FileKind::PythonLock);
    let pin = locks.find_map(|(_, lock)| lock.content.package(&package.name, normalized));
    // A pin can't express markers and extras.
    let is_plain = !package.requirement.contains(['[', ';']);
    match pin.filter(|_| is_plain) {
        Some(pin) => pin.requirement.clone(),
        None => package.requirement.clone(),
    }
}

fn doubt(context: &RepairContext<'_>, path: &str, name: &str) -> Option<String> {
    let all = context.manifests.with_includes(path);
    if let Some(missing) = all.iter().find(|path| !context.manifests.has(path)) {
        return Some(format!("{missing} is not in the workspace"));
    }
    let mut files = all.iter().filter_map(|path| context.manifests.file(path));
    if let Some(place) = files.find_map(|file| file.content.elsewhere.first()) {
        return Some(format!(
            "{path} fetches from outside the usual index ({place})"
        ));
    }
    // A lock file may show that a name isn't the one in the index.
    let locks = [
        FileKind::PythonLock,
        FileKind::PipfileLock,
        FileKind::Pipfile,
    ];
    let locks = locks
        .iter()
        .flat_map(|kind| context.manifests.of_kind(*kind));
    let mut locks = locks.filter(|(lock, _)| !path.ends_with(".txt") || *lock == path);
    if let Some(doubt) = locks.find_map(|(lock, _)| Registries::Python.doubt(context, lock)) {
        return Some(doubt);
    }
    similar_well_known(name)
        .map(|known| format!("the name {name}, which {path} names, is similar to {known}"))
}

/// Returns the well-known package that a name resembles: one different letter is usually a typo.
pub(super) fn similar_well_known(name: &str) -> Option<String> {
    let is_short = name.len() < 5 || crate::package_names::is_well_known(name);
    crate::package_names::similar_name(name, std::iter::empty()).filter(|_| !is_short)
}
