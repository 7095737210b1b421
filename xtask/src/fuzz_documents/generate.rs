//! Generates random task files.

const EMPTY: &str = "";

/// Returns a text of a few lines.
pub(super) fn text(rng: &mut Rng) -> String {
    let mut text = String::new();
    if rng.chance(3) {
        text.push('\u{FEFF}');
    }
    let ending = rng.one_of(&["\n", "\n", "\n", "\n", "\r\n", "\r"]);
    let lines = 1 + rng.below(18);
    let mut column = 0;
    for at in 0..lines {
        let line = line(rng, &mut column);
        text.push_str(&line);
        let is_last = at + 1 == lines;
        if !is_last || rng.chance(80) {
            let stray = rng.chance(2);
            text.push_str(if stray { "\n" } else { ending });
        }
    }
    text
}

/// Returns one line. `column` is where the content of the last list item started.
fn line(rng: &mut Rng, column: &mut usize) -> String {
    let indent = indent(rng, *column);
    match rng.below(100) {
        0..50 => {
            let (item, content) = item(rng);
            *column = indent.len() + content;
            format!("{indent}{item}")
        }
        50..60 => blank(rng).to_owned(),
        60..70 => format!("{indent}{}", words(rng)),
        70..80 => format!("{indent}{}", fence(rng)),
        80..86 => format!("{indent}{}", html(rng)),
        86..91 => format!("{indent}{}", heading(rng)),
        91..95 => quote(rng, &indent),
        _ => format!("{indent}{}", table_or_link(rng)),
    }
}

/// Indents below the last item, beside it, or anywhere.
fn indent(rng: &mut Rng, column: usize) -> String {
    match rng.below(10) {
        0..3 => String::new(),
        3..6 => " ".repeat(column),
        6..7 => " ".repeat(column.saturating_sub(2)),
        7..9 => rng
            .one_of(&["  ", "  ", "   ", "    ", "    ", " ", "      ", "        "])
            .to_owned(),
        _ => rng.one_of(&["\t", "\t\t", " \t", "  \t", "\t "]).to_owned(),
    }
}

/// Returns a list item, and the column of its content.
fn item(rng: &mut Rng) -> (String, usize) {
    let marker = rng.one_of(&[
        "-",
        "-",
        "-",
        "-",
        "-",
        "*",
        "+",
        "1.",
        "1)",
        "2.",
        "10.",
        "0.",
        "01.",
        "123456789.",
        "1234567890.",
    ]);
    let gap = rng.one_of(&[
        " ", " ", " ", " ", " ", " ", "  ", "   ", "    ", "     ", "\t", "",
    ]);
    let start = format!("{marker}{gap}");
    let content = start.len();
    if rng.chance(12) {
        let (inner, column) = item(rng);
        return (format!("{start}{inner}"), content + column);
    }
    if rng.chance(8) {
        let other = match rng.below(5) {
            0 => fence(rng),
            1 => html(rng).to_owned(),
            2 => heading(rng).to_owned(),
            3 => "> - [ ] quoted".to_owned(),
            _ => String::new(),
        };
        return (format!("{start}{other}"), content);
    }
    let mark = rng.one_of(&[
        "[ ]", "[ ]", "[ ]", "[x]", "[x]", "[X]", "[-]", "[~]", "[ ]*", "[x]\\*", "[ ]**", "[]",
        "[P]", "[x](a)", "[\t]", "[  ]", "[x][a]", EMPTY, EMPTY,
    ]);
    let after = rng.one_of(&[" ", " ", " ", " ", " ", "\t", "  ", EMPTY]);
    (format!("{start}{mark}{after}{}", words(rng)), content)
}

