//! Attempts: what the agent does, and what is observed afterwards.

use regreen_model::{
    AttemptClass, AttemptReport, Ending, FailureRecord, Modification, ModificationRequest,
    PromptKind, ProposedTask, TaskKey, Usage,
};

use crate::agent::{AgentAction, Character};
use crate::world::World;
use crate::world::name_of;
use regreen_engine::AttemptOrder;
use regreen_engine::Input;

/// How much of an attempt was observed before the process died.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interruption {
    /// Everything was reviewed, but not reported.
    Reviewed,
    /// The agent changed the plan, and the changes weren't reviewed.
    NotReviewed,
    /// The agent hadn't started.
    NotBegun,
}

impl Interruption {
    pub(crate) const ALL: [Self; 3] = [Self::Reviewed, Self::NotReviewed, Self::NotBegun];
}

impl World {
    /// Runs the agent once on a task.
    pub(crate) fn attempt(
        &mut self,
        order: &AttemptOrder,
        seen: Interruption,
    ) -> Result<AttemptOutcome, String> {
        let key = &order.task.task;
        if self.file.open_row(key).is_none() {
            return Ok(AttemptOutcome::Gone);
        }
        self.begin_guard();
        if seen == Interruption::NotBegun {
            return Ok(AttemptOutcome::Gone);
        }
        let mut report = self.behave(order);
        if seen == Interruption::NotReviewed {
            return Ok(AttemptOutcome::Gone);
        }
        report.plan = self.end_guard(key)?;
        self.watch.saw_attempt(&name_of(key), &report);
        Ok(AttemptOutcome::Ended(Box::new(report)))
    }

    fn action(&mut self) -> AgentAction {
        match self.agent {
            Character::Does(action) => action,
            Character::Mixed if self.rng.below(10) + self.trouble < 10 => AgentAction::Works,
            Character::Mixed => match AgentAction::any(&mut self.rng) {
                AgentAction::IsMissing if !self.rng.one_in(10) => AgentAction::Works,
                action => action,
            },
        }
    }

    fn behave(&mut self, order: &AttemptOrder) -> AttemptReport {
        let key = &order.task.task;
        let action = self.action();
        let (session, usage) = self.use_up(order);
        let done = AttemptReport {
            session: Some(session),
            usage: Some(usage),
            signalled: true,
            files_changed: 1,
            failure: FailureRecord::new(format!("it broke: {}", self.rng.below(3))),
            ..AttemptReport::default()
        };
        self.work(order, action);
        self.touch_plan(key, action);
        if self.state.stopping.is_some() {
            return AttemptReport {
                class: AttemptClass::Interrupted,
                signalled: false,
                ..done
            };
        }
        self.report(order, action, done)
    }

    /// Uses tokens. A resumed session reports its whole usage again.
    fn use_up(&mut self, order: &AttemptOrder) -> (String, Usage) {
        let session = order.session.clone();
        let session = session.unwrap_or_else(|| format!("session-{}", self.used.len()));
        let used = self.used.entry(session.clone()).or_default();
        *used += 20;
        let usage = Usage {
            input_tokens: *used,
            cumulative: order.session.is_some(),
            ..Usage::default()
        };
        (session, usage)
    }

    /// Lets the agent work, which sets whether the work is done. A fix works for its root.
    fn work(&mut self, order: &AttemptOrder, action: AgentAction) {
        let fails = matches!(
            action,
            AgentAction::Lies
                | AgentAction::ReportsFailure
                | AgentAction::TimesOutAtWork
                | AgentAction::TimesOutStuck
                | AgentAction::IsRateLimited
                | AgentAction::IsMissing
                | AgentAction::LosesSession
        );
        let heals = order.task.is_fix() && self.rng.below(3) < 2;
        let works = !fails && action != AgentAction::IsIdle;
        let name = name_of(&order.task.task);
        self.watch.work_changed(&name);
        *self.works.entry(name).or_default() |= works;
        if heals && works {
            let root = name_of(&order.task.root);
            self.watch.work_changed(&root);
            self.works.insert(root, true);
        }
        if action == AgentAction::BreaksOthers {
            self.break_another(&name_of(&order.task.task));
        }
    }

