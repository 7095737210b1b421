use std::ffi::OsString;
use std::path::{Path, PathBuf};

use regreen_model::{Failure, FailureKind, RepairAction};
use regreen_workspace::RelPath;

use super::requirement_source::look_alike;
use super::venv::first_in_path;
use crate::declared::{Declared, FileKind};
use crate::names;
use crate::plan::{Check, Deed, Plan, ToolRun};
use crate::runner::ToolCall;
use crate::scene::Scene;
use crate::text;
use crate::verdict::Verdict;

/// A package manager: its lock, itself, how it installs exactly what the lock says, and how
/// it writes the lock anew.
struct Manager {
    lock: &'static str,
    program: &'static str,
    install: &'static [&'static str],
    relock: &'static [&'static str],
}

const NPM_INSTALL: &[&str] = &["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
const NPM_RELOCK: &[&str] = &[
    "install",
    "--package-lock-only",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
];

/// No package's own scripts are run: a failure is no reason to run code of strangers.
const MANAGERS: [Manager; 6] = [
    Manager {
        lock: "package-lock.json",
        program: "npm",
        install: NPM_INSTALL,
        relock: NPM_RELOCK,
    },
    Manager {
        lock: "npm-shrinkwrap.json",
        program: "npm",
        install: NPM_INSTALL,
        relock: NPM_RELOCK,
    },
    Manager {
        lock: "yarn.lock",
        program: "yarn",
        install: &[
            "install",
            "--frozen-lockfile",
            "--ignore-scripts",
            "--non-interactive",
        ],
        relock: &["install", "--ignore-scripts", "--non-interactive"],
    },
    Manager {
        lock: "pnpm-lock.yaml",
        program: "pnpm",
        install: &["install", "--frozen-lockfile", "--ignore-scripts"],
        relock: &["install", "--lockfile-only", "--ignore-scripts"],
    },
    Manager {
        lock: "bun.lock",
        program: "bun",
        install: &["install", "--frozen-lockfile", "--ignore-scripts"],
        relock: &["install", "--lockfile-only", "--ignore-scripts"],
    },
    Manager {
        lock: "bun.lockb",
        program: "bun",
        install: &["install", "--frozen-lockfile", "--ignore-scripts"],
        relock: &["install", "--lockfile-only", "--ignore-scripts"],
    },
];

/// The second Yarn calls the same things otherwise.
const NEW_YARN: &[&str] = &["install", "--immutable", "--mode=skip-build"];
/// `npm ci` begins by deleting `node_modules`; where there is one, it is completed instead.
const COMPLETE: &[&str] = &[
    "install",
    "--no-save",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
];
const WITHOUT_LOCK: &[&str] = &[
    "install",
    "--no-save",
    "--no-package-lock",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
];

/// Commands whose package is called otherwise.
const COMMANDS: [(&str, &str); 6] = [
    ("tsc", "typescript"),
    ("ng", "@angular/cli"),
    ("nest", "@nestjs/cli"),
    ("vue-cli-service", "@vue/cli-service"),
    ("react-scripts", "react-scripts"),
    ("playwright", "@playwright/test"),
];

/// Where a package is declared.
struct Home<'d> {
    folder: PathBuf,
    manifest: &'d str,
    manager: Option<&'static Manager>,
}

/// A package that package.json or its lock names.
pub(super) fn look(scene: &Scene<'_>, failure: &Failure) -> Option<Verdict> {
    let is_candidate = matches!(failure.repair, Some(RepairAction::NpmInstall { .. }));
    if failure.kind == FailureKind::LockfileOutdated {
        return outdated(scene, failure);
    }
    if !is_candidate && failure.kind != FailureKind::MissingNodeModule {
        return declared_command(scene, failure);
    }
    let name = match &failure.repair {
        Some(RepairAction::NpmInstall { args }) if !args.is_empty() => args.first()?.clone(),
        _ => command_package(failure)?,
    };
    Some(verdict(scene, failure, &name))
}

/// A command without a suggestion, whose package the manifest names.
fn declared_command(scene: &Scene<'_>, failure: &Failure) -> Option<Verdict> {
    let name = command_package(failure).filter(|_| failure.kind == FailureKind::MissingCommand)?;
    home(scene, &name)?;
    Some(verdict(scene, failure, &name))
}

fn command_package(failure: &Failure) -> Option<String> {
    let command = text::command(failure)?;
    let known = COMMANDS.iter().find(|(name, _)| *name == command);
    Some(known.map_or(command, |(_, package)| package).to_owned())
}

