use std::fmt;
use std::str::FromStr;

use regreen_model::RepairPolicy;
use serde::{Serialize, Serializer};

use super::bad_value::BadValue;

/// What regreen may repair by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AskedRepairs(pub RepairPolicy);

impl FromStr for AskedRepairs {
    type Err = BadValue;

    fn from_str(text: &str) -> Result<Self, BadValue> {
        let mut all = RepairPolicy::ALL.into_iter();
        let found = all.find(|policy| policy.name() == text.trim());
        found.map(Self).ok_or_else(|| {
            BadValue::new(
                format!("`{text}` does not say what may be repaired"),
                "write \"safe\" (what a look at the workspace allows), \"ask\" (what a person agrees to) or \"off\"",
            )
        })
    }
}

impl fmt::Display for AskedRepairs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for AskedRepairs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_has_one_name_everywhere() {
        for policy in RepairPolicy::ALL {
            assert_eq!(policy.name().parse(), Ok(AskedRepairs(policy)));
        }
        assert_eq!(
            "always".parse::<AskedRepairs>().unwrap_err().to_string(),
            "`always` does not say what may be repaired; write \"safe\" (what a look at the workspace allows), \"ask\" (what a person agrees to) or \"off\""
        );
    }
}
