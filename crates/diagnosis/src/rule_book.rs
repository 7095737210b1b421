use std::collections::BTreeMap;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

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
#[derive(Debug)]
pub(crate) struct RuleBook {
    pub(crate) rules: Vec<Rule>,
    by_name: BTreeMap<String, usize>,
    /// Finds the texts that rules need.
    prefilter: Option<AhoCorasick>,
    /// For each of these texts the rules that need it.
    needed_by: Vec<Vec<usize>>,
}

/// A rule file that cannot be used. Tests make sure that none of ours is.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RuleFileError {
    #[error("{family}: {error}")]
    Toml {
        family: String,
        error: Box<toml::de::Error>,
    },
    #[error("the texts that rules need: {0}")]
    Prefilter(#[from] aho_corasick::BuildError),
}

static BOOK: LazyLock<RuleBook> =
    LazyLock::new(|| RuleBook::read(FAMILIES).unwrap_or_else(|_| RuleBook::empty()));

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
        Self::of(rules)
    }

    fn of(rules: Vec<Rule>) -> Result<Self, RuleFileError> {
        let mut needed_by: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (n, rule) in rules.iter().enumerate() {
            for need in &rule.text.needs {
                needed_by.entry(need.to_lowercase()).or_default().push(n);
            }
        }
        let prefilter = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::DFA))
            .build(needed_by.keys())?;
        let by_name = rules.iter().enumerate();
        Ok(Self {
            by_name: by_name.map(|(n, rule)| (rule.name.clone(), n)).collect(),
            prefilter: Some(prefilter),
            needed_by: needed_by.into_values().collect(),
            rules,
        })
    }

    /// A book that finds nothing.
    fn empty() -> Self {
        Self {
            rules: Vec::new(),
            by_name: BTreeMap::new(),
            prefilter: None,
            needed_by: Vec::new(),
        }
    }

    pub(crate) fn rule(&self, name: &str) -> Option<&Rule> {
        self.by_name.get(name).map(|n| &self.rules[*n])
    }

    /// Where the next text that some rule needs ends, from `start` on.
    pub(crate) fn next_hit(&self, bytes: &[u8], start: usize) -> Option<usize> {
        let found = self.prefilter.as_ref()?.find(bytes.get(start..)?)?;
        Some(start + found.end())
    }

    /// The rules that can match this line, in the book's order.
    pub(crate) fn candidates(&self, line: &str) -> Vec<usize> {
        let Some(prefilter) = &self.prefilter else {
            return Vec::new();
        };
        let mut found: Vec<usize> = prefilter
            .find_overlapping_iter(line)
            .flat_map(|hit| self.needed_by[hit.pattern().as_usize()].iter().copied())
            .collect();
        found.sort_unstable();
        found.dedup();
        found
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
