//! What keys do outside of dialogs.

use regreen_model::TaskKey;
use regreen_overview::TaskFilter;

use crate::bindings::Command;
use crate::decide;
use crate::details::details;
use crate::dialog::{Dialog, Input, Purpose};
use crate::document::Anchor;
use crate::event::Effect;
use crate::flow::first_shown;
use crate::state::{Notice, Panel, State};
use crate::update::{keep_selected, open_attempt, read_on, show_selected_run};

/// How far a line is scrolled sideways.
const SIDEWAYS: usize = 16;

/// Does what a key asks for.
pub(crate) fn perform(state: &mut State, command: Command) -> Vec<Effect> {
    let page = page_rows(state).cast_signed();
    match command {
        Command::Down => step(state, 1),
        Command::Up => step(state, -1),
        Command::PageDown => step(state, page),
        Command::PageUp => step(state, -page),
        Command::First => step(state, isize::MIN / 2),
        Command::Last => step(state, isize::MAX / 2),
        Command::NextPanel => go_beside(state, 1),
        Command::PreviousPanel => go_beside(state, -1),
        Command::Go(panel) => go(state, panel),
        Command::Open => open(state),
        Command::Back => back(state),
        Command::NextTab => turn(state, 1),
        Command::PreviousTab => turn(state, -1),
        Command::Search => ask_for_words(state),
        Command::NextMatch => search(state, false),
        Command::PreviousMatch => search(state, true),
        Command::NextFilter => next_filter(state),
        Command::GoToCurrent => go_to_current(state),
        Command::Follow => follow(state),
        Command::GoToBlamed => go_to_blamed(state),
        Command::Wrap => {
            state.document.is_wrapped = !state.document.is_wrapped;
            state.document.left = 0;
            Vec::new()
        }
        Command::ScrollLeft => scroll_sideways(state, -SIDEWAYS.cast_signed()),
        Command::ScrollRight => scroll_sideways(state, SIDEWAYS.cast_signed()),
        Command::Answer => decide::answer(state),
        Command::Retry => decide::decide(state, regreen_model::ChoiceKind::Retry),
        Command::Skip => decide::decide(state, regreen_model::ChoiceKind::Skip),
        Command::Done => decide::decide(state, regreen_model::ChoiceKind::Done),
        Command::Stop => decide::stop(state),
        Command::EarlierRuns => decide::earlier_runs(state),
        Command::Help => {
            state.dialog = Some(Dialog::Help(0));
            Vec::new()
        }
        Command::Refresh => vec![Effect::Repaint, Effect::ReadRuns],
        Command::Suspend => vec![Effect::Suspend],
        Command::Quit => vec![Effect::Quit],
    }
}

/// Returns how many rows a page of the panel in use has.
fn page_rows(state: &State) -> usize {
    let height = state.layout().panel(state.focus).height;
    usize::from(height.saturating_sub(3)).max(1)
}

/// Moves in the panel in use.
fn step(state: &mut State, by: isize) -> Vec<Effect> {
    match state.focus {
        Panel::Runs => {
            let length = state.kept_runs().len();
            state.run_list.step(by, length);
            state.details_top = 0;
            show_selected_run(state)
        }
        Panel::Tasks => {
            state.is_following = false;
            let before = state.task_list;
            state.task_list.step(by, state.kept.len());
            if state.task_list != before {
                state.attempt_list.at = 0;
                state.details_top = 0;
            }
            open_attempt(state)
        }
        Panel::Attempts => {
            state.is_following = false;
            let length = state.attempts().len();
            state.attempt_list.step(by, length);
            state.details_top = 0;
            open_attempt(state)
        }
        Panel::Text => scroll(state, by),
    }
}

/// Scrolls the text.
fn scroll(state: &mut State, by: isize) -> Vec<Effect> {
    let rows = state.text_rows();
    if !state.shows_document() {
        let last_top = details(state).len().saturating_sub(rows);
        state.details_top = state.details_top.saturating_add_signed(by).min(last_top);
        return Vec::new();
    }
    let Some((top, total)) = shown(state) else {
        return Vec::new();
    };
    let wanted = top.saturating_add_signed(by).max(1);
    let is_end = wanted.saturating_add(rows) > total && by > 0;
    state.document.anchor = if is_end {
        Anchor::End
    } else {
        state.is_following = false;
        Anchor::Line(wanted.min(total.max(1)))
    };
    read_on(state)
}

/// Returns the number of the first line on the screen, and of the last line of the text.
fn shown(state: &State) -> Option<(usize, usize)> {
    let page = state.document.lines()?;
    let first = page.lines.first()?.number;
    let lines: Vec<&str> = page.lines.iter().map(|line| line.text.as_str()).collect();
    let size = (state.text_columns(), state.text_rows());
    let wraps = state.document.is_wrapped;
    let at = first_shown(&lines, first, state.document.anchor, size, wraps);
    Some((first + at, page.total))
}

fn scroll_sideways(state: &mut State, by: isize) -> Vec<Effect> {
    state.document.is_wrapped = false;
    state.document.left = state.document.left.saturating_add_signed(by);
    Vec::new()
}

