//! `regreen demo`: a run that heals, to look at, in a project of its own.

mod place;
mod plan_diff;
mod project;
mod words;

pub use self::project::ProjectError;

use self::project::Project;
use self::words::Words;
use super::{Run, inspect};
use crate::arguments::{OneTask, Status, Why};
use crate::config::{AgentFlags, SettingFlags};
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;
use crate::spec_context::current_dir;

const SPEC: &str = "hello";
const AGENT: &str = "command:sh agent.sh";
/// A second list, which no agent is needed for.
const REPAIRED: &str = "release";
const NO_AGENT: &str = "shell";
/// Its story is told.
const HEALED: &str = "1.2";

pub fn run() -> Result<Exit, Problem> {
    let project = Project::make(&current_dir()?)?;
    let words = Words::about(&project);
    output::print(&words.before())?;
    // Everything is now as if somebody had gone there to start `regreen run`.
    std::env::set_current_dir(&project.folder).map_err(|source| ProjectError::Enter {
        folder: project.folder.clone(),
        source,
    })?;
    // The user's own settings are for their own projects.
    match super::run::run_for(&the_run(SPEC, AGENT), None)? {
        Exit::Success => show(&project, &words)?,
        exit => return unfinished(&words, exit),
    }
    project.add_release()?;
    output::print(&words.before_repairs())?;
    match super::run::run_for(&the_run(REPAIRED, NO_AGENT), None)? {
        Exit::Success => output::print(&words.repaired(&project.release()?))?,
        exit => return unfinished(&words, exit),
    }
    output::print(&words.onward())?;
    Ok(Exit::Success)
}

fn unfinished(words: &Words<'_>, exit: Exit) -> Result<Exit, Problem> {
    output::print(&words.unfinished())?;
    Ok(exit)
}

/// What came of the run, as the commands tell it that are there for that.
fn show(project: &Project, words: &Words<'_>) -> Result<(), Problem> {
    output::print(&words.after())?;
    output::print("\n$ regreen status\n\n")?;
    inspect::status(&Status {
        spec: None,
        json: false,
    })?;
    output::print(&format!("\n$ regreen why {HEALED}\n\n"))?;
    inspect::why(&why())?;
    output::print(&words.plan_diff(&project.tasks()?))
}

fn the_run(spec: &str, agent: &str) -> Run {
    Run {
        recovery_mode: true,
        no_recovery_mode: false,
        max_fix_tasks: None,
        keep_going: false,
        spec: Some(spec.to_owned()),
        only: None,
        dry_run: false,
        no_input: true,
        json: false,
        settings: SettingFlags {
            agent: AgentFlags {
                agent: agent.parse().ok(),
                ..AgentFlags::default()
            },
            ..SettingFlags::default()
        },
    }
}

fn why() -> Why {
    Why {
        which: OneTask {
            task: HEALED.to_owned(),
            line: None,
            spec: None,
        },
        diff: false,
    }
}
