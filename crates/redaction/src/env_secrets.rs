use std::collections::{BTreeMap, BTreeSet};

use crate::filter::MIN_VALUE_CHARS;

/// A variable is secret if its name contains one of these.
const SECRET_WORDS: [&str; 11] = [
    "KEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "PWD",
    "CREDENTIAL",
    "PRIVATE",
    "AUTH",
    "DSN",
];

/// The same, but only as a whole part between underscores: `DB_PASS`, not `COMPASS_URL`.
const SECRET_PARTS: [&str; 3] = ["PASS", "PAT", "PW"];

/// Returns the secret values in the text of an `.env` file: those of secret variables with eight or
/// more characters, unless they equal the example file's.
#[must_use]
pub fn env_secrets(env: &str, example: &str) -> BTreeSet<String> {
    let shown = assignments(example);
    assignments(env)
        .into_iter()
        .filter(|(name, value)| is_secret_name(name) && shown.get(name) != Some(value))
        .flat_map(|(_, value)| [unescaped(&value), value])
        .filter(|value| value.chars().count() >= MIN_VALUE_CHARS)
        .collect()
}

/// Names of folders, despite how they sound.
const FOLDERS: [&str; 2] = ["PWD", "OLDPWD"];
/// A part of a name that ends with one of these is secret: `PGPASSWORD`, `OPENAI_APIKEY`, but not
/// `TOKENIZERS_PARALLELISM` or `GIT_AUTHOR_NAME`.
const SECRET_ENDINGS: [&str; 14] = [
    "KEY",
    "KEYS",
    "TOKEN",
    "TOKENS",
    "SECRET",
    "SECRETS",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "PWD",
    "CREDENTIAL",
    "CREDENTIALS",
    "AUTH",
    "DSN",
];
/// A variable whose name ends with one of these describes a secret but doesn't contain it.
const ABOUT_SECRETS: [&str; 16] = [
    "DIR", "ENABLED", "ENDPOINT", "FILE", "HOST", "ID", "NAME", "PATH", "PORT", "SOCK", "TIMEOUT",
    "TTL", "TYPE", "URI", "URL", "USER",
];
/// A shorter value of letters in one case is an ordinary word (`postgres`) that is in every log.
const MIN_WORD: usize = 12;

/// Returns the secret values of an environment: those of secret variables with eight or more
/// characters, except for paths and plain words.
pub fn environment_secrets<N: AsRef<str>>(
    variables: impl IntoIterator<Item = (N, String)>,
) -> BTreeSet<String> {
    let is_secret = |(name, value): &(N, String)| {
        has_secret_name(&name.as_ref().to_ascii_uppercase()) && has_secret_form(value)
    };
    let secret = variables.into_iter().filter(is_secret);
    secret.map(|(_, value)| value).collect()
}

fn has_secret_name(name: &str) -> bool {
    let mut parts = name.split(|c: char| !c.is_ascii_alphanumeric());
    let is_about = parts
        .clone()
        .next_back()
        .is_some_and(|last| ABOUT_SECRETS.contains(&last));
    let is_secret = |part: &str| {
        SECRET_PARTS.contains(&part) || SECRET_ENDINGS.iter().any(|word| part.ends_with(word))
    };
    !is_about && !FOLDERS.contains(&name) && parts.any(is_secret)
}

fn has_secret_form(value: &str) -> bool {
    let len = value.chars().count();
    let is_word = value.chars().all(|c| c.is_ascii_lowercase())
        || value.chars().all(|c| c.is_ascii_uppercase());
    let is_path = value.starts_with(['/', '.', '~']);
    len >= MIN_VALUE_CHARS && !is_path && !(is_word && len < MIN_WORD)
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let mut parts = name.split('_');
    SECRET_WORDS.iter().any(|word| name.contains(word))
        || parts.any(|part| SECRET_PARTS.contains(&part))
}

/// Returns names and values as written, without quotes. The last assignment counts.
fn assignments(text: &str) -> BTreeMap<&str, String> {
    let mut found = BTreeMap::new();
    let mut rest = text.trim_start_matches('\u{feff}');
    while let Some((line, after)) = next_line(rest) {
        rest = after;
        let line = line.trim_start();
        let line = line.strip_prefix("export ").unwrap_or(line);
        let Some((name, value)) = line.split_once('=') else {
            continue;
        };
        let name = name.trim();
        if name.is_empty() || name.starts_with('#') {
            continue;
        }
        let value = value.trim_start();
        let value = match value.chars().next() {
            Some(quote @ ('"' | '\'' | '`')) => {
                let from_quote = &text[offset_in(text, value)..];
                let (value, after_quote) = quoted(from_quote, quote, value);
                rest = after_quote.unwrap_or(rest);
                value
            }
            _ => bare(value),
        };
        found.insert(name, value.to_owned());
    }
    found
}

fn next_line(text: &str) -> Option<(&str, &str)> {
    if text.is_empty() {
        return None;
    }
    Some(text.split_once('\n').unwrap_or((text, "")))
}

fn offset_in(text: &str, part: &str) -> usize {
    part.as_ptr().addr() - text.as_ptr().addr()
}

