use regreen_engine::{Command, Input, Issued, State, decide};
use regreen_model::RunOutcome;

use crate::agenda::Agenda;
use crate::audience::Audience;
use crate::clock;
use crate::history::Historian;
use crate::journal::{Journal, JournalError};
use crate::performer::Performer;
use crate::person::Person;

/// Turns the wheel: what happened is decided upon, stored, shown, and then done.
pub(crate) struct Driver<'a> {
    pub(crate) journal: Journal,
    pub(crate) state: State,
    pub(crate) performer: Performer,
    pub(crate) audience: &'a mut dyn Audience,
    pub(crate) person: &'a mut dyn Person,
}

impl Driver<'_> {
    /// Drives until the engine asks for nothing more.
    pub(crate) fn drive(&mut self, first: &Input) -> Result<Option<RunOutcome>, JournalError> {
        let mut agenda = Agenda::default();
        agenda.add(self.step(first)?);
        while let Some(issued) = agenda.next() {
            if issued.command == Command::Finish {
                break;
            }
            let store = &mut self.journal.store;
            let answer = self
                .performer
                .perform(&issued, store, self.audience, self.person);
            self.tell_notices()?;
            self.tell_stop()?;
            let Some(answer) = answer else { continue };
            let asked = self.step(&answer)?;
            // A run that ends owes nothing of what it asked for before.
            if self.state.outcome.is_some() {
                agenda.clear();
            }
            agenda.add(asked);
        }
        Ok(self.state.outcome.clone())
    }

    /// One turn: decided, stored, and only then true.
    fn step(&mut self, input: &Input) -> Result<Vec<Issued>, JournalError> {
        let now = clock::now();
        let decision = decide(&self.state, now, input);
        if decision.events.is_empty() {
            return Ok(decision.commands);
        }
        let historian = Historian {
            places: &self.performer.places,
            run: &self.journal.run,
            agent: self.performer.agent.name(),
            now,
        };
        let history = historian.rows(&decision.events);
        let answers = input.seq().filter(|seq| self.is_owed(*seq));
        self.journal
            .append(now, input, answers, &decision, &history)?;
        for event in &decision.events {
            self.state.apply(event);
            self.audience.event(now, event);
        }
        self.journal.keep(&self.state)?;
        Ok(decision.commands)
    }

    fn is_owed(&self, seq: u64) -> bool {
        self.state.reading == Some(seq) || self.state.task_of(seq).is_some()
    }

    fn tell_notices(&mut self) -> Result<(), JournalError> {
        let messages = self.performer.notices.take();
        if !messages.is_empty() {
            self.step(&Input::Noticed { messages })?;
        }
        Ok(())
    }

    fn tell_stop(&mut self) -> Result<(), JournalError> {
        match self.performer.processes.stop.asked() {
            Some(signal) if self.state.stopping.is_none() => {
                self.step(&Input::Stop { signal })?;
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
