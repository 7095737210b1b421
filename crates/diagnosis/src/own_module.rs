//! A module of the project itself, or one that a task should write, isn't a package to install.

use regreen_model::{Failure, FailureKind};

/// Returns the top-level name of the module or package that a failure reports as missing.
#[must_use]
pub fn missing_module(failure: &Failure) -> Option<&str> {
    let is_of_module = matches!(
        failure.kind,
        FailureKind::MissingPythonModule
            | FailureKind::MissingNodeModule
            | FailureKind::MissingRustCrate
            | FailureKind::TestCollectionError
    );
    let line = failure.blocked_on.as_deref().filter(|_| is_of_module)?;
    let is_quote = |c: char| matches!(c, '\'' | '"' | '`');
    let (_, rest) = line.split_once(is_quote)?;
    let (name, _) = rest.split_once(is_quote)?;
    let top = name.split(['.', '/', ':']).find(|part| !part.is_empty())?;
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '@');
    top.chars().all(is_name).then_some(top)
}

/// Returns the failure without advice and repairs that would install one of the project's own
/// modules.
#[must_use]
pub fn without_installation(failure: Failure, module: &str) -> Failure {
    let installs = |action: &String| {
        let action = action.to_lowercase();
        action.contains("install")
            || action.contains("cargo add")
            || action.contains("requirements")
    };
    let mut actions = failure.suggested_actions;
    actions.retain(|action| !installs(action));
    actions.insert(
        0,
        format!(
            "Write {module}, or correct its import: it is a module of this project, not a package"
        ),
    );
    Failure {
        suggested_actions: actions,
        repair: None,
        ..failure
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{evidence_of, explain::Explanation, scan};
    use regreen_model::{Ending, Source};

    fn failure(output: &str) -> Failure {
        let ending = Ending {
            exit_code: Some(1),
            ..Ending::default()
        };
        let evidence = evidence_of(
            scan(output.as_bytes(), Source::Command),
            Source::Command,
            None,
            ending,
        );
        Explanation::of(&evidence).failure.expect("it failed")
    }

    #[test]
    fn a_module_of_the_project_is_not_to_be_installed() {
        let found = failure("ModuleNotFoundError: No module named 'inv.stock'\n");
        assert_eq!(missing_module(&found), Some("inv"));
        assert!(
            found
                .suggested_actions
                .iter()
                .any(|action| action.to_lowercase().contains("install")),
            "{:?}",
            found.suggested_actions
        );
        let own = without_installation(found, "inv");
        assert_eq!(own.repair, None);
        assert!(
            !own.suggested_actions
                .iter()
                .any(|action| action.contains("install"))
        );
        assert!(own.suggested_actions[0].starts_with("Write inv,"));
    }

    #[test]
    fn other_failures_miss_no_module() {
        let found = failure("cat: 'inv.txt': No such file or directory\n");
        assert_eq!(missing_module(&found), None);
    }
}
