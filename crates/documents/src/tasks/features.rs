//! What a task's text shows before the task is attempted.

use std::collections::{BTreeMap, BTreeSet};

use regreen_model::{Task, TaskFeatures, fnv1a};

use super::row::RowId;
use super::task_file::TaskFile;

/// Words that refer to a conversation that the agent did not take part in.
const VAGUE: &[&str] = &[
    "as discussed",
    "we discussed",
    "as mentioned",
    "as agreed",
    "like before",
    "as before",
    "like last time",
    "as usual",
    "the usual way",
    "you know which",
    "see above chat",
];

/// Enough of a word to tell kinds of work apart.
const WORK_CHARS: usize = 16;

impl TaskFile {
    /// Returns what a row's text shows; nothing for a row without a text.
    #[must_use]
    pub fn features(&self, row: RowId) -> TaskFeatures {
        let Some(task) = self.task(row) else {
            return TaskFeatures::default();
        };
        let text = self.block(row).unwrap_or_default();
        let files = files_named_in(text);
        TaskFeatures {
            words: count(text.split_whitespace().count()),
            files: count(files.len()),
            file_kind: most_frequent_ending(&files),
            work: kind_of_work(&task),
            verify: verify_hash(&task),
            is_vague: vague_words(text).is_some(),
        }
    }
}

/// Returns words that refer to a conversation that the agent did not take part in.
#[must_use]
pub fn vague_words(text: &str) -> Option<&'static str> {
    let text = text.to_lowercase();
    VAGUE.iter().copied().find(|words| text.contains(words))
}

/// Whether a word is a path: `src/a.rs`, `./x`, `README.md`. Accepts `and/or` too, which costs a
/// warning.
#[must_use]
pub fn is_path(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '/' | '.' | '_'));
    let has_folder = word.trim_matches('/').contains('/');
    has_folder || ending(word).is_some()
}

/// Returns what follows the last dot of a file's name.
fn ending(word: &str) -> Option<&str> {
    let (name, ending) = word.rsplit_once('.')?;
    let is_ending = !name.is_empty()
        && (1..=5).contains(&ending.len())
        && ending.bytes().all(|b| b.is_ascii_alphanumeric())
        && ending.bytes().any(|b| b.is_ascii_alphabetic());
    is_ending.then_some(ending)
}

fn files_named_in(text: &str) -> BTreeSet<&str> {
    let is_joint = |c: char| c.is_whitespace() || "`,;()[]\"'*".contains(c);
    let words = text
        .split(is_joint)
        .map(|word| word.trim_matches([':', '.', '!', '?']));
    words
        .filter(|word| ending(word).is_some() && !word.contains("://"))
        .collect()
}

fn most_frequent_ending(files: &BTreeSet<&str>) -> Option<String> {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for ending in files.iter().filter_map(|file| ending(file)) {
        *counts.entry(ending.to_lowercase()).or_default() += 1;
    }
    // The first of equals, in the order of the alphabet.
    let most = counts.into_iter().rev().max_by_key(|(_, count)| *count);
    most.map(|(ending, _)| ending)
}

/// Returns a row's marker, or else the first word of its title.
fn kind_of_work(task: &Task) -> String {
    if task.is_verify() {
        return "[verify]".to_owned();
    }
    let is_part = |c: char| c.is_alphabetic() || c == '-';
    let mut words = task.title.split(|c: char| !is_part(c));
    let word = words.find(|word| !word.is_empty()).unwrap_or_default();
    word.chars()
        .take(WORK_CHARS)
        .flat_map(char::to_lowercase)
        .collect()
}

fn verify_hash(task: &Task) -> Option<u32> {
    let fields: Vec<&str> = task.fields.verify_fields().map(str::trim).collect();
    let hash = fnv1a(fields.join("\n").as_bytes());
    // Half of it is enough to tell the checks of a workspace apart.
    (!fields.is_empty()).then(|| u32::try_from(hash >> 32).unwrap_or_default())
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn features(text: &str) -> TaskFeatures {
        let file = TaskFile::read(text);
        let row = file.rows().next().expect("a row");
        file.features(row)
    }

    #[test]
    fn a_text_shows_files_kind_of_work_and_verify() {
        let found = features(
            "- [ ] 1.1 Add the form to `src/a.py`, src/b.py and docs/x.md\n  - **Verify**: `pytest`\n",
        );
        assert_eq!((found.files, found.file_kind.as_deref()), (3, Some("py")));
        assert_eq!(found.work, "add");
        assert!(found.has_verify() && !found.is_vague);
        let other = features("- [ ] 1.2 [VERIFY] All as discussed, see https://a.org/x.html\n");
        assert_eq!((other.files, other.file_kind.as_deref()), (0, None));
        assert_eq!(other.work, "[verify]");
        assert!(other.is_vague && !other.has_verify());
    }

    #[test]
    fn the_same_verify_has_the_same_hash_in_every_task() {
        let verify = |text: &str| features(text).verify;
        let one = verify("- [ ] 1.1 A\n  - **Verify**: `make test`\n");
        let other = verify("- [ ] 2 B\n  - **Verify**: `make test`\n");
        let third = verify("- [ ] 2 B\n  - **Verify**: `make lint`\n");
        assert_eq!(one, other);
        assert_ne!(one, third);
        assert_eq!(verify("- [ ] 1.1 A\n"), None);
    }

    #[test]
    fn paths_are_distinguished_from_prose() {
        for word in ["src/a.rs", "`README.md`,", "./x/y", "(Cargo.toml)"] {
            assert!(is_path(word), "{word}");
        }
        for word in ["and", "1.3", "done.", "e.g.", "…", "v2.0", "/"] {
            assert!(!is_path(word), "{word}");
        }
    }
}
