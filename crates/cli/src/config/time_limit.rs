use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use super::bad_value::BadValue;
use super::time_span::TimeSpan;

/// How long something may take. Never zero: that would end everything at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct TimeLimit(TimeSpan);

impl TimeLimit {
    #[must_use]
    pub fn at_least_1_ms(ms: u64) -> Self {
        Self(TimeSpan::from_ms(ms.max(1)))
    }

    #[must_use]
    pub const fn ms(self) -> u64 {
        self.0.ms()
    }
}

impl FromStr for TimeLimit {
    type Err = BadValue;

    fn from_str(text: &str) -> Result<Self, BadValue> {
        let span: TimeSpan = text.parse()?;
        if span.ms() > 0 {
            return Ok(Self(span));
        }
        Err(BadValue::new(
            format!("`{text}` would end everything at once"),
            "give a longer time, or leave it out for the default",
        ))
    }
}

impl fmt::Display for TimeLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_of_nothing_is_refused_with_the_way_out() {
        assert_eq!("2s".parse::<TimeLimit>().map(TimeLimit::ms), Ok(2000));
        for text in ["0s", "0h0m", "0.0001s"] {
            assert_eq!(
                text.parse::<TimeLimit>().unwrap_err().to_string(),
                format!(
                    "`{text}` would end everything at once; give a longer time, or leave it out for the default"
                )
            );
        }
    }
}
