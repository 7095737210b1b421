//! Why did it fail?
//!
//! [`Scanner`] is fed while output streams and keeps what may matter; [`rank`] chooses the cause
//! from it and from everything else that is known. Both are pure. Their rules are data, in
//! `rules/`, each with texts that it must and must not match.
//!
//! ```
//! use regreen_diagnosis::{rank, scan};
//! use regreen_model::{Evidence, Source};
//!
//! let log = b"Traceback (most recent call last):\n  File \"a.py\", line 6, in <module>\n\
//!     import nothere\nModuleNotFoundError: No module named 'nothere'\n";
//! let evidence = Evidence {
//!     output: scan(log, Source::Command),
//!     ..Evidence::default()
//! };
//! let failure = rank(&evidence).expect("a failure is found");
//! assert_eq!(failure.kind.name(), "missing_python_module");
//! ```

mod agent_crash;
mod agent_startup;
mod attempt_failure;
mod attempt_report;
mod baseline;
mod cause_origin;
mod clauses;
mod closing_words;
mod concrete_suggestions;
mod contradiction;
mod excerpt;
mod explain;
mod failure_block;
mod failure_words;
mod framings;
mod harness_words;
mod last_words;
mod line;
mod line_checks;
mod line_prefix;
mod own_module;
mod own_rules;
mod place;
mod prose;
mod question;
mod rank;
mod report;
mod retraction;
mod rules;
mod scan;
mod second_opinion;
mod short_cause;
mod shortlist;
mod signal;
mod statements;
mod steps;
mod suggestions;
mod tally;
mod text;

pub use agent_startup::startup_error;
pub use attempt_failure::{
    DelegatedAttempt, SilentCheck, agent_trouble, check_failure, diagnosed, outranks_verify,
    refuted_claim, unexplained_failure,
};
pub use attempt_report::{AttemptEnd, ObservedAttempt};
pub use baseline::Baseline;
pub use cause_origin::CauseOrigin;
pub use contradiction::{CONTRADICTION, Contradiction, admission, contradiction};
pub use explain::{Explanation, evidence_of};
pub use failure_block::{has_failure_block, parse_failure};
pub use own_module::{missing_module, without_installation};
pub use own_rules::{MAX_RULE_FILE, OwnRule, OwnRules, OwnRulesError, WrongExample};
pub use place::SourcePlace;
pub use question::question;
pub use rank::{RankedLine, rank, ranked_lines, signal_name, signal_number};
pub use report::child_failure::{ChildFailure, reported_blocker};
pub use report::completion::Completion;
pub use report::{Report, ReportError};
pub use rules::{RuleSummary, built_in_rules};
pub use scan::{Scanner, scan};
pub use second_opinion::{OpinionError, is_opinion, needs_opinion, opinion, shown_output};
pub use short_cause::short_cause;
pub use signal::{Signal, modification_request, signal};
pub use suggestions::failures_page;
