use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

use regreen_model::Source;

use crate::prefilter::Prefilter;
use crate::rule::{FamilyText, Rule};

/// The rule files, by family.
pub(crate) const FAMILIES: &[(&str, &str)] = &[
    ("system", include_str!("../rules/system.toml")),
    ("shell", include_str!("../rules/shell.toml")),
    ("python", include_str!("../rules/python.toml")),
    ("node", include_str!("../rules/node.toml")),
    ("rust", include_str!("../rules/rust.toml")),
    ("c", include_str!("../rules/c.toml")),
    ("go", include_str!("../rules/go.toml")),
    ("java", include_str!("../rules/java.toml")),
    ("ruby", include_str!("../rules/ruby.toml")),
    ("php", include_str!("../rules/php.toml")),
    (
        "other_languages",
        include_str!("../rules/other_languages.toml"),
    ),
    ("git", include_str!("../rules/git.toml")),
    ("containers", include_str!("../rules/containers.toml")),
    ("network", include_str!("../rules/network.toml")),
    ("database", include_str!("../rules/database.toml")),
    ("packages", include_str!("../rules/packages.toml")),
    ("tests", include_str!("../rules/tests.toml")),
    ("time", include_str!("../rules/time.toml")),
    ("signs", include_str!("../rules/signs.toml")),
    ("generic", include_str!("../rules/generic.toml")),
    ("agent_apis", include_str!("../rules/agent_apis.toml")),
    (
        "agent_messages",
        include_str!("../rules/agent_messages.toml"),
    ),
];

/// All rules, and how to find those that can match a line.
#[derive(Debug, Default)]
pub(crate) struct RuleBook {
    pub(crate) rules: Vec<Rule>,
    by_name: BTreeMap<String, usize>,
    /// For texts of agents and of commands: prose is full of words that would slow down the
    /// search in logs.
    agent: OnceLock<Option<Prefilter>>,
    command: OnceLock<Option<Prefilter>>,
}

/// A rule file that cannot be used. Tests make sure that none of ours is.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RuleFileError {
    #[error("{family}: {error}")]
    Toml {
        family: String,
        error: Box<toml::de::Error>,
    },
}

static BOOK: LazyLock<RuleBook> = LazyLock::new(|| RuleBook::read(FAMILIES).unwrap_or_default());

impl RuleBook {
    /// The rules that come with the program.
    pub(crate) fn ours() -> &'static Self {
        &BOOK
    }

    pub(crate) fn read(families: &[(&str, &str)]) -> Result<Self, RuleFileError> {
        let mut rules = Vec::new();
        for (family, text) in families {
            rules.extend(read_family(family, text)?);
        }
        let by_name = rules.iter().enumerate();
        Ok(Self {
            by_name: by_name.map(|(n, rule)| (rule.name.clone(), n)).collect(),
            rules,
            ..Self::default()
        })
    }

    pub(crate) fn rule(&self, name: &str) -> Option<&Rule> {
        self.by_name.get(name).map(|n| &self.rules[*n])
    }

    /// What finds lines that rules for this source can match.
    pub(crate) fn prefilter(&self, source: Source) -> Option<&Prefilter> {
        let cell = match source {
            Source::Agent => &self.agent,
            Source::Command => &self.command,
        };
        cell.get_or_init(|| Prefilter::new(&self.rules, source))
            .as_ref()
    }
}

fn read_family(family: &str, text: &str) -> Result<Vec<Rule>, RuleFileError> {
    let mut file: FamilyText = toml::from_str(text).map_err(|error| RuleFileError::Toml {
        family: family.to_owned(),
        error: Box::new(error),
    })?;
    let rules = std::mem::take(&mut file.rule);
    let rules = rules.into_iter();
    Ok(rules.map(|rule| Rule::new(family, rule, &file)).collect())
}
