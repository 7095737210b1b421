use std::ffi::OsString;
use std::path::{Path, PathBuf};

use regreen_model::{Failure, FailureKind, RepairAction};
use regreen_workspace::RelPath;

use super::managers::{ToolCommand, paths, refuse_unknown};
use super::python_source::{self, InstallSource, changed_build, changed_project};
use super::registries::Registries;
use super::venv::{self, Venv, VenvSearch};
use crate::context::RepairContext;
use crate::failure_text;
use crate::inspect::{Proposal, changed_during_run};
use crate::manifests::{FileKind, ManifestSnapshot};
use crate::package_names;
use crate::plan::ToolCall;
use crate::plan::{Action, Check, RepairPlan, ToolRun};

/// The names of a missing package.
struct MissingPackage<'f> {
    /// The package that the failure suggests.
    package: Option<&'f str>,
    module: Option<&'f str>,
    command: Option<&'f str>,
}

/// Handles a missing Python package or environment.
pub(super) fn inspect(context: &RepairContext<'_>, failure: &Failure) -> Option<Proposal> {
    if failure.kind == FailureKind::ExternallyManagedEnv {
        return Some(externally_managed(context));
    }
    let package = match &failure.repair {
        Some(RepairAction::PipInstall { args }) => Some(args.first()?.as_str()),
        _ if failure.kind == FailureKind::MissingPythonModule => None,
        _ => return None,
    };
    let is_command = failure.kind == FailureKind::MissingCommand;
    let module = failure_text::python_module(failure);
    if package.is_none() && module.is_none() {
        // The line is in a project's own words, which have an inspection of their own.
        return None;
    }
    let wanted = MissingPackage {
        package,
        module,
        command: failure_text::command(failure).filter(|_| is_command),
    };
    Some(propose(context, &wanted))
}

/// Handles a word that may name a missing package: only if a manifest lists it.
pub(super) fn inspect_declared(context: &RepairContext<'_>, word: &str) -> Option<Proposal> {
    let is_name = package_names::is_python_package(word);
    if !is_name || own_module(context, word).is_some() {
        return None;
    }
    let source = python_source::find_direct(context, word)?;
    // What it is imported as is not known, unless the environment has a module of that name.
    let is_there = match venv::find(context) {
        VenvSearch::Venv(venv) if package_names::is_python_module(word) => {
            venv.has_module(context, word)
        }
        _ => false,
    };
    let wanted = MissingPackage {
        package: Some(word),
        module: is_there.then_some(word),
        command: None,
    };
    Some(from_manifest(context, &wanted, &source))
}

fn propose(context: &RepairContext<'_>, wanted: &MissingPackage<'_>) -> Proposal {
    let mut package = wanted.package.into_iter();
    if let Some(bad) = package.find(|name| !package_names::is_python_package(name)) {
        return Proposal::not_a_name(bad, "package");
    }
    if let Some(own) = wanted.module.and_then(|module| own_module(context, module)) {
        return own;
    }
    match python_source::find(context, &possible_names(wanted)) {
        Some(source) => from_manifest(context, wanted, &source),
        None => undeclared(context, wanted),
    }
}