fn words(rng: &mut Rng) -> &'static str {
    rng.one_of(&[
        "1.1 Task",
        "1.2 Task",
        "T001 [P] Task",
        "1.1.1 [FIX 1.1] Fix: boom",
        "**Verify**: `make test`",
        "**Do**:",
        "text",
        "more text",
        "a `code` span",
        "`open",
        "[ ] box",
        "[x] box",
        "-",
        "=",
        "2. two",
        "- dash",
        "text <!-- aside -->",
        "text <!--",
        "a | b",
        "\\- [ ] escaped",
        "*emphasis*",
        "\u{a0}odd blank",
        "\u{b}odd blank",
        "\u{c}odd blank",
        "wörter 日本",
        "trailing  ",
        "back\\",
        EMPTY,
    ])
}

fn blank(rng: &mut Rng) -> &'static str {
    rng.one_of(&["", "", "", "", "", "", "  ", "\t", "      ", "\u{c}"])
}

fn fence(rng: &mut Rng) -> String {
    let mark = rng.one_of(&["`", "`", "`", "~"]);
    let length = [3, 3, 3, 3, 4, 5, 2].get(rng.below(7)).copied();
    let info = rng.one_of(&["", "", "", "", "", "sh", " sh", "a`b", "a~b", "  ", " x y"]);
    format!("{}{info}", mark.repeat(length.unwrap_or(3)))
}

fn html(rng: &mut Rng) -> &'static str {
    rng.one_of(&[
        "<!--",
        "<!--",
        "<!--",
        "-->",
        "-->",
        "-->",
        "<!-- one line -->",
        "<!-- a --> b",
        "<!-->",
        "<!--->",
        "text -->",
        "- [ ] a -->",
        "<div>",
        "</div>",
        "<details>",
        "</details>",
        "<pre>",
        "</pre>",
        "<script>",
        "</script>",
        "<?php",
        "?>",
        "<!DOCTYPE html",
        ">",
        "<![CDATA[",
        "]]>",
        "<span>",
        "<a href=\"x\">",
        "<br/>",
        "<b>bold</b>",
        "<!x",
    ])
}

fn heading(rng: &mut Rng) -> &'static str {
    rng.one_of(&[
        "# Title",
        "## Phase 1",
        "#",
        "#no",
        "####### seven",
        "# a #",
        "===",
        "---",
        "--",
        "=",
        "***",
        "* * *",
        "_ _ _",
        "- - -",
        "----- ",
        "-- -",
        "== =",
        "__",
        "+++",
    ])
}

fn quote(rng: &mut Rng, indent: &str) -> String {
    let mark = rng.one_of(&["> ", ">", ">> ", "> > ", ">\t"]);
    let content = match rng.below(6) {
        0 => fence(rng),
        1 => words(rng).to_owned(),
        2 => html(rng).to_owned(),
        3 => heading(rng).to_owned(),
        _ => item(rng).0,
    };
    format!("{indent}{mark}{content}")
}

fn table_or_link(rng: &mut Rng) -> &'static str {
    rng.one_of(&[
        "| a | b |",
        "| - | - |",
        "|---|:-:|",
        "| - [ ] a | b |",
        "--- | ---",
        "- | -",
        "a | b",
        "[x]: /url",
        "[ ]: /url",
        "[a]: /url",
        "[a]: /url \"title\"",
        "[X]:",
        "[a]:",
        "/url",
        "[x] text",
        "![x](image)",
    ])
}

/// SplitMix64: small, fast, and good enough to combine lines at random.
#[derive(Clone, Debug)]
pub(super) struct Rng {
    state: u64,
}

impl Rng {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `limit`, or 0 if that is 0.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        let limit = u64::try_from(limit).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next() % limit).unwrap_or_default()
    }

    /// Returns true in `percent` of a hundred cases.
    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Returns one of the words; a word listed twice is twice as likely.
    pub(super) fn one_of(&mut self, words: &[&'static str]) -> &'static str {
        let at = self.below(words.len());
        words.get(at).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_throws_for_ever() {
        let mut rng = Rng::new(7);
        let throws: Vec<usize> = (0..6).map(|_| rng.below(100)).collect();
        assert_eq!(throws, [87, 4, 46, 3, 74, 5]);
    }
}
