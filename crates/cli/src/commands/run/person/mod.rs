//! Asking the person at the terminal.

mod editor;
mod keyboard;
mod page;

use std::path::{Path, PathBuf};

use regreen_model::{AnswerKind, PersonAnswer};
use regreen_reporters::Palette;
use regreen_runtime::{Person, PersonQuestion, Stop};

use self::editor::{Edited, Editor};
use self::keyboard::{Heard, Keyboard};
use crate::output;

/// Somebody who sees what is written and can type.
#[derive(Debug)]
pub struct AtTerminal {
    palette: Palette,
    here: PathBuf,
    /// What the spec has to be called in commands.
    spec: Option<String>,
}

/// What came of a choice.
enum Said {
    Answer(PersonAnswer),
    /// It came to nothing: they choose again.
    Nothing,
    Stopped,
}

impl AtTerminal {
    pub fn new(palette: Palette, here: &Path, spec: Option<String>) -> Self {
        Self {
            palette,
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
            output::ask(&self.palette.emphasised(&page::prompt(choices)));
            let line = match keyboard.line() {
                Heard::Line(line) => line,
                // Whoever has nothing more to say has not decided.
                Heard::End => {
                    output::ask("\n");
                    return Some(PersonAnswer::Stop);
                }
                Heard::Stopped => return None,
            };
            let Some(kind) = page::understood(&line, choices) else {
                output::ask(&page::unknown(&line, choices));
                continue;
            };
            match self.carry_out(kind, asked, keyboard) {
                Said::Answer(answer) => return Some(answer),
                Said::Nothing => {}
                Said::Stopped => return None,
            }
        }
    }

    fn carry_out(
        &self,
        kind: AnswerKind,
        asked: &PersonQuestion<'_>,
        keyboard: &mut Keyboard<'_>,
    ) -> Said {
        match kind {
            AnswerKind::Edit => self.edit(asked.tasks, keyboard),
            AnswerKind::Context => context(keyboard),
            AnswerKind::Repair => Said::Answer(PersonAnswer::Repair),
            AnswerKind::Fix => Said::Answer(PersonAnswer::Fix),
            AnswerKind::Skip => Said::Answer(PersonAnswer::Skip),
            AnswerKind::Stop => Said::Answer(PersonAnswer::Stop),
        }
    }

    fn edit(&self, tasks: &Path, keyboard: &mut Keyboard<'_>) -> Said {
        let Some(editor) = Editor::of_user() else {
            return self.edit_elsewhere(tasks, keyboard);
        };
        match editor.edit(tasks, keyboard.stop()) {
            Edited::Done => Said::Answer(PersonAnswer::Edit),
            Edited::Stopped => Said::Stopped,
            Edited::Failed(why) => {
                output::ask(&format!("{}\n", output::printable_line(&why)));
                Said::Nothing
            }
        }
    }

    fn edit_elsewhere(&self, tasks: &Path, keyboard: &mut Keyboard<'_>) -> Said {
        let shown = output::path_from(&self.here, tasks);
        output::ask(&format!(
            "Edit {shown}, then press Enter here (set EDITOR to have it opened): "
        ));
        match keyboard.line() {
            Heard::Line(_) => Said::Answer(PersonAnswer::Edit),
            Heard::End => {
                output::ask("\n");
                Said::Nothing
            }
            Heard::Stopped => Said::Stopped,
        }
    }
}

impl Person for AtTerminal {
    fn ask(&mut self, asked: &PersonQuestion<'_>, stop: &Stop) -> Option<PersonAnswer> {
        let tasks = output::path_from(&self.here, asked.tasks);
        let page = page::Page {
            asked,
            tasks: &tasks,
            spec: self.spec.as_deref(),
            palette: self.palette,
        };
        output::ask(&page.text());
        let answer = match Keyboard::listen(stop) {
            Ok(mut keyboard) => self.choose(asked, &mut keyboard),
            Err(error) => {
                output::note(&format!("nobody can be asked: {error}"));
                Some(PersonAnswer::Stop)
            }
        };
        if answer.is_none() {
            // What is said next is not to stand behind the question.
            output::ask("\n");
        }
        answer
    }
}

/// Lines up to an empty one, or to the end of the input.
fn context(keyboard: &mut Keyboard<'_>) -> Said {
    output::ask("What should the agent know? An empty line ends it.\n");
    let mut text = String::new();
    loop {
        match keyboard.line() {
            Heard::Line(line) if !line.trim().is_empty() => {
                text.push_str(&line);
                text.push('\n');
            }
            Heard::Line(_) | Heard::End if text.is_empty() => {
                output::ask("Nothing was said.\n");
                return Said::Nothing;
            }
            Heard::Line(_) | Heard::End => {
                return Said::Answer(PersonAnswer::Context { text });
            }
            Heard::Stopped => return Said::Stopped,
        }
    }
}
