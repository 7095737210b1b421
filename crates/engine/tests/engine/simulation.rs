//! Thousands of runs in worlds made of numbers: see `regreen_engine::sim`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use regreen_engine::sim::{self, Finding, Mutant, Ran};
use regreen_engine::{State, decide};
use regreen_model::RunOutcome;

const RUNS: u64 = 10_000;

/// Runs seeds on all cores. The finding with the smallest seed, if there is one.
pub(crate) fn sweep(
    seeds: u64,
    mutant: Option<Mutant>,
    look: impl Fn(&Ran) + Sync,
) -> Result<(), Box<Finding>> {
    let next = AtomicU64::new(0);
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds {
                return Ok(());
            }
            let ran = sim::run(seed, mutant);
            if let Err(finding) = ran.map(|ran| look(&ran)) {
                next.store(seeds, Ordering::Relaxed);
                return Err(finding);
            }
        }
    };
    let findings: Vec<Box<Finding>> = thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        let ends = workers.into_iter().filter_map(|worker| worker.join().ok());
        ends.filter_map(Result::err).collect()
    });
    findings
        .into_iter()
        .min_by_key(|finding| finding.seed)
        .map_or(Ok(()), Err)
}

/// What a finding is shown as: as small as it can be made.
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

#[test]
fn whatever_happens_everything_holds_after_every_step() {
    let ends = std::sync::Mutex::new(BTreeMap::<&str, u32>::new());
    let count = |ran: &Ran| {
        let end = ran.outcome.as_ref().map_or("none", RunOutcome::name);
        if let Ok(mut ends) = ends.lock() {
            *ends.entry(end).or_default() += 1;
        }
    };
    if let Err(finding) = sweep(RUNS, None, count) {
        panic!("{}", show(*finding, None));
    }
    // A world in which nothing ever succeeds, or nothing ever fails, would show nothing.
    let ends = ends.into_inner().unwrap_or_default();
    let is_often = |end: &&str| ends.get(*end).is_some_and(|count| *count >= 100);
    let often = [
        "all_green",
        "limit",
        "needs_person",
        "skipped",
        "set_up",
        "try_later",
    ];
    assert!(often.iter().all(is_often), "{ends:?}");
}

#[test]
fn every_planted_bug_is_caught() {
    let caught = |mutant: Mutant| (0..RUNS).find_map(|seed| sim::run(seed, Some(mutant)).err());
    let mut missed = BTreeSet::new();
    for mutant in Mutant::ALL {
        match caught(mutant) {
            Some(finding) => println!("{mutant:?}: seed {}: {}", finding.seed, finding.what),
            None => drop(missed.insert(mutant)),
        }
    }
    assert_eq!(missed, BTreeSet::new());
}

#[test]
fn a_finding_is_made_small_and_its_journal_can_be_decided_again() {
    let mutant = Some(Mutant::CallsSkippedGreen);
    let Some(found) = (0..RUNS).find_map(|seed| sim::run(seed, mutant).err()) else {
        panic!("nothing was found")
    };
    let long = found.journal.len();
    let small = found.smallest(mutant);
    assert!(
        small.journal.len() <= long.min(8),
        "{}",
        small.journal_text()
    );
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
