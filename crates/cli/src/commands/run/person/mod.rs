//! Asks the person at the terminal, and takes what people decide at others.

mod editor;
mod keyboard;
mod question;

use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use regreen_model::{AnswerKind, PersonAnswer, TaskKey, Timestamp};
use regreen_overview::Change;
use regreen_reporters::{LineStyle, Tone};
use regreen_runtime::{
    AnswerWait, Decisions, OpenQuestion, Person, PersonQuestion, Reply, SpecPaths, Stop,
    is_asked_to_stop_after_task, now,
};

use self::editor::{EditResult, Editor};
use self::keyboard::{Keyboard, TypedInput};
use crate::answers::{self, AnswerWatch};
use crate::commands::choices;
use crate::output;
use crate::requests;

const CHECK_CLOCK_EVERY: Duration = Duration::from_secs(10);

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
    /// Someone has answered or decided at another terminal.
    Elsewhere(Reply),
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

    fn choose(&self, asked: &PersonQuestion<'_>, keyboard: &mut Keyboard<'_, '_>) -> Reply {
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
                    return Reply::Answer(PersonAnswer::Stop);
                }
                TypedInput::Elsewhere(reply) => return elsewhere(reply),
                TypedInput::Stopped => return Reply::Stopped,
            };
            let Some(kind) = question::parse_answer(&line, choices) else {
                output::ask(&question::unknown_answer(&line, choices));
                continue;
            };
            match self.execute(kind, asked, keyboard) {
                ChoiceResult::Answer(answer) => return Reply::Answer(answer),
                ChoiceResult::Elsewhere(reply) => return elsewhere(reply),
                ChoiceResult::Again => {}
                ChoiceResult::Stopped => return Reply::Stopped,
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
            TypedInput::Elsewhere(reply) => ChoiceResult::Elsewhere(reply),
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

    fn ask(&self, asked: &PersonQuestion<'_>, stop: &Stop, answers: AnswerWatch<'_>) -> Reply {
        let reply = match Keyboard::listen(stop, answers) {
            Ok(mut keyboard) => self.choose(asked, &mut keyboard),
            Err(error) => {
                output::note(&format!("no one can be asked: {error}"));
                Reply::Answer(PersonAnswer::Stop)
            }
        };
        if reply == Reply::Stopped {
            // Start a new line after the question.
            output::ask("\n");
        }
        reply
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
            TypedInput::Elsewhere(reply) => return ChoiceResult::Elsewhere(reply),
            TypedInput::Stopped => return ChoiceResult::Stopped,
        }
    }
}

/// Says that the question at this terminal is settled, if someone has answered it.
fn elsewhere(reply: Reply) -> Reply {
    match &reply {
        Reply::Answer(answer) => {
            let name = answer.kind().name();
            output::ask(&format!("\nanswered with `regreen answer`: {name}\n"));
        }
        // Start a new line after the question.
        Reply::Decided => output::ask("\n"),
        Reply::Stopped => {}
    }
    reply
}

/// Everyone who may decide: the person at the terminal, and people at other terminals.
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

    fn has_news(&self, open: &[OpenQuestion<'_>]) -> bool {
        requests::is_any(&self.paths)
            || open
                .iter()
                .any(|question| answers::is_given(&self.paths, question))
    }

    /// Returns what changes when someone saves the plan.
    fn plan_version(&self) -> Option<(SystemTime, u64)> {
        let file = self.paths.spec.tasks.metadata().ok()?;
        Some((file.modified().ok()?, file.len()))
    }
}

impl Person for Respondents {
    fn ask(&mut self, asked: &PersonQuestion<'_>, stop: &Stop) -> Reply {
        let mut answers = AnswerWatch::new(&self.paths, asked.question);
        if self.mode != AskMode::Given {
            self.terminal.show(asked);
        }
        if let Some(answer) = answers.answer() {
            return elsewhere(Reply::Answer(answer));
        }
        match self.mode {
            AskMode::Terminal => self.terminal.ask(asked, stop, answers),
            AskMode::Wait => {
                let id = &asked.question.task.id;
                output::ask(&format!(
                    "waiting; answer with `regreen answer {id} CHOICE`\n"
                ));
                elsewhere(answers.wait(stop))
            }
            AskMode::Given => Reply::Answer(PersonAnswer::Stop),
        }
    }

    fn decisions(&mut self, open: &[OpenQuestion<'_>]) -> Decisions {
        let is_given = |question: &&OpenQuestion<'_>| answers::is_given(&self.paths, question);
        let answered = open.iter().filter(is_given);
        let answered = answered.map(|question| question.task.clone()).collect();
        let (has_choices, warnings) = choices::carry_out_requests(&self.paths);
        Decisions {
            has_choices,
            answered,
            warnings,
        }
    }

    fn wait(
        &mut self,
        open: &[OpenQuestion<'_>],
        until: Option<Timestamp>,
        stop: &Stop,
    ) -> AnswerWait {
        let (Ok(mut feed), Ok(bell)) = (answers::watch(), stop.wake_pipe()) else {
            return AnswerWait::Over;
        };
        requests::watch_too(&mut feed);
        // For edits of the plan, and for `regreen stop --after-task`.
        let folders = [self.paths.spec.tasks.parent(), Some(&self.paths.own())];
        for folder in folders.into_iter().flatten() {
            let _ = feed.watch_folder(folder);
        }
        let version = self.plan_version();
        loop {
            if self.has_news(open) {
                return AnswerWait::Decided;
            }
            let left = until.map(|until| Duration::from_millis(until.since(now())));
            let is_asked = is_asked_to_stop_after_task(&self.paths.root, std::process::id());
            if left == Some(Duration::ZERO) || is_asked || self.plan_version() != version {
                return AnswerWait::Over;
            }
            // The clock may be set meanwhile, so it is read again every now and then.
            let limit = left.map(|left| left.min(CHECK_CLOCK_EVERY));
            match feed.wait(limit, &[bell.as_fd()]) {
                Ok(Change::Woken(_)) => return AnswerWait::Stopped,
                Ok(_) => {}
                Err(_) => return AnswerWait::Over,
            }
        }
    }

    fn settled(&mut self, task: &TaskKey) {
        answers::forget(&self.paths, task);
    }
}
