use regreen_engine::{Command, CommandQueue, Input};
use regreen_model::RunOutcome;

use crate::chronicle::Chronicle;
use crate::journal::JournalError;
use crate::perform;
use crate::performer::Performer;
use crate::person::Person;

/// Turns the wheel: what happened is decided upon, stored, shown, and then done.
pub(crate) struct Driver<'a> {
    pub(crate) chronicle: Chronicle<'a>,
    pub(crate) performer: Performer,
    pub(crate) person: &'a mut dyn Person,
}

impl Driver<'_> {
    /// Drives until the engine asks for nothing more.
    pub(crate) fn drive(&mut self, first: &Input) -> Result<Option<RunOutcome>, JournalError> {
        let mut queue = CommandQueue::default();
        let commands = self.chronicle.step(first)?;
        queue.add(&self.chronicle.state, commands);
        while let Some(issued) = queue.take_next() {
            if issued.command == Command::Finish {
                break;
            }
            let answer = self
                .performer
                .perform(&issued, &mut self.chronicle, self.person);
            self.tell_notices()?;
            self.tell_stop()?;
            let Some(answer) = answer else { continue };
            let answer = self.with_fix_budget(answer);
            let commands = self.chronicle.step(&answer)?;
            queue.add(&self.chronicle.state, commands);
        }
        Ok(self.chronicle.state.outcome.clone())
    }

    /// An answer after which the task may get a fix brings the task's fix budget along.
    fn with_fix_budget(&mut self, answer: Input) -> Input {
        let Some(task) = self.chronicle.state.may_get_fix(&answer) else {
            return answer;
        };
        match perform::read_budget(&mut self.performer, task) {
            Ok(budget) => Input::WithFixBudget {
                answer: Box::new(answer),
                budget: budget.map(Box::new),
            },
            // The engine asks for it, and is told then why it can't be read.
            Err(_) => answer,
        }
    }

    fn tell_notices(&mut self) -> Result<(), JournalError> {
        let messages = self.performer.notices.take();
        if !messages.is_empty() {
            self.chronicle.step(&Input::Noticed { messages })?;
        }
        Ok(())
    }

    fn tell_stop(&mut self) -> Result<(), JournalError> {
        match self.performer.context.processes.stop.asked() {
            Some(signal) if self.chronicle.state.stopping.is_none() => {
                self.chronicle.step(&Input::Stop { signal })?;
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
