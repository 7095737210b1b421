//! Output on stdout and stderr: colors, width and escaping.

use std::io::{self, IsTerminal as _, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::OnceLock;

use miette::{GraphicalReportHandler, GraphicalTheme};
use regreen_model::is_format_control;
use regreen_redaction::Masks;
use regreen_reporters::{LineStyle, Palette, Size, StatusLine, Terminal, Tone, wrap, wrap_below};
use rustix::process::getpgrp;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcgetpgrp, tcgetwinsize, tcsetattr};
use serde::Serialize;

use crate::arguments::ColorChoice;
use crate::error_message::ErrorMessage;
use crate::problem::Problem;

/// The assumed size of a terminal that doesn't report one.
const USUAL_SIZE: Size = Size {
    columns: 80,
    lines: 24,
};

static COLOR: OnceLock<ColorChoice> = OnceLock::new();

/// Sets whether to use colors; once, before anything is printed.
pub fn set_color(choice: ColorChoice) {
    // The first choice stays, because something may already have been printed.
    let _ = COLOR.set(choice);
}

/// Prints a result. It is not an error if the reader is gone: it has what it wanted.
pub fn print(text: &str) -> Result<(), Problem> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Problem::Print(error)),
        _ => Ok(()),
    }
}

/// Prints lines as a result.
pub fn print_lines(lines: &[StatusLine]) -> Result<(), Problem> {
    let style = line_style();
    print(
        &lines
            .iter()
            .map(|line| line.render(style))
            .collect::<String>(),
    )
}

/// Returns a value as JSON with all invisible characters escaped, so that hostile text is harmless
/// on a terminal.
pub fn json(value: &impl Serialize) -> String {
    // Consists of names and numbers that can all be represented in JSON.
    let json = serde_json::to_string_pretty(value).unwrap_or_default();
    escaped(&json) + "\n"
}

/// Escapes all invisible characters in a JSON text.
pub fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len() + 1);
    for c in json.chars() {
        let is_hidden = (c.is_control() && c != '\n') || is_format_control(c);
        if is_hidden || matches!(c, '\u{2028}' | '\u{2029}') {
            // JSON escapes are UTF-16 code units.
            for unit in c.encode_utf16(&mut [0; 2]) {
                text.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            text.push(c);
        }
    }
    text
}

/// Prints sentences as a result, wrapped to the width of a terminal.
pub fn print_text(text: &str) -> Result<(), Problem> {
    print(&wrap_below(text, line_style().columns, 0))
}

