use regreen_model::{Failure, FailureKind, RepairAction};
use regreen_workspace::{MAX_FILE, PathStatus, RelPath, path_status, read_text_file};

use crate::context::RepairContext;
use crate::failure_text;
use crate::folder::locate;
use crate::inspect::Proposal;
use crate::plan::{Action, RepairPlan};

/// Prefixes and suffixes of example files.
const EXAMPLES: [(&str, &str); 10] = [
    ("", ".example"),
    ("", ".sample"),
    ("", ".template"),
    ("", ".dist"),
    ("", ".defaults"),
    ("", "-example"),
    ("", "-sample"),
    ("", ".tmpl"),
    ("example", ""),
    ("sample", ""),
];

/// Proposes to copy an example to the missing file: `.env` automatically, others with consent.
pub(super) fn inspect(context: &RepairContext<'_>, failure: &Failure) -> Option<Proposal> {
    let wanted = wanted(context, failure)?;
    let variables = variables(failure);
    let is_env = is_env(&wanted);
    if failure.kind == FailureKind::MissingEnvVar && !is_env {
        return None;
    }
    if wanted.under(context.root).symlink_metadata().is_ok() {
        let is_about_it = failure.kind == FailureKind::MissingEnvVar;
        return is_about_it.then(|| {
            Proposal::for_person(
                "a value for the environment",
                format!("{wanted} exists; edit it yourself"),
            )
        });
    }
    let example = example_of(context, &wanted)?;
    let text = read_text_file(&example.under(context.root), MAX_FILE).ok()?;
    let does = format!("copy {example} to {wanted}");
    let recorded = RepairAction::CopyFile {
        args: vec![example.to_string(), wanted.to_string()],
    };
    let plan = RepairPlan::new(
        recorded,
        does,
        Action::CopyFile {
            from: example.clone(),
            to: wanted.clone(),
        },
    );
    if !is_env {
        return Some(of_settings(context, plan, &wanted, &example));
    }
    let missing = variables.iter().find_map(|name| value_of(&text, name));
    let is_about_a_value = failure.kind == FailureKind::MissingEnvVar && !variables.is_empty();
    match missing.filter(|_| is_about_a_value) {
        None if is_about_a_value => None,
        Some("") => Some(Proposal::ask(
            plan,
            format!("{example} has no value for what is missing"),
        )),
        _ => Some(unless_committed(context, plan, &wanted)),
    }
}

/// Allows to copy settings only if the project says twice that the copy belongs there: git ignores
/// it, and it is the output of the project's own command that names both files, or the example is
/// tracked beside it.
fn of_settings(
    context: &RepairContext<'_>,
    plan: RepairPlan,
    wanted: &RelPath,
    example: &RelPath,
) -> Proposal {
    let is_ignored = path_status(context.root, wanted) == PathStatus::Ignored;
    let is_tracked = path_status(context.root, example) == PathStatus::Tracked;
    let is_named = || {
        let name = example.to_string();
        failure_text::tail(context.output).any(|line| failure_text::words(line).contains(&&*name))
    };
    let has_no_repository = path_status(context.root, wanted) == PathStatus::NoRepository;
    if (is_ignored && is_tracked) || ((is_ignored || has_no_repository) && is_named()) {
        return Proposal::Allowed(plan);
    }
    Proposal::ask(plan, format!("{example} may not be meant for this place"))
}

/// Asks if git would commit the copy, because settings files often hold secrets.
fn unless_committed(context: &RepairContext<'_>, plan: RepairPlan, copy: &RelPath) -> Proposal {
    match path_status(context.root, copy) {
        PathStatus::Ignored | PathStatus::NoRepository => Proposal::Allowed(plan),
        PathStatus::Tracked | PathStatus::Untracked | PathStatus::Unknown => Proposal::ask(
            plan,
            format!("it would be committed: git does not ignore {copy}"),
        ),
    }
}

fn is_env(path: &RelPath) -> bool {
    let name = path.as_path().file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name == ".env" || name.starts_with(".env."))
}

/// Returns the missing file: the one that the line names, or `.env` if a variable is missing.
fn wanted(context: &RepairContext<'_>, failure: &Failure) -> Option<RelPath> {
    if failure.kind == FailureKind::MissingEnvVar {
        let inner = context.folders().map(|folder| format!("{folder}/.env"));
        let mut places = inner.filter_map(|path| locate(context.root, &path));
        let with_example = places.find(|place| example_of(context, place).is_some());
        return with_example.or_else(|| locate(context.root, ".env"));
    }
    if failure.kind != FailureKind::MissingFile {
        return None;
    }
    let words = failure_text::words(failure_text::blocker(failure)).into_iter();
    let places = words.filter_map(|word| context.locate(word));
    let absent = |place: &RelPath| place.under(context.root).symlink_metadata().is_err();
    places
        .filter(absent)
        .find(|place| example_of(context, place).is_some())
}

/// Finds the example, such as `.env.example`, `config.example.yml` or `config.yml.dist`.
fn example_of(context: &RepairContext<'_>, path: &RelPath) -> Option<RelPath> {
    let path = path.to_string();
    let (folder, name) = path
        .rsplit_once('/')
        .map_or(("", path.as_str()), |(folder, name)| (folder, name));
    let inner = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty());
    let mut names: Vec<String> = EXAMPLES
        .iter()
        .map(|(before, after)| format!("{before}{name}{after}"))
        .collect();
    names.push(format!("{}.example", name.trim_start_matches('.')));
    if let Some((stem, ending)) = inner {
        names.extend(["example", "sample", "dist"].map(|word| format!("{stem}.{word}.{ending}")));
    }
    let paths = names.into_iter().map(|name| {
        if folder.is_empty() {
            name
        } else {
            format!("{folder}/{name}")
        }
    });
    let places = paths.filter_map(|path| RelPath::new(path).ok());
    let is_file = |place: &RelPath| {
        place
            .under(context.root)
            .symlink_metadata()
            .is_ok_and(|stat| stat.is_file())
    };
    let mut there = places.filter(is_file);
    there.next()
}

/// Returns the words that look like variables.
fn variables(failure: &Failure) -> Vec<&str> {
    let is_variable = |word: &&str| {
        word.len() >= 3
            && word
                .chars()
                .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
    };
    let words = failure_text::words(failure_text::blocker(failure)).into_iter();
    words
        .map(|word| word.trim_start_matches('$'))
        .filter(is_variable)
        .collect()
}

/// Returns the value of a variable in an example.
fn value_of<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let lines = text
        .lines()
        .map(|line| line.trim().trim_start_matches("export ").trim());
    lines
        .filter_map(|line| line.split_once('='))
        .find(|(key, _)| key.trim() == name)
        .map(|(_, value)| value.trim().trim_matches(['\'', '"']))
}
