//! `regreen run` as a whole, with an agent that does what each test tells it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod agents;
mod asking;
mod attacks_on_the_plan;
mod attacks_on_the_settings;
mod budgets;
mod causes;
mod commits;
mod endings;
mod false_greens;
mod healing;
mod healing_dialects;
mod healing_examples;
mod healing_people;
mod limits;
mod misbehaving;
mod modification_requests;
mod older_version;
mod plan;
mod plans_of_all_kinds;
mod preflight;
mod prompts;
mod questions;
mod repairs;
mod secrets;
mod services;
mod signals;
mod tampering;
mod trouble;
mod unattended;
mod users_work;
mod verifying;
mod work_that_passed;
