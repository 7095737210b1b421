//! Every transition of the engine. Simulated runs have to reach them all, and no other.

use std::collections::BTreeSet;

use regreen_engine::sim::Transition;

/// What each phase waits for: the table in `decide/mod.rs`.
const ANSWERS: [Transition; 30] = [
    ("nothing", "start"),
    ("reading", "plan_read"),
    ("attempting", "session_seen"),
    ("attempting", "attempt_ended"),
    ("attempting", "gone"),
    ("judging_claims", "claims_judged"),
    ("verifying", "verified"),
    ("verifying_again", "verified"),
    ("verifying_first", "verified"),
    ("inspecting", "repair_inspected"),
    ("repairing", "repair_ended"),
    ("repairing", "gone"),
    ("repeating", "waited"),
    ("budgeting", "budget_read"),
    ("budgeting", "gone"),
    ("inserting", "inserted"),
    ("inserting", "gone"),
    ("modifying", "modified"),
    ("superseding", "open_fixes_read"),
    ("ticking_fixes", "fixes_ticked"),
    ("noting", "failure_noted"),
    ("asking", "person_answered"),
    ("ticking", "ticked"),
    ("unticking", "ticked"),
    ("committing", "committed"),
    ("recording", "recorded"),
    ("waiting", "waited"),
    ("open", "resume"),
    // The run has ended, and its state is being saved.
    ("open", "noticed"),
    ("open", "stop"),
];

/// Everything that can be owed. Whatever it is, the process may die or be stopped, people may
/// have to be told something, and it may turn out to be impossible.
const OWED: [&str; 21] = [
    "reading",
    "attempting",
    "judging_claims",
    "verifying",
    "verifying_again",
    "verifying_first",
    "inspecting",
    "repairing",
    "repeating",
    "budgeting",
    "inserting",
    "modifying",
    "superseding",
    "ticking_fixes",
    "noting",
    "asking",
    "ticking",
    "unticking",
    "committing",
    "recording",
    "waiting",
];
const ALWAYS: [&str; 4] = ["resume", "stop", "noticed", "broken"];

/// Of an attempt that is cut short it is told how far it came; all else is halted.
const NEVER_HALTED: &str = "attempting";

/// For these a file is edited that others save, too; before the first five it is the state.
const EDITING: [&str; 13] = [
    "repairing",
    "asking",
    "attempting",
    "verifying",
    "verifying_first",
    "judging_claims",
    "inserting",
    "modifying",
    "ticking_fixes",
    "noting",
    "ticking",
    "unticking",
    "recording",
];

fn all() -> BTreeSet<Transition> {
    let always = OWED
        .into_iter()
        .flat_map(|owed| ALWAYS.map(|input| (owed, input)));
    let halted = OWED.into_iter().filter(|owed| *owed != NEVER_HALTED);
    let contended = EDITING.map(|owed| (owed, "contended"));
    let mut all = BTreeSet::from(ANSWERS);
    all.extend(always);
    all.extend(halted.map(|owed| (owed, "halted")));
    all.extend(contended);
    all
}

/// What was never reached, and what is reached and not listed here.
pub(crate) fn differences(reached: &BTreeSet<Transition>) -> (Vec<Transition>, Vec<Transition>) {
    let all = all();
    let missed = all.difference(reached).copied().collect();
    (missed, reached.difference(&all).copied().collect())
}
