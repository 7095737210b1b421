//! How long to wait, in the words of whoever says so.

/// What comes before a span of time.
const BEFORE_SPAN: [&str; 7] = [
    "try again in ",
    "retry in ",
    "retry after ",
    "retry-after: ",
    "reset after ",
    "resets in ",
    "available in ",
];

/// Longer is no limit that anybody waits for.
const MOST: f64 = 400.0 * 24.0 * 3600.0;

/// The span that a text tells to wait, in milliseconds: `try again in 1h 2m`, `Suggested retry
/// after 3600s`.
#[must_use]
pub fn named_span(text: &str) -> Option<u64> {
    let lower = text.to_lowercase();
    BEFORE_SPAN.iter().find_map(|words| {
        let (_, rest) = lower.split_once(words)?;
        span(rest)
    })
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
    use super::*;

    #[test]
    fn a_span_is_read_however_it_is_written() {
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
