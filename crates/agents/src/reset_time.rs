//! When a limit is over, in the words of whoever set it.

use regreen_model::{ResetTime, Timestamp};

use crate::clock_time;

/// What comes before a span of time.
const BEFORE_SPAN: [&str; 6] = [
    "try again in ",
    "retry in ",
    "retry after ",
    "reset after ",
    "resets in ",
    "available in ",
];

/// Longer is no limit that anybody waits for.
const MOST: f64 = 400.0 * 24.0 * 3600.0;

/// The time that an error names: `try again in 1h 2m`, `Suggested retry after 3600s`, seconds
/// since 1970 behind a bar, `resets 4pm (Europe/Berlin)`, `resets at 2026-11-17T04:00:00Z`. A
/// time of day that names no place is none.
pub(crate) fn reset_in(text: &str) -> Option<ResetTime> {
    let lower = text.to_ascii_lowercase();
    let after = BEFORE_SPAN.iter().find_map(|words| {
        let (_, rest) = lower.split_once(words)?;
        span(rest)
    });
    after
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

/// `3 days 2 hours`, `1h2m3.5s`, `850ms`, `30` (seconds), as milliseconds.
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

/// A number with its unit in seconds, and what follows.
fn part(text: &str) -> Option<(f64, f64, &str)> {
    let text = text.trim_start_matches([' ', ',']);
    let text = text.strip_prefix("and ").unwrap_or(text);
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
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
