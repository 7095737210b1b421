//! `regreen failures`: lists failed attempts, the response to each, and whether it helped.

mod entry;
mod page;
mod tried;

use regreen_runtime::{now, open_store_read_only};
use regreen_workspace::{RealDisk, workspace_root};

use self::entry::Entry;
use crate::arguments::{Failures, Since};
use crate::config::Count;
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;
use crate::spec_context::current_dir;

/// Lists failures, newest last.
pub fn run(arguments: &Failures) -> Result<Exit, Problem> {
    let root = workspace_root(&RealDisk, &current_dir()?);
    let since = arguments.since.map(|since: Since| since.moment(now()));
    let entries = match open_store_read_only(&root)? {
        Some(store) => Entry::all(&store, &root, since.unwrap_or_default())?,
        None => Vec::new(),
    };
    let entries = wanted(entries, arguments);
    if arguments.json {
        output::print(&output::json(&entries))?;
    } else {
        output::print_lines(&page::lines(&entries))?;
    }
    Ok(Exit::Success)
}

fn wanted(mut entries: Vec<Entry>, arguments: &Failures) -> Vec<Entry> {
    if let Some(kind) = arguments.kind {
        entries.retain(|entry| entry.kind == kind.name());
    }
    let most = arguments.limit.map(Count::get);
    let most = most.and_then(|most| usize::try_from(most).ok());
    let most = most.unwrap_or(usize::MAX);
    entries.split_off(entries.len().saturating_sub(most))
}
