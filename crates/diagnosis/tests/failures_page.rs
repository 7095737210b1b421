//! The page of kinds is generated: `UPDATE_DOCS=1 cargo test -p regreen-diagnosis` writes it.
#![expect(
    clippy::disallowed_methods,
    reason = "a test reads and writes the page"
)]

#[test]
fn the_page_of_kinds_says_what_the_code_says() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/failures.md");
    let page = regreen_diagnosis::failures_page();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap();
    assert!(
        written == page,
        "docs/failures.md is out of date: run this with UPDATE_DOCS=1"
    );
}
