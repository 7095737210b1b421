//! Processes drive the run one after another, and each may end at any moment.

use regreen_documents as documents;
use regreen_model::{RunConfig, RunOutcome, StopSignal, TaskKey};

use crate::attempt::Interruption;
use crate::mutant;
use crate::transitions;
use crate::world::{Check, World};
use regreen_engine::Decision;
use regreen_engine::JournalLine;
use regreen_engine::latest_choices;
use regreen_engine::{Command, Issued};
use regreen_engine::{Input, Resumption};
use regreen_engine::{Phase, State};

/// A run with more steps counts as endless.
const MOST_STEPS: u32 = 6_000;
const MOST_CRASHES: u32 = 6;
const MOST_RUNS: u32 = 3;
const MOST_RESTARTS: u32 = 4;
/// How many of the last answers may arrive again.
const REMEMBERED: usize = 6;

/// The fate of a command.
enum Fate {
    IsDone,
    /// The process dies before the command is done.
    Dies,
    /// The command is done, but the process dies before reporting it.
    DiesUnheard,
    Stops,
    /// Another program keeps saving the file.
    IsContended,
    IsBroken,
}

impl World {
    /// Simulates everything from the first run to the end of the last one.
    pub(crate) fn live(&mut self) -> Check {
        self.people_make_choices();
        self.begin(false)?;
        for _ in 0..MOST_STEPS {
            self.time_passes();
            self.people_may_edit();
            self.may_answer_again()?;
            self.people_may_decide()?;
            match self.queue.take_next() {
                Some(issued) => self.step(&issued)?,
                None if self.goes_on()? => {}
                None => return Ok(()),
            }
            self.watch.check_file(&self.file)?;
        }
        Err("the run does not end".to_owned())
    }

    fn time_passes(&mut self) {
        const MINUTE: u64 = 60_000;
        let now = self.now;
        self.now = match self.rng.below(80) {
            77 => now.plus(60 * MINUTE),
            78 => now.plus(24 * 60 * MINUTE),
            79 => regreen_model::Timestamp::from_millis(now.as_millis() - 10 * MINUTE),
            _ => now.plus(7),
        };
    }

    fn begin(&mut self, after_limit: bool) -> Check {
        self.runs += 1;
        let earlier = self.state.checks_for_next_run();
        self.state = State::default();
        self.begins = self.journal.len();
        self.synced = self.begins;
        self.kept = None;
        self.answered.clear();
        self.watch.begin_run(&self.file);
        let (run, config) = (format!("run-{}", self.runs), self.config.clone());
        let choices = latest_choices(self.choices.clone());
        self.feed(Input::Start {
            run,
            config: Box::new(config),
            choices,
            after_limit,
            lost: Vec::new(),
            earlier,
            environment: Vec::new(),
        })
    }

    /// Lets people decide while the run is at work. The process may die before it has noticed.
    fn people_may_decide(&mut self) -> Check {
        let is_possible = self.decides_live && self.state.outcome.is_none() && self.kept.is_none();
        if !is_possible || !self.rng.one_in(12) {
            return Ok(());
        }
        self.people_make_choices();
        let open = self.state.tasks.values();
        let open = open.filter(|task| matches!(task.phase, Phase::Asking { seq: None, .. }));
        let open: Vec<TaskKey> = open.map(|task| task.key().clone()).collect();
        let answered = self.rng.pick(open).into_iter().collect();
        if self.crashes < MOST_CRASHES && self.rng.one_in(6) {
            return self.crash();
        }
        let choices = latest_choices(self.choices.clone());
        let choices = self.state.new_choices(&choices).cloned().collect();
        self.feed(Input::Decided { choices, answered })?;
        self.queue.drop_moot(&self.state);
        Ok(())
    }

    /// Takes one step: decides, stores, and only then applies.
    pub(crate) fn feed(&mut self, input: Input) -> Check {
        self.reached.extend(transitions::of(&self.state, &input));
        let decision = mutant::decide(self.mutant, &self.state, self.now, &input);
        let again = mutant::decide(self.mutant, &self.state, self.now, &input);
        if decision != again {
            return Err("deciding again gave something else".to_owned());
        }
        for event in &decision.events {
            self.state.apply(event);
        }
        let events = decision.events.clone();
        if !events.is_empty() {
            let is_reissuable = decision.is_reissuable(&input);
            self.journal.push(JournalLine {
                now: self.now,
                input,
                events: decision.events,
            });
            if !is_reissuable {
                self.synced = self.journal.len();
            }
        }
        self.queue.add(&self.state, decision.commands);
        for event in &events {
            self.watch.hear(self.now, event, &self.file)?;
        }
        Ok(())
    }

