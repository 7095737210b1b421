//! One line per event: a status word, a time, an id and a title in columns, with details indented
//! below.

use anstyle::{AnsiColor, Effects, Style};
use regreen_model::Span;

use crate::text::{fit, text_width};
use crate::wrap::wrap;

/// Status words end in this column.
const STATUS_WIDTH: usize = 8;
/// Text begins in this column.
const INDENT: usize = STATUS_WIDTH + 2;
const TIME_WIDTH: usize = 6;
/// Trailing text on short lines (a commit, the number of an attempt) begins here.
const TRAILING_COLUMN: usize = 66;
/// The widest trailing text is the name of a run.
const TRAILING_WIDTH: usize = 15;
/// With less room than this for the text, the time and the trailing text are dropped.
const MIN_TEXT: usize = 12;
/// Anything narrower has no columns.
const MIN_COLUMNS: usize = 24;

/// Whether text is colored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Palette {
    /// No escape sequences at all.
    #[default]
    Plain,
    /// Colors of the terminal's own palette.
    Coloured,
}

/// The meaning of a piece of text, shown by its color.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Bold, in the default color.
    Strong,
    /// Something passed.
    Good,
    /// Something failed.
    Bad,
    /// Something needs attention.
    Warning,
    /// regreen is responding to a failure.
    Action,
    /// A person is asked.
    Question,
    /// Details.
    Dim,
    /// A line that was added.
    Added,
    /// A line that was removed.
    Removed,
}

impl Palette {
    /// Returns the text in the color of this tone, if colors are on.
    #[must_use]
    pub fn paint(self, tone: Tone, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Coloured => {
                let style = tone.style();
                format!("{style}{text}{style:#}")
            }
        }
    }
}

impl Tone {
    fn style(self) -> Style {
        let bold = |color: AnsiColor| color.on_default().effects(Effects::BOLD);
        match self {
            Self::Strong => Style::new().effects(Effects::BOLD),
            Self::Good => bold(AnsiColor::Green),
            Self::Bad => bold(AnsiColor::Red),
            Self::Warning => bold(AnsiColor::Yellow),
            Self::Action => bold(AnsiColor::Cyan),
            Self::Question => bold(AnsiColor::Magenta),
            Self::Dim => Style::new().effects(Effects::DIMMED),
            Self::Added => AnsiColor::Green.on_default(),
            Self::Removed => AnsiColor::Red.on_default(),
        }
    }
}

/// How lines look: their colors and maximum width.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineStyle {
    /// Whether to use colors.
    pub palette: Palette,
    /// The number of columns; `None` if nothing is cut, as in a pipe or a file.
    pub columns: Option<usize>,
}

/// The word at the beginning of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// A run starts.
    Start,
    /// A run resumes.
    Resume,
    /// A task passed.
    Pass,
    /// An attempt, a group or a repair failed.
    Fail,
    /// A fix task, or a repair.
    Fix,
    /// A task is retried.
    Retry,
    /// The run is waiting.
    Wait,
    /// A task is skipped.
    Skip,
    /// A task waits for a person while the run continues.
    Park,
    /// A person said that a task is done.
    Done,
    /// The agent changed the plan.
    Plan,
    /// A warning.
    Warn,
    /// A person is asked.
    Ask,
    /// Someone asked the run to stop.
    Stop,
    /// The run ended.
    End,
    /// An open task.
    Todo,
    /// The current task.
    Run,
    /// A service that tasks need.
    Service,
}

impl Status {
    fn word(self) -> &'static str {
        match self {
            Self::Start => "START",
            Self::Resume => "RESUME",
            Self::Pass => "PASS",
            Self::Fail => "FAIL",
            Self::Fix => "FIX",
            Self::Retry => "RETRY",
            Self::Wait => "WAIT",
            Self::Skip => "SKIP",
            Self::Park => "PARK",
            Self::Done => "DONE",
            Self::Plan => "PLAN",
            Self::Warn => "WARN",
            Self::Ask => "ASK",
            Self::Stop => "STOP",
            Self::End => "END",
            Self::Todo => "TODO",
            Self::Run => "RUN",
            Self::Service => "SERVE",
        }
    }

    fn tone(self) -> Tone {
        match self {
            Self::Start | Self::Resume | Self::End => Tone::Strong,
            Self::Pass | Self::Done => Tone::Good,
            Self::Fail => Tone::Bad,
            Self::Fix | Self::Plan | Self::Run | Self::Service => Tone::Action,
            Self::Retry | Self::Wait | Self::Skip | Self::Park | Self::Warn | Self::Stop => {
                Tone::Warning
            }
            Self::Ask => Tone::Question,
            Self::Todo => Tone::Dim,
        }
    }
}

