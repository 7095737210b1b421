//! Files that a Verify runs, and programs that would be found before the real ones.

use crate::CheckContext;
use crate::change::Edited;
use crate::roles::Role;
use crate::sign::{Sign, TamperSign};

/// Finds edits of what a Verify runs, and programs that stand in its way.
pub(crate) fn signs(
    file: &Edited<'_>,
    roles: &[Role],
    context: &CheckContext<'_>,
) -> Option<TamperSign> {
    if roles.contains(&Role::Program) && !file.is_gone {
        let line = file.added().next()?;
        return Some(file.sign_at(Sign::ProgramShadowed, line));
    }
    // Tests are read by what they assert; what was not there belonged to no check.
    if roles.contains(&Role::Test) || file.is_new || context.is_own(file.path) {
        return None;
    }
    // A Verify also runs what it tests.
    if !checks_by_name(file) {
        return None;
    }
    let removed = file.removed().next()?;
    // What only grows checks more than before.
    if file.added().count() > file.removed().count() {
        return None;
    }
    let is_run = context.commands.iter().any(|command| runs(command, file));
    is_run.then(|| match file.added().next() {
        Some(line) => file.sign_at(Sign::CheckEdited, line),
        None => file.sign_of_loss(Sign::CheckEdited, removed.text),
    })
}

/// Whether a file is called like a check, and not like what is checked.
fn checks_by_name(file: &Edited<'_>) -> bool {
    const NAMES: [&str; 9] = [
        "check", "verif", "valid", "test", "lint", "spec", "assert", "gate", "smoke",
    ];
    let name = file.file_name().to_lowercase();
    NAMES.iter().any(|part| name.contains(part))
}

/// Whether a command runs the file as a program or a script.
fn runs(command: &str, file: &Edited<'_>) -> bool {
    const INTERPRETERS: [&str; 12] = [
        "sh", "bash", "zsh", "python", "python3", "node", "ruby", "perl", "php", "deno", "bun",
        "source",
    ];
    let words: Vec<&str> = command.split_whitespace().collect();
    let is_path = |word: &str| {
        let word = word.trim_matches(['"', '\'', '(', ')', ';', '`']);
        word.strip_prefix("./").unwrap_or(word) == file.path
    };
    let is_start = |at: usize| {
        let before = at.checked_sub(1).and_then(|at| words.get(at));
        before.is_none_or(|before| {
            before.ends_with([';', '&', '|', '('])
                || INTERPRETERS.contains(before)
                || *before == "!"
        })
    };
    let mut words = words.iter().enumerate();
    words.any(|(at, word)| is_path(word) && is_start(at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::FileChange;

    #[test]
    fn a_file_is_run_as_a_program_or_by_an_interpreter_and_not_as_an_operand() {
        let change = FileChange {
            path: "check.sh",
            before: Some("a"),
            after: Some("b"),
        };
        let file = Edited::new(&change).unwrap();
        for command in [
            "sh check.sh",
            "./check.sh -v",
            "cd x && bash check.sh",
            "! ./check.sh",
        ] {
            assert!(runs(command, &file), "{command}");
        }
        for command in ["test -x check.sh", "grep -q set check.sh", "sh other.sh"] {
            assert!(!runs(command, &file), "{command}");
        }
    }
}
