mod expectation;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use expectation::{CommandResult, Comparison, Expectation};

/// One command of a Verify field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifyCommand {
    /// The command, for a shell.
    pub command: String,
    /// How certain it is that the text is a command.
    pub form: VerifyForm,
    /// The expectation that replaces "exit code 0".
    pub expects: Option<Expectation>,
    /// The part of the task's stated result that regreen can't check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unchecked: Option<String>,
}

/// How certain it is that a text is a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerifyForm {
    /// It is a command: a missing program is a failure.
    Always,
    /// A command if its first word is a program or a shell builtin; otherwise prose.
    IfProgram,
    /// Like `IfProgram`, and the project's Makefile or similar must also declare the target.
    IfTarget,
    /// Like `IfProgram`, and all of its arguments must also be files.
    IfFiles,
    /// It reads like a command, but its program was missing when the task was picked. It runs if
    /// the program exists by then; either way, the task counts as only partly checked.
    LeftOut,
}

/// First words of lines that only prepare the shell for the next one.
const PREPARING: &[&str] = &[
    "cd", "export", "pushd", "set", "shopt", "source", "umask", "unset", ".",
];

impl VerifyCommand {
    /// Creates a command that always runs and must exit with 0.
    #[must_use]
    pub fn always(command: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            form: VerifyForm::Always,
            expects: None,
            unchecked: None,
        }
    }

    /// Describes how the command is judged.
    #[must_use]
    pub fn judged_by(&self) -> String {
        let judged = match &self.expects {
            _ if self.is_left_out() => {
                return format!("not checked: nothing here can run `{}`", self.command);
            }
            None => "exit code 0".to_owned(),
            Some(expected) => expected.to_string(),
        };
        match &self.unchecked {
            None => judged,
            Some(stated) => format!("{judged}; not checked: {stated}"),
        }
    }

    /// Returns whether part of the task's stated result isn't checked.
    #[must_use]
    pub fn is_partly_checked(&self) -> bool {
        self.unchecked.is_some() || self.is_left_out()
    }

    /// Returns whether it reads like a command whose program was missing when the task was picked.
    #[must_use]
    pub fn is_left_out(&self) -> bool {
        matches!(self.form, VerifyForm::LeftOut | VerifyForm::IfTarget)
    }

    /// Settles whether this is a command. Text that has arguments, is a path or has an expectation
    /// reads like a command, and doesn't become prose even if nothing can run it.
    pub fn settle(&mut self, is_command: bool) {
        let has_arguments = words(&self.command).nth(1).is_some();
        let has_shape = has_arguments || self.command.contains('/') || self.expects.is_some();
        self.form = match self.form {
            _ if is_command => VerifyForm::Always,
            VerifyForm::IfProgram if has_shape => VerifyForm::LeftOut,
            form => form,
        };
    }

    /// Returns the word that must be a program: the first one after assignments, `!` and `(`, and
    /// after lines that only prepare the shell.
    #[must_use]
    pub fn program(&self) -> &str {
        let prepares = |line: &&str| {
            let first = line.split_whitespace().next().unwrap_or_default();
            PREPARING.contains(&first) || line.split_whitespace().all(is_assignment)
        };
        let mut rest = self.command.as_str();
        while let Some((line, next)) = rest.split_once('\n')
            && prepares(&line)
        {
            rest = next;
        }
        words(rest)
            .map(|word| word.trim_start_matches(['(', '!', '{']))
            .find(|word| !word.is_empty() && !is_assignment(word))
            .map(|word| word.trim_end_matches([';', ')']))
            .unwrap_or_default()
    }
}

/// Splits a command into words at blanks outside of quotes.
fn words(command: &str) -> impl Iterator<Item = &str> {
    let mut quote = None;
    command
        .split(move |c: char| {
            match (quote, c) {
                (None, '"' | '\'') => quote = Some(c),
                (Some(open), c) if c == open => quote = None,
                _ => {}
            }
            quote.is_none() && c.is_whitespace()
        })
        .filter(|word| !word.is_empty())
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    })
}

/// An input that must exist before a failure or an empty result proves anything.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CommandInput {
    /// A file or a folder, relative to the workspace.
    Path(String),
    /// A program, by its name.
    Program(String),
    /// A module of Python that `python -m` runs.
    Module {
        /// The interpreter.
        python: String,
        /// The name of the module, up to the first dot.
        name: String,
        /// The folder, relative to the workspace; empty for its root.
        folder: String,
    },
    /// A target of a build tool, declared by a file in `folder`.
    Target {
        /// `make`, `just`, `npm`.
        runner: String,
        /// Its name.
        name: String,
        /// The folder, relative to the workspace; empty for its root.
        folder: String,
    },
}

impl fmt::Display for CommandInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => write!(f, "{path} does not exist"),
            Self::Program(name) => write!(f, "{name} is not installed"),
            Self::Module { python, name, .. } => write!(f, "{python} has no module {name}"),
            Self::Target { runner, name, .. } => write!(f, "{runner} has no target {name}"),
        }
    }
}

/// The result of an independent check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// It passed.
    Green,
    /// It failed.
    Red {
        /// The error.
        error: String,
    },
    /// There was nothing to run.
    Unverified,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_the_first_word_after_assignments_and_signs() {
        for (command, program) in [
            ("make test", "make"),
            ("A=1 B=\"x\" make", "make"),
            ("RUSTFLAGS=\"-D warnings\" cargo test", "cargo"),
            ("! grep -q x f", "grep"),
            ("(cd a && make)", "cd"),
            ("!grep x", "grep"),
            ("true;", "true"),
            ("", ""),
            ("A=1", ""),
            ("cd app\nsh t.sh", "sh"),
            ("A=1\nset -e\n./t.sh", "./t.sh"),
        ] {
            assert_eq!(
                VerifyCommand::always(command).program(),
                program,
                "{command}"
            );
        }
    }

    #[test]
    fn commands_of_older_journals_are_read() {
        let old = r#"{"command":"x","form":"always","expects":{"matches":2}}"#;
        let command: VerifyCommand = serde_json::from_str(old).unwrap();
        assert_eq!(command.expects, Some(Expectation::Matches(2)));
        assert_eq!(serde_json::to_string(&command).unwrap(), old);
    }

    #[test]
    fn the_way_a_command_is_judged_can_be_shown() {
        let mut command = VerifyCommand::always("make test");
        assert_eq!(command.judged_by(), "exit code 0");
        command.expects = Some(Expectation::Prints(Comparison::AtLeast, 5));
        command.unchecked = Some("quickly".into());
        assert_eq!(command.judged_by(), "prints >= 5; not checked: quickly");
    }
}
