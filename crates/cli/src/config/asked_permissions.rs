use std::fmt;
use std::str::FromStr;

use regreen_agents::Permissions;
use serde::{Serialize, Serializer};

use super::bad_value::BadValue;

/// What an agent may do without asking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AskedPermissions(pub Permissions);

impl FromStr for AskedPermissions {
    type Err = BadValue;

    fn from_str(text: &str) -> Result<Self, BadValue> {
        let mut all = Permissions::ALL.into_iter();
        let found = all.find(|permissions| permissions.name() == text.trim());
        found.map(Self).ok_or_else(|| {
            BadValue::new(
                format!("`{text}` is no mode of permissions"),
                "write \"skip\" (it is told not to ask) or \"own\" (what its own settings allow)",
            )
        })
    }
}

impl fmt::Display for AskedPermissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for AskedPermissions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
