//! Attempts: what the agent does, and what is found afterwards.

use std::rc::Rc;

use regreen_documents::{TaskFile, review};
use regreen_model::{
    AttemptClass, AttemptReport, Ending, FailureRecord, Modification, ModificationRequest,
    PlanChanges, PromptKind, ProposedTask, TaskKey, Usage,
};

use crate::agent::{Character, Deed};
use crate::invariants;
use crate::task_lists;
use crate::world::name_of;
use crate::world::{Kept, World};
use regreen_engine::AttemptOrder;
use regreen_engine::Input;

/// How much of an attempt was seen before the process died.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// All, and nobody was told.
    Reviewed,
    /// The agent did what it did to the plan, and nobody looked.
    NotReviewed,
    /// The agent had not begun.
    NotBegun,
}

impl Seen {
    pub(crate) const ALL: [Self; 3] = [Self::Reviewed, Self::NotReviewed, Self::NotBegun];
}

impl World {
    /// Runs the agent once on a task.
    pub(crate) fn attempt(&mut self, order: &AttemptOrder, seen: Seen) -> Result<CameOfIt, String> {
        let key = &order.task.task;
        if self.file.open_row(key).is_none() {
            return Ok(CameOfIt::Gone);
        }
        let before = Rc::clone(&self.file);
        self.kept = Some(Kept {
            task: key.clone(),
            attempt: order.attempt,
            plan: Rc::clone(&before),
        });
        if seen == Seen::NotBegun {
            return Ok(CameOfIt::Gone);
        }
        let mut report = self.behave(order);
        if seen == Seen::NotReviewed {
            return Ok(CameOfIt::Gone);
        }
        report.plan = self.settle(&before, key, &order.put_back)?;
        self.watch.saw_attempt(&name_of(key), &report);
        Ok(CameOfIt::Ended(Box::new(report)))
    }

    /// What an attempt left behind that nobody saw the end of.
    pub(crate) fn interrupted(&mut self) -> Result<Option<Box<AttemptReport>>, String> {
        let Some((key, attempt)) = self.state.pending_attempt() else {
            return Ok(None);
        };
        let key = key.clone();
        let kept = self.kept.clone();
        let plan = match kept.filter(|kept| kept.task == key && kept.attempt == attempt) {
            None => PlanChanges::default(),
            Some(kept) => {
                let new = self.state.new_choices(&self.choices);
                let chosen = TaskFile::clone(&kept.plan).as_chosen(&new.collect::<Vec<_>>());
                let put_back = self.state.put_back.clone();
                self.settle(&Rc::new(chosen), &key, &put_back)?
            }
        };
        Ok(Some(Box::new(AttemptReport {
            class: AttemptClass::Interrupted,
            plan,
            ..AttemptReport::default()
        })))
    }

    /// Takes back what an agent must not do to the plan, and says what else it did.
    fn settle(
        &mut self,
        before: &Rc<TaskFile>,
        key: &TaskKey,
        put_back: &std::collections::BTreeSet<TaskKey>,
    ) -> Result<PlanChanges, String> {
        let running = before.worked_on(key);
        let mut review = review(before, &self.file, &running, put_back);
        if let Some(text) = review.text.take() {
            self.file = Rc::new(TaskFile::read(text));
        }
        invariants::protected_rows_are_as_they_were(before, &self.file, &running)?;
        let changes = review.into_changes();
        self.watch.settled(before, &self.file, &changes);
        Ok(changes)
    }

    fn deed(&mut self) -> Deed {
        match self.agent {
            Character::Does(deed) => deed,
            Character::Mixed if self.rng.below(10) + self.trouble < 10 => Deed::Works,
            Character::Mixed => match self.rng.pick(Deed::ALL).unwrap_or(Deed::Works) {
                Deed::IsMissing if !self.rng.one_in(10) => Deed::Works,
                deed => deed,
            },
        }
    }

    fn behave(&mut self, order: &AttemptOrder) -> AttemptReport {
        let key = &order.task.task;
        let deed = self.deed();
        let (session, usage) = self.use_up(order);
        let done = AttemptReport {
            session: Some(session),
            usage: Some(usage),
            signalled: true,
            files_changed: 1,
            failure: FailureRecord::new(format!("it broke: {}", self.rng.below(3))),
            ..AttemptReport::default()
        };
        self.work(order, deed);
        self.touch_plan(key, deed);
        if self.state.stopping.is_some() {
            return AttemptReport {
                class: AttemptClass::Interrupted,
                signalled: false,
                ..done
            };
        }
        self.report(order, deed, done)
    }

    /// A session that goes on tells its whole past again.
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

