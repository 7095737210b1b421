use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use super::bad_value::BadValue;

/// The command that checks the whole workspace, if there is one. An empty text is none:
/// that undoes one that is set further down.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Gate(Option<String>);

impl Gate {
    #[must_use]
    pub fn command(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

impl FromStr for Gate {
    type Err = BadValue;

    fn from_str(text: &str) -> Result<Self, BadValue> {
        let command = text.trim();
        if command.contains('\0') {
            return Err(BadValue::new(
                "a command cannot have a NUL in it",
                "write a command that a shell can run: make check",
            ));
        }
        Ok(Self((!command.is_empty()).then(|| command.to_owned())))
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.command().unwrap_or("none"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_gate_is_none() {
        let gate = |text: &str| text.parse::<Gate>().unwrap();
        assert_eq!(gate("make check\n").command(), Some("make check"));
        assert_eq!(gate(" ").command(), None);
        assert!("a\0b".parse::<Gate>().is_err());
    }
}
