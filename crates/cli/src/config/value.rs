//! The trait of all setting values, and the values that are a choice, a command or an optional
//! limit.

use std::fmt;
use std::str::FromStr;

use clap::ValueEnum;
use regreen_agents::Permissions;
use regreen_model::{
    DiagnosisAsk, FinalCheckPolicy, PreflightPolicy, RepairPolicy, TamperPolicy, named_enum,
};
use serde_json::{Value, json};
use thiserror::Error;

use super::key::Owner;
use super::read::{ConfigFault, ConfigLine};

/// The type of a setting's value.
pub trait SettingValue: fmt::Display + Sized {
    /// Whether configuration files write it as a number instead of a string.
    const IS_NUMBER: bool = false;

    /// Parses the value on a line of a configuration file.
    fn read(line: &ConfigLine<'_>) -> Result<Self, ConfigFault>;

    /// Returns the JSON schema of the values that a file of this owner may set.
    fn schema(_: Owner) -> Value {
        json!({ "type": "string" })
    }

    /// Returns the value as `regreen config --json` prints it.
    fn to_json(&self) -> Value {
        self.to_string().into()
    }
}

/// Why a text is not a valid value for a setting, and what is.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{problem}; {hint}")]
pub struct BadValue {
    pub problem: String,
    pub hint: String,
}

impl BadValue {
    pub fn new(problem: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            problem: problem.into(),
            hint: hint.into(),
        }
    }
}

impl SettingValue for bool {
    fn read(line: &ConfigLine<'_>) -> Result<Self, ConfigFault> {
        line.boolean()
    }

    fn schema(_: Owner) -> Value {
        json!({ "type": "boolean" })
    }

    fn to_json(&self) -> Value {
        (*self).into()
    }
}

/// The word for no limit. It overrides a limit from a weaker layer.
pub const OFF: &str = "off";

/// A limit that can be turned off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionalLimit<T>(Option<T>);

impl<T> OptionalLimit<T> {
    /// No limit.
    pub const OFF: Self = Self(None);

    /// A limit.
    pub const fn at(limit: T) -> Self
    where
        T: Copy,
    {
        Self(Some(limit))
    }

    pub fn limit(self) -> Option<T> {
        self.0
    }
}

impl<T: FromStr<Err = BadValue>> FromStr for OptionalLimit<T> {
    type Err = BadValue;

    fn from_str(text: &str) -> Result<Self, BadValue> {
        if text.trim() == OFF {
            return Ok(Self::OFF);
        }
        match text.parse() {
            Ok(limit) => Ok(Self(Some(limit))),
            Err(error) => Err(BadValue {
                hint: format!("{}; `{OFF}` means no limit", error.hint),
                ..error
            }),
        }
    }
}

impl<T: fmt::Display> fmt::Display for OptionalLimit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            None => f.write_str(OFF),
            Some(limit) => limit.fmt(f),
        }
    }
}

impl<T: SettingValue + FromStr<Err = BadValue>> SettingValue for OptionalLimit<T> {
    fn read(line: &ConfigLine<'_>) -> Result<Self, ConfigFault> {
        if T::IS_NUMBER {
            line.checked(line.number_or_off()?.parse())
        } else {
            line.parsed_with_unit()
        }
    }

    fn schema(owner: Owner) -> Value {
        json!({ "anyOf": [{ "const": OFF }, T::schema(owner)] })
    }

    fn to_json(&self) -> Value {
        self.0.as_ref().map_or(OFF.into(), T::to_json)
    }
}

/// A value out of a few named ones.
pub trait Choice: Copy + fmt::Display + 'static {
    const ALL: &'static [Self];

    fn bad_name(name: &str) -> BadValue;
}

/// Returns the choice with this name.
pub fn parse_choice<T: Choice>(name: &str) -> Result<T, BadValue> {
    let mut all = T::ALL.iter().copied();
    let found = all.find(|choice| choice.to_string() == name.trim());
    found.ok_or_else(|| T::bad_name(name))
}

impl<T: Choice> SettingValue for T {
    fn read(line: &ConfigLine<'_>) -> Result<Self, ConfigFault> {
        line.checked(parse_choice(line.text()?))
    }

