use std::ffi::OsString;

use regreen_model::{Failure, FailureKind, RepairAction};

use crate::declared::FileKind;
use crate::plan::{Deed, Plan, ToolRun};
use crate::runner::ToolCall;
use crate::scene::Scene;
use crate::text;
use crate::verdict::Verdict;

/// A missing file in a submodule that was not fetched: fetching is a person's to say.
pub(super) fn look(scene: &Scene<'_>, failure: &Failure) -> Option<Verdict> {
    let kinds = [
        FailureKind::MissingFile,
        FailureKind::MissingPythonModule,
        FailureKind::MissingManifest,
        FailureKind::CompileError,
    ];
    if !kinds.contains(&failure.kind) {
        return None;
    }
    let submodule = text::words(text::blocker(failure))
        .into_iter()
        .find_map(|word| {
            let place = scene.locate(word)?;
            let mut listed = scene
                .declared
                .of_kind(FileKind::Gitmodules)
                .flat_map(|(_, file)| &file.says.includes);
            listed.find(|folder| place.is_within(folder) && is_empty(scene, folder))
        })?;
    let Some(git) = scene.tool("git") else {
        return Some(Verdict::refused("git is not installed"));
    };
    let args = ["submodule", "update", "--init", "--", submodule];
    let words = std::iter::once("git").chain(args);
    let action = RepairAction::Run {
        args: words.map(str::to_owned).collect(),
    };
    let argv = std::iter::once(git.into_os_string()).chain(args.map(OsString::from));
    let run = ToolRun {
        calls: vec![ToolCall::new(argv)],
        ..ToolRun::default()
    };
    let plan = Plan::new(
        action,
        format!("fetch the submodule {submodule}"),
        Deed::RunTools(run),
    );
    Some(Verdict::ask(plan, "it fetches code from a remote"))
}

fn is_empty(scene: &Scene<'_>, folder: &str) -> bool {
    let Some(place) = crate::folder::locate(scene.root, folder) else {
        return false;
    };
    let entries = std::fs::read_dir(place.under(scene.root));
    entries.map_or(true, |mut entries| entries.next().is_none())
}
