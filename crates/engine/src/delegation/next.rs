//! Decides what follows from what happened, by the recovery table.

use regreen_model::{
    AttemptClass, Experience, FailureRecord, Inspection, Limits, PlainLine, PromptKind,
    RepairAction, RepairResult, Timestamp,
};

use super::{Attempted, Conclusion, DelegatedOrder, Happened, NextAction, Terms};
use crate::decide::backoff_ms;
use crate::recovery::{
    self, FailureClass, LACKS_CONTEXT, MAX_TIME_FACTOR, Policy, RecoveryAction, RecoveryHistory,
    RecoveryRule, STUCK, Situation,
};

const SHOWN_CHARS: usize = 200;

/// Decides what to do next.
#[must_use]
pub fn next(terms: &Terms, happened: &[Happened], now: Timestamp) -> NextAction {
    let past = Past(happened);
    let Some(last) = past.last_attempt() else {
        return NextAction::Attempt(order(PromptKind::First, terms.timeout_ms));
    };
    if last.order.prompt == PromptKind::Split && last.report.class == AttemptClass::Ordinary {
        return do_parts(terms, past, last);
    }
    let Some(failure) = &last.failure else {
        return NextAction::End(Conclusion::Done);
    };
    match happened.last() {
        Some(Happened::Waited { repeats: true, .. }) => again(terms, last, PromptKind::Retry),
        Some(Happened::Waited { .. }) => NextAction::Attempt(same(last)),
        Some(Happened::Repaired {
            result: RepairResult::Done { .. },
            ..
        }) => again(terms, last, PromptKind::Retry),
        Some(Happened::Repaired {
            result: RepairResult::Failed { why },
            ..
        }) => {
            let refused = Inspection::Refused { why: why.clone() };
            recover(terms, past, last, failure, Some(&refused), now)
        }
        Some(Happened::Inspected(found)) => recover(terms, past, last, failure, Some(found), now),
        Some(Happened::Attempted(_)) if terms.recalls && !is_the_agents_own(last) => {
            NextAction::Recall
        }
        _ => recover(terms, past, last, failure, None, now),
    }
}

/// Whether the agent or its service failed, rather than the work.
fn is_the_agents_own(last: &Attempted) -> bool {
    let class = FailureClass::of_ending(&last.report);
    class.is_some_and(FailureClass::is_the_agents_own)
}

/// Splits the time and the remaining attempts among the parts.
fn do_parts(terms: &Terms, past: Past<'_>, last: &Attempted) -> NextAction {
    let count = u64::try_from(last.parts.len()).unwrap_or(u64::MAX);
    if count == 0 {
        return needs_person(STUCK);
    }
    NextAction::DoParts {
        parts: last.parts.clone(),
        terms: Terms {
            attempts: terms.attempts.saturating_sub(past.charged()).max(1),
            timeout_ms: (terms.timeout_ms / count).max(1),
            divides: false,
            ..*terms
        },
    }
}

fn recover(
    terms: &Terms,
    past: Past<'_>,
    last: &Attempted,
    failure: &FailureRecord,
    inspection: Option<&Inspection>,
    now: Timestamp,
) -> NextAction {
    let is_used_up = past.charged() >= terms.attempts;
    match action(terms, past, last, failure, inspection) {
        RecoveryAction::Wait => wait(terms, past, last, now),
        RecoveryAction::StopRun => NextAction::End(Conclusion::SetUp {
            why: why(last, failure),
        }),
        RecoveryAction::AskPerson { why } | RecoveryAction::AskToRepair { why, .. } => {
            needs_person(&past.told(&why))
        }
        RecoveryAction::Repeat { .. } | RecoveryAction::Pause { .. } | RecoveryAction::Split
            if is_used_up =>
        {
            NextAction::End(Conclusion::Failed)
        }
        RecoveryAction::Repeat { delay_ms } | RecoveryAction::Pause { delay_ms } => {
            NextAction::Wait {
                until: now.plus(delay_ms),
                why: why(last, failure),
                repeats: true,
            }
        }
        RecoveryAction::Split if terms.divides => {
            NextAction::Attempt(order(PromptKind::Split, terms.timeout_ms))
        }
        // It doesn't matter that no attempt is left: another one would lack the same information.
        RecoveryAction::GiveUp if lacks_context(failure) => needs_person(&past.told(LACKS_CONTEXT)),
        RecoveryAction::Split | RecoveryAction::GiveUp | RecoveryAction::StopRetrying => {
            NextAction::End(Conclusion::Failed)
        }
        RecoveryAction::Enrich => again(terms, last, PromptKind::Enriched),
        RecoveryAction::Inspect => NextAction::Inspect,
        RecoveryAction::Repair(repair) => NextAction::Repair(repair),
        // There is no task file here, so the agent itself is told what to fix.
        RecoveryAction::TryAgain | RecoveryAction::Fix => again(terms, last, kind_after(last)),
    }
}

