//! Repairs through the public interface: what is healed, and what is never done.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

mod attacks;
mod heals;
mod test_workspace;