/// One line with its details.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusLine {
    label: &'static str,
    tone: Tone,
    time: Option<String>,
    text: String,
    overflow: Overflow,
    trailing: Option<String>,
    /// A command, and its column in the text.
    command: Option<(usize, String)>,
    details: Vec<Detail>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Detail {
    text: String,
    overflow: Overflow,
}

/// How to fit text that is too long for a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Overflow {
    /// Cut it in the middle.
    Cut,
    /// Break it into several rows.
    Wrap,
}

impl StatusLine {
    /// Creates a line whose text is cut if it is too long.
    pub fn new(status: Status, text: impl Into<String>) -> Self {
        Self {
            tone: status.tone(),
            ..Self::labelled(status.word(), text)
        }
    }

    /// Creates a line that begins with another word, in bold.
    pub fn labelled(label: &'static str, text: impl Into<String>) -> Self {
        Self {
            label,
            tone: Tone::Strong,
            time: None,
            text: text.into(),
            overflow: Overflow::Cut,
            trailing: None,
            command: None,
            details: Vec::new(),
        }
    }

    /// Changes the color of the status word.
    #[must_use]
    pub fn toned(self, tone: Tone) -> Self {
        Self { tone, ..self }
    }

    /// Wraps long text instead of cutting it.
    #[must_use]
    pub fn wrapped(self) -> Self {
        Self {
            overflow: Overflow::Wrap,
            ..self
        }
    }

    /// Adds a command in this column of the text, or below the text if there is no room for it. It is
    /// never cut, so that it can be copied.
    #[must_use]
    pub fn command(self, column: usize, command: impl Into<String>) -> Self {
        Self {
            command: Some((column, command.into())),
            ..self
        }
    }

    /// Adds the duration, if known.
    #[must_use]
    pub fn timed(self, millis: Option<u64>) -> Self {
        let time = millis.map(|millis| Span::from_millis(millis).to_string().replace(' ', ""));
        Self { time, ..self }
    }

    /// Adds trailing text: a commit, the number of an attempt.
    #[must_use]
    pub fn trailing(self, trailing: impl Into<String>) -> Self {
        let trailing = Some(trailing.into()).filter(|text| !text.is_empty());
        Self { trailing, ..self }
    }

    /// Adds a line below, cut if it is too long; nothing if the text is empty.
    #[must_use]
    pub fn detail(self, text: impl Into<String>) -> Self {
        self.with_detail(text.into(), Overflow::Cut)
    }

    /// Adds a line below, wrapped if it is too long.
    #[must_use]
    pub fn wrapped_detail(self, text: impl Into<String>) -> Self {
        self.with_detail(text.into(), Overflow::Wrap)
    }

    fn with_detail(mut self, text: String, overflow: Overflow) -> Self {
        if !text.is_empty() {
            self.details.push(Detail { text, overflow });
        }
        self
    }

    /// Returns the rows of the line on the screen.
    #[must_use]
    pub fn rows(&self, style: LineStyle) -> Vec<String> {
        let room = style.columns.map(|columns| columns.saturating_sub(INDENT));
        if let Some(columns) = style.columns.filter(|columns| *columns < MIN_COLUMNS) {
            return vec![fit(&format!("{} {}", self.label, self.text), columns)];
        }
        let mut rows = self.main_rows(style, room);
        self.add_command(&mut rows, room);
        for Detail { text, overflow } in &self.details {
            let lines = fitted(text, room, *overflow);
            rows.extend(lines.into_iter().map(|line| {
                let line = style.palette.paint(Tone::Dim, &line);
                format!("{:INDENT$}{line}", "")
            }));
        }
        rows
    }

    /// Returns the line as text, ending in a line break.
    #[must_use]
    pub fn render(&self, style: LineStyle) -> String {
        let rows = self.rows(style).into_iter();
        rows.map(|row| format!("{}\n", row.trim_end())).collect()
    }

    fn main_rows(&self, style: LineStyle, room: Option<usize>) -> Vec<String> {
        let (time, trailing, room) = self.ends(room);
        let mut lines = fitted(&self.text, room, self.overflow).into_iter();
        let text = format!("{time}{}", lines.next().unwrap_or_default());
        let trailing = match trailing {
            "" => String::new(),
            trailing => {
                let used = INDENT + text_width(&text);
                let last = style.columns.unwrap_or(usize::MAX);
                let width = text_width(trailing).max(TRAILING_WIDTH);
                let column = TRAILING_COLUMN.min(last.saturating_sub(width));
                let gap = column.saturating_sub(used).max(2);
                format!("{:gap$}{}", "", style.palette.paint(Tone::Dim, trailing))
            }
        };
        let label = style.palette.paint(self.tone, self.label);
        let gap = STATUS_WIDTH.saturating_sub(self.label.len());
        let first = format!("{:gap$}{label}  {text}{trailing}", "");
        let rest = lines.map(|line| format!("{:INDENT$}{line}", ""));
        std::iter::once(first).chain(rest).collect()
    }

