/// A text of at most about `budget` bytes: a longer one loses its middle and says so. Its end
/// is given more room than its beginning, because errors stand there more often.
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
