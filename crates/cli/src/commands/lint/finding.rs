//! One thing to look at, with the lines it is about.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use miette::{Diagnostic, LabeledSpan, NamedSource, Severity, SourceCode};

use crate::output;

/// More places than this are counted, not shown.
const SHOWN: usize = 4;

/// The text a finding is about.
pub struct Page {
    pub name: String,
    pub text: Arc<String>,
}

#[derive(Debug)]
pub struct Finding {
    pub message: String,
    pub help: Option<String>,
    /// Where, as bytes of the text, and what is there.
    pub places: Vec<(Range<usize>, String)>,
}

impl Finding {
    pub fn render(&self, page: &Page, colours: bool) -> String {
        let hidden = self.places.len().saturating_sub(SHOWN);
        let more = if hidden > 0 {
            format!(" (the first {SHOWN} are shown)")
        } else {
            String::new()
        };
        let excerpt = Excerpt {
            message: format!("{}{more}", self.message),
            help: self.help.clone(),
            labels: self.places.iter().take(SHOWN).map(label).collect(),
            source: NamedSource::new(&page.name, Arc::clone(&page.text)),
        };
        format!("\n{}", output::render(&excerpt, colours))
    }
}

fn label((range, text): &(Range<usize>, String)) -> LabeledSpan {
    let text = (!text.is_empty()).then(|| text.clone());
    LabeledSpan::new(text, range.start, range.len())
}

/// A finding in the form that miette draws.
#[derive(Debug)]
struct Excerpt {
    message: String,
    help: Option<String>,
    labels: Vec<LabeledSpan>,
    source: NamedSource<Arc<String>>,
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Excerpt {}

impl Diagnostic for Excerpt {
    fn severity(&self) -> Option<Severity> {
        Some(Severity::Warning)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help
            .as_ref()
            .map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        (!self.labels.is_empty()).then_some(&self.source as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }
}