fn verdict(scene: &Scene<'_>, failure: &Failure, name: &str) -> Verdict {
    if !names::is_node_package(name) {
        return Verdict::refused(format!(
            "`{}` is not the name of a package",
            name.escape_debug()
        ));
    }
    let Some(home) = home(scene, name) else {
        return undeclared(scene, name);
    };
    if let Some(why) = leads_out(scene, &home) {
        return Verdict::refused(why);
    }
    if let Some(file) = changed(scene, &home) {
        return Verdict::refused(format!("{file} was changed during the run"));
    }
    let modules = home.folder.join("node_modules");
    let made = match text::command(failure).filter(|_| failure.kind == FailureKind::MissingCommand)
    {
        Some(command) => modules.join(".bin").join(command),
        None => modules.join(name).join("package.json"),
    };
    if scene.root.join(&made).exists() {
        return Verdict::refused(format!("{name} is installed already"));
    }
    let is_command = failure.kind == FailureKind::MissingCommand;
    let bin = scene.root.join(&modules).join(".bin");
    let environment = match is_command && !scene.runs("npm ") && !scene.runs("npx ") {
        true => first_in_path(scene, &bin),
        false => Vec::new(),
    };
    match plan(scene, &home, name, made).map(|plan| plan.setting(environment)) {
        None => Verdict::refused(format!(
            "{} is not installed",
            home.manager.map_or("npm", |manager| manager.program)
        )),
        Some(plan) => match doubt(scene, &home, name) {
            Some(why) => Verdict::ask(plan, why),
            None => Verdict::Allowed(plan),
        },
    }
}

/// The manifest that names a package, or whose lock does; the root's first.
fn home<'d>(scene: &Scene<'d>, name: &str) -> Option<Home<'d>> {
    let declared = scene.declared;
    let mut manifests: Vec<&str> = declared
        .of_kind(FileKind::PackageJson)
        .map(|(path, _)| path)
        .collect();
    manifests.sort_by_key(|path| path.matches('/').count());
    let found = manifests.into_iter().find(|path| {
        let lock = path.replace("package.json", "package-lock.json");
        let mut files = [Some(*path), Some(lock.as_str())]
            .into_iter()
            .flatten()
            .filter_map(|path| declared.file(path));
        files.any(|file| file.says.package(name, str::to_owned).is_some())
    })?;
    let own = Path::new(found).parent().unwrap_or(Path::new(""));
    // The packages of a workspace are installed from its root, where the lock is.
    let folder = own
        .ancestors()
        .find(|folder| manager(scene, folder).is_some())
        .unwrap_or(own);
    Some(Home {
        folder: folder.to_owned(),
        manifest: found,
        manager: manager(scene, folder),
    })
}

