//! One run, as the fold of its events.

use std::collections::BTreeMap;

use regreen_model::{
    AgentIdentity, AttemptReport, ChoiceKind, Event, Mark, PersonAnswer, PersonChoice, PlanChanges,
    PlannedRepair, Regression, RunConfig, RunOutcome, Spending, TaskKey, Timestamp, UsageLedger,
};
use serde::Serialize;

use crate::event_task::task_of;
use crate::task_view::{TaskFix, TaskView};
use crate::timeline::Timeline;

/// A run: what it is doing, what it has done, and what it needs a person for.
#[derive(Clone, Debug, Default)]
pub struct RunView {
    /// Its id.
    pub run: String,
    /// Its configuration.
    pub config: RunConfig,
    /// When it started.
    pub started: Timestamp,
    /// When something last happened.
    pub last: Timestamp,
    /// What it is doing. A run that was killed seems to be doing what it did then.
    pub activity: Activity,
    /// The task that it turned to last.
    pub current: Option<TaskKey>,
    /// The tasks that something happened to, in the order of that.
    pub tasks: Vec<TaskView>,
    /// All warnings, in full.
    pub warnings: Vec<String>,
    /// Rows in which something was taken back: ticks without proof, changes of the plan.
    pub taken_back: Vec<TaskKey>,
    /// Tasks that no longer passed in the final check.
    pub regressed: Vec<Regression>,
    /// What it has used.
    pub spent: Spending,
    /// How long it has waited.
    pub waited_ms: u64,
    /// How it ended or paused.
    pub outcome: Option<RunOutcome>,
    /// When it ended or paused.
    pub ended: Option<Timestamp>,
    /// What it did when.
    pub timeline: Timeline,
    /// The position of each task in the list.
    positions: BTreeMap<TaskKey, usize>,
    choices_seen: u64,
    sessions: UsageLedger,
}

/// What a run is doing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Activity {
    /// It reads the plan, inspects a failure, or changes the plan.
    #[default]
    Planning,
    /// An agent works on a task.
    Attempt {
        /// The number of the attempt.
        attempt: u32,
        /// Since when.
        #[serde(skip)]
        since: Timestamp,
    },
    /// A check runs.
    Verifying {
        /// Since when.
        #[serde(skip)]
        since: Timestamp,
    },
    /// regreen carries out a repair itself.
    Repairing {
        /// Since when.
        #[serde(skip)]
        since: Timestamp,
    },
    /// It ticks, commits or writes a file.
    Saving,
    /// It waits for a service.
    Waiting {
        /// Why.
        why: String,
        /// Since when.
        #[serde(skip)]
        since: Timestamp,
        /// Until when.
        #[serde(skip)]
        until: Timestamp,
    },
    /// It waits for a person's answer.
    Asking {
        /// Since when.
        #[serde(skip)]
        since: Timestamp,
    },
    /// It repeats all checks.
    FinalCheck {
        /// Since when.
        #[serde(skip)]
        since: Timestamp,
    },
    /// It has ended or paused.
    Ended,
}

/// Something that only a person can decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenQuestion {
    /// Why a person has to decide.
    pub why: String,
    /// When it was asked.
    pub asked: Timestamp,
    /// The repair that a person may allow.
    pub repair: Option<PlannedRepair>,
    /// Whether someone has answered at another terminal, and the run takes the answer when the task is next.
    pub is_answered: bool,
}

impl Activity {
    /// Returns its name for people and programs.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Planning => "planning",
            Self::Attempt { .. } => "attempt",
            Self::Verifying { .. } => "verifying",
            Self::Repairing { .. } => "repairing",
            Self::Saving => "saving",
            Self::Waiting { .. } => "waiting",
            Self::Asking { .. } => "asking",
            Self::FinalCheck { .. } => "final check",
            Self::Ended => "ended",
        }
    }

    /// Returns when it began, if that is known.
    #[must_use]
    pub fn since(&self) -> Option<Timestamp> {
        match self {
            Self::Attempt { since, .. }
            | Self::Verifying { since }
            | Self::Repairing { since }
            | Self::Waiting { since, .. }
            | Self::Asking { since }
            | Self::FinalCheck { since } => Some(*since),
            Self::Planning | Self::Saving | Self::Ended => None,
        }
    }
}

impl RunView {
    /// Returns the agent.
    #[must_use]
    pub fn agent(&self) -> &AgentIdentity {
        &self.config.agent
    }