    /// Whether the work is done by now. A fix is for its root.
    fn work(&mut self, order: &AttemptOrder, deed: Deed) {
        let fails = matches!(
            deed,
            Deed::Lies
                | Deed::ReportsFailure
                | Deed::TimesOutAtWork
                | Deed::TimesOutStuck
                | Deed::IsRateLimited
                | Deed::IsMissing
                | Deed::LosesSession
        );
        let heals = order.task.is_fix() && self.rng.below(3) < 2;
        let works = !fails && deed != Deed::IsIdle;
        let own = self.works.entry(name_of(&order.task.task)).or_default();
        *own |= works;
        if heals && works {
            self.works.insert(name_of(&order.task.root), true);
        }
    }

    fn report(&mut self, order: &AttemptOrder, deed: Deed, done: AttemptReport) -> AttemptReport {
        let silent = AttemptReport {
            signalled: false,
            ..done.clone()
        };
        let ending = Ending {
            timed_out: true,
            ..Ending::default()
        };
        match deed {
            Deed::IsSilent => silent,
            Deed::IsIdle => AttemptReport {
                files_changed: 0,
                ..done
            },
            Deed::ReportsFailure => AttemptReport {
                reports_failure: true,
                failure: FailureRecord {
                    diagnosis: self.diagnosis(),
                    ..done.failure
                },
                ..done
            },
            Deed::Contradicts => AttemptReport {
                contradiction: Some("needs human".to_owned()),
                signalled: self.rng.below(2) == 0,
                ..done
            },
            Deed::AsksForRows => AttemptReport {
                modification: Some(Box::new(self.request(&order.task.task))),
                ..silent
            },
            Deed::TimesOutStuck if order.prompt == PromptKind::Split && self.rng.one_in(2) => {
                AttemptReport {
                    modification: Some(Box::new(self.request(&order.task.task))),
                    ..silent
                }
            }
            Deed::TimesOutAtWork | Deed::TimesOutStuck => AttemptReport {
                progressed: deed == Deed::TimesOutAtWork,
                ending,
                ..silent
            },
            Deed::LosesSession => AttemptReport {
                class: AttemptClass::Session {
                    why: "context overflow".to_owned(),
                },
                ..silent
            },
            Deed::IsRateLimited => AttemptReport {
                class: self.rate_limit(),
                ..silent
            },
            Deed::IsMissing => AttemptReport {
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

    /// What the agent does to the task file.
    fn touch_plan(&mut self, own: &TaskKey, deed: Deed) {
        let file = Rc::clone(&self.file);
        let tasks = file.tasks();
        let row = self.rng.pick(tasks.iter().filter(|task| task.id.is_some()));
        let text = match (deed, row) {
            (Deed::TicksAll, _) => tasks.iter().fold(file.text().to_owned(), |text, task| {
                task_lists::with_box(&TaskFile::read(text), task, true)
            }),
            (Deed::UnticksDone, _) => tasks.iter().fold(file.text().to_owned(), |text, task| {
                task_lists::with_box(&TaskFile::read(text), task, false)
            }),
            (Deed::DeletesRow, Some(row)) => task_lists::without(&file, row),
            (Deed::EditsVerify, Some(row)) => task_lists::with_other_verify(&file, row),
            (Deed::AddsRow | Deed::AddsTickedRow, Some(row)) => {
                let number = self.new_number();
                let is_ticked = deed == Deed::AddsTickedRow;
                let line = self.plan.row(&format!("extra{number}"), number, is_ticked);
                task_lists::with_line_after(&file, row, &line)
            }
            (Deed::EditsTitle, Some(row)) => task_lists::with_words(&file, row, " edited"),
            (Deed::ChangesLineEndings, _) => match file.text().contains("\r\n") {
                true => file.text().replace("\r\n", "\n"),
                false => file.text().replace('\n', "\r\n"),
            },
            (Deed::EmptiesFile, _) => String::new(),
            // An agent that works ticks its own row now and then.
            (Deed::Works, _) if self.rng.one_in(6) => {
                let own = file.resolve(own).and_then(|row| file.task(row));
                match own {
                    Some(own) => task_lists::with_box(&file, &own, true),
                    None => return,
                }
            }
            _ => return,
        };
        self.file = Rc::new(TaskFile::read(text));
    }
}

/// What came of an attempt.
pub(crate) enum CameOfIt {
    Ended(Box<AttemptReport>),
    Gone,
}

impl CameOfIt {
    pub(crate) fn answer(self, seq: u64) -> Input {
        match self {
            Self::Ended(report) => Input::AttemptEnded { seq, report },
            Self::Gone => Input::Gone { seq },
        }
    }
}
