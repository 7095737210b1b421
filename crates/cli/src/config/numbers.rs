//! Numbers as people write them: counts, tokens, money.

use std::fmt;
use std::num::IntErrorKind;
use std::str::FromStr;

use serde_json::{Value, json};

use super::key::Owner;
use super::read::{ConfigFault, ConfigLine};
use super::value::{BadValue, SettingValue};

/// How often something may be tried: at least once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count(u32);

impl Count {
    pub const fn new(count: u32) -> Option<Self> {
        match count {
            0 => None,
            count => Some(Self(count)),
        }
    }

    pub fn at_least_1(count: u32) -> Self {
        Self(count.max(1))
    }

    pub const fn get(self) -> u32 {
        self.0
    }
}

impl FromStr for Count {
    type Err = BadValue;

    fn from_str(text: &str) -> Result<Self, BadValue> {
        let at_least = "use at least 1, or leave it out for the default";
        let count = whole_number(text, u32::MAX.into(), at_least, "use a number such as 5")?;
        Ok(Self(u32::try_from(count).unwrap_or(u32::MAX)))
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl SettingValue for Count {
    const IS_NUMBER: bool = true;

    fn read(line: &ConfigLine<'_>) -> Result<Self, ConfigFault> {
        line.checked(line.integer("use a number such as 5")?.parse())
    }

    fn schema(_: Owner) -> Value {
        json!({ "type": "integer", "minimum": 1, "maximum": u32::MAX })
    }

    fn to_json(&self) -> Value {
        self.0.into()
    }
}

/// How many tokens may be used: at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenCount(u64);

impl TokenCount {
    /// A larger number must be a typo.
    const MAX: u64 = 1_000_000_000_000;

    /// How much of a first prompt says what is known about the project.
    pub const CONTEXT: Self = Self(1000);

    pub const fn get(self) -> u64 {
        self.0
    }
}

impl FromStr for TokenCount {
    type Err = BadValue;

    fn from_str(text: &str) -> Result<Self, BadValue> {
        let example = "use a number such as 200000";
        whole_number(text, Self::MAX, "use at least 1", example).map(Self)
    }
}

impl fmt::Display for TokenCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl SettingValue for TokenCount {
    const IS_NUMBER: bool = true;

    fn read(line: &ConfigLine<'_>) -> Result<Self, ConfigFault> {
        line.checked(line.integer("use a number such as 200000")?.parse())
    }

    fn schema(_: Owner) -> Value {
        json!({ "type": "integer", "minimum": 1, "maximum": Self::MAX })
    }

    fn to_json(&self) -> Value {
        self.0.into()
    }
}

/// A percentage: from 1 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Percent(u32);

impl Percent {
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl FromStr for Percent {
    type Err = BadValue;

    fn from_str(text: &str) -> Result<Self, BadValue> {
        let percent = whole_number(text, 100, "use at least 1", "use a percentage such as 80")?;
        Ok(Self(u32::try_from(percent).unwrap_or(100)))
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl SettingValue for Percent {
    const IS_NUMBER: bool = true;

    fn read(line: &ConfigLine<'_>) -> Result<Self, ConfigFault> {
        line.checked(line.integer("use a percentage such as 80")?.parse())
    }

    fn schema(_: Owner) -> Value {
        json!({ "type": "integer", "minimum": 1, "maximum": 100 })
    }

    fn to_json(&self) -> Value {
        self.0.into()
    }
}

/// Parses a whole number from 1 to `max`.
fn whole_number(text: &str, max: u64, at_least: &str, example: &str) -> Result<u64, BadValue> {
    let text = text.trim();
    let too_small = || {
        let problem = format!("`{text}` is too small");
        BadValue::new(problem, at_least)
    };
    let too_large = || {
        let problem = format!("`{text}` is too large");
        BadValue::new(problem, format!("use at most {max}"))
    };
    match text.parse::<i128>() {
        Ok(..=0) => Err(too_small()),
        Ok(number) => match u64::try_from(number) {
            Ok(number) if number <= max => Ok(number),
            _ => Err(too_large()),
        },
        Err(error) => Err(match error.kind() {
            IntErrorKind::PosOverflow => too_large(),
            IntErrorKind::NegOverflow => too_small(),
            _ => BadValue::new(format!("`{text}` is not a whole number"), example),
        }),
    }
}

/// An amount of dollars, greater than zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Money {
    micro_usd: u64,
}

const MICRO: u64 = 1_000_000;
const MICRO_DIGITS: usize = 6;

impl Money {
    /// A larger amount must be a typo.
    const MAX_DOLLARS: u64 = 1_000_000;
    const HINT: &str = "write an amount in dollars: 5 or 2.50";

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
            return Err(BadValue::new("missing amount", Self::HINT));
        }
        let unsigned = amount.strip_prefix('-').unwrap_or(amount);
        let Some(micro_usd) = decimal(unsigned, MICRO, MICRO_DIGITS) else {
            let problem = format!("invalid amount `{text}`");
            return Err(BadValue::new(problem, Self::HINT));
        };
        if micro_usd == 0 || unsigned != amount {
            let problem = format!("`{text}` is too small");
            return Err(BadValue::new(problem, "use more than 0 dollars"));
        }
        match u64::try_from(micro_usd) {
            Ok(micro_usd) if micro_usd <= Self::MAX_DOLLARS * MICRO => Ok(Self { micro_usd }),
            _ => Err(BadValue::new(
                format!("`{text}` is too large"),
                format!("use at most {} dollars", Self::MAX_DOLLARS),
            )),
        }
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fraction = format!("{:06}", self.micro_usd % MICRO);
        let (cents, rest) = fraction.split_at(2);
        let rest = rest.trim_end_matches('0');
        write!(f, "{}.{cents}{rest}", self.micro_usd / MICRO)
    }
}

impl SettingValue for Money {
    const IS_NUMBER: bool = true;

    fn read(line: &ConfigLine<'_>) -> Result<Self, ConfigFault> {
        line.checked(line.number_or_off()?.parse())
    }

    fn schema(_: Owner) -> Value {
        json!({ "type": "number", "exclusiveMinimum": 0, "maximum": Self::MAX_DOLLARS })
    }
}

/// Parses `12` or `12.5` in units of `1 / scale`, rounded down. Returns `None` for anything else,
/// or if there are more than `max_digits` after the point.
pub(super) fn decimal(text: &str, scale: u64, max_digits: usize) -> Option<u128> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let is_number =
        |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) || fraction.len() > max_digits {
        return None;
    }
    // A number that does not fit exceeds every limit anyway.
    let whole = u128::from(whole.parse().unwrap_or(u64::MAX));
    let parts = 10_u128.pow(u32::try_from(fraction.len()).ok()?);
    let scale = u128::from(scale);
    Some(whole * scale + fraction.parse::<u128>().ok()? * scale / parts)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check_whole<T: FromStr<Err = BadValue> + fmt::Display>(good: &str, too_large: &str) {
        let problem = |text: &str| text.parse::<T>().err().unwrap().problem;
        assert_eq!(good.parse::<T>().ok().unwrap().to_string(), good);
        for text in ["0", "-3", &format!("-{}", "9".repeat(50))] {
            let why = format!("`{text}` is too small");
            assert_eq!(problem(text), why);
        }
        for text in [too_large, &"9".repeat(50)] {
            assert_eq!(problem(text), format!("`{text}` is too large"));
        }
        for text in ["", "many", "1.5", "-", "--1", "200k", "nan", "1e6"] {
            assert_eq!(problem(text), format!("`{text}` is not a whole number"));
        }
    }

