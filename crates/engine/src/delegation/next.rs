//! What follows from what happened, by the table of recovery.

use regreen_model::{
    AttemptClass, FailureRecord, Inspection, Limits, PlainLine, PromptKind, RepairResult, Timestamp,
};

use super::happened::{Attempted, Happened, Past};
use super::step::{End, Order, Step, Terms};
use crate::decide::backoff_ms;
use crate::recovery::{self, Class, History, LACKS_CONTEXT, Plan, Policy, Situation};

/// Time is doubled up to so many times the first.
const MOST_TIME: u64 = 8;
const SHOWN_CHARS: usize = 200;
const NOT_DIVIDED: &str = "it gets nowhere in its time, and was not divided";

/// What is to be done next.
#[must_use]
pub fn next(terms: &Terms, happened: &[Happened], now: Timestamp) -> Step {
    let past = Past(happened);
    let Some(last) = past.last_attempt() else {
        return Step::Attempt(order(PromptKind::First, terms.timeout_ms));
    };
    if last.order.prompt == PromptKind::Split && last.report.class == AttemptClass::Ordinary {
        return do_parts(terms, past, last);
    }
    let Some(failure) = &last.failure else {
        return Step::End(End::Done);
    };
    match happened.last() {
        Some(Happened::Waited { repeats: true, .. }) => again(terms, last, PromptKind::Retry),
        Some(Happened::Waited { .. }) => Step::Attempt(same(last)),
        Some(Happened::Repaired {
            result: RepairResult::Done { .. },
            ..
        }) => again(terms, last, PromptKind::Retry),
        Some(Happened::Repaired {
            result: RepairResult::Failed { why },
            ..
        }) => {
            let refused = Inspection::Refused { why: why.clone() };
            by_plan(terms, past, last, failure, Some(&refused), now)
        }
        Some(Happened::Inspected(found)) => by_plan(terms, past, last, failure, Some(found), now),
        _ => by_plan(terms, past, last, failure, None, now),
    }
}

/// The parts share the time and what is left of the attempts.
fn do_parts(terms: &Terms, past: Past<'_>, last: &Attempted) -> Step {
    let count = u64::try_from(last.parts.len()).unwrap_or(u64::MAX);
    if count == 0 {
        return needs_person(NOT_DIVIDED);
    }
    Step::DoParts {
        parts: last.parts.clone(),
        terms: Terms {
            attempts: terms.attempts.saturating_sub(past.charged()).max(1),
            timeout_ms: (terms.timeout_ms / count).max(1),
            divides: false,
            ..*terms
        },
    }
}

fn by_plan(
    terms: &Terms,
    past: Past<'_>,
    last: &Attempted,
    failure: &FailureRecord,
    inspection: Option<&Inspection>,
    now: Timestamp,
) -> Step {
    let is_used_up = past.charged() >= terms.attempts;
    match plan(terms, past, last, failure, inspection) {
        Plan::Wait => wait(terms, past, last, now),
        Plan::StopRun => Step::End(End::SetUp {
            why: why(last, failure),
        }),
        Plan::AskPerson { why } | Plan::AskToRepair { why, .. } => needs_person(&why),
        Plan::Repeat { .. } | Plan::Split if is_used_up => Step::End(End::Failed),
        Plan::Repeat { delay_ms } => Step::Wait {
            until: now.plus(delay_ms),
            why: why(last, failure),
            repeats: true,
        },
        Plan::Split if terms.divides => Step::Attempt(order(PromptKind::Split, terms.timeout_ms)),
        // That no attempt is left changes nothing: another one would lack the same.
        Plan::GiveUp if lacks_context(failure) => needs_person(LACKS_CONTEXT),
        Plan::Split | Plan::GiveUp => Step::End(End::Failed),
        Plan::Enrich => again(terms, last, PromptKind::Enriched),
        Plan::Inspect => Step::Inspect,
        Plan::Repair(repair) => Step::Repair(repair),
        // Nobody writes tasks here: the agent itself is told what to put right.
        Plan::TryAgain | Plan::Fix => again(terms, last, kind_after(last)),
    }
}

fn plan(
    terms: &Terms,
    past: Past<'_>,
    last: &Attempted,
    failure: &FailureRecord,
    inspection: Option<&Inspection>,
) -> Plan {
    let told = failure.told();
    let repaired = past.repaired();
    recovery::plan(&Situation {
        class: Class::of(Some(&last.report), told),
        failure: told,
        history: History {
            iterations: past.charged(),
            lost_sessions: past.lost_sessions(),
            repeats: past.repeats(),
            was_enriched: past.was_enriched(),
            asked_to_split: last.order.prompt == PromptKind::Split,
            repaired: &repaired,
        },
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
    let told = failure.told();
    told.is_some_and(|found| Class::of_failure(found) == Class::MissingContext)
}

fn kind_after(last: &Attempted) -> PromptKind {
    match last.report.class {
        AttemptClass::Session { .. } => PromptKind::NewSession,
        _ => PromptKind::Retry,
    }
}

/// Another attempt. Whoever ran out of time goes on with twice as much.
fn again(terms: &Terms, last: &Attempted, prompt: PromptKind) -> Step {
    let timed_out = last.report.ending.timed_out;
    let most = terms.timeout_ms.saturating_mul(MOST_TIME);
    let timeout_ms = match timed_out {
        true => last.order.timeout_ms.saturating_mul(2).min(most),
        false => last.order.timeout_ms,
    };
    Step::Attempt(Order {
        session: last.report.session.clone().filter(|_| timed_out),
        ..order(prompt, timeout_ms)
    })
}

/// The agent had no chance: it gets the same again, where it was.
fn same(last: &Attempted) -> Order {
    Order {
        session: last.report.session.clone(),
        ..last.order.clone()
    }
}

fn order(prompt: PromptKind, timeout_ms: u64) -> Order {
    Order {
        prompt,
        timeout_ms,
        session: None,
    }
}

/// Waits until the service says it is back, but at least as long as the backoff.
fn wait(terms: &Terms, past: Past<'_>, last: &Attempted, now: Timestamp) -> Step {
    let AttemptClass::Transient { why, until } = &last.report.class else {
        return Step::Attempt(same(last));
    };
    let (waited_ms, waits) = past.waited();
    let until = now.plus(backoff_ms(waits, now)).max(until.unwrap_or(now));
    let why = one_line(why);
    match waited_ms.saturating_add(until.since(now)) > terms.max_wait_ms {
        true => Step::End(End::TryLater { why }),
        false => Step::Wait {
            until,
            why,
            repeats: false,
        },
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

fn needs_person(why: &str) -> Step {
    Step::End(End::NeedsPerson {
        why: why.to_owned(),
    })
}
