//! Runs that are killed at any instant: the next run resumes and ends like a run that wasn't
//! killed, no work is done twice, and no process survives.
//!
//! By default only a few runs are killed. `REGREEN_KILL_RUNS`, `REGREEN_KILL_DAMAGES` and
//! `REGREEN_KILL_SEED` set more and other kills, and `REGREEN_KILL_PROGRAM` another build;
//! `cargo xtask sweep kills` sets them.
#![cfg(target_os = "linux")]
#![expect(
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed, and a sweep says what it saw"
)]

mod damaged;
mod fix_records;
mod kill_point;
mod outcome;
mod processes;
mod project;

use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use kill_point::{KillPoint, Moment, Rng, Targets};
use outcome::Outcome;
use processes::{Process, described, still_alive, wait_until_gone};
use project::{Case, Kind, PlanKind, Project, Running};

const DEFAULT_RUNS: u64 = 2;
/// How long anything may outlive a killed regreen.
const AFTERLIFE: Duration = Duration::from_secs(2);
/// Far more than a run takes, even on a busy machine.
const STUCK: Duration = Duration::from_secs(120);

#[test]
fn a_run_in_git_that_is_killed_ends_as_if_it_had_not_been() {
    sweep(PlanKind::Twenty, Kind::Git);
}

#[test]
fn a_run_outside_git_that_is_killed_ends_as_if_it_had_not_been() {
    sweep(PlanKind::Twenty, Kind::Plain);
}

#[test]
fn a_run_in_git_that_is_killed_while_it_heals_ends_as_if_it_had_not_been() {
    sweep(PlanKind::Healing, Kind::Git);
}

#[test]
fn a_run_outside_git_that_is_killed_while_it_heals_ends_as_if_it_had_not_been() {
    sweep(PlanKind::Healing, Kind::Plain);
}

#[test]
fn a_damaged_journal_loses_nothing_without_naming_it() {
    let runs = asked("DAMAGES").unwrap_or(2 * DEFAULT_RUNS);
    let seed = seed();
    println!("{runs} damaged journals, seed {seed}");
    let complaints = damaged::sweep(runs, seed);
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
}

/// A kill and its aftermath.
#[derive(Debug)]
struct Killed {
    /// How many processes were alive at the kill, and how long the last one survived.
    alive: usize,
    gone_after: Duration,
    interruptions: usize,
}

/// The totals of all kills.
#[derive(Debug, Default)]
struct Totals {
    killed: Vec<Killed>,
    /// Runs that were over before the kill, which do not count.
    too_late: u64,
    complaints: Vec<String>,
}

fn sweep(work: PlanKind, kind: Kind) {
    let case = Case { work, kind };
    let (runs, seed) = (asked("RUNS").unwrap_or(DEFAULT_RUNS), seed());
    let uninterrupted = uninterrupted(case, &[]).0;
    let disk = (runs > DEFAULT_RUNS).then(|| disk_calls(case)).flatten();
    let targets = Targets::of(&uninterrupted, disk);
    println!("{case}: {runs} kills, seed {seed}; uninterrupted: {targets:?}");
    let mut rng = Rng::new(seed);
    let mut totals = Totals::default();
    while (totals.killed.len() as u64) < runs {
        let point = targets.choose(&mut rng);
        totals.note(case, point, kill_and_resume(case, point, &uninterrupted));
        assert!(totals.too_late <= 10 + runs, "hardly any run can be killed");
    }
    totals.report(case);
    assert!(
        totals.complaints.is_empty(),
        "{}",
        totals.complaints.join("\n\n")
    );
}

impl Totals {
    fn note(&mut self, case: Case, point: KillPoint, came: Option<(Killed, Vec<String>)>) {
        let Some((killed, complaints)) = came else {
            self.too_late += 1;
            return;
        };
        let verdict = match complaints.len() {
            0 => "the same end",
            _ => "ANOTHER END",
        };
        println!(
            "  {case} {}: {point}: {} alive, gone after {} ms, {} interrupted, {verdict}",
            self.killed.len() + 1,
            killed.alive,
            killed.gone_after.as_millis(),
            killed.interruptions
        );
        self.killed.push(killed);
        let said = complaints.iter();
        let said = said.map(|complaint| format!("{case}, killed {point}: {complaint}"));
        self.complaints.extend(said);
    }

    fn report(&self, case: Case) {
        let longest = self.killed.iter().map(|one| one.gone_after).max();
        let interrupted = self.killed.iter().filter(|one| one.interruptions > 0);
        println!(
            "{case}: {} runs killed, {} attempts interrupted, {} complaints; everything gone at \
             most {} ms after the kill; {} more runs were over before theirs",
            self.killed.len(),
            interrupted.count(),
            self.complaints.len(),
            longest.unwrap_or_default().as_millis(),
            self.too_late
        );
    }
}

fn asked(what: &str) -> Option<u64> {
    let value = std::env::var(format!("REGREEN_KILL_{what}")).ok()?;
    Some(value.parse().unwrap())
}

