use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

/// An input, an event, a command or a state as the store keeps it: JSON whose meaning only
/// its owner knows, with the name and the version of its shape.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Payload {
    pub kind: String,
    pub version: u32,
    body: Box<RawValue>,
}

impl Payload {
    /// # Errors
    /// If `body` has no form in JSON (a map whose keys are not text).
    pub fn new(
        kind: impl Into<String>,
        version: u32,
        body: &impl Serialize,
    ) -> Result<Self, serde_json::Error> {
        Ok(Self {
            kind: kind.into(),
            version,
            body: to_raw_value(body)?,
        })
    }

    /// The JSON text, exactly as it was given.
    #[must_use]
    pub fn body(&self) -> &str {
        self.body.get()
    }

    /// # Errors
    /// If the JSON is no `T`.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.body())
    }
}

impl PartialEq for Payload {
    fn eq(&self, other: &Self) -> bool {
        (&self.kind, self.version, self.body()) == (&other.kind, other.version, other.body())
    }
}

impl Eq for Payload {}
