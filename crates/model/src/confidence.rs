use std::fmt;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// How sure a diagnosis is, in hundredths; written as a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(into = "f64")]
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

impl<'de> Deserialize<'de> for Confidence {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Fraction)
    }
}

/// Reads a fraction, also where it comes as the map in which JSON of any precision hands over a
/// number that it has kept for later, as it does inside of tagged enums.
struct Fraction;

impl<'de> Visitor<'de> for Fraction {
    type Value = Confidence;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a fraction")
    }

    fn visit_f64<E: Error>(self, fraction: f64) -> Result<Confidence, E> {
        Ok(Confidence::from(fraction))
    }

    /// Nothing else is whole.
    fn visit_u64<E: Error>(self, whole: u64) -> Result<Confidence, E> {
        Ok(Confidence::percent(if whole == 0 { 0 } else { 100 }))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Confidence, A::Error> {
        let number = map.next_entry::<String, String>()?;
        let fraction = number.and_then(|(_, digits)| digits.parse::<f64>().ok());
        let fraction = fraction.ok_or_else(|| A::Error::custom("expected a fraction"))?;
        Ok(Confidence::from(fraction))
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

    /// As in the journal, whose events are tagged.
    #[test]
    fn it_survives_inside_of_a_tagged_enum() {
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "kind")]
        enum Tagged {
            Found { confidence: Confidence },
        }
        for percent in [0, 20, 95, 100] {
            let found = Tagged::Found {
                confidence: Confidence::percent(percent),
            };
            let text = serde_json::to_string(&found).unwrap();
            assert_eq!(serde_json::from_str::<Tagged>(&text).unwrap(), found);
        }
    }

    #[test]
    fn fractions_out_of_range_are_drawn_to_its_ends() {
        assert_eq!(Confidence::from(7.0).as_percent(), 100);
        assert_eq!(Confidence::from(-7.0).as_percent(), 0);
        assert_eq!(Confidence::from(f64::NAN).as_percent(), 0);
    }
}
