//! Failures in a project's own words. No known tool wrote the line, so its words prove nothing; but
//! the project's manifests may name what it says is missing, and then the repair is as safe as if a
//! tool had asked for it.

use std::path::PathBuf;

use regreen_model::{Failure, FailureKind};
use regreen_workspace::{MAX_FILE, read_text_file};

use super::generated::{self, DeclaredTarget, declared_targets};
use super::{Inspect, cache, env_file, lock, missing_folder, node, python, scripts};
use crate::context::RepairContext;
use crate::failure_text;
use crate::inspect::Proposal;
use crate::manifests::{FileKind, beside};
use crate::plan::Check;

/// Words that say that something is missing.
const ABSENCE: [&str; 24] = [
    "missing",
    "not there",
    "not here",
    "not found",
    "not installed",
    "not available",
    "isn't installed",
    "isn't there",
    "needs ",
    "requires ",
    "depends on ",
    "cannot import",
    "cannot find",
    "can't find",
    "cannot load",
    "can't load",
    "could not load",
    "could not import",
    "could not find",
    "failed to import",
    "is needed",
    "is required",
    "must be installed",
    "unavailable",
];

/// Words that deny something. A package that they are about counts only if a manifest names it and it
/// is not installed.
const DENIALS: [&str; 12] = [
    "no", "not", "nowhere", "without", "lacks", "lack", "absent", "gone", "never", "cannot",
    "can't", "nobody",
];

/// Words about the right to execute a file.
const EXECUTION: [&str; 10] = [
    "execut",
    "+x",
    "x flag",
    "x bit",
    "x-bit",
    "exec bit",
    "chmod",
    "runnable",
    "be started",
    "file mode",
];

/// Words about how lines end.
const LINE_ENDS: [&str; 7] = [
    "line end",
    "line-end",
    "line break",
    "newline",
    "windows",
    "crlf",
    "carriage",
];

/// Words that say that a cache cannot be used.
const SPOILT: &[&str] = &[
    "stale",
    "outdated",
    "another",
    "different",
    "other version",
    "old ",
    "older",
    "release",
    "version",
    "broken",
    "damaged",
    "unusable",
    "unreadable",
    "cannot use",
    "can't use",
    "invalid",
    "mismatch",
    "match",
    "expired",
];

/// Whether a line may mean a kind of failure.
type MayMean = fn(&str) -> bool;

/// Kinds of failures that such a line may mean, with the inspections that look for proof.
const MEANINGS: [(FailureKind, Inspect, MayMean); 8] = [
    (
        FailureKind::MissingEnvVar,
        env_file::inspect,
        names_variable,
    ),
    (FailureKind::MissingFile, env_file::inspect, |_| true),
    (FailureKind::MissingFile, generated::inspect, says_absent),
    (
        FailureKind::NotExecutable,
        scripts::inspect_executable,
        |line| mentions(line, &EXECUTION),
    ),
    (
        FailureKind::CrlfScript,
        scripts::inspect_line_ends,
        |line| mentions(line, &LINE_ENDS),
    ),
    (FailureKind::StaleLock, lock::inspect, |_| true),
    (
        FailureKind::DataCorrupt,
        cache::inspect,
        names_spoilt_folder,
    ),
    // Last: a folder that is missing is often one that a script of the project makes.
    (FailureKind::MissingFile, missing_folder::inspect, |line| {
        says_absent(line) && mentions(line, &["folder", "director"])
    }),
];

/// Returns whether no rule knows what the line means.
fn is_in_own_words(failure: &Failure) -> bool {
    let kinds = [
        FailureKind::RuntimeException,
        FailureKind::MissingFile,
        FailureKind::MissingCommand,
        FailureKind::MissingPythonModule,
    ];
    kinds.contains(&failure.kind) && failure.repair.is_none()
}

/// Handles a line that says in other words that something is missing that a manifest names, or that
/// names something in the workspace which is proven to be in the way.
pub(super) fn inspect(context: &RepairContext<'_>, failure: &Failure) -> Option<Proposal> {
    if !is_in_own_words(failure) {
        return None;
    }
    let line = failure_text::blocker(failure);
    let is_absence = says_absent(line);
    let package = || {
        let words = failure_text::words(line);
        let words = words.into_iter().filter(|_| is_absence);
        let proposals = words.filter_map(|word| {
            python::inspect_declared(context, word)
                .or_else(|| node::inspect_declared(context, failure, word))
        });
        // A word that names a package which is there is about something else.
        let mut proposals = proposals.filter(|one| !matches!(one, Proposal::Refused(_)));
        proposals.next()
    };
    package().or_else(|| proven(context, failure))
}

