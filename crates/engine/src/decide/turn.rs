//! A decision in the making.

use std::collections::{BTreeMap, BTreeSet};

use regreen_model::{
    ERROR_CHARS, Event, Experience, FixBudget, PlainLine, PlanQuery, PromptKind, StateFile, TaskId,
    TaskKey, TemplatePrompt, Timestamp,
};

use super::Decision;
use crate::command::{Command, Issued};
use crate::state::{State, TaskState};

/// Collects the events and commands of a decision about one task, and shows the state that results.
pub(super) struct Turn<'s> {
    /// The state before the decision, with all tasks.
    before: &'s State,
    /// The resulting state, with the task in question.
    pub(super) state: State,
    pub(super) now: Timestamp,
    key: Option<TaskKey>,
    /// The position of the first open task when nothing is left to run.
    left_out: Option<u32>,
    /// The task's fix budget, if known; `Some(None)` if the task is gone.
    pub(super) fix_budget: Option<Option<FixBudget>>,
    decision: Decision,
}

impl<'s> Turn<'s> {
    /// Starts a decision about one task.
    pub(super) fn about(before: &'s State, now: Timestamp, key: &TaskKey) -> Self {
        Self {
            before,
            state: before.narrowed(key),
            now,
            key: Some(key.clone()),
            left_out: None,
            fix_budget: None,
            decision: Decision::default(),
        }
    }

    /// Starts a decision about the run as a whole.
    pub(super) fn about_run(before: &'s State, now: Timestamp) -> Self {
        Self {
            before,
            state: before.without_tasks(),
            now,
            key: None,
            left_out: None,
            fix_budget: None,
            decision: Decision::default(),
        }
    }

    /// Makes this a decision about a task, known or new.
    pub(super) fn turn_to(&mut self, key: &TaskKey) {
        self.look_at(key);
        self.key = Some(key.clone());
    }

    /// Includes another task in the resulting state.
    pub(super) fn look_at(&mut self, key: &TaskKey) {
        let is_shown = self.state.tasks.contains_key(key);
        if let Some(task) = self.before.tasks.get(key).filter(|_| !is_shown) {
            self.state.tasks.insert(key.clone(), task.clone());
        }
    }

    /// Notes that no task is left to run. The state file points at the first open task, or past the
    /// last.
    pub(super) fn reach_the_end(&mut self, total_tasks: u32, first_open: Option<u32>) {
        self.state.current = None;
        self.state.total_tasks = total_tasks;
        self.left_out = first_open;
    }

    pub(super) fn decision(self) -> Decision {
        self.decision
    }

    /// Returns the task as it is after the events so far.
    pub(super) fn task(&self) -> Option<&TaskState> {
        self.state.tasks.get(self.key.as_ref()?)
    }

    pub(super) fn emit(&mut self, event: Event) {
        self.state.apply(&event);
        self.decision.events.push(event);
    }

    /// Issues a command; `event` records it and gets its number.
    pub(super) fn ask(&mut self, command: Command, event: impl FnOnce(u64) -> Event) {
        let seq = self.state.next_seq;
        self.emit(event(seq));
        self.decision.commands.push(Issued { seq, command });
    }

    /// Whether anything has happened in this decision.
    pub(super) fn has_news(&self) -> bool {
        !self.decision.events.is_empty()
    }

    /// Withdraws the commands of this decision, to be issued again later.
    pub(super) fn withdraw(&mut self) {
        self.decision.commands.clear();
    }

    /// Issues a command that nothing waits for.
    pub(super) fn ask_aside(&mut self, command: Command) {
        let seq = self.state.next_seq;
        self.decision.commands.push(Issued { seq, command });
    }

    /// Whether the run has used up its attempts.
    pub(super) fn is_used_up(&self) -> bool {
        self.state.iterations >= self.state.iteration_limit()
    }

    /// Whether the task doesn't run because a person skipped it or must decide about it.
    pub(super) fn is_passed_over(&self, task: &TaskKey) -> bool {
        self.state.skipped.contains(task) || self.state.parked.contains(task)
    }

    /// Reads the plan to pick the next task.
    pub(super) fn read_plan(&mut self) {
        let (skipped, parked) = (&self.state.skipped, &self.state.parked);
        let command = Command::ReadPlan(PlanQuery {
            include_optional: self.state.config.include_optional,
            only: self.state.config.only.clone(),
            passed_over: skipped.union(parked).cloned().collect(),
            lost: self.state.lost.clone(),
            originals_first: self.state.after_limit.then(|| self.tried()),
        });
        self.ask(command, |seq| Event::PlanAsked { seq });
    }

    /// Saves the state between attempts.
    pub(super) fn save_state(&mut self) {
        let task = self.current();
        let task_iteration = task.map_or(1, |task| task.iterations.max(1));
        self.save_iterations(task_iteration, self.state.iterations.max(1));
    }

