//! `regreen questions`: lists what runs need a person for, over all workspaces.

use std::path::Path;

use regreen_model::{Span, visible_line};
use regreen_overview::{OpenQuestion, TaskView};
use regreen_reporters::{Status, StatusLine, headline, kind_and_place};
use regreen_runtime::{SpecPaths, now};
use serde::Serialize;

use crate::arguments::Questions;
use crate::exit::Exit;
use crate::known_runs::{KnownRun, known_runs};
use crate::output;
use crate::problem::Problem;
use crate::spec_context::current_dir;

const LINE_CHARS: usize = 300;

pub fn run(arguments: &Questions) -> Result<Exit, Problem> {
    let runs = known_runs();
    let questions = runs.iter().flat_map(|run| {
        let questions = run.questions().into_iter();
        questions.map(move |(task, question)| (run, task, question))
    });
    if arguments.json {
        let entries: Vec<Entry> = questions
            .map(|(run, task, asked)| Entry::of(run, task, asked))
            .collect();
        output::print(&output::json(&entries))?;
        return Ok(Exit::Success);
    }
    let here = current_dir()?;
    let lines: Vec<StatusLine> = questions
        .map(|(run, task, asked)| line(&here, run, task, asked))
        .collect();
    if lines.is_empty() {
        output::print("no open questions\n")?;
    } else {
        output::print_lines(&lines)?;
    }
    Ok(Exit::Success)
}

/// One question, for programs.
#[derive(Debug, Serialize)]
pub struct Entry {
    v: u8,
    workspace: String,
    spec: String,
    file: String,
    run: String,
    task: String,
    title: String,
    why: String,
    error: Option<String>,
    repair: Option<String>,
    asked: String,
    asked_ms_ago: u64,
    /// Whether the run goes on with other tasks, or waits at a prompt.
    is_active: bool,
}

impl Entry {
    pub fn new(
        paths: &SpecPaths,
        run: &str,
        task: &TaskView,
        question: &OpenQuestion,
        is_active: bool,
    ) -> Self {
        let failure = task.failure.as_ref();
        Self {
            v: 1,
            workspace: paths.root.display().to_string(),
            spec: paths.spec.name.clone(),
            file: paths.shown(&paths.spec.tasks),
            run: run.to_owned(),
            task: task.key.id.to_string(),
            title: task.key.title.clone(),
            why: question.why.clone(),
            error: failure.map(|failure| failure.error.clone()),
            repair: question.repair.as_ref().map(|repair| repair.does.clone()),
            asked: question.asked.iso8601(),
            asked_ms_ago: now().since(question.asked),
            is_active,
        }
    }

    fn of(run: &KnownRun, task: &TaskView, question: &OpenQuestion) -> Self {
        let is_active = run.holder.is_some();
        Self::new(&run.paths, &run.view.run, task, question, is_active)
    }
}

fn line(here: &Path, run: &KnownRun, task: &TaskView, question: &OpenQuestion) -> StatusLine {
    let shown = |text: &str| visible_line(text, LINE_CHARS);
    let name = shown(&format!("{} {}", task.key.id, task.key.title));
    let ago = Span::whole_seconds(now().since(question.asked));
    let place = output::path_from_home(&run.paths.root);
    let mut line = StatusLine::new(Status::Ask, name)
        .trailing(format!("{ago} ago"))
        .wrapped_detail(shown(&question.why));
    if let Some(failure) = &task.failure {
        line = line.wrapped_detail(kind_and_place(failure).unwrap_or_default());
        line = line.wrapped_detail(headline(failure));
    }
    if let Some(repair) = &question.repair {
        line = line.wrapped_detail(format!("repair: {}", shown(&repair.does)));
    }
    line.wrapped_detail(format!("spec {} · {place}", shown(&run.paths.spec.name)))
        .wrapped_detail(commands(here, run, task))
}

/// Returns the commands that settle a question, ready to paste.
fn commands(here: &Path, run: &KnownRun, task: &TaskView) -> String {
    let root = &run.paths.root;
    let enter = if here.starts_with(root) {
        String::new()
    } else {
        let folder = root.display().to_string();
        format!("cd {} && ", shell_words::quote(&folder))
    };
    let (id, spec) = (
        &task.key.id,
        shell_words::quote(&run.paths.spec.name).into_owned(),
    );
    output::printable_line(&format!(
        "`{enter}regreen why {id} --spec {spec}` shows more; `regreen answer {id} CHOICE` answers it"
    ))
}
