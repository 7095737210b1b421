//! Properties that hold for every text and every way to split it.

use std::sync::LazyLock;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use regreen_redaction::Masks;

const VALUES: [&str; 3] = ["sk-short1", "nnnnnnnn", "://user:"];

/// Pieces of secrets, near misses and their surroundings.
const PIECES: &[&str] = &[
    "password",
    "api_key",
    "Cookie: a=",
    "; ",
    "hunter2",
    "123456789",
    ":AA",
    "1//0",
    "discord.com/api/webhooks/",
    "\u{1b}[",
    "0m",
    "\\u001b[1m",
    "\\u00",
    "sk-ant-",
    "sk-",
    "sk-short1",
    "nnnn",
    "npm_",
    "AKIA",
    "eyJ",
    ".",
    "://",
    "user",
    ":",
    "@",
    "/",
    "Authorization",
    ": ",
    "Bearer ",
    "Basic ",
    "aws_secret_access_key",
    "=",
    "\"",
    "\\",
    "\\n",
    "\n",
    "{\"a\":\"",
    "-----BEGIN RSA PRIVATE KEY-----",
    "-----END RSA PRIVATE KEY-----",
    "-----",
    "a1B2c3D4e5F6g7H8i9J0",
    "A7ZK2MXR4TB5NWC6",
    "0123456789abcdef0123456789abcdef",
    "x",
    " ",
    "ü",
    "\u{1b}[31m",
];

const COLOURS: &[&str] = &["\u{1b}[1;31m", "\u{1b}[K"];

fn masks() -> &'static Masks {
    static MASKS: LazyLock<Masks> = LazyLock::new(|| Masks::new(VALUES));
    &MASKS
}

fn text() -> impl Strategy<Value = String> {
    vec(select(PIECES), 0..40).prop_map(|pieces| pieces.concat())
}

fn mask_cut(masks: &Masks, text: &[u8], cuts: &[usize]) -> Vec<u8> {
    let (mut out, mut filter, mut from) = (Vec::new(), masks.filter(), 0);
    for &cut in cuts {
        filter.feed(&text[from..cut], &mut out);
        from = cut;
    }
    filter.feed(&text[from..], &mut out);
    filter.finish(&mut out);
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn the_output_does_not_depend_on_how_the_stream_is_cut(text in text(), cuts in vec(any::<Index>(), 0..12)) {
        let masks = masks();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
        cuts.sort_unstable();
        let whole = mask_cut(masks, text.as_bytes(), &[]);
        prop_assert_eq!(mask_cut(masks, text.as_bytes(), &cuts), whole);
    }

    #[test]
    fn every_single_cut_gives_the_same_output(text in text()) {
        let masks = masks();
        let whole = mask_cut(masks, text.as_bytes(), &[]);
        for cut in 0..=text.len() {
            prop_assert_eq!(&mask_cut(masks, text.as_bytes(), &[cut]), &whole);
        }
    }

    #[test]
    fn given_values_never_get_through(text in text()) {
        let masked = masks().mask(&text);
        prop_assert!(!masked.contains("sk-short1"));
        // The letter after a backslash stays, because it may be an escape; the rest doesn't.
        prop_assert!(!masked.contains("nnnnnnnn"), "{}", masked);
    }

    #[test]
    fn colours_hide_no_value(text in text(), colours in vec((any::<Index>(), select(COLOURS)), 1..5)) {
        let mut coloured = format!("{text} sk-short1");
        for (at, code) in colours {
            let at = at.index(coloured.len() + 1);
            if coloured.is_char_boundary(at) {
                coloured.insert_str(at, code);
            }
        }
        let masked = masks().mask(&coloured);
        let plain = masked.replace(COLOURS[0], "").replace(COLOURS[1], "");
        prop_assume!(!COLOURS.iter().any(|code| plain.contains(code)));
        prop_assert!(!plain.contains("sk-short1"), "{:?}", masked);
    }

    #[test]
    fn colours_of_texts_without_secrets_stay(pieces in vec(select(&["a", " ", "\n", "\u{1b}[31m", "\u{1b}[0m", "\u{1b}[K", "\\u001b[1m"][..]), 0..80)) {
        let text = pieces.concat();
        prop_assert_eq!(masks().mask(&text), text);
    }

    #[test]
    fn any_json_line_stays_json(text in text(), next in text()) {
        let line = serde_json::json!({ "text": text, "next": next }).to_string();
        let masked = masks().mask(&line);
        prop_assert!(serde_json::from_str::<serde_json::Value>(&masked).is_ok(), "{}", masked);
    }

    #[test]
    fn texts_without_anchors_pass_unchanged(text in "[a-j 0-9\n./+=]{0,300}") {
        let masks = masks();
        prop_assert_eq!(masks.mask(&text), text);
    }
}

#[test]
fn hashes_uuids_and_lock_files_pass_unchanged() {
    let texts = [
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "id=6f1d2c3b-0a9e-4c55-9a70-1b2c3d4e5f60",
        "\"integrity\": \"sha512-bN798gFfQX+viw3R7yrGWRqnrN2oRkEkUjjl4JNn4E8GxxbjtG3FbrEIIY3l8/hrwUwIeCZvi4QuOTP4MErVug==\"",
        "checksum = \"0e4dfc42e4a3d9fbd8d2a21c3b6b1f4d6e37a2c1b8a0b0b5b8e3f2a1c0d9e8f7\"",
        "scikit-learn sk-learn risk-assessment-of-the-task-at-hand desk-lamp",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
        "https://github.com/rust-lang/rust/commit/9fceb02d0ae598e95dc970b74767f19372d61af8",
    ];
    let masks = Masks::built_in();
    for text in texts {
        assert_eq!(masks.mask(text), text);
    }
}

#[test]
fn an_endless_secret_without_a_line_break_is_dropped_as_it_comes() {
    let (masks, mut out) = (Masks::built_in(), Vec::new());
    let mut filter = masks.filter();
    filter.feed(b"key sk-ant-", &mut out);
    for _ in 0..10_000 {
        filter.feed(&[b'a'; 1000], &mut out);
    }
    filter.feed(b" end", &mut out);
    filter.finish(&mut out);
    assert_eq!(out, b"key ***anthropic-key*** end");
}

#[test]
fn a_stream_of_near_misses_holds_only_a_few_kilobytes_back() {
    let masks = Masks::built_in();
    for piece in [
        "eyJ",
        "://",
        "://u:p",
        "Authorization: ",
        "-----BEGIN ",
        "SG.",
        "password: ",
        "password=\"a1",
        "Cookie: a",
        "1//0",
    ] {
        let (mut out, mut filter, mut fed) = (Vec::new(), masks.filter(), 0);
        for _ in 0..20_000 {
            filter.feed(piece.as_bytes(), &mut out);
            fed += piece.len();
            assert!(fed - out.len() <= 16 * 1024, "{piece}: {fed} {}", out.len());
        }
    }
}
