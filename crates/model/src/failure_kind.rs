use serde::{Deserialize, Serialize};

use crate::{FailureCategory, RetryMode, named_enum};

/// The facts that hold for every failure of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Profile {
    category: FailureCategory,
    retry_mode: RetryMode,
    words: &'static str,
    meaning: &'static str,
}

macro_rules! failure_kinds {
    ($($kind:ident = $name:literal, $category:ident, $retry_mode:ident, $words:literal, $meaning:literal;)+) => {
        named_enum! {
            /// The root cause of a failure, in one word of a closed vocabulary.
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
            #[serde(rename_all = "snake_case")]
            pub enum FailureKind {
                $(
                    #[doc = concat!($meaning, ".")]
                    $kind = $name,
                )+
            }
        }

        impl FailureKind {
            fn profile(self) -> Profile {
                match self {
                    $(Self::$kind => Profile {
                        category: FailureCategory::$category,
                        retry_mode: RetryMode::$retry_mode,
                        words: $words,
                        meaning: $meaning,
                    },)+
                }
            }
        }
    };
}

// Name, default category, what must happen before a retry, words for people, meaning.
failure_kinds! {
    MissingPythonModule = "missing_python_module", ToolError, AfterRepair, "missing Python module",
        "A Python import names a module that is not installed";
    MissingNodeModule = "missing_node_module", ToolError, AfterRepair, "missing Node module",
        "A JavaScript import names a package that is not installed";
    MissingRustCrate = "missing_rust_crate", ToolError, AfterRepair, "missing Rust crate",
        "Rust code uses a crate that the manifest does not name";
    MissingSystemLib = "missing_system_lib", ToolError, AfterRepair, "missing system library",
        "A shared library, header or pkg-config package of the system is missing";
    MissingCommand = "missing_command", ToolError, AfterRepair, "missing command",
        "A program is not installed or not on the PATH";
    MissingFile = "missing_file", ToolError, AfterRepair, "missing file",
        "A required file or folder does not exist";
    MissingEnvVar = "missing_env_var", ToolError, AfterRepair, "missing environment variable",
        "A required environment variable is not set";
    MissingManifest = "missing_manifest", ToolError, AfterRepair, "missing manifest",
        "The tool finds no project file in its working directory";
    MissingScriptTarget = "missing_script_target", ToolError, AfterFix, "missing script or target",
        "The build file has no target, script or task of that name";
    NotExecutable = "not_executable", ToolError, AfterRepair, "file not executable",
        "A script lacks its executable bit";
    PermissionDenied = "permission_denied", ToolError, AfterHuman, "permission denied",
        "The operating system or a service denies permission";
    BadInterpreter = "bad_interpreter", ToolError, AfterRepair, "bad interpreter",
        "The interpreter that a script names does not exist";
    CrlfScript = "crlf_script", ToolError, AfterRepair, "script with CRLF line endings",
        "A script has Windows line endings, so its interpreter is not found";
    WrongToolVersion = "wrong_tool_version", ToolError, AfterRepair, "wrong tool version",
        "A tool or runtime is older or newer than required";
    PackageNotFound = "package_not_found", ToolError, Never, "package not found",
        "No registry has a package or version of that name";
    DependencyConflict = "dependency_conflict", ToolError, AfterFix, "dependency conflict",
        "The version requirements of the dependencies conflict";
    IntegrityMismatch = "integrity_mismatch", ToolError, AfterHuman, "integrity mismatch",
        "A download does not match its checksum";
    ExternallyManagedEnv = "externally_managed_env", ToolError, AfterRepair, "externally managed environment",
        "The system Python forbids installs outside a virtual environment";
    LockfileOutdated = "lockfile_outdated", ToolError, AfterRepair, "outdated lock file",
        "Manifest and lock file disagree";
    PortInUse = "port_in_use", ToolError, AfterRepair, "port in use",
        "Another process holds the port";
    ConnectionRefused = "connection_refused", ToolError, AsIs, "connection refused",
        "Nothing listens at the address, or the connection broke";
    DnsFailure = "dns_failure", ToolError, AsIs, "name resolution failure",
        "A host name could not be resolved";
    TlsError = "tls_error", ToolError, AfterHuman, "TLS error",
        "A certificate is not trusted or the secure connection failed";
    AuthFailed = "auth_failed", ToolError, AfterHuman, "authentication failure",
        "A login, token or key was refused";
    RateLimited = "rate_limited", ToolError, AsIs, "rate limit",
        "A service asks to slow down";
    ServiceUnavailable = "service_unavailable", ToolError, AsIs, "service unavailable",
        "A service is temporarily unavailable";
    DatabaseSchemaMissing = "database_schema_missing", ToolError, AfterRepair, "missing database schema",
        "A table, column or database does not exist, probably because a migration is missing";
    DatabaseLocked = "database_locked", ToolError, AsIs, "locked database",
        "Another process holds the database";
    DataCorrupt = "data_corrupt", ToolError, AfterHuman, "corrupt data",
        "A file or store is damaged";
    DataFormatError = "data_format_error", ToolError, AfterFix, "data format error",
        "Data is not in the expected format";
    DiskFull = "disk_full", ToolError, AfterRepair, "full disk",
        "No space or quota is left";
    FdLimit = "fd_limit", ToolError, AfterRepair, "resource limit",
        "A limit on open files or processes was hit";
    OutOfMemory = "out_of_memory", ToolError, AfterRepair, "out of memory",
        "Memory ran out, or the kernel killed the process to free memory";
    ReadOnlyFs = "read_only_fs", ToolError, AfterHuman, "read-only file system",
        "The file system is read-only";
    StaleLock = "stale_lock", ToolError, AfterRepair, "stale lock",
        "A lock or pid file from another run blocks this one";
    LocaleEncoding = "locale_encoding", ToolError, AfterRepair, "encoding problem",
        "Text cannot be read or written in the encoding of the environment";
    CrashedBySignal = "crashed_by_signal", ToolError, AsIs, "crash",
        "A signal killed the process";
    BadUsage = "bad_usage", ToolError, AfterFix, "wrong usage",
        "A command was called with unknown options or arguments";
    SyntaxError = "syntax_error", ToolError, AfterFix, "syntax error",
        "A file cannot be parsed";
    CompileError = "compile_error", ToolError, AfterFix, "compile error",
        "The compiler rejects the code";
    TypeCheckError = "type_check_error", ToolError, AfterFix, "type error",
        "The type checker rejects the code";
    LinkError = "link_error", ToolError, AfterFix, "link error",
        "The linker finds a symbol missing or defined twice";
    LintError = "lint_error", ToolError, AfterFix, "lint error",
        "A linter or formatter rejects the code";
    TestFailure = "test_failure", ToolError, AfterFix, "test failure",
        "A test ran and failed";
    TestCollectionError = "test_collection_error", ToolError, AfterFix, "test collection error",
        "Tests could not be loaded, or none were found";
    RuntimeException = "runtime_exception", ToolError, AfterFix, "runtime exception",
        "The program failed with an error of its own";
    GitNotARepo = "git_not_a_repo", ToolError, AfterRepair, "no git repository",
        "The folder is not in a git repository";
    GitMergeConflict = "git_merge_conflict", Partial, AfterFix, "merge conflict",
        "Git could not merge the changes automatically";
    GitDirtyTree = "git_dirty_tree", ToolError, AfterHuman, "dirty working tree",
        "Local changes would be overwritten";
    GitPushRejected = "git_push_rejected", ToolError, AfterRepair, "rejected push",
        "The remote has commits that are missing locally";
    GitIdentityMissing = "git_identity_missing", ToolError, AfterRepair, "missing git identity",
        "Git has no name and email for commits";
    GitBadRef = "git_bad_ref", ToolError, AfterHuman, "unknown git reference",
        "A branch, tag or commit does not exist";
    TimeoutWithProgress = "timeout_with_progress", Timeout, AsIs, "timeout",
        "The time limit ended the attempt while it was making progress";
    TimeoutNoProgress = "timeout_no_progress", Timeout, AfterHuman, "timeout without progress",
        "The time limit ended the attempt without any progress";
    MissingReference = "missing_reference", MissingContext, AfterHuman, "missing reference",
        "The task mentions something that cannot be found";
    NeedsClarification = "needs_clarification", MissingContext, AfterHuman, "unclear task",
        "The task leaves a choice open";
    MissingCredentialsInfo = "missing_credentials_info", MissingContext, AfterHuman, "missing credentials",
        "The task needs a key or login that was not provided";
    ContradictoryRequirements = "contradictory_requirements", InvalidTask, AfterHuman, "contradictory requirements",
        "The requirements of the task contradict each other";
    ImpossibleTask = "impossible_task", InvalidTask, AfterHuman, "impossible task",
        "The task cannot be done, or not by an agent";
    AgentRefusal = "agent_refusal", InvalidTask, AfterHuman, "refusal",
        "The agent refuses to do the task";
    IncompleteWork = "incomplete_work", Partial, AfterFix, "incomplete work",
        "The work was started but not finished";
    BudgetExhausted = "budget_exhausted", Partial, AsIs, "exhausted budget",
        "A limit on turns, tokens or cost stopped the work";
    ContextOverflow = "context_overflow", ToolError, AsIs, "context overflow",
        "The conversation no longer fits into the model's context";
    FalseSuccessClaim = "false_success_claim", Partial, AfterFix, "false success claim",
        "The agent claims success but its own text contradicts it";
    AgentMissing = "agent_missing", ToolError, AfterHuman, "missing agent",
        "The agent is not installed";
    NoCredit = "no_credit", ToolError, AfterHuman, "no credit",
        "The account behind the agent has no credit or quota left";
    AskedQuestion = "asked_question", MissingContext, AfterHuman, "open question",
        "The agent stopped to ask something";
    PermissionPrompt = "permission_prompt", ToolError, AfterHuman, "permission prompt",
        "The agent is waiting for a permission that nobody can grant";
    SessionLost = "session_lost", ToolError, AsIs, "lost session",
        "The agent does not know the session it should resume";
    NoOpAttempt = "no_op_attempt", Partial, AfterFix, "nothing changed",
        "The attempt ended without changing anything";
    VerifierBroken = "verifier_broken", ToolError, AfterHuman, "broken verifier",
        "The check itself cannot run, so it says nothing about the work";
    Interrupted = "interrupted", Partial, AsIs, "interruption",
        "Something outside regreen stopped the attempt";
}