/// Returns the text between quotes, perhaps over several lines, and the text after the line that
/// closes them. Without a closing quote, the value is the rest of the line.
fn quoted<'a>(text: &'a str, quote: char, line: &'a str) -> (&'a str, Option<&'a str>) {
    let inner = &text[quote.len_utf8()..];
    let mut escaped = false;
    for (at, c) in inner.char_indices() {
        if c == quote && !escaped {
            let behind = &inner[at..];
            let after = behind.split_once('\n').map_or("", |(_, after)| after);
            return (&inner[..at], Some(after));
        }
        escaped = c == '\\' && !escaped && quote == '"';
    }
    (line.trim_start_matches(quote).trim_end(), None)
}

fn bare(value: &str) -> &str {
    let comment = value.find(" #").or_else(|| value.find("\t#"));
    value[..comment.unwrap_or(value.len())].trim_end()
}

/// Returns the value as a program that interprets escapes sees it.
fn unescaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        let plain = match c {
            '\\' => match chars.next() {
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                other => other.unwrap_or('\\'),
            },
            c => c,
        };
        text.push(plain);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(env: &str, example: &str) -> Vec<String> {
        env_secrets(env, example).into_iter().collect()
    }

    #[test]
    fn values_of_variables_with_secret_names_are_secret() {
        let env = "API_KEY=abcdefgh\nexport db_password = 'hunter2 hunter2'\nNAME=longenough\n";
        assert_eq!(secrets(env, ""), ["abcdefgh", "hunter2 hunter2"]);
    }

    #[test]
    fn secrets_of_an_environment_are_neither_paths_nor_words() {
        let secrets = |variables: &[(&str, &str)]| -> Vec<String> {
            let variables = variables.iter();
            let owned = variables.map(|(name, value)| (*name, (*value).to_owned()));
            environment_secrets(owned).into_iter().collect()
        };
        for (name, value) in [
            ("GITHUB_TOKEN", "0123456789abcdef"),
            ("PGPASSWORD", "correct horse"),
            ("OPENAI_APIKEY", "abcdefghijkl"),
            ("db_pass", "hunter2hunter2"),
            ("MYSQL_PWD", "s3cr3t-value"),
            ("SECRET_KEY_BASE", "Abcdefgh"),
        ] {
            assert_eq!(secrets(&[(name, value)]), [value], "{name}");
        }
        for (name, value) in [
            ("PWD", "/srv/project1"),
            ("OLDPWD", "project-one"),
            ("SSH_AUTH_SOCK", "/tmp/agent.1"),
            ("GIT_AUTHOR_NAME", "Ada Lovelace"),
            ("TOKENIZERS_PARALLELISM", "true-or-false"),
            ("POSTGRES_PASSWORD", "postgres"),
            ("KEYBOARD_LAYOUT", "de-latin1-nodeadkeys"),
            ("GOOGLE_APPLICATION_CREDENTIALS", "/etc/key.json"),
            ("AUTH_URL", "https://login.example.org"),
            ("API_KEY", "short"),
            ("HOME", "some-long-value"),
        ] {
            assert_eq!(secrets(&[(name, value)]), [""; 0], "{name}");
        }
    }

    #[test]
    fn short_words_count_only_as_parts_of_a_name() {
        let env = "DB_PASS=abcdefgh\nCOMPASS_URL=ijklmnop\nPATH_TO=qrstuvwx\n";
        assert_eq!(secrets(env, ""), ["abcdefgh"]);
    }

    #[test]
    fn a_value_that_the_example_file_shows_is_not_secret() {
        let env = "A_TOKEN=changeme-now\nB_TOKEN=changeme-now\n";
        let example = "A_TOKEN=changeme-now\nB_TOKEN=other\n";
        assert_eq!(secrets(env, example), ["changeme-now"]);
        assert!(secrets("A_TOKEN=changeme-now", example).is_empty());
    }

    #[test]
    fn short_values_and_comments_are_not_secrets() {
        let env = "MY_KEY=1234567\n# OLD_KEY=abcdefghij\nNO_VALUE_KEY=\nKEY\n";
        assert!(secrets(env, "").is_empty());
    }

    #[test]
    fn quotes_comments_and_line_ends_are_not_part_of_the_value() {
        let env = "A_KEY=\"quoted value\" # why\r\nB_KEY=bare-value # why\r\nC_KEY=with#hash\r\n";
        assert_eq!(
            secrets(env, ""),
            ["bare-value", "quoted value", "with#hash"]
        );
    }

    #[test]
    fn a_value_may_have_several_lines_or_escapes() {
        let env =
            "A_KEY=\"line one\nline two\"\nB_KEY=\"one\\nmore\\\"line\"\nC_SECRET=behind-it\n";
        assert_eq!(
            secrets(env, ""),
            [
                "behind-it",
                "line one\nline two",
                "one\nmore\"line",
                "one\\nmore\\\"line"
            ]
        );
    }

    #[test]
    fn an_open_quote_ends_with_its_line() {
        let env = "A_KEY=\"never closed\nB_KEY=second-value\n";
        assert_eq!(secrets(env, ""), ["never closed", "second-value"]);
    }

    #[test]
    fn any_text_is_read_without_panic() {
        for text in [
            "",
            "=",
            "=\"",
            "A_KEY='",
            "A_KEY=\"\\",
            "\u{feff}A_KEY=abcdefgh",
        ] {
            let _ = env_secrets(text, text);
        }
        assert_eq!(secrets("\u{feff}A_KEY=abcdefgh", ""), ["abcdefgh"]);
    }
}
