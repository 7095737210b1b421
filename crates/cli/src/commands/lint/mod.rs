//! `regreen lint`: what regreen understands of a task file, for the person who wrote it.

mod check;
mod finding;
mod summary;

use std::sync::Arc;

use regreen_documents::TaskFile;
use regreen_workspace::{Programs, RealDisk, find_spec, propose_gate, read_text, workspace_root};

use self::finding::{Page, line_starts};
use crate::arguments::Lint;
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;
use crate::spec_context::{current_dir, path_variable};

pub fn run(arguments: &Lint) -> Result<Exit, Problem> {
    let here = current_dir()?;
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
    Ok(Exit::Success)
}