fn manager(scene: &Scene<'_>, folder: &Path) -> Option<&'static Manager> {
    let has = |lock: &str| {
        folder
            .join(lock)
            .to_str()
            .is_some_and(|path| scene.declared.has(path))
    };
    MANAGERS.iter().find(|manager| has(manager.lock))
}

fn leads_out(scene: &Scene<'_>, home: &Home<'_>) -> Option<String> {
    let modules = scene.root.join(&home.folder).join("node_modules");
    let stat = modules.symlink_metadata().ok()?;
    (!stat.is_dir()).then(|| "node_modules is not a folder of this workspace".to_owned())
}

fn plan(scene: &Scene<'_>, home: &Home<'_>, name: &str, made: PathBuf) -> Option<Plan> {
    let has_modules = scene.root.join(&home.folder).join("node_modules").is_dir();
    let program = home.manager.map_or("npm", |manager| manager.program);
    let is_new_yarn =
        program == "yarn" && scene.root.join(&home.folder).join(".yarnrc.yml").exists();
    let args = match home.manager {
        None => WITHOUT_LOCK,
        Some(_) if is_new_yarn => NEW_YARN,
        Some(manager) if manager.program == "npm" && has_modules => COMPLETE,
        Some(manager) => manager.install,
    };
    let lock = home.manager.map(|manager| manager.lock);
    let keeps = [Some("package.json"), lock].into_iter().flatten();
    let in_home = |name: &str| RelPath::inside(scene.root, &home.folder.join(name)).ok();
    let run = ToolRun {
        calls: vec![call(scene, program, args)?.within(&home.folder)],
        keeps: keeps.filter_map(in_home).collect(),
        into: in_home("node_modules").into_iter().collect(),
        makes: in_home("node_modules").filter(|_| !has_modules),
        check: Check::Exists(made),
        ..ToolRun::default()
    };
    let from = lock.map_or(home.manifest.to_owned(), |lock| {
        home.folder.join(lock).display().to_string()
    });
    let does = format!("install {name} as {from} says, with {program} and without install scripts");
    let action = RepairAction::NpmInstall {
        args: std::iter::once(program)
            .chain(args.iter().copied())
            .skip(1)
            .map(str::to_owned)
            .collect(),
    };
    let action = match program {
        "npm" => action,
        program => RepairAction::Run {
            args: std::iter::once(program)
                .chain(args.iter().copied())
                .map(str::to_owned)
                .collect(),
        },
    };
    Some(Plan::new(action, does, Deed::RunTools(run)))
}

fn call(scene: &Scene<'_>, program: &str, args: &[&str]) -> Option<ToolCall> {
    let tool = scene.tool(program)?.into_os_string();
    let argv = std::iter::once(tool).chain(args.iter().map(OsString::from));
    Some(ToolCall::new(argv).with("CI", "1"))
}

/// Settings beside a manifest that steer where packages come from.
const SETTINGS: [&str; 7] = [
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pnpmfile.cjs",
    ".pnpmfile.mjs",
    "pnpm-workspace.yaml",
    "bunfig.toml",
];

/// Settings beside the manifest, or manifests of a workspace's members, that are not as they
/// were when the run began.
fn changed(scene: &Scene<'_>, home: &Home<'_>) -> Option<String> {
    let beside = |file: &str| home.folder.join(file).display().to_string();
    let mut settings = SETTINGS.map(beside).into_iter();
    let changed = settings.find(|file| !scene.declared.is_as_it_was(scene.root, file));
    let root = scene.declared.file(&beside("package.json"));
    let has_members = root.is_some_and(|file| file.says.has_members)
        || scene.declared.has(&beside("pnpm-workspace.yaml"));
    changed.or_else(|| match has_members {
        true => scene.declared.changed(
            scene.root,
            &[FileKind::PackageJson],
            Declared::names_the_same,
        ),
        false => None,
    })
}

fn doubt(scene: &Scene<'_>, home: &Home<'_>, name: &str) -> Option<String> {
    let beside = |file: &str| home.folder.join(file).display().to_string();
    let manifests = [home.manifest.to_owned(), beside("package.json")];
    let mut read = manifests.iter().filter(|path| scene.declared.has(path));
    if let Some(path) = read.find(|path| !scene.declared.names_the_same(scene.root, path)) {
        return Some(format!(
            "{path} names other packages than when the run began"
        ));
    }
    if let Some(lock) = home.manager.map(|manager| beside(manager.lock))
        && !scene.declared.is_unchanged(scene.root, &lock)
    {
        return Some(format!("{lock} was changed during the run"));
    }
    let lock = scene.declared.file(&beside("package-lock.json"));
    if lock.is_some_and(|lock| lock.says.package(name, str::to_owned).is_none()) {
        return Some(format!(
            "package-lock.json does not know {name}: it would have to be written anew"
        ));
    }
    for setting in SETTINGS.map(beside) {
        let says = scene
            .declared
            .file(&setting)
            .and_then(|file| file.says.elsewhere.first());
        if let Some(line) = says {
            return Some(format!(
                "{setting} steers where packages come from ({line})"
            ));
        }
    }
    let manifest = scene.declared.file(home.manifest)?;
    let place = manifest.says.elsewhere.first();
    place
        .map(|place| {
            format!(
                "{} fetches from elsewhere than the registry ({place})",
                home.manifest
            )
        })
        .or_else(|| look_alike(name).map(|known| format!("{name} is nearly called like {known}")))
}

fn undeclared(scene: &Scene<'_>, name: &str) -> Verdict {
    let why = format!("no manifest named {name} when the run began, and anybody may own a name");
    if let Some(near) = names::nearly(name, std::iter::empty()) {
        return Verdict::refused(format!(
            "{name} is in no manifest, and nearly called like {near}: probably misspelt"
        ));
    }
    let has_manifest = scene.declared.has("package.json");
    let args = [
        "install",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        name,
    ];
    let called = call(scene, "npm", &args).filter(|_| has_manifest && names::is_well_known(name));
    let Some(called) = called else {
        return Verdict::refused(why);
    };
    let action = RepairAction::NpmInstall {
        args: vec![name.to_owned()],
    };
    let run = ToolRun {
        calls: vec![called],
        ..ToolRun::default()
    };
    Verdict::ask(
        Plan::new(
            action,
            format!("add {name} to package.json and install it"),
            Deed::RunTools(run),
        ),
        why,
    )
}

/// The lock is behind the manifest: writing it anew changes a file that people review.
fn outdated(scene: &Scene<'_>, failure: &Failure) -> Option<Verdict> {
    let line = text::blocker(failure);
    let suggests = matches!(failure.repair, Some(RepairAction::NpmInstall { .. }));
    let manager = MANAGERS
        .iter()
        .find(|manager| line.contains(manager.lock) && scene.root.join(manager.lock).exists())
        .or_else(|| manager(scene, Path::new("")).filter(|_| suggests))?;
    let words = std::iter::once(manager.program).chain(manager.relock.iter().copied());
    let action = match manager.program {
        "npm" => RepairAction::NpmInstall {
            args: manager
                .relock
                .iter()
                .skip(1)
                .map(|word| (*word).to_owned())
                .collect(),
        },
        _ => RepairAction::Run {
            args: words.map(str::to_owned).collect(),
        },
    };
    let run = ToolRun {
        calls: call(scene, manager.program, manager.relock)
            .into_iter()
            .collect(),
        keeps: RelPath::new("package.json").into_iter().collect(),
        ..ToolRun::default()
    };
    let does = format!("write {} anew, with {}", manager.lock, manager.program);
    let plan = Plan::new(action, does, Deed::RunTools(run));
    Some(Verdict::ask(
        plan,
        format!("{} is a file that people review", manager.lock),
    ))
}
