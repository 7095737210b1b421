use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use super::bad_value::BadValue;

/// The word for no limit. It is needed to undo one that is set further down.
pub const OFF: &str = "off";

/// A limit, if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrOff<T>(Option<T>);

impl<T> OrOff<T> {
    pub fn limit(self) -> Option<T> {
        self.0
    }
}

impl<T> Default for OrOff<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: FromStr<Err = BadValue>> FromStr for OrOff<T> {
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

impl<T: fmt::Display> fmt::Display for OrOff<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            None => f.write_str(OFF),
            Some(limit) => limit.fmt(f),
        }
    }
}

impl<T: Serialize> Serialize for OrOff<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            None => serializer.serialize_str(OFF),
            Some(limit) => limit.serialize(serializer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::TimeLimit;

    #[test]
    fn off_is_no_limit_and_zero_says_so() {
        let ms = |text: &str| {
            let limit = text.parse::<OrOff<TimeLimit>>()?.limit();
            Ok::<_, BadValue>(limit.map(TimeLimit::ms))
        };
        assert_eq!(ms("off"), Ok(None));
        assert_eq!(ms("90s"), Ok(Some(90_000)));
        let zero = ms("0s").unwrap_err();
        assert!(zero.way_out.ends_with("`off` means no limit"), "{zero}");
    }
}
