//! docs/security.md promises only what a test shows.

use std::path::PathBuf;

use crate::tree;

const PAGE: &str = "docs/security.md";
/// The beginning of lines that are not promises.
const LIMIT: &str = "Limit: ";

/// A test as the page names it: `crate::test`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Named<'p> {
    pub(crate) folder: &'p str,
    pub(crate) test: &'p str,
}

/// Returns the statements below the first heading of a section, each on one line, and everything
/// that is not a statement.
fn statements(page: &str) -> (Vec<String>, Vec<String>) {
    let (mut statements, mut strays) = (Vec::<String>::new(), Vec::new());
    let body = page.lines().skip_while(|line| !line.starts_with("## "));
    for line in body.filter(|line| !line.is_empty() && !line.starts_with("## ")) {
        let continued = line.strip_prefix("  ");
        match (line.strip_prefix("- "), continued, statements.last_mut()) {
            (Some(first), _, _) => statements.push(first.to_owned()),
            (None, Some(more), Some(last)) => {
                last.push(' ');
                last.push_str(more);
            }
            _ => strays.push(format!("not a statement: {line}")),
        }
    }
    (statements, strays)
}

pub(crate) fn named(statement: &str) -> Vec<Named<'_>> {
    let is_name = |text: &str| {
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        !text.is_empty() && text.chars().all(is_plain)
    };
    let spans = statement.split('`').skip(1).step_by(2);
    let pairs = spans.filter_map(|span| span.split_once("::"));
    pairs
        .filter(|(folder, test)| is_name(&folder.replace('-', "_")) && is_name(test))
        .map(|(folder, test)| Named { folder, test })
        .collect()
}

/// Whether a source file has the test: a function of that name, marked as a test right above, and
/// not ignored.
pub(crate) fn has_test(source: &str, test: &str) -> bool {
    let head = format!("fn {test}(");
    let lines: Vec<&str> = source.lines().map(str::trim_start).collect();
    let is_it = |(at, line): (usize, &&str)| {
        let above = lines.get(..at).unwrap_or_default().iter().rev();
        let attributes =
            above.take_while(|line| line.starts_with(['#', '/']) || line.ends_with(")]"));
        let has = |start: &str| attributes.clone().any(|line| line.starts_with(start));
        line.starts_with(&head) && has("#[test]") && !has("#[ignore")
    };
    lines.iter().enumerate().any(is_it)
}

pub(crate) fn sources_of(folder: &str) -> Vec<PathBuf> {
    let top = match folder {
        "xtask" => PathBuf::from("xtask"),
        folder => PathBuf::from("crates").join(folder),
    };
    let is_rust = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "rs");
    let mut files = tree::files();
    files.retain(|path| path.starts_with(&top) && is_rust(path));
    files
}

fn exists(named: &Named<'_>) -> bool {
    let mut sources = sources_of(named.folder).into_iter();
    sources.any(|path| has_test(&tree::read(path), named.test))
}

fn complaints(page: &str, exists: impl Fn(&Named<'_>) -> bool) -> Vec<String> {
    let (statements, mut complaints) = statements(page);
    for statement in &statements {
        let tests = named(statement);
        if tests.is_empty() && !statement.starts_with(LIMIT) {
            complaints.push(format!("neither tested nor a limit: {statement}"));
        }
        let missing = tests.iter().filter(|test| !exists(test));
        complaints
            .extend(missing.map(|test| format!("no such test: {}::{}", test.folder, test.test)));
    }
    complaints
}

#[test]
fn every_statement_is_shown_by_a_test_or_called_a_limit() {
    let page = tree::read(PAGE);
    assert_eq!(complaints(&page, exists), [""; 0]);
    assert!(statements(&page).0.len() > 20);
}

#[test]
fn a_statement_that_nothing_shows_is_found() {
    let page = "\
# Title

Anything may be said here.

## Section

- A thing holds, `code` and all,
  `cli::it_holds`.
- Limit: another does not.
- A third is only said.
- A fourth is not shown by `cli::nobody`.

Loose words.
";
    assert_eq!(
        complaints(page, |named| named.test == "it_holds"),
        [
            "not a statement: Loose words.",
            "neither tested nor a limit: A third is only said.",
            "no such test: cli::nobody",
        ]
    );
}

#[test]
fn a_test_is_a_function_that_is_marked_as_one() {
    let source = "\
        #[test]\n\
        #[expect(clippy::panic, reason = \"it may\")]\n\
        fn marked() {}\n\
        fn helper() {}\n\
        #[test]\n\
        #[ignore = \"slow\"]\n\
        fn ignored() {}\n\
        proptest! {\n    #[test]\n    fn for_all(x in 0..9) {}\n}\n";
    assert!(has_test(source, "marked") && has_test(source, "for_all"));
    for none in ["helper", "mark", "ignored"] {
        assert!(!has_test(source, none), "{none}");
    }
    let known = Named {
        folder: "xtask",
        test: "a_test_is_a_function_that_is_marked_as_one",
    };
    assert!(exists(&known));
}
