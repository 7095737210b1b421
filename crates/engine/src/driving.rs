//! The rules for driving a run: the order of commands, which of them must be stored, and which
//! steps a power cut may undo.

use std::collections::{BTreeMap, VecDeque};

use regreen_model::{CommandSeq, Event, PersonChoice, TaskKey, Timestamp};
use serde::{Deserialize, Serialize};

use crate::command::{Command, Issued};
use crate::decide::Decision;
use crate::input::{CommitResult, Input};
use crate::state::{FinalCheckPhase, Phase, State};

/// One step of a run in a journal file: one line of JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalLine {
    /// The time, in milliseconds since 1970.
    pub now: Timestamp,
    /// The input to the engine.
    pub input: Input,
    /// The events it decided on.
    pub events: Vec<Event>,
}

/// Commands still to be performed, in order.
///
/// The state file is written just before something that takes time. If the plan is to be read
/// first, it isn't: the decision about the plan saves the state again a moment later.
#[derive(Debug, Default)]
pub struct CommandQueue {
    queue: VecDeque<Issued>,
    unsaved_state: Option<Issued>,
}

impl CommandQueue {
    /// Adds the commands of a decision that led to `state`. Once a run has ended, commands issued
    /// before are dropped.
    pub fn add(&mut self, state: &State, commands: Vec<Issued>) {
        if state.outcome.is_some() {
            self.clear();
        }
        self.queue.extend(commands);
    }

    /// Puts a command back that must be performed again.
    pub fn put_back(&mut self, issued: Issued) {
        self.queue.push_front(issued);
    }

    /// Drops the commands that nothing waits for any longer.
    pub fn drop_moot(&mut self, state: &State) {
        let is_moot = |issued: &Issued| issued.command.awaits_answer() && !state.awaits(issued.seq);
        self.queue.retain(|issued| !is_moot(issued));
    }

    /// Removes and returns the next command to perform.
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
    /// Whether the run waits for its answer. Other commands aren't stored, because the next
    /// decision issues them again.
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
    /// Whether a power cut may undo the step with this decision. It may if `input` says that
    /// something is now as ordered, so that the same command finds it done when issued again, and
    /// if nothing follows that must not be done twice.
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
    /// Whether the command with this number is still unanswered.
    #[must_use]
    pub fn awaits(&self, seq: CommandSeq) -> bool {
        self.reading == Some(seq)
            || self.final_check.phase.seq() == Some(seq)
            || self.closing == Some(seq)
            || self.awaiting == Some(seq)
            || self.task_of(seq).is_some()
    }

    /// Returns the attempt that is running, or was when the process ended.
    #[must_use]
    pub fn pending_attempt(&self) -> Option<(&TaskKey, u32)> {
        self.tasks.values().find_map(|task| match task.phase {
            Phase::Attempting { attempt, .. } => Some((task.key(), attempt)),
            _ => None,
        })
    }

    /// Returns the task and number of the command that was running foreign code when the process
    /// ended. The final check and the closing commit belong to no single task.
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

    /// Returns the choices that the run hasn't recorded yet.
    pub fn new_choices<'a>(
        &self,
        choices: &'a [PersonChoice],
    ) -> impl Iterator<Item = &'a PersonChoice> + use<'a> {
        let seen = self.choices_seen;
        choices.iter().filter(move |choice| choice.number > seen)
    }
}

/// Keeps the latest choice for each task, in the order they were made.
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
    fn a_command_that_nothing_waits_for_is_dropped() {
        let mut queue = CommandQueue::default();
        let state = State {
            reading: Some(3),
            ..State::default()
        };
        queue.add(&state, vec![save(1), read(2), read(3)]);
        queue.drop_moot(&state);
        let first = queue.take_next().unwrap();
        assert_eq!(first.seq, 3);
        queue.put_back(first);
        let order = std::iter::from_fn(|| queue.take_next().map(|issued| issued.seq));
        assert_eq!(order.collect::<Vec<_>>(), [3, 1]);
    }

    #[test]
    fn what_is_issued_again_anyway_is_not_waited_for() {
        assert!(read(1).command.awaits_answer());
        assert!(
            Command::Wait {
                until: Timestamp::from_millis(1)
            }
            .awaits_answer()
        );
        assert!(!save(1).command.awaits_answer());
        assert!(!Command::Finish.awaits_answer());
    }

    #[test]
    fn a_run_awaits_the_answer_to_whatever_is_pending() {
        let mut states: [State; 4] = std::array::from_fn(|_| State::default());
        states[3].awaiting = Some(3);
        states[0].reading = Some(3);
        states[1].closing = Some(3);
        states[2].final_check.phase = FinalCheckPhase::Checking { seq: 3 };
        for state in states {
            assert!(state.awaits(3) && !state.awaits(2), "{state:?}");
        }
        assert!(!State::default().awaits(3));
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
        // A tick must never be stored without its reason.
        let verified = Input::Verified {
            tests: None,
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
