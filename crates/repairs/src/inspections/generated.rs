use std::path::{Path, PathBuf};

use regreen_model::{Failure, FailureKind, RepairAction};
use regreen_workspace::RelPath;

use crate::context::RepairContext;
use crate::failure_text;
use crate::inspect::Proposal;
use crate::manifests::{FileKind, ManifestFile, Target, beside};
use crate::plan::ToolCall;
use crate::plan::{Action, Check, RepairPlan, ToolRun};

/// The files that declare targets, and the programs that run them. The arguments name the file
/// where possible, because another file beside it may take precedence, and disable make's built-in
/// rules, which could rebuild the Makefile.
const TOOLS: [(FileKind, &str, &[&str], bool); 3] = [
    (FileKind::Makefile, "make", &["-s", "-r", "-f"], true),
    (
        FileKind::Justfile,
        "just",
        &["--no-dotenv", "--justfile"],
        true,
    ),
    (FileKind::PackageJson, "npm", &["run", "--silent"], false),
];

/// Variables that make `make` read other files or use other options.
const STEERING: [&str; 4] = ["MAKEFLAGS", "MAKEFILES", "GNUMAKEFLAGS", "MFLAGS"];

/// A target that was declared when the run started.
pub(super) struct DeclaredTarget<'d> {
    pub(super) path: &'d str,
    pub(super) file: &'d ManifestFile,
    pub(super) target: &'d Target,
}

/// Handles a missing file that a declared target creates.
pub(super) fn inspect(context: &RepairContext<'_>, failure: &Failure) -> Option<Proposal> {
    let missing = missing(context, failure);
    let all = declared_targets(context);
    let mut makers = all.iter().filter_map(|declaration| {
        let output = made(context, declaration, &missing)?;
        Some((declaration, output))
    });
    let (declaration, output) = makers.next()?;
    Some(match makers.find(|(_, other)| *other != output) {
        Some(_) => Proposal::refused("several targets make a file of that name"),
        None => run(
            context,
            declaration,
            Check::Exists(output.clone()),
            &format!("make {}", output.display()),
        )?,
    })
}

/// Lists all targets of the project.
pub(super) fn declared_targets<'d>(context: &RepairContext<'d>) -> Vec<DeclaredTarget<'d>> {
    let declared = context.manifests;
    let files = TOOLS.iter().flat_map(|(kind, ..)| declared.of_kind(*kind));
    files
        .flat_map(|(path, file)| {
            file.content
                .targets
                .iter()
                .map(move |target| DeclaredTarget { path, file, target })
        })
        .collect()
}

