use regreen_model::Source;

use crate::rules::rule::Rule;

/// How many characters of a text form its key.
const KEY_LENGTH: usize = 4;
/// The size of the table in bits, as a power of two: 32 KB fit into the L1 cache.
const TABLE_BITS: u32 = 18;
const WORDS: usize = 1 << (TABLE_BITS - 6);
/// Spreads keys over the table (Knuth's multiplicative hashing).
const SPREAD: u32 = 0x9E37_79B1;

/// Finds the texts that rules need. Most lines contain none of them and need no further work.
///
/// Thousands of texts are too many for a search with vector instructions, and the automaton for all
/// of them doesn't fit into a cache. So each text is found by four characters that are rare in
/// ordinary logs: one lookup in a small table per byte, and a comparison only on a hit.
#[derive(Debug)]
pub(crate) struct Prefilter {
    /// Maps each byte to lower case.
    lower: [u8; 256],
    /// One bit per hash of a key.
    table: Box<[u64; WORDS]>,
    /// Sorted by their keys.
    texts: Vec<Text>,
    /// Texts too short for a key. If there are any, every line is a candidate.
    short: Vec<Text>,
    /// The rules that need the texts, by number.
    rules: Vec<usize>,
}

/// Ordered by its key, then by itself, so that all rules that need a text are neighbours.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Text {
    key: u32,
    /// In lower case.
    bytes: &'static [u8],
    /// The start of its key.
    key_at: usize,
    /// The rules that need it, as a part of the list.
    rules: (usize, usize),
}

impl Text {
    fn new(need: &'static str, key_at: usize) -> Self {
        let bytes = need.as_bytes();
        let key = bytes[key_at..].iter().take(KEY_LENGTH);
        Self {
            key: key.fold(0, |key, byte| longer(key, *byte)),
            bytes,
            key_at,
            rules: (0, 0),
        }
    }
}

impl Prefilter {
    /// Creates the prefilter for the rules that read this source. Every run and every `explain` does, so
    /// it sorts once and allocates little.
    pub(crate) fn new(rules: &'static [Rule], source: Source) -> Self {
        let all = rules.iter().enumerate();
        let mut needs: Vec<(Text, usize)> = all
            .filter(|(_, rule)| rule.reads(source))
            .flat_map(|(n, rule)| {
                let needs = rule.needs.iter();
                needs.map(move |(need, key_at)| (Text::new(need, *key_at), n))
            })
            .collect();
        needs.sort_unstable();
        let rules = needs.iter().map(|(_, rule)| *rule).collect();
        let mut texts: Vec<Text> = Vec::with_capacity(needs.len());
        for (n, (text, _)) in needs.into_iter().enumerate() {
            match texts.last_mut() {
                Some(last) if (last.bytes, last.key_at) == (text.bytes, text.key_at) => {
                    last.rules.1 = n + 1;
                }
                _ => texts.push(Text {
                    rules: (n, n + 1),
                    ..text
                }),
            }
        }
        let (short, texts) = texts
            .into_iter()
            .partition(|text| text.bytes.len() < KEY_LENGTH);
        Self::of(texts, short, rules)
    }

    fn of(texts: Vec<Text>, short: Vec<Text>, rules: Vec<usize>) -> Self {
        let mut table = Box::new([0_u64; WORDS]);
        for text in &texts {
            let (word, bit) = slot(text.key);
            table[word] |= bit;
        }
        Self {
            lower: std::array::from_fn(|byte| {
                u8::try_from(byte).unwrap_or_default().to_ascii_lowercase()
            }),
            table,
            texts,
            short,
            rules,
        }
    }

    fn rules_of(&self, text: &Text) -> &[usize] {
        let (from, to) = text.rules;
        self.rules.get(from..to).unwrap_or_default()
    }

    /// Returns a position in the next line, from `start` on, that contains a text needed by a
    /// wanted rule.
    pub(crate) fn next_hit(
        &self,
        bytes: &[u8],
        start: usize,
        is_wanted: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        if !self.short.is_empty() {
            return bytes[start..]
                .iter()
                .position(|byte| *byte != b'\n')
                .map(|at| start + at + 1);
        }
        let mut from = start;
        loop {
            let (end, key) = self.next_key(bytes, from)?;
            let mut rules = self
                .texts_at(bytes, end, key)
                .flat_map(|text| self.rules_of(text));
            if rules.any(|n| is_wanted(*n)) {
                return Some(end);
            }
            from = end;
        }
    }

