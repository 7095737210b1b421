//! The moment at which a run is killed.

use std::fmt;
use std::time::Duration;

use crate::dice::Dice;
use crate::outcome::Outcome;

/// What is waited for before the kill, and how long after it the kill comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Aim {
    pub(crate) at: Moment,
    pub(crate) delay: Duration,
    /// The next run does not wait until everything of this one is gone.
    pub(crate) hurry: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    Start,
    /// The n-th time that a script notes this word.
    Noted(&'static str, usize),
    /// The n-th line that is printed: the step is stored, and nothing of it done yet.
    Line(usize),
    /// The n-th time that the run asks the disk to keep something: needs strace.
    Sync(usize),
    /// The n-th time that it puts one file into another's place, likewise.
    Rename(usize),
}

/// What can be aimed at: as often as it happened when nobody disturbed the run.
#[derive(Debug)]
pub(crate) struct Targets {
    duration: Duration,
    lines: usize,
    noted: Vec<(&'static str, usize)>,
    /// Syncs and renames, if they could be counted.
    disk: Option<(usize, usize)>,
}

impl Targets {
    pub(crate) fn of(undisturbed: &Outcome, disk: Option<(usize, usize)>) -> Self {
        let words = [
            "begun",
            "brooding",
            "working",
            "ended",
            "verifying",
            "committing",
        ];
        let counted = words.map(|word| (word, undisturbed.count(word)));
        Self {
            duration: undisturbed.duration,
            lines: undisturbed.lines,
            noted: counted.into_iter().filter(|(_, n)| *n > 0).collect(),
            disk,
        }
    }

    /// One third anywhere, the rest at what is delicate.
    pub(crate) fn choose(&self, dice: &mut Dice) -> Aim {
        let few_millis = Duration::from_micros(dice.below(12_000));
        let hurry = dice.below(4) == 0;
        let (at, delay) = match dice.below(6) {
            0 | 1 => (Moment::Start, self.duration.mul_f64(share(dice))),
            2 => (Moment::Line(1 + nth(dice, self.lines)), few_millis / 8),
            3 | 4 => (self.noted(dice), few_millis),
            _ => match self.disk {
                Some((syncs, _)) if dice.below(2) == 0 => {
                    (Moment::Sync(1 + nth(dice, syncs)), Duration::ZERO)
                }
                Some((_, renames)) => (Moment::Rename(1 + nth(dice, renames)), Duration::ZERO),
                None => (self.noted(dice), few_millis),
            },
        };
        Aim { at, delay, hurry }
    }

    fn noted(&self, dice: &mut Dice) -> Moment {
        let (word, times) = self.noted[nth(dice, self.noted.len())];
        Moment::Noted(word, 1 + nth(dice, times))
    }
}

fn share(dice: &mut Dice) -> f64 {
    f64::from(u32::try_from(dice.below(10_000)).unwrap()) / 10_000.0
}

fn nth(dice: &mut Dice, count: usize) -> usize {
    usize::try_from(dice.below(count as u64)).unwrap()
}

impl fmt::Display for Aim {
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
