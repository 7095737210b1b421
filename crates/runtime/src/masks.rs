use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use regreen_redaction::{Masks, env_secrets};

/// Files whose secret-named values are masked, and files that show what they look like.
const ENV_FILES: [&str; 6] = [
    ".env",
    ".env.local",
    ".env.development",
    ".env.production",
    ".env.test",
    ".envrc",
];
const EXAMPLES: [&str; 5] = [
    ".env.example",
    ".env.sample",
    ".env.template",
    ".env.dist",
    "example.env",
];

/// What must not be stored or shown in this workspace.
#[must_use]
pub fn workspace_masks(root: &Path) -> Masks {
    let read = |name: &&str| fs::read_to_string(root.join(name)).ok();
    let example = EXAMPLES
        .iter()
        .filter_map(read)
        .collect::<Vec<_>>()
        .join("\n");
    let secrets: BTreeSet<String> = ENV_FILES
        .iter()
        .filter_map(read)
        .flat_map(|env| env_secrets(&env, &example))
        .collect();
    Masks::new(secrets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_secrets_of_the_workspace_are_masked_and_its_examples_are_not() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(root.path().join(name), text).unwrap();
        write(".env", "API_KEY=supersecret-9\nDB_PASSWORD=changeme123\n");
        write(".env.example", "DB_PASSWORD=changeme123\n");
        let masked = workspace_masks(root.path()).mask("supersecret-9 changeme123");
        assert!(!masked.contains("supersecret"), "{masked}");
        assert!(masked.contains("changeme123"), "{masked}");
    }
}
