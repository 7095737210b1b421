use regreen_model::{Failure, FailureKind};
use regreen_supervisor::{Holders, listeners_on};

use super::{lock, ours};
use crate::scene::Scene;
use crate::text;
use crate::verdict::Verdict;

/// Ports below belong to the system.
const FIRST_PORT: u16 = 1024;

/// A port that a process of ours, left over, still holds.
pub(super) fn look(scene: &Scene<'_>, failure: &Failure) -> Option<Verdict> {
    if failure.kind != FailureKind::PortInUse {
        return None;
    }
    Some(match port(scene, failure) {
        Some(port) => held(scene, port),
        None => unnamed(scene),
    })
}

fn held(scene: &Scene<'_>, port: u16) -> Verdict {
    match listeners_on(Some(port), scene.now) {
        Holders::Unknown => foreign(port, "a process that cannot be looked into"),
        Holders::Known(holders) => match holders.as_slice() {
            [] => Verdict::refused(format!("nobody listens on port {port} any more")),
            [holder] if ours::is_ours(scene, holder) => Verdict::Allowed(lock::ending(holder)),
            [holder, ..] => foreign(port, &lock::described(holder)),
        },
    }
}

/// Not every program says which port: then it is the only leftover of ours that listens.
fn unnamed(scene: &Scene<'_>) -> Verdict {
    let ours = match listeners_on(None, scene.now) {
        Holders::Unknown => Vec::new(),
        Holders::Known(mut all) => {
            all.retain(|process| ours::is_ours(scene, process));
            all
        }
    };
    match ours.as_slice() {
        [only] => Verdict::Allowed(lock::ending(only)),
        _ => Verdict::persons(
            "free the port",
            "which port it is, and who holds it, cannot be seen",
        ),
    }
}

fn foreign(port: u16, who: &str) -> Verdict {
    Verdict::persons(
        &format!("free port {port}, or use another"),
        format!("port {port} is held by {who}, which is not known to be ours"),
    )
}

/// The port that the line names, else the only one in what the task runs.
fn port(scene: &Scene<'_>, failure: &Failure) -> Option<u16> {
    let named = text::port(text::blocker(failure)).filter(|port| *port >= FIRST_PORT);
    named
        .or_else(|| {
            let near = text::tail(scene.output)
                .filter(|line| line.to_ascii_lowercase().contains("in use"));
            near.filter_map(text::port).find(|port| *port >= FIRST_PORT)
        })
        .or_else(|| {
            let numbers = scene
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
