//! Asking how things failed.

use std::str::FromStr;

use clap::Args;
use regreen_model::{FailureKind, Timestamp};

use crate::config::{Count, TimeSpan};

#[derive(Debug, Args)]
pub struct Failures {
    /// Only those since then: 24h, 30m, 2026-11-01, 2026-11-01T08:30Z [default: all]
    #[arg(long, value_name = "TIME|DATE")]
    pub since: Option<Since>,
    /// Only those of a kind: missing_file
    #[arg(long, value_name = "KIND", value_parser = kind)]
    pub kind: Option<FailureKind>,
    /// Only the last so many
    #[arg(long, value_name = "N")]
    pub limit: Option<Count>,
    /// As JSON, for scripts
    #[arg(long)]
    pub json: bool,
}

/// A moment, or how long ago one was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    Ago(TimeSpan),
    At(Timestamp),
}

impl Since {
    #[must_use]
    pub fn moment(self, now: Timestamp) -> Timestamp {
        match self {
            Self::Ago(span) => Timestamp::from_millis(now.as_millis().saturating_sub(span.ms())),
            Self::At(at) => at,
        }
    }
}

impl FromStr for Since {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(at) = Timestamp::parse_utc(text) {
            return Ok(Self::At(at));
        }
        let span = text.parse().map(Self::Ago);
        span.map_err(|_| {
            format!("`{text}` is no time; write 24h, 30m, 2026-11-01 or 2026-11-01T08:30Z")
        })
    }
}

fn kind(name: &str) -> Result<FailureKind, String> {
    FailureKind::from_name(name).ok_or_else(|| {
        format!("there is no kind of failure `{name}`; `regreen failures` shows those there were, as missing_file")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_a_date_or_a_span_before_now() {
        let now = Timestamp::from_millis(10_000_000);
        let moment = |text: &str| text.parse::<Since>().unwrap().moment(now).as_millis();
        assert_eq!(moment("1h"), 10_000_000 - 3_600_000);
        assert_eq!(moment("365d"), 0);
        assert_eq!(moment("1970-01-02"), 86_400_000);
        assert_eq!(
            "yesterday".parse::<Since>().unwrap_err(),
            "`yesterday` is no time; write 24h, 30m, 2026-11-01 or 2026-11-01T08:30Z"
        );
    }
}
