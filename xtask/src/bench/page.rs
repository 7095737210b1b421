//! The generated parts of docs/benchmarks.md. The text between them is written by people, and stays.

use std::fs;
use std::path::PathBuf;

use crate::repository;

/// Replaces the named parts of the page.
pub(super) fn update(parts: &[(&str, String)]) -> Result<(), String> {
    let path = path();
    let shown = path.display();
    let mut page = fs::read_to_string(&path).map_err(|error| format!("{shown}: {error}"))?;
    for (name, table) in parts {
        page = with_part(&page, name, table).map_err(|error| format!("{shown}: {error}"))?;
    }
    fs::write(&path, page).map_err(|error| format!("{shown}: {error}"))
}

fn path() -> PathBuf {
    repository::root().join("docs/benchmarks.md")
}

/// Returns the page with another text between `<!-- generated: NAME -->` and the next `<!-- end -->`.
fn with_part(page: &str, name: &str, text: &str) -> Result<String, String> {
    let begin = format!("<!-- generated: {name} -->\n");
    let missing = || format!("`{}` is missing, or the end of this part", begin.trim());
    let (before, rest) = page.split_once(&begin).ok_or_else(missing)?;
    let (_, after) = rest.split_once(END).ok_or_else(missing)?;
    Ok(format!("{before}{begin}\n{}\n\n{END}{after}", text.trim()))
}

const END: &str = "<!-- end -->\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_generated_part_changes() {
        let page = "# A\n\n<!-- generated: one -->\nold\n<!-- end -->\n\nKept.\n<!-- generated: two -->\n<!-- end -->\n";
        let once = with_part(page, "one", "| new |\n").unwrap();
        assert_eq!(
            once,
            "# A\n\n<!-- generated: one -->\n\n| new |\n\n<!-- end -->\n\nKept.\n<!-- generated: two -->\n<!-- end -->\n"
        );
        assert_eq!(with_part(&once, "one", "| new |\n").unwrap(), once);
        assert!(with_part(page, "three", "").is_err());
    }

    #[test]
    fn the_page_has_all_parts() {
        let page = fs::read_to_string(path()).unwrap();
        for name in super::super::all::PARTS {
            assert!(with_part(&page, name, "").is_ok(), "{name}");
        }
    }
}
