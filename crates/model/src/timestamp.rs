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

    proptest! {
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
