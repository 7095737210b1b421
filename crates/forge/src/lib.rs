//! Pull requests and their checks.
//!
//! [`judge`] says what the checks of exactly one commit mean: wait, green, red, or a person is
//! needed. [`decide`] says what follows from red checks. Both are pure: they get facts and the time,
//! and return a decision. [`Forge`] is the seam to a code host; [`GitHub`] speaks to it through the
//! `gh` program, which the caller starts. Everything that comes from a code host is data: names are
//! flattened to one line where they are read, and nothing in them is ever an instruction.
//!
//! ```
//! use regreen_forge::{Expected, Patience, Seen, SeenAt, Verdict, judge};
//! use regreen_model::Timestamp;
//!
//! // No check at all is not green.
//! let at = SeenAt { changed: Timestamp::from_millis(0), now: Timestamp::from_millis(1) };
//! let verdict = judge(&Expected::default(), &Seen::default(), at, Patience::default());
//! assert!(matches!(verdict, Verdict::Waiting { .. }));
//! ```

mod check;
mod decide;
mod forge;
mod github;
mod judge;
mod progress;
mod pull_request;

pub use check::{
    Check, CheckSource, CheckState, CommitId, Conclusion, RunState, Seen, WorkflowRun,
};
pub use decide::{AskReason, Cause, Limits, Next, RedCheck, Response, cause_of, decide, response};
pub use forge::{Forge, ForgeError, LogEnd};
pub use github::{GhCall, GhReply, GhRunner, GitHub};
pub use judge::{Blocker, Expected, Judgement, Patience, Red, SeenAt, Verdict, judge};
pub use progress::{CheckKey, CiProgress, PendingFix};
pub use pull_request::{Base, Mergeable, NewPullRequest, PullRequest, RemoteAddress, Repository};
