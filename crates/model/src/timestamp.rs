use std::fmt;

use serde::{Deserialize, Serialize};

const MILLIS_PER_DAY: u64 = 24 * 60 * 60 * 1000;

/// A moment, in milliseconds since 1970. Handed in as an argument wherever it matters.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(u64);

impl Timestamp {
    #[must_use]
    pub fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    #[must_use]
    pub fn as_millis(self) -> u64 {
        self.0
    }

    #[must_use]
    pub fn plus(self, millis: u64) -> Self {
        Self(self.0.saturating_add(millis))
    }

    /// Reads `2026-11-16`, `2026-11-16T04:45Z` and what [`Timestamp::iso8601`] gives: in UTC.
    #[must_use]
    pub fn parse_utc(text: &str) -> Option<Self> {
        let (date, time) = match text.trim().split_once(['T', ' ']) {
            Some((date, time)) => (date, time.strip_suffix('Z').unwrap_or(time)),
            None => (text.trim(), "00:00"),
        };
        let mut parts = date.splitn(3, '-');
        let (year, month, day) = (number(parts.next()?)?, parts.next()?, parts.next()?);
        let days = days_since_1970(year, number(month)?, number(day)?)?;
        let millis = millis_of_day(time)?;
        Some(Self(days * MILLIS_PER_DAY + millis))
    }

    /// Milliseconds since `earlier`; 0 if a clock went backwards.
    #[must_use]
    pub fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// `2026-11-16`, in UTC.
    #[must_use]
    pub fn utc_date(self) -> String {
        let (year, month, day) = civil_date(self.0 / MILLIS_PER_DAY);
        format!("{year:04}-{month:02}-{day:02}")
    }

    /// `04:45:00`, in UTC.
    #[must_use]
    pub fn utc_time(self) -> String {
        let seconds = self.0 % MILLIS_PER_DAY / 1000;
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
        format!("{hours:02}:{minutes:02}:{:02}", seconds % 60)
    }

    /// `2026-11-16T04:45:00.123Z`: ISO 8601, in UTC.
    #[must_use]
    pub fn iso8601(self) -> String {
        let (date, time) = (self.utc_date(), self.utc_time());
        format!("{date}T{time}.{:03}Z", self.0 % 1000)
    }
}

/// Year, month and day of a number of days since 1970. The years are taken to begin in
/// March, so that the day that some years have more comes last.
fn civil_date(days: u64) -> (u64, u64, u64) {
    const DAYS_PER_ERA: u64 = 146_097;
    const YEARS_PER_ERA: u64 = 400;
    // From 0000-03-01, where an era of 400 years begins, to 1970-01-01.
    const DAYS_BEFORE_1970: u64 = 719_468;
    let days = days + DAYS_BEFORE_1970;
    let day_of_era = days % DAYS_PER_ERA;
    let leap_days = day_of_era / 1_460 - day_of_era / 36_524 + day_of_era / 146_096;
    let year_of_era = (day_of_era - leap_days) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // Five months from March on have 153 days, and again from August on.
    let months = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * months + 2) / 5 + 1;
    let month = if months < 10 { months + 3 } else { months - 9 };
    let year = days / DAYS_PER_ERA * YEARS_PER_ERA + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

/// The day of the calendar; `None` if it has no such day, or none after 1970.
fn days_since_1970(year: u64, month: u64, day: u64) -> Option<u64> {
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) {
        return None;
    }
    // No day of the year is further than that from where an even calendar would have it.
    let first = (year - 1970) * 365 + (month - 1) * 28;
    let is_it = |days: &u64| civil_date(*days) == (year, month, day);
    (first..first + 2_100).find(is_it)
}

/// `04:45`, `04:45:00` or `04:45:00.123`.
fn millis_of_day(time: &str) -> Option<u64> {
    let mut parts = time.splitn(3, ':');
    let (hours, minutes) = (number(parts.next()?)?, number(parts.next()?)?);
    let (seconds, millis) = match parts.next().unwrap_or("0").split_once('.') {
        Some((seconds, millis)) if millis.len() == 3 => (number(seconds)?, number(millis)?),
        Some(_) => return None,
        None => (number(time.splitn(3, ':').nth(2).unwrap_or("0"))?, 0),
    };
    let fits = hours < 24 && minutes < 60 && seconds < 60;
    fits.then_some(((hours * 60 + minutes) * 60 + seconds) * 1000 + millis)
}

fn number(digits: &str) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().ok())?
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ms", self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(millis: u64, expected: &str) {
        assert_eq!(Timestamp::from_millis(millis).iso8601(), expected);
    }

    #[test]
    fn a_moment_reads_as_iso_8601_in_utc() {
        check(0, "1970-01-01T00:00:00.000Z");
        check(951_782_400_000, "2000-02-29T00:00:00.000Z");
        check(951_868_800_000, "2000-03-01T00:00:00.000Z");
        check(4_107_542_399_999, "2100-02-28T23:59:59.999Z");
        check(4_107_542_400_000, "2100-03-01T00:00:00.000Z");
        check(1_794_804_300_123, "2026-11-16T04:45:00.123Z");
        check(253_402_300_799_999, "9999-12-31T23:59:59.999Z");
        check(u64::MAX, "584556019-04-03T14:25:51.615Z");
    }

    #[test]
    fn what_is_no_moment_is_not_read() {
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
        fn what_is_told_is_read_as_the_same_moment(millis in 0_u64..253_402_300_799_999) {
            let at = Timestamp::from_millis(millis);
            prop_assert_eq!(Timestamp::parse_utc(&at.iso8601()), Some(at));
        }

        #[test]
        fn the_day_after_is_the_next_in_the_calendar(day in 0_u64..3_000_000) {
            let (before, after) = (civil_date(day), civil_date(day + 1));
            let (year, month, day) = before;
            let is_next = after == (year, month, day + 1)
                || after == (year, month + 1, 1) && day >= 28
                || after == (year + 1, 1, 1) && (month, day) == (12, 31);
            prop_assert!(is_next, "{before:?} {after:?}");
        }
    }
}
