//! What the checks of one commit mean.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use regreen_model::Timestamp;

use crate::check::{Check, CheckState, Conclusion, RunState, Seen};

/// The checks that have to report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// Those that branch rules require.
    pub required: BTreeSet<String>,
    /// Those that ran on the base branch, and how they ended there.
    pub on_base: BTreeMap<String, CheckState>,
    /// Those that a person said not to wait for.
    pub without: BTreeSet<String>,
}

impl Expected {
    /// Returns the names of all checks that have to report.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let on_base = self.on_base.keys();
        let all: BTreeSet<&str> = on_base
            .chain(&self.required)
            .filter(|name| !self.without.contains(*name))
            .map(String::as_str)
            .collect();
        all.into_iter()
    }

    /// Whether a check that didn't say yes or no may be left at that: nothing expects more of it,
    /// or it ended the same way on the base branch.
    fn allows(&self, name: &str, conclusion: &Conclusion) -> bool {
        if self.without.contains(name) {
            return true;
        }
        match self.on_base.get(name) {
            Some(on_base) => *on_base == CheckState::Ended(conclusion.clone()),
            None => !self.required.contains(name),
        }
    }
}

/// How long to wait for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// How long nothing must change before the result counts, because checks may appear late.
    pub settle_ms: u64,
    /// How long an expected check may stay away once nothing else runs.
    pub missing_ms: u64,
    /// How long checks may run without any news.
    pub pending_ms: u64,
}

impl Default for Patience {
    fn default() -> Self {
        const MINUTE: u64 = 60 * 1000;
        Self {
            settle_ms: MINUTE / 2,
            missing_ms: 10 * MINUTE,
            pending_ms: 6 * 60 * MINUTE,
        }
    }
}

/// When the checks last changed, and the time now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenAt {
    /// When something last changed; at first, when the commit was pushed.
    pub changed: Timestamp,
    /// The time now.
    pub now: Timestamp,
}

impl SeenAt {
    fn is_quiet_for(self, millis: u64) -> bool {
        self.now.since(self.changed) >= millis
    }
}

/// A check that has failed, or has ended without a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Red {
    /// The check.
    pub check: Check,
    /// How it ended.
    pub conclusion: Conclusion,
}

/// What only a person can settle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blocker {
    /// Nothing reported anything, and nothing is expected.
    NoChecks,
    /// Expected checks that never reported.
    Missing {
        /// Their names.
        names: Vec<String>,
        /// How many are expected.
        expected: usize,
    },
    /// A check that ran on the base branch, or is required, didn't say yes or no.
    NoResult {
        /// Its name.
        name: String,
        /// What it said instead.
        conclusion: Conclusion,
    },
    /// A check or a workflow waits for a person.
    Approval {
        /// Its name.
        name: String,
    },
    /// A workflow ended without any job.
    Workflow {
        /// Its name.
        name: String,
        /// How it ended.
        conclusion: Conclusion,
    },
}

impl fmt::Display for Blocker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoChecks => f.write_str("no check has reported anything for this commit"),
            Self::Missing { names, expected } => write!(
                f,
                "{} of {expected} expected checks never reported: {}",
                names.len(),
                names.join(", ")
            ),
            Self::NoResult { name, conclusion } => {
                write!(f, "{name}: {}, so it proves nothing", conclusion.words())
            }
            Self::Approval { name } => write!(f, "{name} waits for an approval"),
            Self::Workflow { name, conclusion } => {
                write!(f, "the workflow {name} ran no job: {}", conclusion.words())
            }
        }
    }
}

/// The result of [`judge`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Not all of it is known.
    Waiting {
        /// Checks and workflows that run.
        pending: Vec<String>,
        /// Expected checks that have not reported.
        missing: Vec<String>,
    },
    /// Nothing has happened for too long.
    Stuck {
        /// Checks and workflows that still run.
        pending: Vec<String>,
    },
    /// All expected checks passed.
    Green(Judgement),
    /// All that run have ended, and some failed.
    Red {
        /// Those that failed.
        failed: Vec<Red>,
        /// The rest.
        judgement: Judgement,
    },
    /// Nothing failed, but it isn't green either.
    NeedsPerson {
        /// What to settle.
        blockers: Vec<Blocker>,
        /// The rest.
        judgement: Judgement,
    },
}

/// What is known of the checks that didn't fail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judgement {
    /// The names of those that passed.
    pub passed: Vec<String>,
    /// Checks that said neither yes nor no, which nothing expects to.
    pub without_result: Vec<(String, Conclusion)>,
}