    fn schema(_: Owner) -> Value {
        let names: Vec<String> = T::ALL.iter().map(ToString::to_string).collect();
        json!({ "enum": names })
    }
}

impl Choice for Permissions {
    const ALL: &'static [Self] = &Self::ALL;

    fn bad_name(name: &str) -> BadValue {
        BadValue::new(
            format!("unknown permissions `{name}`"),
            "use \"skip\" (no permission prompts) or \"own\" (the agent's own settings)",
        )
    }
}

impl Choice for FinalCheckPolicy {
    const ALL: &'static [Self] = &Self::ALL;

    fn bad_name(name: &str) -> BadValue {
        BadValue::new(
            format!("unknown final check `{name}`"),
            "use \"fail\" (open tasks again that no longer pass), \"warn\" or \"off\"",
        )
    }
}

impl Choice for TamperPolicy {
    const ALL: &'static [Self] = &Self::ALL;

    fn bad_name(name: &str) -> BadValue {
        BadValue::new(
            format!("unknown tamper policy `{name}`"),
            "use \"fail\" (fail an attempt if two different signs agree), \"warn\" or \"off\"",
        )
    }
}

impl Choice for PreflightPolicy {
    const ALL: &'static [Self] = &Self::ALL;

    fn bad_name(name: &str) -> BadValue {
        BadValue::new(
            format!("unknown preflight `{name}`"),
            "use \"fail\" (refuse a run whose checks can't start), \"warn\" or \"off\"",
        )
    }
}

impl Choice for DiagnosisAsk {
    const ALL: &'static [Self] = &Self::ALL;

    fn bad_name(name: &str) -> BadValue {
        BadValue::new(
            format!("cannot ask `{name}` for a diagnosis"),
            "use \"agent\" (the agent that works on the tasks) or \"off\"",
        )
    }
}

impl Choice for RepairPolicy {
    const ALL: &'static [Self] = &Self::ALL;

    fn bad_name(name: &str) -> BadValue {
        BadValue::new(
            format!("unknown repair policy `{name}`"),
            "use \"safe\" (repairs checked to be safe), \"ask\" (ask before each repair) or \"off\"",
        )
    }
}

named_enum! {
    /// Whether finished tasks are committed.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
    pub enum CommitMode {
        /// Commit each finished task that names a commit
        #[default]
        Auto = "auto",
        /// Commit every finished task, unless its Commit field says None
        All = "all",
        /// Leave commits to you
        Never = "never",
    }
}

impl Choice for CommitMode {
    const ALL: &'static [Self] = &Self::ALL;

    fn bad_name(name: &str) -> BadValue {
        BadValue::new(
            format!("unknown commit mode `{name}`"),
            "use \"auto\", \"all\" or \"never\"",
        )
    }
}

/// The command that checks the whole workspace. An empty string means none, which overrides a
/// command from a weaker layer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gate(Option<String>);

impl Gate {
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
                "the command contains a NUL byte",
                "write a shell command such as `make check`",
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

impl SettingValue for Gate {
    fn read(line: &ConfigLine<'_>) -> Result<Self, ConfigFault> {
        line.parsed()
    }

    fn to_json(&self) -> Value {
        self.0.clone().into()
    }
}

/// Something that is on unless the user turns it off. A repository may turn it off as well, but not
/// on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserSwitch(bool);

impl UserSwitch {
    pub fn is_on(self) -> bool {
        self.0
    }
}

impl Default for UserSwitch {
    fn default() -> Self {
        Self(true)
    }
}

impl fmt::Display for UserSwitch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl SettingValue for UserSwitch {
    fn read(line: &ConfigLine<'_>) -> Result<Self, ConfigFault> {
        let is_on = line.boolean()?;
        if is_on && line.file.owner == Owner::Workspace {
            return line.checked(Err(BadValue::new(
                "a repository can only turn this off",
                "remove the line, or write false",
            )));
        }
        Ok(Self(is_on))
    }

    fn schema(owner: Owner) -> Value {
        match owner {
            Owner::Workspace => json!({ "const": false }),
            Owner::User => json!({ "type": "boolean" }),
        }
    }

    fn to_json(&self) -> Value {
        self.0.into()
    }
}

/// A program of the user and its arguments, started without a shell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserProgram(Option<Vec<String>>);

impl UserProgram {
    const HINT: &str = r#"write the program and its arguments: ["notify-send", "regreen"]"#;

