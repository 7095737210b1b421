//! A length of time as people write it.
//!
//! Written by hand: the usual crate for it (humantime) knows no fractions (`0.5s`), others
//! bring a calendar or round through floating point. Here every time is whole milliseconds,
//! and each mistake has its own message.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use super::bad_value::BadValue;

/// A length of time, to the millisecond: `250ms`, `0.5s`, `30m`, `1h30m`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimeSpan {
    ms: u64,
}

/// From large to small, with the milliseconds in each.
const UNITS: [(&str, u64); 5] = [
    ("d", 24 * 60 * 60 * 1000),
    ("h", 60 * 60 * 1000),
    ("m", 60 * 1000),
    ("s", 1000),
    ("ms", 1),
];

/// Whoever asks for more has mistyped; and sums of a few such times still fit.
const LONGEST_MS: u64 = 365 * 24 * 60 * 60 * 1000;

/// More digits than this say nothing that a clock could tell.
const MAX_FRACTION_DIGITS: usize = 9;

const HOW_TO_WRITE: &str = "write it with its unit: 250ms, 0.5s, 30m, 1h30m";

impl TimeSpan {
    #[must_use]
    pub const fn from_ms(ms: u64) -> Self {
        Self { ms }
    }

    #[must_use]
    pub const fn ms(self) -> u64 {
        self.ms
    }

    /// What a schema can say about the form.
    pub const PATTERN: &str = r"^\s*([0-9]+(\.[0-9]{1,9})?(d|h|ms|m|s)\s*)+$";
}

/// One number and its unit.
struct Part {
    /// In milliseconds, rounded down.
    ms: u128,
    unit_ms: u64,
}

impl FromStr for TimeSpan {
    type Err = BadValue;

    fn from_str(text: &str) -> Result<Self, BadValue> {
        let mut rest = text.trim();
        let mut total = 0_u128;
        let mut smallest = u64::MAX;
        if rest.is_empty() {
            return Err(BadValue::new("no time is given", HOW_TO_WRITE));
        }
        while !rest.is_empty() {
            let (part, after) = read_part(text, rest)?;
            if part.unit_ms >= smallest {
                return Err(out_of_order(text));
            }
            smallest = part.unit_ms;
            total = total.saturating_add(part.ms);
            rest = after.trim_start();
        }
        match u64::try_from(total) {
            Ok(ms) if ms <= LONGEST_MS => Ok(Self { ms }),
            _ => Err(BadValue::new(
                format!("`{text}` is more than a year"),
                "give at most 365d",
            )),
        }
    }
}

/// The first number with its unit, and what follows.
fn read_part<'t>(text: &str, rest: &'t str) -> Result<(Part, &'t str), BadValue> {
    let (number, rest) = split_where(rest, |c| !c.is_ascii_digit() && c != '.');
    let (unit, rest) = split_where(rest, |c| !c.is_alphabetic());
    let no_time = || BadValue::new(format!("`{text}` is no time"), HOW_TO_WRITE);
    let (whole, fraction) = digits(number).ok_or_else(no_time)?;
    if unit.is_empty() {
        return Err(
            if rest.is_empty() || rest.starts_with(char::is_whitespace) {
                BadValue::new(format!("`{text}` has no unit"), HOW_TO_WRITE)
            } else {
                no_time()
            },
        );
    }
    let unit_ms = unit_ms(unit).ok_or_else(|| unknown_unit(text, unit))?;
    let ms = in_ms(whole, fraction, unit_ms).ok_or_else(no_time)?;
    Ok((Part { ms, unit_ms }, rest))
}

fn split_where(text: &str, is_end: impl Fn(char) -> bool) -> (&str, &str) {
    let at = text.find(is_end).unwrap_or(text.len());
    text.split_at(at)
}

/// The digits before and after the point; `None` if it is no such number.
fn digits(number: &str) -> Option<(&str, &str)> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let is_number = |digits: &str| !digits.is_empty() && !digits.contains('.');
    let fits = is_number(whole) && is_number(fraction) && fraction.len() <= MAX_FRACTION_DIGITS;
    fits.then_some((whole, fraction))
}

fn in_ms(whole: &str, fraction: &str, unit_ms: u64) -> Option<u128> {
    let unit = u128::from(unit_ms);
    // Numbers too large to hold are too large to mean.
    let whole = whole
        .parse::<u64>()
        .map_or(u128::from(u64::MAX), u128::from);
    let scale = 10_u128.pow(u32::try_from(fraction.len()).ok()?);
    let part = fraction.parse::<u128>().ok()? * unit / scale;
    Some(whole * unit + part)
}

fn unit_ms(name: &str) -> Option<u64> {
    let (_, ms) = UNITS.iter().find(|(unit, _)| *unit == name)?;
    Some(*ms)
}

fn unknown_unit(text: &str, unit: &str) -> BadValue {
    BadValue::new(
        format!("`{unit}` in `{text}` is no unit of time"),
        "units are ms, s, m, h and d: 250ms, 0.5s, 30m, 1h30m",
    )
}

fn out_of_order(text: &str) -> BadValue {
    BadValue::new(
        format!("the units of `{text}` are not in order"),
        "name each unit once, the largest first: 1h30m",
    )
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

impl Serialize for TimeSpan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
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
            ("365d", LONGEST_MS),
        ] {
            assert_eq!(text.parse(), Ok(TimeSpan::from_ms(ms)), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_told_why() {
        let problem = |text: &str| text.parse::<TimeSpan>().unwrap_err().problem;
        for (text, why) in [
            ("", "no time is given"),
            ("  ", "no time is given"),
            ("30", "`30` has no unit"),
            ("1h 30", "`1h 30` has no unit"),
            ("soon", "`soon` is no time"),
            ("-5s", "`-5s` is no time"),
            (".5s", "`.5s` is no time"),
            ("5.s", "`5.s` is no time"),
            ("1.2.3s", "`1.2.3s` is no time"),
            ("1,5s", "`1,5s` is no time"),
            ("5 s", "`5 s` has no unit"),
            ("0.0000000001s", "`0.0000000001s` is no time"),
            ("5min", "`min` in `5min` is no unit of time"),
            ("5S", "`S` in `5S` is no unit of time"),
            ("30m1h", "the units of `30m1h` are not in order"),
            ("1m1m", "the units of `1m1m` are not in order"),
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

    proptest! {
        #[test]
        fn what_is_shown_reads_as_the_same_time(ms in 0..=LONGEST_MS) {
            let span = TimeSpan::from_ms(ms);
            prop_assert_eq!(span.to_string().parse(), Ok(span));
        }

        #[test]
        fn no_text_breaks_the_reader_and_a_schema_takes_what_it_takes(text in r"[0-9a-z.\- ]{0,12}|\PC{0,12}") {
            let pattern = regex::Regex::new(TimeSpan::PATTERN).unwrap();
            if text.parse::<TimeSpan>().is_ok() {
                prop_assert!(pattern.is_match(&text), "{text}");
            }
        }
    }
}