    /// Whether the run knows all of these choices.
    #[must_use]
    pub fn has_settled(&self, choices: &[PersonChoice]) -> bool {
        let seen = self.choices_seen;
        choices.iter().all(|choice| choice.number <= seen)
    }

    /// Applies the choices that people have made since, which the run will apply when it resumes.
    pub fn settle(&mut self, choices: &[PersonChoice]) {
        for choice in choices {
            if choice.number > self.choices_seen {
                self.apply_to_task(
                    self.last,
                    &Event::Chosen {
                        choice: choice.clone(),
                    },
                );
            }
        }
    }

    /// Returns a task.
    #[must_use]
    pub fn task(&self, key: &TaskKey) -> Option<&TaskView> {
        self.tasks.get(*self.positions.get(key)?)
    }

    /// Returns the tasks that wait for a person, with their questions.
    pub fn questions(&self) -> impl Iterator<Item = (&TaskView, &OpenQuestion)> {
        let asked = self.tasks.iter();
        let asked = asked.filter_map(|task| Some((task, task.question.as_ref()?)));
        asked.filter(|(_, question)| !question.is_answered)
    }

    /// Applies one more event.
    pub fn apply(&mut self, at: Timestamp, event: &Event) {
        let last = std::mem::replace(&mut self.last, at);
        if let Some(activity) = activity_after(at, event) {
            self.activity = activity;
        }
        self.apply_to_run(at, event);
        self.apply_to_task(at, event);
        let position = task_of(event).and_then(|key| self.positions.get(key).copied());
        let task = position.and_then(|at| self.tasks.get_mut(at));
        // A failure ends the response to the one before it, and isn't a response to itself.
        if let Some(task) = task.filter(|_| !matches!(event, Event::TaskFailed { .. })) {
            task.respond(event);
        }
        self.timeline.apply(last, at, event, position);
    }

    fn apply_to_run(&mut self, at: Timestamp, event: &Event) {
        match event {
            Event::RunStarted { run, config, .. } => {
                *self = Self {
                    run: run.clone(),
                    config: config.clone(),
                    started: at,
                    last: at,
                    ..Self::default()
                };
            }
            Event::RunResumed { config, .. } => {
                self.outcome = None;
                self.ended = None;
                if let Some(config) = config {
                    self.config = RunConfig::clone(config);
                }
            }
            Event::TaskPicked { task } => self.current = Some(task.task.clone()),
            // It waits for these, and not for the task that it turned to last.
            Event::AnswersAwaited { tasks, .. } => self.current = tasks.first().cloned(),
            Event::AttemptEnded { task, report, .. } => {
                self.spend(task, report);
                self.take_back(&report.plan);
            }
            Event::VerifyEnded { task, took_ms, .. }
            | Event::TestsReviewed { task, took_ms, .. }
            | Event::OpinionGiven { task, took_ms, .. } => self.spend_time(task, *took_ms),
            Event::PlanReviewed { changes, .. } => self.take_back(changes),
            Event::ClaimsJudged { taken_back, .. } => self.taken_back.extend_from_slice(taken_back),
            // A wait for a service says nothing about the task.
            Event::WaitEnded { waited_ms, .. } => {
                self.waited_ms = self.waited_ms.saturating_add(*waited_ms);
                self.spent.add_time(*waited_ms);
            }
            Event::FinalCheckEnded {
                regressed, took_ms, ..
            } => {
                self.regressed.clone_from(regressed);
                self.spent.add_time(*took_ms);
            }
            Event::Chosen { choice } => self.choices_seen = self.choices_seen.max(choice.number),
            Event::Warned { message } => self.warnings.push(message.clone()),
            Event::RunEnded { outcome } => {
                self.outcome = Some(outcome.clone());
                self.ended = Some(at);
            }
            _ => {}
        }
    }

