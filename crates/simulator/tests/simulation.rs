//! Thousands of simulated runs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use regreen_engine::{State, decide};
use regreen_model::RunOutcome;
use regreen_simulator::{
    self as simulator, Finding, FinishedRun, Mutant, Transition, expected_transitions,
};

const RUNS: u64 = 20_000;
/// The outcomes that many runs must have.
const OFTEN: [&str; 6] = [
    "all_green",
    "limit",
    "needs_person",
    "skipped",
    "set_up",
    "try_later",
];

/// Transitions that only one in tens of thousands of runs reaches.
const SELDOM: [Transition; 6] = [
    ("recalling", "contended"),
    ("inserting", "budget_read"),
    ("inserting", "gone"),
    ("repairing", "contended"),
    ("repairing", "halted"),
    ("repairing", "plan_reviewed"),
];

/// Runs seeds on all cores. Returns the finding with the smallest seed, if there is one.
fn sweep(
    seeds: u64,
    mutant: Option<Mutant>,
    look: impl Fn(&FinishedRun) + Sync,
) -> Result<(), Box<Finding>> {
    let next = AtomicU64::new(0);
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds {
                return Ok(());
            }
            let ran = simulator::run(seed, mutant);
            if let Err(finding) = ran.map(|ran| look(&ran)) {
                next.store(seeds, Ordering::Relaxed);
                return Err(finding);
            }
        }
    };
    let findings: Vec<Box<Finding>> = thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        let ends = workers.into_iter().map(|worker| {
            let end = worker.join();
            end.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        ends.filter_map(Result::err).collect()
    });
    findings
        .into_iter()
        .min_by_key(|finding| finding.seed)
        .map_or(Ok(()), Err)
}

/// Formats a finding after shrinking it.
fn show(finding: Finding, mutant: Option<Mutant>) -> String {
    let small = finding.smallest(mutant);
    format!(
        "seed {}: {}\n{}\nfor `regreen replay`:\n{}",
        small.seed,
        small.what,
        small.tasks,
        small.journal_text()
    )
}

/// The outcomes of runs, and the transitions that they reached.
#[derive(Default)]
struct Observed {
    ends: BTreeMap<&'static str, u32>,
    reached: BTreeSet<Transition>,
}

#[test]
fn every_invariant_holds_after_every_step_and_every_transition_is_reached() {
    let seen = Mutex::new(Observed::default());
    let count = |ran: &FinishedRun| {
        if let Ok(mut seen) = seen.lock() {
            let end = ran.outcome.as_ref().map_or("none", RunOutcome::name);
            *seen.ends.entry(end).or_default() += 1;
            seen.reached.extend(ran.reached.iter().copied());
        }
    };
    if let Err(finding) = sweep(RUNS, None, count) {
        panic!("{}", show(*finding, None));
    }
    let Observed { ends, mut reached } = seen.into_inner().unwrap_or_default();
    // A world in which nothing ever succeeds, or nothing ever fails, would prove nothing.
    let is_often = |end: &&str| ends.get(*end).is_some_and(|count| *count >= 50);
    assert!(OFTEN.iter().all(is_often), "{ends:?}");
    let mut expected = expected_transitions();
    for seldom in SELDOM {
        reached.remove(&seldom);
        expected.remove(&seldom);
    }
    let missed: Vec<_> = expected.difference(&reached).collect();
    let unlisted: Vec<_> = reached.difference(&expected).collect();
    assert_eq!((missed, unlisted), (vec![], vec![]));
}

#[test]
fn every_planted_bug_is_caught() {
    let caught = |mutant: Mutant| {
        let found = (0..RUNS).find_map(|seed| simulator::run(seed, Some(mutant)).err());
        (mutant, found)
    };
    let found: Vec<_> = thread::scope(|scope| {
        let workers = Mutant::ALL.map(|mutant| scope.spawn(move || caught(mutant)));
        let found = workers.into_iter().filter_map(|worker| worker.join().ok());
        found.collect()
    });
    assert_eq!(found.len(), Mutant::ALL.len());
    for (mutant, finding) in found {
        let Some(Finding { seed, what, .. }) = finding.as_deref() else {
            panic!("{mutant:?} was not caught in {RUNS} runs")
        };
        // Without the bug, the same run has no finding.
        assert!(simulator::run(*seed, None).is_ok(), "{mutant:?}: {what}");
    }
}

#[test]
fn a_finding_is_made_small_and_its_journal_can_be_decided_again() {
    let mutant = Some(Mutant::CallsSkippedGreen);
    let found = (0..RUNS).filter_map(|seed| simulator::run(seed, mutant).err());
    // Not every finding can be shrunk to the shortest one.
    let found: Vec<Box<Finding>> = found.take(4).collect();
    let smaller = found.into_iter().map(|found| found.smallest(mutant));
    let Some(small) = smaller.min_by_key(|small| small.journal.len()) else {
        panic!("nothing was found")
    };
    // An ordinary run with one task skipped and another one done has this many steps, with the name
    // of the session and the final check.
    let ordinary = 10;
    assert!(small.journal.len() <= ordinary, "{}", small.journal_text());
    let mut state = State::default();
    let (_, before) = small
        .journal
        .split_last()
        .unwrap_or_else(|| panic!("an empty journal"));
    for line in before {
        assert_eq!(decide(&state, line.now, &line.input).events, line.events);
        line.events.iter().for_each(|event| state.apply(event));
    }
}

/// Runs in which the oracle, the engine or the review of the plan was once wrong.
#[test]
fn runs_that_were_findings_once_are_clean() {
    let seeds = [
        // A check failed, and its process died before the verdict was stored.
        36_348, 40_505, 88_607, 124_157, //
        // Rows were removed for the second time during a check whose process died.
        72_474, 129_479, //
        // A person retitled a row whose id an agent had just changed.
        44_864, 70_809, //
        // A person retried a task that an agent had just nested below another one.
        158_663, //
        // Of two tasks with one id, the failing one had been moved and retitled.
        83_852, 203_761, 428_246, //
        // The same while the plan was guarded: the title decides which row is which.
        255_691, 475_188, 512_613, 534_860, 701_607, //
        // A failed task was finished by another agent's tick, and failed the final check.
        300_954, //
        // A person retried a fix that was nested below a task other than the one it fixes.
        449_159, //
        // An agent nested a row that had been put back before.
        641_201, //
        // Rows that an agent had put between fences were copied, and another fence showed them.
        32_731, 56_148, 101_439, 202_104, 244_710, 254_326, 281_362, 287_831, //
        // A person retried a fix whose id an agent had just changed.
        39_818, //
        // A person skipped a row that agents had removed and that one of them showed again.
        189_467, //
        // A person retried the task that a passing fix was for, and a fix of that fix.
        483_586, //
        // A person retried a task whose last fix was not saved yet, and removed rows.
        353_686, //
        // What an agent lacked was told when its service was down.
        79_160, //
        // An agent ticked a task that had failed with known failures, and its check passed.
        805_456,
    ];
    for seed in seeds {
        if let Err(finding) = simulator::run(seed, None) {
            panic!("{}", show(*finding, None));
        }
    }
}
