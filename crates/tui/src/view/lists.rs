//! The lists: runs, tasks, attempts.

use ratatui::layout::Rect;
use regreen_model::{OutlineKind, OutlineRow, Span};
use regreen_overview::{AttemptView, RunDetails, RunSummary, TaskFilter, TaskState, prompt_words};
use regreen_reporters::{Tone, headline};

use super::canvas::Canvas;
use crate::list::Selection;
use crate::state::{Panel, State};
use crate::words;

/// Deeper rows are not indented any further.
const MAX_DEPTH: u16 = 8;
/// The columns of the state of a task.
const STATE_WIDTH: usize = 10;

pub(super) fn runs(canvas: &mut Canvas, state: &State, area: Rect) {
    let kept = state.kept_runs();
    let words = filtered(&state.run_words);
    let title = match &state.only {
        Some(_) => "1 Run".to_owned(),
        None => format!("1 Runs ({}){words}", kept.len()),
    };
    let empty = match &state.runs {
        None => "reading…",
        Some(all) if all.is_empty() => "no runs yet; `regreen run` starts one",
        Some(_) => "no run is like that",
    };
    let list = List {
        panel: Panel::Runs,
        title,
        length: kept.len(),
        selection: state.run_list,
        empty,
    };
    draw(canvas, state, area, &list, |canvas, line, at| {
        if let Some(run) = kept.get(at) {
            run_row(canvas, line, run);
        }
    });
}

fn run_row(canvas: &mut Canvas, line: Rect, run: &RunSummary) {
    let (done, all) = run.done;
    let place = format!(" {done}/{all} · {}", run.workspace);
    let tone = Some(words::run_tone(run.state));
    let question = if run.questions.is_empty() { "" } else { "? " };
    let parts = [
        (Some(Tone::Question), question),
        (Some(Tone::Strong), run.spec.as_str()),
        (Some(Tone::Dim), &place),
    ];
    canvas.line(line, 0, &parts);
    let state = format!(" {}", words::state(run.state));
    canvas.line_end(line, 0, tone, &state);
}

pub(super) fn tasks(canvas: &mut Canvas, state: &State, area: Rect) {
    let mut title = "2 Tasks".to_owned();
    if let Some(run) = &state.run {
        title = format!("2 Tasks ({} of {})", state.kept.len(), run.rows.len());
    }
    if state.filter != TaskFilter::All {
        title = format!("{title} · {}", state.filter.words());
    }
    title.push_str(&filtered(&state.task_words));
    let list = List {
        panel: Panel::Tasks,
        title,
        length: state.kept.len(),
        selection: state.task_list,
        empty: match &state.run {
            None => "",
            Some(run) if run.rows.is_empty() => "the plan has no tasks",
            Some(_) => "no task is like that",
        },
    };
    draw(canvas, state, area, &list, |canvas, line, at| {
        let row = state.kept.get(at);
        let row =
            row.and_then(|at| Some((state.run.as_ref()?, state.run.as_ref()?.rows.get(*at)?)));
        if let Some((run, row)) = row {
            task_row(canvas, line, run, row);
        }
    });
}

fn task_row(canvas: &mut Canvas, line: Rect, run: &RunDetails, row: &OutlineRow) {
    let task_state = TaskState::of_row(run, row);
    let tone = words::task_tone(task_state);
    let state = format!("{:<STATE_WIDTH$}", task_state.words());
    let indent = usize::from(row.depth.min(MAX_DEPTH)) * 2;
    let (indent, name) = (" ".repeat(indent), words::name(&row.key));
    let (name_tone, kind) = match row.kind {
        OutlineKind::Fix => (None, "└ "),
        OutlineKind::Group => (Some(Tone::Strong), ""),
        OutlineKind::Task => (None, ""),
    };
    let parts = [
        (tone, state.as_str()),
        (None, indent.as_str()),
        (Some(Tone::Dim), kind),
        (name_tone, name.as_str()),
    ];
    canvas.line(line, 0, &parts);
}

pub(super) fn attempts(canvas: &mut Canvas, state: &State, area: Rect) {
    let attempts = state.attempts();
    let id = state.row().map(|row| format!(" at {}", row.key.id));
    let list = List {
        panel: Panel::Attempts,
        title: format!("3 Attempts{} ({})", id.unwrap_or_default(), attempts.len()),
        length: attempts.len(),
        selection: state.attempt_list,
        empty: "none in this run",
    };
    draw(canvas, state, area, &list, |canvas, line, at| {
        if let Some(attempt) = attempts.get(at) {
            attempt_row(canvas, line, attempt, at == 0 && state.is_live());
        }
    });
}

fn attempt_row(canvas: &mut Canvas, line: Rect, attempt: &AttemptView, is_live: bool) {
    let number = format!("{:>3} ", attempt.number);
    let took = attempt
        .took_ms
        .map(|millis| Span::from_millis(millis).to_string());
    let (tone, state) = match (&attempt.failure, attempt.took_ms) {
        (Some(_), _) => (Some(Tone::Bad), "failed "),
        (None, None) if is_live => (Some(Tone::Action), "now "),
        (None, None) => (Some(Tone::Warning), "interrupted "),
        (None, Some(_)) => (None, ""),
    };
    let why = match &attempt.failure {
        Some(failure) => headline(failure),
        None => prompt_words(attempt.prompt).to_owned(),
    };
    let took = took.map_or(String::new(), |took| format!("{took} "));
    let parts = [
        (Some(Tone::Strong), number.as_str()),
        (tone, state),
        (Some(Tone::Dim), &took),
        (None, &why),
    ];
    canvas.line(line, 0, &parts);
}

fn filtered(words: &str) -> String {
    if words.is_empty() {
        String::new()
    } else {
        format!(" · /{words}")
    }
}

/// What all lists have.
struct List {
    panel: Panel,
    title: String,
    length: usize,
    selection: Selection,
    /// What stands in a list without rows.
    empty: &'static str,
}

/// Draws the rows of a list that are on the screen.
fn draw(
    canvas: &mut Canvas,
    state: &State,
    area: Rect,
    list: &List,
    row: impl Fn(&mut Canvas, Rect, usize),
) {
    if area.height == 0 {
        return;
    }
    let is_in_use = state.focus == list.panel;
    let inside = canvas.panel(area, &list.title, is_in_use);
    if list.length == 0 {
        canvas.line(inside, 0, &[(Some(Tone::Dim), list.empty)]);
        return;
    }
    let top = list.selection.top(list.length, inside.height.into());
    for (at, y) in (top..list.length).zip(0..inside.height) {
        let line = Rect {
            y: inside.y + y,
            height: 1,
            ..inside
        };
        row(canvas, line, at);
        if at == list.selection.at {
            canvas.select(inside, y, is_in_use);
        }
    }
}