    fn apply_to_task(&mut self, at: Timestamp, event: &Event) {
        match event {
            Event::TaskPicked { task } => self.task_mut(&task.task).pick(task),
            Event::AttemptStarted {
                task,
                attempt,
                prompt,
                ..
            } => self.task_mut(task).begin_attempt(*attempt, *prompt, at),
            Event::AttemptEnded {
                task,
                attempt,
                report,
                ..
            } => self.task_mut(task).end_attempt(*attempt, report),
            Event::TaskFailed {
                task,
                attempt,
                failure,
                ..
            } => {
                let task = self.task_mut(task);
                task.respond(event);
                task.fail(*attempt, failure, at);
            }
            Event::FixInserted { task, fix } => {
                let task = self.task_mut(task);
                let cause = task.failure.clone();
                let id = fix.clone();
                task.fixes.push(TaskFix { id, cause });
            }
            Event::FixesSuperseded { fixes, .. } => {
                for fix in fixes {
                    self.task_mut(fix).superseded = true;
                }
            }
            Event::PersonAsked {
                task, why, repair, ..
            } => {
                let (why, repair) = (why.clone(), repair.clone());
                let asked = self.task(task).and_then(|task| task.question.as_ref());
                // A question that is asked again is as old as it was.
                let asked = asked.map_or(at, |question| question.asked);
                self.task_mut(task).question = Some(OpenQuestion {
                    why,
                    asked,
                    repair,
                    is_answered: false,
                });
            }
            Event::AnswerGiven { task } => {
                if let Some(question) = &mut self.task_mut(task).question {
                    question.is_answered = true;
                }
            }
            Event::PersonAnswered { task, answer } if *answer != PersonAnswer::Stop => {
                self.task_mut(task).question = None;
            }
            Event::Chosen { choice } => {
                let task = self.task_mut(&choice.task);
                task.question = None;
                task.skipped = choice.what == ChoiceKind::Skip;
            }
            Event::Marked { task, mark } => {
                self.task_mut(task).marks.insert(*mark);
            }
            Event::TaskDone { task, marks, hash } => {
                self.task_mut(task).finish(marks, hash.as_ref());
            }
            Event::ClaimsJudged { kept, .. } => {
                for key in kept {
                    let task = self.task_mut(key);
                    task.done = true;
                    task.marks.insert(Mark::Claimed);
                }
            }
            Event::TaskGone { task } => self.task_mut(task).question = None,
            Event::TaskSkipped { task } => {
                let task = self.task_mut(task);
                task.skipped = true;
                task.question = None;
            }
            Event::TaskReopened { task } => self.task_mut(task).done = false,
            _ => {}
        }
    }

    fn task_mut(&mut self, key: &TaskKey) -> &mut TaskView {
        let next = self.tasks.len();
        let at = *self.positions.entry(key.clone()).or_insert(next);
        if at == next {
            self.tasks.push(TaskView::untouched(key));
        }
        &mut self.tasks[at]
    }

    fn spend(&mut self, task: &TaskKey, report: &AttemptReport) {
        if let Some(usage) = &report.usage {
            let more = self.sessions.count(report.session.as_deref(), usage);
            self.spent.add_usage(&more);
            self.task_mut(task).spent.add_usage(&more);
        }
        self.spend_time(task, report.ending.duration_ms);
    }

    fn spend_time(&mut self, task: &TaskKey, millis: u64) {
        self.spent.add_time(millis);
        self.task_mut(task).spent.add_time(millis);
    }

    fn take_back(&mut self, changes: &PlanChanges) {
        let reverted = changes.reverted.iter().chain(&changes.put_back);
        self.taken_back.extend(reverted.cloned());
    }
}

