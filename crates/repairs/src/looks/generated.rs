use std::path::PathBuf;

use regreen_model::{Failure, FailureKind, RepairAction};

use crate::declared::{DeclaredFile, FileKind, Target};
use crate::plan::{Check, Deed, Plan, ToolRun};
use crate::runner::ToolCall;
use crate::scene::Scene;
use crate::text;
use crate::verdict::Verdict;

/// Where targets are declared, and what runs them.
const TOOLS: [(FileKind, &str, &[&str]); 3] = [
    (FileKind::Makefile, "make", &["-s", "--"]),
    (FileKind::Justfile, "just", &["--"]),
    (FileKind::PackageJson, "npm", &["run", "--silent"]),
];

/// A target that was declared when the run began, and what is known of it.
pub(super) struct Declaration<'d> {
    pub(super) path: &'d str,
    pub(super) file: &'d DeclaredFile,
    pub(super) target: &'d Target,
}

/// A missing file that a declared target makes.
pub(super) fn look(scene: &Scene<'_>, failure: &Failure) -> Option<Verdict> {
    let missing = missing(scene, failure);
    let all = declarations(scene);
    let mut makers = all.iter().filter_map(|declaration| {
        let output = made(scene, declaration, &missing)?;
        Some((declaration, output))
    });
    let (declaration, output) = makers.next()?;
    Some(match makers.find(|(_, other)| *other != output) {
        Some(_) => Verdict::refused("several targets make a file of that name"),
        None => run(
            scene,
            declaration,
            Check::Exists(output.clone()),
            &format!("make {}", output.display()),
        )?,
    })
}

/// All targets of the project.
pub(super) fn declarations<'d>(scene: &Scene<'d>) -> Vec<Declaration<'d>> {
    let declared = scene.declared;
    let files = TOOLS.iter().flat_map(|(kind, ..)| declared.of_kind(*kind));
    files
        .flat_map(|(path, file)| {
            file.says
                .targets
                .iter()
                .map(move |target| Declaration { path, file, target })
        })
        .collect()
}

/// What the missing file may be called, from the root or as an ending.
fn missing(scene: &Scene<'_>, failure: &Failure) -> Vec<String> {
    match failure.kind {
        FailureKind::MissingPythonModule => {
            let module = text::python_module(failure)
                .unwrap_or_default()
                .replace('.', "/");
            let files = [format!("{module}.py"), format!("{module}/__init__.py")];
            if module.is_empty() {
                Vec::new()
            } else {
                files.into()
            }
        }
        FailureKind::MissingFile | FailureKind::MissingNodeModule | FailureKind::CompileError => {
            let words = text::words(text::blocker(failure)).into_iter();
            let paths = words.filter(|word| word.contains(['.', '/']) && !word.contains('*'));
            paths.flat_map(|word| spellings(scene, word)).collect()
        }
        _ => Vec::new(),
    }
}

/// A path from the root; what is imported may lack its ending.
fn spellings(scene: &Scene<'_>, word: &str) -> Vec<String> {
    let base = match scene.locate(word) {
        Some(place) => place.to_string(),
        None => word
            .trim_start_matches("../")
            .trim_start_matches("./")
            .to_owned(),
    };
    let endings = ["", ".js", ".ts", ".mjs", ".cjs", ".json", "/index.js"];
    let plain = !base.is_empty() && !base.starts_with('/') && !base.contains("..");
    let spelled = endings.iter().map(|ending| format!("{base}{ending}"));
    spelled.filter(|_| plain).collect()
}

/// The missing file that a target makes.
fn made(scene: &Scene<'_>, declaration: &Declaration<'_>, missing: &[String]) -> Option<PathBuf> {
    let folder = folder_of(declaration.path);
    declaration.target.makes.iter().find_map(|made| {
        let full = folder.join(made);
        let is_it = |name: &String| full.ends_with(name);
        let is_absent = scene.root.join(&full).symlink_metadata().is_err();
        (missing.iter().any(is_it) && is_absent).then_some(full)
    })
}

fn folder_of(path: &str) -> PathBuf {
    path.rsplit_once('/')
        .map(|(folder, _)| PathBuf::from(folder))
        .unwrap_or_default()
}

/// Runs a declared target, as it was declared.
pub(super) fn run(
    scene: &Scene<'_>,
    declaration: &Declaration<'_>,
    check: Check,
    what: &str,
) -> Option<Verdict> {
    let (_, program, args) = TOOLS
        .iter()
        .find(|(kind, ..)| *kind == declaration.file.kind)?;
    let name = declaration.target.name.as_str();
    let tool = scene.tool(program)?;
    let mut argv: Vec<std::ffi::OsString> = vec![tool.into_os_string()];
    argv.extend(args.iter().map(Into::into));
    argv.push(name.into());
    let run = ToolRun {
        calls: vec![ToolCall::new(argv).within(folder_of(declaration.path))],
        check,
        ..ToolRun::default()
    };
    let action = RepairAction::Run {
        args: words(program, name),
    };
    let shown = words(program, name).join(" ");
    let does = format!("run `{shown}` of {} to {what}", declaration.path);
    let plan = Plan::new(action, does, Deed::RunTools(run));
    let is_unchanged = scene.declared.is_unchanged(scene.root, declaration.path);
    Some(match grave_word(declaration.file, name) {
        _ if !is_unchanged => Verdict::ask(
            plan,
            format!("{} was changed during the run", declaration.path),
        ),
        Some(word) => Verdict::ask(plan, format!("its recipe has `{}`", word.trim())),
        None => Verdict::Allowed(plan),
    })
}

fn words(program: &str, name: &str) -> Vec<String> {
    let words = match program {
        "npm" => vec!["npm", "run", name],
        program => vec![program, name],
    };
    words.into_iter().map(str::to_owned).collect()
}

/// In the recipe of the target or of what is made before it.
fn grave_word<'d>(file: &'d DeclaredFile, name: &str) -> Option<&'d str> {
    let (mut open, mut seen) = (vec![name.to_owned()], Vec::new());
    while let Some(name) = open.pop() {
        let targets = file
            .says
            .targets
            .iter()
            .filter(|target| target.name == name);
        for target in targets {
            if let Some(word) = &target.grave {
                return Some(word);
            }
            let fresh = target.needs.iter().filter(|need| !seen.contains(*need));
            open.extend(fresh.cloned());
        }
        seen.push(name);
    }
    None
}