    fn new(argv: Vec<String>) -> Result<Self, BadValue> {
        match argv.first().map(String::as_str) {
            None | Some("") => Err(BadValue::new("missing program", Self::HINT)),
            _ if argv.iter().any(|word| word.contains('\0')) => {
                Err(BadValue::new("an argument contains a NUL byte", Self::HINT))
            }
            _ => Ok(Self(Some(argv))),
        }
    }

    pub fn argv(&self) -> Option<&[String]> {
        self.0.as_deref()
    }
}

impl fmt::Display for UserProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            None => f.write_str("none"),
            Some(argv) => write!(f, "{}", json!(argv)),
        }
    }
}

impl SettingValue for UserProgram {
    fn read(line: &ConfigLine<'_>) -> Result<Self, ConfigFault> {
        let argv = line.words(Self::HINT)?;
        line.checked(Self::new(argv))
    }

    fn schema(_: Owner) -> Value {
        json!({ "type": "array", "items": { "type": "string" }, "minItems": 1 })
    }

    fn to_json(&self) -> Value {
        self.0.clone().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::TimeLimit;

    #[test]
    fn off_removes_a_limit_and_zero_is_refused_with_that_hint() {
        let ms = |text: &str| {
            let limit = text.parse::<OptionalLimit<TimeLimit>>()?.limit();
            Ok::<_, BadValue>(limit.map(TimeLimit::ms))
        };
        assert_eq!(ms("off"), Ok(None));
        assert_eq!(ms("90s"), Ok(Some(90_000)));
        let zero = ms("0s").unwrap_err();
        assert!(zero.hint.ends_with("`off` means no limit"), "{zero}");
    }

    #[track_caller]
    fn check_choice<T: Choice + PartialEq + fmt::Debug>(error: &str) {
        for choice in T::ALL {
            assert_eq!(parse_choice(&choice.to_string()), Ok(*choice));
        }
        let unknown = parse_choice::<T>("always").unwrap_err();
        assert_eq!(unknown.to_string(), error);
    }

    #[test]
    fn a_choice_is_read_by_the_name_that_is_shown() {
        check_choice::<Permissions>(
            "unknown permissions `always`; use \"skip\" (no permission prompts) or \"own\" (the agent's own settings)",
        );
        check_choice::<RepairPolicy>(
            "unknown repair policy `always`; use \"safe\" (repairs checked to be safe), \"ask\" (ask before each repair) or \"off\"",
        );
        check_choice::<FinalCheckPolicy>(
            "unknown final check `always`; use \"fail\" (open tasks again that no longer pass), \"warn\" or \"off\"",
        );
        check_choice::<TamperPolicy>(
            "unknown tamper policy `always`; use \"fail\" (fail an attempt if two different signs agree), \"warn\" or \"off\"",
        );
        check_choice::<PreflightPolicy>(
            "unknown preflight `always`; use \"fail\" (refuse a run whose checks can't start), \"warn\" or \"off\"",
        );
        check_choice::<CommitMode>(
            "unknown commit mode `always`; use \"auto\", \"all\" or \"never\"",
        );
    }

    #[test]
    fn the_flag_for_commits_knows_every_mode_by_the_same_name() {
        assert_eq!(CommitMode::value_variants(), CommitMode::ALL);
        for mode in CommitMode::ALL {
            let flag = mode.to_possible_value().unwrap();
            assert_eq!(flag.get_name(), mode.to_string());
        }
    }

    #[test]
    fn an_empty_gate_counts_as_no_gate() {
        let gate = |text: &str| text.parse::<Gate>().unwrap();
        assert_eq!(gate("make check\n").command(), Some("make check"));
        assert_eq!(gate(" ").command(), None);
        assert!("a\0b".parse::<Gate>().is_err());
    }

    #[test]
    fn on_end_names_a_program() {
        let on_end =
            |argv: &[&str]| UserProgram::new(argv.iter().map(ToString::to_string).collect());
        assert!(on_end(&["say", "done", ""]).is_ok());
        assert!(on_end(&[]).is_err());
        assert!(on_end(&["", "x"]).is_err());
        assert!(on_end(&["say", "a\0b"]).is_err());
    }
}