impl FailureKind {
    /// Returns whether a program, a package or a permission is missing. It will be missing again
    /// the next time unless the environment changes.
    #[must_use]
    pub fn is_of_environment(self) -> bool {
        matches!(
            self,
            Self::MissingCommand
                | Self::BadInterpreter
                | Self::MissingPythonModule
                | Self::MissingNodeModule
                | Self::MissingRustCrate
                | Self::MissingSystemLib
                | Self::NotExecutable
                | Self::PermissionDenied
        )
    }

    /// Returns the kind in words, for people and commit messages: `missing file`.
    #[must_use]
    pub fn words(self) -> &'static str {
        self.profile().words
    }

    /// Explains the kind in one sentence.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        self.profile().meaning
    }

    /// Returns the category of such failures, unless the evidence says otherwise.
    #[must_use]
    pub fn category(self) -> FailureCategory {
        self.profile().category
    }

    /// Returns what must happen before the task can succeed.
    #[must_use]
    pub fn retry_mode(self) -> RetryMode {
        self.profile().retry_mode
    }

    /// Returns whether the task can be tried again without a person.
    #[must_use]
    pub fn retryable(self) -> bool {
        self.retry_mode().is_retryable()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_kinds_have_the_same_words() {
        let words: BTreeSet<_> = FailureKind::ALL.iter().map(|k| k.words()).collect();
        assert_eq!(words.len(), FailureKind::ALL.len());
    }
}