fn go_beside(state: &mut State, by: isize) -> Vec<Effect> {
    match state.focus.neighbour(by) {
        Some(panel) => go(state, panel),
        None => Vec::new(),
    }
}

/// Turns to a panel.
fn go(state: &mut State, panel: Panel) -> Vec<Effect> {
    state.focus = panel;
    if panel != Panel::Text && state.subject != panel {
        state.subject = panel;
        state.details_top = 0;
    }
    read_on(state)
}

fn open(state: &mut State) -> Vec<Effect> {
    match state.focus {
        Panel::Tasks if state.attempts().is_empty() => go(state, Panel::Text),
        Panel::Text => Vec::new(),
        _ => go_beside(state, 1),
    }
}

fn back(state: &mut State) -> Vec<Effect> {
    match state.focus {
        Panel::Runs if !state.run_words.is_empty() => {
            state.run_words.clear();
            show_selected_run(state)
        }
        Panel::Tasks if !state.task_words.is_empty() || state.filter != TaskFilter::All => {
            state.task_words.clear();
            state.filter = TaskFilter::All;
            refilter(state)
        }
        Panel::Text => go(state, state.subject),
        _ => go_beside(state, -1),
    }
}

/// Turns to another text of the attempt.
fn turn(state: &mut State, by: isize) -> Vec<Effect> {
    let Some(attempt) = state.attempt_ref() else {
        return refuse(state, "there is no attempt at this task in this run");
    };
    let next = state.document.tab().neighbour(by);
    // From elsewhere, the first press only shows the attempt.
    if state.subject == Panel::Attempts {
        state.document.chosen = Some(next);
    }
    state.subject = Panel::Attempts;
    state.details_top = 0;
    let blamed = state.blamed();
    let request = state.document.open(attempt, blamed);
    request.map(Effect::ReadText).into_iter().collect()
}

fn ask_for_words(state: &mut State) -> Vec<Effect> {
    let (title, text, purpose) = match state.focus {
        Panel::Runs => ("Show runs with", state.run_words.clone(), Purpose::Filter),
        Panel::Tasks | Panel::Attempts => {
            state.focus = Panel::Tasks;
            ("Show tasks with", state.task_words.clone(), Purpose::Filter)
        }
        Panel::Text if state.shows_document() => ("Search for", String::new(), Purpose::Search),
        Panel::Text => return refuse(state, "turn to a log, diff or prompt with ] to search it"),
    };
    state.dialog = Some(Dialog::Input(Input {
        title: title.to_owned(),
        text,
        purpose,
    }));
    Vec::new()
}

/// Searches the text for the words that were typed last.
pub(crate) fn search(state: &mut State, is_backwards: bool) -> Vec<Effect> {
    let top = shown(state).map_or(1, |(top, _)| top);
    state.is_following = false;
    let request = state.document.search(top, is_backwards);
    request.map(Effect::Search).into_iter().collect()
}

fn next_filter(state: &mut State) -> Vec<Effect> {
    let all = TaskFilter::ALL;
    let at = all.iter().position(|filter| *filter == state.filter);
    let next = at.and_then(|at| all.get(at + 1)).copied();
    state.filter = next.unwrap_or_default();
    refilter(state)
}

fn refilter(state: &mut State) -> Vec<Effect> {
    let selected: Option<TaskKey> = state.row().map(|row| row.key.clone());
    state.filter_tasks();
    keep_selected(state, selected.as_ref());
    open_attempt(state)
}

fn go_to_current(state: &mut State) -> Vec<Effect> {
    let Some(current) = state.summary().and_then(|run| run.current.clone()) else {
        return refuse(state, "the run has not turned to a task yet");
    };
    state.select_task(&current);
    state.attempt_list.at = 0;
    let mut effects = go(state, Panel::Tasks);
    effects.extend(open_attempt(state));
    effects
}

fn follow(state: &mut State) -> Vec<Effect> {
    state.is_following = !state.is_following;
    if !state.is_following {
        return Vec::new();
    }
    let current = state.summary().and_then(|run| run.current.clone());
    if let Some(current) = current {
        state.select_task(&current);
    }
    state.attempt_list.at = 0;
    state.subject = Panel::Attempts;
    state.document.chosen = None;
    state.document.attempt = None;
    open_attempt(state)
}

/// Shows the line that a failure is blamed on: of the selected attempt, or else the last one that
/// failed.
fn go_to_blamed(state: &mut State) -> Vec<Effect> {
    let attempts = state.attempts();
    let failed = |at: &usize| attempts.get(*at).is_some_and(|one| one.failure.is_some());
    let at = Some(state.attempt_list.at).filter(failed);
    let Some(at) = at.or_else(|| (0..attempts.len()).find(failed)) else {
        return refuse(state, "no attempt at this task has failed in this run");
    };
    state.attempt_list.at = at;
    state.is_following = false;
    state.subject = Panel::Attempts;
    state.document.chosen = None;
    state.document.attempt = None;
    state.focus = Panel::Text;
    open_attempt(state)
}

/// Says why nothing happens.
pub(crate) fn refuse(state: &mut State, why: &str) -> Vec<Effect> {
    state.notice = Some(Notice {
        text: why.to_owned(),
        is_good: false,
    });
    Vec::new()
}
