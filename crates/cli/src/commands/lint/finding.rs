//! A finding, with the lines that it is about.

use regreen_reporters::{Status, StatusLine};

use crate::output::{printable, printable_line};

/// Further places are only counted.
const SHOWN: usize = 4;

/// The text a finding is about.
pub struct Page<'t> {
    pub name: String,
    pub text: &'t str,
}

impl Page<'_> {
    /// Returns a line (1-based) without its indent.
    fn line(&self, number: usize) -> &str {
        let line = self.text.split('\n').nth(number.saturating_sub(1));
        line.unwrap_or_default().trim()
    }
}

#[derive(Debug)]
pub struct Finding {
    pub message: String,
    pub help: Option<String>,
    /// The lines (1-based), and what is on each.
    pub places: Vec<(usize, String)>,
}

impl Finding {
    pub fn line(&self, page: &Page<'_>) -> StatusLine {
        let mut line = StatusLine::new(Status::Warn, printable_line(&self.message)).wrapped();
        for (number, remark) in self.places.iter().take(SHOWN) {
            line = line.detail(format!("{}:{number}  {}", page.name, page.line(*number)));
            if !remark.is_empty() {
                line = line.wrapped_detail(format!("  {}", printable_line(remark)));
            }
        }
        let hidden = self.places.len().saturating_sub(SHOWN);
        if hidden > 0 {
            line = line.detail(format!("and {hidden} more"));
        }
        let help = self
            .help
            .as_ref()
            .map(|help| format!("help: {}", printable(help)));
        line.wrapped_detail(help.unwrap_or_default().replace('\n', "\n  "))
    }
}
