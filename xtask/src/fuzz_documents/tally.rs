//! How often the readers agreed, and why they did not.

use std::collections::BTreeMap;

use super::explanation::Explanation;
use super::outline::Outline;
use super::readers;
use super::verdict::{Difference, Verdict};

#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) documents: usize,
    pub(super) rows: usize,
    /// What comrak sees.
    pub(super) comrak_rows: usize,
    pub(super) agreed: usize,
    pub(super) explained: BTreeMap<Explanation, usize>,
    pub(super) explained_documents: usize,
    /// Of the texts where regreen and comrak agree: tree-sitter-md does not.
    pub(super) tree_sitter_alone: usize,
    /// Of the texts with an explained difference: tree-sitter-md sides with…
    pub(super) tree_sitter_with_regreen: usize,
    pub(super) tree_sitter_with_comrak: usize,
    pub(super) tree_sitter_with_none: usize,
    pub(super) unexplained: Vec<(String, Difference)>,
}

impl Tally {
    pub(super) fn count(&mut self, text: &str, verdict: Verdict) {
        self.documents += 1;
        let regreen = readers::regreen(text);
        let tree_sitter = readers::tree_sitter_md(text);
        let comrak = Outline::of(text).row_set();
        self.rows += regreen.len();
        self.comrak_rows += comrak.len();
        match verdict {
            Verdict::Agreed => {
                self.agreed += 1;
                self.tree_sitter_alone += usize::from(tree_sitter.as_ref() != Some(&regreen));
            }
            Verdict::Explained(reasons) => {
                self.explained_documents += 1;
                for reason in reasons {
                    *self.explained.entry(reason).or_default() += 1;
                }
                match tree_sitter {
                    Some(rows) if rows == regreen => self.tree_sitter_with_regreen += 1,
                    Some(rows) if rows == comrak => self.tree_sitter_with_comrak += 1,
                    _ => self.tree_sitter_with_none += 1,
                }
            }
            Verdict::Unexplained(difference) => {
                self.unexplained.push((text.to_owned(), difference));
            }
        }
    }
}
