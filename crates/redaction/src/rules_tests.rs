//! Runs the examples of every rule.

use crate::rule::Rule;
use crate::rules::RULES;
use crate::{Filter, Masks};

const FILLERS: [(&str, &[u8]); 4] = [
    ("alnum", b"a7Kq2mZx9RtB4nWc8YpL1sVe6HgD3jFu5"),
    ("hex", b"3f9a1c7e5b2d80946"),
    ("upper", b"Q7ZK2MXR4TB5NWC6YPL3"),
    ("base64", b"wJ4lr7XU9tn2FE+MI5K8MDENG3bP6xRf0iCY"),
];

/// Replaces `{alnum:36}` with made-up characters.
pub(crate) fn filled(example: &str) -> String {
    let mut text = String::new();
    let mut rest = example;
    while let Some(start) = rest.find('{') {
        let (before, filler) = rest.split_at(start);
        text.push_str(before);
        match filler[1..].split_once('}').and_then(|(inner, after)| {
            let (kind, len) = inner.split_once(':')?;
            let (_, bytes) = FILLERS.iter().find(|(name, _)| *name == kind)?;
            let len: usize = len.parse().ok()?;
            Some((bytes.iter().cycle().take(len), after))
        }) {
            Some((bytes, after)) => {
                text.extend(bytes.map(|&byte| char::from(byte)));
                rest = after;
            }
            None => {
                text.push('{');
                rest = &filler[1..];
            }
        }
    }
    text + rest
}

fn plain(example: &str) -> String {
    filled(example).replace(['«', '»'], "")
}

fn masked(rule: &Rule, example: &str) -> String {
    let text = filled(example);
    let (before, rest) = text.split_once('«').unwrap();
    let (_, after) = rest.split_once('»').unwrap();
    format!("{before}***{}***{after}", rule.name)
}

fn mask_in_chunks(filter: &mut Filter, text: &[u8], size: usize) -> String {
    let mut out = Vec::new();
    for chunk in text.chunks(size) {
        filter.feed(chunk, &mut out);
    }
    filter.finish(&mut out);
    String::from_utf8(out).unwrap()
}

fn examples() -> impl Iterator<Item = (&'static Rule, &'static str)> {
    RULES
        .iter()
        .flat_map(|rule| rule.masks.iter().map(move |example| (rule, *example)))
}

#[test]
fn every_rule_has_examples_of_both_sorts() {
    for rule in RULES {
        assert!(
            !rule.masks.is_empty() && !rule.keeps.is_empty(),
            "{}",
            rule.name
        );
        assert!(!rule.anchors.iter().any(|anchor| anchor.contains('\n')));
        assert!(rule.anchors.iter().all(|anchor| anchor.len() >= 3));
    }
}

#[test]
fn every_rule_masks_its_examples() {
    let masks = Masks::built_in();
    for (rule, example) in examples() {
        assert_eq!(
            masks.mask(&plain(example)),
            masked(rule, example),
            "{example}"
        );
    }
}

#[test]
fn every_rule_keeps_its_counterexamples() {
    let masks = Masks::built_in();
    for rule in RULES {
        for example in rule.keeps {
            let text = plain(example);
            assert_eq!(masks.mask(&text), text, "{}: {example}", rule.name);
        }
    }
}

#[test]
fn a_secret_cut_anywhere_is_masked_all_the_same() {
    let mut filter = Masks::built_in().filter();
    for (rule, example) in examples() {
        let text = plain(example);
        let expected = masked(rule, example);
        for size in 1..=text.len().min(80) {
            let got = mask_in_chunks(&mut filter, text.as_bytes(), size);
            assert_eq!(got, expected, "{example} in chunks of {size}");
        }
    }
}

/// Inserts a colour code into the secret of an example.
fn coloured(example: &str, code: &str, at: usize) -> Option<String> {
    let text = filled(example);
    let (before, rest) = text.split_once('«')?;
    let (secret, after) = rest.split_once('»')?;
    let is_inside = at > 0 && at < secret.len() && secret.is_char_boundary(at);
    is_inside.then(|| {
        let (first, last) = secret.split_at(at);
        format!("{before}{first}{code}{last}{after}")
    })
}

#[test]
fn a_secret_that_changes_its_colour_is_masked_and_the_colour_follows() {
    let masks = Masks::built_in();
    for (rule, example) in examples() {
        for code in ["\u{1b}[31m", "\u{1b}[K", "\\u001b[0m"] {
            for at in [1, 3, 7, 12, 20] {
                let Some(text) = coloured(example, code, at) else {
                    continue;
                };
                let mask = format!("***{}***", rule.name);
                let expected = masked(rule, example).replace(&mask, &format!("{mask}{code}"));
                assert_eq!(masks.mask(&text), expected, "{text:?}");
            }
        }
    }
}

#[test]
fn masking_twice_changes_nothing_more() {
    let masks = Masks::built_in();
    for (_, example) in examples() {
        let once = masks.mask(&plain(example));
        assert_eq!(masks.mask(&once), once);
    }
}

#[test]
fn nothing_is_held_back_behind_a_line_break() {
    let masks = Masks::built_in();
    for (_, example) in examples().filter(|(rule, _)| rule.name != "private-key") {
        let text = plain(example) + "\n";
        let (mut streamed, mut filter) = (Vec::new(), masks.filter());
        filter.feed(text.as_bytes(), &mut streamed);
        assert_eq!(String::from_utf8(streamed).unwrap(), masks.mask(&text));
    }
}

#[test]
fn secrets_in_a_json_line_leave_it_json() {
    let masks = Masks::built_in();
    for (rule, example) in examples() {
        for before in ["", "a\n", "\t", "\"", "\\", "\u{1b}[1m", "x\\n"] {
            let text = format!("{before}{}", plain(example));
            let line = serde_json::json!({ "text": text, "next": [1, "two"] }).to_string();
            let masked = masks.mask(&line);
            let value: serde_json::Value =
                serde_json::from_str(&masked).unwrap_or_else(|error| panic!("{error}: {masked}"));
            assert_eq!(value["next"][1], "two");
            let mask = format!("***{}***", rule.name);
            assert!(masked.contains(&mask), "{masked}");
        }
    }
}
