//! Reads the text of a configuration file into a layer.

use std::ops::Range;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use miette::{LabeledSpan, NamedSource, Severity};
use thiserror::Error;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::key::Owner;
use super::settings::{Key, Layer};
use super::table::{Origin, Setting};
use super::value::{BadValue, OFF, SettingValue};
use crate::excerpt::Excerpt;
use crate::output::printable;

/// A table that repositories may be tempted to have: it would bring programs along.
const AGENTS: &str = "agents";

/// Why a repository may not choose programs.
pub const CHOOSES_PROGRAM: &str = "it says which program is run on your machine";

/// A configuration file with something in it that it cannot or may not say.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{file} cannot be used")]
pub struct ConfigError {
    /// The name of the file in messages.
    pub file: String,
    pub text: String,
    /// At least one.
    pub faults: Vec<ConfigFault>,
}

impl ConfigError {
    /// Returns one message for each fault.
    pub fn excerpts(&self) -> Vec<Excerpt> {
        let text = Arc::new(printable(&self.text));
        let excerpt = |fault: &ConfigFault| {
            let ConfigFault { span, label, .. } = fault;
            let label = LabeledSpan::new(Some(printable(label)), span.start, span.len());
            Excerpt {
                severity: Severity::Error,
                message: printable(&fault.message),
                help: Some(printable(&fault.hint)),
                labels: vec![label],
                source: NamedSource::new(&self.file, Arc::clone(&text)),
            }
        };
        self.faults.iter().map(excerpt).collect()
    }
}

/// A mistake in a configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFault {
    pub message: String,
    /// The bytes of the file that it is about.
    pub span: Range<usize>,
    /// A remark beside these bytes.
    pub label: String,
    pub hint: String,
}

/// The file that is read.
#[derive(Clone, Debug)]
pub struct ConfigFile {
    pub owner: Owner,
    pub path: Arc<Path>,
    /// The name of the user's own file, where settings belong that a repository may not make.
    pub user_file: String,
}

/// Reads a configuration file.
///
/// # Errors
/// Every mistake in it, in the order of the file.
pub fn read_layer(text: &str, file: &ConfigFile) -> Result<Layer, Vec<ConfigFault>> {
    let table = match DeTable::parse(text) {
        Ok(table) => table.into_inner(),
        Err(error) => return Err(vec![not_toml(&error)]),
    };
    let mut layer = Layer::default();
    let mut faults = Vec::new();
    for (name, value) in &table {
        let line = ConfigLine::new(text, file, name, value);
        if let Err(fault) = line.and_then(|line| layer.read(&line)) {
            faults.push(fault);
        }
    }
    faults.sort_by_key(|fault| fault.span.start);
    if faults.is_empty() {
        Ok(layer)
    } else {
        Err(faults)
    }
}

/// A key of a configuration file, and the value that the file gives it.
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
        name: &Spanned<DeString<'_>>,
        value: &'t Spanned<DeValue<'t>>,
    ) -> Result<Self, ConfigFault> {
        let span = name.span();
        let Some(key) = Key::named(name.get_ref()) else {
            return Err(unknown(name.get_ref(), span, file));
        };
        if let Some(why) = key.refusal(file.owner) {
            let hint = format!("if you want it, put it into {}", file.user_file);
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

    /// Reads the value, and remembers this line as its origin.
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

    /// Returns a value that is written as text, parsed.
    pub fn parsed<T: FromStr<Err = BadValue>>(&self) -> Result<T, ConfigFault> {
        self.checked(self.text()?.parse())
    }

    pub fn text(&self) -> Result<&str, ConfigFault> {
        match self.value.get_ref() {
            DeValue::String(text) => Ok(text),
            other => Err(self.wrong_type("text in quotes", other)),
        }
    }

    pub fn boolean(&self) -> Result<bool, ConfigFault> {
        match self.value.get_ref() {
            DeValue::Boolean(value) => Ok(*value),
            other => Err(self.wrong_type("true or false", other)),
        }
    }

    /// Returns the digits of a whole number.
    pub fn integer(&self, expected: &str) -> Result<String, ConfigFault> {
        match self.value.get_ref() {
            // Without the base that it is written in.
            DeValue::Integer(number) => {
                let value = i128::from_str_radix(number.as_str(), number.radix());
                Ok(value.map_or_else(|_| number.as_str().to_owned(), |value| value.to_string()))
            }
            other => Err(self.wrong_type(expected, other)),
        }
    }

    /// Returns the digits of a number, or the word for no limit.
    pub fn number_or_off(&self) -> Result<String, ConfigFault> {
        match self.value.get_ref() {
            DeValue::Float(number) => Ok(number.as_str().to_owned()),
            DeValue::String(word) if word == OFF => Ok(word.to_string()),
            _ => self.integer("a number, or \"off\" for no limit"),
        }
    }

    /// Returns the texts of a list.
    pub fn words(&self, expected: &str) -> Result<Vec<String>, ConfigFault> {
        let DeValue::Array(words) = self.value.get_ref() else {
            return Err(self.wrong_type(expected, self.value.get_ref()));
        };
        let word = |word: &Spanned<DeValue<'_>>| match word.get_ref() {
            DeValue::String(text) => Ok(text.to_string()),
            other => Err(self.wrong_type_at(word.span(), expected, other)),
        };
        words.iter().map(word).collect()
    }

    /// Points at the value if it is bad.
    pub fn checked<T>(&self, value: Result<T, BadValue>) -> Result<T, ConfigFault> {
        value.map_err(|BadValue { problem, hint }| self.fault(self.value.span(), problem, hint))
    }

    fn wrong_type(&self, expected: &str, found: &DeValue<'_>) -> ConfigFault {
        self.wrong_type_at(self.value.span(), expected, found)
    }

    fn wrong_type_at(
        &self,
        span: Range<usize>,
        expected: &str,
        found: &DeValue<'_>,
    ) -> ConfigFault {
        let found = match found {
            DeValue::String(_) => "text",
            DeValue::Integer(_) | DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date or a time of day",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        self.fault(
            span,
            format!("this is {found}"),
            format!("write {expected}"),
        )
    }

    fn fault(&self, span: Range<usize>, label: String, hint: String) -> ConfigFault {
        ConfigFault {
            message: format!("`{}` cannot be set to this", self.key.name()),
            span,
            label,
            hint,
        }
    }
}

fn not_toml(error: &toml::de::Error) -> ConfigFault {
    ConfigFault {
        message: "this is no TOML".to_owned(),
        span: error.span().unwrap_or_default(),
        label: error.message().lines().collect::<Vec<&str>>().join(", "),
        hint: "settings look like this: timeout = \"30m\"".to_owned(),
    }
}

fn unknown(name: &str, span: Range<usize>, file: &ConfigFile) -> ConfigFault {
    if file.owner == Owner::Workspace && name == AGENTS {
        let user_file = &file.user_file;
        let hint = format!(
            "if you trust it, choose its program in {user_file}: agent = \"command:PROGRAM ARGS\""
        );
        return refused(name, span, CHOOSES_PROGRAM, hint);
    }
    let known: Vec<&str> = Key::open_to(file.owner).map(Key::name).collect();
    ConfigFault {
        message: format!("there is no setting `{name}`"),
        span,
        label: match Key::nearest(name, file.owner) {
            Some(key) => format!("do you mean `{}`?", key.name()),
            None => "nothing known looks like it".to_owned(),
        },
        hint: format!("known here are: {}", known.join(", ")),
    }
}

/// A setting that would give a repository power over the user's machine.
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
