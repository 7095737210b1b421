//! `regreen journal`: prints a run step by step, for `regreen replay`.

use crate::arguments::Journal;
use crate::exit::Exit;
use crate::history::SpecHistory;
use crate::output;
use crate::problem::Problem;
use crate::spec_context::SpecContext;

pub fn run(arguments: &Journal) -> Result<Exit, Problem> {
    let context = SpecContext::with_flag(arguments.spec.as_deref())?;
    let history = SpecHistory::open(&context.places)?;
    let run = history.run_named(arguments.run.as_deref(), &context.places.spec.name)?;
    output::print(&output::escaped(&history.journal(&run)?))?;
    Ok(Exit::Success)
}