fn action(
    terms: &Terms,
    past: Past<'_>,
    last: &Attempted,
    failure: &FailureRecord,
    inspection: Option<&Inspection>,
) -> RecoveryAction {
    let diagnosis = failure.confident_diagnosis();
    let repaired = past.repaired();
    recovery::action_for(&Situation {
        experience: past.experience(),
        templates: &[],
        class: FailureClass::of(Some(&last.report), diagnosis),
        failure: diagnosis,
        history: past.history(&repaired),
        limits: &Limits {
            task_iterations: terms.attempts,
            ..Limits::default()
        },
        policy: Policy {
            recovery: true,
            repairs: terms.repairs,
            listens: true,
            asks: false,
            is_group: false,
        },
        inspection,
    })
}

fn lacks_context(failure: &FailureRecord) -> bool {
    let diagnosis = failure.confident_diagnosis();
    diagnosis.is_some_and(|found| FailureClass::of_failure(found) == FailureClass::MissingContext)
}

fn kind_after(last: &Attempted) -> PromptKind {
    match last.report.class {
        AttemptClass::Session { .. } => PromptKind::NewSession,
        _ => PromptKind::Retry,
    }
}

/// Returns another attempt, with twice the time if the last one ran out of it.
fn again(terms: &Terms, last: &Attempted, prompt: PromptKind) -> NextAction {
    let timed_out = last.report.ending.timed_out;
    let most = terms.timeout_ms.saturating_mul(u64::from(MAX_TIME_FACTOR));
    let timeout_ms = if timed_out {
        last.order.timeout_ms.saturating_mul(2).min(most)
    } else {
        last.order.timeout_ms
    };
    NextAction::Attempt(DelegatedOrder {
        session: last.report.session.clone().filter(|_| timed_out),
        ..order(prompt, timeout_ms)
    })
}

/// Returns the same attempt again, in the same session: the agent had no chance.
fn same(last: &Attempted) -> DelegatedOrder {
    DelegatedOrder {
        session: last.report.session.clone(),
        ..last.order.clone()
    }
}

fn order(prompt: PromptKind, timeout_ms: u64) -> DelegatedOrder {
    DelegatedOrder {
        prompt,
        timeout_ms,
        session: None,
    }
}

/// Waits until the time that the service named, but at least for the backoff.
fn wait(terms: &Terms, past: Past<'_>, last: &Attempted, now: Timestamp) -> NextAction {
    let AttemptClass::Transient { why, until } = &last.report.class else {
        return NextAction::Attempt(same(last));
    };
    let (waited_ms, waits) = past.waited();
    let until = now.plus(backoff_ms(waits, now)).max(until.unwrap_or(now));
    let why = one_line(why);
    if waited_ms.saturating_add(until.since(now)) > terms.max_wait_ms {
        return NextAction::End(Conclusion::TryLater { why });
    }
    NextAction::Wait {
        until,
        why,
        repeats: false,
    }
}

fn why(last: &Attempted, failure: &FailureRecord) -> String {
    match &last.report.class {
        AttemptClass::Fatal { why } => one_line(why),
        _ => one_line(failure.cause()),
    }
}

fn one_line(text: &str) -> String {
    PlainLine::flatten(text, SHOWN_CHARS).to_string()
}