    /// Saves the state during an attempt, which already counts.
    pub(super) fn save_state_during(&mut self, prompt: PromptKind) {
        let task_iteration = self.task().map_or(1, |task| task.iteration(prompt));
        let is_new = prompt != PromptKind::Reminder;
        let global_iteration = self.state.iterations + u32::from(is_new);
        self.save_iterations(task_iteration, global_iteration.max(1));
    }

    fn save_iterations(&mut self, task_iteration: u32, global_iteration: u32) {
        let (state, limits) = (&self.state, &self.state.config.limits);
        let stored = state.config.stored_limits.as_ref().unwrap_or(limits);
        let file = StateFile {
            task_index: match self.current() {
                Some(task) => task.picked.index,
                None => self.left_out.unwrap_or(state.total_tasks),
            },
            total_tasks: state.total_tasks,
            task_iteration,
            max_task_iterations: stored.task_iterations,
            global_iteration,
            max_global_iterations: stored.global_iterations,
            recovery: state.config.recovery,
            max_fix_tasks: limits.fixes_per_task,
            fixes: self.fixes(),
            results: self.results(),
        };
        self.ask_aside(Command::SaveState(file));
    }

    /// Returns the task picked last, even if the decision is about the run as a whole.
    fn current(&self) -> Option<&TaskState> {
        let key = self.state.current.as_ref()?;
        let shown = self.state.tasks.get(key);
        shown.or_else(|| self.before.tasks.get(key))
    }

    /// Returns what the user has said about a task, its original and all fixes of that original:
    /// they all concern one problem.
    pub(super) fn context_of(&self, task: &TaskState) -> Vec<String> {
        let root = &task.picked.root;
        let of_root = self.tasks().filter(|other| *other.key() == *root);
        let of_fixes = self
            .tasks()
            .filter(|other| other.picked.is_fix() && other.picked.root == *root);
        let said = of_root.chain(of_fixes);
        said.flat_map(|task| task.context.iter().cloned()).collect()
    }

    /// Returns the task that this automatic fix is for.
    pub(super) fn owner_of(&self, fix: &TaskState) -> Option<&TaskState> {
        let is_owner = |task: &&TaskState| {
            task.picked.root == fix.picked.root && task.owns_automatic_fix(&fix.key().id)
        };
        self.tasks().find(is_owner)
    }

    /// Returns the error that a fix was made for in this run.
    pub(super) fn cause_of(&self, fix: &TaskState) -> Option<PlainLine> {
        let (root, id) = (&fix.picked.root, &fix.key().id);
        let owners = self.tasks().filter(|task| task.picked.root == *root);
        let made = owners
            .flat_map(|task| &task.fixes)
            .find(|(made, _)| made == id);
        let cause = made.map(|(_, error)| PlainLine::flatten(error, ERROR_CHARS));
        cause.filter(|cause| fix.picked.is_fix() && !cause.is_empty())
    }

    /// Returns what earlier failures show that are like the task's own, or like the one that it
    /// fixes.
    pub(super) fn experience_of(&self, task: &TaskState) -> Option<Box<Experience>> {
        let fixed = || self.fixed_by(task)?.experience.clone();
        task.experience.clone().or_else(fixed)
    }

    /// Returns what a recovery template says about the task's failure, or about the one that it fixes.
    pub(super) fn guidance_of(&self, task: &TaskState) -> Option<TemplatePrompt> {
        let fixed = || self.fixed_by(task)?.guidance.clone();
        task.guidance.clone().or_else(fixed)
    }

    /// Returns the task that a fix of this run is for.
    fn fixed_by(&self, fix: &TaskState) -> Option<&TaskState> {
        let (root, id) = (&fix.picked.root, &fix.key().id);
        let is_fixed = |owner: &&TaskState| {
            owner.picked.root == *root && owner.fixes.iter().any(|(fix, _)| fix == id)
        };
        self.tasks().find(is_fixed)
    }

    /// Returns the originals attempted in this run.
    fn tried(&self) -> BTreeSet<TaskKey> {
        let tried = self.tasks().filter(|task| task.attempts > 0);
        tried.map(|task| task.key().clone()).collect()
    }

    /// Returns the fixes made in this run.
    fn fixes(&self) -> Vec<(TaskId, TaskId, String)> {
        self.tasks()
            .flat_map(|task| {
                let fixes = task.fixes.iter();
                fixes.map(|(fix, error)| (task.key().id.clone(), fix.clone(), error.clone()))
            })
            .collect()
    }

    /// Returns all tasks, as they are after the events so far.
    fn tasks(&self) -> impl Iterator<Item = &TaskState> {
        let before = self.before.tasks.values();
        let others = before.filter(|task| !self.state.tasks.contains_key(task.key()));
        others.chain(self.state.tasks.values())
    }

    fn results(&self) -> BTreeMap<TaskId, bool> {
        self.tasks()
            .filter_map(|task| Some((task.key().id.clone(), task.result?)))
            .collect()
    }
}
