//! Masks secrets in streams of text: keys of the common providers, credentials in headers and URLs,
//! private keys, and values that the caller knows to be secret.
//!
//! [`Masks`] holds what to mask; a [`Filter`] masks one stream. The table in `rules.rs` defines
//! what counts as a secret. Nothing here reads a file, a clock or the environment.
//!
//! ```
//! use regreen_redaction::Masks;
//!
//! let masks = Masks::new(["correct-horse-battery"]);
//! let masked = masks.mask("the password is correct-horse-battery");
//! assert!(!masked.contains("horse"));
//! ```

mod anchors;
mod colours;
mod env_secrets;
mod filter;
mod matching;
mod named_value;
mod rule;
mod rules;
#[cfg(test)]
mod rules_tests;
mod span;

pub use env_secrets::{env_secrets, environment_secrets};
pub use filter::{Filter, MIN_VALUE_CHARS, Masks};
