//! A duration as people write it.
//!
//! Parsed by hand, because every mistake has its own message, and because existing crates accept
//! other forms (`5 minutes`, `-5s`) or no fractions (`0.5s`).

use std::fmt;
use std::str::FromStr;

use regreen_model::RunConfig;
use serde_json::{Value, json};

use super::key::Owner;
use super::numbers::decimal;
use super::read::{ConfigFault, ConfigLine};
use super::value::{BadValue, SettingValue};

/// A duration in milliseconds: `250ms`, `0.5s`, `30m`, `1h30m`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimeSpan {
    ms: u64,
}

/// The units from large to small, in milliseconds.
const UNITS: [(&str, u64); 5] = [
    ("d", 24 * 60 * 60 * 1000),
    ("h", 60 * 60 * 1000),
    ("m", 60 * 1000),
    ("s", 1000),
    ("ms", 1),
];

/// A longer time must be a typo, and sums of a few such times still fit.
const MAX_MS: u64 = 365 * 24 * 60 * 60 * 1000;

/// More digits are finer than any clock.
const MAX_FRACTION_DIGITS: usize = 9;

const HINT: &str = "write a number with a unit: 250ms, 0.5s, 30m, 1h30m";

impl TimeSpan {
    /// The format of a time, for the schema.
    const PATTERN: &str = r"^\s*([0-9]+(\.[0-9]{1,9})?(d|h|ms|m|s)\s*)+$";

    pub const fn from_ms(ms: u64) -> Self {
        Self { ms }
    }

    pub const fn ms(self) -> u64 {
        self.ms
    }
}

impl FromStr for TimeSpan {
    type Err = BadValue;

    fn from_str(text: &str) -> Result<Self, BadValue> {
        let mut rest = text.trim();
        let mut total = 0_u128;
        let mut smallest = u64::MAX;
        if rest.is_empty() {
            return Err(BadValue::new("missing time", HINT));
        }
        while !rest.is_empty() {
            let (ms, unit_ms, after) = read_part(text, rest)?;
            if unit_ms >= smallest {
                return Err(BadValue::new(
                    format!("the units in `{text}` are out of order"),
                    "use each unit once, largest first: 1h30m",
                ));
            }
            smallest = unit_ms;
            total = total.saturating_add(ms);
            rest = after.trim_start();
        }
        match u64::try_from(total) {
            Ok(ms) if ms <= MAX_MS => Ok(Self { ms }),
            _ => Err(BadValue::new(
                format!("`{text}` is more than a year"),
                "use at most 365d",
            )),
        }
    }
}

/// Parses the first number and its unit. Returns both in milliseconds, and the text after them.
fn read_part<'t>(text: &str, rest: &'t str) -> Result<(u128, u64, &'t str), BadValue> {
    let (number, rest) = split_where(rest, |c| !c.is_ascii_digit() && c != '.');
    let (unit, rest) = split_where(rest, |c| !c.is_alphabetic());
    let no_time = || BadValue::new(format!("invalid time `{text}`"), HINT);
    decimal(number, 1, MAX_FRACTION_DIGITS).ok_or_else(no_time)?;
    if unit.is_empty() {
        let is_alone = rest.is_empty() || rest.starts_with(char::is_whitespace);
        let no_unit = || BadValue::new(format!("`{text}` has no unit"), HINT);
        return Err(if is_alone { no_unit() } else { no_time() });
    }
    let Some((_, unit_ms)) = UNITS.iter().find(|(name, _)| *name == unit) else {
        return Err(BadValue::new(
            format!("unknown unit `{unit}` in `{text}`"),
            "use ms, s, m, h or d: 250ms, 0.5s, 30m, 1h30m",
        ));
    };
    let ms = decimal(number, *unit_ms, MAX_FRACTION_DIGITS).ok_or_else(no_time)?;
    Ok((ms, *unit_ms, rest))
}

fn split_where(text: &str, is_end: impl Fn(char) -> bool) -> (&str, &str) {
    let at = text.find(is_end).unwrap_or(text.len());
    text.split_at(at)
}

impl fmt::Display for TimeSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.ms < 1000 {
            return match self.ms {
                0 => f.write_str("0s"),
                ms => write!(f, "{ms}ms"),
            };
        }
        let mut rest = self.ms;
        for (name, unit) in &UNITS[..3] {
            if rest >= *unit {
                write!(f, "{}{name}", rest / unit)?;
                rest %= unit;
            }
        }
        match (rest / 1000, rest % 1000) {
            (0, 0) => Ok(()),
            (seconds, 0) => write!(f, "{seconds}s"),
            (seconds, ms) => {
                let fraction = format!("{ms:03}");
                write!(f, "{seconds}.{}s", fraction.trim_end_matches('0'))
            }
        }
    }
}

impl SettingValue for TimeSpan {
    fn read(line: &ConfigLine<'_>) -> Result<Self, ConfigFault> {
        line.parsed_with_unit()
    }

    fn schema(_: Owner) -> Value {
        json!({ "type": "string", "pattern": Self::PATTERN })
    }
}

/// How long something may take. Never zero, which would end everything at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLimit(TimeSpan);

