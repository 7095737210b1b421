//! Asks the person at the terminal.

mod editor;
mod keyboard;
mod question;

use std::path::{Path, PathBuf};

use regreen_model::{AnswerKind, PersonAnswer};
use regreen_reporters::{LineStyle, Tone};
use regreen_runtime::{Person, PersonQuestion, Stop};

use self::editor::{EditResult, Editor};
use self::keyboard::{Keyboard, TypedInput};
use crate::output;

/// Asks the person at the terminal.
#[derive(Debug)]
pub struct AtTerminal {
    style: LineStyle,
    here: PathBuf,
    /// The spec as commands need it.
    spec: Option<String>,
}

/// The result of a choice.
enum ChoiceResult {
    Answer(PersonAnswer),
    /// They have to choose again.
    Again,
    Stopped,
}

impl AtTerminal {
    pub fn new(style: LineStyle, here: &Path, spec: Option<String>) -> Self {
        Self {
            style,
            here: here.to_owned(),
            spec,
        }
    }

    fn choose(
        &self,
        asked: &PersonQuestion<'_>,
        keyboard: &mut Keyboard<'_>,
    ) -> Option<PersonAnswer> {
        let choices = &asked.question.choices;
        loop {
            output::ask(
                &self
                    .style
                    .palette
                    .paint(Tone::Strong, &question::prompt(choices)),
            );
            let line = match keyboard.line() {
                TypedInput::Line(line) => line,
                // The end of the input is not a decision.
                TypedInput::End => {
                    output::ask("\n");
                    return Some(PersonAnswer::Stop);
                }
                TypedInput::Stopped => return None,
            };
            let Some(kind) = question::parse_answer(&line, choices) else {
                output::ask(&question::unknown_answer(&line, choices));
                continue;
            };
            match self.execute(kind, asked, keyboard) {
                ChoiceResult::Answer(answer) => return Some(answer),
                ChoiceResult::Again => {}
                ChoiceResult::Stopped => return None,
            }
        }
    }

    fn execute(
        &self,
        kind: AnswerKind,
        asked: &PersonQuestion<'_>,
        keyboard: &mut Keyboard<'_>,
    ) -> ChoiceResult {
        match kind {
            AnswerKind::Edit => self.edit(asked.tasks, keyboard),
            AnswerKind::Context => context(keyboard),
            AnswerKind::Repair => ChoiceResult::Answer(PersonAnswer::Repair),
            AnswerKind::Fix => ChoiceResult::Answer(PersonAnswer::Fix),
            AnswerKind::Skip => ChoiceResult::Answer(PersonAnswer::Skip),
            AnswerKind::Stop => ChoiceResult::Answer(PersonAnswer::Stop),
        }
    }

    fn edit(&self, tasks: &Path, keyboard: &mut Keyboard<'_>) -> ChoiceResult {
        let Some(editor) = Editor::of_user() else {
            return self.edit_elsewhere(tasks, keyboard);
        };
        match editor.edit(tasks, keyboard.stop()) {
            EditResult::Done => ChoiceResult::Answer(PersonAnswer::Edit),
            EditResult::Stopped => ChoiceResult::Stopped,
            EditResult::Failed(why) => {
                output::ask(&format!("{}\n", output::printable_line(&why)));
                ChoiceResult::Again
            }
        }
    }

    fn edit_elsewhere(&self, tasks: &Path, keyboard: &mut Keyboard<'_>) -> ChoiceResult {
        let shown = output::path_from(&self.here, tasks);
        output::ask(&format!(
            "Edit {shown}, then press Enter here (set EDITOR to have it opened): "
        ));
        match keyboard.line() {
            TypedInput::Line(_) => ChoiceResult::Answer(PersonAnswer::Edit),
            TypedInput::End => {
                output::ask("\n");
                ChoiceResult::Again
            }
            TypedInput::Stopped => ChoiceResult::Stopped,
        }
    }
}

impl Person for AtTerminal {
    fn ask(&mut self, asked: &PersonQuestion<'_>, stop: &Stop) -> Option<PersonAnswer> {
        let tasks = output::path_from(&self.here, asked.tasks);
        let text = question::QuestionText {
            asked,
            tasks: &tasks,
            spec: self.spec.as_deref(),
            style: self.style,
        };
        output::ask(&text.text());
        let answer = match Keyboard::listen(stop) {
            Ok(mut keyboard) => self.choose(asked, &mut keyboard),
            Err(error) => {
                output::note(&format!("no one can be asked: {error}"));
                Some(PersonAnswer::Stop)
            }
        };
        if answer.is_none() {
            // The next line must not stand behind the question.
            output::ask("\n");
        }
        answer
    }
}

/// Reads lines up to an empty one, or to the end of the input.
fn context(keyboard: &mut Keyboard<'_>) -> ChoiceResult {
    output::ask("What should the agent know? An empty line ends it.\n");
    let mut text = String::new();
    loop {
        match keyboard.line() {
            TypedInput::Line(line) if !line.trim().is_empty() => {
                text.push_str(&line);
                text.push('\n');
            }
            TypedInput::Line(_) | TypedInput::End if text.is_empty() => {
                output::ask("Nothing was entered.\n");
                return ChoiceResult::Again;
            }
            TypedInput::Line(_) | TypedInput::End => {
                return ChoiceResult::Answer(PersonAnswer::Context { text });
            }
            TypedInput::Stopped => return ChoiceResult::Stopped,
        }
    }
}
