//! Carrying out, checking and undoing: one file per deed.

mod copy_file;
mod end_process;
mod line_ends;
mod make_executable;
mod make_folder;
mod own_entries;
mod run_tools;
mod set_aside;

use crate::half_done;
use crate::plan::{Deed, Plan};
use crate::runner::Runner;
use crate::scene::Scene;

pub(crate) use set_aside::set_aside;

/// Says first what it will make, so that a crash leaves nothing half made that passes for
/// whole; what did not help is undone. The error says why.
pub(crate) fn carry_out(
    scene: &Scene<'_>,
    plan: &Plan,
    runner: &mut dyn Runner,
) -> Result<(), String> {
    let made = half_done::new_things(scene, plan);
    if made.is_empty() {
        return act(scene, plan, runner);
    }
    let cannot = |error: std::io::Error| format!("`.regreen` cannot be written: {error}");
    half_done::begin(scene, plan, &made).map_err(cannot)?;
    let result = act(scene, plan, runner);
    if result.is_err() {
        for path in &made {
            // Most often there is nothing.
            let _ = set_aside(scene, path);
        }
    }
    half_done::end(scene).map_err(cannot)?;
    result
}

/// Does it and looks whether it holds; what did not help is undone. The error says why.
fn act(scene: &Scene<'_>, plan: &Plan, runner: &mut dyn Runner) -> Result<(), String> {
    match &plan.deed {
        Deed::Environment => Ok(()),
        Deed::MakeExecutable(path) => make_executable::carry_out(scene, path),
        Deed::MakeFolder(path) => make_folder::carry_out(scene, path),
        Deed::UnixLineEnds(path) => line_ends::carry_out(scene, path),
        Deed::CopyFile { from, to } => copy_file::carry_out(scene, from, to),
        Deed::SetAside(path) => set_aside::carry_out(scene, path),
        Deed::EndProcess { pid, start } => end_process::carry_out(scene, *pid, *start),
        Deed::RunTools(run) => run_tools::carry_out(scene, run, runner),
        Deed::Persons => Err(format!("only a person can do this: {}", plan.does)),
    }
}
