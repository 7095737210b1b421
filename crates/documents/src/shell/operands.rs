//! The operands of programs used in checks: their words without options.

use super::Word;

/// The short options that take a value, by program. No others are known to.
const VALUED: &[(&[&str], &str)] = &[
    (&["awk"], "vF"),
    (&["bats", "pytest", "rspec"], "cdkmnopr"),
    (&["cmp", "diff"], "CFILSUWXijlnx"),
    (&["curl"], "ACDEFHKPQTXYbcdemortuwxyz"),
    (&["cut"], "bcdf"),
    (&["egrep", "fgrep", "grep", "rg", "zgrep"], "ABCDGMTdefgjmt"),
    (&["head", "tail"], "cn"),
    (&["ls"], "ITw"),
    (&["nc"], "IOTVXipqswx"),
    (&["nl"], "bdfhilnpsvw"),
    (&["pgrep"], "GPUgstu"),
    (&["sort"], "STkt"),
    (&["tac"], "s"),
    (&["uniq"], "fsw"),
];

/// Returns the words that are neither options nor their values. A word that the shell replaces,
/// such as `$x`, keeps its place: it may be the pattern of a search.
pub(super) fn operands<'w, W: AsRef<str>>(program: &str, words: &'w [W]) -> Vec<&'w W> {
    let row = VALUED.iter().find(|(names, _)| names.contains(&program));
    let valued = row.map_or("", |(_, valued)| valued);
    let mut operands = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_ref().strip_prefix('-') {
            Some("-") => {
                operands.extend(words);
                break;
            }
            Some(flags) if !flags.is_empty() => {
                // The value is the next word, unless it directly follows the letter.
                if !flags.starts_with('-') && flags.ends_with(|last| valued.contains(last)) {
                    words.next();
                }
            }
            _ => operands.push(word),
        }
    }
    operands
}

/// Returns whether one of these short options is set, alone or combined.
pub(super) fn has_flag<W: AsRef<str>>(words: &[W], flags: &str) -> bool {
    let mut short = words
        .iter()
        .filter_map(|word| word.as_ref().strip_prefix('-'))
        .filter(|letters| !letters.starts_with('-'));
    short.any(|letters| letters.contains(|letter| flags.contains(letter)))
}

/// Returns whether one of these long options is set.
pub(super) fn has_option<W: AsRef<str>>(words: &[W], options: &[&str]) -> bool {
    let name = |word: &'_ W| {
        let word = word.as_ref();
        let end = word.find('=').unwrap_or(word.len());
        options.contains(&&word[..end])
    };
    words.iter().any(name)
}

/// `grep [options] pattern files…`.
pub(super) struct Search<'w, W> {
    /// `None` if it comes from a file, or if there is none.
    pub(super) pattern: Option<&'w W>,
    pub(super) files: Vec<&'w W>,
    pub(super) is_inverted: bool,
    pub(super) is_recursive: bool,
}

impl<'w, W: AsRef<str>> Search<'w, W> {
    pub(super) fn of(words: &'w [W]) -> Self {
        let mut files = operands("grep", words);
        let is_given = has_flag(words, "ef") || has_option(words, &["--regexp", "--files"]);
        let at = words.iter().position(|word| word.as_ref() == "-e");
        let pattern = match at.and_then(|at| words.get(at + 1)) {
            None if !is_given && !files.is_empty() => Some(files.remove(0)),
            given => given,
        };
        Self {
            pattern,
            files,
            is_inverted: has_flag(words, "v") || has_option(words, &["--invert-match"]),
            is_recursive: has_flag(words, "rR") || has_option(words, &["--recursive"]),
        }
    }
}

impl AsRef<str> for Word {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(program: &str, words: &str, expected: &str) {
        let words: Vec<&str> = words.split(' ').collect();
        let operands: Vec<&str> = operands(program, &words).into_iter().copied().collect();
        assert_eq!(operands.join(" "), expected, "{program} {words:?}");
    }

    #[test]
    fn options_and_their_values_are_no_operands() {
        check("tail", "-n 5 a.log", "a.log");
        check("tail", "-n5 a.log -", "a.log -");
        check("grep", "-qA 2 --color=never x a", "x a");
        check("sort", "-u -k 2 -- -a", "-a");
        check("wc", "-l a", "a");
        check("unknown", "-x a", "a");
    }

    #[test]
    fn the_pattern_of_a_search_is_no_file() {
        for (words, pattern, files) in [
            ("x a b", Some("x"), "a b"),
            ("-e x a", Some("x"), "a"),
            ("-f patterns a", None, "a"),
            ("--regexp=x a", None, "a"),
            ("-q", None, ""),
        ] {
            let words: Vec<&str> = words.split(' ').collect();
            let search = Search::of(&words);
            assert_eq!(search.pattern.copied(), pattern, "{words:?}");
            let found: Vec<&str> = search.files.into_iter().copied().collect();
            assert_eq!(found.join(" "), files, "{words:?}");
        }
    }
}
