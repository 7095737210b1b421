//! The final check. Before a run ends with everything done or skipped, the checks that passed in
//! it, and in earlier runs since all tasks were last done, run once more: a later task may have
//! broken an earlier one.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use regreen_model::{
    Event, FailureRecord, FinalCheckPolicy, HistoryParts, NotRepeated, NotRepeatedReason,
    PassedVerify, PlainLine, Regression, RepeatResult, RepeatVerdict, RepeatedCheck, RunOutcome,
    Service, TaskKey, Timestamp, VerifyCommand,
};

use super::turn::Turn;
use super::{Decision, ending, healing, picking, reviewing, verifying};
use crate::command::{Command, FinalCheckOrder};
use crate::state::{Phase, State, TaskState};

const ERROR_CHARS: usize = 200;

/// Starts the final check, unless it has passed or there is nothing to repeat. Returns whether the
/// run must wait for it.
pub(super) fn start(turn: &mut Turn<'_>, state: &State) -> bool {
    let is_off = state.config.final_check == FinalCheckPolicy::Off;
    if is_off || state.final_check.passed_at == Some(state.steps) {
        return false;
    }
    let found = Checks::of(state);
    if found.repeated.is_empty() {
        if !found.left_out.is_empty() {
            turn.emit(end_of(state, &[], 0));
        }
        return false;
    }
    turn.save_state();
    let order = FinalCheckOrder {
        // As with every check, no budget cuts it short.
        limit_ms: state.config.final_check_time_ms,
        timeout_ms: state.config.verify_timeout_ms,
        environment: state.environment.clone(),
        last_attempt: state.last_attempt.clone(),
        accepted_tests: state.config.accepted_tests.iter().cloned().collect(),
        quarantined_tests: state.quarantined_tests(),
        checks: found.repeated,
    };
    let checks = u32::try_from(order.checks.len()).unwrap_or(u32::MAX);
    turn.ask(Command::FinalCheck(Box::new(order)), |seq| {
        Event::FinalCheckStarted { seq, checks }
    });
    true
}

/// Acts on the results of the repeated checks.
pub(super) fn ended(
    state: &State,
    now: Timestamp,
    results: &[RepeatResult],
    took_ms: u64,
) -> Decision {
    let mut turn = Turn::about_run(state, now);
    turn.emit(end_of(state, results, took_ms));
    let regressed = turn.state.final_check.regressed.clone();
    if turn.state.final_check.passed_at.is_none() {
        reopen(&mut turn, &regressed);
    } else {
        for regression in &regressed {
            let message = describe(regression);
            turn.emit(Event::Warned { message });
        }
        // The check took time; people may have edited the plan meanwhile.
        picking::continue_run(&mut turn);
    }
    turn.decision()
}

fn reopen(turn: &mut Turn<'_>, regressed: &[Regression]) {
    let tasks: Vec<TaskKey> = regressed.iter().map(|one| one.task.clone()).collect();
    let command = Command::Reopen {
        tasks: tasks.clone(),
    };
    turn.ask(command, |seq| Event::ReopenAsked { seq, tasks });
}

/// Unticks tasks again, if that was interrupted.
pub(super) fn reopen_again(turn: &mut Turn<'_>) {
    let regressed = turn.state.final_check.regressed.clone();
    reopen(turn, &regressed);
}

/// Continues after unticking: with recovery, the tasks are healed; without it, the run has failed.
pub(super) fn reopened(state: &State, now: Timestamp) -> Decision {
    let mut turn = Turn::about_run(state, now);
    let regressed = &state.final_check.regressed;
    for Regression { task, failure, .. } in regressed {
        turn.look_at(task);
        turn.emit(Event::TaskReopened { task: task.clone() });
        if !state.config.recovery {
            let attempts = state.tasks.get(task).map_or(0, |task| task.attempts);
            turn.emit(Event::TaskFailed {
                task: task.clone(),
                attempt: attempts,
                failure: failure.clone(),
                only_red: true,
            });
        }
    }
    if state.config.recovery {
        picking::continue_run(&mut turn);
    } else {
        let messages = regressed
            .iter()
            .map(|one| format!("ERROR: {}", describe(one)));
        let message = messages.collect::<Vec<_>>().join("\n");
        ending::end(&mut turn, RunOutcome::Regressed { message });
    }
    turn.decision()
}

/// Handles a regressed task when its turn comes. Returns whether it was one. It is verified first,
/// because what was done for another regression may have been enough.
pub(super) fn resume(turn: &mut Turn<'_>) -> bool {
    let steps = turn.state.steps;
    let Some(task) = turn.task() else {
        return false;
    };
    match (task.regressed_at, &task.report) {
        (Some(at), Some(_)) if at == steps => {
            let failure = task.failure.clone().unwrap_or_default();
            healing::fail_verify(turn, failure);
            true
        }
        (Some(_), Some(_)) => {
            verifying::start(turn, false);
            true
        }
        _ => false,
    }
}