/// Returns possible names of the missing file, relative to the root or as a suffix.
fn missing(context: &RepairContext<'_>, failure: &Failure) -> Vec<String> {
    match failure.kind {
        FailureKind::MissingPythonModule => {
            let module = failure_text::python_module(failure)
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
            let words = failure_text::words(failure_text::blocker(failure)).into_iter();
            let paths = words.filter(|word| word.contains(['.', '/']) && !word.contains('*'));
            paths.flat_map(|word| spellings(context, word)).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the paths that a word may refer to; an import may lack the extension.
fn spellings(context: &RepairContext<'_>, word: &str) -> Vec<String> {
    let base = match context.locate(word) {
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

/// Returns the missing file that a target creates.
fn made(
    context: &RepairContext<'_>,
    declaration: &DeclaredTarget<'_>,
    missing: &[String],
) -> Option<PathBuf> {
    let folder = folder_of(declaration.path);
    declaration.target.makes.iter().find_map(|made| {
        let full = folder.join(made);
        let is_it = |name: &String| full.ends_with(name);
        let is_absent = context.root.join(&full).symlink_metadata().is_err();
        (missing.iter().any(is_it) && is_absent).then_some(full)
    })
}

/// Returns the first file that a target, or one that it depends on, creates and that does not exist.
pub(super) fn missing_output(
    context: &RepairContext<'_>,
    declaration: &DeclaredTarget<'_>,
) -> Option<PathBuf> {
    let folder = folder_of(declaration.path);
    let all = with_needs(declaration.file, &declaration.target.name);
    let made = all.iter().flat_map(|target| &target.makes);
    made.map(|made| folder.join(made))
        .filter(|made| made.components().count() > 1 || made.extension().is_some())
        .find(|made| context.root.join(made).symlink_metadata().is_err())
}

fn folder_of(path: &str) -> PathBuf {
    path.rsplit_once('/')
        .map(|(folder, _)| PathBuf::from(folder))
        .unwrap_or_default()
}

/// Proposes to run a target exactly as declared.
pub(super) fn run(
    context: &RepairContext<'_>,
    declaration: &DeclaredTarget<'_>,
    check: Check,
    what: &str,
) -> Option<Proposal> {
    let (_, program, args, is_named) = TOOLS
        .iter()
        .find(|(kind, ..)| *kind == declaration.file.kind)?;
    let name = declaration.target.name.as_str();
    let tool = context.tool(program)?;
    let mut argv: Vec<std::ffi::OsString> = vec![tool.into_os_string()];
    argv.extend(args.iter().map(Into::into));
    if *is_named {
        argv.push(Path::new(declaration.path).file_name()?.into());
        argv.push("--".into());
    }
    argv.push(name.into());
    let mut call = ToolCall::new(argv).in_folder(folder_of(declaration.path));
    let steering = STEERING.map(|name| (name.into(), None));
    call.environment.extend(steering);
    let run = ToolRun {
        calls: vec![call],
        writes_to: written_folders(declaration),
        check,
        ..ToolRun::default()
    };
    let recorded = RepairAction::Run {
        args: words(program, name),
    };
    let shown = words(program, name).join(" ");
    let does = format!("run `{shown}` of {} to {what}", declaration.path);
    let plan = RepairPlan::new(recorded, does, Action::RunTools(run));
    Some(Proposal::allowed_unless(doubt(context, declaration), plan))
}

/// Returns why a person should decide: the target has changed, or does more than create files.
fn doubt(context: &RepairContext<'_>, declaration: &DeclaredTarget<'_>) -> Option<String> {
    let path = declaration.path;
    let changed = |path: &str| format!("{path} was changed during the run");
    if !context.manifests.is_unchanged(context.root, path) {
        return Some(changed(path));
    }
    let all = with_needs(declaration.file, &declaration.target.name);
    if let Some(word) = all.iter().find_map(|target| target.risk.as_deref()) {
        return Some(format!("its recipe contains `{}`", word.trim()));
    }
    let mut scripts = all.iter().flat_map(|target| &target.scripts);
    let other = scripts.find_map(|script| match beside(path, script) {
        Some(script) if context.manifests.has(&script) => {
            context.manifests.changed_import(context.root, &script)
        }
        _ => Some(script.clone()),
    });
    if let Some(script) = other {
        return Some(changed(&script));
    }
    (declaration.file.kind == FileKind::PackageJson)
        .then(|| steered(context, path, &all))
        .flatten()
}

/// Checks what influences npm scripts: its settings, and `node_modules/.bin`, which comes first in
/// PATH.
fn steered(context: &RepairContext<'_>, path: &str, all: &[&Target]) -> Option<String> {
    let folder = folder_of(path);
    let folders = || folder.ancestors();
    let mut settings = folders().map(|folder| folder.join(".npmrc").display().to_string());
    let changed = settings.find(|file| !context.manifests.is_as_it_was(context.root, file));
    if let Some(file) = changed {
        return Some(format!("{file} was changed during the run"));
    }
    let programs = all.iter().flat_map(|target| &target.programs);
    let plain = programs.filter(|program| !program.contains('/'));
    let mut places = plain.flat_map(|program| {
        folders().map(move |folder| folder.join("node_modules/.bin").join(program))
    });
    let shadow = places.find(|place| context.root.join(place).symlink_metadata().is_ok())?;
    Some(format!("it would run {}", shadow.display()))
}

fn words(program: &str, name: &str) -> Vec<String> {
    let words = match program {
        "npm" => vec!["npm", "run", name],
        program => vec![program, name],
    };
    words.into_iter().map(str::to_owned).collect()
}

/// Returns the folders that the recipes write to.
fn written_folders(declaration: &DeclaredTarget<'_>) -> Vec<RelPath> {
    let all = with_needs(declaration.file, &declaration.target.name);
    let made = all.iter().flat_map(|target| &target.makes);
    let made = made.filter_map(|made| beside(declaration.path, made));
    let folders = made.filter_map(|made| Some(made.rsplit_once('/')?.0.to_owned()));
    folders
        .filter_map(|folder| RelPath::new(folder).ok())
        .collect()
}

/// Returns the target and everything it depends on.
fn with_needs<'d>(file: &'d ManifestFile, name: &str) -> Vec<&'d Target> {
    let (mut open, mut seen, mut all) = (vec![name.to_owned()], Vec::new(), Vec::new());
    while let Some(name) = open.pop() {
        if seen.contains(&name) {
            continue;
        }
        let targets = file.content.targets.iter();
        for target in targets.filter(|target| target.name == name) {
            open.extend(target.needs.iter().cloned());
            all.push(target);
        }
        seen.push(name);
    }
    all
}
