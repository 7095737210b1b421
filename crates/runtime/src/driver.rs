//! The main loop of a run: decide, store, show, perform.

use regreen_documents::TaskFile;
use regreen_engine::{Command, CommandQueue, Input, Issued, State, decide, latest_choices};
use regreen_model::{Event, RunOutcome, StopSignal};
use regreen_workspace::{RealDisk, read_text};

use crate::clock;
use crate::history::HistoryWriter;
use crate::journal::{Journal, JournalError};
use crate::observer::{Person, RunObserver};
use crate::outline::outline_without_features;
use crate::perform;
use crate::performer::Performer;
use crate::spec_paths::SpecPaths;
use crate::stop_request::is_asked_to_stop_after_task;

/// Drives a run. Each input is decided on, stored and shown before anything acts on it.
pub(crate) struct Driver<'a> {
    pub(crate) recorder: StepRecorder<'a>,
    pub(crate) performer: Performer,
    pub(crate) person: &'a mut dyn Person,
}

impl Driver<'_> {
    /// Runs until the engine has no more commands.
    pub(crate) fn drive(&mut self, first: &Input) -> Result<Option<RunOutcome>, JournalError> {
        let mut queue = CommandQueue::default();
        let commands = self.recorder.step(first)?;
        queue.add(&self.recorder.state, commands);
        self.performer.saved_plan.forget();
        self.settle_choices(first);
        loop {
            self.take_decisions(&mut queue)?;
            let Some(issued) = queue.take_next() else {
                break;
            };
            if issued.command == Command::Finish {
                break;
            }
            let answer = self
                .performer
                .perform(&issued, &mut self.recorder, self.person);
            self.tell_reviews()?;
            self.tell_services()?;
            self.tell_notices()?;
            self.tell_stop()?;
            let Some(answer) = answer else {
                if issued.command.awaits_answer() {
                    queue.put_back(issued);
                }
                continue;
            };
            let answer = self.with_fix_budget(answer);
            let commands = self.recorder.step(&answer)?;
            queue.add(&self.recorder.state, commands);
            if let Command::AskPerson(question) = &issued.command {
                self.person.settled(&question.task);
            }
            if self.performer.runs_foreign_code(&issued.command) {
                self.performer.saved_plan.forget();
            }
        }
        Ok(self.recorder.state.outcome.clone())
    }

    /// Takes what people have decided at other terminals. Nothing is running now, so nobody else changes the plan, and
    /// what is still to be performed can be dropped.
    fn take_decisions(&mut self, queue: &mut CommandQueue) -> Result<(), JournalError> {
        if self.recorder.state.outcome.is_some() {
            return Ok(());
        }
        let decisions = self
            .person
            .decisions(&perform::open_questions(&self.recorder.state));
        self.performer.notices.add_all(decisions.warnings);
        let choices = if decisions.has_choices {
            let StepRecorder { journal, state, .. } = &self.recorder;
            let all = latest_choices(journal.store.choices(&self.performer.paths.spec_key())?);
            state.new_choices(&all).cloned().collect()
        } else {
            Vec::new()
        };
        let answered = decisions.answered;
        if choices.is_empty() && answered.is_empty() {
            return Ok(());
        }
        let input = Input::Decided { choices, answered };
        let commands = self.recorder.step(&input)?;
        queue.drop_moot(&self.recorder.state);
        queue.add(&self.recorder.state, commands);
        self.settle_choices(&input);
        Ok(())
    }

    /// Drops answers to questions that choices have settled.
    fn settle_choices(&mut self, input: &Input) {
        let choices = match input {
            Input::Start { choices, .. } | Input::Decided { choices, .. } => choices,
            Input::Resume(resumption) => &resumption.choices,
            _ => return,
        };
        for choice in choices {
            self.person.settled(&choice.task);
        }
    }

    /// Adds the fix budget to an answer after which the task may get a fix.
    fn with_fix_budget(&mut self, answer: Input) -> Input {
        let Some(task) = self.recorder.state.may_get_fix(&answer) else {
            return answer;
        };
        match perform::read_budget(&mut self.performer, task) {
            Ok(budget) => Input::WithFixBudget {
                answer: Box::new(answer),
                budget: budget.map(Box::new),
            },
            // The engine then asks for the budget itself, and the answer says why it can't be read.
            Err(_) => answer,
        }
    }

    fn tell_reviews(&mut self) -> Result<(), JournalError> {
        for (task, changes) in std::mem::take(&mut self.performer.reviews) {
            self.recorder.step(&Input::PlanReviewed { task, changes })?;
        }
        Ok(())
    }

    fn tell_services(&mut self) -> Result<(), JournalError> {
        let reports = std::mem::take(&mut self.performer.service_reports);
        if !reports.is_empty() {
            self.recorder.step(&Input::ServicesChanged { reports })?;
        }
        Ok(())
    }

    fn tell_notices(&mut self) -> Result<(), JournalError> {
        let slept = self.performer.context.processes.asleep.notice();
        self.performer.notices.add_all(slept);
        let messages = self.performer.notices.take();
        if !messages.is_empty() {
            self.recorder.step(&Input::Noticed { messages })?;
        }
        Ok(())
    }

    fn tell_stop(&mut self) -> Result<(), JournalError> {
        let State {
            stopping,
            stops_after_task,
            outcome,
            ..
        } = &self.recorder.state;
        let asked = self.performer.context.processes.stop.asked();
        let after_task = || {
            let is_news = !*stops_after_task && outcome.is_none();
            let root = &self.performer.paths.root;
            let is_asked = is_news && is_asked_to_stop_after_task(root, std::process::id());
            is_asked.then_some(StopSignal::AfterTask)
        };
        if let Some(signal) = asked.filter(|_| stopping.is_none()).or_else(after_task) {
            self.recorder.step(&Input::Stop { signal })?;
        }
        Ok(())
    }
}

/// Records the steps of a run, and keeps the state that they add up to.
pub(crate) struct StepRecorder<'a> {
    pub(crate) journal: Journal,
    pub(crate) state: State,
    pub(crate) observer: &'a mut dyn RunObserver,
    pub(crate) paths: SpecPaths,
    /// The agent's name.
    pub(crate) agent: &'static str,
}

impl StepRecorder<'_> {
    /// Takes one step: decides, stores, and only then applies. Returns the commands to perform.
    pub(crate) fn step(&mut self, input: &Input) -> Result<Vec<Issued>, JournalError> {
        let now = clock::now();
        let decision = decide(&self.state, now, input);
        if decision.events.is_empty() {
            return Ok(decision.commands);
        }
        let writer = HistoryWriter {
            paths: &self.paths,
            run: &self.journal.run,
            agent: self.agent,
            now,
        };
        let history = writer.rows(&decision.events);
        let answers = input.seq().filter(|seq| self.state.awaits(*seq));
        self.journal
            .append(now, input, answers, &decision, &history)?;
        if decision
            .events
            .iter()
            .any(|event| matches!(event, Event::RunEnded { .. }))
        {
            self.show_plan();
        }
        for event in &decision.events {
            self.state.apply(event);
            self.observer.event(now, event);
        }
        self.journal.keep(&self.state)?;
        Ok(decision.commands)
    }

    /// Shows the plan as it is in the file, so that the summary counts real ticks.
    fn show_plan(&mut self) {
        if let Ok(read) = read_text(&RealDisk, &self.paths.spec.tasks) {
            let plan = TaskFile::read(read.text);
            self.observer.outline(&outline_without_features(&plan));
        }
    }
}
