//! `regreen demo`: shows a run that heals itself, in a throwaway project.

mod place;
mod plan_diff;
mod project;
mod words;

use regreen_reporters::Palette;

use self::project::Project;
pub use self::project::ProjectError;
use self::words::DemoText;
use super::{Run, inspect};
use crate::arguments::{OneTask, Status, Why};
use crate::config::{AgentFlags, SettingFlags};
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;
use crate::spec_context::current_dir;

const SPEC: &str = "hello";
const AGENT: &str = "command:sh agent.sh";
/// A second list, which needs no agent.
const REPAIRED: &str = "release";
const NO_AGENT: &str = "shell";
/// The task whose history is shown.
const HEALED: &str = "1.2";

pub fn run() -> Result<Exit, Problem> {
    let project = Project::make(&current_dir()?)?;
    let text = DemoText::about(&project);
    // From here on, everything works as if someone had started `regreen run` there.
    let enter = || {
        std::env::set_current_dir(&project.folder).map_err(|source| ProjectError::Enter {
            folder: project.folder.clone(),
            source,
        })
    };
    if output::is_terminal() {
        let palette = output::line_style().palette;
        output::print(&text.short_before(palette))?;
        enter()?;
        return in_short(&project, &text, palette);
    }
    output::print(&text.before())?;
    enter()?;
    in_full(&project, &text)
}

/// Shows one run; the commands that it names show the rest.
fn in_short(project: &Project, text: &DemoText<'_>, palette: Palette) -> Result<Exit, Problem> {
    // The user's own settings are for their own projects.
    match super::run::run_for(&the_run(SPEC, AGENT), None)? {
        Exit::Success => {}
        exit => return unfinished(text, exit),
    }
    project.add_release()?;
    output::print(&text.short_after(&project.tasks()?, palette))?;
    Ok(Exit::Success)
}

/// Shows everything.
fn in_full(project: &Project, text: &DemoText<'_>) -> Result<Exit, Problem> {
    match super::run::run_for(&the_run(SPEC, AGENT), None)? {
        Exit::Success => show(project, text)?,
        exit => return unfinished(text, exit),
    }
    project.add_release()?;
    output::print(&text.before_repairs())?;
    match super::run::run_for(&the_run(REPAIRED, NO_AGENT), None)? {
        Exit::Success => output::print(&text.repaired(&project.release()?))?,
        exit => return unfinished(text, exit),
    }
    output::print(&text.onward())?;
    Ok(Exit::Success)
}

fn unfinished(text: &DemoText<'_>, exit: Exit) -> Result<Exit, Problem> {
    output::print(&text.unfinished())?;
    Ok(exit)
}

/// Shows the result of the run with the inspecting commands.
fn show(project: &Project, text: &DemoText<'_>) -> Result<(), Problem> {
    output::print(&text.after())?;
    output::print("\n$ regreen status\n\n")?;
    inspect::status(&Status {
        spec: None,
        json: false,
    })?;
    output::print(&format!("\n$ regreen why {HEALED}\n\n"))?;
    inspect::why(&why())?;
    output::print(&text.plan_diff(&project.tasks()?))
}

fn the_run(spec: &str, agent: &str) -> Run {
    Run {
        recovery_mode: true,
        no_recovery_mode: false,
        max_fix_tasks: None,
        keep_going: false,
        wait_for_answers: None,
        spec: Some(spec.to_owned()),
        only: None,
        dry_run: false,
        no_input: true,
        detach: false,
        detached: false,
        json: false,
        junit: None,
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
