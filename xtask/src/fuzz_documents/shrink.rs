//! Makes a text smaller as long as something holds for it.

use super::source::Source;

/// Leaves out lines, then characters, until nothing more can go.
pub(super) fn shrink(text: &str, holds: impl Fn(&str) -> bool) -> String {
    let mut small = text.to_owned();
    loop {
        let before = small.len();
        small = fewer_lines(&small, &holds);
        small = fewer_chars(small, &holds);
        if small.len() == before {
            return small;
        }
    }
}

fn fewer_lines(text: &str, holds: impl Fn(&str) -> bool) -> String {
    let mut source = Source::of(text);
    let mut chunk = source.len().max(1);
    while chunk > 0 {
        let mut at = 0;
        while at < source.len() {
            let end = (at + chunk).min(source.len());
            let fewer = source.without(at..end);
            if holds(&fewer.text()) {
                source = fewer;
            } else {
                at += chunk;
            }
        }
        chunk /= 2;
    }
    source.text()
}

fn fewer_chars(mut text: String, holds: impl Fn(&str) -> bool) -> String {
    let mut at = text.len();
    while let Some((start, _)) = text[..at].char_indices().next_back() {
        at = start;
        let mut shorter = text.clone();
        shorter.remove(at);
        if holds(&shorter) {
            text = shorter;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_matter_goes() {
        let text = "one\ntwo\r\nthree x\nfour";
        assert_eq!(shrink(text, |text| text.contains('x')), "x");
        assert_eq!(
            shrink(text, |text| text == "one\ntwo\r\nthree x\nfour"),
            text
        );
    }
}
