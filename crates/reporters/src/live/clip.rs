use unicode_width::UnicodeWidthChar as _;

/// The text, cut to so many columns; if something is missing, its end says so.
pub(super) fn clip(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut clipped = beginning(text, columns.saturating_sub(1));
    if columns > 0 {
        clipped.push('…');
    }
    clipped
}

fn beginning(text: &str, columns: usize) -> String {
    let mut used = 0;
    let fitting = text.chars().take_while(|c| {
        used += columns_of(*c);
        used <= columns
    });
    fitting.collect()
}

/// Character by character, as indicatif counts: it has to know where lines wrap.
fn width(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

fn columns_of(c: char) -> usize {
    c.width().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(clip("abc", 3), "abc");
        assert_eq!(clip("abcd", 3), "ab…");
        assert_eq!(clip("日本語", 6), "日本語");
        assert_eq!(clip("日本語", 5), "日本…");
        assert_eq!(clip("日本語", 4), "日…");
        assert_eq!(clip("日本語", 1), "…");
        assert_eq!(clip("日本語", 0), "");
    }

    proptest! {
        #[test]
        fn it_always_fits(text in any::<String>(), columns in 0_usize..40) {
            prop_assert!(width(&clip(&text, columns)) <= columns);
        }
    }
}
