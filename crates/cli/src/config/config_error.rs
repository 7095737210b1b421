use std::sync::Arc;

use miette::{LabeledSpan, NamedSource, Severity};
use thiserror::Error;

use super::fault::Fault;
use crate::excerpt::Excerpt;
use crate::output::printable;

/// A configuration file that says something it cannot or may not say.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{file} cannot be used")]
pub struct ConfigError {
    /// As people may call it.
    pub file: String,
    pub text: String,
    /// At least one.
    pub faults: Vec<Fault>,
}

impl ConfigError {
    /// One message for each fault.
    #[must_use]
    pub fn excerpts(&self) -> Vec<Excerpt> {
        let text = Arc::new(printable(&self.text));
        let excerpt = |fault: &Fault| Excerpt {
            severity: Severity::Error,
            message: printable(&fault.message),
            help: Some(printable(&fault.way_out)),
            labels: vec![label(fault)],
            source: NamedSource::new(&self.file, Arc::clone(&text)),
        };
        self.faults.iter().map(excerpt).collect()
    }
}

fn label(fault: &Fault) -> LabeledSpan {
    let Fault { span, label, .. } = fault;
    LabeledSpan::new(Some(printable(label)), span.start, span.len())
}
