//! When a limit is over, in the words of whoever set it.

use regreen_model::{ResetTime, named_span};

/// The time that an error names: `try again in 1h 2m`, `Suggested retry after 3600s`, or
/// seconds since 1970 behind a bar. A time of day names no day and no place, so it is none.
pub(crate) fn reset_in(text: &str) -> Option<ResetTime> {
    named_span(text)
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
