use std::ffi::OsString;

use regreen_model::{Failure, FailureKind, RepairAction};
use regreen_workspace::RelPath;

use crate::declared::FileKind;
use crate::names;
use crate::plan::{Check, Deed, Plan, ToolRun};
use crate::runner::ToolCall;
use crate::scene::Scene;
use crate::text;
use crate::verdict::Verdict;

/// A lock that is behind, or crates that are not there yet.
pub(super) fn look(scene: &Scene<'_>, failure: &Failure) -> Option<Verdict> {
    match &failure.repair {
        Some(RepairAction::Run { args }) if args.first().is_some_and(|word| word == "cargo") => {
            (failure.kind == FailureKind::LockfileOutdated).then(|| outdated(scene, failure))
        }
        Some(RepairAction::CargoAdd { args }) => Some(missing(scene, args.first()?)),
        Some(RepairAction::CargoInstall { args }) => Some(Verdict::persons(
            &format!("install {}", args.first()?),
            "it would be installed for all projects of this user",
        )),
        _ => None,
    }
}

/// Only the project's own entries may change, and nothing is fetched.
fn outdated(scene: &Scene<'_>, failure: &Failure) -> Verdict {
    let words = text::words(text::blocker(failure)).into_iter();
    let mut named = words
        .filter(|word| word.ends_with("Cargo.lock"))
        .filter_map(|word| scene.locate(word));
    let Some(lock) = named.next().or_else(|| RelPath::new("Cargo.lock").ok()) else {
        return Verdict::refused("there is no Cargo.lock");
    };
    let args = ["update", "--workspace", "--offline"];
    let is_file = lock
        .under(scene.root)
        .symlink_metadata()
        .is_ok_and(|stat| stat.is_file());
    if !is_file || !scene.declared.has(&lock.to_string()) {
        return Verdict::refused(format!("{lock} was not there when the run began"));
    }
    let Some(cargo) = scene.tool("cargo") else {
        return Verdict::refused("cargo is not installed");
    };
    let argv = std::iter::once(cargo.into_os_string()).chain(args.map(OsString::from));
    let folder = lock.as_path().parent().unwrap_or(lock.as_path()).to_owned();
    let run = ToolRun {
        calls: vec![ToolCall::new(argv).within(folder)],
        check: Check::OwnEntriesOnly(lock.clone()),
        ..ToolRun::default()
    };
    let action = RepairAction::Run {
        args: std::iter::once("cargo")
            .chain(args)
            .map(str::to_owned)
            .collect(),
    };
    let does = format!("bring the project's own versions in {lock} up to date");
    Verdict::Allowed(Plan::new(action, does, Deed::RunTools(run)))
}

fn missing(scene: &Scene<'_>, name: &str) -> Verdict {
    if !names::is_crate(name) {
        return Verdict::refused(format!(
            "`{}` is not the name of a crate",
            name.escape_debug()
        ));
    }
    let mut manifests = scene.declared.of_kind(FileKind::CargoToml);
    let home = manifests.find(|(_, file)| file.says.package(name, names::normal).is_some());
    let Some(cargo) = scene.tool("cargo") else {
        return Verdict::refused("cargo is not installed");
    };
    let Some((path, _)) = home else {
        return undeclared(cargo.into_os_string(), name);
    };
    if !scene.declared.is_unchanged(scene.root, path) || !scene.declared.has("Cargo.lock") {
        return Verdict::refused(format!(
            "{path} was changed during the run, or there is no Cargo.lock"
        ));
    }
    let mut settings = ["Cargo.lock", ".cargo/config.toml", ".cargo/config"].iter();
    if let Some(file) = settings.find(|file| !scene.declared.is_as_it_was(scene.root, file)) {
        return Verdict::refused(format!("{file} was changed during the run"));
    }
    let argv = [cargo.into_os_string(), "fetch".into(), "--locked".into()];
    let run = ToolRun {
        calls: vec![ToolCall::new(argv)],
        keeps: RelPath::new("Cargo.lock").into_iter().collect(),
        ..ToolRun::default()
    };
    let action = RepairAction::Run {
        args: ["cargo", "fetch", "--locked"].map(str::to_owned).into(),
    };
    Verdict::Allowed(Plan::new(
        action,
        "fetch what Cargo.lock names",
        Deed::RunTools(run),
    ))
}

fn undeclared(cargo: OsString, name: &str) -> Verdict {
    let why = format!("no manifest named {name} when the run began; adding it edits Cargo.toml");
    if let Some(near) = names::nearly(name, std::iter::empty()) {
        return Verdict::refused(format!(
            "{name} is in no manifest, and nearly called like {near}: probably misspelt"
        ));
    }
    if !names::is_well_known(name) {
        return Verdict::refused(why);
    }
    let run = ToolRun {
        calls: vec![ToolCall::new([cargo, "add".into(), name.into()])],
        ..ToolRun::default()
    };
    let action = RepairAction::CargoAdd {
        args: vec![name.to_owned()],
    };
    Verdict::ask(
        Plan::new(
            action,
            format!("add {name} to Cargo.toml"),
            Deed::RunTools(run),
        ),
        why,
    )
}
