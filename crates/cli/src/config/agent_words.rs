use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use super::bad_value::BadValue;

/// More arguments for an agent: a list in a file, a line as in a shell on the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct AgentArguments(Vec<String>);

/// More environment for an agent, each word `NAME=VALUE`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct AgentEnvironment(Vec<String>);

impl AgentArguments {
    pub fn new(words: Vec<String>) -> Result<Self, BadValue> {
        without_nul(&words)?;
        Ok(Self(words))
    }

    #[must_use]
    pub fn words(&self) -> &[String] {
        &self.0
    }
}

impl AgentEnvironment {
    pub fn new(words: Vec<String>) -> Result<Self, BadValue> {
        without_nul(&words)?;
        let is_pair = |word: &String| {
            word.split_once('=')
                .is_some_and(|(name, _)| !name.is_empty())
        };
        match words.iter().find(|word| !is_pair(word)) {
            // What stands there may be a secret.
            Some(_) => Err(BadValue::new(
                "a word has no name and no `=`",
                "write NAME=VALUE",
            )),
            None => Ok(Self(words)),
        }
    }

    /// What can be shown: values are often secret.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let pairs = self.pairs();
        pairs.map(|(name, _)| format!("{name}=…")).collect()
    }

    pub fn pairs(&self) -> impl Iterator<Item = (String, String)> {
        let pairs = self.0.iter().filter_map(|word| word.split_once('='));
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned()))
    }
}

fn without_nul(words: &[String]) -> Result<(), BadValue> {
    match words.iter().any(|word| word.contains('\0')) {
        true => Err(BadValue::new(
            "a word cannot have a NUL in it",
            "leave it out",
        )),
        false => Ok(()),
    }
}

fn split(line: &str) -> Result<Vec<String>, BadValue> {
    shell_words::split(line)
        .map_err(|_| BadValue::new("a quote is not closed", "quote words as in a shell"))
}

impl FromStr for AgentArguments {
    type Err = BadValue;

    fn from_str(line: &str) -> Result<Self, BadValue> {
        Self::new(split(line)?)
    }
}

impl FromStr for AgentEnvironment {
    type Err = BadValue;

    fn from_str(line: &str) -> Result<Self, BadValue> {
        Self::new(split(line)?)
    }
}

impl fmt::Display for AgentArguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(&self.0, f)
    }
}

impl fmt::Display for AgentEnvironment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(&self.names(), f)
    }
}

fn show(words: &[String], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match words {
        [] => f.write_str("none"),
        words => f.write_str(&shell_words::join(words)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_taken_apart_like_a_shell_does() {
        let words: AgentArguments = "--effort high --note 'a b'".parse().unwrap();
        assert_eq!(words.words(), ["--effort", "high", "--note", "a b"]);
        assert!("'open".parse::<AgentArguments>().is_err());
    }

    #[test]
    fn an_environment_is_made_of_pairs_and_shows_no_value() {
        let words: AgentEnvironment = "A=1 KEY='se cret'".parse().unwrap();
        let pairs: Vec<(String, String)> = words.pairs().collect();
        assert_eq!(pairs[1], ("KEY".to_owned(), "se cret".to_owned()));
        assert!(!words.to_string().contains("cret"), "{words}");
        for bad in ["=x", "plain", "A=1 b"] {
            assert!(bad.parse::<AgentEnvironment>().is_err(), "{bad}");
        }
    }
}
