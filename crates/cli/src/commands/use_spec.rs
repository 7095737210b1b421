//! `regreen use`: makes a spec the current one.

use std::path::Path;

use clap::Args;
use regreen_documents::{EditError, StateDocument, TaskFile};
use regreen_runtime::SpecPaths;
use regreen_workspace::{
    EditFileError, ReadError, RealDisk, create_file, current_spec_file, edit_file, read_text,
};

use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;
use crate::spec_context::SpecContext;

#[derive(Debug, Args)]
pub struct Use {
    /// Spec name or folder
    #[arg(value_name = "SPEC")]
    pub spec: String,
}

pub fn run(arguments: &Use) -> Result<Exit, Problem> {
    let context = SpecContext::find(Some(&arguments.spec))?;
    let paths = &context.places;
    name_current(paths)?;
    begin_execution(paths)?;
    let (name, file) = (&paths.spec.name, paths.shown(&paths.spec.tasks));
    output::print_text(&format!(
        "{name} is the current spec ({file})\nRun it with: regreen run\n"
    ))?;
    Ok(Exit::Success)
}

/// Names the spec in the file that other commands and the Stop hook read.
pub fn name_current(paths: &SpecPaths) -> Result<(), Problem> {
    let file = current_spec_file(&RealDisk, &paths.root);
    let folder = paths.spec_folder();
    // A spec beside the file is written by name, any other by path.
    let name = if folder.parent() == file.parent() {
        paths.spec.name.clone()
    } else {
        format!("./{}", paths.shown(&folder))
    };
    write(&file, &format!("{name}\n"))
}

/// Marks the spec as in execution in the state file: otherwise the Stop hook lets every session
/// stop.
fn begin_execution(paths: &SpecPaths) -> Result<(), Problem> {
    let tasks = TaskFile::read(read_text(&RealDisk, &paths.spec.tasks)?.text);
    let edited = edit_file(&RealDisk, &paths.state, |text| {
        // The next run rebuilds an unreadable file.
        let after = StateDocument::read(text).ok().map(|(mut state, _)| {
            state.set_phase("execution");
            state.to_text()
        });
        Ok::<_, EditError>(after.filter(|after| after != text))
    });
    match edited {
        Ok(_) => Ok(()),
        Err(EditFileError::Read(ReadError::NotFound { .. })) => create_state(paths, &tasks, None),
        Err(error) => Err(Problem::from_edit(error, &paths.state)),
    }
}

/// Writes a new state file for a spec in this phase.
pub fn create_state(
    paths: &SpecPaths,
    tasks: &TaskFile,
    phase: Option<&str>,
) -> Result<(), Problem> {
    let folder = paths.shown(&paths.spec_folder());
    let mut state = StateDocument::from_tasks(tasks).with_identity(&paths.spec.name, &folder);
    if let Some(phase) = phase {
        state.set_phase(phase);
    }
    create(&paths.state, &state.to_text())
}

fn create(file: &Path, text: &str) -> Result<(), Problem> {
    create_file(&RealDisk, file, text).map_err(Problem::from_create)?;
    Ok(())
}

fn write(file: &Path, text: &str) -> Result<(), Problem> {
    let edited = edit_file(&RealDisk, file, |before| {
        Ok::<_, EditError>((before != text).then(|| text.to_owned()))
    });
    match edited {
        Ok(_) => Ok(()),
        Err(EditFileError::Read(ReadError::NotFound { .. })) => create(file, text),
        Err(error) => Err(Problem::from_edit(error, file)),
    }
}
