//! Suggestions for a failure, for people and for the next prompt.

use std::fmt::Write as _;

use regreen_model::{FailureCategory, FailureKind, RepairAction, RetryMode};

use crate::concrete_suggestions::alternative;
use crate::framings::framings;
use crate::rules::RuleBook;

/// Returns suggestions: the repair first, if there is one, then those for the kind.
pub(crate) fn suggestions_for(kind: FailureKind, repair: Option<&RepairAction>) -> Vec<String> {
    let mut said = repair.map(of_repair).unwrap_or_default();
    let of_kind = match repair {
        // Nothing else is needed.
        Some(RepairAction::ChmodX { .. }) => return said,
        _ => of_kind(kind),
    };
    let general = if of_kind.is_empty() {
        of_category(kind.category())
    } else {
        of_kind
    };
    said.extend(general.iter().map(|text| (*text).to_owned()));
    said.dedup();
    said
}

/// The suggestion for unfinished work if nothing more is known.
pub(crate) const REST: &str = "Complete remaining work";

/// Returns suggestions for the remaining work: the open steps, and the blocker.
pub(crate) fn of_rest(open_steps: &[String], blocker: Option<&str>) -> Vec<String> {
    let rest = match open_steps {
        [] => REST.to_owned(),
        steps => format!("{REST}: {}", steps.join("; ")),
    };
    let fix = blocker.map(|blocker| format!("Fix blocker: {blocker}"));
    [Some(rest), fix, Some(alternative(blocker))]
        .into_iter()
        .flatten()
        .collect()
}

fn of_repair(repair: &RepairAction) -> Vec<String> {
    let args = repair.arguments().join(" ");
    let said = match repair {
        RepairAction::AptInstall { .. } => {
            format!("Ask for the system package: apt install {args}")
        }
        RepairAction::Ask { .. } => format!("Provide {args}"),
        RepairAction::CargoAdd { .. } => format!("Run: cargo add {args}"),
        RepairAction::CargoInstall { .. } => format!("Run: cargo install {args}"),
        RepairAction::ChmodX { .. } => format!("Run: chmod +x {args}"),
        RepairAction::CleanCache { .. } => format!("Clear the cache {args}"),
        RepairAction::CopyFile { .. } => format!("Run: cp {args}"),
        RepairAction::CrlfToLf { .. } => format!("Convert {args} to LF line endings"),
        RepairAction::EndProcess { .. } => "End the process that was left behind".to_owned(),
        RepairAction::GoGet { .. } => format!("Run: go get {args}"),
        RepairAction::Mkdir { .. } => format!("Run: mkdir -p {args}"),
        RepairAction::NpmInstall { .. } => {
            format!("Install missing dependencies: npm install {args}")
        }
        RepairAction::PipInstall { .. } => format!("Run: pip install {args}"),
        RepairAction::RemoveStaleLock { .. } => format!("Remove {args} if its owner is dead"),
        RepairAction::Run { .. } | RepairAction::RunFormatter { .. } => format!("Run: {args}"),
        RepairAction::UserProgram { .. } => format!("Run: {args}"),
        RepairAction::SetEnv { .. } => format!("Set in the environment: {args}"),
        RepairAction::VenvCreate { .. } => format!("Create a virtual environment in {args}"),
    };
    vec![said.trim_end().to_owned()]
}

fn of_category(category: FailureCategory) -> &'static [&'static str] {
    match category {
        FailureCategory::Timeout => &["Break task into smaller subtasks"],
        FailureCategory::MissingContext => &[
            "Include specific file paths in prompt",
            "Provide full context (child has no access to parent history)",
        ],
        FailureCategory::ToolError => &["Fix the tool or the environment, then retry"],
        FailureCategory::InvalidTask => &[
            "Clarify task requirements",
            "Break into simpler, well-defined tasks",
            "Provide specific success criteria",
        ],
        FailureCategory::Partial => &[REST],
    }
}

