//! The rules for driving a run: in which order commands are performed, which of them must be
//! stored, and which steps a power cut may take back.

use std::collections::{BTreeMap, VecDeque};

use regreen_model::{CommandSeq, Event, PersonChoice, TaskKey, Timestamp};
use serde::{Deserialize, Serialize};

use crate::command::{Command, Issued};
use crate::decide::Decision;
use crate::input::{CommitResult, Input};
use crate::state::{FinalCheckPhase, Phase, State};

/// One step of a run as a journal file has it: one line of JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalLine {
    /// In milliseconds since 1970.
    pub now: Timestamp,
    /// What the engine was told.
    pub input: Input,
    /// What it decided had happened.
    pub events: Vec<Event>,
}

/// Commands that are not performed yet, in the order to perform them.
///
/// The state file is written when something is about to be done that takes its time. Where
/// the plan is read first, the decision about it saves the state again a moment later.
#[derive(Debug, Default)]
pub struct CommandQueue {
    queue: VecDeque<Issued>,
    unsaved_state: Option<Issued>,
}

impl CommandQueue {
    /// Adds the commands of a decision that led to `state`. A run that has ended performs
    /// nothing that it issued before.
    pub fn add(&mut self, state: &State, commands: Vec<Issued>) {
        if state.outcome.is_some() {
            self.clear();
        }
        self.queue.extend(commands);
    }

    /// Removes and returns the command that is to be performed now.
    pub fn take_next(&mut self) -> Option<Issued> {
        while let Some(issued) = self.queue.pop_front() {
            match &issued.command {
                Command::SaveState(_) => self.unsaved_state = Some(issued),
                Command::ReadPlan(_) => return Some(issued),
                _ => match self.unsaved_state.take() {
                    None => return Some(issued),
                    save => {
                        self.queue.push_front(issued);
                        return save;
                    }
                },
            }
        }
        self.unsaved_state.take()
    }

    /// Drops all commands.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

impl Command {
    /// Whether the run waits for its answer. What is not waited for is not stored: the next
    /// decision issues it again.
    #[must_use]
    pub fn awaits_answer(&self) -> bool {
        !matches!(
            self,
            Self::SaveState(_) | Self::KeepServices(_) | Self::Finish
        )
    }

    /// Whether performing it twice does no more than performing it once.
    fn is_idempotent(&self) -> bool {
        matches!(
            self,
            Self::Commit(_) | Self::Record(_) | Self::ReadPlan(_) | Self::SaveState(_)
        )
    }
}

impl Decision {
    /// Whether nothing is lost if a power cut takes the step with this decision back: `input`
    /// says that something is now as it was to be, so that the command finds it so when it is
    /// issued again, and nothing follows that must not be done twice.
    #[must_use]
    pub fn is_reissuable(&self, input: &Input) -> bool {
        let confirms = match input {
            Input::Ticked { superseded, .. } => superseded.is_empty(),
            Input::Recorded { .. } => true,
            Input::Committed { result, .. } => {
                matches!(result, CommitResult::Done { .. } | CommitResult::Nothing)
            }
            _ => false,
        };
        let mut commands = self.commands.iter();
        confirms && commands.all(|issued| issued.command.is_idempotent())
    }
}

impl State {
    /// Whether the answer to this command is pending.
    #[must_use]
    pub fn awaits(&self, seq: CommandSeq) -> bool {
        self.reading == Some(seq)
            || self.final_check.phase.seq() == Some(seq)
            || self.closing == Some(seq)
            || self.task_of(seq).is_some()
    }

    /// The attempt that is being made, or was when the process ended.
    #[must_use]
    pub fn pending_attempt(&self) -> Option<(&TaskKey, u32)> {
        self.tasks.values().find_map(|task| match task.phase {
            Phase::Attempting { attempt, .. } => Some((task.key(), attempt)),
            _ => None,
        })
    }

