use aho_corasick::{AhoCorasick, AhoCorasickKind, BuildError, Input, MatchKind};

use crate::rule::Rule;
use crate::rules::RULES;

/// The texts that are searched for, and what each of them stands for. None has a line break.
#[derive(Debug)]
pub(crate) struct Anchors {
    searcher: AhoCorasick,
    /// By their text.
    anchors: Vec<Anchor>,
    /// For each anchor, itself and those that are a beginning of it: where the longest is
    /// found, all of them are.
    together: Vec<Vec<usize>>,
    longest: usize,
}

#[derive(Debug)]
pub(crate) struct Anchor {
    pub(crate) text: Vec<u8>,
    /// `None`: the text is the secret.
    pub(crate) rule: Option<&'static Rule>,
}

impl Anchors {
    pub(crate) fn new(literals: impl Iterator<Item = Vec<u8>>) -> Result<Self, BuildError> {
        let mut anchors: Vec<Anchor> = literals
            .map(|text| Anchor { text, rule: None })
            .chain(rule_anchors())
            .collect();
        anchors.sort_by(|a, b| a.text.cmp(&b.text));
        let searcher = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .kind(Some(kind_for(&anchors)))
            .build(anchors.iter().map(|anchor| &anchor.text))?;
        let together = anchors.iter().map(|anchor| beginnings(anchor, &anchors));
        Ok(Self {
            searcher,
            together: together.collect(),
            longest: anchors.iter().map(|a| a.text.len()).max().unwrap_or(0),
            anchors,
        })
    }

    /// The first place from `from` on where anchors stand, and which.
    pub(crate) fn find(
        &self,
        text: &[u8],
        from: usize,
    ) -> Option<(usize, impl Iterator<Item = &Anchor>)> {
        let hit = self
            .searcher
            .find(Input::new(text).span(from..text.len()))?;
        let together = &self.together[hit.pattern().as_usize()];
        let anchors = together.iter().map(|&index| &self.anchors[index]);
        Some((hit.start(), anchors))
    }

    /// Where the last bytes of `text` may be the beginning of an anchor; its length if they
    /// are not.
    pub(crate) fn unfinished(&self, text: &[u8]) -> usize {
        let reach = text.len().saturating_sub(self.longest.saturating_sub(1));
        let line = text[reach..].iter().rposition(|&byte| byte == b'\n');
        let first = line.map_or(reach, |at| reach + at + 1);
        (first..text.len())
            .find(|&at| self.is_beginning(&text[at..]))
            .unwrap_or(text.len())
    }

    fn is_beginning(&self, tail: &[u8]) -> bool {
        let next = self
            .anchors
            .partition_point(|anchor| anchor.text.as_slice() <= tail);
        self.anchors
            .get(next)
            .is_some_and(|anchor| anchor.text.starts_with(tail))
    }
}

fn rule_anchors() -> impl Iterator<Item = Anchor> {
    RULES.iter().flat_map(|rule| {
        rule.anchors.iter().map(move |text| Anchor {
            text: text.as_bytes().to_vec(),
            rule: Some(rule),
        })
    })
}

fn beginnings(of: &Anchor, anchors: &[Anchor]) -> Vec<usize> {
    let is_beginning = |anchor: &Anchor| of.text.starts_with(&anchor.text);
    (0..anchors.len())
        .filter(|&index| is_beginning(&anchors[index]))
        .collect()
}

/// The faster automaton, unless very many or very long values would make it large.
fn kind_for(anchors: &[Anchor]) -> AhoCorasickKind {
    const FEW_BYTES: usize = 16 * 1024;
    let bytes: usize = anchors.iter().map(|anchor| anchor.text.len()).sum();
    if bytes <= FEW_BYTES {
        AhoCorasickKind::DFA
    } else {
        AhoCorasickKind::ContiguousNFA
    }
}
