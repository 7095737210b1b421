//! Renders a new task as lines of a task file.

use std::fmt::Write as _;

use regreen_model::{NewTask, PlainLine};

use super::row::RowBox;
use crate::markdown::{FenceMark, scan};

/// The style of the rows around a new task.
#[derive(Clone, Debug)]
pub(crate) struct RowStyle {
    /// The blanks before the list marker.
    pub(crate) indent: String,
    pub(crate) marker: String,
    pub(crate) eol: &'static str,
}

/// Returns the lines of a task, without a line ending after the last.
pub(crate) fn task(task: &NewTask, style: &RowStyle) -> String {
    let mut writer = Writer {
        text: String::new(),
        child: format!("{}{}", style.indent, " ".repeat(style.marker.len() + 1)),
        eol: style.eol,
    };
    writer.head(task, style);
    if let Some(action) = &task.action {
        writer.field("Do", action.as_str());
        writer.steps(task);
    }
    writer.optional_field("Files", task.files.as_deref());
    writer.optional_field("Done when", task.done_when.as_ref().map(PlainLine::as_str));
    writer.optional_field("Verify", task.verify.as_deref());
    if let Some(commit) = &task.commit {
        writer.field("Commit", &format!("`{commit}`"));
    }
    writer.text
}

struct Writer {
    text: String,
    /// The blanks before the task's own bullets.
    child: String,
    eol: &'static str,
}

impl Writer {
    fn head(&mut self, task: &NewTask, style: &RowStyle) {
        let _ = write!(
            self.text,
            "{}{} [ ] {}",
            style.indent, style.marker, task.id
        );
        for marker in &task.markers {
            let _ = write!(self.text, " [{marker}]");
        }
        if !task.title.is_empty() {
            let _ = write!(self.text, " {}", task.title);
        }
    }

    fn optional_field(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.field(name, value);
        }
    }

    /// Writes a bullet. A value of several lines continues below it, and code starts there.
    fn field(&mut self, name: &str, value: &str) {
        let value = without_boxes(value);
        let mut lines = value.lines();
        let first = lines.next().unwrap_or_default();
        let starts_below = FenceMark::opening(first).is_some();
        let _ = write!(self.text, "{}{}- **{name}**:", self.eol, self.child);
        if starts_below {
            self.below(first);
        } else if !first.is_empty() {
            let _ = write!(self.text, " {first}");
        }
        for line in lines {
            self.below(line);
        }
    }

    fn below(&mut self, line: &str) {
        self.text.push_str(self.eol);
        if !line.trim().is_empty() {
            let _ = write!(self.text, "{}  {line}", self.child);
        }
    }

    fn steps(&mut self, task: &NewTask) {
        for (at, step) in task.steps.iter().enumerate() {
            let _ = write!(self.text, "{}{}  {}. {step}", self.eol, self.child, at + 1);
        }
    }
}

/// Removes boxes from a copied field, because rows nested in it would become tasks.
fn without_boxes(value: &str) -> String {
    let scan = scan(value);
    let mut kept = String::with_capacity(value.len());
    let mut from = 0;
    for line in &scan.lines {
        let Some(item) = line.item() else { continue };
        let Some(found) = RowBox::parse(&value[item.content..line.end]) else {
            continue;
        };
        kept.push_str(&value[from..item.content]);
        from = (item.content + found.length + 1).min(line.end);
    }
    kept.push_str(&value[from..]);
    kept
}
