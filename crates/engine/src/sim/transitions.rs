//! What a run was waiting for, and what it got.

use crate::input::Input;
use crate::state::{Phase, State};

/// The name of a phase, and of an input that came in it.
pub type Transition = (&'static str, &'static str);

/// The transition that an input is, if it is one: an answer that nobody waits for is none.
pub(super) fn of(state: &State, input: &Input) -> Option<Transition> {
    let phase = match input {
        Input::Start { .. } => "nothing",
        Input::SessionSeen { seq, .. } => phase_name(&state.task_of(*seq)?.phase),
        Input::PlanRead { seq, .. } if state.reading == Some(*seq) => "reading",
        Input::Resume(_) | Input::Noticed { .. } | Input::Stop { .. } => owed(state),
        // A run that has ended waits for nothing.
        _ if state.outcome.is_some() => return None,
        Input::Halted { .. } | Input::Contended { .. } | Input::Broken { .. } => owed(state),
        _ => phase_name(&state.task_of(input.seq()?)?.phase),
    };
    Some((phase, input_name(input)))
}

/// What is owed at the moment.
fn owed(state: &State) -> &'static str {
    let is_asking = |phase: &Phase| matches!(phase, Phase::Asking { .. });
    match state.owed() {
        Some(task) => phase_name(&task.phase),
        None if state.reading.is_some() => "reading",
        None if state.tasks.values().any(|task| is_asking(&task.phase)) => "asking",
        None => "open",
    }
}

fn phase_name(phase: &Phase) -> &'static str {
    match phase {
        Phase::Open => "open",
        Phase::Attempting { .. } => "attempting",
        Phase::JudgingClaims { .. } => "judging_claims",
        Phase::Verifying { first: true, .. } => "verifying_first",
        Phase::Verifying { again: true, .. } => "verifying_again",
        Phase::Verifying { .. } => "verifying",
        Phase::Inspecting { .. } => "inspecting",
        Phase::Repairing { .. } => "repairing",
        Phase::Budgeting { .. } => "budgeting",
        Phase::Inserting { .. } => "inserting",
        Phase::Modifying { .. } => "modifying",
        Phase::Superseding { .. } => "superseding",
        Phase::TickingFixes { .. } => "ticking_fixes",
        Phase::Noting { .. } => "noting",
        Phase::Asking { .. } => "asking",
        Phase::Ticking { done: true, .. } => "ticking",
        Phase::Ticking { done: false, .. } => "unticking",
        Phase::Committing { .. } => "committing",
        Phase::Recording { .. } => "recording",
        Phase::Waiting { repeats: true, .. } => "repeating",
        Phase::Waiting { .. } => "waiting",
        Phase::Closed => "closed",
    }
}

fn input_name(input: &Input) -> &'static str {
    match input {
        Input::Start { .. } => "start",
        Input::Resume(_) => "resume",
        Input::Noticed { .. } => "noticed",
        Input::SessionSeen { .. } => "session_seen",
        Input::PlanRead { .. } => "plan_read",
        Input::AttemptEnded { .. } => "attempt_ended",
        Input::Gone { .. } => "gone",
        Input::ClaimsJudged { .. } => "claims_judged",
        Input::Verified { .. } => "verified",
        Input::RepairInspected { .. } => "repair_inspected",
        Input::RepairEnded { .. } => "repair_ended",
        Input::BudgetRead { .. } => "budget_read",
        Input::Inserted { .. } => "inserted",
        Input::Modified { .. } => "modified",
        Input::OpenFixesRead { .. } => "open_fixes_read",
        Input::FixesTicked { .. } => "fixes_ticked",
        Input::FailureNoted { .. } => "failure_noted",
        Input::PersonAnswered { .. } => "person_answered",
        Input::Ticked { .. } => "ticked",
        Input::Committed { .. } => "committed",
        Input::Recorded { .. } => "recorded",
        Input::Waited { .. } => "waited",
        Input::Halted { .. } => "halted",
        Input::Contended { .. } => "contended",
        Input::Broken { .. } => "broken",
        Input::Stop { .. } => "stop",
    }
}
