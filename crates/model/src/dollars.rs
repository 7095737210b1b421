use std::fmt;

/// An amount for people: to the cent, and what costs anything is never shown as nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dollars {
    micro_usd: u64,
}

impl Dollars {
    #[must_use]
    pub fn from_micro(micro_usd: u64) -> Self {
        Self { micro_usd }
    }
}

impl fmt::Display for Dollars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cents = self.micro_usd.div_ceil(10_000);
        write!(f, "${}.{:02}", cents / 100, cents % 100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_rounded_up_to_the_cent() {
        let check = |micro: u64, expected: &str| {
            assert_eq!(Dollars::from_micro(micro).to_string(), expected);
        };
        check(0, "$0.00");
        check(1, "$0.01");
        check(1_230_000, "$1.23");
        check(1_234_567, "$1.24");
        check(12_000_000, "$12.00");
    }
}
