//! What a failure says is missing: the names that are worth looking up.

/// More names than that would be the whole text.
const MOST: usize = 8;
const SHORTEST: usize = 3;
const LONGEST: usize = 80;
/// No more of a text is looked at.
const LOOKED_AT: usize = 8 * 1024;

/// Words of which nobody learns anything.
const COMMON: [&str; 40] = [
    "the",
    "this",
    "that",
    "these",
    "those",
    "and",
    "for",
    "with",
    "from",
    "not",
    "has",
    "was",
    "are",
    "is",
    "in",
    "to",
    "of",
    "file",
    "files",
    "folder",
    "directory",
    "module",
    "function",
    "class",
    "error",
    "prompt",
    "task",
    "mentioned",
    "cannot",
    "find",
    "found",
    "which",
    "what",
    "where",
    "need",
    "there",
    "none",
    "any",
    "our",
    "your",
];

/// The names in a text: what it quotes first, then what looks like a path or an identifier.
/// Of a quoted phrase its words.
#[must_use]
pub fn missing_names(text: &str) -> Vec<String> {
    let text = &text[..text.floor_char_boundary(LOOKED_AT)];
    let quoted = quoted(text).into_iter().flat_map(words);
    let named = words(text).filter(|word| is_name(word));
    let mut names: Vec<String> = Vec::new();
    for name in quoted.chain(named) {
        if names.len() < MOST && !names.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            names.push(name.to_owned());
        }
    }
    names
}

/// What stands between a pair of quotes on one line.
fn quoted(text: &str) -> Vec<&str> {
    const PAIRS: [(char, char); 5] = [('\'', '\''), ('"', '"'), ('`', '`'), ('“', '”'), ('‘', '’')];
    let mut found = Vec::new();
    for line in text.lines() {
        for (open, close) in PAIRS {
            let mut rest = line;
            while let Some((_, after)) = rest.split_once(open) {
                let Some((inside, behind)) = after.split_once(close) else {
                    break;
                };
                found.push(inside);
                rest = behind;
            }
        }
    }
    found
}

/// The words of a text that may be names of something.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '@' | '+');
    let words = text.split(move |c| !is_part(c));
    words
        .map(|word| word.trim_matches(['.', '-', '/', '+']))
        .filter(|word| (SHORTEST..=LONGEST).contains(&word.len()))
        .filter(|word| !COMMON.contains(&word.to_lowercase().as_str()))
        .filter(|word| word.contains(char::is_alphabetic))
}

/// A path, or an identifier: no word of a sentence looks like that.
fn is_name(word: &str) -> bool {
    let inside = &word[word.ceil_char_boundary(1)..];
    let is_camel = inside.contains(char::is_uppercase) && inside.contains(char::is_lowercase);
    word.contains(['/', '_', '@']) || inside.contains('.') || is_camel
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, names: &[&str]) {
        assert_eq!(missing_names(text), names, "{text}");
    }

    #[test]
    fn what_is_quoted_and_what_looks_like_a_name_is_looked_up() {
        check("Cannot find 'the auth file' mentioned in prompt", &["auth"]);
        check(
            "I could not find `src/auth.py`; is it in config.yml or AppSettings?",
            &["src/auth.py", "config.yml", "AppSettings"],
        );
        check("Where is parse_config()?", &["parse_config"]);
        check("I don't know what you mean.", &[]);
        check("'login' “Login” \"login\"", &["login"]);
    }

    proptest! {
        #[test]
        fn names_are_few_and_short_and_hold_nothing_but_names(text in any::<String>()) {
            let names = missing_names(&text);
            prop_assert!(names.len() <= MOST);
            let is_harmless = |name: &String| name.len() <= LONGEST && !name.contains(char::is_whitespace);
            prop_assert!(names.iter().all(is_harmless));
        }
    }
}
