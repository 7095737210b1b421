//! `regreen failures`: lists failed attempts, the response to each, and whether it helped.

mod entry;
mod page;

use regreen_model::{FailureKind, Timestamp};
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
    let wanted = Wanted::of(arguments);
    let mut entries = match open_store_read_only(&root)? {
        Some(store) => Entry::last(&store, &root, &wanted)?,
        None => Vec::new(),
    };
    let entries = entries.split_off(entries.len().saturating_sub(wanted.most));
    if arguments.json {
        output::print(&output::json(&entries))?;
    } else {
        output::print_lines(&page::lines(&entries))?;
    }
    Ok(Exit::Success)
}

/// Which failures are listed.
struct Wanted {
    since: Timestamp,
    kind: Option<FailureKind>,
    most: usize,
}

impl Wanted {
    fn of(arguments: &Failures) -> Self {
        let since = arguments.since.map(|since: Since| since.moment(now()));
        let most = arguments.limit.map(Count::get);
        let most = most.and_then(|most| usize::try_from(most).ok());
        Self {
            since: since.unwrap_or_default(),
            kind: arguments.kind,
            most: most.unwrap_or(usize::MAX),
        }
    }

    fn has(&self, kind: &str) -> bool {
        self.kind.is_none_or(|wanted| wanted.name() == kind)
    }
}
