//! Packages of Node.js, with npm, yarn, pnpm or bun.

use std::path::{Path, PathBuf};

use regreen_model::{Failure, FailureKind, RepairAction};
use regreen_workspace::RelPath;

use super::managers::{ToolCommand, paths, refuse_unknown};
use super::python_source::similar_well_known;
use super::registries::Registries;
use super::venv::first_in_path;
use crate::context::RepairContext;
use crate::failure_text;
use crate::inspect::{Proposal, changed_during_run};
use crate::manifests::{FileKind, ManifestFile, ManifestSnapshot};
use crate::package_names;
use crate::plan::{Action, Check, RepairPlan, ToolRun};

/// A package manager: its lock file, the command that installs exactly what the lock file lists,
/// and the command that regenerates the lock file.
struct Manager {
    lock: &'static str,
    install: ToolCommand<'static>,
    relock: ToolCommand<'static>,
}

/// Makes the managers non-interactive.
const CI: &[(&str, &str)] = &[("CI", "1")];

const fn command(words: &'static str) -> ToolCommand<'static> {
    ToolCommand::new(words).with_env(CI)
}

const fn manager(lock: &'static str, install: &'static str, relock: &'static str) -> Manager {
    Manager {
        lock,
        install: command(install),
        relock: command(relock),
    }
}

// The packages' own scripts never run: a failure is no reason to run third-party code.
const NPM: &str = "npm";
const NPM_CI: &str = "npm ci --ignore-scripts --no-audit --no-fund";
const NPM_RELOCK: &str = "npm install --package-lock-only --ignore-scripts --no-audit --no-fund";
/// `npm ci` deletes `node_modules` first, so an existing one is completed with this instead.
const NPM_COMPLETE: ToolCommand<'_> =
    command("npm install --no-save --ignore-scripts --no-audit --no-fund");
const NPM_WITHOUT_LOCK: ToolCommand<'_> =
    command("npm install --no-save --no-package-lock --ignore-scripts --no-audit --no-fund");
const NPM_ADD: ToolCommand<'_> = command("npm install --ignore-scripts --no-audit --no-fund");
const YARN: &str = "yarn install --frozen-lockfile --ignore-scripts --non-interactive";
const YARN_RELOCK: &str = "yarn install --ignore-scripts --non-interactive";
/// Yarn 2 and later have other options.
const MODERN_YARN: ToolCommand<'_> = command("yarn install --immutable --mode=skip-build");
const PNPM: &str = "pnpm install --frozen-lockfile --ignore-scripts";
const PNPM_RELOCK: &str = "pnpm install --lockfile-only --ignore-scripts";
const BUN: &str = "bun install --frozen-lockfile --ignore-scripts";
const BUN_RELOCK: &str = "bun install --lockfile-only --ignore-scripts";

const MANAGERS: [Manager; 6] = [
    manager("package-lock.json", NPM_CI, NPM_RELOCK),
    manager("npm-shrinkwrap.json", NPM_CI, NPM_RELOCK),
    manager("yarn.lock", YARN, YARN_RELOCK),
    manager("pnpm-lock.yaml", PNPM, PNPM_RELOCK),
    manager("bun.lock", BUN, BUN_RELOCK),
    manager("bun.lockb", BUN, BUN_RELOCK),
];

/// Commands whose packages have different names.
const COMMANDS: [(&str, &str); 6] = [
    ("tsc", "typescript"),
    ("ng", "@angular/cli"),
    ("nest", "@nestjs/cli"),
    ("vue-cli-service", "@vue/cli-service"),
    ("react-scripts", "react-scripts"),
    ("playwright", "@playwright/test"),
];

/// The folder in which a package is installed.
struct PackageHome<'d> {
    folder: PathBuf,
    manifest: &'d str,
    manager: Option<&'static Manager>,
}

impl PackageHome<'_> {
    fn file(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }
}

/// Handles a missing package that package.json or its lock file lists.
pub(super) fn inspect(context: &RepairContext<'_>, failure: &Failure) -> Option<Proposal> {
    if failure.kind == FailureKind::LockfileOutdated {
        return outdated(context, failure);
    }
    let name = match &failure.repair {
        Some(RepairAction::NpmInstall { args }) if !args.is_empty() => args.first()?.clone(),
        Some(RepairAction::NpmInstall { .. }) => command_package(failure)?,
        _ if failure.kind == FailureKind::MissingNodeModule => command_package(failure)?,
        // There is no suggestion, but a manifest may list the command's package.
        _ if failure.kind == FailureKind::MissingCommand => {
            command_package(failure).filter(|name| home(context, name).is_some())?
        }
        _ => return None,
    };
    Some(propose(context, failure, &name))
}