/// Describes a task that no longer passes.
fn describe(regression: &Regression) -> String {
    let Regression {
        task,
        failure,
        since,
        ..
    } = regression;
    let cause = PlainLine::first_of(&failure.error, ERROR_CHARS);
    let mut text = format!("Task {} passed, but no longer does: {cause}", task.id);
    if !since.is_empty() {
        let ids: Vec<String> = since.iter().map(|task| task.id.to_string()).collect();
        let _infallible = write!(text, " (ran since: {})", ids.join(", "));
    }
    text
}

/// Sorts the results by their consequences.
fn end_of(state: &State, results: &[RepeatResult], took_ms: u64) -> Event {
    let (mut passed, mut flaky, mut regressed) = (Vec::new(), Vec::new(), Vec::new());
    let mut known_failures = Vec::new();
    let checks = Checks::of(state);
    let mut not_repeated = checks.left_out;
    for check in &checks.repeated {
        let is_told = |task: &&TaskKey| results.iter().any(|result| result.tasks.contains(task));
        let gone = check.tasks.iter().filter(|task| !is_told(task));
        not_repeated.extend(gone.map(|task| NotRepeated {
            task: task.clone(),
            check: check.shown(),
            why: NotRepeatedReason::NotInPlan,
        }));
    }
    for result in results {
        for task in &result.tasks {
            match &result.verdict {
                RepeatVerdict::Passed => passed.push(task.clone()),
                RepeatVerdict::Flaky if state.config.strict => regressed.push(Regression {
                    task: task.clone(),
                    check: result.check.clone(),
                    failure: FailureRecord::new(verifying::FLAKY),
                    since: ran_since(state, task),
                }),
                RepeatVerdict::Flaky => {
                    passed.push(task.clone());
                    flaky.push(task.clone());
                }
                RepeatVerdict::KnownFailures if state.config.strict => {
                    regressed.push(Regression {
                        task: task.clone(),
                        check: result.check.clone(),
                        failure: FailureRecord::new(reviewing::STRICT),
                        since: ran_since(state, task),
                    });
                }
                RepeatVerdict::KnownFailures => {
                    passed.push(task.clone());
                    known_failures.push(task.clone());
                }
                RepeatVerdict::Red { failure } => regressed.push(Regression {
                    task: task.clone(),
                    check: result.check.clone(),
                    failure: (**failure).clone(),
                    since: ran_since(state, task),
                }),
                RepeatVerdict::OutOfTime => not_repeated.push(NotRepeated {
                    task: task.clone(),
                    check: result.check.clone(),
                    why: NotRepeatedReason::NoTime,
                }),
            }
        }
    }
    Event::FinalCheckEnded {
        passed,
        flaky,
        known_failures,
        regressed,
        not_repeated,
        took_ms,
    }
}

/// Returns the tasks attempted since this one passed, in order.
fn ran_since(state: &State, task: &TaskKey) -> Vec<TaskKey> {
    let passed = passed_checks(state).find(|done| done.check.task == *task);
    // A check from an earlier run passed before all of them.
    let at = passed.map_or(u64::MAX, |done| done.at.unwrap_or(0));
    let mut later: Vec<&TaskState> = state
        .tasks
        .values()
        .filter(|other| other.attempted_at > at)
        .collect();
    later.sort_by_key(|task| task.attempted_at);
    later.into_iter().map(|task| task.key().clone()).collect()
}

/// A finished original, with the check it passed.
struct DoneTask {
    check: PassedVerify,
    /// The number of steps in this run when it passed; `None` if that was in an earlier run.
    at: Option<u64>,
}

fn passed_checks(state: &State) -> impl Iterator<Item = DoneTask> {
    let tasks = state.tasks.values().filter_map(|task| {
        let is_done = task.phase == Phase::Closed && task.result == Some(true);
        let is_original = !task.picked.is_fix();
        let passed = task.passed_check.filter(|_| is_done && is_original)?;
        Some(DoneTask {
            check: PassedVerify {
                task: task.key().clone(),
                commands: task.picked.verify.clone(),
                // The tasks below a group have already passed the gate.
                has_gate: !task.picked.is_group,
                gate: state.config.gate.clone(),
                is_red: task.picked.is_red,
                took_ms: passed.took_ms,
                services: task
                    .picked
                    .services
                    .iter()
                    .filter(|service| !state.is_withheld(service))
                    .map(Service::of_others)
                    .collect(),
                known_failures: task.known_failures.clone(),
            },
            at: Some(passed.at),
        })
    });
    let claimed = state.claimed.iter().map(|(claim, passed)| DoneTask {
        check: PassedVerify {
            task: claim.task.clone(),
            commands: claim.verify.clone(),
            has_gate: true,
            gate: state.config.gate.clone(),
            is_red: claim.is_red,
            took_ms: passed.took_ms,
            services: Vec::new(),
            known_failures: BTreeSet::new(),
        },
        at: Some(passed.at),
    });
    let earlier = state.earlier_checks.iter().map(|check| DoneTask {
        check: check.clone(),
        at: None,
    });
    let is_skipped = |done: &DoneTask| state.skipped.contains(&done.check.task);
    let all = tasks.chain(claimed).chain(earlier);
    all.filter(move |done| !is_skipped(done))
}

