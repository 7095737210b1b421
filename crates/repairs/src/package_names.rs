//! Valid names of packages, modules, targets and commands. Everything else is refused.

/// The length limit of npm names, applied to all names.
const MAX_NAME: usize = 214;

fn is_plain(name: &str, extra: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || extra.contains(c);
    !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(fits)
}

fn begins_well(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
}

/// Accepts `PyYAML`, `zope.interface`.
pub(crate) fn is_python_package(name: &str) -> bool {
    let ends_well = name.ends_with(|c: char| c.is_ascii_alphanumeric());
    is_plain(name, "._-") && begins_well(name) && ends_well
}

/// Accepts module names such as `yaml` and `google.protobuf`.
pub(crate) fn is_python_module(name: &str) -> bool {
    let is_word =
        |part: &str| is_plain(part, "_") && !part.starts_with(|c: char| c.is_ascii_digit());
    name.len() <= MAX_NAME && name.split('.').all(is_word)
}

/// Normalizes a name as the index does: `Zope.Interface` is `zope-interface`.
pub(crate) fn normalized(name: &str) -> String {
    let mut normalized = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '.' | '_' | '-' if normalized.ends_with('-') => {}
            '.' | '_' | '-' => normalized.push('-'),
            c => normalized.push(c.to_ascii_lowercase()),
        }
    }
    normalized
}

/// Accepts `lodash`, `@types/node`.
pub(crate) fn is_node_package(name: &str) -> bool {
    let is_part = |part: &str| is_plain(part, "._-~") && !part.starts_with(['.', '-', '~']);
    match name.strip_prefix('@').map(|rest| rest.split_once('/')) {
        None => is_part(name),
        Some(Some((scope, rest))) => name.len() <= MAX_NAME && is_part(scope) && is_part(rest),
        Some(None) => false,
    }
}

/// Accepts `serde`, `serde_json`.
pub(crate) fn is_crate(name: &str) -> bool {
    is_plain(name, "_-") && begins_well(name)
}

/// Accepts `github.com/pkg/errors`.
pub(crate) fn is_go_module(name: &str) -> bool {
    let is_part = |part: &str| is_plain(part, "._-~") && !part.starts_with(['.', '-']);
    name.len() <= MAX_NAME && name.split('/').all(is_part)
}

/// Accepts a target of make or just, or a script of package.json.
pub(crate) fn is_target(name: &str) -> bool {
    is_plain(name, "._-/:") && !name.starts_with('-')
}

/// Accepts the name of a program without its folder.
pub(crate) fn is_command(name: &str) -> bool {
    is_plain(name, "._-+") && begins_well(name)
}

/// Packages so widely used that others imitate their names.
const WELL_KNOWN: &str = include_str!("data/well_known.txt");

pub(crate) fn is_well_known(name: &str) -> bool {
    let name = normalized(name);
    well_known().any(|known| known == name)
}

/// Returns the package among the well-known ones and `others` whose name is almost the same.
pub(crate) fn similar_name<'a>(
    name: &str,
    others: impl Iterator<Item = &'a str>,
) -> Option<String> {
    let name = normalized(name);
    let is_near = |other: &String| {
        *other != name && other.len() >= 4 && strsim::damerau_levenshtein(other, &name) == 1
    };
    let others = others
        .map(normalized)
        .chain(well_known().map(str::to_owned));
    let mut near = others.filter(is_near);
    near.next()
}

/// Returns whether a word is in a space-separated list.
pub(crate) fn is_listed(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|listed| listed == word)
}

fn well_known() -> impl Iterator<Item = &'static str> {
    WELL_KNOWN.split_ascii_whitespace()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_names_are_accepted() {
        for good in ["PyYAML", "zope.interface", "a", "python-dotenv"] {
            assert!(is_python_package(good), "{good}");
        }
        for good in ["lodash", "@types/node", "left-pad", "lodash.get"] {
            assert!(is_node_package(good), "{good}");
        }
        assert!(is_go_module("github.com/pkg/errors"));
        assert!(is_python_module("google.protobuf"));
    }

    #[test]
    fn invalid_names_are_refused() {
        let long = "a".repeat(MAX_NAME + 1);
        let bad = [
            "",
            "-r",
            "--index-url=x",
            "a b",
            "a;b",
            "$(x)",
            "`x`",
            "a\nb",
            "../a",
            "/etc",
            "a/../b",
            "rеquests",
            "ｒequests",
            "naïve",
            "a\u{202e}b",
            "git+https://x/y",
            "a@b",
            &long,
            "@a",
            "@/a",
            "@-a/b",
            "a|b",
            "a>b",
            "a\0b",
        ];
        for name in bad {
            assert!(!is_python_package(name), "{name}");
            assert!(!is_node_package(name), "{name}");
            assert!(!is_crate(name), "{name}");
            assert!(!is_python_module(name), "{name}");
            assert!(!is_command(name), "{name}");
        }
        assert!(!is_go_module("a/../b") && !is_go_module("/a") && !is_go_module("a/-b"));
    }

    #[test]
    fn one_wrong_letter_in_a_known_name_is_detected() {
        let none = std::iter::empty;
        assert_eq!(
            similar_name("reqeusts", none()).as_deref(),
            Some("requests")
        );
        assert_eq!(
            similar_name("request5", none()).as_deref(),
            Some("requests")
        );
        assert_eq!(similar_name("requests", none()), None);
        assert_eq!(similar_name("zqunheard", none()), None);
        assert_eq!(
            similar_name("helpres", ["helpers"].into_iter()).as_deref(),
            Some("helpers")
        );
    }
}