impl TimeLimit {
    pub fn at_least_1_ms(ms: u64) -> Self {
        Self(TimeSpan::from_ms(ms.max(1)))
    }

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
            format!("`{text}` is too short"),
            "use a longer time, or leave it out for the default",
        ))
    }
}

impl fmt::Display for TimeLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl SettingValue for TimeLimit {
    fn read(line: &ConfigLine<'_>) -> Result<Self, ConfigFault> {
        line.parsed_with_unit()
    }

    fn schema(owner: Owner) -> Value {
        TimeSpan::schema(owner)
    }
}

/// The word for a time limit that is suggested for each task.
const AUTO: &str = "auto";

/// How long an attempt may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptLimit {
    /// As long as earlier attempts at such tasks suggest, or else the default.
    Auto,
    /// A time of the user's.
    Of(TimeLimit),
}

impl AttemptLimit {
    /// Returns the limit of tasks for which none is suggested.
    pub fn ms(self) -> u64 {
        match self {
            Self::Auto => RunConfig::default().attempt_timeout_ms,
            Self::Of(limit) => limit.ms(),
        }
    }
}

impl FromStr for AttemptLimit {
    type Err = BadValue;

    fn from_str(text: &str) -> Result<Self, BadValue> {
        if text.trim() == AUTO {
            return Ok(Self::Auto);
        }
        text.parse().map(Self::Of)
    }
}

impl fmt::Display for AttemptLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str(AUTO),
            Self::Of(limit) => limit.fmt(f),
        }
    }
}

impl SettingValue for AttemptLimit {
    fn read(line: &ConfigLine<'_>) -> Result<Self, ConfigFault> {
        line.parsed_with_unit()
    }

    fn schema(owner: Owner) -> Value {
        json!({ "anyOf": [{ "const": AUTO }, TimeLimit::schema(owner)] })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn times_are_read_to_the_millisecond() {
        for (text, ms) in [
            ("2s", 2_000),
            ("0.5s", 500),
            ("30m", 1_800_000),
            ("1h30m", 5_400_000),
            ("1h 30m", 5_400_000),
            (" 250ms ", 250),
            ("1.5h", 5_400_000),
            ("1d", 86_400_000),
            ("0.001s", 1),
            ("0.1m", 6_000),
            ("0s", 0),
            ("0.0009s", 0),
            ("2m0.25s", 120_250),
            ("365d", MAX_MS),
        ] {
            assert_eq!(text.parse(), Ok(TimeSpan::from_ms(ms)), "{text}");
        }
    }

    #[test]
    fn a_bad_time_is_refused_with_the_reason() {
        let problem = |text: &str| text.parse::<TimeSpan>().unwrap_err().problem;
        for (text, why) in [
            ("", "missing time"),
            ("  ", "missing time"),
            ("30", "`30` has no unit"),
            ("1h 30", "`1h 30` has no unit"),
            ("soon", "invalid time `soon`"),
            ("-5s", "invalid time `-5s`"),
            (".5s", "invalid time `.5s`"),
            ("5.s", "invalid time `5.s`"),
            ("1.2.3s", "invalid time `1.2.3s`"),
            ("1,5s", "invalid time `1,5s`"),
            ("5 s", "`5 s` has no unit"),
            ("0.0000000001s", "invalid time `0.0000000001s`"),
            ("5min", "unknown unit `min` in `5min`"),
            ("5S", "unknown unit `S` in `5S`"),
            ("30m1h", "the units in `30m1h` are out of order"),
            ("1m1m", "the units in `1m1m` are out of order"),
            ("366d", "`366d` is more than a year"),
            (
                "99999999999999999999999d",
                "`99999999999999999999999d` is more than a year",
            ),
        ] {
            assert_eq!(problem(text), why);
        }
    }

    #[test]
    fn times_are_shown_as_people_write_them() {
        for text in ["0s", "250ms", "1.5s", "30m", "1h30m", "1d", "1m0.25s", "6h"] {
            assert_eq!(text.parse::<TimeSpan>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_limit_of_zero_is_refused_with_a_hint() {
        assert_eq!("2s".parse::<TimeLimit>().map(TimeLimit::ms), Ok(2000));
        assert_eq!(" auto".parse(), Ok(AttemptLimit::Auto));
        for text in ["0s", "0h0m", "0.0001s"] {
            assert_eq!(
                text.parse::<TimeLimit>().unwrap_err().to_string(),
                format!(
                    "`{text}` is too short; use a longer time, or leave it out for the default"
                )
            );
        }
    }

    proptest! {
        #[test]
        fn a_time_that_is_shown_reads_as_the_same(ms in 0..=MAX_MS) {
            let span = TimeSpan::from_ms(ms);
            prop_assert_eq!(span.to_string().parse(), Ok(span));
        }

        #[test]
        fn the_schema_accepts_every_text_that_is_a_time(text in r"[0-9a-z.\- ]{0,12}|\PC{0,12}") {
            let pattern = regex::Regex::new(TimeSpan::PATTERN).unwrap();
            if text.parse::<TimeSpan>().is_ok() {
                prop_assert!(pattern.is_match(&text), "{text}");
            }
        }
    }
}
