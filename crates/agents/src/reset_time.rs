//! When a limit is over, in the words of whoever set it.

use regreen_model::ResetTime;

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

/// The time that an error names: `try again in 1h 2m`, `Suggested retry after 3600s`, or
/// seconds since 1970 behind a bar. A time of day names no day and no place, so it is none.
pub(crate) fn reset_in(text: &str) -> Option<ResetTime> {
    let lower = text.to_lowercase();
    let after = BEFORE_SPAN.iter().find_map(|words| {
        let (_, rest) = lower.split_once(words)?;
        span(rest)
    });
    after
        .map(ResetTime::After)
        .or_else(|| moment(text).map(ResetTime::At))
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
        fn nothing_that_a_server_says_is_too_much(text in "(try again in )?[0-9.a-z |,]{0,40}") {
            let _ = reset_in(&text);
        }
    }
}
