//! The engine's promises, shown on single steps.
#![expect(clippy::panic, reason = "a promise that is broken ends the test")]

mod asking;
mod budgets;
mod choices;
mod decided;
mod ends;
mod final_check;
mod gone;
mod misbehaving;
mod older_versions;
mod recalling;
mod repairing;
mod script;
mod second_opinion;
mod services;
mod state_file;
mod test_review;
mod verified_first;
