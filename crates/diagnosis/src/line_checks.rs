//! Checks on every line: against passing runs, and with the user's own rules. Without either, lines
//! are only searched for the texts of our rules.

use std::ops::Range;
use std::sync::Arc;

use memchr::memchr;
use regreen_model::Finding;

use crate::baseline::Baseline;
use crate::excerpt::excerpt;
use crate::failure_words::says_failure;
use crate::line::{LineKind, is_informative};
use crate::line_prefix::without_prefix;
use crate::own_rules::OwnRules;
use crate::scan::{neighbours, readable};

/// How many lines are kept that no passing run printed, and how many that the user's own rules
/// match.
const MAX_NEW: usize = 64;
const MAX_OWN: usize = 64;

/// The checks of a scan, and their findings.
#[derive(Debug, Default)]
pub(crate) struct LineChecks {
    pub(crate) baseline: Option<Arc<Baseline>>,
    pub(crate) own_rules: Option<Arc<OwnRules>>,
    /// Lines that no passing run printed and that report a problem, by number.
    pub(crate) new_lines: Vec<(u64, String)>,
    /// Lines that the user's own rules match.
    pub(crate) own_findings: Vec<Finding>,
}

impl LineChecks {
    fn is_active(&self) -> bool {
        self.baseline.is_some() || self.own_rules.as_ref().is_some_and(|own| !own.is_empty())
    }

    pub(crate) fn knows(&self, line: &str) -> bool {
        self.baseline
            .as_ref()
            .is_some_and(|baseline| baseline.knows(line))
    }

    /// Reads the lines in a part of the window; `number` is that of the first.
    pub(crate) fn read(&mut self, window: &[u8], part: Range<usize>, mut number: u64) {
        if !self.is_active() {
            return;
        }
        let mut start = part.start;
        while start < part.end {
            let end = memchr(b'\n', &window[start..part.end]).map_or(part.end, |n| start + n);
            self.read_line(window, &(start..end), number);
            start = end + 1;
            number += 1;
        }
    }

    fn read_line(&mut self, window: &[u8], part: &Range<usize>, number: u64) {
        let text = readable(&window[part.clone()]);
        let text = text
            .rsplit('\r')
            .map(without_prefix)
            .find(|text| !text.trim().is_empty())
            .unwrap_or_default();
        if text.is_empty() {
            return;
        }
        if self.new_lines.len() < MAX_NEW && self.baseline.is_some() && self.is_new(text) {
            let end = text.floor_char_boundary(480);
            self.new_lines.push((number, text[..end].trim().to_owned()));
        }
        let Some(own) = self
            .own_rules
            .as_ref()
            .filter(|_| self.own_findings.len() < MAX_OWN)
        else {
            return;
        };
        let found = own.findings(text, number, || neighbours(window, part));
        self.own_findings
            .extend(found.into_iter().map(|finding| Finding {
                excerpt: excerpt(window, part, number),
                ..finding
            }));
    }

    fn is_new(&self, text: &str) -> bool {
        let is_worse = matches!(LineKind::of(text), LineKind::Plain | LineKind::Logged);
        is_worse && says_failure(text) && is_informative(text) && !self.knows(text)
    }
}
