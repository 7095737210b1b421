//! Text from outside as people may see it.

use regreen_model::{PlainLine, TaskKey};

/// Enough of a title to know which task is meant.
const TITLE_CHARS: usize = 60;
/// Enough of a reason to know what happened.
const REASON_CHARS: usize = 200;
/// Enough for a message that ends with what to do.
const MESSAGE_CHARS: usize = 500;

/// One harmless line, which says so if it is not all of it.
pub(crate) fn shown(text: &str, max_chars: usize) -> String {
    let line = PlainLine::flatten(text, max_chars + 1);
    if line.as_str().chars().count() <= max_chars {
        return line.to_string();
    }
    let kept: String = line.as_str().chars().take(max_chars - 1).collect();
    format!("{}…", kept.trim_end())
}

pub(crate) fn reason(text: &str) -> String {
    shown(text, REASON_CHARS)
}

pub(crate) fn message(text: &str) -> String {
    shown(text, MESSAGE_CHARS)
}

/// `1.2 Parse the file`.
pub(crate) fn named(task: &TaskKey) -> String {
    let title = shown(&task.title, TITLE_CHARS);
    format!("{} {title}", task.id).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_says_so() {
        assert_eq!(shown("abc", 3), "abc");
        assert_eq!(shown("abcd", 3), "ab…");
        assert_eq!(shown("a bcd", 3), "a…");
        assert_eq!(shown("\u{1b}[31ma\nb\u{1b}[0m", 3), "a b");
        assert_eq!(shown("", 3), "");
    }
}
