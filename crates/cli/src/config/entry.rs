//! One line of a configuration file, read as what its key wants.

use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;

use toml::Spanned;
use toml::de::DeValue;

use super::agent_words::{AgentArguments, AgentEnvironment};
use super::asked_agent::AskedAgent;
use super::bad_value::BadValue;
use super::count::Count;
use super::fault::Fault;
use super::key::Key;
use super::on_end::OnEnd;
use super::or_off::{OFF, OrOff};
use super::origin::Origin;
use super::owner::Owner;
use super::prompt_folder::PromptFolder;
use super::source::Source;
use super::sourced::Sourced;

/// A known key and the value it is given.
#[derive(Debug)]
pub struct Entry<'t> {
    pub key: Key,
    pub value: &'t Spanned<DeValue<'t>>,
    /// 1-based.
    pub line: usize,
    pub source: &'t Source,
}

impl Entry<'_> {
    pub fn agent(&self) -> Result<Sourced<AskedAgent>, Fault> {
        let agent: Sourced<AskedAgent> = self.parsed()?;
        if self.source.owner == Owner::Workspace && agent.value.brings_program() {
            return Err(self.foreign_program());
        }
        Ok(agent)
    }

    /// A value that is written as text.
    pub fn parsed<T: FromStr<Err = BadValue>>(&self) -> Result<Sourced<T>, Fault> {
        let text = self.text()?;
        self.sourced(text.parse())
    }

    pub fn count(&self) -> Result<Sourced<Count>, Fault> {
        match self.value.get_ref() {
            DeValue::Integer(number) => {
                self.sourced(Count::from_digits(number.as_str(), number.radix()))
            }
            other => Err(self.wrong_type("a number such as 5", other)),
        }
    }

    /// A value that is written as a number, or as the word for no limit.
    pub fn number<T: FromStr<Err = BadValue>>(&self) -> Result<Sourced<OrOff<T>>, Fault> {
        let number = match self.value.get_ref() {
            DeValue::Integer(number) => match i128::from_str_radix(number.as_str(), number.radix())
            {
                Ok(whole) => whole.to_string(),
                Err(_) => number.as_str().to_owned(),
            },
            DeValue::Float(number) => number.as_str().to_owned(),
            DeValue::String(word) if word == OFF => word.to_string(),
            other => return Err(self.wrong_type("a number, or \"off\" for no limit", other)),
        };
        self.sourced(number.parse())
    }

    pub fn flag(&self) -> Result<Sourced<bool>, Fault> {
        match self.value.get_ref() {
            DeValue::Boolean(flag) => self.sourced(Ok(*flag)),
            other => Err(self.wrong_type("true or false", other)),
        }
    }

    pub fn prompts(&self) -> Result<Sourced<PromptFolder>, Fault> {
        let text = self.text()?;
        let Source { owner, file, .. } = self.source;
        self.sourced(PromptFolder::named(text, *owner, file))
    }

    pub fn on_end(&self) -> Result<Sourced<OnEnd>, Fault> {
        let argv = self.words(r#"a list of texts: ["notify-send", "regreen"]"#)?;
        self.sourced(OnEnd::new(argv))
    }

    pub fn agent_args(&self) -> Result<Sourced<AgentArguments>, Fault> {
        let words = self.words(r#"a list of texts: ["--effort", "high"]"#)?;
        self.sourced(AgentArguments::new(words))
    }

    pub fn agent_env(&self) -> Result<Sourced<AgentEnvironment>, Fault> {
        let words = self.words(r#"a list of texts: ["NAME=VALUE"]"#)?;
        self.sourced(AgentEnvironment::new(words))
    }

    fn words(&self, expected: &str) -> Result<Vec<String>, Fault> {
        let DeValue::Array(words) = self.value.get_ref() else {
            return Err(self.wrong_type(expected, self.value.get_ref()));
        };
        let word = |word: &Spanned<DeValue<'_>>| match word.get_ref() {
            DeValue::String(text) => Ok(text.to_string()),
            other => Err(self.wrong_type_at(word.span(), expected, other)),
        };
        words.iter().map(word).collect()
    }

    fn text(&self) -> Result<&str, Fault> {
        match self.value.get_ref() {
            DeValue::String(text) => Ok(text),
            other => Err(self.wrong_type("text in quotes", other)),
        }
    }

    fn sourced<T>(&self, value: Result<T, BadValue>) -> Result<Sourced<T>, Fault> {
        match value {
            Ok(value) => Ok(Sourced::new(value, self.origin())),
            Err(BadValue { problem, way_out }) => Err(Fault {
                message: format!("`{}` cannot be set to this", self.key.name()),
                span: self.value.span(),
                label: problem,
                way_out,
            }),
        }
    }

    fn origin(&self) -> Origin {
        Origin::File {
            owner: self.source.owner,
            file: Arc::clone(&self.source.file),
            line: self.line,
        }
    }

    fn wrong_type(&self, expected: &str, found: &DeValue<'_>) -> Fault {
        self.wrong_type_at(self.value.span(), expected, found)
    }

    fn wrong_type_at(&self, span: Range<usize>, expected: &str, found: &DeValue<'_>) -> Fault {
        Fault {
            message: format!("`{}` cannot be set to this", self.key.name()),
            span,
            label: format!("this is {}", type_name(found)),
            way_out: format!("write {expected}"),
        }
    }

    fn foreign_program(&self) -> Fault {
        let names: Vec<&str> = AskedAgent::names().collect();
        Fault {
            message: "a repository may not choose the program that is run as the agent".to_owned(),
            span: self.value.span(),
            label: format!("only a name may stand here: {}", names.join(", ")),
            way_out: format!(
                "if you trust it, set `agent` in {}, or use the flag --agent 'command:PROGRAM ARGS'",
                self.source.users_file
            ),
        }
    }
}

fn type_name(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date or a time of day",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
