//! Modules of Python that checks run and the interpreter doesn't have.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use regreen_documents::needs_of;
use regreen_model::{CommandInput, RepairPolicy};
use regreen_supervisor::Stdin;
use regreen_workspace::Programs;

use super::commands::PlannedCommand;
use super::finding::{Preflight, PreflightFinding};
use super::reader::{Answers, trusted_program};
use crate::process::{Job, Processes};
use crate::run::RunSetup;

/// How long the interpreter may take to look its modules up.
const LOOKING: Duration = Duration::from_secs(10);
/// Prints the modules that it can't find. It imports none of them.
const FINDER: &str = "import sys, importlib.util as u
for name in sys.argv[1:]:
    try: found = u.find_spec(name)
    except Exception: found = True
    if found is None: print(name)";
/// Folders of environments that a task or a repair may put into PATH.
const ENVIRONMENTS: [&str; 3] = [".venv", "venv", "env"];

/// Adds the modules that no interpreter finds, and that the workspace doesn't have either.
pub(super) fn look(
    found: &mut Preflight,
    setup: &RunSetup,
    programs: &Programs,
    processes: &Processes,
    planned: &[PlannedCommand],
) {
    let mut wanted: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut needs = Vec::new();
    for command in planned {
        for need in needs_of(&command.text) {
            if let CommandInput::Module {
                python,
                name,
                folder,
            } = &need
                && !is_own(&setup.paths.root.join(folder), name)
                && !command.makers.name(&need)
            {
                let names = wanted.entry(python.clone()).or_default();
                names.insert(name.clone());
                needs.push((command, python.clone(), name.clone()));
            }
        }
    }
    let missing: BTreeSet<(String, String)> = wanted
        .iter()
        .flat_map(|(python, names)| missing(setup, programs, processes, python, names))
        .collect();
    for (command, python, name) in needs {
        if missing.contains(&(python.clone(), name.clone())) {
            found.add(finding(setup, command, &python, &name).of(&command.task));
        }
    }
}

fn is_own(folder: &Path, name: &str) -> bool {
    let places = [folder.join(name), folder.join(format!("{name}.py"))];
    places.iter().any(|place| place.exists())
}

/// Asks the interpreter, which starts outside of the workspace: nothing in that runs.
fn missing(
    setup: &RunSetup,
    programs: &Programs,
    processes: &Processes,
    python: &str,
    names: &BTreeSet<String>,
) -> Vec<(String, String)> {
    let Some(program) = trusted_program(setup, programs, python) else {
        return Vec::new();
    };
    let head = [program, "-c".into(), FINDER.into()];
    let job = Job {
        argv: head
            .into_iter()
            .chain(names.iter().map(OsString::from))
            .collect(),
        env: Vec::new(),
        stdin: Stdin::Empty,
        timeout: LOOKING,
        idle: None,
        purpose: "modules".to_owned(),
    };
    let outside = Processes {
        root: PathBuf::from("/"),
        ..processes.clone()
    };
    let said = Answers::of(&outside, job).unwrap_or_default();
    let printed = said.lines().map(str::trim);
    let known = printed.filter(|name| names.contains(*name));
    known
        .map(|name| (python.to_owned(), name.to_owned()))
        .collect()
}

fn finding(
    setup: &RunSetup,
    command: &PlannedCommand,
    python: &str,
    name: &str,
) -> PreflightFinding {
    let what = format!("`{python}` has no module `{name}`");
    let root = &setup.paths.root;
    let has_environment = ENVIRONMENTS.iter().any(|folder| root.join(folder).is_dir());
    if command.makers.set_up() {
        return PreflightFinding::warning(what, "this task or one before it may install it");
    }
    if setup.config.recovery && setup.config.repairs != RepairPolicy::Off {
        return PreflightFinding::warning(what, "recovery may install it");
    }
    if has_environment || crate::own_folder(root).exists() {
        return PreflightFinding::warning(what, "an environment of the project may have it");
    }
    PreflightFinding::error(what, "install it, or add a task that does")
}
