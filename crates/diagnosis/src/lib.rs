//! Why did it fail?
//!
//! [`Scanner`] is fed while output streams and keeps what may matter; [`rank`] chooses the
//! cause from it and from what else is known. Both are pure. The rules they follow are data,
//! in `rules/`, each with the texts it must and must not match.

mod ansi;
mod ascii_classes;
mod attempt_failure;
mod attempt_report;
mod cause_origin;
mod child_failure;
mod completion;
mod contradiction;
mod decoration;
mod derived;
mod described;
mod explain;
mod failure_block;
mod failures_page;
mod fingerprint;
mod lazy_regex;
mod message;
mod modification_request;
mod mood;
mod names;
mod one_line;
mod prefilter;
mod prose;
mod provider;
mod rank;
mod repair_template;
mod report;
mod role;
mod rule;
mod rule_book;
#[cfg(test)]
mod rule_reach;
#[cfg(test)]
mod rule_tests;
mod scan;
mod score;
mod shortlist;
mod signal;
mod suggestions;
mod template;

pub use attempt_failure::{DelegatedAttempt, agent_trouble, task_failure, unexplained_failure};
pub use attempt_report::{AttemptEnd, ObservedAttempt};
pub use cause_origin::CauseOrigin;
pub use child_failure::ChildFailure;
pub use completion::Completion;
pub use contradiction::{CONTRADICTION, Contradiction, contradiction};
pub use explain::{Explanation, evidence_of};
pub use failure_block::{has_failure_block, parse_failure};
pub use failures_page::failures_page;
pub use modification_request::modification_request;
pub use rank::{rank, signal_number};
pub use report::{Report, ReportError};
pub use scan::{Scanner, scan};
pub use signal::{Signal, signal};
