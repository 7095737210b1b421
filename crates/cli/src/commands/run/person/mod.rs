//! Asks the person at the terminal.

mod editor;
mod keyboard;
mod question;

use std::path::{Path, PathBuf};

use regreen_model::{AnswerKind, PersonAnswer};
use regreen_reporters::{LineStyle, Tone};
use regreen_runtime::{Person, PersonQuestion, SpecPaths, Stop};

use self::editor::{EditResult, Editor};
use self::keyboard::{Keyboard, TypedInput};
use crate::answers::AnswerWatch;
use crate::output;

/// The person at the terminal.
#[derive(Debug)]
pub struct AtTerminal {
    style: LineStyle,
    here: PathBuf,
    /// The spec argument that other commands need.
    spec: Option<String>,
}

enum ChoiceResult {
    Answer(PersonAnswer),
    /// The person has to choose again.
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
        keyboard: &mut Keyboard<'_, '_>,
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
                TypedInput::Elsewhere(answer) => return Some(elsewhere(answer)),
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
        keyboard: &mut Keyboard<'_, '_>,
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

    fn edit(&self, tasks: &Path, keyboard: &mut Keyboard<'_, '_>) -> ChoiceResult {
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

    fn edit_elsewhere(&self, tasks: &Path, keyboard: &mut Keyboard<'_, '_>) -> ChoiceResult {
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
            TypedInput::Elsewhere(answer) => ChoiceResult::Answer(elsewhere(answer)),
            TypedInput::Stopped => ChoiceResult::Stopped,
        }
    }

    /// Shows the question.
    fn show(&self, asked: &PersonQuestion<'_>) {
        let tasks = output::path_from(&self.here, asked.tasks);
        let text = question::QuestionText {
            asked,
            tasks: &tasks,
            spec: self.spec.as_deref(),
            style: self.style,
        };
        output::ask(&text.text());
    }

    fn ask(
        &self,
        asked: &PersonQuestion<'_>,
        stop: &Stop,
        answers: AnswerWatch<'_>,
    ) -> Option<PersonAnswer> {
        let answer = match Keyboard::listen(stop, answers) {
            Ok(mut keyboard) => self.choose(asked, &mut keyboard),
            Err(error) => {
                output::note(&format!("no one can be asked: {error}"));
                Some(PersonAnswer::Stop)
            }
        };
        if answer.is_none() {
            // Start a new line after the question.
            output::ask("\n");
        }
        answer
    }
}

/// Reads lines up to an empty one, or to the end of the input.
fn context(keyboard: &mut Keyboard<'_, '_>) -> ChoiceResult {
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
            TypedInput::Elsewhere(answer) => return ChoiceResult::Answer(elsewhere(answer)),
            TypedInput::Stopped => return ChoiceResult::Stopped,
        }
    }
}

/// Says that the question at this terminal is settled.
fn elsewhere(answer: PersonAnswer) -> PersonAnswer {
    let name = answer.kind().name();
    output::ask(&format!("\nanswered with `regreen answer`: {name}\n"));
    answer
}

/// Everyone who may answer: the person at the terminal, and people at other terminals.
#[derive(Debug)]
pub struct Respondents {
    terminal: AtTerminal,
    paths: SpecPaths,
    mode: AskMode,
}

/// How to ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskMode {
    /// At the terminal.
    Terminal,
    /// Nobody is here: wait until someone answers from another terminal.
    Wait,
    /// Only take answers that were already given.
    Given,
}

impl Respondents {
    pub fn new(terminal: AtTerminal, paths: SpecPaths, mode: AskMode) -> Self {
        Self {
            terminal,
            paths,
            mode,
        }
    }
}

impl Person for Respondents {
    fn ask(&mut self, asked: &PersonQuestion<'_>, stop: &Stop) -> Option<PersonAnswer> {
        let mut answers = AnswerWatch::new(&self.paths, asked.question);
        self.terminal.show(asked);
        if let Some(answer) = answers.take() {
            return Some(elsewhere(answer));
        }
        match self.mode {
            AskMode::Terminal => self.terminal.ask(asked, stop, answers),
            AskMode::Wait => {
                let id = &asked.question.task.id;
                output::ask(&format!(
                    "waiting; answer with `regreen answer {id} CHOICE`\n"
                ));
                answers.wait(stop).map(elsewhere)
            }
            AskMode::Given => Some(PersonAnswer::Stop),
        }
    }
}