    fn break_another(&mut self, own: &str) {
        let working = self.works.iter().filter(|(_, works)| **works);
        let others = working.map(|(name, _)| name).filter(|name| *name != own);
        let others: Vec<String> = others.cloned().collect();
        if let Some(other) = self.rng.pick(others) {
            self.watch.work_changed(&other);
            self.works.insert(other, false);
        }
    }

    fn report(
        &mut self,
        order: &AttemptOrder,
        action: AgentAction,
        done: AttemptReport,
    ) -> AttemptReport {
        let silent = AttemptReport {
            signalled: false,
            ..done.clone()
        };
        let ending = Ending {
            timed_out: true,
            ..Ending::default()
        };
        match action {
            AgentAction::IsSilent => silent,
            AgentAction::IsIdle => AttemptReport {
                files_changed: 0,
                ..done
            },
            AgentAction::ReportsFailure => AttemptReport {
                reports_failure: true,
                failure: FailureRecord {
                    diagnosis: self.diagnosis(),
                    ..done.failure
                },
                ..done
            },
            AgentAction::Contradicts => AttemptReport {
                contradiction: Some("needs human".to_owned()),
                signalled: self.rng.below(2) == 0,
                ..done
            },
            AgentAction::AsksForRows => AttemptReport {
                modification: Some(Box::new(self.request(&order.task.task))),
                ..silent
            },
            AgentAction::TimesOutStuck
                if order.prompt == PromptKind::Split && self.rng.one_in(2) =>
            {
                AttemptReport {
                    modification: Some(Box::new(self.request(&order.task.task))),
                    ..silent
                }
            }
            AgentAction::TimesOutAtWork | AgentAction::TimesOutStuck => AttemptReport {
                progressed: action == AgentAction::TimesOutAtWork,
                ending,
                ..silent
            },
            AgentAction::LosesSession => AttemptReport {
                class: AttemptClass::Session {
                    why: "context overflow".to_owned(),
                },
                ..silent
            },
            AgentAction::IsRateLimited => AttemptReport {
                class: self.rate_limit(),
                ..silent
            },
            AgentAction::IsMissing => AttemptReport {
                class: AttemptClass::Fatal {
                    why: "no agent".to_owned(),
                },
                ..silent
            },
            _ => done,
        }
    }

    fn rate_limit(&mut self) -> AttemptClass {
        let past = regreen_model::Timestamp::from_millis(self.now.as_millis() - 5_000);
        let until = match self.rng.below(4) {
            0 => None,
            1 => Some(past),
            2 => Some(self.now.plus(5_000)),
            _ => Some(self.now.plus(100_000_000)),
        };
        AttemptClass::Transient {
            why: "429".to_owned(),
            until,
        }
    }

    fn request(&mut self, own: &TaskKey) -> ModificationRequest {
        let modification = match self.rng.below(3) {
            0 => Modification::SplitTask,
            1 => Modification::AddPrerequisite,
            _ => Modification::AddFollowup,
        };
        let rows = [2, 1, 3, 0, 11][self.rng.index(5)];
        let proposed_tasks = (0..rows).map(|_| self.proposed()).collect();
        let other = self.rng.one_in(10).then(|| own.id.child(7));
        ModificationRequest {
            modification,
            original_task_id: other.unwrap_or_else(|| own.id.clone()),
            reasoning: String::new(),
            proposed_tasks,
        }
    }

    fn proposed(&mut self) -> ProposedTask {
        let title = format!("part{} p", self.new_number());
        match self.rng.below(2) {
            0 => ProposedTask::Lines(format!("- [ ] {title}")),
            _ => ProposedTask::Fields {
                title,
                action: None,
                files: None,
                done_when: None,
                verify: Some("true".to_owned()),
                commit: None,
            },
        }
    }

    /// Lets the agent change the task file.
    fn touch_plan(&mut self, own: &TaskKey, action: AgentAction) {
        match action {
            AgentAction::Attacks(attack) => self.attack_plan(attack),
            AgentAction::Works if self.rng.one_in(6) => self.tick_own_row(own),
            _ => {}
        }
    }
}

/// The outcome of an attempt.
pub(crate) enum AttemptOutcome {
    Ended(Box<AttemptReport>),
    Gone,
}

impl AttemptOutcome {
    pub(crate) fn answer(self, seq: u64) -> Input {
        match self {
            Self::Ended(report) => Input::AttemptEnded { seq, report },
            Self::Gone => Input::Gone { seq },
        }
    }
}
