use std::fmt;

/// A length of time for people: `0.4s`, `12s`, `3m 05s`, `2h 03m`, `1d 02h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    millis: u64,
}

impl Span {
    #[must_use]
    pub fn from_millis(millis: u64) -> Self {
        Self { millis }
    }

    /// Without a part of a second: what ticks on a screen is not to flicker.
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
            // A short time is never shown as none at all.
            1..1_000 => write!(f, "0.{}s", (self.millis / 100).max(1)),
            1_000..60_000 => write!(f, "{seconds}s"),
            60_000..3_600_000 => write!(f, "{minutes}m {:02}s", seconds % 60),
            3_600_000..86_400_000 => write!(f, "{hours}h {:02}m", minutes % 60),
            _ => write!(f, "{days}d {:02}h", hours % 24),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_units_are_enough() {
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
        assert_eq!(Span::whole_seconds(999).to_string(), "0s");
        assert_eq!(Span::whole_seconds(61_999).to_string(), "1m 01s");
    }
}
