//! What a run did when: one stretch of time after the other.

use regreen_model::{Event, Timestamp, Verdict};

/// What fills a stretch of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// An agent worked on a task.
    Attempt(u32),
    /// A check ran.
    Verify,
    /// regreen carried out a repair.
    Repair,
    /// All checks were repeated.
    FinalCheck,
    /// The run waited for a service.
    Wait,
    /// The run waited for a person.
    Question,
    /// No process worked on the run.
    Pause,
}

impl Work {
    /// Returns its name for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Attempt(_) => "attempt",
            Self::Verify => "Verify",
            Self::Repair => "repair",
            Self::FinalCheck => "final check",
            Self::Wait => "waited for a service",
            Self::Question => "waited for you",
            Self::Pause => "not running",
        }
    }

    /// Whether nothing was done meanwhile, so that its length says nothing about the work.
    #[must_use]
    pub fn is_wait(self) -> bool {
        matches!(self, Self::Wait | Self::Question | Self::Pause)
    }
}

/// One stretch of time in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// What filled it.
    pub work: Work,
    /// The position of its task in the view's list.
    pub task: Option<usize>,
    /// When it began.
    pub from: Timestamp,
    /// When it ended; `None` while it goes on.
    pub until: Option<Timestamp>,
    /// Whether it went well, if that is known.
    pub went_well: Option<bool>,
}

impl Stretch {
    /// Returns how long it took until it ended, or until now.
    #[must_use]
    pub fn millis(&self, now: Timestamp) -> u64 {
        self.until.unwrap_or(now).since(self.from)
    }
}

/// The stretches of a run, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    stretches: Vec<Stretch>,
}

impl Timeline {
    /// Returns all stretches, oldest first.
    #[must_use]
    pub fn stretches(&self) -> &[Stretch] {
        &self.stretches
    }

    /// Applies an event. `last` is when the one before it happened, and `task` the position of the
    /// task that it is about.
    pub(crate) fn apply(
        &mut self,
        last: Timestamp,
        at: Timestamp,
        event: &Event,
        task: Option<usize>,
    ) {
        match event {
            Event::AttemptStarted { attempt, .. } => self.begin(Work::Attempt(*attempt), task, at),
            Event::VerifyStarted { .. } | Event::ClaimsAsked { .. } => {
                self.begin(Work::Verify, task, at);
            }
            Event::RepairStarted { .. } => self.begin(Work::Repair, task, at),
            Event::FinalCheckStarted { .. } => self.begin(Work::FinalCheck, None, at),
            Event::WaitStarted { since, .. } => self.begin(Work::Wait, task, *since),
            Event::PersonAsked { .. } => self.begin(Work::Question, task, at),
            Event::AnswersAwaited { .. } => self.begin(Work::Question, None, at),
            Event::AttemptEnded { report, .. } => {
                self.end(at, Some(report.signalled && !report.reports_failure));
            }
            Event::VerifyEnded { verdict, .. } => self.end(at, passed(verdict)),
            Event::FinalCheckEnded { regressed, .. } => self.end(at, Some(regressed.is_empty())),
            Event::ClaimsJudged { .. }
            | Event::RepairEnded { .. }
            | Event::WaitEnded { .. }
            | Event::PersonAnswered { .. }
            | Event::TaskParked { .. }
            | Event::RunEnded { .. } => self.end(at, None),
            Event::RunResumed { .. } => {
                self.end(last, None);
                self.begin(Work::Pause, None, last);
                self.end(at, None);
            }
            _ => {}
        }
    }

    fn begin(&mut self, work: Work, task: Option<usize>, from: Timestamp) {
        self.end(from, None);
        self.stretches.push(Stretch {
            work,
            task,
            from,
            until: None,
            went_well: None,
        });
    }

    fn end(&mut self, at: Timestamp, went_well: Option<bool>) {
        let open = self.stretches.last_mut();
        if let Some(open) = open.filter(|open| open.until.is_none()) {
            open.until = Some(at.max(open.from));
            open.went_well = went_well;
        }
    }
}

fn passed(verdict: &Verdict) -> Option<bool> {
    match verdict {
        Verdict::Green => Some(true),
        Verdict::Red { .. } => Some(false),
        Verdict::Unverified => None,
    }
}

#[cfg(test)]
mod tests {
    use regreen_model::StopSignal;

    use super::*;

    fn timeline(events: &[(u64, Event)]) -> Vec<(Work, u64, Option<u64>)> {
        let mut timeline = Timeline::default();
        let mut last = Timestamp::default();
        for (at, event) in events {
            let at = Timestamp::from_millis(*at);
            timeline.apply(last, at, event, None);
            last = at;
        }
        let stretches = timeline.stretches().iter();
        stretches
            .map(|one| {
                let until = one.until.map(Timestamp::as_millis);
                (one.work, one.from.as_millis(), until)
            })
            .collect()
    }

    fn resumed() -> Event {
        Event::RunResumed {
            config: None,
            at: None,
        }
    }

    #[test]
    fn what_a_kill_interrupted_ends_with_its_last_sign_and_a_pause_follows() {
        let check = Event::FinalCheckStarted { seq: 1, checks: 2 };
        let signal = StopSignal::Terminate;
        let events = [
            (10, check),
            (20, Event::StopAsked { signal }),
            (500, resumed()),
        ];
        assert_eq!(
            timeline(&events),
            [
                (Work::FinalCheck, 10, Some(20)),
                (Work::Pause, 20, Some(500))
            ]
        );
    }

    #[test]
    fn what_goes_on_has_no_end() {
        let check = Event::FinalCheckStarted { seq: 1, checks: 2 };
        assert_eq!(timeline(&[(10, check)]), [(Work::FinalCheck, 10, None)]);
    }
}