    /// The task of the command that was running foreign code when the process ended, and the
    /// command's number. The final check and the closing commit are of no single task.
    #[must_use]
    pub fn pending_guarded(&self) -> Option<(Option<&TaskKey>, CommandSeq)> {
        let pending = self.tasks.values().find_map(|task| {
            let seq = task.phase.seq().filter(|_| task.phase.runs_foreign_code());
            seq.map(|seq| (Some(task.key()), seq))
        });
        let of_run = match self.final_check.phase {
            FinalCheckPhase::Checking { seq } => Some(seq),
            FinalCheckPhase::Idle | FinalCheckPhase::Reopening { .. } => self.closing,
        };
        pending.or(of_run.map(|seq| (None, seq)))
    }

    /// The choices that the run has not taken into account yet.
    pub fn new_choices<'a>(
        &self,
        choices: &'a [PersonChoice],
    ) -> impl Iterator<Item = &'a PersonChoice> + use<'a> {
        let seen = self.choices_seen;
        choices.iter().filter(move |choice| choice.number > seen)
    }
}

/// Keeps the latest choice about each task, in the order they were made.
#[must_use]
pub fn latest_choices(choices: Vec<PersonChoice>) -> Vec<PersonChoice> {
    let mut latest: BTreeMap<TaskKey, u64> = BTreeMap::new();
    for choice in &choices {
        latest.insert(choice.task.clone(), choice.number);
    }
    let is_latest = |choice: &PersonChoice| latest.get(&choice.task) == Some(&choice.number);
    choices.into_iter().filter(is_latest).collect()
}

#[cfg(test)]
mod tests {
    use regreen_model::{PlanQuery, StateFile, Verdict};

    use super::*;

    fn issued(seq: u64, command: Command) -> Issued {
        Issued { seq, command }
    }

    fn save(seq: u64) -> Issued {
        issued(seq, Command::SaveState(StateFile::default()))
    }

    fn read(seq: u64) -> Issued {
        issued(seq, Command::ReadPlan(PlanQuery::default()))
    }

    fn order(commands: Vec<Issued>) -> Vec<u64> {
        let mut queue = CommandQueue::default();
        queue.add(&State::default(), commands);
        std::iter::from_fn(|| queue.take_next().map(|issued| issued.seq)).collect()
    }

    #[test]
    fn a_state_that_is_saved_again_at_once_is_written_once() {
        let finish = issued(5, Command::Finish);
        let commands = vec![save(1), read(2), save(3), finish];
        assert_eq!(order(commands), [2, 3, 5]);
    }

    #[test]
    fn a_state_is_written_before_anything_is_done() {
        let finish = issued(3, Command::Finish);
        assert_eq!(order(vec![save(1), read(2), finish]), [2, 1, 3]);
        assert_eq!(order(vec![save(1)]), [1]);
    }

    #[test]
    fn a_run_that_has_ended_performs_nothing_that_it_issued_before() {
        let mut queue = CommandQueue::default();
        queue.add(&State::default(), vec![save(1), read(2)]);
        let ended = State {
            outcome: Some(regreen_model::RunOutcome::AllGreen),
            ..State::default()
        };
        queue.add(&ended, vec![issued(3, Command::Finish)]);
        assert_eq!(queue.take_next().map(|issued| issued.seq), Some(3));
        assert_eq!(queue.take_next(), None);
    }

    #[test]
    fn only_steps_that_come_out_the_same_again_may_be_taken_back() {
        let decision = |commands: Vec<Issued>| Decision {
            events: Vec::new(),
            commands,
        };
        let goes_on = decision(vec![read(2)]);
        let ticked = Input::Ticked {
            seq: 1,
            superseded: Vec::new(),
        };
        assert!(goes_on.is_reissuable(&Input::Recorded { seq: 1 }));
        assert!(goes_on.is_reissuable(&ticked));
        let ends = decision(vec![issued(2, Command::Finish)]);
        assert!(!ends.is_reissuable(&Input::Recorded { seq: 1 }));
        // A tick must not be there without its reason.
        let verified = Input::Verified {
            seq: 1,
            verdict: Verdict::Green,
            diagnosis: None,
            took_ms: 0,
        };
        assert!(!goes_on.is_reissuable(&verified));
        let output = "no".to_owned();
        let refused = Input::Committed {
            seq: 1,
            result: CommitResult::HookFailed { output },
        };
        assert!(!goes_on.is_reissuable(&refused));
    }
}
