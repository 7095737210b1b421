//! Made-up task files: what people write, and everything that can get in its way.

use super::dice::Dice;

const EMPTY: &str = "";

/// A text of a few lines.
pub(super) fn text(dice: &mut Dice) -> String {
    let mut text = String::new();
    if dice.chance(3) {
        text.push('\u{FEFF}');
    }
    let ending = dice.one_of(&["\n", "\n", "\n", "\n", "\r\n", "\r"]);
    let lines = 1 + dice.below(18);
    let mut column = 0;
    for at in 0..lines {
        let line = line(dice, &mut column);
        text.push_str(&line);
        let is_last = at + 1 == lines;
        if !is_last || dice.chance(80) {
            let stray = dice.chance(2);
            text.push_str(if stray { "\n" } else { ending });
        }
    }
    text
}

/// One line. `column` is where the content of the last list item started.
fn line(dice: &mut Dice, column: &mut usize) -> String {
    let indent = indent(dice, *column);
    match dice.below(100) {
        0..50 => {
            let (item, content) = item(dice);
            *column = indent.len() + content;
            format!("{indent}{item}")
        }
        50..60 => blank(dice).to_owned(),
        60..70 => format!("{indent}{}", words(dice)),
        70..80 => format!("{indent}{}", fence(dice)),
        80..86 => format!("{indent}{}", html(dice)),
        86..91 => format!("{indent}{}", heading(dice)),
        91..95 => quote(dice, &indent),
        _ => format!("{indent}{}", table_or_link(dice)),
    }
}

/// Below the last item, beside it, or anywhere.
fn indent(dice: &mut Dice, column: usize) -> String {
    match dice.below(10) {
        0..3 => String::new(),
        3..6 => " ".repeat(column),
        6..7 => " ".repeat(column.saturating_sub(2)),
        7..9 => dice
            .one_of(&["  ", "  ", "   ", "    ", "    ", " ", "      ", "        "])
            .to_owned(),
        _ => dice
            .one_of(&["\t", "\t\t", " \t", "  \t", "\t "])
            .to_owned(),
    }
}

/// A list item, and the column of its content.
fn item(dice: &mut Dice) -> (String, usize) {
    let marker = dice.one_of(&[
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
    let gap = dice.one_of(&[
        " ", " ", " ", " ", " ", " ", "  ", "   ", "    ", "     ", "\t", "",
    ]);
    let start = format!("{marker}{gap}");
    let content = start.len();
    if dice.chance(12) {
        let (inner, column) = item(dice);
        return (format!("{start}{inner}"), content + column);
    }
    if dice.chance(8) {
        let other = match dice.below(5) {
            0 => fence(dice),
            1 => html(dice).to_owned(),
            2 => heading(dice).to_owned(),
            3 => "> - [ ] quoted".to_owned(),
            _ => String::new(),
        };
        return (format!("{start}{other}"), content);
    }
    let mark = dice.one_of(&[
        "[ ]", "[ ]", "[ ]", "[x]", "[x]", "[X]", "[-]", "[~]", "[ ]*", "[x]\\*", "[ ]**", "[]",
        "[P]", "[x](a)", "[\t]", "[  ]", "[x][a]", EMPTY, EMPTY,
    ]);
    let after = dice.one_of(&[" ", " ", " ", " ", " ", "\t", "  ", EMPTY]);
    (format!("{start}{mark}{after}{}", words(dice)), content)
}

fn words(dice: &mut Dice) -> &'static str {
    dice.one_of(&[
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

fn blank(dice: &mut Dice) -> &'static str {
    dice.one_of(&["", "", "", "", "", "", "  ", "\t", "      ", "\u{c}"])
}

fn fence(dice: &mut Dice) -> String {
    let mark = dice.one_of(&["`", "`", "`", "~"]);
    let length = [3, 3, 3, 3, 4, 5, 2].get(dice.below(7)).copied();
    let info = dice.one_of(&["", "", "", "", "", "sh", " sh", "a`b", "a~b", "  ", " x y"]);
    format!("{}{info}", mark.repeat(length.unwrap_or(3)))
}

fn html(dice: &mut Dice) -> &'static str {
    dice.one_of(&[
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

fn heading(dice: &mut Dice) -> &'static str {
    dice.one_of(&[
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

fn quote(dice: &mut Dice, indent: &str) -> String {
    let mark = dice.one_of(&["> ", ">", ">> ", "> > ", ">\t"]);
    let content = match dice.below(6) {
        0 => fence(dice),
        1 => words(dice).to_owned(),
        2 => html(dice).to_owned(),
        3 => heading(dice).to_owned(),
        _ => item(dice).0,
    };
    format!("{indent}{mark}{content}")
}

fn table_or_link(dice: &mut Dice) -> &'static str {
    dice.one_of(&[
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
