use std::ffi::OsString;
use std::path::PathBuf;

use regreen_model::{Failure, FailureKind, RepairAction};
use regreen_workspace::RelPath;

use super::requirement_source::{self, Source, changed_project};
use super::venv::{self, Found, Venv};
use crate::declared::{Declared, FileKind};
use crate::names;
use crate::plan::{Check, Deed, Plan, ToolRun};
use crate::runner::ToolCall;
use crate::scene::Scene;
use crate::text;
use crate::verdict::Verdict;

/// What the failure says is missing.
struct Wanted<'f> {
    /// What the failure suggests to install.
    package: Option<&'f str>,
    module: Option<&'f str>,
    command: Option<&'f str>,
}

/// A Python package, or an environment to install into.
pub(super) fn look(scene: &Scene<'_>, failure: &Failure) -> Option<Verdict> {
    if failure.kind == FailureKind::ExternallyManagedEnv {
        return Some(externally_managed(scene));
    }
    let package = match &failure.repair {
        Some(RepairAction::PipInstall { args }) => Some(args.first()?.as_str()),
        _ if failure.kind == FailureKind::MissingPythonModule => None,
        _ => return None,
    };
    let is_command = failure.kind == FailureKind::MissingCommand;
    let wanted = Wanted {
        package,
        module: text::python_module(failure),
        command: text::command(failure).filter(|_| is_command),
    };
    Some(verdict(scene, &wanted))
}