    /// Disturbs rare commands more often than frequent ones.
    fn fate(&mut self, command: &Command) -> Fate {
        let may_die = self.crashes < MOST_CRASHES;
        let sides = match command {
            Command::SaveState(_) | Command::Verify { .. } => 60,
            Command::Commit(_) => 100,
            command if is_rare(command) => 16,
            _ => 300,
        };
        match sides - 1 - self.rng.below(sides) {
            0 => Fate::IsBroken,
            1 => Fate::IsContended,
            2..4 => Fate::Stops,
            4..10 if may_die => Fate::DiesUnheard,
            10..15 if may_die => Fate::Dies,
            _ => Fate::IsDone,
        }
    }

    fn step(&mut self, issued: &Issued) -> Check {
        let seq = issued.seq;
        let why = || "someone or something".to_owned();
        match (self.fate(&issued.command), &issued.command) {
            (_, Command::Finish) => Ok(()),
            (Fate::Dies, _) => self.crash(),
            (Fate::DiesUnheard, Command::Attempt(order)) => {
                let seen = self
                    .rng
                    .pick(Interruption::ALL)
                    .unwrap_or(Interruption::Reviewed);
                if seen != Interruption::NotBegun {
                    self.see_session(issued)?;
                }
                self.attempt(order, seen)?;
                self.crash()
            }
            (Fate::DiesUnheard, command) if self.guards(command) && self.rng.one_in(2) => {
                self.begin_guard();
                self.attack_from_check();
                self.crash()
            }
            (Fate::DiesUnheard, _) => {
                self.perform(issued)?;
                self.crash()
            }
            (Fate::Stops, command) => {
                let signal = StopSignal::Interrupt;
                self.feed(Input::Stop { signal })?;
                // An attempt reports how far it got; a file is either written or not.
                let is_whole = matches!(command, Command::Attempt(_) | Command::SaveState(_));
                let is_cut = !is_whole && self.rng.one_in(2);
                match is_cut {
                    true => self.feed(Input::Halted { seq }),
                    false => self.perform_and_tell(issued),
                }
            }
            (Fate::IsContended, command) if edits(command) => {
                self.feed(Input::Contended { seq, why: why() })
            }
            (Fate::IsBroken, _) => self.feed(Input::Broken { seq, why: why() }),
            (Fate::IsDone | Fate::IsContended, _) => self.perform_and_tell(issued),
        }
    }

    fn perform_and_tell(&mut self, issued: &Issued) -> Check {
        let often = if is_rare(&issued.command) { 6 } else { 60 };
        if self.rng.one_in(often) {
            let messages = vec!["a notice".to_owned()];
            self.feed(Input::Noticed { messages })?;
        }
        self.see_session(issued)?;
        let answer = self.perform(issued)?;
        self.tell_reviews()?;
        let Some(answer) = answer else {
            return Ok(());
        };
        let is_guarded = issued.command.runs_foreign_code();
        let answer = match self.state.may_get_fix(&answer) {
            Some(task) => Input::WithFixBudget {
                budget: self.budget(task).map(Box::new),
                answer: Box::new(answer),
            },
            None => answer,
        };
        self.answered.push_back(answer.clone());
        if self.answered.len() > REMEMBERED {
            self.answered.pop_front();
        }
        self.watch.heard_checks();
        self.feed(answer)?;
        if is_guarded {
            self.kept = None;
        }
        Ok(())
    }

    /// Reports the session of an attempt while it is running.
    fn see_session(&mut self, issued: &Issued) -> Check {
        let seq = issued.seq;
        match &issued.command {
            Command::Attempt(order) => {
                let session = order.session.clone();
                let session = session.unwrap_or_else(|| format!("session-{seq}"));
                self.feed(Input::SessionSeen { seq, session })
            }
            _ => Ok(()),
        }
    }

    /// Delivers an old answer again, which must change nothing.
    fn may_answer_again(&mut self) -> Check {
        if !self.rng.one_in(8) {
            return Ok(());
        }
        let answers: Vec<Input> = self.answered.iter().cloned().collect();
        let Some(late) = self.rng.pick(answers) else {
            return Ok(());
        };
        let decision = mutant::decide(self.mutant, &self.state, self.now, &late);
        match decision == Decision::default() {
            true => Ok(()),
            false => Err(format!("a late answer led to something: {decision:?}")),
        }
    }

    /// Ends the process: pending commands are lost, stored steps aren't.
    fn crash(&mut self) -> Check {
        self.crashes += 1;
        self.queue.clear();
        self.reviews.clear();
        self.watch.lost_checks();
        if self.folded()? != self.state {
            return Err("events do not add up to the state".to_owned());
        }
        // Only a power cut loses steps; the death of a process doesn't.
        if self.rng.one_in(3) {
            self.journal.truncate(self.synced);
            self.state = self.folded()?;
        }
        match self.state.outcome {
            None => self.resume(),
            Some(_) => Ok(()),
        }
    }

