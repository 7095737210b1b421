use std::fmt;

use serde::Serialize;

use super::bad_value::BadValue;

const HOW_TO_WRITE: &str = r#"write the program and its arguments: ["notify-send", "regreen"]"#;

/// A program and its arguments, run when a run has ended; run by no shell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct OnEnd(Option<Vec<String>>);

impl OnEnd {
    pub fn new(argv: Vec<String>) -> Result<Self, BadValue> {
        match argv.first().map(String::as_str) {
            None | Some("") => Err(BadValue::new("no program is named", HOW_TO_WRITE)),
            _ if argv.iter().any(|word| word.contains('\0')) => Err(BadValue::new(
                "an argument cannot have a NUL in it",
                HOW_TO_WRITE,
            )),
            _ => Ok(Self(Some(argv))),
        }
    }

    #[must_use]
    pub fn argv(&self) -> Option<&[String]> {
        self.0.as_deref()
    }
}

impl fmt::Display for OnEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            None => f.write_str("none"),
            Some(argv) => f.write_str(&serde_json::to_string(argv).unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_has_to_be_named() {
        let on_end = |argv: &[&str]| OnEnd::new(argv.iter().map(ToString::to_string).collect());
        assert!(on_end(&["say", "done", ""]).is_ok());
        assert!(on_end(&[]).is_err());
        assert!(on_end(&["", "x"]).is_err());
        assert!(on_end(&["say", "a\0b"]).is_err());
    }
}
