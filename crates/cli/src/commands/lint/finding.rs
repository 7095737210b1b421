//! A finding, with the lines that it is about.

use std::ops::Range;
use std::sync::Arc;

use miette::{LabeledSpan, NamedSource, Severity};
use regreen_reporters::Palette;

use crate::excerpt::Excerpt;
use crate::output;

/// Further places are only counted.
const SHOWN: usize = 4;

/// How much of a line is underlined.
const POINTED_AT: usize = 24;

/// The text a finding is about.
pub struct Page {
    pub name: String,
    pub text: Arc<String>,
    /// The byte at which each line starts.
    pub lines: Vec<usize>,
}

pub fn line_starts(text: &str) -> Vec<usize> {
    let breaks = text.match_indices('\n').map(|(at, _)| at + 1);
    std::iter::once(0).chain(breaks).collect()
}

impl Page {
    /// Returns the beginning of a line (1-based) without its indent: enough to point at.
    fn range(&self, line: usize) -> Range<usize> {
        let end = self.text.len();
        let start = *self.lines.get(line.saturating_sub(1)).unwrap_or(&end);
        let next = *self.lines.get(line).unwrap_or(&end);
        let content = self.text.get(start..next).unwrap_or_default();
        let text = content.trim();
        let start = start + (content.len() - content.trim_start().len());
        start..start + text.floor_char_boundary(POINTED_AT)
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
    pub fn render(&self, page: &Page, palette: Palette) -> String {
        let hidden = self.places.len().saturating_sub(SHOWN);
        let more = if hidden > 0 {
            format!(" (the first {SHOWN} are shown)")
        } else {
            String::new()
        };
        let excerpt = Excerpt {
            severity: Severity::Warning,
            message: format!("{}{more}", self.message),
            help: self.help.clone(),
            labels: self
                .places
                .iter()
                .take(SHOWN)
                .map(|place| label(page, place))
                .collect(),
            source: NamedSource::new(&page.name, Arc::clone(&page.text)),
        };
        format!("\n{}", output::render(&excerpt, palette))
    }
}

fn label(page: &Page, (line, text): &(usize, String)) -> LabeledSpan {
    let range = page.range(*line);
    let text = (!text.is_empty()).then(|| text.clone());
    LabeledSpan::new(text, range.start, range.len())
}
