use regreen_model::{Failure, RepairAction};
use regreen_workspace::RelPath;

use crate::declared::FileKind;
use crate::names;
use crate::plan::{Deed, Plan, ToolRun};
use crate::runner::ToolCall;
use crate::scene::Scene;
use crate::verdict::Verdict;

/// Modules that go.mod names and that are not there yet.
pub(super) fn look(scene: &Scene<'_>, failure: &Failure) -> Option<Verdict> {
    let package = match &failure.repair {
        Some(RepairAction::GoGet { args }) => args.first()?,
        Some(RepairAction::Run { args }) if args.first().is_some_and(|word| word == "go") => {
            return Some(Verdict::persons(
                &args.join(" "),
                "it changes go.mod and go.sum, which people review",
            ));
        }
        _ => return None,
    };
    if !names::is_go_module(package) {
        return Some(Verdict::refused(format!(
            "`{}` is not the name of a module",
            package.escape_debug()
        )));
    }
    let mut manifests = scene.declared.of_kind(FileKind::GoMod);
    let has = |module: &str| {
        package == module
            || package
                .strip_prefix(module)
                .is_some_and(|rest| rest.starts_with('/'))
    };
    let home =
        manifests.find(|(_, file)| file.says.packages.iter().any(|module| has(&module.name)));
    let Some((path, file)) = home else {
        let why = format!("go.mod did not name {package} when the run began");
        return Some(Verdict::persons(&format!("go get {package}"), why));
    };
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let sum = if folder.is_empty() {
        "go.sum".to_owned()
    } else {
        format!("{folder}/go.sum")
    };
    let go = scene.tool("go")?.into_os_string();
    let run = ToolRun {
        calls: vec![ToolCall::new([go, "mod".into(), "download".into()]).within(folder)],
        keeps: [path, sum.as_str()]
            .iter()
            .filter_map(|path| RelPath::new(*path).ok())
            .collect(),
        ..ToolRun::default()
    };
    let action = RepairAction::Run {
        args: ["go", "mod", "download"].map(str::to_owned).into(),
    };
    let plan = Plan::new(
        action,
        format!("download what {path} names"),
        Deed::RunTools(run),
    );
    Some(match file.says.elsewhere.first() {
        _ if !scene.declared.is_unchanged(scene.root, path) => {
            Verdict::ask(plan, format!("{path} was changed during the run"))
        }
        Some(place) => Verdict::ask(plan, format!("{path} fetches from elsewhere ({place})")),
        None => Verdict::Allowed(plan),
    })
}
