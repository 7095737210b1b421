//! Transitions: the phase of a run, and the input it gets.

use std::collections::BTreeSet;

use regreen_engine::{FinalCheckPhase, Input, Phase, State};

/// The name of a phase, and of the input it gets.
pub type Transition = (&'static str, &'static str);

/// The inputs that each phase waits for: the table in `decide/mod.rs`.
const ANSWERS: [Transition; 35] = [
    ("nothing", "start"),
    ("reading", "plan_read"),
    ("attempting", "session_seen"),
    ("attempting", "attempt_ended"),
    ("attempting", "gone"),
    ("judging_claims", "claims_judged"),
    ("verifying", "verified"),
    ("verifying_again", "verified"),
    ("verifying_first", "verified"),
    ("reviewing_tests", "tests_reviewed"),
    ("asking_opinion", "opinion_given"),
    ("recalling", "recalled"),
    ("inspecting", "repair_inspected"),
    ("repairing", "repair_ended"),
    ("repairing", "gone"),
    ("repeating", "waited"),
    ("budgeting", "budget_read"),
    ("budgeting", "gone"),
    ("inserting", "inserted"),
    ("inserting", "gone"),
    ("modifying", "modified"),
    ("noting", "failure_noted"),
    ("asking", "person_answered"),
    ("awaiting", "awaited"),
    ("ticking", "ticked"),
    ("unticking", "ticked"),
    ("committing", "committed"),
    ("recording", "recorded"),
    ("waiting", "waited"),
    ("checking", "finally_checked"),
    ("reopening", "reopened"),
    ("closing", "closing_committed"),
    ("open", "resume"),
    // The run has ended, and its state is being saved.
    ("open", "noticed"),
    ("open", "stop"),
];

/// Every phase that can be pending. In each of them the process may die or be stopped, people may
/// decide at another terminal, there may be a notice, and the command may turn out to be impossible.
const PENDING: [&str; 26] = [
    "reading",
    "attempting",
    "judging_claims",
    "verifying",
    "verifying_again",
    "verifying_first",
    "reviewing_tests",
    "asking_opinion",
    "recalling",
    "inspecting",
    "repairing",
    "repeating",
    "budgeting",
    "inserting",
    "modifying",
    "noting",
    "asking",
    "awaiting",
    "ticking",
    "unticking",
    "committing",
    "recording",
    "waiting",
    "checking",
    "reopening",
    "closing",
];
const ALWAYS: [&str; 5] = ["resume", "stop", "noticed", "decided", "broken"];

/// An attempt that is stopped reports how far it got; everything else is halted.
const NEVER_HALTED: &str = "attempting";

/// These edit a file that other programs also save; for the first six, it is the state file.
const EDITING: [&str; 16] = [
    "repairing",
    "asking",
    "attempting",
    "verifying",
    "verifying_first",
    "budgeting",
    "judging_claims",
    "inserting",
    "modifying",
    "noting",
    "ticking",
    "unticking",
    "recording",
    "checking",
    "reopening",
    "closing",
];

/// These run foreign code, which may change the plan. An attempt reports such changes itself.
const GUARDED: [&str; 8] = [
    "judging_claims",
    "verifying",
    "verifying_again",
    "verifying_first",
    "reviewing_tests",
    "asking_opinion",
    "repairing",
    "committing",
];

/// Returns every transition of the engine. Simulated runs must reach all of them, and no others.
#[must_use]
pub fn expected_transitions() -> BTreeSet<Transition> {
    let always = PENDING
        .into_iter()
        .flat_map(|pending| ALWAYS.map(|input| (pending, input)));
    let halted = PENDING
        .into_iter()
        .filter(|pending| *pending != NEVER_HALTED);
    let contended = EDITING.map(|pending| (pending, "contended"));
    let mut all = BTreeSet::from(ANSWERS);
    all.extend(always);
    all.extend(halted.map(|pending| (pending, "halted")));
    all.extend(contended);
    all.extend(GUARDED.map(|pending| (pending, "plan_reviewed")));
    all
}

