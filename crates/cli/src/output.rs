//! The two places where regreen prints.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme};
use regreen_model::is_format_control;
use regreen_redaction::Masks;
use serde::Serialize;

use crate::problem::Problem;

/// Prints a result. A reader that has gone away is no failure: it has what it wanted.
pub fn print(text: &str) -> Result<(), Problem> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Problem::Print(error)),
        _ => Ok(()),
    }
}

/// A value as JSON, in which every character that shows nothing is escaped: the text of
/// others can be looked at on a terminal.
pub fn json(value: &impl Serialize) -> String {
    // Made of names and numbers that all have a form in JSON.
    let json = serde_json::to_string_pretty(value).unwrap_or_default();
    escaped(&json) + "\n"
}

/// JSON in which every character that shows nothing is escaped.
pub fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len() + 1);
    for c in json.chars() {
        let is_hidden = (c.is_control() && c != '\n') || is_format_control(c);
        if is_hidden || matches!(c, '\u{2028}' | '\u{2029}') {
            // JSON names the units of UTF-16.
            for unit in c.encode_utf16(&mut [0; 2]) {
                text.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            text.push(c);
        }
    }
    text
}

/// Says something to whoever is asked.
pub fn ask(text: &str) {
    let mut out = io::stderr().lock();
    // Whoever cannot read it cannot answer either, and that ends it.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Whether somebody is there who sees a question and can type an answer.
pub fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Says something beside the result.
pub fn note(text: &str) {
    say(&format!("note: {text}"));
}

/// Says something that is no result.
pub fn say(text: &str) {
    // If this cannot be printed, there is nobody to hear it.
    let _ = writeln!(io::stderr(), "{}", printable(text));
}

/// Whether somebody sees what goes on.
pub fn can_be_watched() -> bool {
    let is_dumb = std::env::var_os("TERM").is_none_or(|terminal| terminal == "dumb");
    io::stderr().is_terminal() && !is_dumb
}

/// Shows something in the place of what was shown on the line before.
pub fn replace_line(text: &str) {
    let mut out = io::stderr().lock();
    // If this cannot be printed, there is nobody to see it.
    let _ = write!(out, "\r\u{1b}[2K{}", printable_line(text)).and_then(|()| out.flush());
}

/// Says what went wrong and what to do about it. Files and flags may hold secrets: what
/// looks like one is not shown.
pub fn complain(problem: &Problem) {
    let masks = Masks::built_in();
    for (at, mut excerpt) in problem.excerpts().into_iter().enumerate() {
        // Before lines are broken; the shown text only afterwards, as its places must fit.
        excerpt.message = masks.mask(&excerpt.message);
        excerpt.help = excerpt.help.map(|help| masks.mask(&help));
        let text = render(&excerpt, io::stderr().is_terminal());
        let gap = if at == 0 { "" } else { "\n" };
        // If this cannot be printed either, the exit code has to say it all.
        let _ = writeln!(io::stderr(), "{gap}{}", masks.mask(text.trim_end()));
    }
}

/// A diagnostic as text, with colours only on a terminal.
pub fn render(diagnostic: &dyn Diagnostic, colours: bool) -> String {
    let theme = if colours {
        GraphicalTheme::unicode()
    } else {
        GraphicalTheme::unicode_nocolor()
    };
    let mut text = String::new();
    let handler = GraphicalReportHandler::new_themed(theme)
        .with_width(100)
        .with_links(colours);
    // Rendering into memory has nothing to fail on.
    let _ = handler.render_report(&mut text, diagnostic);
    text
}

/// Whether results go to a terminal that wants colours.
pub fn has_colours() -> bool {
    wants_colours(io::stdout().is_terminal())
}

/// Whether questions go to a terminal that wants colours.
pub fn asks_in_colours() -> bool {
    wants_colours(io::stderr().is_terminal())
}

/// Whether a view that redraws itself can be shown.
pub fn is_live() -> bool {
    let is_dumb = std::env::var_os("TERM").is_none_or(|terminal| terminal == "dumb");
    io::stdout().is_terminal() && io::stderr().is_terminal() && !is_dumb
}

fn wants_colours(is_terminal: bool) -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
    is_terminal && !is_set("NO_COLOR") && !is_dumb
}

/// A path as seen from a folder, for the terminal.
pub fn path_from(here: &Path, path: &Path) -> String {
    printable(&inside(here, path).display().to_string())
}

/// A path as short as it can be said in a folder.
pub fn inside<'p>(here: &Path, path: &'p Path) -> &'p Path {
    match path.strip_prefix(here) {
        Ok(inside) if inside.as_os_str().is_empty() => Path::new("."),
        Ok(inside) => inside,
        Err(_) => path,
    }
}

/// A path as its owner calls it, for the terminal.
pub fn path_from_home(path: &Path) -> String {
    let home = std::env::home_dir().filter(|home| home.is_absolute());
    let shown = match home.and_then(|home| path.strip_prefix(home).ok().map(Path::to_owned)) {
        Some(inside) => format!("~/{}", inside.display()),
        None => path.display().to_string(),
    };
    printable(&shown)
}

/// Text from a file as a terminal may get it: nothing in it moves the cursor, sets colours
/// or turns the reading direction. Keeps the number of bytes, so that places stay right.
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        let is_harmful =
            (c.is_control() && !matches!(c, '\n' | '\r' | '\t')) || is_format_control(c);
        if is_harmful {
            shown.extend(std::iter::repeat_n('?', c.len_utf8()));
        } else {
            shown.push(c);
        }
    }
    shown
}

/// As [`printable`], and on one line: names of files may have several.
pub fn printable_line(text: &str) -> String {
    printable(text).replace(['\n', '\r'], "?")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal_that_could_command_it() {
        let text = "a\u{1b}[31mred\u{202e}\u{7}\tb\r\n";
        let shown = printable(text);
        assert_eq!(shown, "a?[31mred????\tb\r\n");
        assert_eq!(shown.len(), text.len());
    }

    #[test]
    fn json_hides_nothing_and_reads_back() {
        let text = "a\u{1b}[31m\n\u{7f}\u{9b}\u{202e}\u{2028}\u{e0041}é\"";
        let shown = json(&text);
        assert_eq!(
            shown,
            "\"a\\u001b[31m\\n\\u007f\\u009b\\u202e\\u2028\\udb40\\udc41é\\\"\"\n"
        );
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
    }
}
