use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use regreen_model::RunOutcome;
use regreen_simulator::{self as simulator, Finding, Transition};

/// How many times progress is reported.
const STEPS_OF_PROGRESS: u64 = 20;

/// A range of seeds, run by several threads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sweep {
    pub(super) first: u64,
    pub(super) runs: u64,
    pub(super) jobs: usize,
}

/// The outcomes of the runs.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) runs: u64,
    pub(super) steps: u64,
    pub(super) ends: BTreeMap<&'static str, u64>,
    pub(super) reached: BTreeSet<Transition>,
    pub(super) found: u64,
    /// One finding of each kind, from the smallest seed.
    pub(super) findings: BTreeMap<String, Box<Finding>>,
    /// The seeds of the findings of each kind.
    pub(super) seeds: BTreeMap<String, BTreeSet<u64>>,
}

impl Sweep {
    pub(super) fn go(self, progress: impl Fn(u64) + Sync) -> Tally {
        let next = AtomicU64::new(0);
        let work = || self.work(&next, &progress);
        thread::scope(|scope| {
            let workers: Vec<_> = (0..self.jobs).map(|_| scope.spawn(work)).collect();
            let tallies = workers.into_iter().map(|worker| {
                let tally = worker.join();
                tally.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            tallies.fold(Tally::default(), Tally::and)
        })
    }

    fn work(self, next: &AtomicU64, progress: &(impl Fn(u64) + Sync)) -> Tally {
        let mut tally = Tally::default();
        let often = (self.runs / STEPS_OF_PROGRESS).max(1);
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= self.runs {
                return tally;
            }
            if number > 0 && number.is_multiple_of(often) {
                progress(number);
            }
            tally.count(self.first.wrapping_add(number));
        }
    }
}

impl Tally {
    fn count(&mut self, seed: u64) {
        self.runs += 1;
        match simulator::run(seed, None) {
            Err(finding) => {
                self.found += 1;
                self.keep(finding);
            }
            Ok(ran) => {
                self.steps += u64::try_from(ran.steps).unwrap_or(0);
                let end = ran.outcome.as_ref().map_or("none", RunOutcome::name);
                *self.ends.entry(end).or_default() += 1;
                self.reached.extend(ran.reached);
            }
        }
    }

    fn and(mut self, other: Self) -> Self {
        self.runs += other.runs;
        self.steps += other.steps;
        for (end, count) in other.ends {
            *self.ends.entry(end).or_default() += count;
        }
        self.reached.extend(other.reached);
        self.found += other.found;
        other.findings.into_values().for_each(|one| self.keep(one));
        for (kind, seeds) in other.seeds {
            self.seeds.entry(kind).or_default().extend(seeds);
        }
        self
    }

    fn keep(&mut self, finding: Box<Finding>) {
        let kind = kind(&finding.what);
        let seeds = self.seeds.entry(kind.clone()).or_default();
        seeds.insert(finding.seed);
        let known = self.findings.get(&kind).map(|known| known.seed);
        if known.is_none_or(|known| known > finding.seed) {
            self.findings.insert(kind, finding);
        }
    }
}

/// Returns the kind of a finding, regardless of the task.
fn kind(what: &str) -> String {
    let is_word = |word: &&str| word.chars().all(char::is_alphabetic);
    let words = what.split_whitespace().filter(is_word).skip(1).take(6);
    words.collect::<Vec<_>>().join(" ")
}