/// Returns suggestions for a kind; empty if those of the category are enough.
fn of_kind(kind: FailureKind) -> &'static [&'static str] {
    use FailureKind as K;
    match kind {
        K::MissingPythonModule | K::MissingNodeModule | K::MissingRustCrate => &[
            "Install missing dependencies",
            "Check that the manifest names the package",
        ],
        K::MissingSystemLib => &["Install the system library and its headers"],
        K::MissingCommand | K::BadInterpreter => &[
            "Verify command exists: which <command>",
            "Install the program or correct its name",
        ],
        K::MissingFile => &[
            "Check the path",
            "Create the file, or run the step that generates it",
        ],
        K::MissingEnvVar => &["Set the variable, for example from .env.example"],
        K::MissingManifest => &["Run it in the project folder", "Create the project file"],
        K::MissingScriptTarget => &["Check the name of the script or target"],
        K::NotExecutable => &["Run: chmod +x on the script"],
        K::PermissionDenied => &[
            "Check file permissions",
            "Use a path that the user may write to",
        ],
        K::CrlfScript => &["Convert the script to LF line endings"],
        K::WrongToolVersion => &["Use the version of the tool that the project requires"],
        K::PackageNotFound => &["Check the package's name and version"],
        K::DependencyConflict => &["Loosen or align the conflicting versions"],
        K::IntegrityMismatch => &["Find out why the checksum differs before installing anything"],
        K::ExternallyManagedEnv => &["Create a virtual environment and install there"],
        K::LockfileOutdated => &["Update the lock file and commit it"],
        K::PortInUse => &["Stop the process that holds the port, or use another port"],
        K::ConnectionRefused => &[
            "Check that the service is running and reachable",
            "Retry later",
        ],
        K::DnsFailure => &["Check the network and the host name", "Retry later"],
        K::TlsError => &["Check the certificate and the trusted authorities of this machine"],
        K::AuthFailed => &[
            "Provide configuration details or credentials",
            "Log in again",
        ],
        K::RateLimited | K::ServiceUnavailable => &["Wait, then retry"],
        K::DatabaseSchemaMissing => &["Run the project's migrations"],
        K::DatabaseLocked => &["Retry when the other process has finished"],
        K::DataCorrupt => &["Restore the data from its source"],
        K::DataFormatError => &["Correct the data at the reported location"],
        K::DiskFull => &["Free some space"],
        K::FdLimit => &["Raise the limit or open fewer files at once"],
        K::OutOfMemory => &["Use less memory, or provide more"],
        K::ReadOnlyFs => &["Write to another location"],
        K::StaleLock => &["Remove the lock if its owner is dead"],
        K::LocaleEncoding => &["Use UTF-8: LC_ALL=C.UTF-8"],
        K::CrashedBySignal => &["Retry once", "Look for a bug in native code"],
        K::BadUsage => &["Read the command's help and correct the call"],
        K::SyntaxError | K::CompileError | K::TypeCheckError | K::LinkError => {
            &["Fix the first error; the others may follow from it"]
        }
        K::LintError => &["Run the formatter, or fix what the linter reports"],
        K::TestFailure => &["Fix the code or the test that fails", "Run the test alone"],
        K::TestCollectionError => &["Make the test files load", "Check where the tests are"],
        K::RuntimeException => &["Fix the code at the reported location"],
        K::GitNotARepo => &["Run it inside the repository, or git init"],
        K::GitMergeConflict => &["Resolve the conflicts and continue"],
        K::GitDirtyTree => &["Commit or stash the local changes"],
        K::GitPushRejected => &["Pull first, then push again"],
        K::GitIdentityMissing => &["Set git user.name and user.email"],
        K::GitBadRef => &["Check the name of the branch, tag or commit"],
        K::ContradictoryRequirements => &[
            "Clarify task requirements",
            "Remove contradictory instructions",
            "Provide clear, specific goals",
        ],
        K::MissingCredentialsInfo => &["Provide configuration details or credentials"],
        K::NeedsClarification | K::AskedQuestion => &[
            "Answer the question in the task",
            "Add example of expected output",
        ],
        K::ContextOverflow | K::SessionLost => &["Start a new session with a summary"],
        K::BudgetExhausted => &[
            "Continue in a new session",
            "Break task into smaller subtasks",
        ],
        K::FalseSuccessClaim => &["Run the check and fix what it reports"],
        K::NoOpAttempt => &["Say what should change, and where"],
        K::VerifierBroken => &["Fix the check before judging the work"],
        K::AgentMissing => &["Install the agent or correct its name"],
        K::NoCredit => &["Add credit to the account, or use another"],
        K::PermissionPrompt => &["Allow the tool in the agent's configuration"],
        K::TimeoutWithProgress
        | K::TimeoutNoProgress
        | K::MissingReference
        | K::ImpossibleTask
        | K::AgentRefusal
        | K::IncompleteWork
        | K::Interrupted => &[],
    }
}

