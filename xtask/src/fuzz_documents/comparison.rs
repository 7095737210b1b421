//! How and how often the readings of a document differ.

use std::collections::{BTreeMap, BTreeSet};

use super::explanation::{Explanation, Reading};
use super::outline;
use super::outline::Outline;
use super::outline::RowSet;
use super::source::Source;

/// With more rewrites than this in a text of a few lines, the rewriting must be going in circles.
const MAX_REWRITES: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Agreed,
    /// On purpose: together, these explanations account for every difference.
    Explained(Vec<Explanation>),
    Unexplained(Difference),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    pub(super) regreen: RowSet,
    pub(super) comrak: RowSet,
    /// The text after all explanations that were tried.
    pub(super) rewritten: String,
    /// The explanation that would have changed regreen's reading.
    pub(super) broken: Option<Explanation>,
}

/// Compares regreen with comrak. Leaves out explanations that are not needed.
pub(super) fn compare(text: &str) -> Comparison {
    let mut comparison = compare_with(text, &Explanation::ALL);
    for explanation in Explanation::ALL {
        let Comparison::Explained(used) = &comparison else {
            return comparison;
        };
        if !used.contains(&explanation) {
            continue;
        }
        let mut fewer = used.clone();
        fewer.retain(|other| *other != explanation);
        let without = compare_with(text, &fewer);
        if matches!(without, Comparison::Explained(_)) {
            comparison = without;
        }
    }
    comparison
}

/// Compares regreen with comrak, using only these explanations.
fn compare_with(text: &str, allowed: &[Explanation]) -> Comparison {
    let regreen = outline::regreen(text);
    let mut source = Source::of(text);
    let mut used = BTreeSet::new();
    let mut broken = None;
    for _ in 0..MAX_REWRITES {
        let outline = Outline::of(&source.text());
        if outline.row_set() == regreen {
            return agreement(used);
        }
        let reading = Reading {
            source: &source,
            regreen: &regreen,
            outline: &outline,
        };
        let Some((explanation, rewritten)) = next_rewrite(&reading, allowed, &mut broken) else {
            break;
        };
        used.insert(explanation);
        source = rewritten;
    }
    Comparison::Unexplained(Difference {
        comrak: Outline::of(text).row_set(),
        rewritten: source.text(),
        regreen,
        broken,
    })
}

fn agreement(used: BTreeSet<Explanation>) -> Comparison {
    if used.is_empty() {
        Comparison::Agreed
    } else {
        Comparison::Explained(used.into_iter().collect())
    }
}

/// Returns the first explanation that applies and leaves regreen's reading unchanged.
fn next_rewrite(
    reading: &Reading<'_>,
    allowed: &[Explanation],
    broken: &mut Option<Explanation>,
) -> Option<(Explanation, Source)> {
    for explanation in allowed.iter().copied() {
        let Some(rewritten) = explanation.rewrite(reading) else {
            continue;
        };
        if outline::regreen(&rewritten.text()) == *reading.regreen {
            return Some((explanation, rewritten));
        }
        *broken = broken.or(Some(explanation));
    }
    None
}

#[derive(Clone, Debug, Default)]
pub(super) struct Totals {
    pub(super) documents: usize,
    pub(super) rows: usize,
    /// The rows that comrak sees.
    pub(super) comrak_rows: usize,
    pub(super) agreed: usize,
    pub(super) explained: BTreeMap<Explanation, usize>,
    pub(super) explained_documents: usize,
    /// Texts that regreen and comrak read alike, but tree-sitter-md does not.
    pub(super) tree_sitter_alone: usize,
    /// Texts with an explained difference that tree-sitter-md reads like…
    pub(super) tree_sitter_with_regreen: usize,
    pub(super) tree_sitter_with_comrak: usize,
    pub(super) tree_sitter_with_none: usize,
    pub(super) unexplained: Vec<(String, Difference)>,
}

impl Totals {
    pub(super) fn count(&mut self, text: &str, comparison: Comparison) {
        self.documents += 1;
        let regreen = outline::regreen(text);
        let tree_sitter = outline::tree_sitter_md(text);
        let comrak = Outline::of(text).row_set();
        self.rows += regreen.len();
        self.comrak_rows += comrak.len();
        match comparison {
            Comparison::Agreed => {
                self.agreed += 1;
                self.tree_sitter_alone += usize::from(tree_sitter.as_ref() != Some(&regreen));
            }
            Comparison::Explained(reasons) => {
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
            Comparison::Unexplained(difference) => {
                self.unexplained.push((text.to_owned(), difference));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples in docs/design/markdown.md.
    const EXAMPLES: [(Explanation, &str); 13] = [
        (Explanation::OddBox, "- [-] a\n- [~] b\n- [ ]* c\n"),
        (Explanation::Quotation, "> - [ ] a\n"),
        (Explanation::QuotedCode, "> ```\n> x\ntext\n2. [ ] a\n"),
        (Explanation::BoxBelowItem, "-\n  [ ] a\n"),
        (Explanation::BoxInWord, "- [x]\\*a\n"),
        (
            Explanation::OutdentedFence,
            "- [ ] a\n  ```\n- no row\n1. 1. [ ] nor this\n  ```\n",
        ),
        (Explanation::UnclosedFence, "```\n- [ ] a\n"),
        (
            Explanation::OutdentedComment,
            "- [ ] a\n  <!--\n- 1. [ ] no row\n  -->\n",
        ),
        (Explanation::UnclosedComment, "<!--\n- [ ] a\n"),
        (Explanation::HtmlBlock, "<details>\n- [ ] a\n</details>\n"),
        (Explanation::Table, "- [ ] a | b\n  --- | ---\n"),
        (Explanation::UnderlinedRow, "- [ ] a\n  -\n"),
        (
            Explanation::LinkReference,
            "- [x] a\n\n[x]: https://example.org\n",
        ),
    ];

    #[test]
    fn each_difference_has_an_example_that_nothing_else_explains() {
        assert_eq!(
            EXAMPLES.map(|(explanation, _)| explanation),
            Explanation::ALL
        );
        for (explanation, text) in EXAMPLES {
            let expected = Comparison::Explained(vec![explanation]);
            assert_eq!(compare(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_difference_without_its_explanation_is_reported() {
        for (explanation, text) in EXAMPLES {
            let mut others = Explanation::ALL.to_vec();
            others.retain(|other| *other != explanation);
            let comparison = compare_with(text, &others);
            assert!(matches!(comparison, Comparison::Unexplained(_)), "{text:?}");
        }
    }

    #[test]
    fn ordinary_files_need_no_explanation() {
        let text = "# Tasks\n\n- [x] 1.1 a\n  - **Do**: b\n\n    ```sh\n    - [ ] x\n    ```\n- [ ] 1.2 c\n";
        assert_eq!(compare(text), Comparison::Agreed);
    }
}
