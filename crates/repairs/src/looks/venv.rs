use std::fs;
use std::path::{Path, PathBuf};

use crate::folder::locate;
use crate::scene::Scene;

/// A virtual environment of the project's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Venv {
    /// From the root.
    pub(super) name: String,
}

/// What is where a virtual environment would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Venv(Venv),
    /// There is none, and `.venv` is free.
    None,
    /// Something that must not be written to.
    Unsafe(String),
}

const USUAL: [&str; 3] = [".venv", "venv", "env"];

/// The virtual environment that the task uses: one that it names, else a usual one at the root
/// or where the task changes to.
pub(super) fn find(scene: &Scene<'_>) -> Found {
    let is_there = |name: &String| scene.root.join(name).symlink_metadata().is_ok();
    let is_venv = |name: &String| {
        name.as_str() == ".venv" || scene.root.join(name).join("pyvenv.cfg").exists()
    };
    let inner = scene
        .folders()
        .filter_map(|folder| locate(scene.root, folder));
    let inner = inner.flat_map(|folder| USUAL.map(|name| format!("{folder}/{name}")));
    let usual = inner.chain(USUAL.map(str::to_owned));
    let mut found = named(scene).into_iter().chain(usual).filter(is_there);
    match found.find(is_venv) {
        None => Found::None,
        Some(name) => match unsafe_part(scene, &name) {
            Some(why) => Found::Unsafe(why),
            None => Found::Venv(Venv { name }),
        },
    }
}

/// Folders whose `bin/` the task's own commands name.
fn named(scene: &Scene<'_>) -> Vec<String> {
    let words = scene
        .commands
        .iter()
        .flat_map(|command| crate::text::words(command));
    let before = words
        .filter_map(|word| word.split_once("/bin/"))
        .map(|(folder, _)| folder);
    let plain = before.filter_map(|folder| scene.locate(folder));
    let venvs = plain.filter(|folder| folder.under(scene.root).join("pyvenv.cfg").is_file());
    venvs.map(|folder| folder.to_string()).collect()
}

/// Why it must not be written to: it is no environment, or parts of it are elsewhere.
fn unsafe_part(scene: &Scene<'_>, name: &str) -> Option<String> {
    let folder = scene.root.join(name);
    let is_real = |path: &Path| path.symlink_metadata().is_ok_and(|stat| stat.is_dir());
    if !is_real(&folder) || !is_real(&folder.join("bin")) || !folder.join("pyvenv.cfg").is_file() {
        return Some(format!(
            "{name} is not a virtual environment of this workspace"
        ));
    }
    if !folder.join("bin/python").exists() {
        return Some(format!("{name} has no Python any more"));
    }
    if folder.join("pip.conf").symlink_metadata().is_ok() {
        return Some(format!("{name}/pip.conf steers where packages come from"));
    }
    let leads_out = libraries(&folder).iter().any(|library| !scene.has(library));
    leads_out.then(|| format!("{name} keeps its packages outside the workspace"))
}

fn libraries(folder: &Path) -> Vec<PathBuf> {
    let versions = fs::read_dir(folder.join("lib"))
        .into_iter()
        .flatten()
        .flatten();
    let libraries = versions.map(|version| version.path().join("site-packages"));
    libraries
        .filter(|library| library.symlink_metadata().is_ok())
        .collect()
}

impl Venv {
    pub(super) fn bin(&self, scene: &Scene<'_>) -> PathBuf {
        scene.root.join(&self.name).join("bin")
    }

    pub(super) fn python(&self, scene: &Scene<'_>) -> PathBuf {
        self.bin(scene).join("python")
    }

    pub(super) fn has_module(&self, scene: &Scene<'_>, top: &str) -> bool {
        let there = |library: PathBuf| {
            library.join(top).is_dir() || library.join(format!("{top}.py")).is_file()
        };
        libraries(&scene.root.join(&self.name))
            .into_iter()
            .any(there)
    }

    /// What later processes find, so that `python` is this one; nothing if they do already or
    /// name it themselves.
    pub(super) fn environment(&self, scene: &Scene<'_>) -> Vec<(String, String)> {
        if scene.runs(&format!("{}/bin/", self.name)) || is_first_in_path(scene, &self.bin(scene)) {
            return Vec::new();
        }
        let mut environment = first_in_path(scene, &self.bin(scene));
        let folder = scene.root.join(&self.name);
        environment.push(("VIRTUAL_ENV".to_owned(), folder.display().to_string()));
        environment
    }
}

pub(super) fn is_first_in_path(scene: &Scene<'_>, folder: &Path) -> bool {
    std::env::split_paths(scene.current_path())
        .next()
        .as_deref()
        == Some(folder)
}

/// PATH with a folder put before the others.
pub(super) fn first_in_path(scene: &Scene<'_>, folder: &Path) -> Vec<(String, String)> {
    let rest = std::env::split_paths(scene.current_path()).filter(|other| other != folder);
    let path = std::env::join_paths(std::iter::once(folder.to_owned()).chain(rest));
    let text = path.ok().and_then(|path| path.into_string().ok());
    text.map(|text| ("PATH".to_owned(), text))
        .into_iter()
        .collect()
}
