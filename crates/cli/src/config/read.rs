//! Parses a configuration file into a layer.

use std::ops::Range;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use miette::{LabeledSpan, NamedSource};
use thiserror::Error;
use toml::Spanned;
use toml::de::{DeInteger, DeString, DeTable, DeValue};

use super::key::Owner;
use super::settings::{Key, Layer};
use super::table::{Origin, Setting};
use super::value::{BadValue, OFF, SettingValue};
use crate::error_message::ErrorMessage;
use crate::output::printable;

/// A table that repositories might try to use: it would define programs.
const AGENTS: &str = "agents";

/// Why a repository may not choose programs.
pub const CHOOSES_PROGRAM: &str = "it chooses a program to run on your machine";

/// The faults in a configuration file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("invalid configuration file {file}")]
pub struct ConfigError {
    /// The file name for messages.
    pub file: String,
    pub text: String,
    /// Never empty.
    pub faults: Vec<ConfigFault>,
}

impl ConfigError {
    /// Returns one message for each fault.
    pub fn messages(&self) -> Vec<ErrorMessage> {
        let text = Arc::new(printable(&self.text));
        let message = |fault: &ConfigFault| {
            let ConfigFault { span, label, .. } = fault;
            let label = LabeledSpan::new(Some(printable(label)), span.start, span.len());
            ErrorMessage {
                message: printable(&fault.message),
                help: Some(printable(&fault.hint)),
                labels: vec![label],
                source: NamedSource::new(&self.file, Arc::clone(&text)),
            }
        };
        self.faults.iter().map(message).collect()
    }
}

/// A mistake in a configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFault {
    pub message: String,
    /// The byte range that it is about.
    pub span: Range<usize>,
    /// A remark on that range.
    pub label: String,
    pub hint: String,
}

/// The file being read.
#[derive(Clone, Debug)]
pub struct ConfigFile {
    pub owner: Owner,
    pub path: Arc<Path>,
    /// The name of the user's own file, for settings that a repository may not make.
    pub user_file: String,
}

/// Reads a configuration file.
///
/// # Errors
/// All faults, in the order of the file.
pub fn read_layer(text: &str, file: &ConfigFile) -> Result<Layer, Vec<ConfigFault>> {
    let table = match DeTable::parse(text) {
        Ok(table) => table.into_inner(),
        Err(error) => return Err(vec![not_toml(&error)]),
    };
    let mut layer = Layer::default();
    let mut faults = Vec::new();
    for (name, value) in &table {
        for (name, value) in inner_settings(name, value) {
            let line = ConfigLine::new(text, file, &name, value);
            if let Err(fault) = line.and_then(|line| layer.read(&line)) {
                faults.push(fault);
            }
        }
    }
    faults.sort_by_key(|fault| fault.span.start);
    if faults.is_empty() {
        Ok(layer)
    } else {
        Err(faults)
    }
}

/// Returns the settings of a table whose keys have its name before a dot; anything else as it is.
fn inner_settings<'t>(
    name: &Spanned<DeString<'t>>,
    value: &'t Spanned<DeValue<'t>>,
) -> Vec<(Spanned<String>, &'t Spanned<DeValue<'t>>)> {
    let before = format!("{}.", name.get_ref());
    let is_group = Key::ALL.iter().any(|key| key.name().starts_with(&before));
    match value.get_ref() {
        DeValue::Table(table) if is_group => table
            .iter()
            .map(|(inner, value)| {
                let whole = format!("{before}{}", inner.get_ref());
                (Spanned::new(inner.span(), whole), value)
            })
            .collect(),
        _ => vec![(Spanned::new(name.span(), name.get_ref().to_string()), value)],
    }
}

/// A key in a configuration file, with its value.
#[derive(Debug)]
pub struct ConfigLine<'t> {
    pub key: Key,
    pub value: &'t Spanned<DeValue<'t>>,
    /// 1-based.
    pub number: usize,
    pub file: &'t ConfigFile,
}

impl<'t> ConfigLine<'t> {
    fn new(
        text: &str,
        file: &'t ConfigFile,
        name: &Spanned<String>,
        value: &'t Spanned<DeValue<'t>>,
    ) -> Result<Self, ConfigFault> {
        let span = name.span();
        let Some(key) = Key::named(name.get_ref()) else {
            return Err(unknown(name.get_ref(), span, file));
        };
        if let Some(why) = key.refusal(file.owner) {
            let hint = format!("to use it, set it in {}", file.user_file);
            return Err(refused(key.name(), span, why, hint));
        }
        let before = text.as_bytes().iter().take(span.start);
        Ok(Self {
            key,
            value,
            number: 1 + before.filter(|byte| **byte == b'\n').count(),
            file,
        })
    }

    /// Parses the value, and records this line as its origin.
    pub fn setting<T: SettingValue>(&self) -> Result<Setting<T>, ConfigFault> {
        Ok(Setting {
            value: T::read(self)?,
            origin: Origin::File {
                owner: self.file.owner,
                file: Arc::clone(&self.file.path),
                line: self.number,
            },
        })
    }

    /// Parses a value that is written as a string.
    pub fn parsed<T: FromStr<Err = BadValue>>(&self) -> Result<T, ConfigFault> {
        self.checked(self.text()?.parse())
    }

