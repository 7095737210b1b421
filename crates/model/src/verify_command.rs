use serde::{Deserialize, Serialize};

use crate::Expectation;

/// One command that a Verify field may ask for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifyCommand {
    pub command: String,
    pub form: VerifyForm,
    /// What is judged instead of exit code 0.
    pub expects: Option<Expectation>,
}

/// How sure it is that the words are a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerifyForm {
    /// Run it: a missing program is a failure.
    Always,
    /// Run it if its first word is a program or a shell builtin; else it is prose.
    IfProgram,
}

impl VerifyCommand {
    /// A command that is run whatever it is called, and has to exit with 0.
    #[must_use]
    pub fn always(command: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            form: VerifyForm::Always,
            expects: None,
        }
    }

    /// The word that has to be a program: the first one behind assignments, `!` and `(`.
    #[must_use]
    pub fn program(&self) -> &str {
        words(&self.command)
            .map(|word| word.trim_start_matches(['(', '!', '{']))
            .find(|word| !word.is_empty() && !is_assignment(word))
            .map(|word| word.trim_end_matches([';', ')']))
            .unwrap_or_default()
    }
}

/// The words of a command, cut at blanks outside quotes.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_the_first_word_that_is_no_preparation() {
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
        ] {
            assert_eq!(
                VerifyCommand::always(command).program(),
                program,
                "{command}"
            );
        }
    }
}
