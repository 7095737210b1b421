use std::ffi::OsString;
use std::path::{Path, PathBuf};

use regreen_model::{Failure, RepairAction};
use regreen_workspace::RelPath;

use crate::folder::is_in_place;
use crate::plan::{Check, Deed, Plan, ToolRun};
use crate::runner::ToolCall;
use crate::scene::Scene;
use crate::text;
use crate::verdict::Verdict;

/// Bundler and Composer: everything that the lock names, into a folder of the workspace.
struct Manager {
    program: &'static str,
    args: &'static [&'static str],
    manifest: &'static str,
    lock: &'static str,
    environment: &'static [(&'static str, &'static str)],
    makes: &'static str,
    check: Option<&'static str>,
}

const BUNDLER: Manager = Manager {
    program: "bundle",
    args: &["install"],
    manifest: "Gemfile",
    lock: "Gemfile.lock",
    environment: &[("BUNDLE_PATH", "vendor/bundle"), ("BUNDLE_FROZEN", "true")],
    makes: "vendor/bundle",
    check: None,
};

const COMPOSER: Manager = Manager {
    program: "composer",
    args: &[
        "install",
        "--no-interaction",
        "--no-scripts",
        "--no-plugins",
    ],
    manifest: "composer.json",
    lock: "composer.lock",
    environment: &[],
    makes: "vendor",
    check: Some("vendor/autoload.php"),
};

pub(super) fn look(scene: &Scene<'_>, failure: &Failure) -> Option<Verdict> {
    let suggests = |program: &str| match &failure.repair {
        Some(RepairAction::Run { args }) => args.first().is_some_and(|word| word == program),
        _ => false,
    };
    let line = text::blocker(failure);
    if suggests("bundle") {
        return verdict(scene, &BUNDLER);
    }
    (suggests("composer") || line.contains("vendor/autoload.php"))
        .then(|| verdict(scene, &COMPOSER))
        .flatten()
}

fn verdict(scene: &Scene<'_>, manager: &Manager) -> Option<Verdict> {
    let manifest = scene.declared.file(manager.manifest)?;
    let Some(tool) = scene.tool(manager.program) else {
        return Some(Verdict::refused(format!(
            "{} is not installed",
            manager.program
        )));
    };
    let is_there = scene.root.join(manager.makes).symlink_metadata();
    if is_in_place(scene.root, Path::new(manager.makes)).is_err() {
        return Some(Verdict::refused(format!(
            "{} is not a folder of this workspace",
            manager.makes
        )));
    }
    if !scene.declared.is_as_it_was(scene.root, ".bundle/config") {
        return Some(Verdict::refused(
            ".bundle/config was changed during the run",
        ));
    }
    let argv =
        std::iter::once(tool.into_os_string()).chain(manager.args.iter().map(OsString::from));
    let mut call = ToolCall::new(argv);
    for (name, value) in manager.environment {
        call = call.with(name, value);
    }
    let run = ToolRun {
        instead: None,
        into: RelPath::new(manager.makes).into_iter().collect(),
        calls: vec![call],
        keeps: [manager.manifest, manager.lock]
            .iter()
            .filter_map(|path| RelPath::new(*path).ok())
            .collect(),
        makes: RelPath::new(manager.makes)
            .ok()
            .filter(|_| is_there.is_err()),
        check: manager
            .check
            .map_or(Check::ExitCode, |path| Check::Exists(PathBuf::from(path))),
    };
    let words = std::iter::once(manager.program).chain(manager.args.iter().copied());
    let action = RepairAction::Run {
        args: words.map(str::to_owned).collect(),
    };
    let does = format!("install what {} names into {}", manager.lock, manager.makes);
    let environment = manager
        .environment
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let plan = Plan::new(action, does, Deed::RunTools(run)).setting(environment.collect());
    Some(match doubt(scene, manager) {
        Some(why) => Verdict::ask(plan, why),
        None => match manifest.says.elsewhere.first() {
            Some(place) => Verdict::ask(
                plan,
                format!("{} fetches from elsewhere ({place})", manager.manifest),
            ),
            None => Verdict::Allowed(plan),
        },
    })
}

fn doubt(scene: &Scene<'_>, manager: &Manager) -> Option<String> {
    let root: &Path = scene.root;
    if !scene.declared.has(manager.lock) {
        return Some(format!(
            "there was no {} when the run began: it would be written",
            manager.lock
        ));
    }
    let changed = [manager.manifest, manager.lock];
    let changed = changed
        .iter()
        .find(|path| !scene.declared.is_unchanged(root, path));
    changed.map(|path| format!("{path} was changed during the run"))
}