fn verdict(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Verdict {
    if let Some(bad) = wanted
        .package
        .filter(|name| !names::is_python_package(name))
    {
        return Verdict::refused(format!(
            "`{}` is not the name of a package",
            bad.escape_debug()
        ));
    }
    if wanted.package.is_none() && wanted.module.is_none() {
        return Verdict::refused("the failure names no module");
    }
    if let Some(own) = wanted.module.and_then(|module| own_module(scene, module)) {
        return own;
    }
    match requirement_source::find(scene, &possible_names(wanted)) {
        Some(source) => from_manifest(scene, wanted, &source),
        None => undeclared(scene, wanted),
    }
}

/// What the package could be called in a manifest. Only names found there are ever used.
fn possible_names(wanted: &Wanted<'_>) -> Vec<String> {
    let mut possible: Vec<String> = wanted.package.map(str::to_owned).into_iter().collect();
    if let Some(module) = wanted.module {
        let mut dotted = module;
        loop {
            possible.push(dotted.replace('.', "-"));
            match dotted.rsplit_once('.') {
                Some((shorter, _)) => dotted = shorter,
                None => break,
            }
        }
        let variants = [
            ("python-", ""),
            ("py", ""),
            ("", "-python"),
            ("", "-py"),
            ("", "-binary"),
        ];
        possible.extend(variants.map(|(before, after)| format!("{before}{dotted}{after}")));
    }
    if let Some(package) = wanted.package {
        for ending in ["-binary", "-headless"] {
            possible.push(format!("{package}{ending}"));
            possible.extend(package.strip_suffix(ending).map(str::to_owned));
        }
    }
    possible
}

/// A module that the project itself has: never a package of somebody else's.
fn own_module(scene: &Scene<'_>, module: &str) -> Option<Verdict> {
    let top = module.split('.').next().unwrap_or(module);
    let projects = [FileKind::PyProject, FileKind::SetupPy, FileKind::SetupCfg];
    let mut manifests = projects
        .iter()
        .flat_map(|kind| scene.declared.of_kind(*kind));
    let home = manifests.find_map(|(path, file)| {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let has = ["src", "lib", "python", ""]
            .iter()
            .any(|part| has_module(scene, folder, part, top));
        let can_install = file.kind != FileKind::PyProject || file.says.project.is_some();
        (has && can_install).then(|| (path.to_owned(), folder.to_owned(), file))
    });
    match home {
        Some(_) if module != top => Some(Verdict::refused(format!(
            "{module} would be a module of the project itself"
        ))),
        Some((path, folder, file)) => {
            if let Some(changed) = changed_project(scene, &folder) {
                return Some(Verdict::refused(format!(
                    "{changed} was changed during the run"
                )));
            }
            let place = if folder.is_empty() {
                ".".to_owned()
            } else {
                format!("./{folder}")
            };
            let source = Source {
                package: top.to_owned(),
                file: path.clone(),
                args: vec!["-e".to_owned(), place],
                alone: None,
                doubt: file.says.elsewhere.first().map(|place| {
                    format!("{path} fetches from elsewhere than the usual index ({place})")
                }),
            };
            let wanted = Wanted {
                package: None,
                module: Some(top),
                command: None,
            };
            Some(from_manifest(scene, &wanted, &source))
        }
        None => ["", "src", "lib"]
            .iter()
            .any(|part| has_module(scene, "", part, top))
            .then(|| {
                Verdict::refused(format!(
                    "{top} is a module of the project itself, which no manifest installs"
                ))
            }),
    }
}

fn has_module(scene: &Scene<'_>, folder: &str, part: &str, top: &str) -> bool {
    let place = scene.root.join(folder).join(part);
    let package = place.join(top);
    let is_package = package.join("__init__.py").is_file();
    place.join(format!("{top}.py")).is_file() || is_package
}

fn from_manifest(scene: &Scene<'_>, wanted: &Wanted<'_>, source: &Source) -> Verdict {
    let installed = match managed(scene, source) {
        Some(verdict) => verdict,
        None => into_venv(scene, wanted, source),
    };
    match &source.doubt {
        Some(doubt) => installed.only_asked(doubt),
        None => installed,
    }
}

fn into_venv(scene: &Scene<'_>, wanted: &Wanted<'_>, source: &Source) -> Verdict {
    let top = wanted
        .module
        .map(|module| module.split('.').next().unwrap_or(module));
    match venv::find(scene) {
        Found::Unsafe(why) => Verdict::refused(why),
        Found::None => match scene.tool("python3") {
            Some(python) => Verdict::Allowed(new_venv(scene, wanted, source, python)),
            None => Verdict::refused("there is no python3 to make a virtual environment with"),
        },
        Found::Venv(venv) if top.is_some_and(|top| venv.has_module(scene, top)) => {
            already_there(scene, &venv, source)
        }
        Found::Venv(venv) => Verdict::Allowed(install(scene, wanted, source, &venv)),
    }
}

/// The environment has it; what failed used another Python.
fn already_there(scene: &Scene<'_>, venv: &Venv, source: &Source) -> Verdict {
    let environment = venv.environment(scene);
    if environment.is_empty() {
        return Verdict::refused(format!(
            "{} is installed in {} already",
            source.package, venv.name
        ));
    }
    Verdict::Allowed(use_venv(venv, environment))
}

pub(super) fn use_venv(venv: &Venv, environment: Vec<(String, String)>) -> Plan {
    let bin = format!("{}/bin", venv.name);
    let does = format!("put {bin} first in PATH");
    let action = RepairAction::SetEnv {
        args: vec![format!("PATH={bin}")],
    };
    Plan::new(action, does, Deed::Environment).setting(environment)
}

fn install(scene: &Scene<'_>, wanted: &Wanted<'_>, source: &Source, venv: &Venv) -> Plan {
    let action = RepairAction::PipInstall {
        args: source.args.clone(),
    };
    let run = ToolRun {
        calls: vec![pip_call(scene, venv, &source.args)],
        instead: alone(scene, venv, source),
        keeps: kept(&source.file),
        into: kept(&venv.name),
        makes: None,
        check: check(scene, wanted, venv),
    };
    let does = format!("install {} into {}", what(source), venv.name);
    Plan::new(action, does, Deed::RunTools(run)).setting(venv.environment(scene))
}

fn new_venv(scene: &Scene<'_>, wanted: &Wanted<'_>, source: &Source, python: PathBuf) -> Plan {
    let venv = Venv {
        name: ".venv".to_owned(),
    };
    let run = ToolRun {
        calls: vec![make_venv(python), pip_call(scene, &venv, &source.args)],
        instead: alone(scene, &venv, source),
        keeps: kept(&source.file),
        makes: RelPath::new(".venv").ok(),
        check: check(scene, wanted, &venv),
        ..ToolRun::default()
    };
    let does = format!("make .venv and install {} into it", what(source));
    let action = RepairAction::VenvCreate {
        path: ".venv".to_owned(),
    };
    Plan::new(action, does, Deed::RunTools(run)).setting(venv.environment(scene))
}

fn what(source: &Source) -> String {
    match source.args.as_slice() {
        [option, place] if option == "-e" && place == "." => {
            format!("the project itself ({})", source.package)
        }
        [option, place] if option == "-e" => format!("{} from {place}", source.package),
        _ => format!("{} from {}", source.package, source.file),
    }
}

fn kept(file: &str) -> Vec<RelPath> {
    RelPath::new(file).into_iter().collect()
}

/// Nothing of the workspace is imported by the tools themselves (`-I`).
fn make_venv(python: PathBuf) -> ToolCall {
    ToolCall::new([
        python.into_os_string(),
        "-I".into(),
        "-m".into(),
        "venv".into(),
        ".venv".into(),
    ])
}

fn pip_call(scene: &Scene<'_>, venv: &Venv, args: &[String]) -> ToolCall {
    let fixed = [
        "-I",
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        "--no-input",
    ];
    let python = venv.python(scene).into_os_string();
    let argv = std::iter::once(python)
        .chain(fixed.map(OsString::from))
        .chain(args.iter().map(OsString::from));
    ToolCall::new(argv).with("PIP_REQUIRE_VIRTUALENV", "1")
}

/// One package that cannot be had must not keep another from being installed.
fn alone(scene: &Scene<'_>, venv: &Venv, source: &Source) -> Option<ToolCall> {
    let requirement = source.alone.clone()?;
    Some(pip_call(scene, venv, &[requirement]))
}

/// Whether Python finds the module by now, without importing it.
const FINDS: &str =
    "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)";

fn check(scene: &Scene<'_>, wanted: &Wanted<'_>, venv: &Venv) -> Check {
    let top = wanted
        .module
        .map(|module| module.split('.').next().unwrap_or(module));
    match (top, wanted.command) {
        (Some(top), _) => {
            let python = venv.python(scene).into_os_string();
            let argv = [python, "-I".into(), "-c".into(), FINDS.into(), top.into()];
            Check::Passes(Box::new(ToolCall::new(argv)))
        }
        (None, Some(command)) => Check::Exists(PathBuf::from(&venv.name).join("bin").join(command)),
        (None, None) => Check::ExitCode,
    }
}

/// Managers that keep an environment of their own: how the task calls them, what installs from
/// the lock, the lock, and what keeps the environment in the workspace.
const MANAGERS: [(&str, &str, &[&str], &str, &str); 4] = [
    (
        "poetry run",
        "poetry",
        &["install", "--no-interaction", "--no-root"],
        "poetry.lock",
        "POETRY_VIRTUALENVS_IN_PROJECT",
    ),
    (
        "pipenv run",
        "pipenv",
        &["sync", "--dev"],
        "Pipfile.lock",
        "PIPENV_VENV_IN_PROJECT",
    ),
    (
        "pdm run",
        "pdm",
        &["install", "--frozen-lockfile"],
        "pdm.lock",
        "PDM_CHECK_UPDATE",
    ),
    (
        "uv run",
        "uv",
        &["sync", "--frozen"],
        "uv.lock",
        "UV_NO_PROGRESS",
    ),
];

/// What these managers read: all of it must be as it was.
const READ_BY_MANAGERS: [FileKind; 6] = [
    FileKind::PyProject,
    FileKind::SetupCfg,
    FileKind::SetupPy,
    FileKind::Pipfile,
    FileKind::PythonLock,
    FileKind::Requirements,
];
const SETTINGS: [&str; 7] = [
    "Pipfile.lock",
    "uv.toml",
    "poetry.toml",
    "pdm.toml",
    ".pdm.toml",
    "pip.conf",
    ".python-version",
];

fn changed_for_managers(scene: &Scene<'_>) -> Option<String> {
    let changed = scene
        .declared
        .changed(scene.root, &READ_BY_MANAGERS, Declared::is_as_it_was);
    let mut settings = SETTINGS.iter();
    changed.or_else(|| {
        let file = settings.find(|file| !scene.declared.is_as_it_was(scene.root, file));
        file.map(|file| (*file).to_owned())
    })
}

fn managed(scene: &Scene<'_>, source: &Source) -> Option<Verdict> {
    let (_, program, args, lock, variable) = MANAGERS.iter().find(|(call, ..)| scene.runs(call))?;
    let is_locked = scene.root.join(lock).symlink_metadata().is_ok();
    let tool = scene.tool(program).filter(|_| is_locked)?;
    if let Some(file) = changed_for_managers(scene) {
        return Some(Verdict::refused(format!(
            "{file} was changed during the run"
        )));
    }
    let argv = std::iter::once(tool.into_os_string()).chain(args.iter().map(OsString::from));
    let value = if *program == "pdm" { "false" } else { "true" };
    let run = ToolRun {
        calls: vec![ToolCall::new(argv).with(variable, value)],
        keeps: kept(lock).into_iter().chain(kept(&source.file)).collect(),
        into: kept(".venv"),
        ..ToolRun::default()
    };
    let words = std::iter::once(*program).chain(args.iter().copied());
    let action = RepairAction::Run {
        args: words.map(str::to_owned).collect(),
    };
    let does = format!("install what {lock} names, with {program}");
    let environment = vec![((*variable).to_owned(), value.to_owned())];
    let plan = Plan::new(action, does, Deed::RunTools(run)).setting(environment);
    Some(Verdict::Allowed(plan))
}

/// The system's Python takes no packages: the project gets an environment of its own, and
/// what failed installs into that.
fn externally_managed(scene: &Scene<'_>) -> Verdict {
    match venv::find(scene) {
        Found::Unsafe(why) => Verdict::refused(why),
        Found::Venv(venv) => match venv.environment(scene) {
            set if set.is_empty() => Verdict::refused(format!("{} is used already", venv.name)),
            set => Verdict::Allowed(use_venv(&venv, set)),
        },
        Found::None => match scene.tool("python3") {
            None => Verdict::refused("there is no python3 to make a virtual environment with"),
            Some(python) => Verdict::Allowed(bare_venv(scene, python)),
        },
    }
}

fn bare_venv(scene: &Scene<'_>, python: PathBuf) -> Plan {
    let venv = Venv {
        name: ".venv".to_owned(),
    };
    let run = ToolRun {
        calls: vec![make_venv(python)],
        makes: RelPath::new(".venv").ok(),
        check: Check::Exists(PathBuf::from(".venv/bin/python")),
        ..ToolRun::default()
    };
    let action = RepairAction::VenvCreate {
        path: ".venv".to_owned(),
    };
    Plan::new(action, "make .venv and use it", Deed::RunTools(run)).setting(venv.environment(scene))
}

/// No manifest names it: a suggestion at most.
fn undeclared(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Verdict {
    let local = local_modules(scene);
    let said = wanted.module.or(wanted.package).unwrap_or_default();
    let top = said.split('.').next().unwrap_or(said);
    if let Some(near) = names::nearly(top, local.iter().map(String::as_str)) {
        return Verdict::refused(format!(
            "{top} is in no manifest, and nearly called like {near}: probably misspelt"
        ));
    }
    let Some(package) = wanted.package else {
        return Verdict::refused(format!("{top} is in no manifest"));
    };
    let why = format!("no manifest named {package} when the run began, and anybody may own a name");
    let is_known = package != top || names::is_well_known(package);
    if !is_known {
        return Verdict::refused(why);
    }
    let source = Source {
        package: package.to_owned(),
        file: "the package index".to_owned(),
        args: vec![package.to_owned()],
        alone: None,
        doubt: Some(why),
    };
    from_manifest(scene, wanted, &source)
}

/// What the workspace has that could be imported.
fn local_modules(scene: &Scene<'_>) -> Vec<String> {
    let places = ["", "src", "lib", "tests"].map(|place| scene.root.join(place));
    let entries = places
        .iter()
        .flat_map(|place| std::fs::read_dir(place).into_iter().flatten().flatten());
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let stems = names.filter_map(|name| match name.strip_suffix(".py") {
        Some(stem) => Some(stem.to_owned()),
        None => (!name.contains('.')).then_some(name),
    });
    stems.collect()
}