    /// Returns the state as the next process finds it.
    fn folded(&self) -> Result<State, String> {
        let mut state = State::default();
        for line in self.journal.get(self.begins..).unwrap_or_default() {
            for event in &line.events {
                state.apply(event);
            }
        }
        let stored = serde_json::to_string(&state).map_err(|error| error.to_string())?;
        let read: State = serde_json::from_str(&stored).map_err(|error| error.to_string())?;
        match read == state {
            true => Ok(read),
            false => Err("a state that was stored is another one".to_owned()),
        }
    }

    fn resume(&mut self) -> Check {
        self.people_between_processes();
        let left = self.review_interrupted()?;
        if self.rng.one_in(8) {
            self.change_their_mind();
        }
        let config = Some(Box::new(self.config.clone()));
        let choices = latest_choices(self.choices.clone());
        self.feed(Input::Resume(Resumption {
            choices,
            config,
            ..left
        }))?;
        self.kept = None;
        Ok(())
    }

    fn change_their_mind(&mut self) {
        let RunConfig {
            limits,
            recovery,
            keep_going,
            ..
        } = &mut self.config;
        match self.rng.below(3) {
            0 => *keep_going = !*keep_going,
            1 => *recovery = !*recovery,
            _ => limits.task_iterations += 1,
        }
    }

    /// Ends the simulation, resumes the run or starts another one, because nothing is pending.
    fn goes_on(&mut self) -> Result<bool, String> {
        let Some(outcome) = self.state.outcome.clone() else {
            let reason = "nothing is owed, and the run has not ended";
            return Err(reason.to_owned());
        };
        if outcome.is_pause() {
            let is_stop = matches!(outcome, RunOutcome::Stopped { .. });
            let is_wanted = is_stop || (self.restarts < MOST_RESTARTS && self.rng.below(3) > 0);
            self.restarts += u32::from(!is_stop);
            if is_wanted {
                self.resume()?;
            }
            return Ok(is_wanted);
        }
        if self.runs >= MOST_RUNS || self.rng.below(3) < 2 {
            return Ok(false);
        }
        self.remember_failures();
        if outcome == RunOutcome::AllGreen {
            self.forget();
        }
        self.people_between_processes();
        self.begin(matches!(outcome, RunOutcome::Limit { .. }))?;
        Ok(true)
    }

    /// Removes the state file once everything is done; the next run recreates it from the rows.
    fn forget(&mut self) {
        self.memory = documents::StateDocument::from_tasks(&self.file);
        self.watch.forget_fixes(&self.file);
    }

    fn remember_failures(&mut self) {
        for (key, task) in &self.state.tasks {
            match (&task.failure, &task.phase) {
                (Some(failure), phase) if *phase != Phase::Closed => {
                    self.failed_before.insert(key.clone(), failure.clone());
                }
                _ => drop(self.failed_before.remove(key)),
            }
        }
    }
}

fn is_rare(command: &Command) -> bool {
    match command {
        Command::NoteFailure { .. }
        | Command::ReadBudget { .. }
        | Command::Modify(_)
        | Command::AskOpinion(_)
        | Command::Recall(_)
        | Command::InspectRepair(_)
        | Command::Repair(_)
        | Command::Wait { .. }
        | Command::FinalCheck(_)
        | Command::CloseCommit { .. }
        | Command::Reopen { .. }
        | Command::AskPerson(_)
        | Command::AwaitAnswers { .. } => true,
        Command::Tick {
            done, supersede, ..
        } => !*done || *supersede,
        _ => false,
    }
}

/// Returns whether a command edits a file that other programs also save.
fn edits(command: &Command) -> bool {
    match command {
        Command::Attempt(_)
        | Command::JudgeClaims { .. }
        | Command::InsertFix(_)
        | Command::Modify(_)
        | Command::NoteFailure { .. }
        | Command::Tick { .. }
        | Command::Record(_)
        | Command::Reopen { .. }
        | Command::SaveState(_) => true,
        Command::ReadPlan(_)
        | Command::Verify { .. }
        | Command::ReviewTests(_)
        | Command::AskOpinion(_)
        | Command::Recall(_)
        | Command::InspectRepair(_)
        | Command::Repair(_)
        | Command::ReadBudget { .. }
        | Command::AskPerson(_)
        | Command::AwaitAnswers { .. }
        | Command::Commit(_)
        | Command::CloseCommit { .. }
        | Command::Wait { .. }
        | Command::FinalCheck(_)
        | Command::KeepServices(_)
        | Command::Finish => false,
    }
}
