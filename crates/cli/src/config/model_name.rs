use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use super::bad_value::BadValue;

/// The model that an agent is to use. An empty text is none: then the agent chooses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct ModelName(Option<String>);

impl ModelName {
    #[must_use]
    pub fn get(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

impl FromStr for ModelName {
    type Err = BadValue;

    fn from_str(text: &str) -> Result<Self, BadValue> {
        let name = text.trim();
        if name.starts_with('-') || name.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err(BadValue::new(
                "this is no name of a model",
                "write it as the agent calls it: opus, gpt-5.5, provider/model",
            ));
        }
        Ok(Self((!name.is_empty()).then(|| name.to_owned())))
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_deref().unwrap_or("none"))
    }
}