    /// Returns the rules that can match this line, in rule book order.
    pub(crate) fn candidates(&self, line: &[u8]) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::new();
        let mut from = 0;
        while let Some((end, key)) = self.next_key(line, from) {
            for text in self.texts_at(line, end, key) {
                found.extend(self.rules_of(text));
            }
            from = end;
        }
        for text in &self.short {
            let is_in = line
                .windows(text.bytes.len())
                .any(|part| part.eq_ignore_ascii_case(text.bytes));
            found.extend(self.rules_of(text).iter().filter(|_| is_in));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Returns the end of the next possible key, if it is after `from`.
    fn next_key(&self, bytes: &[u8], from: usize) -> Option<(usize, u32)> {
        let before = from.saturating_sub(KEY_LENGTH - 1);
        let start = bytes[before..from].iter();
        let mut key = start.fold(0, |key, byte| longer(key, self.lower[usize::from(*byte)]));
        for (n, byte) in bytes[from..].iter().enumerate() {
            key = longer(key, self.lower[usize::from(*byte)]);
            let (word, bit) = slot(key);
            if self.table[word] & bit != 0 {
                return Some((from + n + 1, key));
            }
        }
        None
    }

    /// Returns the texts whose key ends at `end`, after comparing them in full.
    fn texts_at<'a>(
        &'a self,
        bytes: &'a [u8],
        end: usize,
        key: u32,
    ) -> impl Iterator<Item = &'a Text> {
        let first = self.texts.partition_point(|text| text.key < key);
        let same = self.texts[first..]
            .iter()
            .take_while(move |text| text.key == key);
        same.filter(move |text| {
            let start = end.checked_sub(KEY_LENGTH + text.key_at);
            let part = start.and_then(|start| bytes.get(start..start + text.bytes.len()));
            part.is_some_and(|part| part.eq_ignore_ascii_case(text.bytes))
        })
    }
}

fn longer(key: u32, byte: u8) -> u32 {
    (key << 8) | u32::from(byte)
}

/// Returns the slot of a key in the table: the word, and the bit within it.
fn slot(key: u32) -> (usize, u64) {
    let hash = key.wrapping_mul(SPREAD) >> (32 - TABLE_BITS);
    ((hash >> 6) as usize & (WORDS - 1), 1 << (hash & 63))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rules::RuleBook;

    fn naive(line: &str, source: Source) -> Vec<usize> {
        let line = line.to_ascii_lowercase();
        let rules = RuleBook::ours().rules.iter().enumerate();
        let has = |rule: &Rule| rule.needs.iter().any(|(need, _)| line.contains(need));
        rules
            .filter(|(_, rule)| rule.reads(source) && has(rule))
            .map(|(n, _)| n)
            .collect()
    }

    #[test]
    fn no_line_of_any_example_is_missed() {
        for rule in RuleBook::ours().rules {
            for line in rule.examples.matching.iter().flat_map(|text| text.lines()) {
                let source = rule.source.unwrap_or(Source::Command);
                let found = RuleBook::ours()
                    .prefilter(source)
                    .candidates(line.as_bytes());
                assert_eq!(found, naive(line, source), "{line}");
            }
        }
    }

    #[test]
    fn lines_of_ordinary_logs_are_read_by_rules_that_count_only() {
        for line in [
            "2026-01-02T03:04:05.678Z DEBUG pool-3 served GET /items/97b7509 with status 200 in 49 ms",
            "   Compiling itoa v1.0.18",
            "[bundler] transforming 812/9000 ./src/widgets/panel.tsx  (cache hit)",
            "-rw-r--r-- 1 dev dev 18231 Jan  2 03:04 src/components/button.tsx",
            "Downloading https://files.example/packages/a1/b2/numpy-2.1.0-cp312-manylinux.whl (16.3 MB)",
            "  adding: assets/img/logo.svg (deflated 61%)",
            "test parser::tests::keeps_trailing_spaces ... ok",
            "Jan 02 03:04:05 host1 systemd[1]: Started Session 42 of user dev.",
            "                 at ./src/scheduler/queue.rs:118:9",
        ] {
            let rules = RuleBook::ours().rules;
            let prefilter = RuleBook::ours().prefilter(Source::Command);
            for n in prefilter.candidates(line.as_bytes()) {
                assert!(rules[n].role.is_counted(), "{}: {line}", rules[n].name);
            }
        }
    }

    proptest! {
        #[test]
        fn the_prefilter_agrees_with_a_plain_search(
            parts in proptest::collection::vec("(?:error|No module|npm ERR!|429|[a-z :\\n✓]{1,6}|\\PC{1,4})", 0..8),
        ) {
            let text = parts.concat();
            let prefilter = RuleBook::ours().prefilter(Source::Command);
            for line in text.lines() {
                prop_assert_eq!(prefilter.candidates(line.as_bytes()), naive(line, Source::Command));
            }
            let hit = prefilter.next_hit(text.as_bytes(), 0, |_| true);
            let has_any = text.lines().any(|line| !naive(line, Source::Command).is_empty());
            // A needed text may span two lines; then there is a hit but no rule.
            prop_assert!(hit.is_some() || !has_any);
        }
    }
}
