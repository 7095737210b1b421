//! Folds what people choose and answer.

use regreen_model::{ChoiceKind, PersonAnswer, PersonChoice, PickedTask, PromptKind, TaskKey};

use crate::state::{AutomaticFix, Phase, State, TaskState};

impl State {
    /// Stops asking people; their questions stay open.
    pub(super) fn suspend_questions(&mut self) {
        for task in self.tasks.values_mut() {
            if let Phase::Asking { seq, .. } = &mut task.phase {
                *seq = None;
            }
        }
    }

    /// Notes that someone has answered, so that the task is no longer set aside.
    pub(super) fn note_answer(&mut self, task: &TaskKey) {
        self.unpark(task);
        self.with(task, |task| {
            if let Phase::Asking { is_answered, .. } = &mut task.phase {
                *is_answered = true;
            }
        });
    }

    fn unpark(&mut self, task: &TaskKey) {
        let root = self.root_of(task);
        self.parked.remove(&root);
        self.awaiting_since = None;
    }

    /// Records a choice. A skip holds until a later choice ends it, even if the task never ran.
    pub(super) fn record_choice(&mut self, choice: &PersonChoice) {
        self.choices_seen = choice.number;
        self.unpark(&choice.task);
        match choice.what {
            ChoiceKind::Skip => {
                // The choice settles the row that an agent removed.
                self.put_back.remove(&choice.task);
                self.lost.remove(&choice.task);
                self.skipped.insert(choice.task.clone())
            }
            ChoiceKind::Done | ChoiceKind::Retry => self.skipped.remove(&choice.task),
        };
        self.with(&choice.task, |task| task.record_choice(choice.what));
        if choice.what == ChoiceKind::Retry {
            self.forget_spending(&self.root_of(&choice.task));
        }
        if choice.what != ChoiceKind::Skip {
            for task in self.tasks.values_mut() {
                task.drop_claim(&choice.task);
            }
        }
    }

    /// A person who edits a fix may edit the task it fixes as well.
    pub(super) fn mark_edited(&mut self, task: &TaskKey) {
        let root = self.tasks.get(task).map(|task| task.picked.root.clone());
        for task in self.tasks.values_mut() {
            task.edited |= Some(&task.picked.root) == root.as_ref();
        }
    }
}

impl TaskState {
    /// Starts over as if nothing had run, but keeps counting attempts, because logs are named after
    /// them.
    pub(super) fn start_afresh(&mut self) {
        let picked = PickedTask {
            failed_before: None,
            ..self.picked.clone()
        };
        *self = Self {
            attempts: self.attempts,
            ..Self::new(picked)
        };
    }

    /// Puts a person's choice into effect, once nothing of the task is pending.
    pub(super) fn settle(&mut self) {
        self.phase = Phase::Open;
        match self.choice.take() {
            None => {}
            Some(ChoiceKind::Skip) => self.phase = Phase::Closed,
            Some(ChoiceKind::Done) => {
                self.phase = Phase::Closed;
                self.result = Some(true);
            }
            Some(ChoiceKind::Retry) => self.retry(),
        }
    }

    /// Prepares another attempt, whose prompt has the last failure and what a person said about it.
    fn retry(&mut self) {
        // A failure from before the task was done doesn't matter.
        let failure = self.failure.take().filter(|_| self.result != Some(true));
        let context = std::mem::take(&mut self.context);
        self.start_afresh();
        self.context = context;
        if failure.is_some() {
            self.prompt = PromptKind::Retry;
            self.failure = failure;
        }
    }

    pub(super) fn record_choice(&mut self, what: ChoiceKind) {
        self.choice = Some(what);
        if !self.phase.outlasts(what) {
            self.settle();
        }
    }

    /// Records the answer. `Stop` leaves the question open.
    pub(super) fn person_answered(&mut self, answer: &PersonAnswer) {
        match answer {
            PersonAnswer::Stop => return,
            PersonAnswer::Context { text } => self.context.push(text.clone()),
            PersonAnswer::Repair => self.agree(),
            PersonAnswer::Edit | PersonAnswer::Fix | PersonAnswer::Skip => {}
        }
        self.settle();
    }

    /// Records that the person allows the suggested repair.
    fn agree(&mut self) {
        if let Phase::Asking { repair, .. } = &self.phase {
            self.automatic_fix = repair.clone().map(|repair| AutomaticFix {
                fix: None,
                repair,
                agreed: true,
            });
        }
    }

    /// Forgets a claim: a person has set the box by now.
    fn drop_claim(&mut self, claimed: &TaskKey) {
        if let Some(report) = &mut self.report {
            report.plan.claims.retain(|claim| claim.task != *claimed);
        }
    }
}