/// Returns what the run is doing after an event, if the event says so.
fn activity_after(at: Timestamp, event: &Event) -> Option<Activity> {
    Some(match event {
        Event::AttemptStarted { attempt, .. } => Activity::Attempt {
            attempt: *attempt,
            since: at,
        },
        Event::VerifyStarted { .. } | Event::ClaimsAsked { .. } => {
            Activity::Verifying { since: at }
        }
        Event::RepairStarted { .. } => Activity::Repairing { since: at },
        Event::WaitStarted {
            since, until, why, ..
        } => Activity::Waiting {
            why: why.clone(),
            since: *since,
            until: *until,
        },
        Event::PersonAsked { .. } => Activity::Asking { since: at },
        Event::AnswersAwaited { since, .. } => Activity::Asking { since: *since },
        Event::FinalCheckStarted { .. } => Activity::FinalCheck { since: at },
        Event::TickAsked { .. }
        | Event::CommitAsked { .. }
        | Event::RecordAsked { .. }
        | Event::ReopenAsked { .. }
        | Event::ClosingCommitAsked { .. } => Activity::Saving,
        Event::RunEnded { .. } => Activity::Ended,
        Event::RunStarted { .. }
        | Event::RunResumed { .. }
        | Event::PlanAsked { .. }
        | Event::TaskPicked { .. }
        | Event::AttemptEnded { .. }
        | Event::VerifyEnded { .. }
        | Event::TestsReviewed { .. }
        | Event::RepairEnded { .. }
        | Event::WaitEnded { .. }
        | Event::PersonAnswered { .. }
        | Event::TaskParked { .. }
        | Event::FinalCheckEnded { .. } => Activity::Planning,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use regreen_model::{FailureRecord, TaskId};

    use super::*;

    fn key(id: &str) -> TaskKey {
        TaskKey {
            id: TaskId::parse(id).unwrap(),
            occurrence: 0,
            title: format!("Task {id}"),
        }
    }

    fn view(events: &[Event]) -> RunView {
        let mut view = RunView::default();
        for (at, event) in (1..).zip(events) {
            view.apply(Timestamp::from_millis(at), event);
        }
        view
    }

    fn asked(id: &str) -> Event {
        Event::PersonAsked {
            seq: 1,
            task: key(id),
            why: "no way".to_owned(),
            repair: None,
        }
    }

    fn answered(id: &str, answer: PersonAnswer) -> Event {
        let task = key(id);
        Event::PersonAnswered { task, answer }
    }

    fn open_questions(events: &[Event]) -> Vec<String> {
        let view = view(events);
        let open = view.questions();
        open.map(|(task, _)| task.key.id.to_string()).collect()
    }

    #[test]
    fn a_question_is_open_until_someone_answers_it_or_the_task_is_settled() {
        assert_eq!(open_questions(&[asked("1.1")]), ["1.1"]);
        let stopped = answered("1.1", PersonAnswer::Stop);
        assert_eq!(open_questions(&[asked("1.1"), stopped]), ["1.1"]);
        let fix = answered("1.1", PersonAnswer::Fix);
        assert_eq!(open_questions(&[asked("1.1"), fix]), [""; 0]);
        let skipped = Event::TaskSkipped { task: key("1.1") };
        assert_eq!(
            open_questions(&[asked("1.1"), asked("1.2"), skipped]),
            ["1.2"]
        );
    }

    #[test]
    fn a_question_that_is_asked_again_keeps_its_age() {
        let view = view(&[asked("1.1"), Event::PlanAsked { seq: 2 }, asked("1.1")]);
        let (_, question) = view.questions().next().unwrap();
        assert_eq!(question.asked, Timestamp::from_millis(1));
    }

    #[test]
    fn a_fix_knows_the_failure_that_it_was_added_for() {
        let failed = |error: &str| Event::TaskFailed {
            task: key("1.1"),
            attempt: 1,
            failure: FailureRecord::new(error),
            only_red: false,
        };
        let fix = |id: &str| Event::FixInserted {
            task: key("1.1"),
            fix: TaskId::parse(id).unwrap(),
        };
        let view = view(&[failed("one"), fix("1.1.1"), failed("two"), fix("1.1.2")]);
        let fixes = &view.task(&key("1.1")).unwrap().fixes;
        let causes = fixes.iter().map(|fix| fix.cause.as_ref().unwrap().cause());
        assert_eq!(causes.collect::<Vec<_>>(), ["one", "two"]);
    }

    #[test]
    fn an_attempt_knows_what_was_done_about_its_failure_and_whether_it_helped() {
        let started = |attempt: u32| Event::AttemptStarted {
            seq: 1,
            task: key("1.1"),
            attempt,
            prompt: regreen_model::PromptKind::Retry,
            timeout_ms: 1,
        };
        let failed = |attempt: u32| Event::TaskFailed {
            task: key("1.1"),
            attempt,
            failure: FailureRecord::new("red"),
            only_red: false,
        };
        let done = Event::TaskDone {
            task: key("1.1"),
            marks: std::collections::BTreeSet::new(),
            hash: None,
        };
        let view = view(&[
            started(1),
            failed(1),
            started(2),
            failed(2),
            started(3),
            done,
        ]);
        let history = &view.task(&key("1.1")).unwrap().history;
        let responses = history.iter().map(|attempt| {
            let what = attempt.response.what.as_deref();
            (what, attempt.response.helped)
        });
        assert_eq!(
            responses.collect::<Vec<_>>(),
            [
                (Some("attempt 2, with the failure"), Some(false)),
                (Some("attempt 3, with the failure"), Some(true)),
                (None, None)
            ]
        );
    }

    #[test]
    fn a_resumed_run_has_not_ended() {
        let ended = Event::RunEnded {
            outcome: RunOutcome::AllGreen,
        };
        let resumed = Event::RunResumed {
            config: None,
            at: None,
        };
        assert_eq!(view(std::slice::from_ref(&ended)).activity, Activity::Ended);
        let view = view(&[ended, resumed]);
        assert_eq!((view.outcome, view.activity), (None, Activity::Planning));
    }
}
