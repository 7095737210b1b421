//! Reading a message as its author meant it: what is fenced or quoted is not his own word.

/// The lines of a message that are neither inside a code fence nor quoted. A fence that
/// never closes hides nothing: agents forget to close them, and the rest is still theirs.
pub(crate) fn own_lines(text: &str) -> impl Iterator<Item = &str> {
    let fences = fences(text);
    let mut fences = fences.into_iter().peekable();
    let mut hidden_until = 0;
    text.lines().enumerate().filter_map(move |(n, line)| {
        if fences.peek().is_some_and(|fence| fence.first == n) {
            hidden_until = fences.next().map_or(hidden_until, |fence| fence.last + 1);
        }
        let is_quote = line.trim_start().starts_with('>');
        (n >= hidden_until && !is_quote).then_some(line)
    })
}

/// A closed code fence, by the numbers of its first and last line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fence {
    pub(crate) first: usize,
    pub(crate) last: usize,
}

pub(crate) fn fences(text: &str) -> Vec<Fence> {
    let mut found = Vec::new();
    let mut open: Option<(usize, char, usize)> = None;
    for (n, line) in text.lines().enumerate() {
        let Some((mark, length, is_bare)) = fence_mark(line) else {
            continue;
        };
        match open {
            None => open = Some((n, mark, length)),
            Some((first, opened_by, at_least)) => {
                if mark == opened_by && length >= at_least && is_bare {
                    found.push(Fence { first, last: n });
                    open = None;
                }
            }
        }
    }
    found
}

/// The character, length and bareness of a line that is a fence.
fn fence_mark(line: &str) -> Option<(char, usize, bool)> {
    let text = line.trim();
    let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = text.chars().take_while(|c| *c == mark).count();
    let info = &text[length..];
    // A span of code that fills a line is no fence.
    (length >= 3 && !info.contains('`')).then_some((mark, length, info.trim().is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(own_lines(text).collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn fenced_and_quoted_lines_are_not_the_authors_own() {
        check("a\n```sh\nb\n```\nc\n> d\ne", &["a", "c", "e"]);
        check("~~~\n```\n~~~\nx", &["x"]);
        check("````\n```\n````\nx", &["x"]);
    }

    #[test]
    fn a_fence_that_never_closes_hides_nothing() {
        check("a\n```\nb", &["a", "```", "b"]);
        check("```not a fence```\nb", &["```not a fence```", "b"]);
    }
}
