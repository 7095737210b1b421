use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{FailureCategory, RetryMode};

/// The root cause of a failure, in one word of a closed vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    MissingPythonModule,
    MissingNodeModule,
    MissingRustCrate,
    MissingSystemLib,
    MissingCommand,
    MissingFile,
    MissingEnvVar,
    MissingManifest,
    MissingScriptTarget,
    NotExecutable,
    PermissionDenied,
    BadInterpreter,
    CrlfScript,
    WrongToolVersion,
    PackageNotFound,
    DependencyConflict,
    IntegrityMismatch,
    ExternallyManagedEnv,
    LockfileOutdated,
    PortInUse,
    ConnectionRefused,
    DnsFailure,
    TlsError,
    AuthFailed,
    RateLimited,
    ServiceUnavailable,
    DatabaseSchemaMissing,
    DatabaseLocked,
    DataCorrupt,
    DataFormatError,
    DiskFull,
    FdLimit,
    OutOfMemory,
    ReadOnlyFs,
    StaleLock,
    LocaleEncoding,
    CrashedBySignal,
    BadUsage,
    SyntaxError,
    CompileError,
    TypeCheckError,
    LinkError,
    LintError,
    TestFailure,
    TestCollectionError,
    RuntimeException,
    GitNotARepo,
    GitMergeConflict,
    GitDirtyTree,
    GitPushRejected,
    GitIdentityMissing,
    GitBadRef,
    TimeoutWithProgress,
    TimeoutNoProgress,
    MissingReference,
    NeedsClarification,
    MissingCredentialsInfo,
    ContradictoryRequirements,
    ImpossibleTask,
    AgentRefusal,
    IncompleteWork,
    BudgetExhausted,
    ContextOverflow,
    FalseSuccessClaim,
    AgentMissing,
    NoCredit,
    AskedQuestion,
    PermissionPrompt,
    SessionLost,
    NoOpAttempt,
    VerifierBroken,
    Interrupted,
}

/// What is known of a kind before any case of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Profile {
    name: &'static str,
    category: FailureCategory,
    retry_mode: RetryMode,
    words: &'static str,
    meaning: &'static str,
}

const fn profile(
    name: &'static str,
    category: FailureCategory,
    retry_mode: RetryMode,
    words: &'static str,
    meaning: &'static str,
) -> Profile {
    Profile {
        name,
        category,
        retry_mode,
        words,
        meaning,
    }
}

impl FailureKind {
    pub const ALL: [Self; 72] = [
        Self::MissingPythonModule,
        Self::MissingNodeModule,
        Self::MissingRustCrate,
        Self::MissingSystemLib,
        Self::MissingCommand,
        Self::MissingFile,
        Self::MissingEnvVar,
        Self::MissingManifest,
        Self::MissingScriptTarget,
        Self::NotExecutable,
        Self::PermissionDenied,
        Self::BadInterpreter,
        Self::CrlfScript,
        Self::WrongToolVersion,
        Self::PackageNotFound,
        Self::DependencyConflict,
        Self::IntegrityMismatch,
        Self::ExternallyManagedEnv,
        Self::LockfileOutdated,
        Self::PortInUse,
        Self::ConnectionRefused,
        Self::DnsFailure,
        Self::TlsError,
        Self::AuthFailed,
        Self::RateLimited,
        Self::ServiceUnavailable,
        Self::DatabaseSchemaMissing,
        Self::DatabaseLocked,
        Self::DataCorrupt,
        Self::DataFormatError,
        Self::DiskFull,
        Self::FdLimit,
        Self::OutOfMemory,
        Self::ReadOnlyFs,
        Self::StaleLock,
        Self::LocaleEncoding,
        Self::CrashedBySignal,
        Self::BadUsage,
        Self::SyntaxError,
        Self::CompileError,
        Self::TypeCheckError,
        Self::LinkError,
        Self::LintError,
        Self::TestFailure,
        Self::TestCollectionError,
        Self::RuntimeException,
        Self::GitNotARepo,
        Self::GitMergeConflict,
        Self::GitDirtyTree,
        Self::GitPushRejected,
        Self::GitIdentityMissing,
        Self::GitBadRef,
        Self::TimeoutWithProgress,
        Self::TimeoutNoProgress,
        Self::MissingReference,
        Self::NeedsClarification,
        Self::MissingCredentialsInfo,
        Self::ContradictoryRequirements,
        Self::ImpossibleTask,
        Self::AgentRefusal,
        Self::IncompleteWork,
        Self::BudgetExhausted,
        Self::ContextOverflow,
        Self::FalseSuccessClaim,
        Self::AgentMissing,
        Self::NoCredit,
        Self::AskedQuestion,
        Self::PermissionPrompt,
        Self::SessionLost,
        Self::NoOpAttempt,
        Self::VerifierBroken,
        Self::Interrupted,
    ];

