//! `regreen demo`: a run to look at, in a project of its own.

mod place;
mod project;
mod words;

pub use self::project::ProjectError;

use self::project::Project;
use self::words::Words;
use super::here;
use crate::arguments::{Run, SettingFlags};
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;

const SPEC: &str = "hello";
const AGENT: &str = "command:sh agent.sh";

pub fn run() -> Result<Exit, Problem> {
    let project = Project::make(&here()?)?;
    let words = Words::about(&project);
    output::print(&words.before())?;
    // Everything is now as if somebody had gone there to start `regreen run`.
    std::env::set_current_dir(&project.folder).map_err(|source| ProjectError::Enter {
        folder: project.folder.clone(),
        source,
    })?;
    // The user's own settings are for their own projects.
    let exit = super::run::run_for(&arguments(), None)?;
    output::print(&words.after(exit))?;
    Ok(exit)
}

fn arguments() -> Run {
    Run {
        recovery_mode: false,
        no_recovery_mode: false,
        max_fix_tasks: None,
        keep_going: false,
        spec: Some(SPEC.to_owned()),
        only: None,
        dry_run: false,
        no_input: true,
        json: false,
        settings: SettingFlags {
            agent: AGENT.parse().ok(),
            ..SettingFlags::default()
        },
    }
}
