//! Package managers that install exactly what a lock file lists: cargo, Go, Bundler and Composer
//! here; those of Python and Node.js in their own files.

use std::path::{Path, PathBuf};

use regreen_model::{Failure, FailureKind, RepairAction};
use regreen_workspace::RelPath;

use super::registries::Registries;
use crate::context::RepairContext;
use crate::failure_text;
use crate::folder::is_in_place;
use crate::inspect::{Proposal, changed_during_run};
use crate::manifests::{FileKind, ManifestSnapshot};
use crate::package_names;
use crate::plan::{Action, Check, RepairPlan, ToolCall, ToolRun};

/// A program with its arguments and variables. The words are constants; an untrusted name can only
/// become the operand, which is one argument whatever it contains.
#[derive(Clone, Copy, Debug)]
pub(super) struct ToolCommand<'a> {
    words: &'static str,
    operand: Option<&'a str>,
    environment: &'static [(&'static str, &'static str)],
}

impl<'a> ToolCommand<'a> {
    pub(super) const fn new(words: &'static str) -> Self {
        Self {
            words,
            operand: None,
            environment: &[],
        }
    }

    pub(super) const fn with_operand(self, operand: &'a str) -> Self {
        Self {
            operand: Some(operand),
            ..self
        }
    }

    pub(super) const fn with_env(
        self,
        environment: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self {
            environment,
            ..self
        }
    }

    pub(super) fn program(self) -> &'static str {
        self.words.split(' ').next().unwrap_or_default()
    }

    pub(super) fn args(self) -> impl Iterator<Item = &'a str> {
        self.words.split(' ').skip(1).chain(self.operand)
    }

    /// Returns the call; `None` if the program isn't installed.
    pub(super) fn call(self, context: &RepairContext<'_>) -> Option<ToolCall> {
        let tool = context.tool(self.program())?.into_os_string();
        let argv = std::iter::once(tool).chain(self.args().map(Into::into));
        let mut call = ToolCall::new(argv);
        for (name, value) in self.environment {
            call = call.env(name, value);
        }
        Some(call)
    }

    /// Plans to run it; `run` supplies everything but the call.
    pub(super) fn plan(
        self,
        context: &RepairContext<'_>,
        folder: &Path,
        does: impl Into<String>,
        run: ToolRun,
    ) -> Option<RepairPlan> {
        let call = self.call(context)?.in_folder(folder);
        let run = ToolRun {
            calls: vec![call],
            ..run
        };
        Some(RepairPlan::new(
            self.recorded(),
            does,
            Action::RunTools(run),
        ))
    }

    pub(super) fn recorded(self) -> RepairAction {
        let words = self.words.split(' ').chain(self.operand);
        RepairAction::Run {
            args: words.map(str::to_owned).collect(),
        }
    }

    pub(super) fn environment(self) -> Vec<(String, String)> {
        let set = self.environment.iter();
        set.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }
}

/// Converts names to paths, skipping those that aren't paths in the workspace.
pub(super) fn paths<'p>(names: impl IntoIterator<Item = &'p str>) -> Vec<RelPath> {
    let paths = names.into_iter().map(RelPath::new);
    paths.filter_map(Result::ok).collect()
}

/// Refuses a name that isn't in a manifest, and either resembles a known one or is unknown.
pub(super) fn refuse_unknown(
    name: &str,
    known: &[String],
    is_known: bool,
    why: &str,
) -> Option<Proposal> {
    let known = known.iter().map(String::as_str);
    match package_names::similar_name(name, known) {
        Some(near) => Some(Proposal::refused(format!(
            "no manifest names {name}, and {near} is similar: probably a typo"
        ))),
        None => (!is_known).then(|| Proposal::refused(why)),
    }
}

const CARGO_UPDATE: ToolCommand<'_> = ToolCommand::new("cargo update --workspace --offline");
const CARGO_FETCH: ToolCommand<'_> = ToolCommand::new("cargo fetch --locked");
/// Files besides the manifests that influence cargo.
const CARGO_SETTINGS: [&str; 5] = [
    "Cargo.lock",
    ".cargo/config.toml",
    ".cargo/config",
    "rust-toolchain.toml",
    "rust-toolchain",
];

/// Files that select the cargo to run.
const TOOLCHAINS: [&str; 2] = ["rust-toolchain.toml", "rust-toolchain"];

/// Handles an outdated Cargo.lock, or crates that haven't been fetched yet.
pub(super) fn inspect_cargo(context: &RepairContext<'_>, failure: &Failure) -> Option<Proposal> {
    match &failure.repair {
        Some(RepairAction::Run { args }) if args.first().is_some_and(|word| word == "cargo") => {
            (failure.kind == FailureKind::LockfileOutdated).then(|| update_lock(context, failure))
        }
        Some(RepairAction::CargoAdd { args }) => Some(fetch_crates(context, args.first()?)),
        Some(RepairAction::CargoInstall { args }) => Some(Proposal::for_person(
            &format!("install {}", args.first()?),
            "it would be installed for all projects of this user",
        )),
        _ => None,
    }
}

