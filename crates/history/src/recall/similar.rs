//! The nearest known cause of the same kind.

use std::collections::BTreeSet;

use regreen_model::FailureKind;

use crate::fingerprint::{NAMED, is_wrapper};
use crate::template;

/// The least part of words that two lines must share, in percent.
const LEAST_SHARED: usize = 60;
/// A line of fewer words says too little to be compared.
const LEAST_WORDS: usize = 3;

/// Whether other causes may be similar to this one. A missing package is not similar to another
/// missing package, and a line that only says that something failed is similar to nothing.
pub(crate) fn is_comparable(kind: &str, line: &str) -> bool {
    let is_named = FailureKind::from_name(kind).is_some_and(|kind| NAMED.contains(&kind));
    let template = template(kind, line);
    !is_named && !is_wrapper(&template) && words(&template).len() >= LEAST_WORDS
}

/// Returns the candidate whose line shares the most words with this line, if they are enough.
pub(crate) fn nearest<'c, T>(
    kind: &str,
    line: &str,
    candidates: impl IntoIterator<Item = (&'c T, &'c str)>,
) -> Option<&'c T> {
    let own = template(kind, line);
    let own = words(&own);
    let shared = |other: &str| {
        let other = template(kind, other);
        let other = words(&other);
        let all = own.union(&other).count().max(1);
        100 * own.intersection(&other).count() / all
    };
    let rated = candidates
        .into_iter()
        .map(|(one, line)| (shared(line), one));
    let near = rated.filter(|(shared, _)| *shared >= LEAST_SHARED);
    near.max_by_key(|(shared, _)| *shared).map(|(_, one)| one)
}

fn words(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .collect()
}
