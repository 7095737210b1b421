use std::fmt;

use jiff::{SignedDuration, civil};
use serde::{Deserialize, Serialize};

/// The start of the millisecond count.
const EPOCH: civil::DateTime = civil::date(1970, 1, 1).at(0, 0, 0, 0);

/// A moment, in milliseconds since 1970. Pure code receives it as an argument.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(u64);

impl Timestamp {
    /// Creates a timestamp from milliseconds since 1970.
    #[must_use]
    pub fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Returns the milliseconds since 1970.
    #[must_use]
    pub fn as_millis(self) -> u64 {
        self.0
    }

    /// Returns the moment this many milliseconds later.
    #[must_use]
    pub fn plus(self, millis: u64) -> Self {
        Self(self.0.saturating_add(millis))
    }

    /// Parses `2026-11-16`, `2026-11-16T04:45Z` and the output of [`Timestamp::iso8601`], in UTC.
    #[must_use]
    pub fn parse_utc(text: &str) -> Option<Self> {
        let text = text.trim();
        let (date, time) = text.split_once(['T', ' ']).unwrap_or((text, "00:00"));
        let time = time.strip_suffix('Z').unwrap_or(time);
        // The parser would silently drop an offset from UTC.
        let is_clock_time = |c: char| c.is_ascii_digit() || c == ':' || c == '.';
        if !time.chars().all(is_clock_time) {
            return None;
        }
        let date: civil::Date = date.parse().ok()?;
        let moment = date.to_datetime(time.parse().ok()?);
        let millis = moment.duration_since(EPOCH).as_millis();
        u64::try_from(millis).ok().map(Self)
    }

    /// Returns the milliseconds since `earlier`, or 0 if the clock went backwards.
    #[must_use]
    pub fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Formats the day in UTC: `2026-11-16`.
    #[must_use]
    pub fn utc_date(self) -> String {
        self.utc().date().to_string()
    }

    /// Formats the time of day in UTC: `04:45:00`.
    #[must_use]
    pub fn utc_time(self) -> String {
        format!("{:.0}", self.utc().time())
    }

    /// Formats the moment as ISO 8601 in UTC: `2026-11-16T04:45:00.123Z`.
    #[must_use]
    pub fn iso8601(self) -> String {
        format!("{:.3}Z", self.utc())
    }

    /// Returns date and time in UTC, capped at the end of the year 9999.
    fn utc(self) -> civil::DateTime {
        let millis = i64::try_from(self.0).unwrap_or(i64::MAX);
        EPOCH.saturating_add(SignedDuration::from_millis(millis))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ms", self.0)
    }
}

/// A duration that displays for people: `0.4s`, `12s`, `3m 05s`, `2h 03m`, `1d 02h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    millis: u64,
}

impl Span {
    /// Creates a span of this many milliseconds.
    #[must_use]
    pub fn from_millis(millis: u64) -> Self {
        Self { millis }
    }

    /// Creates the span of a remaining wait, rounded up to a whole second so that it never shows 0
    /// early.
    #[must_use]
    pub fn left(millis: u64) -> Self {
        Self::from_millis(millis.div_ceil(1000).saturating_mul(1000))
    }

    /// Creates a span without fractions of a second, so that a ticking display doesn't flicker.
    #[must_use]
    pub fn whole_seconds(millis: u64) -> Self {
        Self::from_millis(millis / 1000 * 1000)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.millis / 1000;
        let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
        match self.millis {
            0 => f.write_str("0s"),
            // A short time is never shown as zero.
            1..1_000 => write!(f, "0.{}s", (self.millis / 100).max(1)),
            1_000..60_000 => write!(f, "{seconds}s"),
            60_000..3_600_000 => write!(f, "{minutes}m {:02}s", seconds % 60),
            3_600_000..86_400_000 => write!(f, "{hours}h {:02}m", minutes % 60),
            _ => write!(f, "{days}d {:02}h", hours % 24),
        }
    }
}

/// Phrases that precede a duration.
const BEFORE_SPAN: [&str; 7] = [
    "try again in ",
    "retry in ",
    "retry after ",
    "retry-after: ",
    "reset after ",
    "resets in ",
    "available in ",
];

/// Longer durations are ignored: nobody would wait that long.
const MOST: f64 = 400.0 * 24.0 * 3600.0;

/// Returns how long a text says to wait, in milliseconds: `try again in 1h 2m`, `Suggested retry
/// after 3600s`.
#[must_use]
pub fn named_span(text: &str) -> Option<u64> {
    let lower = text.to_lowercase();
    BEFORE_SPAN.iter().find_map(|words| {
        let (_, rest) = lower.split_once(words)?;
        span(rest)
    })
}

