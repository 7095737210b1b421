//! Draws a state. The same state is always the same frame.

mod canvas;
mod dialogs;
mod lists;
mod text;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use regreen_reporters::Tone;

use self::canvas::Canvas;
use crate::bindings::BINDINGS;
use crate::state::State;
use crate::words;

/// Whether the screen has colors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Only bold, dim and reversed text.
    Plain,
    /// The colors of the terminal's own palette.
    #[default]
    Coloured,
}

/// What the screen shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) buffer: Buffer,
    /// Where the next letter is typed.
    pub(crate) cursor: Option<Position>,
}

/// Draws a state.
pub(crate) fn view(state: &State, theme: Theme) -> Frame {
    let area = Rect::new(0, 0, state.size.columns, state.size.rows);
    let mut canvas = Canvas::new(area, theme);
    let layout = state.layout();
    head(&mut canvas, state, layout.head);
    lists::runs(&mut canvas, state, layout.runs);
    lists::tasks(&mut canvas, state, layout.tasks);
    lists::attempts(&mut canvas, state, layout.attempts);
    text::text(&mut canvas, state, layout.text);
    foot(&mut canvas, state, layout.foot);
    let cursor = dialogs::dialog(&mut canvas, state);
    Frame {
        buffer: canvas.buffer,
        cursor,
    }
}

/// Draws what the run is doing, and how to go on if nothing is.
fn head(canvas: &mut Canvas, state: &State, area: Rect) {
    let Some(run) = state.summary() else {
        canvas.line(area, 0, &[(None, "regreen")]);
        return;
    };
    let what = run.doing(state.now);
    let words = run.state.words();
    let (done, all) = run.done;
    let name = format!("{} {done}/{all} ", run.spec);
    let tone = Some(words::run_tone(run.state));
    let cost = Some(words::spent(&run.spent)).filter(|cost| !cost.is_empty());
    let cost = cost.map_or(String::new(), |cost| format!(" · {cost}"));
    match what {
        Some(what) => {
            let state = words::state(run.state);
            let what = format!(" · {what}");
            let parts = [
                (Some(Tone::Strong), name.as_str()),
                (tone, state),
                (None, &what),
                (Some(Tone::Dim), &cost),
            ];
            canvas.line(area, 0, &parts);
        }
        None => {
            let parts = [
                (Some(Tone::Strong), name.as_str()),
                (tone, words),
                (Some(Tone::Dim), &cost),
            ];
            canvas.line(area, 0, &parts);
        }
    }
}

/// Draws what an action came to, or else what the keys do.
fn foot(canvas: &mut Canvas, state: &State, area: Rect) {
    if let Some(notice) = &state.notice {
        let tone = if notice.is_good {
            Tone::Good
        } else {
            Tone::Bad
        };
        canvas.line(area, 0, &[(Some(tone), notice.text.as_str())]);
        return;
    }
    let following = if state.is_following {
        "following · "
    } else {
        ""
    };
    let here = BINDINGS
        .iter()
        .filter(|one| one.scope.includes(state.focus));
    let named = here.filter(|binding| !binding.hint.is_empty());
    let hints: Vec<String> = named
        .filter_map(|binding| Some(format!("{} {}", binding.keys.first()?, binding.hint)))
        .collect();
    let hints = hints.join(" · ");
    canvas.line(
        area,
        0,
        &[(Some(Tone::Action), following), (Some(Tone::Dim), &hints)],
    );
}
