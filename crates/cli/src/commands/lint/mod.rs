//! `regreen lint`: what regreen understands of a task file, for the person who wrote it.

mod check;
mod finding;
mod summary;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use regreen_documents::TaskFile;
use regreen_workspace::{
    Programs, ReadError, RealDisk, find_spec, propose_gate, read_text, workspace_root,
};

use self::finding::{Page, line_starts};
use crate::arguments::Lint;
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;

pub fn run(arguments: &Lint) -> Result<Exit, Problem> {
    let here = here()?;
    let root = workspace_root(&RealDisk, &here);
    let spec = find_spec(&RealDisk, &root, &here, arguments.spec.as_deref())?;
    let name = output::path_from(&here, &spec.tasks);
    let text = read_text(&RealDisk, &spec.tasks)?.text;
    let file = TaskFile::read(text.as_str());
    let programs = Programs::new(&path_variable(), &root);
    let findings = check::all(
        &file,
        |word| programs.has(&RealDisk, word),
        propose_gate(&RealDisk, &root),
    );
    let page = Page {
        text: Arc::new(output::printable(&text)),
        lines: line_starts(&text),
        name: name.clone(),
    };
    output::print(&summary::of(&name, &file, findings.len()))?;
    for finding in findings {
        output::print(&finding.render(&page, output::line_style().palette))?;
    }
    Ok(Exit::AllGreen)
}

/// The folder regreen was started in.
pub fn here() -> Result<PathBuf, Problem> {
    std::env::current_dir().map_err(|source| {
        Problem::Read(ReadError::Io {
            path: PathBuf::from("."),
            source,
        })
    })
}

pub fn path_variable() -> OsString {
    std::env::var_os("PATH").unwrap_or_default()
}