    fn add_command(&self, rows: &mut Vec<String>, room: Option<usize>) {
        let Some((column, command)) = &self.command else {
            return;
        };
        let has_room = room.is_none_or(|room| column + text_width(command) <= room);
        match rows.last_mut() {
            Some(row) if has_room => {
                let gap = column.saturating_sub(text_width(&self.text));
                row.push_str(&format!("{:gap$}{command}", ""));
            }
            _ => rows.push(format!("{:INDENT$}  {command}", "")),
        }
    }

    /// Returns the time and the trailing text, if there is room for them, and the room left for the
    /// text.
    fn ends(&self, room: Option<usize>) -> (String, &str, Option<usize>) {
        let time = self.time.as_ref();
        let mut time = time.map_or(String::new(), |time| format!("[{time:>TIME_WIDTH$}] "));
        let mut trailing = self.trailing.as_deref().unwrap_or_default();
        let Some(room) = room else {
            return (time, trailing, None);
        };
        let needed = |time: &str, trailing: &str| match trailing {
            "" => text_width(time),
            trailing => text_width(time) + text_width(trailing) + 2,
        };
        if room < needed(&time, trailing) + MIN_TEXT {
            trailing = "";
        }
        if room < needed(&time, trailing) + MIN_TEXT {
            time.clear();
        }
        let room = room.saturating_sub(needed(&time, trailing));
        (time, trailing, Some(room))
    }
}

fn fitted(text: &str, columns: Option<usize>, overflow: Overflow) -> Vec<String> {
    match (columns, overflow) {
        (None, Overflow::Cut) => vec![text.to_owned()],
        (columns, Overflow::Wrap) => wrap(text, columns),
        (Some(columns), Overflow::Cut) => vec![fit(text, columns)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(line: &StatusLine, columns: Option<usize>) -> String {
        let palette = Palette::Plain;
        line.render(LineStyle { palette, columns })
    }

    #[test]
    fn everything_stands_in_columns() {
        let pass = StatusLine::new(Status::Pass, "1.1 Add the form")
            .timed(Some(41_000))
            .trailing("abc1234");
        let fail = StatusLine::new(Status::Fail, "1.2 Validate input")
            .timed(Some(63_000))
            .detail("test failure · tests/test_form.py:18");
        let expected = [
            "    PASS  [   41s] 1.1 Add the form                               abc1234\n",
            "    FAIL  [ 1m03s] 1.2 Validate input\n",
            "          test failure · tests/test_form.py:18\n",
        ];
        assert_eq!(
            rendered(&pass, None) + &rendered(&fail, Some(80)),
            expected.concat()
        );
    }

    #[test]
    fn a_narrow_line_is_cut_and_its_end_stays() {
        let line = StatusLine::new(Status::Pass, "1.1 Add the form to the page")
            .timed(Some(41_000))
            .trailing("abc1234");
        assert_eq!(
            rendered(&line, Some(40)),
            "    PASS  [   41s] 1.1 Add…age  abc1234\n"
        );
        assert_eq!(
            rendered(&line, Some(34)),
            "    PASS  [   41s] 1.1 Add th…page\n"
        );
        assert_eq!(rendered(&line, Some(28)), "    PASS  1.1 Add the…page\n");
        assert_eq!(rendered(&line, Some(20)), "PASS 1.1 Add…e page\n");
    }

    #[test]
    fn only_the_status_word_has_a_color() {
        let line = StatusLine::new(Status::Fail, "1.2 Validate input").detail("boom");
        let style = LineStyle {
            palette: Palette::Coloured,
            columns: None,
        };
        assert_eq!(
            line.render(style),
            "    \u{1b}[1m\u{1b}[31mFAIL\u{1b}[0m  1.2 Validate input\n          \u{1b}[2mboom\u{1b}[0m\n"
        );
    }

    #[test]
    fn a_message_is_broken_into_lines_on_a_terminal_only() {
        let line = StatusLine::new(Status::Warn, "one two three four five").wrapped();
        assert_eq!(
            rendered(&line, Some(24)),
            "    WARN  one two three\n          four five\n"
        );
        assert_eq!(rendered(&line, None), "    WARN  one two three four five\n");
    }
}
