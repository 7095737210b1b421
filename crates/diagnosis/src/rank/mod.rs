//! The half of the diagnosis that chooses the cause, in small steps:
//!
//! 1. [`timeout`]: did a time limit end it?
//! 2. [`candidate`]: which lines may be blamed, and how much each proves;
//! 3. [`service`]: which of them only have a service's words in them;
//! 4. [`signs`]: what else the output shows (tests passed, steps done, success);
//! 5. [`verdict`]: did it fail at all?
//! 6. [`cause`]: the line that explains the others;
//! 7. [`frame`]: where that happened, if this says more than the line;
//! 8. [`ending`]: what the exit says where no line does;
//! 9. [`script`]: which script it was, if only the command says so;
//! 10. [`category`]: is part of the work done?
//!
//! An agent's message is prose and has its own way, [`message`].

mod candidate;
mod category;
mod cause;
mod compose;
mod ending;
mod frame;
mod last_line;
mod message;
mod script;
mod service;
mod signs;
mod timeout;
mod verdict;

use regreen_model::{Evidence, Failure, Source};

use compose::Diagnosis;
pub use ending::signal_number;

/// Why it failed; `None` if it did not.
#[must_use]
pub fn rank(evidence: &Evidence) -> Option<Failure> {
    if let Some(diagnosis) = timeout::by_limit(evidence) {
        return Some(diagnosis.into_failure(evidence));
    }
    let own = match evidence.source {
        Source::Agent => message::diagnose(evidence),
        Source::Command => of_command(evidence),
    };
    match own {
        Some(diagnosis) => Some(diagnosis.into_failure(evidence)),
        None => of_verify(evidence),
    }
}

fn of_command(evidence: &Evidence) -> Option<Diagnosis> {
    let mut candidates = candidate::candidates(&evidence.output.findings);
    service::without_words_of_code(&mut candidates);
    let signs = signs::Signs::of(&evidence.output.findings);
    if !verdict::failed(evidence, &candidates, &signs) {
        return None;
    }
    let chosen = cause::choose(&candidates);
    let diagnosis = match ending::over(evidence, chosen.as_ref()) {
        Some(by_exit) => by_exit,
        None => match chosen {
            Some(chosen) => frame::framed(chosen, &candidates),
            None => ending::unexplained(evidence),
        },
    };
    let diagnosis = timeout::by_words(diagnosis, evidence, &signs);
    let diagnosis = script::named_by_command(diagnosis, evidence);
    Some(category::with_finished_work(diagnosis, &signs))
}

/// The attempt says nothing of a failure, but the independent check does.
fn of_verify(evidence: &Evidence) -> Option<Failure> {
    let verify = evidence.verify.as_deref().filter(|verify| !verify.passed)?;
    let mut failure = rank(&verify.evidence).unwrap_or_else(|| {
        let silent = ending::unexplained(&verify.evidence);
        silent.into_failure(&verify.evidence)
    });
    failure.files_modified.clone_from(&evidence.files_changed);
    failure.tool_usage.clone_from(&evidence.tools.counts);
    failure
        .last_successful_tool
        .clone_from(&evidence.tools.last_successful);
    if category::is_code(failure.kind) && !evidence.files_changed.is_empty() {
        failure.category = regreen_model::FailureCategory::Partial;
    }
    Some(failure)
}
