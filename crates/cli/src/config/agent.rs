//! The agent settings.

use std::fmt;
use std::str::FromStr;

use regreen_agents::{AgentChoice, AgentChoiceError};
use serde_json::{Value, json};

use super::key::Owner;
use super::read::{ConfigFault, ConfigLine};
use super::value::{BadValue, SettingValue};

/// The agent that the user asked for, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestedAgent {
    text: String,
    choice: AgentChoice,
}

impl Default for RequestedAgent {
    fn default() -> Self {
        Self {
            text: "auto".to_owned(),
            choice: AgentChoice::Auto,
        }
    }
}

impl RequestedAgent {
    pub fn choice(&self) -> &AgentChoice {
        &self.choice
    }

    /// Whether it names a program to run, which only the user may choose.
    fn names_program(&self) -> bool {
        match self.choice {
            AgentChoice::Auto | AgentChoice::Shell | AgentChoice::CodingAgent(_) => false,
            AgentChoice::Command(_) | AgentChoice::Acp(_) => true,
        }
    }

    /// Returns the names of the named agents.
    fn names() -> Vec<&'static str> {
        let known = AgentChoice::FORMS.into_iter();
        known.filter(|agent| !agent.contains(':')).collect()
    }
}

impl FromStr for RequestedAgent {
    type Err = BadValue;

    fn from_str(text: &str) -> Result<Self, BadValue> {
        let text = text.trim();
        match text.parse() {
            Ok(choice) => Ok(Self {
                text: text.to_owned(),
                choice,
            }),
            Err(AgentChoiceError::Unknown(name)) => Err(BadValue::new(
                format!("unknown agent `{name}`"),
                format!("known agents: {}", AgentChoice::FORMS.join(", ")),
            )),
            Err(error) => Err(BadValue::new(
                error.to_string(),
                "write the program and its arguments as in a shell: command:my-agent --fast",
            )),
        }
    }
}

impl fmt::Display for RequestedAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl SettingValue for RequestedAgent {
    fn read(line: &ConfigLine<'_>) -> Result<Self, ConfigFault> {
        let agent: Self = line.parsed()?;
        if line.file.owner == Owner::Workspace && agent.names_program() {
            return Err(ConfigFault {
                message: "a repository may not choose the program to run as the agent".to_owned(),
                span: line.value.span(),
                label: format!("only these are allowed here: {}", Self::names().join(", ")),
                hint: format!(
                    "if you trust it, set `agent` in {}, or pass --agent 'command:PROGRAM ARGS'",
                    line.file.user_file
                ),
            });
        }
        Ok(agent)
    }

    fn schema(owner: Owner) -> Value {
        let names = json!({ "enum": Self::names() });
        match owner {
            Owner::Workspace => names,
            Owner::User => {
                json!({ "anyOf": [names, { "type": "string", "pattern": "^(command|acp):" }] })
            }
        }
    }
}

/// The model that an agent uses. An empty string means none: the agent chooses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelName(Option<String>);

impl ModelName {
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
                "invalid model name",
                "use the agent's name for it: opus, gpt-5.5, provider/model",
            ));
        }
        Ok(Self((!name.is_empty()).then(|| name.to_owned())))
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get().unwrap_or("none"))
    }
}

impl SettingValue for ModelName {
    fn read(line: &ConfigLine<'_>) -> Result<Self, ConfigFault> {
        line.parsed()
    }

    fn to_json(&self) -> Value {
        self.0.clone().into()
    }
}

/// Extra arguments for an agent: a list in a file, a shell-like line on the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentArguments(Vec<String>);

impl AgentArguments {
    fn new(words: Vec<String>) -> Result<Self, BadValue> {
        Ok(Self(without_nul(words)?))
    }

    pub fn words(&self) -> &[String] {
        &self.0
    }
}

impl FromStr for AgentArguments {
    type Err = BadValue;

    fn from_str(line: &str) -> Result<Self, BadValue> {
        Self::new(split(line)?)
    }
}

impl fmt::Display for AgentArguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&joined(&self.0))
    }
}

