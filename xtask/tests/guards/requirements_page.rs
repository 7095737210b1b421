//! docs/design/requirements.md names a test for every requirement, and each test names the
//! requirement.

use crate::security_page::{Named, has_test, named, sources_of};
use crate::tree;

const PAGE: &str = "docs/design/requirements.md";
/// How many requirements each family has.
const FAMILIES: [(&str, u32); 7] = [
    ("AC-1.", 4),
    ("AC-2.", 4),
    ("AC-3.", 4),
    ("AC-4.", 3),
    ("AC-5.", 3),
    ("FR-", 10),
    ("NFR-", 3),
];

fn requirements() -> Vec<String> {
    let family = |(name, count): (&str, u32)| {
        let ids = (1..=count).map(|n| format!("{name}{n}"));
        ids.collect::<Vec<_>>()
    };
    FAMILIES.into_iter().flat_map(family).collect()
}

/// Returns the row of the table about a requirement.
fn row<'p>(page: &'p str, id: &str) -> Option<&'p str> {
    let head = format!("| {id} |");
    page.lines().find(|line| line.starts_with(&head))
}

/// Whether the line above a test names a requirement.
fn is_named_above(source: &str, test: &str, id: &str) -> bool {
    let head = format!("\n#[test]\nfn {test}(");
    let above = source.find(&head).and_then(|at| source.get(..at));
    let comment = above.and_then(|above| above.lines().last()?.strip_prefix("// "));
    comment.is_some_and(|ids| ids.split(", ").any(|named| named == id))
}

fn complaints(page: &str, source_of: impl Fn(&Named<'_>) -> Option<String>) -> Vec<String> {
    let mut complaints = Vec::new();
    for id in requirements() {
        let tests = row(page, &id).map(named).unwrap_or_default();
        if tests.is_empty() {
            complaints.push(format!("{id} is not in the table with a test"));
        }
        for test in tests {
            match source_of(&test) {
                None => complaints.push(format!("{id}: no such test: {}", test.test)),
                Some(source) if is_named_above(&source, test.test, &id) => {}
                Some(_) => complaints.push(format!("{id} does not stand above {}", test.test)),
            }
        }
    }
    complaints
}

fn source_of(named: &Named<'_>) -> Option<String> {
    let sources = sources_of(named.folder).into_iter().map(tree::read);
    sources
        .into_iter()
        .find(|source| has_test(source, named.test))
}

#[test]
fn every_requirement_is_shown_by_a_test_that_says_so() {
    assert_eq!(complaints(&tree::read(PAGE), source_of), [""; 0]);
}

#[test]
fn a_requirement_that_nothing_shows_is_found() {
    let page: String = requirements()
        .iter()
        .map(|id| match id.as_str() {
            "AC-1.1" => "| AC-1.1 | x | |\n".to_owned(),
            "FR-1" => "| FR-1 | x | `cli::nobody` |\n".to_owned(),
            "FR-10" => "| FR-10 | x | `cli::silent` |\n".to_owned(),
            id => format!("| {id} | x | `cli::shows` |\n"),
        })
        .collect();
    let ids = requirements().join(", ");
    let source = format!("\n// {ids}\n#[test]\nfn shows() {{}}\n\n#[test]\nfn silent() {{}}\n");
    let found = |named: &Named<'_>| (named.test != "nobody").then(|| source.clone());
    assert_eq!(
        complaints(&page, found),
        [
            "AC-1.1 is not in the table with a test",
            "FR-1: no such test: nobody",
            "FR-10 does not stand above silent",
        ]
    );
}
