use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use super::bad_value::BadValue;

/// How many tokens may be used up; at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct TokenCount(u64);

impl TokenCount {
    /// Whoever asks for more has mistyped.
    pub const MOST: u64 = 1_000_000_000_000;

    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl FromStr for TokenCount {
    type Err = BadValue;

    fn from_str(text: &str) -> Result<Self, BadValue> {
        let text = text.trim();
        match text.parse::<i128>() {
            Ok(..=0) => Err(BadValue::new(
                format!("with `{text}` nothing would ever be tried"),
                "give at least 1",
            )),
            Ok(count) => match u64::try_from(count) {
                Ok(count) if count <= Self::MOST => Ok(Self(count)),
                _ => Err(BadValue::new(
                    format!("`{text}` is too large"),
                    format!("give at most {}", Self::MOST),
                )),
            },
            Err(_) => Err(BadValue::new(
                format!("`{text}` is no whole number"),
                "give a number such as 200000",
            )),
        }
    }
}

impl fmt::Display for TokenCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_whole_and_more_than_none() {
        let problem = |text: &str| text.parse::<TokenCount>().unwrap_err().problem;
        assert_eq!(
            "200000".parse::<TokenCount>().map(TokenCount::get),
            Ok(200_000)
        );
        assert_eq!(problem("0"), "with `0` nothing would ever be tried");
        assert_eq!(problem("-3"), "with `-3` nothing would ever be tried");
        assert_eq!(problem("1000000000001"), "`1000000000001` is too large");
        for text in ["", "many", "1.5", "200k", "nan", "1e6"] {
            assert_eq!(problem(text), format!("`{text}` is no whole number"));
        }
    }
}