impl SettingValue for AgentArguments {
    fn read(line: &ConfigLine<'_>) -> Result<Self, ConfigFault> {
        let words = line.words(r#"write a list of strings: ["--effort", "high"]"#)?;
        line.checked(Self::new(words))
    }

    fn schema(_: Owner) -> Value {
        json!({ "type": "array", "items": { "type": "string" } })
    }

    fn to_json(&self) -> Value {
        json!(self.0)
    }
}

/// Extra environment variables for an agent, each as `NAME=VALUE`. Values are often secret, so only
/// names are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentEnvironment(Vec<(String, String)>);

impl AgentEnvironment {
    fn new(words: Vec<String>) -> Result<Self, BadValue> {
        let pair = |word: &String| match word.split_once('=') {
            Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
            // The word itself may be a secret, so the message doesn't quote it.
            _ => Err(BadValue::new(
                "a variable has no name or no `=`",
                "write NAME=VALUE",
            )),
        };
        let pairs: Result<_, BadValue> = without_nul(words)?.iter().map(pair).collect();
        Ok(Self(pairs?))
    }

    pub fn pairs(&self) -> &[(String, String)] {
        &self.0
    }

    fn names(&self) -> Vec<String> {
        let names = self.0.iter().map(|(name, _)| format!("{name}=…"));
        names.collect()
    }
}

impl FromStr for AgentEnvironment {
    type Err = BadValue;

    fn from_str(line: &str) -> Result<Self, BadValue> {
        Self::new(split(line)?)
    }
}

impl fmt::Display for AgentEnvironment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&joined(&self.names()))
    }
}

impl SettingValue for AgentEnvironment {
    fn read(line: &ConfigLine<'_>) -> Result<Self, ConfigFault> {
        let words = line.words(r#"write a list of strings: ["NAME=VALUE"]"#)?;
        line.checked(Self::new(words))
    }

    fn schema(_: Owner) -> Value {
        json!({ "type": "array", "items": { "type": "string", "pattern": "^[^=]+=" } })
    }

    fn to_json(&self) -> Value {
        self.names().into()
    }
}

fn without_nul(words: Vec<String>) -> Result<Vec<String>, BadValue> {
    if words.iter().any(|word| word.contains('\0')) {
        return Err(BadValue::new("a word contains a NUL byte", "remove it"));
    }
    Ok(words)
}

fn split(line: &str) -> Result<Vec<String>, BadValue> {
    shell_words::split(line)
        .map_err(|_| BadValue::new("unclosed quote", "quote words as in a shell"))
}

fn joined(words: &[String]) -> String {
    match words {
        [] => "none".to_owned(),
        words => shell_words::join(words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_with_a_name_brings_no_program() {
        for name in RequestedAgent::names() {
            let agent: RequestedAgent = name.parse().unwrap();
            assert!(!agent.names_program(), "{name}");
            assert_eq!(agent.to_string(), name);
        }
        let command: RequestedAgent = " command:./agent.sh -x ".parse().unwrap();
        assert!(command.names_program());
        assert_eq!(command.to_string(), "command:./agent.sh -x");
        assert_eq!("auto".parse(), Ok(RequestedAgent::default()));
    }

    #[test]
    fn an_unknown_agent_is_refused_with_the_known_ones() {
        assert_eq!(
            "clyde".parse::<RequestedAgent>().unwrap_err().to_string(),
            "unknown agent `clyde`; known agents: auto, claude, codex, gemini, opencode, shell, command:PROGRAM ARGS, acp:PROGRAM ARGS"
        );
    }

    #[test]
    fn arguments_are_split_as_a_shell_does() {
        let words: AgentArguments = "--effort high --note 'a b'".parse().unwrap();
        assert_eq!(words.words(), ["--effort", "high", "--note", "a b"]);
        assert!("'open".parse::<AgentArguments>().is_err());
    }

    #[test]
    fn an_environment_is_made_of_pairs_and_shows_no_value() {
        let variables: AgentEnvironment = "A=1 KEY='se cret'".parse().unwrap();
        let second = &variables.pairs()[1];
        assert_eq!(*second, ("KEY".to_owned(), "se cret".to_owned()));
        assert!(!variables.to_string().contains("cret"), "{variables}");
        assert_eq!(variables.to_json(), json!(["A=…", "KEY=…"]));
        for bad in ["=x", "plain", "A=1 b"] {
            assert!(bad.parse::<AgentEnvironment>().is_err(), "{bad}");
        }
    }
}
