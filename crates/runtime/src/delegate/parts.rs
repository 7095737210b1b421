//! Work that was divided: its parts one after the other, and the check of the whole.

use regreen_agents::PartBrief;
use regreen_engine::delegation::{Attempted, End, Happened, Order, Terms};
use regreen_model::{AttemptReport, FailureCategory, FailureNote, PlainLine, PromptKind};

use super::child::Child;
use super::pursuit::{Pursuit, Work};
use crate::perform_error::PerformError;

const TITLE_CHARS: usize = 80;

impl Child<'_> {
    /// Does the parts one after the other; `Some` if there is nothing more to be done.
    pub(super) fn do_parts(
        &mut self,
        work: &Work,
        pursuit: &mut Pursuit,
        parts: &[String],
        terms: Terms,
    ) -> Result<Option<End>, PerformError> {
        let mut answers = String::new();
        let mut failure = None;
        for (at, part) in parts.iter().enumerate() {
            let (number, total) = (at + 1, parts.len());
            self.onlooker
                .milestone(&format!("Executing subtask {number}/{total}"));
            let came_to = self.pursue(&self.part(work, parts, at, terms))?;
            let title = PlainLine::flatten(part, TITLE_CHARS);
            let answer = came_to.answer.trim_end();
            answers.push_str(&format!(
                "## Subtask {number}/{total}: {title}\n\n{answer}\n\n"
            ));
            match came_to.end {
                End::Done => {}
                End::Failed => {
                    failure = came_to
                        .failure
                        .map(|failure| after_parts(failure, parts, at));
                    break;
                }
                end => {
                    pursuit.failure = came_to
                        .failure
                        .map(|failure| after_parts(failure, parts, at));
                    return Ok(Some(end));
                }
            }
        }
        let made = self.judged_parts(work, failure, answers)?;
        self.judge_parts(work, pursuit, made)?;
        Ok(None)
    }

    fn part(&self, work: &Work, parts: &[String], at: usize, terms: Terms) -> Work {
        let brief = PartBrief {
            number: at + 1,
            total: parts.len(),
            part: parts.get(at).map_or("", String::as_str),
            whole: &work.prompt,
            done: parts.get(..at).unwrap_or_default(),
        };
        Work {
            prompt: self.prompts().delegated_part(&brief),
            verify: None,
            terms: Terms {
                max_wait_ms: terms.max_wait_ms.saturating_sub(self.waited_ms),
                ..terms
            },
        }
    }

    /// The whole is checked when all parts are done.
    fn judged_parts(
        &mut self,
        work: &Work,
        failure: Option<FailureNote>,
        answer: String,
    ) -> Result<(Option<FailureNote>, String, bool), PerformError> {
        if failure.is_some() {
            return Ok((failure, answer, false));
        }
        let checked = self.check(work, &self.parts_stem())?;
        let failure = checked.failure_of_parts(&self.files);
        Ok((failure, answer, checked.flaky))
    }

    fn parts_stem(&self) -> String {
        format!("{}.parts", self.diary.rows.len())
    }

    fn judge_parts(
        &mut self,
        work: &Work,
        pursuit: &mut Pursuit,
        (failure, answer, flaky): (Option<FailureNote>, String, bool),
    ) -> Result<(), PerformError> {
        if let Some(failed) = pursuit.failed.take() {
            self.diary.helped(failed, failure.is_none())?;
        }
        pursuit.failure.clone_from(&failure);
        pursuit.answer = answer;
        pursuit.flaky = flaky;
        let order = Order {
            prompt: PromptKind::First,
            timeout_ms: work.terms.timeout_ms,
            session: None,
        };
        pursuit.past.push(Happened::Attempted(Box::new(Attempted {
            order,
            report: AttemptReport::default(),
            failure,
            parts: Vec::new(),
        })));
        Ok(())
    }
}

/// How a part failed, with the parts before it as what is completed.
fn after_parts(mut failure: FailureNote, parts: &[String], at: usize) -> FailureNote {
    if let (Some(found), Some(done)) = (failure.diagnosis.as_mut(), parts.get(..at))
        && !done.is_empty()
    {
        found.category = FailureCategory::Partial;
        found.completed_steps.splice(0..0, done.iter().cloned());
    }
    failure
}
