use std::collections::BTreeMap;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use regreen_model::Source;

use crate::rule::Rule;

/// Finds the texts that rules need: most lines have none of them and are never looked at.
#[derive(Debug)]
pub(crate) struct Prefilter {
    texts: AhoCorasick,
    /// For each text the rules that need it.
    needed_by: Vec<Vec<usize>>,
}

impl Prefilter {
    /// For the rules that read this source. `None` if they cannot be searched for, which a
    /// test rules out.
    pub(crate) fn new(rules: &[Rule], source: Source) -> Option<Self> {
        let mut needed_by: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (n, rule) in rules
            .iter()
            .enumerate()
            .filter(|(_, rule)| rule.reads(source))
        {
            for need in rule.needs {
                needed_by.entry(need.to_lowercase()).or_default().push(n);
            }
        }
        let texts = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::DFA))
            .build(needed_by.keys())
            .ok()?;
        Some(Self {
            texts,
            needed_by: needed_by.into_values().collect(),
        })
    }

    /// Where the next text that some rule needs ends, from `start` on.
    pub(crate) fn next_hit(&self, bytes: &[u8], start: usize) -> Option<usize> {
        let found = self.texts.find(bytes.get(start..)?)?;
        Some(start + found.end())
    }

    /// The rules that can match this line, in the book's order.
    pub(crate) fn candidates(&self, line: &str) -> Vec<usize> {
        let hits = self.texts.find_overlapping_iter(line);
        let mut found: Vec<usize> = hits
            .flat_map(|hit| self.needed_by[hit.pattern().as_usize()].iter().copied())
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}
