use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use super::bad_value::BadValue;

/// What something may cost, in dollars; more than nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Money {
    micro_usd: u64,
}

const MICRO: u64 = 1_000_000;
const MICRO_DIGITS: usize = 6;
/// Whoever asks for more has mistyped.
const MOST_DOLLARS: u64 = Money::MOST_DOLLARS;
const HOW_TO_WRITE: &str = "write dollars: 5 or 2.50";

impl Money {
    pub const MOST_DOLLARS: u64 = 1_000_000;

    #[must_use]
    pub const fn micro_usd(self) -> u64 {
        self.micro_usd
    }
}

impl FromStr for Money {
    type Err = BadValue;

    fn from_str(text: &str) -> Result<Self, BadValue> {
        let text = text.trim();
        let amount = text.strip_prefix('$').unwrap_or(text);
        if amount.is_empty() {
            return Err(BadValue::new("no amount is given", HOW_TO_WRITE));
        }
        let unsigned = amount.strip_prefix('-').unwrap_or(amount);
        match micro_usd(unsigned) {
            None => Err(no_amount(text)),
            Some(0) => Err(too_little(text)),
            Some(_) if unsigned != amount => Err(too_little(text)),
            Some(micro_usd) if micro_usd <= MOST_DOLLARS * MICRO => Ok(Self { micro_usd }),
            Some(_) => Err(BadValue::new(
                format!("`{text}` is too large"),
                format!("give at most {MOST_DOLLARS} dollars"),
            )),
        }
    }
}

/// `None` if it is no such number.
fn micro_usd(amount: &str) -> Option<u64> {
    let (whole, fraction) = amount.split_once('.').unwrap_or((amount, "0"));
    let are_digits =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !are_digits(whole) || !are_digits(fraction) || fraction.len() > MICRO_DIGITS {
        return None;
    }
    // Numbers too large to hold are too large to mean.
    let whole = whole.parse().unwrap_or(u64::MAX);
    let part: u64 = format!("{fraction:0<MICRO_DIGITS$}").parse().ok()?;
    Some(whole.saturating_mul(MICRO).saturating_add(part))
}

fn no_amount(text: &str) -> BadValue {
    BadValue::new(format!("`{text}` is no amount of money"), HOW_TO_WRITE)
}

fn too_little(text: &str) -> BadValue {
    BadValue::new(
        format!("with `{text}` nothing would ever be tried"),
        "give more than 0 dollars",
    )
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fraction = format!("{:06}", self.micro_usd % MICRO);
        let (cents, rest) = fraction.split_at(2);
        let rest = rest.trim_end_matches('0');
        write!(f, "{}.{cents}{rest}", self.micro_usd / MICRO)
    }
}

impl Serialize for Money {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn amounts_are_read_to_the_millionth() {
        for (text, micro) in [
            ("5", 5_000_000),
            ("5.0", 5_000_000),
            (" $2.50 ", 2_500_000),
            ("0.000001", 1),
            ("1000000", MOST_DOLLARS * MICRO),
        ] {
            assert_eq!(text.parse::<Money>().map(Money::micro_usd), Ok(micro));
        }
    }

    #[test]
    fn what_is_no_amount_is_told_why() {
        let problem = |text: &str| text.parse::<Money>().unwrap_err().problem;
        assert_eq!(problem(""), "no amount is given");
        assert_eq!(problem("$"), "no amount is given");
        for text in ["0", "0.00", "-3", "-0.5", "$0"] {
            assert_eq!(
                problem(text),
                format!("with `{text}` nothing would ever be tried")
            );
        }
        for text in [
            "five",
            "nan",
            "NaN",
            "inf",
            "-inf",
            "1e3",
            "5.",
            ".5",
            "1,50",
            "--1",
            "+5",
            "5$",
            "5 USD",
            "0.0000001",
            "1.2.3",
        ] {
            assert_eq!(problem(text), format!("`{text}` is no amount of money"));
        }
        for text in ["1000000.01", "99999999999999999999999999"] {
            assert_eq!(problem(text), format!("`{text}` is too large"));
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_reads_as_the_same_amount(micro_usd in 1..=MOST_DOLLARS * MICRO) {
            let money = Money { micro_usd };
            prop_assert_eq!(money.to_string().parse(), Ok(money));
        }

        #[test]
        fn no_text_breaks_the_reader(text in r"[$0-9.\- ]{0,12}|\PC{0,12}") {
            if let Ok(money) = text.parse::<Money>() {
                prop_assert!((1..=MOST_DOLLARS * MICRO).contains(&money.micro_usd));
            }
        }
    }
}
