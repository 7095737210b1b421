use std::path::Path;

use crate::{Disk, read_text};

/// Manifests, what they must say, and the command that then checks the whole project.
const GATES: &[(&str, &str, &str)] = &[
    ("Cargo.toml", "", "cargo test"),
    ("package.json", "\"test\"", "npm test"),
    ("go.mod", "", "go test ./..."),
    ("pyproject.toml", "pytest", "python -m pytest"),
    ("pytest.ini", "", "python -m pytest"),
    ("pom.xml", "", "mvn -q test"),
    ("build.gradle", "", "./gradlew test"),
    ("build.gradle.kts", "", "./gradlew test"),
    ("mix.exs", "", "mix test"),
    ("Gemfile", "rspec", "bundle exec rspec"),
    ("composer.json", "\"test\"", "composer test"),
];

/// A command that would check the workspace as a whole, guessed from its manifests.
#[must_use]
pub fn propose_gate(disk: &dyn Disk, root: &Path) -> Option<&'static str> {
    let text = |name: &str| read_text(disk, &root.join(name)).ok().map(|file| file.text);
    // A make target is what the project's own people run.
    if text("Makefile").is_some_and(|makefile| has_test_target(&makefile)) {
        return Some("make test");
    }
    // What `npm init` writes is a test that says there is none.
    let is_test = |manifest: &str, says: &str| {
        manifest.contains(says) && !manifest.contains("no test specified")
    };
    let fits = |(manifest, says, _): &&(&str, &str, &str)| {
        text(manifest).is_some_and(|manifest| is_test(&manifest, says))
    };
    GATES.iter().find(fits).map(|(_, _, gate)| *gate)
}

fn has_test_target(makefile: &str) -> bool {
    makefile.lines().any(|line| line.starts_with("test:"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::RealDisk;

    #[test]
    fn the_gate_comes_from_the_manifests() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(propose_gate(&RealDisk, root.path()), None);
        fs::write(root.path().join("package.json"), "{\"scripts\": {}}").unwrap();
        assert_eq!(propose_gate(&RealDisk, root.path()), None);
        fs::write(root.path().join("go.mod"), "").unwrap();
        assert_eq!(propose_gate(&RealDisk, root.path()), Some("go test ./..."));
        fs::write(root.path().join("Makefile"), "all:\ntest: all\n").unwrap();
        assert_eq!(propose_gate(&RealDisk, root.path()), Some("make test"));
    }
}
