use crate::ansi;

/// Longer texts are cut.
const MAX_CHARS: usize = 2000;

/// Text from outside on one line: nothing in it can begin another line or change how its
/// neighbours are read.
pub(crate) fn one_line(text: &str) -> String {
    let start = &text[..text.floor_char_boundary(MAX_CHARS * 8)];
    let plain = ansi::strip(start);
    let mut line = String::new();
    let mut length = 0;
    for c in plain.chars() {
        let c = if c.is_whitespace() { ' ' } else { c };
        let is_hidden = c.is_control() || is_format_control(c) || (c == ' ' && line.ends_with(' '));
        if is_hidden || length >= MAX_CHARS {
            continue;
        }
        line.push(c);
        length += 1;
    }
    line.trim().to_owned()
}

/// Characters that show nothing and change how others are read.
pub(crate) fn is_format_control(c: char) -> bool {
    matches!(
        c,
        '\u{061C}' | '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E007F}'
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn breaks_colours_and_reversals_go() {
        assert_eq!(
            one_line(" a\r\nb\u{2028}c\t\u{1b}[31md\u{202e}\0 "),
            "a b c d"
        );
    }

    proptest! {
        #[test]
        fn a_line_stays_what_it_is(text in any::<String>()) {
            let line = one_line(&text);
            prop_assert!(!line.contains(char::is_control));
            prop_assert_eq!(one_line(&line), line);
        }
    }
}
