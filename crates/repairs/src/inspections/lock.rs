use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

use regreen_model::{Failure, FailureKind, RepairAction};
use regreen_supervisor::{Holders, ProcessInfo, holders_of_file, process_exists, process_info};
use regreen_workspace::{PathStatus, RelPath, path_status};
use rustix::process::geteuid;

use super::own_processes;
use crate::context::RepairContext;
use crate::failure_text;
use crate::git_lock::LockOwner;
use crate::inspect::Proposal;
use crate::package_names::is_listed;
use crate::plan::{Action, RepairPlan};

/// Files with the extension `.lock` that lock nothing.
const NO_LOCKS: &str = "\
    Cargo.lock yarn.lock poetry.lock uv.lock pdm.lock Pipfile.lock Gemfile.lock composer.lock \
    bun.lock flake.lock mix.lock Podfile.lock";

/// Names and suffixes of locks and pid files.
const ENDINGS: [&str; 5] = [".lock", ".lck", ".pid", ".pidfile", ".pid.lock"];
const NAMES: [&str; 5] = ["lock", "pid", "pidfile", ".pid", ".lck"];

/// Pid files of servers that often run in a container or on another machine: a missing process
/// proves nothing, and a second server would corrupt the data.
const OF_SERVERS: &str = "\
    postmaster.pid mongod.lock mysqld.pid mariadb.pid redis.pid redis-server.pid";

/// Handles a lock whose owner is dead.
pub(super) fn inspect(context: &RepairContext<'_>, failure: &Failure) -> Option<Proposal> {
    let suggested = match &failure.repair {
        Some(RepairAction::RemoveStaleLock { path }) => Some(path.as_str()),
        _ if failure.kind == FailureKind::StaleLock => None,
        _ => return None,
    };
    let place = match suggested {
        Some(path) => match found(context, path) {
            Some(place) => place,
            None => {
                return Some(Proposal::outside_workspace(path));
            }
        },
        None => match named(context, failure) {
            Some(place) => place,
            None => {
                return Some(Proposal::for_person(
                    "inspect the lock",
                    "cannot tell who owns the lock",
                ));
            }
        },
    };
    Some(propose(context, &place))
}

/// Finds the file with that path, or the only pid file with that name.
fn found(context: &RepairContext<'_>, path: &str) -> Option<RelPath> {
    let place = context.locate(path)?;
    if place.under(context.root).symlink_metadata().is_ok() || path.contains('/') {
        return Some(place);
    }
    let mut named = own_processes::pid_files(context.root)
        .into_iter()
        .filter(|file| file.ends_with(path));
    let only = named.next().filter(|_| named.next().is_none());
    only.and_then(|file| RelPath::inside(context.root, &file).ok())
        .or(Some(place))
}

/// Finds the file that the line names, or that contains the pid from the line.
fn named(context: &RepairContext<'_>, failure: &Failure) -> Option<RelPath> {
    let line = failure_text::blocker(failure);
    let is_lock =
        |place: &RelPath| is_called_like_a_lock(place) && place.under(context.root).exists();
    // Git names the file that it wants to lock; the lock is `<name>.lock`.
    let words = failure_text::words(line).into_iter();
    let spelled = words.flat_map(|word| [word.to_owned(), format!("{word}.lock")]);
    let mut places = spelled.filter_map(|word| context.locate(&word));
    places.find(is_lock).or_else(|| {
        let pid = failure_text::pid(line)?;
        let mut files = own_processes::pid_files(context.root).into_iter();
        let file = files.find(|file| own_processes::pid_in(file) == Some(pid))?;
        RelPath::inside(context.root, &file).ok()
    })
}

fn propose(context: &RepairContext<'_>, place: &RelPath) -> Proposal {
    let full = place.under(context.root);
    let Ok(stat) = full.symlink_metadata() else {
        return Proposal::refused(format!("{place} no longer exists"));
    };
    if let Some(why) = not_a_lock(place, &stat) {
        return Proposal::refused(format!("{place} {why}"));
    }
    if place.is_within(".git") {
        return of_git(context, place, &stat);
    }
    match holders_of_file(stat.dev(), stat.ino(), context.now) {
        Holders::Unknown => return ask(place, "cannot inspect every process"),
        Holders::Known(holders) => {
            if let Some(holder) = holders.first() {
                return Proposal::refused(format!("{} has {place} open", described(holder)));
            }
        }
    }
    if let Some(why) = tracked(context, place) {
        return why;
    }
    match own_processes::pid_in(&full) {
        Some(_) if is_listed(OF_SERVERS, name_of(place)) => {
            ask(place, "its server may run on another machine")
        }
        Some(pid) if Some(pid) > own_processes::highest_pid() => ask(place, &elsewhere(place, pid)),
        Some(pid) => of_process(context, place, &stat, pid),
        None => ask(place, "it does not name its owner"),
    }
}