/// Updates only the project's own entries, and fetches nothing.
fn update_lock(context: &RepairContext<'_>, failure: &Failure) -> Proposal {
    let words = failure_text::words(failure_text::blocker(failure)).into_iter();
    let mut named = words
        .filter(|word| word.ends_with("Cargo.lock"))
        .filter_map(|word| context.locate(word));
    let Some(lock) = named.next().or_else(|| RelPath::new("Cargo.lock").ok()) else {
        return Proposal::refused("Cargo.lock does not exist");
    };
    let stat = lock.under(context.root).symlink_metadata();
    if !stat.is_ok_and(|stat| stat.is_file()) || !context.manifests.has(&lock.to_string()) {
        return Proposal::refused(format!("{lock} did not exist when the run started"));
    }
    if let Some(file) = context.manifests.first_changed(context.root, TOOLCHAINS) {
        return Proposal::changed(file);
    }
    let run = ToolRun {
        check: Check::OwnEntriesOnly(lock.clone()),
        ..ToolRun::default()
    };
    let folder = lock.as_path().parent().unwrap_or(lock.as_path());
    let does = format!("update the project's own versions in {lock}");
    match CARGO_UPDATE.plan(context, folder, does, run) {
        Some(plan) => Proposal::Allowed(plan),
        None => Proposal::not_installed("cargo"),
    }
}

fn fetch_crates(context: &RepairContext<'_>, name: &str) -> Proposal {
    if !package_names::is_crate(name) {
        return Proposal::not_a_name(name, "crate");
    }
    let run = ToolRun {
        unchanged: paths(["Cargo.lock"]),
        ..ToolRun::default()
    };
    let Some(plan) = CARGO_FETCH.plan(
        context,
        Path::new(""),
        "fetch the packages in Cargo.lock",
        run,
    ) else {
        return Proposal::not_installed("cargo");
    };
    let manifests = context.manifests;
    let named = |file: &crate::manifests::ManifestFile| {
        let package = file.content.package(name, package_names::normalized);
        package.is_some()
    };
    let mut cargo_tomls = manifests.of_kind(FileKind::CargoToml);
    let Some((path, _)) = cargo_tomls.find(|(_, file)| named(file)) else {
        return add_crate(context, name);
    };
    if !manifests.is_unchanged(context.root, path) || !manifests.has("Cargo.lock") {
        return Proposal::refused(format!(
            "{path} was changed during the run, or Cargo.lock does not exist"
        ));
    }
    match manifests.first_changed(context.root, CARGO_SETTINGS) {
        Some(file) => Proposal::changed(file),
        None => Proposal::allowed_unless(cargo_doubt(context), plan),
    }
}

/// Returns why a person should decide: a manifest, the lock file or a setting names a source other
/// than the default registry, or its own toolchain.
fn cargo_doubt(context: &RepairContext<'_>) -> Option<String> {
    let manifests = context.manifests;
    let same = ManifestSnapshot::names_the_same;
    if let Some(path) = manifests.changed(context.root, &[FileKind::CargoToml], same) {
        return Some(changed_during_run(path));
    }
    let cargo_tomls = manifests.of_kind(FileKind::CargoToml);
    let mut files = cargo_tomls.map(|(path, _)| path).chain(CARGO_SETTINGS);
    files.find_map(|path| {
        let source = manifests.file(path)?.content.elsewhere.first()?;
        Some(format!("{path} names a source of its own ({source})"))
    })
}

fn add_crate(context: &RepairContext<'_>, name: &str) -> Proposal {
    let why = format!("no manifest named {name} when the run started; adding it edits Cargo.toml");
    let is_known = package_names::is_well_known(name);
    if let Some(refusal) = refuse_unknown(name, &[], is_known, &why) {
        return refusal;
    }
    let Some(call) = ToolCommand::new("cargo add")
        .with_operand(name)
        .call(context)
    else {
        return Proposal::not_installed("cargo");
    };
    let run = ToolRun {
        calls: vec![call],
        ..ToolRun::default()
    };
    let recorded = RepairAction::CargoAdd {
        args: vec![name.to_owned()],
    };
    let does = format!("add {name} to Cargo.toml");
    Proposal::ask(RepairPlan::new(recorded, does, Action::RunTools(run)), why)
}

const GO_DOWNLOAD: ToolCommand<'_> = ToolCommand::new("go mod download");

