use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use super::bad_value::BadValue;
use super::time_limit::TimeLimit;

/// The word for no limit. It is needed to undo one that is set further down.
pub const OFF: &str = "off";

/// How long an attempt may show no sign of life, if there is a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IdleLimit(Option<TimeLimit>);

impl IdleLimit {
    #[must_use]
    pub fn ms(self) -> Option<u64> {
        self.0.map(TimeLimit::ms)
    }
}

impl FromStr for IdleLimit {
    type Err = BadValue;

    fn from_str(text: &str) -> Result<Self, BadValue> {
        if text.trim() == OFF {
            return Ok(Self(None));
        }
        match text.parse() {
            Ok(limit) => Ok(Self(Some(limit))),
            Err(error) => Err(BadValue {
                way_out: format!("{}; `{OFF}` means no limit", error.way_out),
                ..error
            }),
        }
    }
}

impl fmt::Display for IdleLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str(OFF),
            Some(limit) => limit.fmt(f),
        }
    }
}

impl Serialize for IdleLimit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn off_is_no_limit_and_zero_says_so() {
        assert_eq!("off".parse::<IdleLimit>().unwrap().ms(), None);
        assert_eq!("90s".parse::<IdleLimit>().unwrap().ms(), Some(90_000));
        let zero = "0s".parse::<IdleLimit>().unwrap_err();
        assert!(zero.way_out.ends_with("`off` means no limit"), "{zero}");
    }
}
