//! Reads what an attempt changed for signs that it weakened a check.

use std::collections::BTreeSet;

use regreen_documents::TaskFile;
use regreen_model::{AttemptClass, AttemptReport, PlainLine, SUMMARY_CHARS, TamperPolicy, TaskKey};
use regreen_redaction::Masks;
use regreen_tampering::{
    CheckContext, FileChange, Judgement, TamperSign, judge, signs_of_tampering,
};
use regreen_workspace::{AttemptName, MAX_FILE, RelPath, read_text_file};

use super::ignored_files::{ScriptChange, changed_scripts, restore_scripts};
use crate::performer::{PerformError, Performer};

/// Attempts that changed more files than this are not read: they generated or moved them.
const MAX_FILES: usize = 500;

/// The most signs that are named.
const MAX_NAMED: usize = 6;

/// Names the signs that an attempt weakened a check. If they fail the attempt, restores the files.
pub(super) fn review_checks(
    performer: &mut Performer,
    name: &AttemptName,
    task: &TaskKey,
    changed: &[RelPath],
    report: AttemptReport,
) -> Result<AttemptReport, PerformError> {
    let policy = performer.tamper;
    if policy == TamperPolicy::Off || changed.len() > MAX_FILES {
        return Ok(report);
    }
    let scripts = changed_scripts(performer);
    if changed.is_empty() && scripts.is_empty() {
        return Ok(report);
    }
    let file = performer.plan.latest()?;
    let own_files = own_files(&file, task);
    let commands = performer.known_commands.iter().chain(&performer.gate);
    let commands: Vec<String> = commands.cloned().collect();
    let context = CheckContext {
        commands: &commands,
        own_files: &own_files,
    };
    let signs = signs_in(performer, name, changed, &scripts, &context)?;
    match judge(policy, &signs, &context) {
        Judgement::Accepted => Ok(report),
        Judgement::Failed if report.class == AttemptClass::Ordinary => {
            let foreign: Vec<&TamperSign> = signs
                .iter()
                .filter(|sign| !context.is_own(&sign.path))
                .collect();
            let restored = restore(performer, name, task, &foreign)?;
            Ok(failed(
                report,
                &told(&performer.context.processes.masks, &foreign),
                &restored,
            ))
        }
        Judgement::Failed | Judgement::Warned => {
            let signs: Vec<&TamperSign> = signs.iter().collect();
            performer.notices.add(format!(
                "attempt {} of task {} may have weakened a check: {}",
                name.attempt,
                name.task,
                told(&performer.context.processes.masks, &signs)
            ));
            Ok(report)
        }
    }
}

fn signs_in(
    performer: &Performer,
    name: &AttemptName,
    changed: &[RelPath],
    scripts: &[ScriptChange],
    context: &CheckContext<'_>,
) -> Result<Vec<TamperSign>, PerformError> {
    let mut paths: BTreeSet<RelPath> = changed.iter().cloned().collect();
    let before = performer.tree.texts_before(name, &paths)?;
    if before.is_none() {
        paths.clear();
    }
    let before = before.unwrap_or_default();
    let root = &performer.paths.root;
    let read: Vec<(String, Option<&String>, Option<String>)> = paths
        .iter()
        .map(|path| {
            let place = path.under(root);
            let after = read_text_file(&place, MAX_FILE).ok();
            // A link to a device, for example: whoever reads it gets nothing.
            let is_special = || place.metadata().is_ok_and(|found| !found.is_file());
            let after = after.or_else(|| is_special().then(String::new));
            (path.to_string(), before.get(path), after)
        })
        .collect();
    let changes: Vec<FileChange<'_>> = read
        .iter()
        .map(|(path, before, after)| FileChange {
            path,
            before: before.map(String::as_str),
            after: after.as_deref(),
        })
        .chain(scripts.iter().map(|script| FileChange {
            path: &script.path,
            before: Some(&script.before),
            after: script.after.as_deref(),
        }))
        .collect();
    Ok(signs_of_tampering(&changes, context))
}

/// Returns the files that the task and the tasks that it fixes are about.
pub(super) fn own_files(file: &TaskFile, task: &TaskKey) -> Vec<String> {
    let row = file.resolve(task);
    let files = row.and_then(|row| file.task(row)?.fields.files);
    let is_apart = |letter: char| letter.is_whitespace() || ",;`'\"()[]".contains(letter);
    let files = files.unwrap_or_default();
    let words = files
        .split(is_apart)
        .map(|word| word.trim_start_matches("./"));
    words
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Restores the files that were there before the attempt.
fn restore(
    performer: &mut Performer,
    name: &AttemptName,
    task: &TaskKey,
    signs: &[&TamperSign],
) -> Result<Vec<String>, PerformError> {
    let all: Vec<&str> = signs.iter().map(|sign| sign.path.as_str()).collect();
    let scripts = restore_scripts(performer, name, task, &all)?;
    let paths = signs
        .iter()
        .filter(|sign| !scripts.contains(&sign.path))
        .filter_map(|sign| RelPath::new(sign.path.as_bytes()).ok());
    let restored = performer.tree.restore_before(name, &paths.collect())?;
    let restored = restored.iter().map(ToString::to_string);
    let mut restored: Vec<String> = restored.chain(scripts).collect();
    restored.sort();
    restored.dedup();
    Ok(restored)
}

fn failed(report: AttemptReport, signs: &str, restored: &[String]) -> AttemptReport {
    let mut error = format!("the attempt weakened checks of others: {signs}");
    if !restored.is_empty() {
        error.push_str(&format!(
            "; regreen restored {}. Make the code pass the checks as they are; if a check is wrong, say why",
            restored.join(", ")
        ));
    }
    let mut report = report;
    report.reports_failure = true;
    report.failure.error = error;
    report
}

/// Names the signs in one line. An agent wrote the lines that they quote.
fn told(masks: &Masks, signs: &[&TamperSign]) -> String {
    let named = signs.iter().take(MAX_NAMED);
    let mut told: Vec<String> = named
        .map(|sign| {
            PlainLine::flatten(&masks.mask(&sign.to_string()), SUMMARY_CHARS * 4).to_string()
        })
        .collect();
    let more = signs.len().saturating_sub(MAX_NAMED);
    if more > 0 {
        told.push(format!("and {more} more"));
    }
    told.join("; ")
}

#[cfg(test)]
mod tests {
    use regreen_tampering::Sign;

    use super::*;

    #[test]
    fn a_quoted_line_is_one_line_without_colours_or_secrets() {
        let sign = TamperSign {
            path: "tests/a.sh".to_owned(),
            line: Some(3),
            sign: Sign::ExitSwallowed,
            text: "\u{1b}[31mcurl -H 'Authorization: Bearer abcdefghijklmnopqrstuvwxyz012345' || true\nx".to_owned(),
        };
        let told = told(&Masks::built_in(), &[&sign]);
        assert!(
            told.starts_with("tests/a.sh:3 swallows an exit code: curl -H"),
            "{told}"
        );
        assert!(!told.contains(['\u{1b}', '\n']), "{told}");
        assert!(!told.contains("abcdefghijklmnop"), "{told}");
    }
}
