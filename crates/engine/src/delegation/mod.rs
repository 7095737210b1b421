//! Delegation: one child agent on one prompt, until it is done or nothing more can be done.
//!
//! Nothing is kept but what happened: [`next`] says what follows from it.

mod happened;
mod next;
mod step;
#[cfg(test)]
mod tests;

pub use happened::{Attempted, Happened};
pub use next::next;
pub use step::{End, Order, Step, Terms};
