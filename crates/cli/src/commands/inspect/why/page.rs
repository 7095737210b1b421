use regreen_model::visible_line;

/// How much of an output is quoted, and how long a line may be.
const QUOTED_LINES: usize = 12;
const LINE_CHARS: usize = 300;

/// A text of lines, in which nothing of others is more than a line.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) text: String,
}

impl Page {
    /// The first line of a text that says anything, indented; nothing makes an empty line.
    pub(super) fn line(&mut self, depth: usize, text: &str) {
        let mut lines = text.lines();
        let first = lines.find(|line| !line.trim().is_empty());
        let line = visible_line(first.unwrap_or_default(), LINE_CHARS);
        if !line.is_empty() {
            self.text.push_str(&"  ".repeat(depth));
            self.text.push_str(&line);
        }
        self.text.push('\n');
    }

    /// The last lines of what somebody printed.
    pub(super) fn quote(&mut self, depth: usize, printed: &str) {
        let lines: Vec<&str> = printed.trim_end().lines().collect();
        let left_out = lines.len().saturating_sub(QUOTED_LINES);
        if left_out > 0 {
            self.line(depth, &format!("| … {left_out} lines before"));
        }
        for line in lines.get(left_out..).unwrap_or_default() {
            self.line(depth, &format!("| {line}"));
        }
    }

    /// A diff as it is, line by line.
    pub(super) fn diff(&mut self, depth: usize, diff: &str) {
        for line in diff.lines() {
            self.line(depth, &format!("| {line}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_output_the_end_is_quoted() {
        let printed: String = (1..=15).map(|n| format!("line {n}\n")).collect();
        let mut page = Page::default();
        page.quote(1, &format!("{printed}\n\n"));
        let lines: Vec<&str> = page.text.lines().collect();
        assert_eq!(lines.len(), QUOTED_LINES + 1);
        assert_eq!(lines[..2], ["  | … 3 lines before", "  | line 4"]);
        assert_eq!(lines.last(), Some(&"  | line 15"));
    }

    #[test]
    fn nobody_forges_a_line() {
        let mut page = Page::default();
        page.line(1, "\n\u{1b}[1mred\r  done\n  done");
        page.quote(2, "a\rb\u{7}");
        assert_eq!(page.text, "  red   done\n    | a b\n");
    }
}