/// Returns the transition that an input causes; `None` for an answer that nothing waits for.
pub(crate) fn of(state: &State, input: &Input) -> Option<Transition> {
    let phase = match input {
        Input::Start { .. } => "nothing",
        Input::SessionSeen { seq, .. } => phase_name(&state.task_of(*seq)?.phase),
        Input::PlanRead { seq, .. } if state.reading == Some(*seq) => "reading",
        // After a resumption, it arrives in whatever phase the run is in by then.
        Input::PlanReviewed { .. } => GUARDED.into_iter().find(|name| *name == pending(state))?,
        Input::ServicesChanged { .. } => return None,
        Input::Resume(_) | Input::Noticed { .. } | Input::Stop { .. } => pending(state),
        // A run that has ended waits for nothing.
        _ if state.outcome.is_some() => return None,
        Input::Decided { .. }
        | Input::Halted { .. }
        | Input::Contended { .. }
        | Input::Broken { .. } => pending(state),
        Input::FinallyChecked { .. } | Input::Reopened { .. } => {
            let phase = state.final_check.phase;
            phase.seq().filter(|seq| input.seq() == Some(*seq))?;
            final_phase_name(phase)?
        }
        Input::ClosingCommitted { seq, .. } => {
            state.closing.filter(|closing| closing == seq)?;
            "closing"
        }
        Input::Awaited { seq } => {
            state.awaiting.filter(|awaiting| awaiting == seq)?;
            "awaiting"
        }
        _ => phase_name(&state.task_of(input.seq()?)?.phase),
    };
    Some((phase, input_name(input)))
}

/// Returns the phase that is currently pending.
fn pending(state: &State) -> &'static str {
    let is_asking = |phase: &Phase| matches!(phase, Phase::Asking { .. });
    match state.pending_task() {
        Some(task) => phase_name(&task.phase),
        None if state.reading.is_some() => "reading",
        None if state.final_check.phase != FinalCheckPhase::Idle => {
            final_phase_name(state.final_check.phase).unwrap_or("open")
        }
        None if state.closing.is_some() => "closing",
        None if state.awaiting.is_some() => "awaiting",
        None if state.tasks.values().any(|task| is_asking(&task.phase)) => "asking",
        None => "open",
    }
}

fn final_phase_name(phase: FinalCheckPhase) -> Option<&'static str> {
    match phase {
        FinalCheckPhase::Idle => None,
        FinalCheckPhase::Checking { .. } => Some("checking"),
        FinalCheckPhase::Reopening { .. } => Some("reopening"),
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
        Phase::ReviewingTests { .. } => "reviewing_tests",
        Phase::AskingOpinion { .. } => "asking_opinion",
        Phase::Recalling { .. } => "recalling",
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
        Input::PlanReviewed { .. } => "plan_reviewed",
        Input::ServicesChanged { .. } => "services_changed",
        Input::SessionSeen { .. } => "session_seen",
        Input::PlanRead { .. } => "plan_read",
        Input::AttemptEnded { .. } => "attempt_ended",
        Input::Gone { .. } => "gone",
        Input::ClaimsJudged { .. } => "claims_judged",
        Input::Verified { .. } => "verified",
        Input::TestsReviewed { .. } => "tests_reviewed",
        Input::OpinionGiven { .. } => "opinion_given",
        Input::Recalled { .. } => "recalled",
        Input::RepairInspected { .. } => "repair_inspected",
        Input::RepairEnded { .. } => "repair_ended",
        Input::BudgetRead { .. } => "budget_read",
        Input::Inserted { .. } => "inserted",
        Input::Modified { .. } => "modified",
        Input::OpenFixesRead { .. } => "open_fixes_read",
        Input::FixesTicked { .. } => "fixes_ticked",
        Input::FailureNoted { .. } => "failure_noted",
        Input::PersonAnswered { .. } => "person_answered",
        Input::Decided { .. } => "decided",
        Input::Awaited { .. } => "awaited",
        Input::Ticked { .. } => "ticked",
        Input::Committed { .. } => "committed",
        Input::ClosingCommitted { .. } => "closing_committed",
        Input::Recorded { .. } => "recorded",
        Input::Waited { .. } => "waited",
        Input::FinallyChecked { .. } => "finally_checked",
        Input::Reopened { .. } => "reopened",
        Input::WithFixBudget { answer, .. } => input_name(answer),
        Input::Halted { .. } => "halted",
        Input::Contended { .. } => "contended",
        Input::Broken { .. } => "broken",
        Input::Stop { .. } => "stop",
    }
}
