//! `regreen ps`: lists the runs of this machine, over all workspaces.

use regreen_model::{Dollars, Span, Spending, visible_line};
use regreen_overview::{Activity, RunState};
use regreen_reporters::StatusLine;
use regreen_runtime::now;
use serde::Serialize;

use crate::arguments::Ps;
use crate::exit::Exit;
use crate::known_runs::{KnownRun, known_runs, status};
use crate::output;
use crate::problem::Problem;

const NAME_CHARS: usize = 200;
/// A run that ended longer ago is listed only with `--all`.
const RECENT_MS: u64 = 24 * 3600 * 1000;

pub fn run(arguments: &Ps) -> Result<Exit, Problem> {
    let mut runs = known_runs();
    if !arguments.all {
        runs.retain(|run| !is_old(run));
    }
    if arguments.json {
        let entries: Vec<Entry> = runs.iter().map(Entry::of).collect();
        output::print(&output::json(&entries))?;
    } else if runs.is_empty() {
        output::print("no runs; `regreen run` starts one\n")?;
    } else {
        let lines: Vec<StatusLine> = runs.iter().map(line).collect();
        output::print_lines(&lines)?;
    }
    Ok(Exit::Success)
}

/// Whether there is nothing to do about a run, and hasn't been for a day.
fn is_old(run: &KnownRun) -> bool {
    let is_over = matches!(run.state(), RunState::Done | RunState::Failed);
    is_over && now().since(run.last_sign()) > RECENT_MS
}

/// One run, for programs.
#[derive(Debug, Serialize)]
struct Entry {
    v: u8,
    workspace: String,
    spec: String,
    file: String,
    run: String,
    state: RunState,
    process: Option<u32>,
    started: String,
    last_sign: String,
    last_sign_ms_ago: u64,
    task: Option<EntryTask>,
    activity: Option<Activity>,
    spent: Spending,
    needs_person: Vec<EntryQuestion>,
}

#[derive(Debug, Serialize)]
struct EntryTask {
    id: String,
    title: String,
}

#[derive(Debug, Serialize)]
struct EntryQuestion {
    id: String,
    why: String,
}

impl Entry {
    fn of(run: &KnownRun) -> Self {
        let state = run.state();
        let view = &run.view;
        let current = view.current.as_ref().filter(|_| run.holder.is_some());
        let last = run.last_sign();
        Self {
            v: 1,
            workspace: run.paths.root.display().to_string(),
            spec: run.paths.spec.name.clone(),
            file: run.paths.shown(&run.paths.spec.tasks),
            run: view.run.clone(),
            state,
            process: run.holder.as_ref().and_then(|holder| holder.pid),
            started: view.started.iso8601(),
            last_sign: last.iso8601(),
            last_sign_ms_ago: now().since(last),
            task: current.map(|key| EntryTask {
                id: key.id.to_string(),
                title: key.title.clone(),
            }),
            activity: Some(view.activity.clone()).filter(|_| run.holder.is_some()),
            spent: view.spent,
            needs_person: run
                .questions()
                .into_iter()
                .map(|(task, question)| EntryQuestion {
                    id: task.key.id.to_string(),
                    why: question.why.clone(),
                })
                .collect(),
        }
    }
}

fn line(run: &KnownRun) -> StatusLine {
    let state = run.state();
    let shown = |text: &str| visible_line(text, NAME_CHARS);
    let place = output::path_from_home(&run.paths.root);
    let name = format!("{} · {}", shown(&run.paths.spec.name), shown(&place));
    let ago = Span::whole_seconds(now().since(run.last_sign()));
    let mut facts = vec![state.words().to_owned()];
    facts.push(format!("last activity {ago} ago"));
    if let Some(micro) = run.view.spent.cost_micro_usd {
        facts.push(Dollars::from_micro(micro).to_string());
    }
    let mut line = StatusLine::new(status(state), name).detail(facts.join(" · "));
    if run.holder.is_some() {
        line = line.detail(doing(run));
    }
    for (task, question) in run.questions() {
        let text = format!("needs you: {} {}", task.key.id, question.why);
        line = line.wrapped_detail(shown(&text));
    }
    line
}

fn doing(run: &KnownRun) -> String {
    let task = run.view.current.as_ref();
    let task = task.map(|key| visible_line(&format!("{} {}", key.id, key.title), NAME_CHARS));
    let activity = &run.view.activity;
    let what = match activity {
        Activity::Attempt { attempt, .. } => format!("attempt {attempt}"),
        Activity::Waiting { why, .. } => format!("waiting: {}", visible_line(why, NAME_CHARS)),
        other => other.name().to_owned(),
    };
    let elapsed = activity.since().map(|since| now().since(since));
    let elapsed = elapsed.map(|millis| format!(" for {}", Span::whole_seconds(millis)));
    let what = format!("{what}{}", elapsed.unwrap_or_default());
    task.into_iter()
        .chain([what])
        .collect::<Vec<_>>()
        .join(" · ")
}
