use regreen_engine::{Input, Issued, State, decide};

use crate::audience::Audience;
use crate::clock;
use crate::history::Historian;
use crate::journal::{Journal, JournalError};
use crate::places::Places;

/// What happens in a run: decided upon, stored, told, and the state that it adds up to.
pub(crate) struct Chronicle<'a> {
    pub(crate) journal: Journal,
    pub(crate) state: State,
    pub(crate) audience: &'a mut dyn Audience,
    pub(crate) places: Places,
    /// The agent's name.
    pub(crate) agent: &'static str,
}

impl Chronicle<'_> {
    /// One turn: decided, stored, and only then true. What is to be done about it.
    pub(crate) fn step(&mut self, input: &Input) -> Result<Vec<Issued>, JournalError> {
        let now = clock::now();
        let decision = decide(&self.state, now, input);
        if decision.events.is_empty() {
            return Ok(decision.commands);
        }
        let historian = Historian {
            places: &self.places,
            run: &self.journal.run,
            agent: self.agent,
            now,
        };
        let history = historian.rows(&decision.events);
        let answers = input.seq().filter(|seq| self.state.awaits(*seq));
        self.journal
            .append(now, input, answers, &decision, &history)?;
        for event in &decision.events {
            self.state.apply(event);
            self.audience.event(now, event);
        }
        self.journal.keep(&self.state)?;
        Ok(decision.commands)
    }
}