    /// Parses a time. A bare number lacks its unit.
    pub fn parsed_with_unit<T: FromStr<Err = BadValue>>(&self) -> Result<T, ConfigFault> {
        match self.value.get_ref() {
            DeValue::Integer(number) => {
                let n = digits(number);
                let hint = format!("write \"{n}m\" for minutes, or \"{n}s\" for seconds");
                Err(self.wrong_type("a time with its unit", &hint, self.value.get_ref()))
            }
            _ => self.parsed(),
        }
    }

    pub fn text(&self) -> Result<&str, ConfigFault> {
        match self.value.get_ref() {
            DeValue::String(text) => Ok(text),
            other => Err(self.wrong_type("a string", "put the value in quotes", other)),
        }
    }

    pub fn boolean(&self) -> Result<bool, ConfigFault> {
        match self.value.get_ref() {
            DeValue::Boolean(value) => Ok(*value),
            other => Err(self.wrong_type("a boolean", "write true or false", other)),
        }
    }

    /// Returns the digits of a whole number.
    pub fn integer(&self, hint: &str) -> Result<String, ConfigFault> {
        match self.value.get_ref() {
            DeValue::Integer(number) => Ok(digits(number)),
            other => Err(self.wrong_type("an integer", hint, other)),
        }
    }

    /// Returns the digits of a number, or the word for no limit.
    pub fn number_or_off(&self) -> Result<String, ConfigFault> {
        let hint = "use a number, or \"off\" for no limit";
        match self.value.get_ref() {
            DeValue::Integer(number) => Ok(digits(number)),
            DeValue::Float(number) => Ok(number.as_str().to_owned()),
            DeValue::String(word) if word == OFF => Ok(word.to_string()),
            other => Err(self.wrong_type("a number", hint, other)),
        }
    }

    /// Returns the strings of a list.
    pub fn words(&self, hint: &str) -> Result<Vec<String>, ConfigFault> {
        let DeValue::Array(words) = self.value.get_ref() else {
            return Err(self.wrong_type("an array", hint, self.value.get_ref()));
        };
        let word = |word: &Spanned<DeValue<'_>>| match word.get_ref() {
            DeValue::String(text) => Ok(text.to_string()),
            other => Err(self.wrong_type_at(word.span(), "a string", hint, other)),
        };
        words.iter().map(word).collect()
    }

    /// Points at the value if it is invalid.
    pub fn checked<T>(&self, value: Result<T, BadValue>) -> Result<T, ConfigFault> {
        value.map_err(|BadValue { problem, hint }| self.fault(self.value.span(), problem, hint))
    }

    fn wrong_type(&self, expected: &str, hint: &str, found: &DeValue<'_>) -> ConfigFault {
        self.wrong_type_at(self.value.span(), expected, hint, found)
    }

    fn wrong_type_at(
        &self,
        span: Range<usize>,
        expected: &str,
        hint: &str,
        found: &DeValue<'_>,
    ) -> ConfigFault {
        let found = match found {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) => "an integer",
            DeValue::Float(_) => "a float",
            DeValue::Boolean(_) => "a boolean",
            DeValue::Datetime(_) => "a datetime",
            DeValue::Array(_) => "an array",
            DeValue::Table(_) => "a table",
        };
        self.fault(
            span,
            format!("expected {expected}, found {found}"),
            hint.to_owned(),
        )
    }

    fn fault(&self, span: Range<usize>, label: String, hint: String) -> ConfigFault {
        ConfigFault {
            message: format!("invalid value for `{}`", self.key.name()),
            span,
            label,
            hint,
        }
    }
}

/// Returns the decimal digits of a number, whatever base it is written in.
fn digits(number: &DeInteger<'_>) -> String {
    let value = i128::from_str_radix(number.as_str(), number.radix());
    value.map_or_else(|_| number.as_str().to_owned(), |value| value.to_string())
}

fn not_toml(error: &toml::de::Error) -> ConfigFault {
    ConfigFault {
        message: "invalid TOML".to_owned(),
        span: error.span().unwrap_or_default(),
        label: error.message().lines().collect::<Vec<&str>>().join(", "),
        hint: "write settings like this: timeout = \"30m\"".to_owned(),
    }
}

fn unknown(name: &str, span: Range<usize>, file: &ConfigFile) -> ConfigFault {
    if file.owner == Owner::Workspace && name == AGENTS {
        let user_file = &file.user_file;
        let hint = format!(
            "if you trust it, set the program in {user_file}: agent = \"command:PROGRAM ARGS\""
        );
        return refused(name, span, CHOOSES_PROGRAM, hint);
    }
    let known: Vec<&str> = Key::open_to(file.owner).map(Key::name).collect();
    ConfigFault {
        message: format!("unknown setting `{name}`"),
        span,
        label: match Key::nearest(name, file.owner) {
            Some(key) => format!("did you mean `{}`?", key.name()),
            None => "not recognized".to_owned(),
        },
        hint: format!("known settings: {}", known.join(", ")),
    }
}

/// The fault of a setting that would give a repository power over the user's machine.
fn refused(name: &str, span: Range<usize>, why: &str, hint: String) -> ConfigFault {
    ConfigFault {
        message: format!("a repository may not set `{name}`"),
        span,
        label: why.to_owned(),
        hint,
    }
}

#[cfg(test)]
mod tests;
