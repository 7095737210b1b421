//! `regreen tui`: the runs of this machine on the whole terminal.

use std::sync::Arc;

use regreen_overview::{Machine, RunKey};
use regreen_reporters::Palette;
use regreen_runtime::{SpecPaths, Stop};
use regreen_store::RunId;
use regreen_tui::{Options, Theme};

use crate::exit::Exit;
use crate::known_runs;
use crate::machine::LocalMachine;
use crate::output;
use crate::problem::Problem;

/// Shows all runs until the person leaves.
pub fn run() -> Result<Exit, Problem> {
    if !output::can_take_screen() {
        return Err(Problem::NoTerminal);
    }
    let stop = Stop::default();
    stop.listen().map_err(Problem::Signals)?;
    show(None, &stop)?;
    Ok(Exit::Success)
}

/// Shows one run until the person leaves. Returns whether it could: that takes a terminal, and a
/// state folder of the user, where regreen remembers the run.
pub fn show_run(paths: &SpecPaths, run: &RunId, stop: &Stop) -> Result<bool, Problem> {
    let place = known_runs::place_of(paths).filter(|_| output::can_take_screen());
    let Some(place) = place else {
        return Ok(false);
    };
    let run = run.to_string();
    show(Some(RunKey { place, run }), stop)?;
    Ok(true)
}

fn show(only: Option<RunKey>, stop: &Stop) -> Result<(), Problem> {
    let options = Options {
        only,
        theme: match output::line_style().palette {
            Palette::Plain => Theme::Plain,
            Palette::Coloured => Theme::Coloured,
        },
        stop: stop.wake_pipe().map_err(Problem::Watch)?,
    };
    let machine: Arc<dyn Machine> = Arc::new(LocalMachine::default());
    Ok(regreen_tui::run(&machine, options)?)
}