/// Parses `3 days 2 hours`, `1h2m3.5s`, `850ms` or `30` (seconds) to milliseconds.
fn span(text: &str) -> Option<u64> {
    let mut rest = text;
    let mut seconds = None;
    while let Some((amount, unit, after)) = part(rest) {
        seconds = Some(seconds.unwrap_or(0.0) + amount * unit);
        rest = after;
    }
    let seconds = seconds.filter(|seconds| (0.0..MOST).contains(seconds))?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is within bounds"
    )]
    let millis = (seconds * 1000.0).ceil() as u64;
    Some(millis)
}

/// Parses a number and its unit (in seconds), and returns them with the rest of the text.
fn part(text: &str) -> Option<(f64, f64, &str)> {
    let text = text.trim_start_matches([' ', ',']);
    let text = text.strip_prefix("and ").unwrap_or(text);
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.');
    let end = end.unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let amount = digits.trim_end_matches('.').parse().ok()?;
    let rest = rest.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_alphabetic());
    let (unit, after) = rest.split_at(end.unwrap_or(rest.len()));
    let unit = match unit {
        "ms" => 0.001,
        "" | "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3600.0,
        "d" | "day" | "days" => 86_400.0,
        _ => return None,
    };
    Some((amount, unit, after))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_timestamp_is_formatted_as_iso_8601_in_utc() {
        let check = |millis: u64, expected: &str| {
            assert_eq!(Timestamp::from_millis(millis).iso8601(), expected);
        };
        check(0, "1970-01-01T00:00:00.000Z");
        check(951_782_400_000, "2000-02-29T00:00:00.000Z");
        check(951_868_800_000, "2000-03-01T00:00:00.000Z");
        check(4_107_542_399_999, "2100-02-28T23:59:59.999Z");
        check(4_107_542_400_000, "2100-03-01T00:00:00.000Z");
        check(1_794_804_300_123, "2026-11-16T04:45:00.123Z");
        check(253_402_300_799_999, "9999-12-31T23:59:59.999Z");
        check(u64::MAX, "9999-12-31T23:59:59.999Z");
    }

    #[test]
    fn text_that_is_not_a_moment_is_not_parsed() {
        for text in [
            "",
            "2026",
            "2026-13-01",
            "2026-02-29",
            "1969-12-31",
            "2026-11-16T",
            "2026-11-16T25:00Z",
            "2026-11-16T04:60",
            "2026-11-16T04:45:61Z",
            "24h",
            "26-11-2x",
            "2026-11-16T04:45+02:00",
            "2026-11-+1",
        ] {
            assert_eq!(Timestamp::parse_utc(text), None, "{text}");
        }
        let read = |text: &str| Timestamp::parse_utc(text).map(Timestamp::iso8601);
        let moment = |text: &str| Some(text.to_owned());
        assert_eq!(read("2026-11-16"), moment("2026-11-16T00:00:00.000Z"));
        assert_eq!(read("2024-02-29 04:45"), moment("2024-02-29T04:45:00.000Z"));
    }

    proptest! {
        #[test]
        fn a_formatted_timestamp_is_parsed_as_the_same_moment(millis in 0_u64..253_402_300_799_999) {
            let at = Timestamp::from_millis(millis);
            prop_assert_eq!(Timestamp::parse_utc(&at.iso8601()), Some(at));
        }
    }

    #[test]
    fn a_span_is_shown_with_at_most_two_units() {
        let check = |millis: u64, expected: &str| {
            assert_eq!(Span::from_millis(millis).to_string(), expected);
        };
        check(0, "0s");
        check(1, "0.1s");
        check(999, "0.9s");
        check(1_000, "1s");
        check(59_999, "59s");
        check(60_000, "1m 00s");
        check(185_000, "3m 05s");
        check(7_380_000, "2h 03m");
        check(93_600_000, "1d 02h");
        assert_eq!(Span::left(5_962).to_string(), "6s");
        assert_eq!(Span::left(5_000).to_string(), "5s");
        assert_eq!(Span::left(0).to_string(), "0s");
        assert_eq!(Span::whole_seconds(999).to_string(), "0s");
        assert_eq!(Span::whole_seconds(61_999).to_string(), "1m 01s");
    }

    #[test]
    fn a_span_to_wait_is_found_in_the_words_of_services() {
        for (text, expected) in [
            ("Please try again in 11.054s.", Some(11_054)),
            ("Retry-After: 7", Some(7_000)),
            ("retry-after: 120\n", Some(120_000)),
            ("curl: (22) 503; Retry after 5 seconds", Some(5_000)),
            ("try again in 1h2m", Some(3_720_000)),
            ("try again later", None),
            ("", None),
        ] {
            assert_eq!(named_span(text), expected, "{text}");
        }
    }
}
