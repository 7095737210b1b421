//! Pages link only to files that exist.

use std::path::{Path, PathBuf};

use crate::tree;

/// Returns the targets of a page's links within the repository.
fn targets(page: &str) -> Vec<&str> {
    let after = page.split("](").skip(1);
    let inner = after.filter_map(|rest| rest.split(')').next());
    let own = inner.filter(|target| !target.contains("://") && !target.starts_with('#'));
    own.map(|target| target.split('#').next().unwrap_or(target))
        .collect()
}

fn dead(page: &Path, text: &str) -> Vec<String> {
    let folder = page.parent().unwrap_or(Path::new(""));
    let is_dead = |target: &&str| !tree::root().join(folder).join(target).exists();
    targets(text)
        .into_iter()
        .filter(is_dead)
        .map(|target| format!("{}: {target}", page.display()))
        .collect()
}

#[test]
fn every_link_leads_somewhere() {
    let is_page = |path: &PathBuf| {
        let is_top = path.parent() == Some(Path::new(""));
        let is_markdown = path.extension().is_some_and(|extension| extension == "md");
        is_markdown && (is_top || path.starts_with("docs"))
    };
    let pages: Vec<PathBuf> = tree::files().into_iter().filter(is_page).collect();
    assert!(pages.len() > 8);
    let dead: Vec<String> = pages
        .iter()
        .flat_map(|page| dead(page, &tree::read(page)))
        .collect();
    assert_eq!(dead, [""; 0]);
}

#[test]
fn a_link_to_nowhere_is_found() {
    let text = "[a](../README.md#top), [b](nowhere.md), [c](https://x.y/z), [d](#here)";
    assert_eq!(
        dead(Path::new("docs/page.md"), text),
        ["docs/page.md: nowhere.md"]
    );
}
