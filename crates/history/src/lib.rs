//! What regreen learnt from the failures of all workspaces of a user.
//!
//! A [`Digest`] says what one run or delegation shows. The [`History`] keeps digests in one SQLite
//! file of the user, where failures with the same [`Fingerprint`] are one cluster, and
//! [`Statistics`] sums them up. Everything but the file is pure; time is always an argument.
//!
//! ```
//! use regreen_history::{Filter, History};
//!
//! let folder = tempfile::tempdir()?;
//! let history = History::open(&folder.path().join("history.db"), 0)?;
//! let found = history.statistics(&Filter::default(), 1_000)?;
//! assert_eq!(found.failures.count, 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod alert;
mod digest;
mod file;
mod fingerprint;
mod forecast;
mod recall;
mod response;
mod statistics;

pub use alert::{Alert, Thresholds};
pub use digest::{
    Digest, DigestSource, FailureDigest, FirstAttempt, TaskDigest, Workspace, of_delegation, of_run,
};
pub use file::{
    ExportError, Fed, Filter, ForgetScope, History, HistoryError, ImportError, Retention,
};
pub use fingerprint::{Fingerprint, template};
pub use forecast::{
    Forecast, ForecastFigures, LimitFigures, Risk, RiskFactor, RiskFigures, RiskReason,
    TaskIdentity,
};
pub use recall::Lookup;
pub use response::Response;
pub use statistics::{
    AgentFigures, BlockerFigures, FailureFigures, Place, Rate, RecallFigures, ResponseFigures,
    ShareFigures, Statistics, TaskFigures,
};