/// Returns possible names of the package in a manifest. Only names found there are used.
fn possible_names(wanted: &MissingPackage<'_>) -> Vec<String> {
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

/// Handles a module of the project itself, which must never be installed from the index.
fn own_module(context: &RepairContext<'_>, module: &str) -> Option<Proposal> {
    let top = top_module(module);
    let projects = [FileKind::PyProject, FileKind::SetupPy, FileKind::SetupCfg];
    let mut manifests = projects
        .iter()
        .flat_map(|kind| context.manifests.of_kind(*kind));
    let home = manifests.find_map(|(path, file)| {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let has = ["src", "lib", "python", ""]
            .iter()
            .any(|part| has_module(context, folder, part, top));
        let can_install = file.kind != FileKind::PyProject || file.content.project.is_some();
        (has && can_install).then(|| (path.to_owned(), folder.to_owned(), file))
    });
    match home {
        Some(_) if module != top => Some(Proposal::refused(format!(
            "{module} would be a module of the project itself"
        ))),
        Some((path, folder, file)) => {
            if let Some(changed) = changed_project(context, &folder) {
                return Some(Proposal::changed(changed));
            }
            let place = if folder.is_empty() {
                ".".to_owned()
            } else {
                format!("./{folder}")
            };
            let source = InstallSource {
                package: top.to_owned(),
                file: path.clone(),
                args: vec!["-e".to_owned(), place],
                alone: None,
                doubt: file
                    .content
                    .elsewhere
                    .first()
                    .map(|place| format!("{path} fetches from outside the usual index ({place})"))
                    .or_else(|| changed_build(context, &folder).map(changed_during_run)),
            };
            let wanted = MissingPackage {
                package: None,
                module: Some(top),
                command: None,
            };
            Some(from_manifest(context, &wanted, &source))
        }
        None => ["", "src", "lib"]
            .iter()
            .any(|part| has_module(context, "", part, top))
            .then(|| {
                Proposal::refused(format!(
                    "{top} is a module of the project itself, which no manifest installs"
                ))
            }),
    }
}

/// Returns `yaml` for `yaml.nodes`.
fn top_module(module: &str) -> &str {
    module.split('.').next().unwrap_or(module)
}

fn has_module(context: &RepairContext<'_>, folder: &str, part: &str, top: &str) -> bool {
    let place = context.root.join(folder).join(part);
    let package = place.join(top);
    let is_package = package.join("__init__.py").is_file();
    place.join(format!("{top}.py")).is_file() || is_package
}

fn from_manifest(
    context: &RepairContext<'_>,
    wanted: &MissingPackage<'_>,
    source: &InstallSource,
) -> Proposal {
    let installed = match managed(context, source) {
        Some(verdict) => verdict,
        None => into_venv(context, wanted, source),
    };
    match &source.doubt {
        Some(doubt) => installed.requiring_consent(doubt),
        None => installed,
    }
}

fn into_venv(
    context: &RepairContext<'_>,
    wanted: &MissingPackage<'_>,
    source: &InstallSource,
) -> Proposal {
    let top = wanted.module.map(top_module);
    match venv::find(context) {
        VenvSearch::Unsafe(why) => Proposal::refused(why),
        VenvSearch::None => match context.tool("python3") {
            Some(python) => Proposal::Allowed(new_venv(context, wanted, source, python)),
            None => Proposal::refused("no python3 to create a virtual environment with"),
        },
        VenvSearch::Venv(venv) if top.is_some_and(|top| venv.has_module(context, top)) => {
            already_there(context, &venv, source)
        }
        VenvSearch::Venv(venv) => {
            let plan = install(context, wanted, source, &venv);
            venv.allowed(context, plan)
        }
    }
}

/// Uses the environment that already has the package; the failing command used another Python.
fn already_there(context: &RepairContext<'_>, venv: &Venv, source: &InstallSource) -> Proposal {
    let environment = venv.environment(context);
    if environment.is_empty() {
        return Proposal::refused(format!(
            "{} is already installed in {}",
            source.package, venv.name
        ));
    }
    venv.allowed(context, use_venv(venv, environment))
}

pub(super) fn use_venv(venv: &Venv, environment: Vec<(String, String)>) -> RepairPlan {
    let bin = format!("{}/bin", venv.name);
    let does = format!("put {bin} first in PATH");
    let recorded = RepairAction::SetEnv {
        args: vec![format!("PATH={bin}")],
    };
    RepairPlan::new(recorded, does, Action::Environment).with_environment(environment)
}

fn install(
    context: &RepairContext<'_>,
    wanted: &MissingPackage<'_>,
    source: &InstallSource,
    venv: &Venv,
) -> RepairPlan {
    let recorded = RepairAction::PipInstall {
        args: source.args.clone(),
    };
    let run = ToolRun {
        calls: vec![pip_call(context, venv, &source.args)],
        fallback: alone(context, venv, source),
        unchanged: paths([source.file.as_str()]),
        writes_to: paths([venv.name.as_str()]),
        creates: None,
        check: check(context, wanted, venv),
    };
    let does = format!("install {} into {}", what(source), venv.name);
    RepairPlan::new(recorded, does, Action::RunTools(run))
        .with_environment(venv.environment(context))
}

fn new_venv(
    context: &RepairContext<'_>,
    wanted: &MissingPackage<'_>,
    source: &InstallSource,
    python: PathBuf,
) -> RepairPlan {
    let venv = Venv {
        name: ".venv".to_owned(),
    };
    let run = ToolRun {
        calls: vec![make_venv(python), pip_call(context, &venv, &source.args)],
        fallback: alone(context, &venv, source),
        unchanged: paths([source.file.as_str()]),
        creates: RelPath::new(".venv").ok(),
        check: check(context, wanted, &venv),
        ..ToolRun::default()
    };
    let does = format!("create .venv and install {} into it", what(source));
    let recorded = RepairAction::VenvCreate {
        path: ".venv".to_owned(),
    };
    RepairPlan::new(recorded, does, Action::RunTools(run))
        .with_environment(venv.environment(context))
}

fn what(source: &InstallSource) -> String {
    match source.args.as_slice() {
        [option, place] if option == "-e" && place == "." => {
            format!("the project itself ({})", source.package)
        }
        [option, place] if option == "-e" => format!("{} from {place}", source.package),
        _ => format!("{} from {}", source.package, source.file),
    }
}

/// Creates a virtual environment; `-I` keeps Python from importing anything from the workspace.
fn make_venv(python: PathBuf) -> ToolCall {
    ToolCall::new([
        python.into_os_string(),
        "-I".into(),
        "-m".into(),
        "venv".into(),
        ".venv".into(),
    ])
}

fn pip_call(context: &RepairContext<'_>, venv: &Venv, args: &[String]) -> ToolCall {
    let fixed = [
        "-I",
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        "--no-input",
    ];
    let python = venv.python(context).into_os_string();
    let argv = std::iter::once(python)
        .chain(fixed.map(OsString::from))
        .chain(args.iter().map(OsString::from));
    ToolCall::new(argv).env("PIP_REQUIRE_VIRTUALENV", "1")
}

/// Installs only the missing package, in case another one on the list isn't available.
fn alone(context: &RepairContext<'_>, venv: &Venv, source: &InstallSource) -> Option<ToolCall> {
    let requirement = source.alone.clone()?;
    Some(pip_call(context, venv, &[requirement]))
}

/// Checks whether Python finds a module, without importing it.
const FINDS: &str =
    "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)";

fn check(context: &RepairContext<'_>, wanted: &MissingPackage<'_>, venv: &Venv) -> Check {
    match (wanted.module.map(top_module), wanted.command) {
        (Some(top), _) => {
            let python = venv.python(context).into_os_string();
            let argv = [python, "-I".into(), "-c".into(), FINDS.into(), top.into()];
            Check::Passes(Box::new(ToolCall::new(argv)))
        }
        (None, Some(command)) => Check::Exists(PathBuf::from(&venv.name).join("bin").join(command)),
        (None, None) => Check::ExitCode,
    }
}

/// Managers with their own environments: how the task calls them, how they install from the lock
/// file, and the lock file.
const MANAGERS: [(&str, ToolCommand<'_>, &str); 4] = [
    (
        "poetry run",
        ToolCommand::new("poetry install --no-interaction --no-root")
            .with_env(&[("POETRY_VIRTUALENVS_IN_PROJECT", "true")]),
        "poetry.lock",
    ),
    (
        "pipenv run",
        ToolCommand::new("pipenv sync --dev").with_env(&[("PIPENV_VENV_IN_PROJECT", "true")]),
        "Pipfile.lock",
    ),
    (
        "pdm run",
        ToolCommand::new("pdm install --frozen-lockfile")
            .with_env(&[("PDM_CHECK_UPDATE", "false")]),
        "pdm.lock",
    ),
    (
        "uv run",
        ToolCommand::new("uv sync --frozen").with_env(&[("UV_NO_PROGRESS", "true")]),
        "uv.lock",
    ),
];

/// Files that these managers read, which must not have changed.
const READ_BY_MANAGERS: [FileKind; 6] = [
    FileKind::PyProject,
    FileKind::SetupCfg,
    FileKind::SetupPy,
    FileKind::Pipfile,
    FileKind::PythonLock,
    FileKind::Requirements,
];
const SETTINGS: &str = "\
    Pipfile.lock uv.toml poetry.toml pdm.toml .pdm.toml pip.conf .python-version";

fn managed(context: &RepairContext<'_>, source: &InstallSource) -> Option<Proposal> {
    let (_, command, lock) = MANAGERS.iter().find(|(call, ..)| context.runs(call))?;
    context.root.join(lock).symlink_metadata().ok()?;
    let run = ToolRun {
        unchanged: paths([*lock, &source.file]),
        writes_to: paths([".venv"]),
        ..ToolRun::default()
    };
    let does = format!("install the packages in {lock} with {}", command.program());
    let plan = command.plan(context, Path::new(""), does, run)?;
    let (root, manifests) = (context.root, context.manifests);
    let changed = manifests
        .changed(root, &READ_BY_MANAGERS, ManifestSnapshot::is_as_it_was)
        .or_else(|| manifests.first_changed(root, SETTINGS.split(' ')));
    let steering = SETTINGS
        .split(' ')
        .chain([*lock, "pyproject.toml", "Pipfile"]);
    let mut doubts = steering.filter_map(|file| Registries::Python.doubt(context, file));
    Some(match changed {
        Some(file) => Proposal::changed(file),
        None => {
            Proposal::allowed_unless(doubts.next(), plan.with_environment(command.environment()))
        }
    })
}

/// Creates or activates a virtual environment, because the system's Python must not be changed. The
/// failed command then installs into that.
fn externally_managed(context: &RepairContext<'_>) -> Proposal {
    match venv::find(context) {
        VenvSearch::Unsafe(why) => Proposal::refused(why),
        VenvSearch::Venv(venv) => match venv.environment(context) {
            set if set.is_empty() => Proposal::refused(format!("{} is already used", venv.name)),
            set => venv.allowed(context, use_venv(&venv, set)),
        },
        VenvSearch::None => match context.tool("python3") {
            None => Proposal::refused("no python3 to create a virtual environment with"),
            Some(python) => Proposal::Allowed(bare_venv(context, python)),
        },
    }
}

fn bare_venv(context: &RepairContext<'_>, python: PathBuf) -> RepairPlan {
    let venv = Venv {
        name: ".venv".to_owned(),
    };
    let run = ToolRun {
        calls: vec![make_venv(python)],
        creates: RelPath::new(".venv").ok(),
        check: Check::Exists(PathBuf::from(".venv/bin/python")),
        ..ToolRun::default()
    };
    let recorded = RepairAction::VenvCreate {
        path: ".venv".to_owned(),
    };
    RepairPlan::new(recorded, "create .venv and use it", Action::RunTools(run))
        .with_environment(venv.environment(context))
}

/// Handles a package that isn't in a manifest; at most asks.
fn undeclared(context: &RepairContext<'_>, wanted: &MissingPackage<'_>) -> Proposal {
    let local = local_modules(context);
    let said = wanted.module.or(wanted.package).unwrap_or_default();
    let top = top_module(said);
    let why = match wanted.package {
        Some(package) => {
            format!(
                "no manifest named {package} when the run started, and anyone can register a name"
            )
        }
        None => format!("no manifest names {top}"),
    };
    let known = wanted
        .package
        .filter(|package| *package != top || package_names::is_well_known(package));
    if let Some(refusal) = refuse_unknown(top, &local, known.is_some(), &why) {
        return refusal;
    }
    let package = known.unwrap_or(top);
    let source = InstallSource {
        package: package.to_owned(),
        file: "the package index".to_owned(),
        args: vec![package.to_owned()],
        alone: None,
        doubt: Some(why),
    };
    from_manifest(context, wanted, &source)
}

/// Lists the names that can be imported from the workspace.
fn local_modules(context: &RepairContext<'_>) -> Vec<String> {
    let places = ["", "src", "lib", "tests"].map(|place| context.root.join(place));
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
