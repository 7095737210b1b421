//! Where a Python package is named, and what to install from there.

use crate::declared::{DeclaredFile, FileKind, Package};
use crate::names::normal;
use crate::scene::Scene;

/// What pip is given, all of it from manifests as they were when the run began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Source {
    pub(super) package: String,
    pub(super) file: String,
    pub(super) args: Vec<String>,
    /// The requirement alone, where more is installed than it.
    pub(super) alone: Option<String>,
    /// Why a person should see it first.
    pub(super) doubt: Option<String>,
}

/// Requirements first: they are made for installing; locks last.
const KINDS: [FileKind; 6] = [
    FileKind::Requirements,
    FileKind::PyProject,
    FileKind::SetupCfg,
    FileKind::SetupPy,
    FileKind::Pipfile,
    FileKind::PythonLock,
];

/// The first manifest that names one of the packages.
pub(super) fn find(scene: &Scene<'_>, names: &[String]) -> Option<Source> {
    KINDS.iter().find_map(|kind| {
        let mut files: Vec<(&str, &DeclaredFile)> = scene.declared.of_kind(*kind).collect();
        files.retain(|(path, _)| !path.contains("constraints"));
        // The one at the root first, and the plainest name.
        files.sort_by_key(|(path, _)| {
            (path.matches('/').count(), path.ends_with(".in"), path.len())
        });
        files.into_iter().find_map(|(path, file)| {
            let package = names
                .iter()
                .find_map(|name| file.says.package(name, normal))?;
            Some(source(scene, path, file, package))
        })
    })
}

fn source(scene: &Scene<'_>, path: &str, file: &DeclaredFile, package: &Package) -> Source {
    let is_whole = file.kind == FileKind::Requirements && is_unchanged(scene, path);
    let args = match file.kind {
        _ if is_whole => vec!["-r".to_owned(), path.to_owned()],
        FileKind::Requirements | FileKind::PythonLock => vec![package.requirement.clone()],
        _ => group(scene, file, &package.group),
    };
    Source {
        package: package.name.clone(),
        file: path.to_owned(),
        alone: is_whole.then(|| package.requirement.clone()),
        args,
        doubt: doubt(scene, path, &package.name),
    }
}

/// With all that it includes, and with the manifests of the projects that it installs.
fn is_unchanged(scene: &Scene<'_>, path: &str) -> bool {
    let all = scene.declared.with_includes(path);
    let mut projects = all
        .iter()
        .filter_map(|path| scene.declared.file(path))
        .flat_map(|file| &file.says.projects);
    let are_same = all
        .iter()
        .all(|path| scene.declared.is_unchanged(scene.root, path));
    are_same && projects.all(|folder| changed_project(scene, folder).is_none())
}

/// What decides how a project is built and what comes with it.
const PROJECT: [&str; 6] = [
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "MANIFEST.in",
    "uv.toml",
    "pip.conf",
];

/// The file of a project that is not as it was when the run began.
pub(super) fn changed_project(scene: &Scene<'_>, folder: &str) -> Option<String> {
    let mut files = PROJECT.iter().map(|name| match folder {
        "" => (*name).to_owned(),
        folder => format!("{folder}/{name}"),
    });
    files.find(|file| !scene.declared.is_as_it_was(scene.root, file))
}

/// Everything that stands in the main list and in the package's own, pinned where a lock pins.
fn group(scene: &Scene<'_>, file: &DeclaredFile, group: &str) -> Vec<String> {
    let listed = file.says.packages.iter();
    let wanted = listed.filter(|package| package.group.is_empty() || package.group == group);
    wanted.map(|package| pinned(scene, package)).collect()
}

fn pinned(scene: &Scene<'_>, package: &Package) -> String {
    let mut locks = scene.declared.of_kind(FileKind::PythonLock);
    let pin = locks.find_map(|(_, lock)| lock.says.package(&package.name, normal));
    // A marker or an extra says more than a pin can.
    let is_plain = !package.requirement.contains(['[', ';']);
    match pin.filter(|_| is_plain) {
        Some(pin) => pin.requirement.clone(),
        None => package.requirement.clone(),
    }
}

fn doubt(scene: &Scene<'_>, path: &str, name: &str) -> Option<String> {
    let all = scene.declared.with_includes(path);
    if let Some(missing) = all.iter().find(|path| !scene.declared.has(path)) {
        return Some(format!("{missing} is not in the workspace"));
    }
    let mut files = all.iter().filter_map(|path| scene.declared.file(path));
    if let Some(place) = files.find_map(|file| file.says.elsewhere.first()) {
        return Some(format!(
            "{path} fetches from elsewhere than the usual index ({place})"
        ));
    }
    look_alike(name)
        .map(|known| format!("{name}, which {path} names, is nearly called like {known}"))
}

/// A name one letter off a well-known one is a mistake more often than a package.
pub(super) fn look_alike(name: &str) -> Option<String> {
    let is_short = name.len() < 5 || crate::names::is_well_known(name);
    crate::names::nearly(name, std::iter::empty()).filter(|_| !is_short)
}