impl State {
    /// Returns the checks that the next run of the spec must repeat too before it may end green:
    /// those that originals have passed since all tasks were last done, unless this run ended green
    /// and its final check confirmed them.
    #[must_use]
    pub fn checks_for_next_run(&self) -> Vec<PassedVerify> {
        let is_over = self.outcome == Some(RunOutcome::AllGreen);
        passed_checks(self)
            .map(|done| done.check)
            .filter(|check| !is_over || !self.has_passed_at_the_end(&check.task))
            .collect()
    }

    fn has_passed_at_the_end(&self, task: &TaskKey) -> bool {
        let is_off = self.config.final_check == FinalCheckPolicy::Off;
        let checked = &self.final_check;
        let is_red = checked.regressed.iter().any(|one| one.task == *task);
        !is_off && !is_red && !checked.out_of_time.contains(task)
    }
}

/// The checks of finished tasks, without duplicates.
#[derive(Default)]
struct Checks {
    /// Sorted by duration, shortest first.
    repeated: Vec<RepeatedCheck>,
    left_out: Vec<NotRepeated>,
}

impl Checks {
    fn of(state: &State) -> Self {
        let mut checks = Self::default();
        for done in passed_checks(state) {
            checks.add(state, &done);
        }
        // Checks that need services come last, so that each service starts only once.
        checks
            .repeated
            .sort_by_key(|check| (!check.services.is_empty(), check.last_ms));
        checks
    }

    fn add(&mut self, state: &State, done: &DoneTask) {
        let check = &done.check;
        if check.is_red {
            return self.leave_out(&check.task, &check.commands, NotRepeatedReason::Red);
        }
        let (mut history, mut commands) = (Vec::new(), Vec::new());
        for command in &check.commands {
            let (repeated, left_out) = by_history(command);
            commands.extend(repeated);
            history.extend(left_out);
        }
        if !history.is_empty() {
            self.leave_out(&check.task, &history, NotRepeatedReason::GitHistory);
            if commands.is_empty() {
                return;
            }
        }
        // Use the gate with which it passed, even if a later run has none.
        let gate = state.config.gate.as_ref().or(check.gate.as_ref());
        let gate = gate.filter(|_| check.has_gate).cloned();
        if commands.is_empty() && gate.is_none() {
            return;
        }
        let is_latest = done.at == Some(state.steps);
        let mut known = self.repeated.iter_mut();
        let services = &check.services;
        match known.find(|known| {
            known.commands == commands && known.gate == gate && known.services == *services
        }) {
            Some(known) => {
                known.tasks.push(check.task.clone());
                known.last_ms = known.last_ms.max(check.took_ms);
                known.is_latest |= is_latest;
                // What one of its tasks must not break, none of them may.
                known
                    .known_failures
                    .retain(|test| check.known_failures.contains(test));
            }
            None => self.repeated.push(RepeatedCheck {
                tasks: vec![check.task.clone()],
                commands,
                gate,
                last_ms: check.took_ms,
                is_latest,
                services: check.services.clone(),
                known_failures: check.known_failures.clone(),
            }),
        }
    }

    fn leave_out(&mut self, task: &TaskKey, commands: &[VerifyCommand], why: NotRepeatedReason) {
        let commands = commands.iter().map(|command| command.command.as_str());
        self.left_out.push(NotRepeated {
            task: task.clone(),
            check: commands.collect::<Vec<_>>().join("; "),
            why,
        });
    }
}

/// Splits a command into the part to repeat and the part to leave out. An expectation applies to
/// the whole output, so such a command isn't split.
fn by_history(command: &VerifyCommand) -> (Option<VerifyCommand>, Option<VerifyCommand>) {
    let parts = HistoryParts::of(&command.command);
    let with = |text| VerifyCommand {
        command: text,
        ..command.clone()
    };
    match parts {
        HistoryParts {
            left_out: Some(_), ..
        } if command.expects.is_some() => (None, Some(command.clone())),
        HistoryParts { repeated, left_out } => (repeated.map(with), left_out.map(with)),
    }
}
