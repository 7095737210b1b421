use regreen_model::visible_line;
use regreen_reporters::{LineStyle, Status, StatusLine};

/// How much output is quoted, and how long a line may be.
const QUOTED_LINES: usize = 12;
const LINE_CHARS: usize = 300;

/// The history of a task: lines with details, in which hostile text can't take more than its line.
#[derive(Debug, Default)]
pub(super) struct Page {
    entries: Vec<PageEntry>,
}

/// A line whose status may still change while details are added.
#[derive(Debug)]
struct PageEntry {
    label: PageLabel,
    text: String,
    time_ms: Option<u64>,
    trailing: String,
    details: Vec<PageDetail>,
    /// Preceded by an empty line.
    begins_paragraph: bool,
}

#[derive(Debug)]
struct PageDetail {
    text: String,
    /// A quoted line is cut if it is too long; anything else is wrapped.
    is_quoted: bool,
}

#[derive(Clone, Copy, Debug)]
enum PageLabel {
    Status(Status),
    Other(&'static str),
}

impl Page {
    /// Adds a line that begins with a status word.
    pub(super) fn entry(&mut self, status: Status, text: &str) {
        self.push(PageLabel::Status(status), text, false);
    }

    /// Adds a line that begins with another word, after an empty line.
    pub(super) fn heading(&mut self, label: &'static str, text: &str) {
        self.push(PageLabel::Other(label), text, true);
    }

    fn push(&mut self, label: PageLabel, text: &str, begins_paragraph: bool) {
        self.entries.push(PageEntry {
            label,
            text: shown(text),
            time_ms: None,
            trailing: String::new(),
            details: Vec::new(),
            begins_paragraph,
        });
    }

    /// Changes the status of the last line, because the outcome is known only at the end.
    pub(super) fn becomes(&mut self, status: Status) {
        if let Some(last) = self.entries.last_mut() {
            last.label = PageLabel::Status(status);
        }
    }

    /// Sets the duration of the last line.
    pub(super) fn took(&mut self, millis: u64) {
        if let Some(last) = self.entries.last_mut() {
            last.time_ms = Some(millis);
        }
    }

    /// Appends text to the end of the last line.
    pub(super) fn trailing(&mut self, text: &str) {
        if let Some(last) = self.entries.last_mut() {
            if !last.trailing.is_empty() {
                last.trailing.push_str(" · ");
            }
            last.trailing.push_str(&shown(text));
        }
    }

    /// Adds a line below the last one.
    pub(super) fn detail(&mut self, text: &str) {
        self.indented_detail(0, text);
    }

    pub(super) fn indented_detail(&mut self, depth: usize, text: &str) {
        self.add(format!("{}{}", "  ".repeat(depth), shown(text)), false);
    }

    fn add(&mut self, text: String, is_quoted: bool) {
        if let Some(last) = self.entries.last_mut() {
            last.details.push(PageDetail { text, is_quoted });
        }
    }

    fn quoted_line(&mut self, line: &str) {
        self.add(format!("  {}", shown(&format!("| {line}"))), true);
    }

    /// Adds the last lines of an output.
    pub(super) fn quote(&mut self, printed: &str) {
        let lines: Vec<&str> = printed.trim_end().lines().collect();
        let left_out = lines.len().saturating_sub(QUOTED_LINES);
        if left_out > 0 {
            self.quoted_line(&format!("… {left_out} lines before"));
        }
        for line in lines.get(left_out..).unwrap_or_default() {
            self.quoted_line(line);
        }
    }

    /// Adds a diff verbatim, line by line.
    pub(super) fn diff(&mut self, diff: &str) {
        for line in diff.lines() {
            self.quoted_line(line);
        }
    }

    pub(super) fn text(&self, style: LineStyle) -> String {
        self.entries
            .iter()
            .map(|entry| {
                let gap = if entry.begins_paragraph { "\n" } else { "" };
                format!("{gap}{}", entry.line().render(style))
            })
            .collect()
    }
}

impl PageEntry {
    fn line(&self) -> StatusLine {
        let line = match self.label {
            PageLabel::Status(status) => StatusLine::new(status, self.text.as_str()),
            PageLabel::Other(label) => StatusLine::labelled(label, self.text.as_str()),
        };
        let line = line.timed(self.time_ms).trailing(self.trailing.as_str());
        let details = self.details.iter();
        details.fold(line.wrapped(), |line, detail| match detail.is_quoted {
            true => line.detail(detail.text.as_str()),
            false => line.wrapped_detail(detail.text.as_str()),
        })
    }
}

/// Returns the first non-empty line of a text.
fn shown(text: &str) -> String {
    let mut lines = text.lines();
    let first = lines.find(|line| !line.trim().is_empty());
    visible_line(first.unwrap_or_default(), LINE_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_output_the_end_is_quoted() {
        let printed: String = (1..=15).map(|n| format!("line {n}\n")).collect();
        let mut page = Page::default();
        page.entry(Status::Fail, "attempt 1");
        page.quote(&format!("{printed}\n\n"));
        let text = page.text(LineStyle::default());
        let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
        assert_eq!(lines.len(), QUOTED_LINES + 2);
        assert_eq!(lines[1..3], ["| … 3 lines before", "| line 4"]);
        assert_eq!(lines.last(), Some(&"| line 15"));
    }

    #[test]
    fn hostile_text_cannot_forge_a_line() {
        let mut page = Page::default();
        page.entry(Status::Pass, "\n\u{1b}[1mred\r  done\n  done");
        page.quote("a\rb\u{7}");
        let text = page.text(LineStyle::default());
        assert_eq!(text, "    PASS  red   done\n            | a b\n");
    }
}
