use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use super::bad_value::BadValue;

/// How often something may be tried: at least once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Count(u32);

impl Count {
    #[must_use]
    pub const fn new(count: u32) -> Option<Self> {
        match count {
            0 => None,
            count => Some(Self(count)),
        }
    }

    #[must_use]
    pub fn at_least_1(count: u32) -> Self {
        Self(count.max(1))
    }

    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// From the digits of a number in some base, with or without a sign.
    pub fn from_digits(digits: &str, radix: u32) -> Result<Self, BadValue> {
        let is_negative = digits.starts_with('-');
        match u32::from_str_radix(digits, radix).map(Self::new) {
            Ok(Some(count)) => Ok(count),
            Ok(None) => Err(too_few("0")),
            Err(_) if is_negative && i128::from_str_radix(digits, radix).is_ok() => {
                Err(too_few(digits))
            }
            Err(_) if u128::from_str_radix(digits, radix).is_ok() => Err(BadValue::new(
                format!("`{digits}` is too large"),
                format!("give at most {}", u32::MAX),
            )),
            Err(_) => Err(BadValue::new(
                format!("`{digits}` is no whole number"),
                "give a number such as 5",
            )),
        }
    }
}

fn too_few(digits: &str) -> BadValue {
    BadValue::new(
        format!("with `{digits}` nothing would ever be tried"),
        "give at least 1, or leave it out for the default",
    )
}

impl FromStr for Count {
    type Err = BadValue;

    fn from_str(text: &str) -> Result<Self, BadValue> {
        Self::from_digits(text.trim(), 10)
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_tried_less_than_once() {
        let problem = |text: &str| text.parse::<Count>().unwrap_err().problem;
        assert_eq!("5".parse::<Count>().map(Count::get), Ok(5));
        assert_eq!(problem("0"), "with `0` nothing would ever be tried");
        assert_eq!(problem("-3"), "with `-3` nothing would ever be tried");
        assert_eq!(problem("4294967296"), "`4294967296` is too large");
        for text in ["", "five", "1.5", "-", "--1"] {
            assert_eq!(problem(text), format!("`{text}` is no whole number"));
        }
    }
}