    #[test]
    fn counts_are_whole_and_more_than_none() {
        check_whole::<Count>("5", "4294967296");
        check_whole::<TokenCount>("200000", "1000000000001");
        check_whole::<Percent>("80", "101");
    }

    #[test]
    fn amounts_are_read_to_the_millionth() {
        for (text, micro) in [
            ("5", 5_000_000),
            ("5.0", 5_000_000),
            (" $2.50 ", 2_500_000),
            ("0.000001", 1),
            ("1000000", Money::MAX_DOLLARS * MICRO),
        ] {
            assert_eq!(text.parse::<Money>().map(Money::micro_usd), Ok(micro));
        }
    }

    #[test]
    fn a_bad_amount_is_refused_with_the_reason() {
        let problem = |text: &str| text.parse::<Money>().unwrap_err().problem;
        assert_eq!(problem(""), "missing amount");
        assert_eq!(problem("$"), "missing amount");
        for text in ["0", "0.00", "-3", "-0.5", "$0"] {
            let why = format!("`{text}` is too small");
            assert_eq!(problem(text), why);
        }
        let not_amounts = "five nan NaN inf -inf 1e3 5. .5 1,50 --1 +5 5$ 0.0000001 1.2.3";
        for text in not_amounts.split(' ').chain(["5 USD"]) {
            assert_eq!(problem(text), format!("invalid amount `{text}`"));
        }
        for text in ["1000000.01", "99999999999999999999999999"] {
            assert_eq!(problem(text), format!("`{text}` is too large"));
        }
    }

    proptest! {
        #[test]
        fn an_amount_that_is_shown_reads_as_the_same(micro_usd in 1..=Money::MAX_DOLLARS * MICRO) {
            let money = Money { micro_usd };
            prop_assert_eq!(money.to_string().parse(), Ok(money));
        }

        #[test]
        fn any_text_is_an_amount_in_range_or_refused(text in r"[$0-9.\- ]{0,12}|\PC{0,12}") {
            if let Ok(money) = text.parse::<Money>() {
                prop_assert!((1..=Money::MAX_DOLLARS * MICRO).contains(&money.micro_usd));
            }
        }
    }
}
