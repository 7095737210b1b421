//! `regreen hook status`: tells a session how far the workspace's spec is.

use regreen_agents::untrusted;

use super::HookInput;
use super::decision::fill;
use crate::commands::inspect::open_work;
use crate::spec_context::SpecContext;

/// A long plan is cut in the middle; `regreen status` shows all of it.
const BUDGET: usize = 3000;

/// Returns what to tell the session; `None` if there is no spec, or nothing is open.
pub(super) fn status(input: &[u8]) -> Option<String> {
    let input = HookInput::read(input)?;
    // A workspace whose specs or journal can't be read is not this session's concern.
    let context = SpecContext::in_folder(input.cwd).ok()?;
    let status = open_work(&context).ok()??;
    let template = include_str!("status.md");
    Some(fill(template, &[("status", untrusted(&status, BUDGET))]))
}