/// Returns a new seed each time, unless one is set to repeat a failure.
fn seed() -> u64 {
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    asked("SEED").unwrap_or(now.subsec_nanos().into())
}

fn uninterrupted(case: Case, tracer: &[String]) -> (Outcome, Project) {
    let project = Project::new(case);
    let run = project.start(tracer);
    let started = run.started;
    let finished = run.finish();
    let outcome = Outcome::of(&project, &finished, started.elapsed());
    assert!(finished.status.success(), "{finished:?}");
    assert!(outcome.fix_records.is_empty(), "{:#?}", outcome.fix_records);
    (outcome, project)
}

/// Returns how often an undisturbed run syncs and renames; `None` if unknown.
fn disk_calls(case: Case) -> Option<(usize, usize)> {
    let version = Command::new("strace")
        .arg("-V")
        .stdout(Stdio::null())
        .status();
    let has_strace = version.is_ok_and(|status| status.success());
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace");
    let tracer = [
        "strace",
        "--output",
        trace.to_str().unwrap(),
        "--trace=fsync,renameat2",
    ];
    has_strace.then(|| uninterrupted(case, &tracer.map(str::to_owned)));
    let trace = std::fs::read_to_string(trace).ok()?;
    let count = |call: &str| trace.lines().filter(|line| line.starts_with(call)).count();
    Some((count("fsync("), count("renameat2(")))
}

/// Kills once and runs to the end. Returns the complaints; `None` if there was nothing left to
/// kill.
fn kill_and_resume(
    case: Case,
    point: KillPoint,
    uninterrupted: &Outcome,
) -> Option<(Killed, Vec<String>)> {
    let project = Project::new(case);
    let run = project.start(&tracer(point.at));
    let (killed_at, alive) = kill(&project, run, point)?;
    // If the next run starts at once, its processes have the same mark.
    let hurried = point.hurry.then(|| project.start(&[]));
    let left = || match point.hurry {
        true => still_alive(&alive),
        false => project.notes.alive(),
    };
    let gone = wait_until_gone(left, killed_at, AFTERLIFE);
    let resumed = hurried.unwrap_or_else(|| project.start(&[]));
    let started = resumed.started;
    let finished = resumed.finish();
    // The run had ended and was only reporting it: the next one is a new run that finds nothing to
    // do.
    let resumed = finished.stdout.contains(r#""event":"run_resumed""#);
    if !resumed && finished.stdout.contains(r#""attempts":{"made":0,"#) {
        return None;
    }
    let outcome = Outcome::of(&project, &finished, started.elapsed());
    let mut complaints = outcome.complaints(uninterrupted);
    if !complaints.is_empty() {
        complaints.push(format!("The next run printed:\n{}", finished.stdout));
    }
    complaints.extend(gone.as_ref().err().map(outlived));
    let killed = Killed {
        alive: alive.len(),
        gone_after: gone.unwrap_or(AFTERLIFE),
        interruptions: outcome.interruptions(),
    };
    Some((killed, complaints))
}

fn outlived(left: &BTreeSet<Process>) -> String {
    let left: Vec<String> = left.iter().map(described).collect();
    format!("alive after {AFTERLIFE:?}:\n{}", left.join("\n"))
}

/// Returns the tracer that kills the run at one of its own system calls.
fn tracer(at: Moment) -> Vec<String> {
    let (call, n) = match at {
        Moment::Sync(n) => ("fsync", n),
        Moment::Rename(n) => ("renameat2", n),
        Moment::Start | Moment::Noted(..) | Moment::Line(_) => return Vec::new(),
    };
    vec![
        "strace".to_owned(),
        "--output=/dev/null".to_owned(),
        format!("--trace={call}"),
        format!("--inject={call}:signal=KILL:when={n}"),
    ]
}

/// Kills the run. Returns the time, and what was alive then.
fn kill(
    project: &Project,
    mut run: Running,
    point: KillPoint,
) -> Option<(Instant, BTreeSet<Process>)> {
    let is_traced = matches!(point.at, Moment::Sync(_) | Moment::Rename(_));
    while run.started.elapsed() < STUCK {
        if let Some(status) = run.child.try_wait().unwrap() {
            let is_killed = is_traced && !status.success();
            return is_killed.then(|| (Instant::now(), project.notes.alive()));
        }
        let has_come = match point.at {
            Moment::Start => run.started.elapsed() >= point.delay,
            Moment::Noted(word, n) => project.notes.count(word) >= n,
            Moment::Line(n) => run.lines() >= n,
            Moment::Sync(_) | Moment::Rename(_) => false,
        };
        if has_come {
            return strike(project, run, point);
        }
        thread::sleep(Duration::from_micros(500));
    }
    panic!("{point}: the run is stuck")
}

fn strike(
    project: &Project,
    mut run: Running,
    point: KillPoint,
) -> Option<(Instant, BTreeSet<Process>)> {
    if point.at != Moment::Start {
        thread::sleep(point.delay);
    }
    run.child.kill().unwrap();
    let at = Instant::now();
    let alive = project.notes.alive();
    let was_killed = run.finish().status.code().is_none();
    was_killed.then_some((at, alive))
}
