//! Checks the spelling as `typos` does: its dictionary and tokenizer are dependencies, so that the
//! check needs no installed program and is never skipped.
//!
//! `typos.toml` has the exceptions; the program itself reads them from there too.

use std::path::Path;

use toml::{Table, Value};
use typos::tokens::{Identifier, Tokenizer, Word};
use typos::{Dictionary, Status};
use unicase::UniCase;

use crate::tree;

const CONFIG: &str = "typos.toml";

/// The dictionary of `typos`, except for our exceptions.
struct Spelling {
    config: Table,
}

impl Spelling {
    fn of(config: &str) -> Self {
        let config = config.parse().expect("typos.toml is TOML");
        Self { config }
    }

    fn is_excluded(&self, file: &Path) -> bool {
        let patterns = self.config["files"]["extend-exclude"].as_array();
        let mut patterns = patterns.into_iter().flatten().filter_map(Value::as_str);
        patterns.any(|folder_or_file| file.starts_with(folder_or_file))
    }

    fn is_allowed(&self, section: &str, token: &str) -> bool {
        let allowed = self.config.get("default").and_then(|all| all.get(section));
        allowed.is_some_and(|words| words.get(token).is_some())
    }

    fn complaints(&self, name: &str, text: &str) -> Vec<String> {
        let tokenizer = Tokenizer::new();
        typos::check_str(text, &tokenizer, self)
            .map(|typo| {
                let line = text[..typo.byte_offset].matches('\n').count() + 1;
                format!("{name}:{line}: {} -> {:?}", typo.typo, typo.corrections)
            })
            .collect()
    }
}

impl Dictionary for Spelling {
    fn correct_ident<'s>(&'s self, ident: Identifier<'_>) -> Option<Status<'s>> {
        let is_allowed = self.is_allowed("extend-identifiers", ident.token());
        (is_allowed || is_hash(ident.token())).then_some(Status::Valid)
    }

    fn correct_word<'s>(&'s self, word: Word<'_>) -> Option<Status<'s>> {
        let token = word.token();
        let corrections = typos_dict::WORD.find(&UniCase::new(token))?;
        let is_fine = self.is_allowed("extend-words", &token.to_lowercase());
        (!is_fine).then(|| Status::Corrections(corrections.iter().map(|&c| c.into()).collect()))
    }
}

/// Whether a token looks like a commit hash, as `extend-ignore-identifiers-re` describes it.
fn is_hash(token: &str) -> bool {
    let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    (7..=40).contains(&token.len()) && token.bytes().all(is_hex)
}

#[test]
fn words_are_spelled_right() {
    let spelling = Spelling::of(&tree::read(CONFIG));
    let mut complaints = Vec::new();
    for file in tree::files() {
        let text = std::fs::read(tree::root().join(&file)).expect("a file can be read");
        // Recordings of foreign bytes are not our text.
        let Ok(text) = String::from_utf8(text) else {
            continue;
        };
        if !spelling.is_excluded(&file) {
            complaints.extend(spelling.complaints(&file.display().to_string(), &text));
        }
    }
    assert_eq!(complaints, [""; 0], "{}", complaints.join("\n"));
}

#[test]
fn a_misspelled_word_is_found() {
    // Built from parts, so that this guard doesn't complain about its own file.
    let wrong = ["rec", "ieve"].concat();
    let config = "[files]\nextend-exclude = ['fixtures/']\n";
    let spelling = Spelling::of(config);
    let text = format!("fine\nto_{wrong}_it\n");
    let expected =
        format!("a.rs:2: {wrong} -> Corrections([\"receive\", \"relieve\", \"retrieve\"])");
    let found = spelling.complaints("a.rs", &text);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with(&expected[..20]), "{found:?}");
    let allowed = format!("{config}[default.extend-words]\n{wrong} = '{wrong}'\n");
    assert_eq!(Spelling::of(&allowed).complaints("a.rs", &text), [""; 0]);
    assert!(spelling.is_excluded(Path::new("fixtures/a.rs")));
}
