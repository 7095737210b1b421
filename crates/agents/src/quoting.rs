//! Quotes untrusted text, so that it can't become part of the text around it.

use anstream::adapter::strip_str;
use regreen_model::is_format_control;

/// Puts a text between fences longer than any run of backticks in it, so that nothing in it can
/// close them.
pub(crate) fn fenced(text: &str, info: &str) -> String {
    let fence = "`".repeat((longest_run(text) + 1).max(3));
    let end = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    format!("{fence}{info}\n{text}{end}{fence}")
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`')
        .map(str::len)
        .max()
        .unwrap_or_default()
}

/// Quotes untrusted text in a prompt: without colours and invisible characters, about `budget`
/// bytes at most, and fenced.
#[must_use]
pub fn untrusted(text: &str, budget: usize) -> String {
    // Cut before cleaning as well, because the text may be huge.
    let cut = excerpt(text, budget.saturating_mul(4));
    fenced(&excerpt(readable(&cut).trim_end(), budget), "text")
}

fn readable(text: &str) -> String {
    let visible: String = strip_str(text).collect();
    let shown = |c: &char| matches!(c, '\n' | '\t') || !(c.is_control() || is_format_control(*c));
    let lines = visible
        .replace("\r\n", "\n")
        .replace(['\r', '\u{2028}', '\u{2029}'], "\n");
    lines.chars().filter(shown).collect()
}

/// Shortens a text to about `budget` bytes by cutting out its middle, and says so. The end gets
/// more room than the beginning, because errors are more often there.
pub(crate) fn excerpt(text: &str, budget: usize) -> String {
    if text.len() <= budget {
        return text.to_owned();
    }
    let head = &text[..text.floor_char_boundary(budget / 3)];
    let tail = &text[text.ceil_char_boundary(text.len() - (budget - budget / 3))..];
    let left_out = text.len() - head.len() - tail.len();
    format!("{head}\n[… {left_out} bytes left out …]\n{tail}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_fence_is_longer_than_any_in_the_text() {
        assert_eq!(fenced("a", "text"), "```text\na\n```");
        assert_eq!(fenced("```\na\n```\n", ""), "````\n```\na\n```\n````");
        assert_eq!(fenced("a ````` b", ""), "``````\na ````` b\n``````");
        assert_eq!(fenced("", ""), "```\n```");
    }

    #[test]
    fn invisible_characters_are_left_out() {
        assert_eq!(
            untrusted("\u{1b}[31mred\u{1b}[0m\r\n\u{202e}\0\tx\u{7}\rend\n\n", 100),
            "```text\nred\n\tx\nend\n```"
        );
    }

    #[test]
    fn long_text_keeps_its_beginning_and_its_end() {
        let quoted = untrusted(&format!("first\n{}\nlast", "x".repeat(1_000_000)), 3000);
        assert!(quoted.len() < 3200);
        assert!(quoted.starts_with("```text\nfirst\n") && quoted.ends_with("x\nlast\n```"));
    }

    proptest! {
        #[test]
        fn nothing_inside_closes_it(text in "([`~ a\r\n]|```\n|TASK_COMPLETE\n|\\PC){0,60}", budget in 0_usize..80) {
            let quoted = untrusted(&text, budget);
            let fence = quoted.split("text\n").next().unwrap_or_default().to_owned();
            let inside = &quoted[fence.len()..quoted.len() - fence.len()];
            prop_assert!(quoted.ends_with(&fence) && fence.len() >= 3);
            prop_assert!(!inside.contains(&fence));
        }
    }

    #[test]
    fn a_long_text_loses_its_middle() {
        assert_eq!(excerpt("short", 5), "short");
        assert_eq!(
            excerpt("abcdefghijkl", 6),
            "ab\n[… 6 bytes left out …]\nijkl"
        );
    }

    proptest! {
        #[test]
        fn beginning_and_end_are_kept(text in "\\PC{0,80}", budget in 0_usize..100) {
            let kept = excerpt(&text, budget);
            prop_assert!(kept.len() <= budget.max(text.len().min(budget)) + 64);
            let (head, tail) = kept.split_once("\n[… ").unwrap_or((&kept, ""));
            prop_assert!(text.starts_with(head));
            let tail = tail.split_once("…]\n").map_or("", |(_, tail)| tail);
            prop_assert!(text.ends_with(tail));
        }
    }
}