fn name_of(place: &RelPath) -> &str {
    let name = place.as_path().file_name().and_then(|name| name.to_str());
    name.unwrap_or_default()
}

fn is_called_like_a_lock(place: &RelPath) -> bool {
    let name = name_of(place).to_ascii_lowercase();
    let has_ending = ENDINGS.iter().any(|ending| name.ends_with(ending));
    has_ending || NAMES.contains(&name.as_str())
}

/// Refuses files that git tracks: they belong to the project, whatever their names.
fn tracked(context: &RepairContext<'_>, place: &RelPath) -> Option<Proposal> {
    match path_status(context.root, place) {
        PathStatus::Tracked => Some(Proposal::refused(format!(
            "{place} is a file of the project: git tracks it"
        ))),
        PathStatus::Unknown => Some(ask(place, "cannot tell whether git tracks it")),
        PathStatus::Ignored | PathStatus::Untracked | PathStatus::NoRepository => None,
    }
}

fn not_a_lock(place: &RelPath, stat: &Metadata) -> Option<&'static str> {
    let name = name_of(place);
    match stat {
        _ if !is_called_like_a_lock(place) => Some("is not named like a lock"),
        stat if !stat.is_file() => Some("is not a file"),
        stat if stat.uid() != geteuid().as_raw() => Some("belongs to another user"),
        stat if stat.nlink() > 1 => Some("has hard links, which may be anywhere"),
        _ if is_listed(NO_LOCKS, name) => Some("is not that kind of lock"),
        _ if place.is_within(".git") && !name.ends_with(".lock") => Some("is not a git lock"),
        _ => None,
    }
}

fn of_git(context: &RepairContext<'_>, place: &RelPath, stat: &Metadata) -> Proposal {
    match LockOwner::find(context.root, stat, None, context.now) {
        LockOwner::Dead => Proposal::Allowed(removal(place)),
        LockOwner::Alive(who) => Proposal::refused(format!("{place}: {who}")),
        LockOwner::Unknown(why) => ask(place, why),
    }
}

/// Handles a lock that names its owner.
fn of_process(context: &RepairContext<'_>, place: &RelPath, stat: &Metadata, pid: i32) -> Proposal {
    match process_exists(pid) {
        Some(false) => return Proposal::Allowed(removal(place)),
        None => return ask(place, "cannot read the process table"),
        Some(true) => {}
    }
    let Some(process) = process_info(pid, context.now) else {
        return ask(place, &format!("cannot inspect process {pid}"));
    };
    let is_younger = stat
        .modified()
        .is_ok_and(|written| process.started > written + own_processes::TOLERANCE);
    match process {
        process if process.is_zombie => ask(
            place,
            &format!("process {pid} has exited, but is still listed"),
        ),
        process if is_younger => ask(
            place,
            &format!(
                "process {pid} is a different process now ({})",
                described(&process)
            ),
        ),
        process if own_processes::is_ours(context, &process) => Proposal::Allowed(ending(&process)),
        process => ask(
            place,
            &format!(
                "{} is running and is not known to be ours",
                described(&process)
            ),
        ),
    }
}

fn removal(place: &RelPath) -> RepairPlan {
    let recorded = RepairAction::RemoveStaleLock {
        path: place.to_string(),
    };
    RepairPlan::new(
        recorded,
        format!("move the stale lock {place} aside"),
        Action::SetAside(place.clone()),
    )
}

/// Says what is known about a process that no process table of this machine can contain.
fn elsewhere(place: &RelPath, pid: i32) -> String {
    format!(
        "{place} names process {pid}, which does not exist here: another machine or a container may hold it"
    )
}

/// Asks whether the lock is stale, so doesn't call it that.
fn ask(place: &RelPath, why: &str) -> Proposal {
    let plan = RepairPlan {
        does: format!("move the lock {place} aside"),
        ..removal(place)
    };
    Proposal::ask(plan, why)
}

/// Plans to end a process that is proven to be ours.
pub(super) fn ending(process: &ProcessInfo) -> RepairPlan {
    let recorded = RepairAction::EndProcess {
        args: vec![process.pid.to_string(), process.start.to_string()],
    };
    let does = format!(
        "terminate {}, left over from this workspace",
        described(process)
    );
    let action = Action::EndProcess {
        pid: process.pid,
        start: process.start,
    };
    RepairPlan::new(recorded, does, action)
}

/// Describes a process: `process 4711 (python3 -m http.server)`.
pub(crate) fn described(process: &ProcessInfo) -> String {
    const SHOWN: usize = 60;
    let line = process.argv.join(" ");
    let mut rest = line.chars().filter(|c| !c.is_control());
    let mut command: String = rest.by_ref().take(SHOWN).collect();
    if rest.next().is_some() {
        command.push('…');
    }
    format!("process {} ({command})", process.pid)
}
