//! What the engine promises, shown on single turns.
#![expect(clippy::panic, reason = "a promise that is broken ends the test")]

mod asking;
mod budgets;
mod choices;
mod ends;
mod final_check;
mod gone;
mod misbehaving;
mod older_versions;
mod script;
mod state_file;
