//! Parts of prompts that are there only where something is known. What comes from outside is
//! fenced in each of them.

use std::fmt::Write as _;

use regreen_model::{PlainLine, Survey, visible_line};

use super::{DETAILS_BUDGET, ERROR_BUDGET, TITLE_CHARS};
use crate::Completed;
use crate::fence::untrusted;

/// More steps or files nobody reads.
const MOST: usize = 50;

/// What may help, in which words from outside may stand; nothing where nothing is known.
pub(super) fn suggestions(actions: &[String]) -> String {
    listed("What may help:", actions)
}

/// A heading with a list, each item of it one harmless line; nothing without items.
pub(super) fn listed(heading: &str, items: &[String]) -> String {
    if items.is_empty() {
        return String::new();
    }
    let lines = items.iter().take(MOST).map(|item| {
        let line = PlainLine::flatten(item, TITLE_CHARS);
        format!("- {line}\n")
    });
    quoted(heading, &lines.collect::<String>(), ERROR_BUDGET)
}

/// A heading with a quotation.
fn quoted(heading: &str, text: &str, budget: usize) -> String {
    format!("{heading}\n\n{}\n\n", untrusted(text, budget))
}

/// What a text about finished work is filled with; `None` if none is known of.
pub(super) fn completed(completed: &Completed<'_>) -> Option<[(&'static str, String); 3]> {
    let Completed {
        steps,
        files,
        blocker,
    } = completed;
    if steps.is_empty() && files.is_empty() {
        return None;
    }
    let blocker = blocker.map(|line| quoted("What blocked it:", line, ERROR_BUDGET));
    Some([
        ("completed", listed("What it had completed:", steps)),
        ("files", listed("Files that it changed:", files)),
        ("blocker", blocker.unwrap_or_default()),
    ])
}

/// What there is in the workspace, as one quotation.
pub(super) fn surroundings(survey: &Survey) -> String {
    let line = |name: &str, paths: &[String]| match paths {
        [] => format!("{name}: none found\n"),
        paths => format!("{name}: {}\n", visible_line(&paths.join(", "), 2000)),
    };
    let text = [
        line("Main files", &survey.main_files),
        line("Configuration", &survey.configuration),
        line("Tests", &survey.test_folders),
    ];
    untrusted(&text.concat(), ERROR_BUDGET)
}

/// Where the things are that the failure names, as one quotation; nothing if it names none.
pub(super) fn found(survey: &Survey) -> String {
    let mut text = String::new();
    for one in &survey.looked_up {
        let name = visible_line(&one.name, TITLE_CHARS);
        if one.files.is_empty() && one.lines.is_empty() {
            let _ = writeln!(text, "{name}: nothing found");
            continue;
        }
        let _ = writeln!(text, "{name}:");
        for place in one.files.iter().chain(&one.lines) {
            let _ = writeln!(text, "  {}", visible_line(place, TITLE_CHARS));
        }
    }
    match text.is_empty() {
        true => text,
        false => quoted(
            "What it names, looked up in the project:",
            &text,
            DETAILS_BUDGET,
        ),
    }
}
