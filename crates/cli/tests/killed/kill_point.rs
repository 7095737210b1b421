//! The moment when a run is killed.

use std::fmt;
use std::time::Duration;

use crate::outcome::Outcome;

/// What to wait for before the kill, and for how long afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KillPoint {
    pub(crate) at: Moment,
    pub(crate) delay: Duration,
    /// The next run does not wait until everything of this one is gone.
    pub(crate) hurry: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    Start,
    /// The n-th time that a script writes this note.
    Noted(&'static str, usize),
    /// The n-th printed line: the step is stored, but nothing of it is done yet.
    Line(usize),
    /// The n-th sync of the run; needs strace.
    Sync(usize),
    /// The n-th rename of the run; needs strace.
    Rename(usize),
}

/// The possible targets: as many as occurred in an undisturbed run.
#[derive(Debug)]
pub(crate) struct Targets {
    duration: Duration,
    lines: usize,
    noted: Vec<(&'static str, usize)>,
    /// Syncs and renames, if they could be counted.
    disk: Option<(usize, usize)>,
}

impl Targets {
    pub(crate) fn of(uninterrupted: &Outcome, disk: Option<(usize, usize)>) -> Self {
        let words = [
            "begun",
            "brooding",
            "working",
            "ended",
            "verifying",
            "committing",
        ];
        let counted = words.map(|word| (word, uninterrupted.count(word)));
        Self {
            duration: uninterrupted.duration,
            lines: uninterrupted.lines,
            noted: counted.into_iter().filter(|(_, n)| *n > 0).collect(),
            disk,
        }
    }

    /// One third anywhere, the rest at delicate moments.
    pub(crate) fn choose(&self, rng: &mut Rng) -> KillPoint {
        let few_millis = Duration::from_micros(rng.below(12_000));
        let hurry = rng.below(4) == 0;
        let (at, delay) = match rng.below(6) {
            0 | 1 => (Moment::Start, self.duration.mul_f64(share(rng))),
            2 => (Moment::Line(1 + nth(rng, self.lines)), few_millis / 8),
            3 | 4 => (self.noted(rng), few_millis),
            _ => match self.disk {
                Some((syncs, _)) if rng.below(2) == 0 => {
                    (Moment::Sync(1 + nth(rng, syncs)), Duration::ZERO)
                }
                Some((_, renames)) => (Moment::Rename(1 + nth(rng, renames)), Duration::ZERO),
                None => (self.noted(rng), few_millis),
            },
        };
        KillPoint { at, delay, hurry }
    }

    fn noted(&self, rng: &mut Rng) -> Moment {
        let (word, times) = self.noted[nth(rng, self.noted.len())];
        Moment::Noted(word, 1 + nth(rng, times))
    }
}

fn share(rng: &mut Rng) -> f64 {
    f64::from(u32::try_from(rng.below(10_000)).unwrap()) / 10_000.0
}

fn nth(rng: &mut Rng, count: usize) -> usize {
    usize::try_from(rng.below(count as u64)).unwrap()
}

impl fmt::Display for KillPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let delay = self.delay.as_secs_f64() * 1000.0;
        match self.at {
            Moment::Start => write!(f, "{delay:.0} ms after the start")?,
            Moment::Noted(word, n) => write!(f, "{delay:.1} ms after `{word}` number {n}")?,
            Moment::Line(n) => write!(f, "{delay:.1} ms after line {n}")?,
            Moment::Sync(n) => write!(f, "at fsync {n}")?,
            Moment::Rename(n) => write!(f, "at renameat2 {n}")?,
        }
        f.write_str(if self.hurry { ", resumed at once" } else { "" })
    }
}

/// A deterministic random number generator.
#[derive(Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    /// splitmix64.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