/// Handles a line that names a declared target which makes a file that is not there.
pub(super) fn inspect_target(context: &RepairContext<'_>, failure: &Failure) -> Option<Proposal> {
    let line = failure_text::blocker(failure);
    is_in_own_words(failure)
        .then(|| named_target(context, line))
        .flatten()
}

/// Tries what the line may mean, and returns the first repair that the workspace itself proves to be
/// safe: the line only says where to look.
fn proven(context: &RepairContext<'_>, failure: &Failure) -> Option<Proposal> {
    let line = failure_text::blocker(failure);
    let meanings = MEANINGS.iter().filter(|(.., may_mean)| may_mean(line));
    let mut proposals = meanings.filter_map(|(kind, inspect, _)| {
        let meant = Failure {
            kind: *kind,
            ..failure.clone()
        };
        inspect(context, &meant)
    });
    proposals.find(|one| matches!(one, Proposal::Allowed(_)))
}

fn mentions(line: &str, words: &[&str]) -> bool {
    let said = line.to_ascii_lowercase();
    words.iter().any(|word| said.contains(word))
}

fn says_absent(line: &str) -> bool {
    mentions(line, &ABSENCE) || denies(line)
}

fn denies(line: &str) -> bool {
    let said = line.to_ascii_lowercase();
    let mut words = said.split(|c: char| !c.is_alphanumeric() && c != '\'');
    words.any(|word| DENIALS.contains(&word) || word.ends_with("n't"))
}

/// Returns whether a word of the line looks like a variable.
fn names_variable(line: &str) -> bool {
    let is_variable = |word: &&str| {
        let name = word.trim_start_matches('$');
        let is_letter = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        name.len() >= 3 && name.contains('_') && name.chars().all(is_letter)
    };
    failure_text::words(line).iter().any(is_variable)
}

/// Returns whether the line itself names a folder or file, and says that it cannot be used.
fn names_spoilt_folder(line: &str) -> bool {
    let said = line.to_ascii_lowercase();
    let words = failure_text::words(line);
    let names_path = words
        .iter()
        .any(|word| word.contains('/') || word.starts_with('.'));
    names_path && SPOILT.iter().any(|word| said.contains(word))
}

/// How scripts name a target of each kind of file.
const RUNNERS: [(&str, FileKind); 4] = [
    ("make ", FileKind::Makefile),
    ("just ", FileKind::Justfile),
    ("npm run ", FileKind::PackageJson),
    ("yarn ", FileKind::PackageJson),
];

/// Returns the line from where the runner stands as a word: `cmake x` is no `make x`.
fn from_word<'l>(line: &'l str, runner: &str) -> Option<&'l str> {
    let mut found = line.match_indices(runner);
    let is_word = |at: usize| !line[..at].ends_with(|before: char| before.is_alphanumeric());
    found
        .find(|(at, _)| is_word(*at))
        .map(|(at, _)| &line[at..])
}

/// Finds the target that a line names. What the target does is known from the file that declares it,
/// and from the scripts that it runs, not from the line.
fn named_target(context: &RepairContext<'_>, line: &str) -> Option<Proposal> {
    let all = declared_targets(context);
    let (declaration, output) = RUNNERS.iter().find_map(|(runner, kind)| {
        let name = failure_text::after(from_word(line, runner)?, runner)?
            .trim_end_matches(['.', ',', ')', '`', '\'', '"', '?', '!', ':', ';']);
        let is_it = |one: &&DeclaredTarget<'_>| one.file.kind == *kind && one.target.name == name;
        let declaration = all.iter().find(is_it)?;
        let output = generated::missing_output(context, declaration)
            .or_else(|| output_of_script(context, declaration, line))?;
        Some((declaration, output))
    })?;
    let what = format!("make {}", output.display());
    generated::run(context, declaration, Check::Exists(output), &what)
}

/// Returns the file that the line names, if it is not there and a script of the target contains its
/// path.
fn output_of_script(
    context: &RepairContext<'_>,
    declaration: &DeclaredTarget<'_>,
    line: &str,
) -> Option<PathBuf> {
    let scripts = declaration.target.scripts.iter();
    let places = scripts.filter_map(|script| beside(declaration.path, script));
    let texts: Vec<String> = places
        .filter_map(|script| read_text_file(&context.root.join(script), MAX_FILE).ok())
        .collect();
    let words = failure_text::words(line).into_iter();
    let paths = words.filter(|word| word.contains('/') && !word.starts_with('/'));
    let mut absent = paths.filter_map(|word| {
        let place = context.locate(word)?;
        let is_absent = place.under(context.root).symlink_metadata().is_err();
        let is_written = || texts.iter().any(|text| text.contains(word));
        (is_absent && is_written()).then(|| PathBuf::from(place.to_string()))
    });
    absent.next()
}
