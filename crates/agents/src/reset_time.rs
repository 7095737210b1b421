//! When a limit is over, in the words of whoever set it.

use regreen_model::{ResetTime, Timestamp, named_span};

use crate::clock_time;

/// The time that an error names: `try again in 1h 2m`, `Suggested retry after 3600s`, seconds
/// since 1970 behind a bar, `resets 4pm (Europe/Berlin)`, `resets at 2026-11-17T04:00:00Z`. A
/// time of day that names no place is none.
pub(crate) fn reset_in(text: &str) -> Option<ResetTime> {
    named_span(text)
        .map(ResetTime::After)
        .or_else(|| moment(text).map(ResetTime::At))
        .or_else(|| clock_time::clock_in(text).map(ResetTime::Clock))
        .or_else(|| clock_time::moment_in(text).map(ResetTime::At))
}

/// The header `Retry-After`: seconds, or a date.
pub(crate) fn retry_after(header: &str) -> Option<ResetTime> {
    let seconds = header.trim().parse::<u64>().ok();
    let after = seconds.and_then(|seconds| seconds.checked_mul(1000));
    let at = || clock_time::http_date(header).map(ResetTime::At);
    after.map(ResetTime::After).or_else(at)
}

/// When that is. Nothing for a place that nobody knows.
#[must_use]
pub fn reset_moment(resets: &ResetTime, now: Timestamp) -> Option<Timestamp> {
    match resets {
        ResetTime::At(at) => Some(Timestamp::from_millis(u64::try_from(*at).unwrap_or(0))),
        ResetTime::After(millis) => Some(now.plus(*millis)),
        ResetTime::Clock(clock) => clock_time::next(clock, now),
    }
}

/// Seconds since 1970, as in `usage limit reached|1794900000`.
fn moment(text: &str) -> Option<i64> {
    let (_, rest) = text.rsplit_once('|')?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    let seconds: i64 = digits.parse().ok()?;
    (digits.len() == 10).then_some(seconds * 1000)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_time_is_read_however_it_is_written() {
        for (text, expected) in [
            ("Rate limit reached. Please try again in 11.054s.", 11_054),
            ("Please retry in 3600.5s.\nSuggested", 3_600_500),
            ("Suggested retry after 30s.]", 30_000),
            ("Try again in 3 days 2 hours 5 minutes.", 266_700_000),
            ("quota will reset after 7h12m5s.", 25_925_000),
            ("try again in 850ms", 850),
            ("Try again in 1 day, 2 hours and 3 minutes", 93_780_000),
        ] {
            assert_eq!(reset_in(text), Some(ResetTime::After(expected)), "{text}");
        }
        let at = ResetTime::At(1_794_900_000_000);
        assert_eq!(
            reset_in("Claude AI usage limit reached|1794900000"),
            Some(at)
        );
    }

    #[test]
    fn a_header_has_seconds_or_a_date() {
        assert_eq!(retry_after("120"), Some(ResetTime::After(120_000)));
        let at = ResetTime::At(1_792_567_680_000);
        assert_eq!(retry_after("Wed, 21 Oct 2026 07:28:00 GMT"), Some(at));
        for none in ["", "-5", "soon", "99999999999999999999", "Wed, 99 Oct 2026"] {
            assert_eq!(retry_after(none), None, "{none}");
        }
    }

    #[test]
    fn a_moment_far_away_or_long_gone_is_a_moment() {
        let now = Timestamp::from_millis(1_794_000_000_000);
        let moment = |resets| reset_moment(&resets, now);
        assert_eq!(moment(ResetTime::At(-1)), Some(Timestamp::from_millis(0)));
        let last = moment(ResetTime::After(u64::MAX)).unwrap();
        assert!(last > now);
        let text = "resets at 9999-12-30T00:00:00Z";
        assert_eq!(reset_in(text), Some(ResetTime::At(253_402_128_000_000)));
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in [
            "",
            "try again later",
            "try again in a moment",
            "resets 3pm",
            "try again at 5:00 PM",
            "limit|12",
            "try again in 99999999999999999999 days",
        ] {
            assert_eq!(reset_in(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn nothing_that_a_server_says_is_too_much(
            text in "(try again in |resets (at )?)?[0-9.a-zA-Z |,:+-]{0,40}( \\((UTC|Europe/Berlin|x|)\\))?",
            now in any::<u64>(),
        ) {
            let resets = reset_in(&text).or_else(|| retry_after(&text));
            let _ = resets.and_then(|resets| reset_moment(&resets, Timestamp::from_millis(now)));
        }
    }
}
