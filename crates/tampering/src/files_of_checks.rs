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
    if !file.is_new && !context.is_own(file.path) && runs_nothing_now(file, context) {
        let removed = file.removed().next()?;
        return Some(file.sign_of_loss(Sign::CheckEdited, removed.text));
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

/// Whether a script or a target that a Verify runs did something before, and nothing now.
fn runs_nothing_now(file: &Edited<'_>, context: &CheckContext<'_>) -> bool {
    let does_something = |lines: &[&str]| lines.iter().any(|line| !is_idle(line));
    let is_emptied =
        |before: &[&str], after: &[&str]| does_something(before) && !does_something(after);
    let is_script = || {
        !file.is_gone
            && is_emptied(&lines_of(file.before), &lines_of(file.after))
            && context.commands.iter().any(|command| runs(command, file))
    };
    let is_target = |command: &String| {
        targets(command, file.file_name()).any(|target| {
            let (before, after) = (recipe(file.before, target), recipe(file.after, target));
            is_emptied(&before, &after)
        })
    };
    is_script() || context.commands.iter().any(is_target)
}

fn lines_of(text: &str) -> Vec<&str> {
    text.lines().collect()
}

/// Returns the targets of a file with recipes that a command runs: `make lint`, `npm run lint`.
fn targets<'c>(command: &'c str, file: &str) -> impl Iterator<Item = &'c str> {
    let runners: &[&str] = match file {
        "GNUmakefile" | "Makefile" | "makefile" => &["gmake", "make"],
        "Justfile" | "justfile" => &["just"],
        "package.json" => &["bun", "npm", "pnpm", "yarn"],
        _ => &[],
    };
    let is_apart = |c: char| c.is_whitespace() || ";&|()".contains(c);
    let words = command.split(is_apart).filter(|word| !word.is_empty());
    let after = words.skip_while(|word| !runners.contains(word)).skip(1);
    after.filter(|word| *word != "run" && !word.starts_with('-') && !word.contains('='))
}

/// Returns the commands of a target: the indented lines below `target:`, or the value of `"target"`.
fn recipe<'t>(text: &'t str, target: &str) -> Vec<&'t str> {
    let script = format!("\"{target}\":");
    if let Some((_, value)) = text.split_once(&script) {
        let value = value.trim_start().strip_prefix('"');
        return value
            .and_then(|value| value.split('"').next())
            .into_iter()
            .collect();
    }
    let is_start = |line: &&str| {
        let name = line.split([':', ' ']).next();
        name == Some(target) && line.contains(':')
    };
    let mut lines = text.lines().skip_while(|line| !is_start(line));
    lines.next();
    lines
        .take_while(|line| line.starts_with([' ', '\t']) || line.trim().is_empty())
        .collect()
}

/// Whether a line of a script does nothing, and can't fail.
fn is_idle(line: &str) -> bool {
    let line = line.trim().trim_start_matches(['@', '-']).trim();
    let is_joined = line.contains(['|', '&', ';', '`', '$']);
    line.is_empty()
        || line.starts_with('#')
        || ["true", ":", "exit", "exit 0"].contains(&line)
        || (line.starts_with("set ") || line.starts_with("echo ")) && !is_joined
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
    fn a_script_or_target_of_a_verify_that_does_nothing_anymore_is_noticed() {
        let has_sign = |path: &str, before: &str, after: &str, command: &str| {
            let change = FileChange {
                path,
                before: Some(before),
                after: Some(after),
            };
            let commands = [command.to_owned()];
            let context = CheckContext {
                commands: &commands,
                ..CheckContext::default()
            };
            let file = Edited::new(&change).unwrap();
            signs(&file, &[], &context).is_some_and(|sign| sign.sign == Sign::CheckEdited)
        };
        let make = "all: test\n\ntest: build\n\tsh t.sh\n\nlint:\n\truff check\n";
        let idle = make.replace("\tsh t.sh", "\t@true");
        let (idle, other) = (idle.as_str(), make.replace("t.sh", "u.sh"));
        let package = r#"{"scripts": {"test": "sh t.sh", "lint": "eslint ."}}"#;
        let none = r#"{"scripts": {"test": "echo ok", "lint": "eslint ."}}"#;
        for (path, before, after, command) in [
            (
                "t.sh",
                "set -e\nmake x\n",
                "set -e\n# done\nexit 0\n",
                "sh t.sh",
            ),
            ("t.sh", "make x\n", "", "cd . && sh t.sh"),
            ("Makefile", make, idle, "make test"),
            ("package.json", package, none, "npm run --silent test"),
            ("package.json", package, none, "cd . && npm test"),
        ] {
            assert!(has_sign(path, before, after, command), "{path}: {after}");
        }
        for (path, before, after, command) in [
            ("t.sh", "make x\n", "make y\n", "sh t.sh"),
            ("t.sh", "make x\n", "", "sh other.sh"),
            ("Makefile", make, idle, "make lint"),
            ("Makefile", make, other.as_str(), "make test"),
            ("package.json", package, none, "npm run lint"),
        ] {
            assert!(!has_sign(path, before, after, command), "{path}: {after}");
        }
    }

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
