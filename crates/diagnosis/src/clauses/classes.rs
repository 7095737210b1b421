//! The classes of words by which clauses are read. The words are in `rules/word_classes.txt`.

use std::collections::BTreeMap;
use std::ops::BitOr;
use std::sync::LazyLock;

/// A set of classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Classes(u64);

impl Classes {
    const fn bit(place: u32) -> Self {
        Self(1 << place)
    }

    /// Returns whether a word of this set is in one of the other classes.
    pub(super) const fn has(self, any_of: Self) -> bool {
        self.0 & any_of.0 != 0
    }
}

impl BitOr for Classes {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

pub(super) const SELF: Classes = Classes::bit(0);
pub(super) const NEGATION: Classes = Classes::bit(1);
pub(super) const AUXILIARY: Classes = Classes::bit(2);
pub(super) const PASSIVE: Classes = Classes::bit(3);
pub(super) const MODAL: Classes = Classes::bit(4);
pub(super) const ADVERB: Classes = Classes::bit(5);
pub(super) const BECAUSE: Classes = Classes::bit(6);
pub(super) const CONDITION: Classes = Classes::bit(7);
pub(super) const CONTRAST: Classes = Classes::bit(8);
pub(super) const RELATIVE: Classes = Classes::bit(9);
pub(super) const JOIN: Classes = Classes::bit(10);
pub(super) const CHECK: Classes = Classes::bit(11);
pub(super) const EXPECTATION: Classes = Classes::bit(12);
pub(super) const DISARM: Classes = Classes::bit(14);
pub(super) const TAKE_OUT: Classes = Classes::bit(15);
pub(super) const LABEL: Classes = Classes::bit(16);
pub(super) const APPLY: Classes = Classes::bit(17);
pub(super) const ADAPT: Classes = Classes::bit(18);
pub(super) const IDLE: Classes = Classes::bit(19);
pub(super) const OFF: Classes = Classes::bit(20);
pub(super) const GREEN: Classes = Classes::bit(21);
pub(super) const MAKE: Classes = Classes::bit(22);
pub(super) const TROUBLE: Classes = Classes::bit(23);
pub(super) const TRY: Classes = Classes::bit(24);
pub(super) const WORK: Classes = Classes::bit(25);
pub(super) const PLANNED: Classes = Classes::bit(26);
pub(super) const PROBLEM: Classes = Classes::bit(27);
pub(super) const STAYS: Classes = Classes::bit(28);
pub(super) const BAD: Classes = Classes::bit(29);
pub(super) const HOLLOW: Classes = Classes::bit(30);
pub(super) const PAST: Classes = Classes::bit(31);
pub(super) const WISH: Classes = Classes::bit(32);
pub(super) const TO_KNOW: Classes = Classes::bit(33);
pub(super) const QUESTION: Classes = Classes::bit(34);
pub(super) const TELL: Classes = Classes::bit(35);
pub(super) const PAUSE: Classes = Classes::bit(36);
pub(super) const UNTIL: Classes = Classes::bit(37);
pub(super) const SO: Classes = Classes::bit(38);
pub(super) const TO: Classes = Classes::bit(39);
pub(super) const EQUIPMENT: Classes = Classes::bit(40);
pub(super) const DOCUMENT: Classes = Classes::bit(41);
pub(super) const FLAG: Classes = Classes::bit(42);

const NAMES: [(&str, Classes); 42] = [
    ("self", SELF),
    ("negation", NEGATION),
    ("auxiliary", AUXILIARY),
    ("passive", PASSIVE),
    ("modal", MODAL),
    ("adverb", ADVERB),
    ("because", BECAUSE),
    ("condition", CONDITION),
    ("contrast", CONTRAST),
    ("relative", RELATIVE),
    ("join", JOIN),
    ("check", CHECK),
    ("expectation", EXPECTATION),
    ("disarm", DISARM),
    ("take-out", TAKE_OUT),
    ("label", LABEL),
    ("apply", APPLY),
    ("adapt", ADAPT),
    ("idle", IDLE),
    ("off", OFF),
    ("green", GREEN),
    ("make", MAKE),
    ("trouble", TROUBLE),
    ("try", TRY),
    ("work", WORK),
    ("planned", PLANNED),
    ("problem", PROBLEM),
    ("stays", STAYS),
    ("bad", BAD),
    ("hollow", HOLLOW),
    ("past", PAST),
    ("wish", WISH),
    ("to-know", TO_KNOW),
    ("question", QUESTION),
    ("tell", TELL),
    ("pause", PAUSE),
    ("until", UNTIL),
    ("so", SO),
    ("to", TO),
    ("equipment", EQUIPMENT),
    ("document", DOCUMENT),
    ("flag", FLAG),
];

/// The classes of whole words, and of beginnings of words.
struct Lexicon {
    words: BTreeMap<&'static str, Classes>,
    stems: BTreeMap<&'static str, Classes>,
}

static LEXICON: LazyLock<Lexicon> =
    LazyLock::new(|| Lexicon::parse(include_str!("../../rules/word_classes.txt")));

impl Lexicon {
    fn parse(text: &'static str) -> Self {
        let mut lexicon = Self {
            words: BTreeMap::new(),
            stems: BTreeMap::new(),
        };
        let lists = text.lines().filter(|line| !line.starts_with('#'));
        for (name, words) in lists.filter_map(|line| line.split_once(": ")) {
            let class = NAMES.iter().find(|(known, _)| *known == name);
            for word in words.split(' ') {
                let (map, key) = match word.strip_suffix('*') {
                    Some(stem) => (&mut lexicon.stems, stem),
                    None => (&mut lexicon.words, word),
                };
                let classes = map.entry(key).or_default();
                *classes = *classes | class.map_or_else(Classes::default, |(_, class)| *class);
            }
        }
        lexicon
    }
}

/// Returns the classes of a word in lower case.
pub(super) fn classes_of(word: &str) -> Classes {
    let lexicon = &*LEXICON;
    let mut classes = lexicon.words.get(word).copied().unwrap_or_default();
    for length in (3..=word.len()).filter(|at| word.is_char_boundary(*at)) {
        if let Some(more) = lexicon.stems.get(&word[..length]) {
            classes = classes | *more;
        }
    }
    if word.ends_with("n't") {
        classes = classes | NEGATION | AUXILIARY;
    }
    classes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_of_words_has_a_class_and_every_class_has_words() {
        let lines = include_str!("../../rules/word_classes.txt").lines();
        let lists: Vec<&str> = lines
            .filter(|line| !line.starts_with('#') && !line.is_empty())
            .filter_map(|line| Some(line.split_once(": ")?.0))
            .collect();
        let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
        let sorted = |mut list: Vec<&'static str>| {
            list.sort_unstable();
            list
        };
        assert_eq!(sorted(lists), sorted(names));
    }

    #[test]
    fn a_word_may_be_in_several_classes() {
        let skipped = classes_of("skipped");
        assert!(skipped.has(DISARM) && skipped.has(OFF) && !skipped.has(CHECK));
        assert!(classes_of("failing").has(TROUBLE));
        assert!(classes_of("couldn't").has(NEGATION));
        assert_eq!(classes_of("été"), Classes::default());
    }
}
