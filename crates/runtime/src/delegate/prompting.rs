//! What a delegate is told.

use std::fs;

use regreen_agents::{
    DelegateBrief, IdenticalPrompt, PreviousAttempt, PromptReason, refuse_identical,
};
use regreen_engine::delegation::Order;
use regreen_model::{FailureNote, PromptKind};

use super::child::Child;
use super::diary::Entry;
use super::pursuit::{Pursuit, Work};
use crate::perform::{Around, completed};
use crate::perform_error::PerformError;

impl Child<'_> {
    /// What the agent is told.
    pub(super) fn prompt(&self, work: &Work, pursuit: &Pursuit, order: &Order) -> String {
        let session = order.session.as_deref();
        let resumes = self.performer.agent.session(session).is_some();
        let brief = DelegateBrief {
            prompt: &work.prompt,
            attempt: pursuit.number().min(work.terms.attempts),
            max_attempts: work.terms.attempts,
        };
        let since = pursuit.repaired.join("\n");
        let previous = pursuit
            .failure
            .as_ref()
            .map(|failure| previous(failure, &since));
        let around = match (order.prompt, pursuit.failure.as_ref()) {
            (PromptKind::Enriched, Some(failure)) => {
                Around::looked_up(&self.performer.places.root, failure)
            }
            _ => Around::default(),
        };
        let occasion = match (order.prompt, previous) {
            (PromptKind::First, _) | (_, None) => PromptReason::First,
            (PromptKind::Split, Some(previous)) => PromptReason::Split(previous),
            (PromptKind::Enriched, Some(previous)) => {
                PromptReason::Enriched(previous, around.surroundings())
            }
            (_, Some(previous)) => PromptReason::Retry(previous),
        };
        self.prompts().delegated(&brief, &occasion, resumes)
    }

    /// Keeps what the agent is told beside the log; unless it is what failed already.
    pub(super) fn keep_prompt(
        &self,
        pursuit: &Pursuit,
        order: &Order,
        entry: Entry,
        prompt: &str,
    ) -> Result<Result<(), IdenticalPrompt>, PerformError> {
        let has_failed = pursuit.failure.as_ref().is_some() && order.session.is_none();
        let is_news = !matches!(order.prompt, PromptKind::First);
        for told in pursuit.told.iter().filter(|_| has_failed && is_news) {
            if let Err(refused) = refuse_identical(prompt, told) {
                return Ok(Err(refused));
            }
        }
        let name = format!("{}.prompt.md", self.diary.number(entry));
        let kept = self.diary.masks.mask(prompt);
        fs::write(self.place.folder.join(name), kept)?;
        Ok(Ok(()))
    }
}

fn previous<'a>(failure: &'a FailureNote, since: &'a str) -> PreviousAttempt<'a> {
    PreviousAttempt {
        error: &failure.error,
        details: since,
        suggestions: match failure.told() {
            Some(found) => &found.suggested_actions,
            None => &[],
        },
        completed: completed(failure.diagnosis.as_deref()),
        ..PreviousAttempt::default()
    }
}
