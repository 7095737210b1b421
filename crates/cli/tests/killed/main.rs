//! Killed at any instant, the next run goes on: the end is that of a run nobody disturbed,
//! nothing is done twice, and nothing that was started lives on.
//!
//! A few kills by default. `REGREEN_KILL_RUNS` and `REGREEN_KILL_SEED` ask for more and for
//! others, `REGREEN_KILL_PROGRAM` for another build; `cargo xtask sweep kills` sets them.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod aim;
mod dice;
mod nest;
mod outcome;
mod project;

use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use aim::{Aim, Moment, Targets};
use dice::Dice;
use nest::{Process, described, still_alive, wait_until_gone};
use outcome::Outcome;
use project::{Kind, Project, Running};

const DEFAULT_RUNS: u64 = 2;
/// So long may anything outlive a regreen that was killed.
const AFTERLIFE: Duration = Duration::from_secs(2);
/// Far more than a run takes, even on a busy machine.
const STUCK: Duration = Duration::from_secs(120);

#[test]
fn a_run_in_git_that_is_killed_ends_as_if_it_had_not_been() {
    sweep(Kind::Git);
}

#[test]
fn a_run_outside_git_that_is_killed_ends_as_if_it_had_not_been() {
    sweep(Kind::Plain);
}

/// What a kill and what came after it were like.
#[derive(Debug)]
struct Killed {
    aim: Aim,
    /// How many were alive at the kill, and how long the last of them stayed.
    alive: usize,
    gone_after: Duration,
    interruptions: usize,
}

fn sweep(kind: Kind) {
    let (runs, seed) = (asked("RUNS").unwrap_or(DEFAULT_RUNS), seed());
    let undisturbed = undisturbed(kind, &[]).0;
    let disk = (runs > DEFAULT_RUNS).then(|| disk_calls(kind)).flatten();
    let targets = Targets::of(&undisturbed, disk);
    println!(
        "{kind:?}: {runs} kills, seed {seed}; undisturbed {:.1} s, {targets:?}",
        undisturbed.duration.as_secs_f64()
    );
    let mut dice = Dice::new(seed);
    let (mut killed, mut too_late) = (Vec::new(), 0);
    while (killed.len() as u64) < runs {
        let aim = targets.choose(&mut dice);
        match kill_and_resume(kind, aim, &undisturbed) {
            Some(one) => killed.push(one),
            // The run was over before: that was no kill.
            None => too_late += 1,
        }
        assert!(too_late <= 10 + runs, "hardly any run can be killed");
    }
    report(kind, &killed, too_late);
}

fn report(kind: Kind, killed: &[Killed], too_late: u64) {
    for one in killed {
        println!(
            "  {}: {} alive, gone after {} ms, {} interrupted",
            one.aim,
            one.alive,
            one.gone_after.as_millis(),
            one.interruptions
        );
    }
    let longest = killed.iter().map(|one| one.gone_after).max();
    let interrupted = killed.iter().filter(|one| one.interruptions > 0).count();
    println!(
        "{kind:?}: {} of {} runs ended as if they had not been killed; {interrupted} attempts \
         interrupted; the last process gone {} ms after its kill at most; {too_late} more runs \
         were over before the kill",
        killed.len(),
        killed.len(),
        longest.unwrap_or_default().as_millis()
    );
}

fn asked(what: &str) -> Option<u64> {
    let value = std::env::var(format!("REGREEN_KILL_{what}")).ok()?;
    Some(value.parse().unwrap())
}

/// Another one each time, unless one was asked for: what fails can be repeated with it.
fn seed() -> u64 {
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    asked("SEED").unwrap_or(now.subsec_nanos().into())
}

fn undisturbed(kind: Kind, tracer: &[String]) -> (Outcome, Project) {
    let project = Project::new(kind);
    let run = project.start(tracer);
    let started = run.started;
    let finished = run.finish();
    let outcome = Outcome::of(&project, &finished, started.elapsed());
    assert!(finished.status.success(), "{finished:?}");
    (outcome, project)
}

/// How often an undisturbed run syncs and renames; `None` where nobody can tell.
fn disk_calls(kind: Kind) -> Option<(usize, usize)> {
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
    has_strace.then(|| undisturbed(kind, &tracer.map(str::to_owned)));
    let trace = std::fs::read_to_string(trace).ok()?;
    let count = |call: &str| trace.lines().filter(|line| line.starts_with(call)).count();
    Some((count("fsync("), count("renameat2(")))
}

/// Kills strictly once; `None` if there was nothing left to kill.
fn kill_and_resume(kind: Kind, aim: Aim, undisturbed: &Outcome) -> Option<Killed> {
    let project = Project::new(kind);
    let run = project.start(&tracer(aim.at));
    let (killed_at, alive) = kill(&project, run, aim)?;
    let who = match aim.hurry {
        true => still_alive(&alive),
        false => project.nest.alive(),
    };
    let resumed = aim.hurry.then(|| project.start(&[]));
    let left = || match aim.hurry {
        true => still_alive(&who),
        false => project.nest.alive(),
    };
    let gone = wait_until_gone(left, killed_at, AFTERLIFE);
    let resumed = resumed.unwrap_or_else(|| project.start(&[]));
    let started = resumed.started;
    let finished = resumed.finish();
    let outcome = Outcome::of(&project, &finished, started.elapsed());
    let complaints = outcome.complaints(undisturbed);
    assert!(
        complaints.is_empty(),
        "{kind:?}, killed {aim}:\n{}\nThe run afterwards printed:\n{}",
        complaints.join("\n"),
        finished.stdout
    );
    Some(Killed {
        aim,
        alive: alive.len(),
        gone_after: gone.unwrap_or_else(|left| outlived(kind, aim, &left)),
        interruptions: outcome.interruptions(),
    })
}

fn outlived(kind: Kind, aim: Aim, left: &BTreeSet<Process>) -> Duration {
    let left: Vec<String> = left.iter().map(described).collect();
    panic!(
        "{kind:?}, killed {aim}: alive after {AFTERLIFE:?}:\n{}",
        left.join("\n")
    );
}

/// What kills the run at a call of its own.
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

/// Kills it; when that was, and what was alive then.
fn kill(project: &Project, mut run: Running, aim: Aim) -> Option<(Instant, BTreeSet<Process>)> {
    let is_traced = matches!(aim.at, Moment::Sync(_) | Moment::Rename(_));
    while run.started.elapsed() < STUCK {
        if let Some(status) = run.child.try_wait().unwrap() {
            let is_killed = is_traced && !status.success();
            return is_killed.then(|| (Instant::now(), project.nest.alive()));
        }
        let has_come = match aim.at {
            Moment::Start => run.started.elapsed() >= aim.delay,
            Moment::Noted(word, n) => project.nest.count(word) >= n,
            Moment::Line(n) => run.lines() >= n,
            Moment::Sync(_) | Moment::Rename(_) => false,
        };
        if has_come {
            return strike(project, run, aim);
        }
        thread::sleep(Duration::from_micros(500));
    }
    panic!("{aim}: the run is stuck")
}

fn strike(project: &Project, mut run: Running, aim: Aim) -> Option<(Instant, BTreeSet<Process>)> {
    if aim.at != Moment::Start {
        thread::sleep(aim.delay);
    }
    run.child.kill().unwrap();
    let at = Instant::now();
    let alive = project.nest.alive();
    let was_killed = run.finish().status.code().is_none();
    was_killed.then_some((at, alive))
}
