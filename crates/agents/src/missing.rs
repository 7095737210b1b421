//! Extracts the names of missing things from a failure, to look them up.

/// More names would be the whole text.
const MOST: usize = 8;
const SHORTEST: usize = 3;
const LONGEST: usize = 80;
/// Longer texts are cut.
const LOOKED_AT: usize = 8 * 1024;

/// Words that are never names, separated by spaces.
const COMMON: &str = "the this that these those and for with from not has was are is in to of file files \
    folder directory module function class error prompt task mentioned cannot find found \
    which what where need there none any our your";

/// Returns the names in a text: first the quoted words, then those that look like a path or an
/// identifier.
#[must_use]
pub fn missing_names(text: &str) -> Vec<String> {
    let text = &text[..text.floor_char_boundary(LOOKED_AT)];
    let quoted = quoted(text).into_iter().flat_map(words);
    let named = words(text).filter(|word| is_name(word));
    let uncommon = quoted.chain(named).filter(|word| !is_common(word));
    let mut names: Vec<String> = Vec::new();
    for name in uncommon {
        if names.len() < MOST && !names.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            names.push(name.to_owned());
        }
    }
    names
}

/// Returns the paths in a text: words with a folder or a file name's ending.
#[must_use]
pub fn named_paths(text: &str) -> Vec<String> {
    let text = &text[..text.floor_char_boundary(LOOKED_AT)];
    let mut paths: Vec<String> = Vec::new();
    for word in words(text).filter(|word| is_path(word)) {
        if paths.len() < MOST && !paths.iter().any(|known| known == word) {
            paths.push(word.to_owned());
        }
    }
    paths
}

/// `src/a`, `a.py`, but not `e.g`, `1.2.3` or `example.com/x@y`.
fn is_path(word: &str) -> bool {
    let has_folder = word.contains('/') && !word.contains('@') && !word.contains("//");
    let has_ending = word.rsplit_once('.').is_some_and(|(stem, ending)| {
        stem.len() > 1 && ending.len() <= 5 && ending.starts_with(|c: char| c.is_alphabetic())
    });
    has_folder || has_ending
}

/// Returns the texts between pairs of quotes on one line.
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

/// Returns the words of a text that may be names.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '@' | '+');
    let words = text.split(move |c| !is_part(c));
    words
        .map(|word| word.trim_matches(['.', '-', '/', '+']))
        .filter(|word| (SHORTEST..=LONGEST).contains(&word.len()))
        .filter(|word| word.contains(char::is_alphabetic))
}

fn is_common(word: &str) -> bool {
    COMMON
        .split(' ')
        .any(|common| common.eq_ignore_ascii_case(word))
}

/// Returns whether a word looks like a path or an identifier, unlike any word in a sentence.
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
    fn quoted_words_and_words_that_look_like_names_are_found() {
        check("Cannot find 'the auth file' mentioned in prompt", &["auth"]);
        check(
            "I could not find `src/auth.py`; is it in config.yml or AppSettings?",
            &["src/auth.py", "config.yml", "AppSettings"],
        );
        check("Where is parse_config()?", &["parse_config"]);
        check("I don't know what you mean.", &[]);
        check("'login' “Login” \"login\"", &["login"]);
    }

    #[test]
    fn only_words_with_a_folder_or_an_ending_are_paths() {
        assert_eq!(
            named_paths(
                "Edit `src/auth.py`, README.md (v1.2.3, e.g. ./docs/x), src/auth.py; me@a/b"
            ),
            ["src/auth.py", "README.md", "docs/x"]
        );
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
