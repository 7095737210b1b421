//! `regreen report`: what a run has done, for someone who wasn't there.

mod html;
mod junit;
mod markdown;
mod sections;
mod text;

use std::path::Path;

use regreen_overview::{Report as RunReport, RunView};
use regreen_runtime::workspace_masks;
use regreen_store::Run;

pub use self::junit::{begin as begin_junit, end as end_junit};
use self::sections::Page;
use crate::arguments::Report;
use crate::exit::Exit;
use crate::history::SpecHistory;
use crate::known_runs::KnownRun;
use crate::output;
use crate::problem::Problem;
use crate::spec_context::{SpecContext, own_secrets};

pub fn run(arguments: &Report) -> Result<Exit, Problem> {
    let context = SpecContext::with_flag(arguments.spec.as_deref())?;
    let history = SpecHistory::open(&context.places)?;
    let name = context.places.spec.name.clone();
    let run = history.run_named(arguments.run.as_deref(), &name)?;
    if let Some(file) = &arguments.junit {
        junit::write(file, &context.places, &run)?;
        note_file(&context, file);
        return Ok(Exit::Success);
    }
    let report = report(&context, &history, &run)?;
    let masks = workspace_masks(&context.places.root, &own_secrets());
    if let Some(file) = &arguments.html {
        let page = masks.mask(&html::page(&Page::of(&report)));
        write(file, &page)?;
        note_file(&context, file);
        return Ok(Exit::Success);
    }
    if arguments.json {
        output::print(&masks.mask(&output::json(&report)))?;
    } else if arguments.markdown {
        output::print(&masks.mask(&markdown::page(&Page::of(&report))))?;
    } else {
        let style = output::line_style();
        output::print(&masks.mask(&text::page(&Page::of(&report), style)))?;
    }
    Ok(Exit::Success)
}

/// Reports about a run; only the newest one can be at work, or be settled by later choices.
fn report(context: &SpecContext, history: &SpecHistory, run: &Run) -> Result<RunReport, Problem> {
    let name = &context.places.spec.name;
    let newest = KnownRun::read(context.places.clone())?;
    if let Some(newest) = newest.filter(|newest| newest.view.run == run.id.as_str()) {
        let is_active = newest.holder.is_some();
        return Ok(RunReport::new(&newest.view, name, is_active));
    }
    let mut view = RunView::default();
    for (at, event) in history.events(run)? {
        view.apply(at, &event);
    }
    Ok(RunReport::new(&view, name, false))
}

fn note_file(context: &SpecContext, file: &Path) {
    let shown = output::path_from(&context.here, file);
    output::note(&format!("the report is in {shown}"));
}

fn write(file: &Path, text: &str) -> Result<(), Problem> {
    std::fs::write(file, text).map_err(|source| Problem::WriteReport {
        path: file.to_owned(),
        flag: "--html",
        source,
    })
}