    /// As it is written in data: `missing_file`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.profile().name
    }

    /// As it is said to people, and in commit messages: `missing file`.
    #[must_use]
    pub fn words(self) -> &'static str {
        self.profile().words
    }

    /// One sentence for those who have not met it.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        self.profile().meaning
    }

    /// Its category unless the evidence says more.
    #[must_use]
    pub fn category(self) -> FailureCategory {
        self.profile().category
    }

    #[must_use]
    pub fn retry_mode(self) -> RetryMode {
        self.profile().retry_mode
    }

    #[must_use]
    pub fn retryable(self) -> bool {
        self.retry_mode().is_retryable()
    }

    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The table: one row per kind.
    fn profile(self) -> Profile {
        use FailureCategory as C;
        use RetryMode as R;
        match self {
            Self::MissingPythonModule => profile(
                "missing_python_module",
                C::ToolError,
                R::AfterRepair,
                "missing Python module",
                "A Python import names a module that is not installed",
            ),
            Self::MissingNodeModule => profile(
                "missing_node_module",
                C::ToolError,
                R::AfterRepair,
                "missing Node module",
                "A JavaScript import names a package that is not installed",
            ),
            Self::MissingRustCrate => profile(
                "missing_rust_crate",
                C::ToolError,
                R::AfterRepair,
                "missing Rust crate",
                "Rust code uses a crate that the manifest does not name",
            ),
            Self::MissingSystemLib => profile(
                "missing_system_lib",
                C::ToolError,
                R::AfterRepair,
                "missing system library",
                "A shared library, header or pkg-config package of the system is missing",
            ),
            Self::MissingCommand => profile(
                "missing_command",
                C::ToolError,
                R::AfterRepair,
                "missing command",
                "A program is not installed or not on the PATH",
            ),
            Self::MissingFile => profile(
                "missing_file",
                C::ToolError,
                R::AfterRepair,
                "missing file",
                "A file or folder that is needed does not exist",
            ),
            Self::MissingEnvVar => profile(
                "missing_env_var",
                C::ToolError,
                R::AfterRepair,
                "missing environment variable",
                "A setting that is read from the environment is not set",
            ),
            Self::MissingManifest => profile(
                "missing_manifest",
                C::ToolError,
                R::AfterRepair,
                "missing manifest",
                "The tool finds no project file where it was started",
            ),
            Self::MissingScriptTarget => profile(
                "missing_script_target",
                C::ToolError,
                R::AfterFix,
                "missing script or target",
                "The build file has no target, script or task of that name",
            ),
            Self::NotExecutable => profile(
                "not_executable",
                C::ToolError,
                R::AfterRepair,
                "file not executable",
                "A script lacks its executable bit",
            ),
            Self::PermissionDenied => profile(
                "permission_denied",
                C::ToolError,
                R::AfterHuman,
                "permission denied",
                "The operating system or a service refuses the right",
            ),
            Self::BadInterpreter => profile(
                "bad_interpreter",
                C::ToolError,
                R::AfterRepair,
                "bad interpreter",
                "A script names an interpreter that does not exist here",
            ),
            Self::CrlfScript => profile(
                "crlf_script",
                C::ToolError,
                R::AfterRepair,
                "script with CRLF line ends",
                "A script has Windows line ends, so its interpreter is not found",
            ),
            Self::WrongToolVersion => profile(
                "wrong_tool_version",
                C::ToolError,
                R::AfterRepair,
                "wrong tool version",
                "A tool or runtime is older or newer than what is required",
            ),
            Self::PackageNotFound => profile(
                "package_not_found",
                C::ToolError,
                R::Never,
                "package not found",
                "No registry knows a package or version of that name",
            ),
            Self::DependencyConflict => profile(
                "dependency_conflict",
                C::ToolError,
                R::AfterFix,
                "dependency conflict",
                "The requirements of the dependencies exclude each other",
            ),
            Self::IntegrityMismatch => profile(
                "integrity_mismatch",
                C::ToolError,
                R::AfterHuman,
                "integrity mismatch",
                "A download does not have the checksum it must have",
            ),
            Self::ExternallyManagedEnv => profile(
                "externally_managed_env",
                C::ToolError,
                R::AfterRepair,
                "externally managed environment",
                "The system Python forbids installs outside a virtual environment",
            ),
            Self::LockfileOutdated => profile(
                "lockfile_outdated",
                C::ToolError,
                R::AfterRepair,
                "outdated lock file",
                "Manifest and lock file disagree",
            ),
            Self::PortInUse => profile(
                "port_in_use",
                C::ToolError,
                R::AfterRepair,
                "port in use",
                "Another process holds the port",
            ),
            Self::ConnectionRefused => profile(
                "connection_refused",
                C::ToolError,
                R::AsIs,
                "connection refused",
                "Nobody answers at the address, or the connection broke",
            ),
            Self::DnsFailure => profile(
                "dns_failure",
                C::ToolError,
                R::AsIs,
                "name resolution failure",
                "A host name could not be resolved",
            ),
            Self::TlsError => profile(
                "tls_error",
                C::ToolError,
                R::AfterHuman,
                "TLS error",
                "A certificate is not trusted or the secure connection failed",
            ),
            Self::AuthFailed => profile(
                "auth_failed",
                C::ToolError,
                R::AfterHuman,
                "authentication failure",
                "A login, token or key was refused",
            ),
            Self::RateLimited => profile(
                "rate_limited",
                C::ToolError,
                R::AsIs,
                "rate limit",
                "A service asks to slow down",
            ),
            Self::ServiceUnavailable => profile(
                "service_unavailable",
                C::ToolError,
                R::AsIs,
                "service unavailable",
                "A service answers that it cannot serve now",
            ),
            Self::DatabaseSchemaMissing => profile(
                "database_schema_missing",
                C::ToolError,
                R::AfterRepair,
                "missing database schema",
                "A table, column or database does not exist, probably for want of a migration",
            ),
            Self::DatabaseLocked => profile(
                "database_locked",
                C::ToolError,
                R::AsIs,
                "locked database",
                "Another process holds the database",
            ),
            Self::DataCorrupt => profile(
                "data_corrupt",
                C::ToolError,
                R::AfterHuman,
                "corrupt data",
                "A file or store is damaged",
            ),
            Self::DataFormatError => profile(
                "data_format_error",
                C::ToolError,
                R::AfterFix,
                "data format error",
                "Data is not in the format it should be in",
            ),
            Self::DiskFull => profile(
                "disk_full",
                C::ToolError,
                R::AfterRepair,
                "full disk",
                "No space or quota is left",
            ),
            Self::FdLimit => profile(
                "fd_limit",
                C::ToolError,
                R::AfterRepair,
                "resource limit",
                "A limit on open files or processes was hit",
            ),
            Self::OutOfMemory => profile(
                "out_of_memory",
                C::ToolError,
                R::AfterRepair,
                "out of memory",
                "Memory ran out or the kernel ended the process for it",
            ),
            Self::ReadOnlyFs => profile(
                "read_only_fs",
                C::ToolError,
                R::AfterHuman,
                "read-only file system",
                "The file system cannot be written",
            ),
            Self::StaleLock => profile(
                "stale_lock",
                C::ToolError,
                R::AfterRepair,
                "stale lock",
                "A lock or pid file of another run stands in the way",
            ),
            Self::LocaleEncoding => profile(
                "locale_encoding",
                C::ToolError,
                R::AfterRepair,
                "encoding problem",
                "Text cannot be read or written in the encoding of the environment",
            ),
            Self::CrashedBySignal => profile(
                "crashed_by_signal",
                C::ToolError,
                R::AsIs,
                "crash",
                "A signal ended the process",
            ),
            Self::BadUsage => profile(
                "bad_usage",
                C::ToolError,
                R::AfterFix,
                "wrong usage",
                "A command was called with options or arguments it does not know",
            ),
            Self::SyntaxError => profile(
                "syntax_error",
                C::ToolError,
                R::AfterFix,
                "syntax error",
                "A file cannot be parsed",
            ),
            Self::CompileError => profile(
                "compile_error",
                C::ToolError,
                R::AfterFix,
                "compile error",
                "The compiler refuses the code",
            ),
            Self::TypeCheckError => profile(
                "type_check_error",
                C::ToolError,
                R::AfterFix,
                "type error",
                "The type checker refuses the code",
            ),
            Self::LinkError => profile(
                "link_error",
                C::ToolError,
                R::AfterFix,
                "link error",
                "The linker misses a symbol or finds it twice",
            ),
            Self::LintError => profile(
                "lint_error",
                C::ToolError,
                R::AfterFix,
                "lint error",
                "A linter or formatter finds the code wanting",
            ),
            Self::TestFailure => profile(
                "test_failure",
                C::ToolError,
                R::AfterFix,
                "test failure",
                "A test ran and failed",
            ),
            Self::TestCollectionError => profile(
                "test_collection_error",
                C::ToolError,
                R::AfterFix,
                "test collection error",
                "Tests could not be loaded, or none were found",
            ),
            Self::RuntimeException => profile(
                "runtime_exception",
                C::ToolError,
                R::AfterFix,
                "runtime exception",
                "The program ended with an error of its own",
            ),
            Self::GitNotARepo => profile(
                "git_not_a_repo",
                C::ToolError,
                R::AfterRepair,
                "no git repository",
                "The folder is in no git repository",
            ),
            Self::GitMergeConflict => profile(
                "git_merge_conflict",
                C::Partial,
                R::AfterFix,
                "merge conflict",
                "Changes could not be merged by themselves",
            ),
            Self::GitDirtyTree => profile(
                "git_dirty_tree",
                C::ToolError,
                R::AfterHuman,
                "dirty working tree",
                "Local changes would be overwritten",
            ),
            Self::GitPushRejected => profile(
                "git_push_rejected",
                C::ToolError,
                R::AfterRepair,
                "rejected push",
                "The remote has work that is not here",
            ),
            Self::GitIdentityMissing => profile(
                "git_identity_missing",
                C::ToolError,
                R::AfterRepair,
                "missing git identity",
                "Git does not know who commits",
            ),
            Self::GitBadRef => profile(
                "git_bad_ref",
                C::ToolError,
                R::AfterHuman,
                "unknown git reference",
                "A branch, tag or commit does not exist",
            ),
            Self::TimeoutWithProgress => profile(
                "timeout_with_progress",
                C::Timeout,
                R::AsIs,
                "timeout",
                "Time was up while work went on",
            ),
            Self::TimeoutNoProgress => profile(
                "timeout_no_progress",
                C::Timeout,
                R::AfterHuman,
                "timeout without progress",
                "Time was up and nothing had been done",
            ),
            Self::MissingReference => profile(
                "missing_reference",
                C::MissingContext,
                R::AfterHuman,
                "missing reference",
                "The task speaks of something that cannot be found",
            ),
            Self::NeedsClarification => profile(
                "needs_clarification",
                C::MissingContext,
                R::AfterHuman,
                "unclear task",
                "A choice has to be made that the task leaves open",
            ),
            Self::MissingCredentialsInfo => profile(
                "missing_credentials_info",
                C::MissingContext,
                R::AfterHuman,
                "missing credentials",
                "A key or login is needed that was not given",
            ),
            Self::ContradictoryRequirements => profile(
                "contradictory_requirements",
                C::InvalidTask,
                R::AfterHuman,
                "contradictory requirements",
                "The task asks for things that exclude each other",
            ),
            Self::ImpossibleTask => profile(
                "impossible_task",
                C::InvalidTask,
                R::AfterHuman,
                "impossible task",
                "Nobody could do it, or no agent can",
            ),
            Self::AgentRefusal => profile(
                "agent_refusal",
                C::InvalidTask,
                R::AfterHuman,
                "refusal",
                "The agent will not do it",
            ),
            Self::IncompleteWork => profile(
                "incomplete_work",
                C::Partial,
                R::AfterFix,
                "incomplete work",
                "Work was begun and left unfinished",
            ),
            Self::BudgetExhausted => profile(
                "budget_exhausted",
                C::Partial,
                R::AsIs,
                "exhausted budget",
                "A limit on turns, tokens or cost ended the work",
            ),
            Self::ContextOverflow => profile(
                "context_overflow",
                C::ToolError,
                R::AsIs,
                "context overflow",
                "The conversation no longer fits the model",
            ),
            Self::FalseSuccessClaim => profile(
                "false_success_claim",
                C::Partial,
                R::AfterFix,
                "false success claim",
                "Success is claimed and the text itself shows otherwise",
            ),
            Self::AgentMissing => profile(
                "agent_missing",
                C::ToolError,
                R::AfterHuman,
                "missing agent",
                "The agent's program is not there",
            ),
            Self::NoCredit => profile(
                "no_credit",
                C::ToolError,
                R::AfterHuman,
                "no credit",
                "The account behind the agent has no credit or quota left",
            ),
            Self::AskedQuestion => profile(
                "asked_question",
                C::MissingContext,
                R::AfterHuman,
                "open question",
                "The agent stopped to ask something",
            ),
            Self::PermissionPrompt => profile(
                "permission_prompt",
                C::ToolError,
                R::AfterHuman,
                "permission prompt",
                "The agent waits for a permission nobody can give it here",
            ),
            Self::SessionLost => profile(
                "session_lost",
                C::ToolError,
                R::AsIs,
                "lost session",
                "The agent does not know the session it should resume",
            ),
            Self::NoOpAttempt => profile(
                "no_op_attempt",
                C::Partial,
                R::AfterFix,
                "nothing changed",
                "The attempt ended without changing anything",
            ),
            Self::VerifierBroken => profile(
                "verifier_broken",
                C::ToolError,
                R::AfterHuman,
                "broken verifier",
                "The check itself cannot run, so it says nothing about the work",
            ),
            Self::Interrupted => profile(
                "interrupted",
                C::Partial,
                R::AsIs,
                "interruption",
                "The attempt was stopped from outside",
            ),
        }
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_name_in_the_table_is_the_name_in_data() {
        for kind in FailureKind::ALL {
            let data = serde_json::to_value(kind).unwrap();
            assert_eq!(data, kind.name());
            assert_eq!(FailureKind::parse(kind.name()), Some(kind));
        }
    }

    #[test]
    fn no_two_kinds_are_called_the_same() {
        let names: BTreeSet<_> = FailureKind::ALL.iter().map(|k| k.name()).collect();
        let words: BTreeSet<_> = FailureKind::ALL.iter().map(|k| k.words()).collect();
        assert_eq!(names.len(), FailureKind::ALL.len());
        assert_eq!(words.len(), FailureKind::ALL.len());
    }
}
