//! One process after another drives the run, and each may end at any moment.

use regreen_documents as documents;
use regreen_model::{RunConfig, RunOutcome, StopSignal};

use crate::attempt::Seen;
use crate::mutant;
use crate::transitions;
use crate::world::{Held, World};
use regreen_engine::Decision;
use regreen_engine::JournalLine;
use regreen_engine::latest_choices;
use regreen_engine::{Command, Issued};
use regreen_engine::{Input, Resumption};
use regreen_engine::{Phase, State};

/// A run that takes more steps does not end.
const MOST_STEPS: u32 = 6_000;
const MOST_CRASHES: u32 = 6;
const MOST_RUNS: u32 = 3;
const MOST_RESTARTS: u32 = 4;
/// So many answers may come once more.
const REMEMBERED: usize = 6;

/// What happens to a command.
enum Fate {
    IsDone,
    /// The process dies before it is done.
    Dies,
    /// It is done, and then the process dies before it says so.
    DiesUnheard,
    Stops,
    /// Somebody keeps saving the file.
    IsContended,
    IsBroken,
}

impl World {
    /// From the first run to the end of the last one.
    pub(crate) fn live(&mut self) -> Held {
        self.people_have_their_say();
        self.begin(false)?;
        for _ in 0..MOST_STEPS {
            self.time_passes();
            self.people_may_edit();
            self.may_answer_again()?;
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

    fn begin(&mut self, after_limit: bool) -> Held {
        self.runs += 1;
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
        })
    }

    /// One turn: decided, stored, and only then true.
    pub(crate) fn feed(&mut self, input: Input) -> Held {
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

    /// What is seldom asked for is disturbed the more often.
    fn fate(&mut self, command: &Command) -> Fate {
        let may_die = self.crashes < MOST_CRASHES;
        let sides = match command {
            Command::SaveState(_) => 60,
            Command::Verify { .. } | Command::Commit(_) => 100,
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

    fn step(&mut self, issued: &Issued) -> Held {
        let seq = issued.seq;
        let why = || "somebody or something".to_owned();
        match (self.fate(&issued.command), &issued.command) {
            (_, Command::Finish) => Ok(()),
            (Fate::Dies, _) => self.crash(),
            (Fate::DiesUnheard, Command::Attempt(order)) => {
                let seen = self.rng.pick(Seen::ALL).unwrap_or(Seen::Reviewed);
                if seen != Seen::NotBegun {
                    self.see_session(issued)?;
                }
                self.attempt(order, seen)?;
                self.crash()
            }
            (Fate::DiesUnheard, _) => {
                self.perform(issued)?;
                self.crash()
            }
            (Fate::Stops, command) => {
                let signal = StopSignal::Interrupt;
                self.feed(Input::Stop { signal })?;
                // An attempt tells how far it came, and a file is written or not.
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

    fn perform_and_tell(&mut self, issued: &Issued) -> Held {
        let often = if is_rare(&issued.command) { 6 } else { 60 };
        if self.rng.one_in(often) {
            let messages = vec!["a notice".to_owned()];
            self.feed(Input::Noticed { messages })?;
        }
        self.see_session(issued)?;
        let Some(answer) = self.perform(issued)? else {
            return Ok(());
        };
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
        self.feed(answer)
    }

    /// An attempt tells its session while it is being made.
    fn see_session(&mut self, issued: &Issued) -> Held {
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

    /// An answer that was given already must change nothing, however late it comes.
    fn may_answer_again(&mut self) -> Held {
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

    /// The process is gone: what was only asked for is lost, what was stored is not.
    fn crash(&mut self) -> Held {
        self.crashes += 1;
        self.queue.clear();
        if self.folded()? != self.state {
            return Err("events do not add up to the state".to_owned());
        }
        // Of a power cut; the death of a process takes nothing.
        if self.rng.one_in(3) {
            self.journal.truncate(self.synced);
            self.state = self.folded()?;
        }
        match self.state.outcome {
            None => self.resume(),
            Some(_) => Ok(()),
        }
    }

    /// The state as the next process finds it.
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

    fn resume(&mut self) -> Held {
        self.people_between_processes();
        let interrupted = self.interrupted()?;
        if self.rng.one_in(8) {
            self.change_their_mind();
        }
        let config = Some(Box::new(self.config.clone()));
        let choices = latest_choices(self.choices.clone());
        self.feed(Input::Resume(Resumption {
            choices,
            config,
            interrupted,
        }))
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

    /// Nothing is owed any more: the run has ended, or somebody starts it again, or another.
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

    /// All was done, so the state file is removed; the next run makes it from the rows.
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
        | Command::InspectRepair(_)
        | Command::Repair(_)
        | Command::Wait { .. }
        | Command::AskPerson(_) => true,
        Command::Tick {
            done, supersede, ..
        } => !*done || *supersede,
        _ => false,
    }
}

/// Whether a file that others save is edited for it.
fn edits(command: &Command) -> bool {
    match command {
        Command::Attempt(_)
        | Command::JudgeClaims { .. }
        | Command::InsertFix(_)
        | Command::Modify(_)
        | Command::NoteFailure { .. }
        | Command::Tick { .. }
        | Command::Record(_)
        | Command::SaveState(_) => true,
        Command::ReadPlan(_)
        | Command::Verify { .. }
        | Command::InspectRepair(_)
        | Command::Repair(_)
        | Command::ReadBudget { .. }
        | Command::AskPerson(_)
        | Command::Commit(_)
        | Command::Wait { .. }
        | Command::Finish => false,
    }
}
