use regreen_model::{Failure, FailureKind};
use regreen_supervisor::{Holders, listeners_on};

use super::{lock, own_processes};
use crate::context::RepairContext;
use crate::failure_text;
use crate::inspect::Proposal;

/// Lower ports belong to the system.
const FIRST_PORT: u16 = 1024;

/// Handles a port that a leftover process of ours still uses.
pub(super) fn inspect(context: &RepairContext<'_>, failure: &Failure) -> Option<Proposal> {
    if failure.kind != FailureKind::PortInUse {
        return None;
    }
    Some(match port(context, failure) {
        Some(port) => held(context, port),
        None => unnamed(context),
    })
}

fn held(context: &RepairContext<'_>, port: u16) -> Proposal {
    match listeners_on(Some(port), context.now) {
        Holders::Unknown => foreign(port, "a process that cannot be inspected"),
        Holders::Known(holders) => match holders.as_slice() {
            [] => Proposal::refused(format!("nothing listens on port {port} now")),
            [holder] if own_processes::is_ours(context, holder) => {
                Proposal::Allowed(lock::ending(holder))
            }
            [holder, ..] => foreign(port, &lock::described(holder)),
        },
    }
}

/// Handles a failure that doesn't name the port: finds our only leftover process that listens.
fn unnamed(context: &RepairContext<'_>) -> Proposal {
    let ours = match listeners_on(None, context.now) {
        Holders::Unknown => Vec::new(),
        Holders::Known(mut all) => {
            all.retain(|process| own_processes::is_ours(context, process));
            all
        }
    };
    match ours.as_slice() {
        [only] => Proposal::Allowed(lock::ending(only)),
        _ => Proposal::for_person(
            "free the port",
            "cannot tell which port it is or who uses it",
        ),
    }
}

fn foreign(port: u16, who: &str) -> Proposal {
    Proposal::for_person(
        &format!("free port {port}, or use another"),
        format!("port {port} is in use by {who}, which is not known to be ours"),
    )
}

/// Returns the port that the output names, or the only one in the task's commands.
fn port(context: &RepairContext<'_>, failure: &Failure) -> Option<u16> {
    let named =
        failure_text::port(failure_text::blocker(failure)).filter(|port| *port >= FIRST_PORT);
    named
        .or_else(|| {
            let near = failure_text::tail(context.output)
                .filter(|line| line.to_ascii_lowercase().contains("in use"));
            near.filter_map(failure_text::port)
                .find(|port| *port >= FIRST_PORT)
        })
        .or_else(|| {
            let numbers = context
                .commands
                .iter()
                .flat_map(|command| command.split(|c: char| !c.is_ascii_digit()));
            let mut ports: Vec<u16> = numbers
                .filter_map(|text| text.parse().ok())
                .filter(|port| *port >= FIRST_PORT)
                .collect();
            ports.sort_unstable();
            ports.dedup();
            match ports.as_slice() {
                [port] => Some(*port),
                _ => None,
            }
        })
}
