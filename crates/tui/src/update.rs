//! What follows from an event: another state, and effects.

use regreen_model::TaskKey;
use regreen_overview::{Action, RunDetails, RunKey, RunSummary};

use crate::bindings::command;
use crate::commands;
use crate::dialog::{Answer, Choice, Dialog, Input, Purpose};
use crate::event::{Effect, Event, SearchRequest};
use crate::key::Key;
use crate::state::{Notice, Panel, State};

/// Applies an event.
pub(crate) fn update(state: &mut State, event: Event) -> Vec<Effect> {
    match event {
        Event::Key(key) => press(state, key),
        Event::Pasted(text) => {
            let Some(Dialog::Input(input)) = &mut state.dialog else {
                return Vec::new();
            };
            let answer = input.paste(&text);
            answered(state, answer)
        }
        Event::Resized(size) => {
            state.size = size;
            read_on(state)
        }
        Event::Tick(now) => {
            state.now = now;
            Vec::new()
        }
        Event::Changed(now) => {
            state.now = now;
            vec![Effect::ReadRuns]
        }
        Event::Runs(runs) => take_runs(state, runs),
        Event::Run(key, run) => take_run(state, &key, run),
        Event::Text(request, answer) => {
            let rows = state.text_rows();
            state.document.take(&request, answer, rows);
            read_on(state)
        }
        Event::Found(request, line) => take_match(state, &request, line),
        Event::Acted(result) => {
            state.notice = Some(match result {
                Ok(text) => Notice {
                    text,
                    is_good: true,
                },
                Err(text) => Notice {
                    text,
                    is_good: false,
                },
            });
            // The command may have printed a note over the panels.
            vec![Effect::Repaint, Effect::ReadRuns]
        }
        Event::Quit | Event::Panicked => vec![Effect::Quit],
    }
}

fn press(state: &mut State, key: Key) -> Vec<Effect> {
    state.notice = None;
    let rows = usize::from(state.size.rows);
    if let Some(dialog) = &mut state.dialog {
        let answer = dialog.press(key, rows);
        return answered(state, answer);
    }
    match command(key, state.focus) {
        Some(command) => commands::perform(state, command),
        None => Vec::new(),
    }
}

/// Handles what a key meant to the dialog.
fn answered(state: &mut State, answer: Answer) -> Vec<Effect> {
    match answer {
        Answer::Open => Vec::new(),
        Answer::Close => {
            let filters = matches!(&state.dialog, Some(Dialog::Input(input)) if input.purpose == Purpose::Filter);
            state.dialog = None;
            if filters {
                return filter(state, "");
            }
            Vec::new()
        }
        Answer::Typed(text) => match &state.dialog {
            Some(Dialog::Input(input)) if input.purpose == Purpose::Filter => filter(state, &text),
            _ => Vec::new(),
        },
        Answer::Entered(input) => {
            state.dialog = None;
            entered(state, input)
        }
        Answer::Chosen(choice) => {
            state.dialog = None;
            chosen(state, choice)
        }
    }
}

fn entered(state: &mut State, input: Input) -> Vec<Effect> {
    match input.purpose {
        Purpose::Filter => Vec::new(),
        Purpose::Search => {
            state.document.words = input.text.to_lowercase();
            state.document.found = None;
            commands::search(state, false)
        }
        Purpose::Context(run, task) => {
            let choice = regreen_overview::AnswerChoice::Context;
            let text = input.text;
            vec![Effect::Act(run, Action::Answer { task, choice, text })]
        }
    }
}

fn chosen(state: &mut State, choice: Choice) -> Vec<Effect> {
    match choice {
        Choice::Act(run, action) => return vec![Effect::Act(run, action)],
        Choice::Confirm(confirm) => state.dialog = Some(Dialog::Confirm(confirm)),
        Choice::WriteContext(run, task) => {
            state.dialog = Some(Dialog::Input(Input {
                title: format!("What should the agent know about {}?", task.id),
                text: String::new(),
                purpose: Purpose::Context(run, task),
            }));
        }
        Choice::Show(run) => return show_run(state, run),
    }
    Vec::new()
}

/// Turns to another run.
pub(crate) fn show_run(state: &mut State, key: RunKey) -> Vec<Effect> {
    if state.run_key.as_ref() == Some(&key) {
        return Vec::new();
    }
    state.run_key = Some(key.clone());
    state.run = None;
    state.kept.clear();
    state.task_list.at = 0;
    state.attempt_list.at = 0;
    state.document.attempt = None;
    state.details_top = 0;
    vec![Effect::ReadRun(key)]
}

/// Turns to the selected run.
pub(crate) fn show_selected_run(state: &mut State) -> Vec<Effect> {
    let selected = state
        .kept_runs()
        .get(state.run_list.at)
        .map(|run| run.key.clone());
    selected.map_or_else(Vec::new, |key| show_run(state, key))
}

