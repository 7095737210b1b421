use std::fmt;

use serde::{Deserialize, Serialize};

/// How sure a diagnosis is, in hundredths; written as a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "f64", from = "f64")]
pub struct Confidence(u8);

impl Confidence {
    /// More than 100 counts as 100.
    #[must_use]
    pub const fn percent(percent: u8) -> Self {
        Self(if percent > 100 { 100 } else { percent })
    }

    #[must_use]
    pub fn as_percent(self) -> u8 {
        self.0
    }
}

impl From<Confidence> for f64 {
    fn from(confidence: Confidence) -> Self {
        Self::from(confidence.0) / 100.0
    }
}

impl From<f64> for Confidence {
    fn from(fraction: f64) -> Self {
        let nearest = (0..=100).min_by_key(|p| {
            let distance = (fraction * 100.0 - f64::from(*p)).abs();
            // Total order for all floats; NaN ends up as 0.
            distance.to_bits()
        });
        Self(nearest.unwrap_or(0))
    }
}

impl fmt::Display for Confidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} %", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_percentage_survives_being_a_fraction() {
        for percent in 0..=100 {
            let confidence = Confidence::percent(percent);
            assert_eq!(Confidence::from(f64::from(confidence)), confidence);
        }
    }

    #[test]
    fn fractions_out_of_range_are_drawn_to_its_ends() {
        assert_eq!(Confidence::from(7.0).as_percent(), 100);
        assert_eq!(Confidence::from(-7.0).as_percent(), 0);
        assert_eq!(Confidence::from(f64::NAN).as_percent(), 0);
    }
}
