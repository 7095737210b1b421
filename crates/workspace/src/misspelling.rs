//! What someone meant who misspelt a name.

use std::path::Path;

use regreen_model::CommandInput;

use crate::Disk;
use crate::programs::declared_targets;

/// Shorter names are too often a letter away from another.
const SHORTEST: usize = 4;
/// In longer names, two letters may differ.
const LONG: usize = 8;

/// Returns the existing file or target of which a missing one is probably a misspelling.
#[must_use]
pub fn intended_input(disk: &dyn Disk, root: &Path, missing: &CommandInput) -> Option<String> {
    match missing {
        CommandInput::Program(_) | CommandInput::Module { .. } => None,
        CommandInput::Path(path) => {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            let names = disk.list(&root.join(folder)).unwrap_or_default();
            let names = names.into_iter().filter_map(|name| name.into_string().ok());
            let intended = intended(name, names)?;
            Some(path.strip_suffix(name).unwrap_or_default().to_owned() + &intended)
        }
        CommandInput::Target {
            runner,
            name,
            folder,
        } => {
            let names = declared_targets(disk, &root.join(folder), runner);
            intended(name, names.into_iter())
        }
    }
}

fn intended(name: &str, mut names: impl Iterator<Item = String>) -> Option<String> {
    names.find(|other| is_misspelling(name, other))
}

/// `lnit` of `lint`, but not `step2` of `step1`.
fn is_misspelling(name: &str, other: &str) -> bool {
    let letters = |text: &str| text.replace(|c: char| c.is_ascii_digit(), "");
    let stem = |name: &str| {
        name.rsplit_once('.')
            .map_or(name.len(), |(stem, _)| stem.len())
    };
    let length = stem(name).min(stem(other));
    let allowed = if length < LONG { 1 } else { 2 };
    length >= SHORTEST
        && letters(name) != letters(other)
        && strsim::damerau_levenshtein(name, other) <= allowed
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::RealDisk;

    #[test]
    fn a_letter_that_is_wrong_missing_or_swapped_is_a_misspelling() {
        for (name, other) in [("lnit", "lint"), ("chek.sh", "check.sh"), ("tset", "test")] {
            assert!(is_misspelling(name, other), "{name} {other}");
        }
        for (name, other) in [
            ("step2.sh", "step1.sh"),
            ("step10", "step1"),
            ("a.sh", "b.sh"),
            ("run", "rum"),
            ("build", "check"),
        ] {
            assert!(!is_misspelling(name, other), "{name} {other}");
        }
    }

    #[test]
    fn the_intended_file_or_target_exists() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(root.path().join(name), text).unwrap();
        fs::create_dir(root.path().join("scripts")).unwrap();
        write("scripts/check.sh", "");
        write(
            "package.json",
            "{\n  \"scripts\": {\n    \"tests\": \"x\"\n  }\n}\n",
        );
        write("Makefile", "NAME := lintt\nlint fmt: x\n\ttrue\n");
        let target = |runner: &str, name: &str| CommandInput::Target {
            runner: runner.to_owned(),
            name: name.to_owned(),
            folder: String::new(),
        };
        let path = |path: &str| CommandInput::Path(path.to_owned());
        for (input, intended) in [
            (path("scripts/chek.sh"), Some("scripts/check.sh")),
            (path("scripts/build.sh"), None),
            (path("gone/check.sh"), None),
            (target("npm", "tets"), Some("tests")),
            (target("make", "lnit"), Some("lint")),
            (target("make", "build"), None),
            (target("just", "lnit"), None),
        ] {
            let found = intended_input(&RealDisk, root.path(), &input);
            assert_eq!(found.as_deref(), intended, "{input:?}");
        }
    }
}
