//! docs/recovery.md contains the table that the engine uses.

#![expect(
    clippy::disallowed_methods,
    reason = "the page is a file, and this is a test"
)]

use std::fs;

use regreen_engine::recovery::table_page;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/recovery.md");
const BEGIN: &str = "recovery_page -->\n";
const END: &str = "<!-- end -->";

#[test]
fn the_page_of_recovery_has_the_table_that_the_engine_goes_by() {
    let page = fs::read_to_string(PAGE).unwrap();
    let (head, rest) = page.split_once(BEGIN).unwrap();
    let (_, tail) = rest.split_once(END).unwrap();
    let expected = format!("{head}{BEGIN}{}{END}{tail}", table_page());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(PAGE, &expected).unwrap();
    }
    let page = fs::read_to_string(PAGE).unwrap();
    assert!(
        page == expected,
        "docs/recovery.md is out of date: run this with UPDATE_DOCS=1"
    );
}