fn needs_person(why: &str) -> NextAction {
    NextAction::End(Conclusion::NeedsPerson {
        why: why.to_owned(),
    })
}

/// Everything that has happened so far.
#[derive(Clone, Copy, Debug)]
struct Past<'a>(&'a [Happened]);

impl<'a> Past<'a> {
    fn attempts(self) -> impl DoubleEndedIterator<Item = &'a Attempted> {
        self.0.iter().filter_map(|happened| match happened {
            Happened::Attempted(attempted) => Some(attempted.as_ref()),
            _ => None,
        })
    }

    fn last_attempt(self) -> Option<&'a Attempted> {
        self.attempts().next_back()
    }

    /// Returns what earlier failures show that are like the last one.
    fn experience(self) -> Option<&'a Experience> {
        let is_since = |happened: &&Happened| !matches!(happened, Happened::Attempted(_));
        let since = self.0.iter().rev().take_while(is_since);
        let mut recalled = since.filter_map(|happened| match happened {
            Happened::Recalled(known) => known.as_deref(),
            _ => None,
        });
        recalled.next()
    }

    /// Adds to a question that nothing has ever helped, if that is so.
    fn told(self, why: &str) -> String {
        match self.experience().and_then(Experience::warning) {
            Some(warning) => format!("{why}; {warning}"),
            None => why.to_owned(),
        }
    }

    /// Returns the history that recovery decides by.
    fn history(self, repaired: &'a [RepairAction]) -> RecoveryHistory<'a> {
        let mut history = RecoveryHistory {
            repeats: self.repeats(),
            was_enriched: self.was_enriched(),
            asked_to_split: self
                .last_attempt()
                .is_some_and(|last| last.order.prompt == PromptKind::Split),
            repaired,
            ..RecoveryHistory::default()
        };
        for attempt in self.attempts() {
            history.iterations += u32::from(is_charged(attempt, &history));
            match attempt.report.class {
                AttemptClass::Interrupted => history.interruptions += 1,
                AttemptClass::Session { .. } => history.lost_sessions += 1,
                _ => {}
            }
        }
        history
    }

    /// Returns the number of charged attempts.
    fn charged(self) -> u32 {
        self.history(&[]).iterations
    }

    fn repeats(self) -> u32 {
        let repeats = self
            .0
            .iter()
            .filter(|happened| matches!(happened, Happened::Waited { repeats: true, .. }));
        count(repeats.count())
    }

    fn was_enriched(self) -> bool {
        self.attempts()
            .any(|attempt| attempt.order.prompt == PromptKind::Enriched)
    }

    /// Returns the repairs made, successful or not.
    fn repaired(self) -> Vec<RepairAction> {
        let repaired = self.0.iter().filter_map(|happened| match happened {
            Happened::Repaired { action, .. } => Some(action.clone()),
            _ => None,
        });
        repaired.collect()
    }

    /// Returns how long the agent's service was waited for, and how often in a row.
    fn waited(self) -> (u64, u32) {
        let waits = self.0.iter().filter_map(|happened| match happened {
            Happened::Waited { ms, repeats: false } => Some(*ms),
            _ => None,
        });
        let is_transient =
            |attempt: &&Attempted| matches!(attempt.report.class, AttemptClass::Transient { .. });
        let in_a_row = self.attempts().rev().take_while(is_transient).count();
        (waits.sum(), count(in_a_row.saturating_sub(1)))
    }
}

/// Whether an attempt is charged, by the recovery table. A request to split the work isn't an
/// attempt at it, and a delegation has no modification requests that could pay for a timeout.
fn is_charged(attempt: &Attempted, history: &RecoveryHistory<'_>) -> bool {
    let is_interrupted = attempt.report.class == AttemptClass::Interrupted;
    let is_extra = attempt.order.prompt == PromptKind::Split;
    let class = FailureClass::of_ending(&attempt.report);
    let charge = class.map(|class| RecoveryRule::of(class).charge);
    (is_interrupted || !is_extra)
        && charge.is_none_or(|charge| charge.is_taken_from_task(history, false))
}

fn count(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