/// Handles modules of go.mod that haven't been downloaded yet.
pub(super) fn inspect_go(context: &RepairContext<'_>, failure: &Failure) -> Option<Proposal> {
    let package = match &failure.repair {
        Some(RepairAction::GoGet { args }) => args.first()?,
        Some(RepairAction::Run { args }) if args.first().is_some_and(|word| word == "go") => {
            return Some(Proposal::for_person(
                &args.join(" "),
                "it changes go.mod and go.sum, which people review",
            ));
        }
        _ => return None,
    };
    if !package_names::is_go_module(package) {
        return Some(Proposal::not_a_name(package, "module"));
    }
    let has = |module: &str| {
        let rest = package.strip_prefix(module);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let mut go_mods = context.manifests.of_kind(FileKind::GoMod);
    let home = go_mods.find(|(_, file)| {
        let mut modules = file.content.packages.iter();
        modules.any(|module| has(&module.name))
    });
    let Some((path, file)) = home else {
        let why = format!("go.mod did not name {package} when the run started");
        return Some(Proposal::for_person(&format!("go get {package}"), why));
    };
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let sum = path.replace("go.mod", "go.sum");
    let run = ToolRun {
        unchanged: paths([path, sum.as_str()]),
        ..ToolRun::default()
    };
    let does = format!("download the modules in {path}");
    let plan = GO_DOWNLOAD.plan(context, Path::new(folder), does, run)?;
    let is_changed = !context.manifests.is_unchanged(context.root, path);
    let doubt = is_changed
        .then(|| path.to_owned())
        .or_else(|| {
            context
                .manifests
                .first_changed(context.root, ["go.work", &sum])
        })
        .map(changed_during_run)
        .or_else(|| {
            let work = context.manifests.file("go.work");
            let mut files = [Some(file), work].into_iter().flatten();
            let source = files.find_map(|file| file.content.elsewhere.first())?;
            Some(format!("{path} fetches from another source ({source})"))
        });
    Some(Proposal::allowed_unless(doubt, plan))
}

/// A manager that installs everything in its lock file into a folder of the workspace.
struct VendorManager {
    command: ToolCommand<'static>,
    manifest: &'static str,
    lock: &'static str,
    folder: &'static str,
    check: Option<&'static str>,
    registries: Registries,
}

const BUNDLER: VendorManager = VendorManager {
    command: ToolCommand::new("bundle install")
        .with_env(&[("BUNDLE_PATH", "vendor/bundle"), ("BUNDLE_FROZEN", "true")]),
    manifest: "Gemfile",
    lock: "Gemfile.lock",
    folder: "vendor/bundle",
    check: None,
    registries: Registries::Ruby,
};

const COMPOSER: VendorManager = VendorManager {
    command: ToolCommand::new("composer install --no-interaction --no-scripts --no-plugins"),
    manifest: "composer.json",
    lock: "composer.lock",
    folder: "vendor",
    check: Some("vendor/autoload.php"),
    registries: Registries::Php,
};

/// Handles missing packages of Bundler or Composer.
pub(super) fn inspect_vendored(context: &RepairContext<'_>, failure: &Failure) -> Option<Proposal> {
    let suggests = |program: &str| match &failure.repair {
        Some(RepairAction::Run { args }) => args.first().is_some_and(|word| word == program),
        _ => false,
    };
    if suggests("bundle") {
        return vendor(context, &BUNDLER);
    }
    let lacks_vendor = failure_text::blocker(failure).contains("vendor/autoload.php");
    (suggests("composer") || lacks_vendor)
        .then(|| vendor(context, &COMPOSER))
        .flatten()
}

fn vendor(context: &RepairContext<'_>, manager: &VendorManager) -> Option<Proposal> {
    let VendorManager {
        command,
        manifest,
        lock,
        folder,
        check,
        registries,
    } = *manager;
    let (root, manifests) = (context.root, context.manifests);
    manifests.file(manifest)?;
    let is_new = root.join(folder).symlink_metadata().is_err();
    let run = ToolRun {
        writes_to: paths([folder]),
        unchanged: paths([manifest, lock]),
        creates: RelPath::new(folder).ok().filter(|_| is_new),
        check: check.map_or(Check::ExitCode, |path| Check::Exists(PathBuf::from(path))),
        ..ToolRun::default()
    };
    let does = format!("install the packages in {lock} into {folder}");
    let Some(plan) = command.plan(context, Path::new(""), does, run) else {
        return Some(Proposal::not_installed(command.program()));
    };
    if is_in_place(root, Path::new(folder)).is_err() {
        return Some(Proposal::refused(format!(
            "{folder} is not a folder of this workspace"
        )));
    }
    if let Some(file) = manifests.first_changed(root, [".bundle/config"]) {
        return Some(Proposal::changed(file));
    }
    let changed = || {
        let mut files = [manifest, lock].into_iter();
        files.find(|file| !manifests.is_unchanged(root, file))
    };
    let doubt = if manifests.has(lock) {
        changed().map(changed_during_run).or_else(|| {
            let mut files = [manifest, lock, ".bundle/config"].into_iter();
            files.find_map(|file| registries.doubt(context, file))
        })
    } else {
        Some(format!(
            "{lock} did not exist when the run started; this would create it"
        ))
    };
    let plan = plan.with_environment(command.environment());
    Some(Proposal::allowed_unless(doubt, plan))
}