const INTRODUCTION: &str = "\
# Failures

Every failed attempt has one of five categories and one kind. This page is generated from the tables
that regreen uses; `rules` is the number of rules that detect the kind.
";

/// Renders the page of the user guide that lists the kinds, their meanings and suggestions.
#[must_use]
pub fn failures_page() -> String {
    let mut page = INTRODUCTION.to_owned();
    for category in FailureCategory::ALL {
        let _ = write!(page, "\n## {category}\n\n{}\n\n", about(category));
        page.push_str("| kind | meaning | retry? | suggestions | rules |\n|---|---|---|---|---|\n");
        let kinds = FailureKind::ALL
            .into_iter()
            .filter(|kind| kind.category() == category);
        for kind in kinds {
            page.push_str(&row(kind));
        }
    }
    page.push_str(&framings());
    page
}

fn row(kind: FailureKind) -> String {
    let helps = suggestions_for(kind, None).join("; ");
    let rules = RuleBook::ours()
        .rules
        .iter()
        .filter(|rule| rule.kind == Some(kind))
        .count();
    let again = again(kind.retry_mode());
    format!(
        "| `{kind}` | {} | {again} | {helps} | {rules} |\n",
        kind.meaning()
    )
}

fn about(category: FailureCategory) -> &'static str {
    match category {
        FailureCategory::Timeout => {
            "A time limit ended the attempt. If there was any sign of progress, regreen tries again with more time."
        }
        FailureCategory::MissingContext => {
            "The task leaves out something that only its author knows."
        }
        FailureCategory::ToolError => "A tool, the environment or the code caused the failure.",
        FailureCategory::InvalidTask => {
            "The task cannot be done as written, or the agent refuses it."
        }
        FailureCategory::Partial => "Part of the work is done, but something blocked the rest.",
    }
}

fn again(mode: RetryMode) -> &'static str {
    match mode {
        RetryMode::AsIs => "yes, unchanged",
        RetryMode::AfterRepair => "yes, after the environment is repaired",
        RetryMode::AfterFix => "yes, after the code is fixed",
        RetryMode::AfterHuman => "only after a person acts",
        RetryMode::Never => "no",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_something_to_suggest() {
        for kind in FailureKind::ALL {
            assert!(!suggestions_for(kind, None).is_empty(), "{kind}");
        }
    }

    #[test]
    fn making_a_script_executable_is_suggested_once() {
        let path = "run.sh".to_owned();
        let said = suggestions_for(
            FailureKind::NotExecutable,
            Some(&RepairAction::ChmodX { path }),
        );
        assert_eq!(said, ["Run: chmod +x run.sh"]);
    }

    #[test]
    fn a_repair_comes_first() {
        let repair = RepairAction::PipInstall {
            args: vec!["pytest".to_owned()],
        };
        assert_eq!(
            suggestions_for(FailureKind::MissingPythonModule, Some(&repair))[0],
            "Run: pip install pytest"
        );
    }

    #[test]
    fn every_kind_has_its_row() {
        let page = failures_page();
        for kind in FailureKind::ALL {
            assert!(page.contains(&format!("| `{kind}` |")), "{kind}");
        }
    }
}
