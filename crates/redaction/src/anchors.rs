use crate::rule::Rule;
use crate::rules::RULES;

/// Every anchor has at least this many bytes.
const BEGINNING: usize = 3;
const HASH_BITS: u32 = 14;
/// How many positions in eight bytes a beginning can have.
const OFFSETS: usize = 8 - (BEGINNING - 1);

/// The texts to search for, and the rule for each. None has a line break.
///
/// There are some two hundred, and hardly any byte of a log starts one of them. So for every byte,
/// the search looks up in a small table whether any anchor starts with three bytes that hash like
/// the next three.
#[derive(Debug)]
pub(crate) struct Anchors {
    /// Sorted by text.
    anchors: Vec<Anchor>,
    beginnings: Box<Beginnings>,
    longest: usize,
}

#[derive(Debug)]
pub(crate) struct Anchor {
    pub(crate) text: Vec<u8>,
    /// `None` if the text itself is the secret.
    pub(crate) rule: Option<&'static Rule>,
}

impl Anchors {
    /// Leaves out literals that are too short to search for.
    pub(crate) fn new(literals: impl Iterator<Item = Vec<u8>>) -> Self {
        let mut anchors: Vec<Anchor> = literals
            .map(|text| Anchor { text, rule: None })
            .chain(rule_anchors())
            .filter(|anchor| anchor.text.len() >= BEGINNING)
            .collect();
        anchors.sort_by(|a, b| a.text.cmp(&b.text));
        Self {
            beginnings: Beginnings::of(&anchors),
            longest: anchors.iter().map(|a| a.text.len()).max().unwrap_or(0),
            anchors,
        }
    }

    /// Returns the first position from `from` on where anchors start, and those anchors.
    pub(crate) fn find<'a>(
        &'a self,
        text: &'a [u8],
        from: usize,
    ) -> Option<(usize, impl Iterator<Item = &'a Anchor>)> {
        let mut from = from;
        loop {
            let at = from + self.beginnings.first_in(text.get(from..)?)?;
            let here = self.at(&text[at..]);
            if here.clone().next().is_some() {
                return Some((at, here));
            }
            from = at + 1;
        }
    }

    /// Returns the anchors that `text` starts with.
    fn at<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = &'a Anchor> + Clone {
        let beginning = &text[..BEGINNING];
        let first = self
            .anchors
            .partition_point(|anchor| &anchor.text[..BEGINNING] < beginning);
        self.anchors[first..]
            .iter()
            .take_while(move |anchor| anchor.text.starts_with(beginning))
            .filter(move |anchor| text.starts_with(&anchor.text))
    }

    /// Returns where an unfinished anchor at the end of `text` may start; its length if there is
    /// none.
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

/// The hashed first bytes of all anchors: small enough for the L1 cache.
#[derive(Debug)]
struct Beginnings {
    /// Whether an anchor starts with these three bytes.
    three: [Share; 1 << HASH_BITS],
    /// Whether an anchor starts with these four bytes.
    four: [bool; 1 << HASH_BITS],
}

/// How anchors start with three bytes.
type Share = u8;
const NONE: Share = 0;
const BEGIN: Share = 1;
/// An anchor consists of just these bytes.
const WHOLE: Share = 2;

impl Beginnings {
    fn of(anchors: &[Anchor]) -> Box<Self> {
        let mut all = Box::new(Self {
            three: [NONE; _],
            four: [false; _],
        });
        for anchor in anchors {
            let [a, b, c, rest @ ..] = anchor.text.as_slice() else {
                continue;
            };
            let three = &mut all.three[hash(u32::from_le_bytes([0, *a, *b, *c]))];
            match rest.first() {
                Some(d) => {
                    *three |= BEGIN;
                    all.four[hash(u32::from_le_bytes([*a, *b, *c, *d]))] = true;
                }
                None => *three |= WHOLE,
            }
        }
        all
    }

    /// Tests six positions at once, then each of them only if there is a hit.
    fn first_in(&self, text: &[u8]) -> Option<usize> {
        let mut at = 0;
        while let Some(block) = text[at..].first_chunk() {
            if self.is_any_in(*block) {
                let found = (at..at + OFFSETS).find(|&offset| self.is_at(&text[offset..]));
                if found.is_some() {
                    return found;
                }
            }
            at += OFFSETS;
        }
        (at..text.len()).find(|&offset| self.is_at(&text[offset..]))
    }

    fn is_any_in(&self, block: [u8; 8]) -> bool {
        let block = u64::from_le_bytes(block);
        let shares = (0..OFFSETS).map(|offset| {
            let four = (block >> (8 * offset)) as u32;
            self.three[hash(four << 8)]
        });
        shares.fold(NONE, |all, share| all | share) != NONE
    }

    fn is_at(&self, text: &[u8]) -> bool {
        let [a, b, c, rest @ ..] = text else {
            return false;
        };
        match self.three[hash(u32::from_le_bytes([0, *a, *b, *c]))] {
            NONE => false,
            BEGIN => rest
                .first()
                .is_none_or(|d| self.four[hash(u32::from_le_bytes([*a, *b, *c, *d]))]),
            _ => true,
        }
    }
}

fn hash(bytes: u32) -> usize {
    (bytes.wrapping_mul(0x9E37_79B1) >> (u32::BITS - HASH_BITS)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_anchor_is_found_at_every_offset() {
        let anchors = Anchors::new([b"a value".to_vec()].into_iter());
        for anchor in &anchors.anchors {
            for before in 0..20 {
                let text = [&vec![b'.'; before], anchor.text.as_slice(), b"..."].concat();
                let (at, mut here) = anchors.find(&text, 0).unwrap();
                assert_eq!(at, before);
                assert!(here.any(|found| found.text == anchor.text));
            }
        }
    }

    #[test]
    fn only_what_may_become_an_anchor_is_unfinished() {
        let anchors = Anchors::new([b"a value!".to_vec()].into_iter());
        assert_eq!(anchors.unfinished(b"text a val"), 5);
        assert_eq!(anchors.unfinished(b"text a value!"), 13);
        assert_eq!(anchors.unfinished(b"text a val\n"), 11);
        assert_eq!(anchors.unfinished(b""), 0);
    }
}
