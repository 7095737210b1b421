//! `regreen journal`: a run step by step, for `regreen replay`.

use regreen_store::Run;

use crate::arguments::Journal;
use crate::exit::Exit;
use crate::history::SpecHistory;
use crate::output;
use crate::problem::Problem;
use crate::spec_context::SpecContext;

pub fn run(arguments: &Journal) -> Result<Exit, Problem> {
    let context = SpecContext::with_flag(arguments.spec.as_deref())?;
    let history = SpecHistory::open(&context.places)?;
    let runs = history.runs()?;
    let Some(newest) = runs.last() else {
        return Err(Problem::NoRun {
            spec: context.places.spec.name.clone(),
        });
    };
    let run = match &arguments.run {
        None => newest,
        Some(name) => named(&runs, name)?,
    };
    output::print(&output::escaped(&history.journal(run)?))?;
    Ok(Exit::Success)
}

fn named<'r>(runs: &'r [Run], name: &str) -> Result<&'r Run, Problem> {
    let run = runs.iter().find(|run| run.id.as_str() == name);
    run.ok_or_else(|| Problem::NoSuchRun {
        name: name.to_owned(),
        known: runs.iter().map(|run| run.id.to_string()).collect(),
    })
}