/// Applies the words of a filter to the list in use.
fn filter(state: &mut State, words: &str) -> Vec<Effect> {
    let words = words.to_lowercase();
    if state.focus == Panel::Runs {
        state.run_words = words;
        let length = state.kept_runs().len();
        state.run_list.clamp(length);
        return show_selected_run(state);
    }
    let selected = state.row().map(|row| row.key.clone());
    state.task_words = words;
    state.filter_tasks();
    keep_selected(state, selected.as_ref());
    open_attempt(state)
}

/// Selects the task that was selected before the rows changed, if it is still there.
pub(crate) fn keep_selected(state: &mut State, key: Option<&TaskKey>) {
    let Some(run) = &state.run else { return };
    let is_it = |at: &usize| run.rows.get(*at).map(|row| &row.key) == key;
    match state.kept.iter().position(is_it) {
        Some(at) => state.task_list.at = at,
        None => state.attempt_list.at = 0,
    }
}

fn take_runs(state: &mut State, mut runs: Vec<RunSummary>) -> Vec<Effect> {
    if let Some(only) = &state.only {
        runs.retain(|run| run.key.place == only.place);
    }
    let place = state.run_key.as_ref().map(|key| key.place.clone());
    // A run that is shown because it was the newest one gives way to a newer one.
    let was_newest = state
        .runs
        .iter()
        .flatten()
        .any(|run| Some(&run.key) == state.run_key.as_ref());
    state.runs = Some(runs);
    let kept = state.kept_runs();
    let at = kept
        .iter()
        .position(|run| Some(&run.key.place) == place.as_ref());
    let newest = kept.get(at.unwrap_or(0)).map(|run| run.key.clone());
    let length = kept.len();
    match at {
        Some(at) => state.run_list.at = at,
        None => state.run_list.clamp(length),
    }
    if (state.run_key.is_none() || was_newest)
        && let Some(newest) = newest.filter(|newest| state.run_key.as_ref() != Some(newest))
    {
        return show_run(state, newest);
    }
    state
        .run_key
        .clone()
        .map(Effect::ReadRun)
        .into_iter()
        .collect()
}

fn take_run(state: &mut State, key: &RunKey, run: Option<Box<RunDetails>>) -> Vec<Effect> {
    if state.run_key.as_ref() != Some(key) {
        return Vec::new();
    }
    let selected = state.row().map(|row| row.key.clone());
    let attempt = state.attempt().map(|attempt| attempt.number);
    let is_new = state.run.is_none();
    state.run = run;
    state.filter_tasks();
    keep_selected(state, selected.as_ref());
    // Attempts are listed with the newest one first.
    let at = state
        .attempts()
        .iter()
        .position(|one| Some(one.number) == attempt);
    state.attempt_list.at = at.unwrap_or(0);
    let current = state.summary().and_then(|run| run.current.clone());
    if let Some(current) = current.filter(|_| is_new || state.is_following) {
        state.select_task(&current);
        if state.is_following {
            state.attempt_list.at = 0;
        }
    }
    open_attempt(state)
}

/// Reads the text of the selected attempt, or what was added to it.
pub(crate) fn open_attempt(state: &mut State) -> Vec<Effect> {
    let attempt = state.attempt_ref();
    let blamed = state.blamed();
    let is_live = state.is_live();
    let request = match attempt {
        None => {
            state.document.attempt = None;
            state.document.page = None;
            None
        }
        Some(attempt) if state.document.attempt.as_ref() != Some(&attempt) => {
            state.document.open(attempt, blamed)
        }
        Some(_) if is_live || state.document.was_live => state.document.refresh(blamed),
        Some(_) => None,
    };
    state.document.was_live = is_live;
    request.map(Effect::ReadText).into_iter().collect()
}

/// Reads the lines that should be on the screen, and weren't read yet.
pub(crate) fn read_on(state: &State) -> Vec<Effect> {
    let start = state.document.missing(state.text_rows());
    let request = start.and_then(|start| state.document.request(start, state.blamed()));
    request.map(Effect::ReadText).into_iter().collect()
}

fn take_match(state: &mut State, request: &SearchRequest, line: Option<usize>) -> Vec<Effect> {
    let document = &mut state.document;
    let is_wanted =
        document.attempt.as_ref() == Some(&request.attempt) && document.words == request.words;
    if !is_wanted {
        return Vec::new();
    }
    let Some(line) = line else {
        let place = match (document.found, request.is_backwards) {
            (None, false) => "from here on",
            (None, true) => "above",
            (Some(_), false) => "below",
            (Some(_), true) => "above the last one",
        };
        let text = format!("no line {place} has `{}`", request.words);
        state.notice = Some(Notice {
            text,
            is_good: false,
        });
        return Vec::new();
    };
    document.found = Some(line);
    let rows = state.text_rows();
    state.document.show_line(line, rows);
    read_on(state)
}