/// Prints a question.
pub fn ask(text: &str) {
    let mut out = io::stderr().lock();
    // A person who can't read the question can't answer it either, which ends it.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Whether someone can see a question and type an answer.
pub fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Prints a note, separate from the result.
pub fn note(text: &str) {
    say_after("note: ", text);
}

/// Prints something that is not a result, to stderr.
pub fn say(text: &str) {
    say_after("", text);
}

fn say_after(label: &str, text: &str) {
    let text = wrap_below(&printable(text), question_style().columns, label.len());
    // If this can't be printed, no one is reading.
    let _ = writeln!(io::stderr(), "{label}{text}");
}

/// Prints clap's message about wrong arguments, wrapped to the width of the terminal.
pub fn refuse(message: &str) {
    let style = question_style();
    let text = wrap_below(message.trim_end(), style.columns, 0);
    let text = match text.strip_prefix("error:") {
        Some(text) => format!("{}{text}", style.palette.paint(Tone::Bad, "error:")),
        None => text,
    };
    // If this can't be printed either, the exit code has to do.
    let _ = writeln!(io::stderr(), "{text}");
}

/// Whether someone is watching on a terminal.
pub fn can_be_watched() -> bool {
    io::stderr().is_terminal() && !is_dumb().unwrap_or(true)
}

/// Replaces the current line.
pub fn replace_line(text: &str) {
    let mut out = io::stderr().lock();
    // If this can't be printed, no one is reading.
    let _ = write!(out, "\r\u{1b}[2K{}", printable_line(text)).and_then(|()| out.flush());
}

/// Prints an error and what to do about it. Files and flags may contain secrets, so anything that
/// looks like one is masked.
pub fn complain(problem: &Problem) {
    let masks = Masks::built_in();
    for (at, mut message) in problem.messages().into_iter().enumerate() {
        // Before lines are wrapped; the quoted text only afterwards, because its positions must
        // stay valid.
        message.message = masks.mask(&message.message);
        message.help = message.help.map(|help| masks.mask(&help));
        let text = render(message, question_style());
        let gap = if at == 0 { "" } else { "\n" };
        // If this can't be printed either, the exit code has to do.
        let _ = writeln!(io::stderr(), "{gap}{}", masks.mask(text.trim_end()));
    }
}

/// Renders a message as text. Its sentences are wrapped, the text that it quotes is not.
fn render(mut message: ErrorMessage, style: LineStyle) -> String {
    let theme = match style.palette {
        Palette::Coloured => GraphicalTheme::unicode(),
        Palette::Plain => GraphicalTheme::unicode_nocolor(),
    };
    let room = |label: &str| {
        style
            .columns
            .map(|columns| columns.saturating_sub(label.len()))
    };
    let wrapped = |text: &str, label: &str| wrap(text, room(label)).join("\n");
    message.message = wrapped(&message.message, "  x ");
    message.help = message.help.map(|help| wrapped(&help, "  help: "));
    let mut text = String::new();
    let handler = GraphicalReportHandler::new_themed(theme)
        .with_wrap_lines(false)
        .with_links(style.palette == Palette::Coloured);
    // Rendering into memory cannot fail.
    let _ = handler.render_report(&mut text, &message);
    text
}

/// Returns the style of result lines: they fit the width of a terminal, and are never cut
/// elsewhere.
pub fn line_style() -> LineStyle {
    style_of(&io::stdout())
}

fn style_of(stream: &(impl AsFd + io::IsTerminal)) -> LineStyle {
    LineStyle {
        palette: palette(stream.is_terminal()),
        columns: size(stream).map(|size| size.columns),
    }
}

pub fn question_style() -> LineStyle {
    style_of(&io::stderr())
}

/// Whether results go to a terminal.
pub fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Whether a live view can be shown.
pub fn is_live() -> bool {
    io::stdout().is_terminal() && io::stderr().is_terminal() && !is_dumb().unwrap_or(true)
}

/// Whether the whole screen can be used, and someone can press keys.
#[cfg(feature = "tui")]
pub fn can_take_screen() -> bool {
    is_live() && io::stdin().is_terminal()
}

fn palette(is_terminal: bool) -> Palette {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_colored = match COLOR.get().copied().unwrap_or_default() {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => is_terminal && !is_set("NO_COLOR") && !is_dumb().unwrap_or(false),
    };
    if is_colored {
        Palette::Coloured
    } else {
        Palette::Plain
    }
}

/// Returns whether the terminal lacks escape sequences, if it says what it is.
fn is_dumb() -> Option<bool> {
    std::env::var_os("TERM").map(|terminal| terminal == "dumb")
}

/// Returns the size of a terminal; `None` if the stream isn't one or doesn't report it.
fn size(stream: &impl AsFd) -> Option<Size> {
    let size = tcgetwinsize(stream).ok()?;
    let (columns, lines) = (usize::from(size.ws_col), usize::from(size.ws_row));
    (columns > 0 && lines > 0).then_some(Size { columns, lines })
}

/// Standard output, as the live view draws on it.
#[derive(Debug, Default)]
pub struct StdoutTerminal {
    /// Typed text was visible before the view hid it.
    had_echo: bool,
}

impl Write for StdoutTerminal {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        io::stdout().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().flush()
    }
}

impl Terminal for StdoutTerminal {
    fn size(&self) -> Size {
        size(&io::stdout()).unwrap_or(USUAL_SIZE)
    }

    fn set_echo(&mut self, is_shown: bool) {
        let out = io::stdout();
        // Changing the terminal would suspend a background process.
        let is_background = tcgetpgrp(&out).is_ok_and(|group| group != getpgrp());
        let Ok(mut modes) = tcgetattr(&out) else {
            return;
        };
        if is_background || (is_shown && !self.had_echo) {
            return;
        }
        self.had_echo = modes.local_modes.contains(LocalModes::ECHO);
        modes.local_modes.set(LocalModes::ECHO, is_shown);
        // At worst, typed text is visible.
        let _ = tcsetattr(&out, OptionalActions::Now, &modes);
    }
}

/// Returns a path relative to a folder, for the terminal.
pub fn path_from(here: &Path, path: &Path) -> String {
    printable(&inside(here, path).display().to_string())
}

/// Returns a path relative to a folder if it is inside, or else unchanged.
pub fn inside<'p>(here: &Path, path: &'p Path) -> &'p Path {
    match path.strip_prefix(here) {
        Ok(inside) if inside.as_os_str().is_empty() => Path::new("."),
        Ok(inside) => inside,
        Err(_) => path,
    }
}

/// Returns a path with `~` for the home folder, for the terminal.
pub fn path_from_home(path: &Path) -> String {
    let home = std::env::home_dir().filter(|home| home.is_absolute());
    let shown = match home.and_then(|home| path.strip_prefix(home).ok().map(Path::to_owned)) {
        Some(inside) => format!("~/{}", inside.display()),
        None => path.display().to_string(),
    };
    printable(&shown)
}

/// Replaces everything that moves the cursor, sets colors or changes the reading direction. Keeps
/// the number of bytes, so that positions stay valid.
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

/// Like [`printable`], but on one line: file names may contain line breaks.
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
