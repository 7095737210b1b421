use std::fs;
use std::path::{Path, PathBuf};

use crate::context::RepairContext;
use crate::folder::locate;
use crate::inspect::Proposal;
use crate::plan::RepairPlan;

/// A virtual environment that belongs to the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Venv {
    /// The path, relative to the root.
    pub(super) name: String,
}

/// The result of a search for a virtual environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum VenvSearch {
    Venv(Venv),
    /// There is none, and `.venv` doesn't exist.
    None,
    /// It must not be written to, for this reason.
    Unsafe(String),
}

const USUAL: [&str; 3] = [".venv", "venv", "env"];

/// Finds the virtual environment that the task uses: one that it names, or one with a usual name at
/// the root or in a folder that the task changes to.
pub(super) fn find(context: &RepairContext<'_>) -> VenvSearch {
    let is_there = |name: &String| context.root.join(name).symlink_metadata().is_ok();
    let is_venv = |name: &String| {
        name.as_str() == ".venv" || context.root.join(name).join("pyvenv.cfg").exists()
    };
    let inner = context
        .folders()
        .filter_map(|folder| locate(context.root, folder));
    let inner = inner.flat_map(|folder| USUAL.map(|name| format!("{folder}/{name}")));
    let usual = inner.chain(USUAL.map(str::to_owned));
    let mut found = named(context).into_iter().chain(usual).filter(is_there);
    match found.find(is_venv) {
        None => VenvSearch::None,
        Some(name) => match unsafe_part(context, &name) {
            Some(why) => VenvSearch::Unsafe(why),
            None => VenvSearch::Venv(Venv { name }),
        },
    }
}

/// Returns the virtual environments that the task's own commands name.
fn named(context: &RepairContext<'_>) -> Vec<String> {
    let words = context
        .commands
        .iter()
        .flat_map(|command| crate::failure_text::words(command));
    let before = words
        .filter_map(|word| word.split_once("/bin/"))
        .map(|(folder, _)| folder);
    let plain = before.filter_map(|folder| context.locate(folder));
    let venvs = plain.filter(|folder| folder.under(context.root).join("pyvenv.cfg").is_file());
    venvs.map(|folder| folder.to_string()).collect()
}

/// Returns why it must not be written to: it isn't an environment, or parts of it are elsewhere.
fn unsafe_part(context: &RepairContext<'_>, name: &str) -> Option<String> {
    let folder = context.root.join(name);
    let is_real = |path: &Path| path.symlink_metadata().is_ok_and(|stat| stat.is_dir());
    if !is_real(&folder) || !is_real(&folder.join("bin")) || !folder.join("pyvenv.cfg").is_file() {
        return Some(format!(
            "{name} is not a virtual environment of this workspace"
        ));
    }
    if !folder.join("bin/python").exists() {
        return Some(format!("{name} no longer has a Python"));
    }
    if folder.join("pip.conf").symlink_metadata().is_ok() {
        return Some(format!("{name}/pip.conf changes where packages come from"));
    }
    let leads_out = libraries(&folder)
        .iter()
        .any(|library| !context.has(library));
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
    pub(super) fn bin(&self, context: &RepairContext<'_>) -> PathBuf {
        context.root.join(&self.name).join("bin")
    }

    pub(super) fn python(&self, context: &RepairContext<'_>) -> PathBuf {
        self.bin(context).join("python")
    }

    pub(super) fn has_module(&self, context: &RepairContext<'_>, top: &str) -> bool {
        let there = |library: PathBuf| {
            library.join(top).is_dir() || library.join(format!("{top}.py")).is_file()
        };
        libraries(&context.root.join(&self.name))
            .into_iter()
            .any(there)
    }

    /// Returns the path of its programs, relative to the root.
    pub(super) fn bin_name(&self) -> String {
        format!("{}/bin", self.name)
    }

    /// Returns why a person should decide about using it: its Python may be the agent's own.
    pub(super) fn doubt(&self, context: &RepairContext<'_>) -> Option<String> {
        let is_known = context
            .programs
            .has(context.root, &self.bin_name(), "python");
        (!is_known).then(|| format!("{} was created or changed during the run", self.name))
    }

    /// Allows a plan that uses it, unless its Python is in doubt.
    pub(super) fn allowed(&self, context: &RepairContext<'_>, plan: RepairPlan) -> Proposal {
        let doubt = self.doubt(context);
        Proposal::allowed_unless_doubtful(doubt, (&self.bin_name(), "python"), plan)
    }

    /// Returns the variables that activate it; empty if it is already active, or if the task names
    /// it.
    pub(super) fn environment(&self, context: &RepairContext<'_>) -> Vec<(String, String)> {
        let bin = self.bin_name();
        if context.runs(&format!("{bin}/"))
            || is_first_in_path(context, &self.bin(context))
            || is_first_in_path(context, &context.launchers_of(&bin))
        {
            return Vec::new();
        }
        let mut environment = first_in_path(context, &bin);
        let folder = context.root.join(&self.name);
        environment.push(("VIRTUAL_ENV".to_owned(), folder.display().to_string()));
        environment
    }
}

pub(super) fn is_first_in_path(context: &RepairContext<'_>, folder: &Path) -> bool {
    std::env::split_paths(context.current_path())
        .next()
        .as_deref()
        == Some(folder)
}

/// Returns PATH with the launchers for a folder of programs before everything else.
pub(super) fn first_in_path(context: &RepairContext<'_>, folder: &str) -> Vec<(String, String)> {
    let launchers = context.launchers_of(folder);
    let rest = std::env::split_paths(context.current_path()).filter(|other| *other != launchers);
    let path = std::env::join_paths(std::iter::once(launchers.clone()).chain(rest));
    let text = path.ok().and_then(|path| path.into_string().ok());
    text.map(|text| ("PATH".to_owned(), text))
        .into_iter()
        .collect()
}