/// Handles a word that may name a missing package: only if a manifest lists it.
pub(super) fn inspect_declared(
    context: &RepairContext<'_>,
    failure: &Failure,
    word: &str,
) -> Option<Proposal> {
    // A lock file lists hundreds of names, many of them ordinary words.
    let mut manifests = context.manifests.of_kind(FileKind::PackageJson);
    let lists = |file: &ManifestFile| file.content.package(word, str::to_owned).is_some();
    let is_listed = package_names::is_node_package(word) && manifests.any(|(_, file)| lists(file));
    is_listed.then(|| propose(context, failure, word))
}

fn command_package(failure: &Failure) -> Option<String> {
    let command = failure_text::command(failure)?;
    let known = COMMANDS.iter().find(|(name, _)| *name == command);
    Some(known.map_or(command, |(_, package)| package).to_owned())
}

fn propose(context: &RepairContext<'_>, failure: &Failure, name: &str) -> Proposal {
    if !package_names::is_node_package(name) {
        return Proposal::not_a_name(name, "package");
    }
    let Some(home) = home(context, name) else {
        return undeclared(context, name);
    };
    let modules = home.folder.join("node_modules");
    let stat = context.root.join(&modules).symlink_metadata();
    if stat.is_ok_and(|stat| !stat.is_dir()) {
        return Proposal::refused("node_modules is not a folder of this workspace");
    }
    if let Some(file) = changed(context, &home) {
        return Proposal::changed(file);
    }
    let is_command = failure.kind == FailureKind::MissingCommand;
    let installed = match failure_text::command(failure).filter(|_| is_command) {
        Some(command) => modules.join(".bin").join(command),
        None => modules.join(name).join("package.json"),
    };
    if context.root.join(&installed).exists() {
        return Proposal::refused(format!("{name} is already installed"));
    }
    let environment = if is_command && !context.runs("npm ") && !context.runs("npx ") {
        first_in_path(context, &home.file("node_modules/.bin"))
    } else {
        Vec::new()
    };
    match plan(context, &home, name, installed) {
        None => Proposal::not_installed(home.manager.map_or(NPM, |one| one.install.program())),
        Some(plan) => Proposal::allowed_unless(
            doubt(context, &home, name),
            plan.with_environment(environment),
        ),
    }
}

/// Finds the manifest that lists a package, itself or in its lock file; the root's comes first.
fn home<'d>(context: &RepairContext<'d>, name: &str) -> Option<PackageHome<'d>> {
    let manifests = context.manifests;
    let mut package_jsons: Vec<&str> = manifests
        .of_kind(FileKind::PackageJson)
        .map(|(path, _)| path)
        .collect();
    package_jsons.sort_by_key(|path| path.matches('/').count());
    let found = package_jsons.into_iter().find(|path| {
        let lock = path.replace("package.json", "package-lock.json");
        let mut files = [*path, &lock]
            .into_iter()
            .filter_map(|path| manifests.file(path));
        files.any(|file| file.content.package(name, str::to_owned).is_some())
    })?;
    let own = Path::new(found).parent().unwrap_or(Path::new(""));
    // A workspace's packages are installed from its root, where the lock file is.
    let folder = own
        .ancestors()
        .find(|folder| manager_of(context, folder).is_some())
        .unwrap_or(own);
    Some(PackageHome {
        folder: folder.to_owned(),
        manifest: found,
        manager: manager_of(context, folder),
    })
}

fn manager_of(context: &RepairContext<'_>, folder: &Path) -> Option<&'static Manager> {
    MANAGERS.iter().find(|manager| {
        let lock = folder.join(manager.lock);
        lock.to_str()
            .is_some_and(|path| context.manifests.has(path))
    })
}

fn plan(
    context: &RepairContext<'_>,
    home: &PackageHome<'_>,
    name: &str,
    installed: PathBuf,
) -> Option<RepairPlan> {
    let folder = context.root.join(&home.folder);
    let has_modules = folder.join("node_modules").is_dir();
    let command = match home.manager.map(|manager| manager.install) {
        None => NPM_WITHOUT_LOCK,
        Some(install) if install.program() == "yarn" && folder.join(".yarnrc.yml").exists() => {
            MODERN_YARN
        }
        Some(install) if install.program() == NPM && has_modules => NPM_COMPLETE,
        Some(install) => install,
    };
    let lock = home.manager.map(|manager| manager.lock);
    let in_home = |name: &str| RelPath::inside(context.root, &home.folder.join(name)).ok();
    let run = ToolRun {
        unchanged: [Some("package.json"), lock]
            .into_iter()
            .flatten()
            .filter_map(in_home)
            .collect(),
        writes_to: in_home("node_modules").into_iter().collect(),
        creates: in_home("node_modules").filter(|_| !has_modules),
        check: Check::Exists(installed),
        ..ToolRun::default()
    };
    let from = lock.map_or(home.manifest.to_owned(), |lock| home.file(lock));
    let does = format!(
        "install {name} from {from} with {}, without install scripts",
        command.program()
    );
    let mut plan = command.plan(context, &home.folder, does, run)?;
    if command.program() == NPM {
        plan.recorded = npm_install(command.args());
    }
    Some(plan)
}

fn npm_install<'a>(args: impl IntoIterator<Item = &'a str>) -> RepairAction {
    RepairAction::NpmInstall {
        args: args.into_iter().map(str::to_owned).collect(),
    }
}

