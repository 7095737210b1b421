//! Repairs through the public interface: those that are allowed, and those that must never happen.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

mod attacks;
mod heals;
mod own_words;
mod test_workspace;
