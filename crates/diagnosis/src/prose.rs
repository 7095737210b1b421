//! Reading a message as its author meant it: what is fenced or quoted is not his own word.

/// The lines of a message that are neither inside a code fence nor quoted. A fence that
/// never closes hides nothing: agents forget to close them, and the rest is still theirs.
pub(crate) fn own_lines(text: &str) -> impl Iterator<Item = &str> {
    unfenced_lines(text)
        .map(|(_, line)| line)
        .filter(|line| !is_quote(line))
}

/// The lines that are not inside a closed code fence, with their 0-based numbers.
pub(crate) fn unfenced_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fences = fences(text).closed.into_iter().peekable();
    let mut hidden_until = 0;
    text.lines().enumerate().filter(move |(n, _)| {
        if fences.peek().is_some_and(|fence| fence.first == *n) {
            hidden_until = fences.next().map_or(hidden_until, |fence| fence.last + 1);
        }
        *n >= hidden_until
    })
}

/// The author's own lines with each sentence on a line of its own.
pub(crate) fn sentences(text: &str) -> String {
    let mut apart = String::with_capacity(text.len());
    for line in own_lines(text) {
        let mut chars = line.chars().peekable();
        while let Some(c) = chars.next() {
            apart.push(c);
            let is_end = match c {
                '。' | '！' | '？' => true,
                '.' | '!' | '?' => chars.peek() == Some(&' '),
                _ => false,
            };
            if is_end {
                apart.push('\n');
            }
        }
        apart.push('\n');
    }
    apart
}

pub(crate) fn is_quote(line: &str) -> bool {
    line.trim_start().starts_with('>')
}

/// A closed code fence, by the numbers of its first and last line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fence {
    pub(crate) first: usize,
    pub(crate) last: usize,
}

/// The code fences of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fences {
    pub(crate) closed: Vec<Fence>,
    /// The line of one that is opened and never closed.
    pub(crate) unclosed: Option<usize>,
}

pub(crate) fn fences(text: &str) -> Fences {
    let mut closed = Vec::new();
    let mut open: Option<(usize, char, usize)> = None;
    for (n, line) in text.lines().enumerate() {
        let Some((mark, length, is_bare)) = fence_mark(line) else {
            continue;
        };
        match open {
            None => open = Some((n, mark, length)),
            Some((first, opened_by, at_least)) => {
                if mark == opened_by && length >= at_least && is_bare {
                    closed.push(Fence { first, last: n });
                    open = None;
                }
            }
        }
    }
    Fences {
        closed,
        unclosed: open.map(|(first, ..)| first),
    }
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
    fn sentences_stand_apart() {
        assert_eq!(
            sentences("It works. See `a.py`!\n> no. no\n完成。但是"),
            "It works.\n See `a.py`!\n完成。\n但是\n"
        );
    }

    #[test]
    fn a_fence_that_never_closes_hides_nothing() {
        check("a\n```\nb", &["a", "```", "b"]);
        check("```not a fence```\nb", &["```not a fence```", "b"]);
    }
}
