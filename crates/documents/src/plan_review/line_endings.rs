//! Line endings: an editor that changes all of them has changed nothing.

use std::borrow::Cow;

/// The agent's text with the line endings of before, if each text has one sort only.
pub(super) fn as_in<'t>(before: &str, after: &'t str) -> Cow<'t, str> {
    match (only_ending(before), only_ending(after)) {
        (Some(old), Some(new)) if old != new => Cow::Owned(after.replace(new, old)),
        _ => Cow::Borrowed(after),
    }
}

/// The line ending of a text that has no other; `None` also if it has none at all.
fn only_ending(text: &str) -> Option<&'static str> {
    let pairs = text.matches("\r\n").count();
    let returns = text.matches('\r').count();
    let feeds = text.matches('\n').count();
    match (pairs, returns, feeds) {
        (0, 0, 1..) => Some("\n"),
        (0, 1.., 0) => Some("\r"),
        (1.., _, _) if returns == pairs && feeds == pairs => Some("\r\n"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_sort_becomes_the_other_and_a_mixture_stays() {
        assert_eq!(as_in("a\r\nb", "c\nd\n"), "c\r\nd\r\n");
        assert_eq!(as_in("a\nb", "c\r\nd"), "c\nd");
        assert_eq!(as_in("a\rb", "c\n"), "c\r");
        assert_eq!(as_in("a\nb", "c\r\nd\n"), "c\r\nd\n");
        assert_eq!(as_in("a\nb\r\n", "c\r\n"), "c\r\n");
        assert_eq!(as_in("a", "c\r\n"), "c\r\n");
    }
}