/// Judges the checks of exactly one commit. Only `success` counts as passed.
#[must_use]
pub fn judge(expected: &Expected, seen: &Seen, at: SeenAt, patience: Patience) -> Verdict {
    let seen = seen.clone().latest();
    let sorted = Sorted::of(expected, &seen);
    let missing = missing(expected, &seen);
    if !sorted.pending.is_empty() {
        let pending = sorted.pending;
        return if at.is_quiet_for(patience.pending_ms) {
            Verdict::Stuck { pending }
        } else {
            Verdict::Waiting { pending, missing }
        };
    }
    let waiting = |missing: Vec<String>| Verdict::Waiting {
        pending: Vec::new(),
        missing,
    };
    if !at.is_quiet_for(patience.settle_ms) {
        return waiting(missing);
    }
    if !sorted.failed.is_empty() {
        return Verdict::Red {
            failed: sorted.failed,
            judgement: sorted.judgement,
        };
    }
    let is_nothing =
        sorted.judgement.passed.is_empty() && sorted.blockers.is_empty() && missing.is_empty();
    if (is_nothing || !missing.is_empty()) && !at.is_quiet_for(patience.missing_ms) {
        return waiting(missing);
    }
    let mut blockers = sorted.blockers;
    if is_nothing && blockers.is_empty() {
        blockers.push(Blocker::NoChecks);
    }
    if !missing.is_empty() {
        let expected = expected.names().count();
        blockers.push(Blocker::Missing {
            names: missing,
            expected,
        });
    }
    if blockers.is_empty() {
        Verdict::Green(sorted.judgement)
    } else {
        Verdict::NeedsPerson {
            blockers,
            judgement: sorted.judgement,
        }
    }
}

/// Returns the expected checks that nothing has reported under their name.
fn missing(expected: &Expected, seen: &Seen) -> Vec<String> {
    let is_missing = |name: &&str| !seen.checks.iter().any(|check| check.name == *name);
    let missing = expected.names().filter(is_missing);
    missing.map(str::to_owned).collect()
}

/// The checks by what they say.
#[derive(Debug, Default)]
struct Sorted {
    pending: Vec<String>,
    failed: Vec<Red>,
    blockers: Vec<Blocker>,
    judgement: Judgement,
}

impl Sorted {
    fn of(expected: &Expected, seen: &Seen) -> Self {
        let mut sorted = Self::default();
        for check in &seen.checks {
            sorted.add(expected, check);
        }
        sorted.add_runs(seen);
        sorted
    }

    fn add(&mut self, expected: &Expected, check: &Check) {
        let name = check.name.clone();
        let CheckState::Ended(conclusion) = &check.state else {
            self.pending.push(name);
            return;
        };
        match conclusion {
            Conclusion::Success => self.judgement.passed.push(name),
            Conclusion::Failure
            | Conclusion::Cancelled
            | Conclusion::TimedOut
            | Conclusion::Stale
            | Conclusion::StartupFailure => self.failed.push(Red {
                check: check.clone(),
                conclusion: conclusion.clone(),
            }),
            Conclusion::ActionRequired => self.blockers.push(Blocker::Approval { name }),
            Conclusion::Neutral | Conclusion::Skipped if expected.allows(&name, conclusion) => {
                let found = (name, conclusion.clone());
                self.judgement.without_result.push(found);
            }
            Conclusion::Neutral | Conclusion::Skipped | Conclusion::Unknown(_) => {
                self.blockers.push(Blocker::NoResult {
                    name,
                    conclusion: conclusion.clone(),
                });
            }
        }
    }

    /// A workflow run says what its jobs don't: that more of them will appear, or that there are none.
    fn add_runs(&mut self, seen: &Seen) {
        for run in &seen.runs {
            let of_run = |check: &&Check| seen.run_of(check).is_some_and(|of| of.id == run.id);
            let mut jobs = seen.checks.iter().filter(of_run).peekable();
            let has_jobs = jobs.peek().is_some();
            // Its running jobs say so already.
            let is_shown = jobs.clone().any(|check| check.state == CheckState::Pending);
            let is_told = jobs.any(|check| says_no(&check.state));
            let name = run.name.clone();
            match &run.state {
                RunState::Pending if is_shown => {}
                RunState::Pending => self.pending.push(format!("workflow {name}")),
                RunState::WaitsForPerson | RunState::Ended(Conclusion::ActionRequired) => {
                    self.blockers.push(Blocker::Approval { name });
                }
                RunState::Ended(Conclusion::Success | Conclusion::Skipped) => {}
                RunState::Ended(Conclusion::Neutral) if has_jobs => {}
                // No job that can be seen says so.
                RunState::Ended(conclusion) if !is_told => {
                    self.blockers.push(Blocker::Workflow {
                        name,
                        conclusion: conclusion.clone(),
                    });
                }
                RunState::Ended(_) => {}
            }
        }
    }
}

/// Whether a check ended without a result that may count as well.
fn says_no(state: &CheckState) -> bool {
    let fine = [
        Conclusion::Success,
        Conclusion::Skipped,
        Conclusion::Neutral,
    ];
    matches!(state, CheckState::Ended(conclusion) if !fine.contains(conclusion))
}

#[cfg(test)]
mod tests;