/// Settings beside a manifest that influence where packages come from.
const SETTINGS: [&str; 7] = [
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pnpmfile.cjs",
    ".pnpmfile.mjs",
    "pnpm-workspace.yaml",
    "bunfig.toml",
];

/// Returns the first setting beside the manifest, or the first manifest of a workspace member, that
/// has changed since the run started.
fn changed(context: &RepairContext<'_>, home: &PackageHome<'_>) -> Option<String> {
    let manifests = context.manifests;
    let settings = SETTINGS.map(|name| home.file(name));
    manifests.first_changed(context.root, settings).or_else(|| {
        let root = manifests.file(&home.file("package.json"));
        let has_members = root.is_some_and(|file| file.content.has_members)
            || manifests.has(&home.file("pnpm-workspace.yaml"));
        let same = ManifestSnapshot::names_the_same;
        has_members
            .then(|| manifests.changed(context.root, &[FileKind::PackageJson], same))
            .flatten()
    })
}

fn doubt(context: &RepairContext<'_>, home: &PackageHome<'_>, name: &str) -> Option<String> {
    let manifests = context.manifests;
    let declared = [home.manifest.to_owned(), home.file("package.json")];
    let mut read = declared.iter().filter(|path| manifests.has(path));
    if let Some(path) = read.find(|path| !manifests.names_the_same(context.root, path)) {
        return Some(format!(
            "{path} names other packages than when the run started"
        ));
    }
    if let Some(lock) = home.manager.map(|manager| home.file(manager.lock))
        && !manifests.is_unchanged(context.root, &lock)
    {
        return Some(changed_during_run(lock));
    }
    let lock = manifests.file(&home.file("package-lock.json"));
    if lock.is_some_and(|lock| lock.content.package(name, str::to_owned).is_none()) {
        return Some(format!(
            "package-lock.json does not include {name}; it would have to be rewritten"
        ));
    }
    let lock = home.manager.map(|manager| home.file(manager.lock));
    if let Some(doubt) = lock.and_then(|lock| Registries::Node.doubt(context, &lock)) {
        return Some(doubt);
    }
    let other_source = |path: &str| manifests.file(path)?.content.elsewhere.first();
    for setting in SETTINGS.map(|name| home.file(name)) {
        if let Some(line) = other_source(&setting) {
            return Some(format!(
                "{setting} changes where packages come from ({line})"
            ));
        }
    }
    manifests.file(home.manifest)?;
    match other_source(home.manifest) {
        Some(source) => Some(format!(
            "{} fetches from outside the registry ({source})",
            home.manifest
        )),
        None => {
            similar_well_known(name).map(|known| format!("the name {name} is similar to {known}"))
        }
    }
}

fn undeclared(context: &RepairContext<'_>, name: &str) -> Proposal {
    let why =
        format!("no manifest named {name} when the run started, and anyone can register a name");
    let is_known = package_names::is_well_known(name) && context.manifests.has("package.json");
    if let Some(refusal) = refuse_unknown(name, &[], is_known, &why) {
        return refusal;
    }
    let Some(call) = NPM_ADD.with_operand(name).call(context) else {
        return Proposal::refused(why);
    };
    let run = ToolRun {
        calls: vec![call],
        ..ToolRun::default()
    };
    let does = format!("add {name} to package.json and install it");
    Proposal::ask(
        RepairPlan::new(npm_install([name]), does, Action::RunTools(run)),
        why,
    )
}

/// Handles a lock file that is older than its manifest. Writing it changes a file that people
/// review.
fn outdated(context: &RepairContext<'_>, failure: &Failure) -> Option<Proposal> {
    let line = failure_text::blocker(failure);
    let suggests = matches!(failure.repair, Some(RepairAction::NpmInstall { .. }));
    let Manager { lock, relock, .. } = MANAGERS
        .iter()
        .find(|manager| line.contains(manager.lock) && context.root.join(manager.lock).exists())
        .or_else(|| manager_of(context, Path::new("")).filter(|_| suggests))?;
    let run = ToolRun {
        calls: relock.call(context).into_iter().collect(),
        unchanged: paths(["package.json"]),
        ..ToolRun::default()
    };
    let recorded = if relock.program() == NPM {
        npm_install(relock.args().skip(1))
    } else {
        relock.recorded()
    };
    let does = format!("rewrite {lock} with {}", relock.program());
    let plan = RepairPlan::new(recorded, does, Action::RunTools(run));
    Some(Proposal::ask(
        plan,
        format!("{lock} is a file that people review"),
    ))
}
