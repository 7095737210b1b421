//! A workspace with something beside it, and everything that is asked of both.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use regreen_model::{
    Confidence, Failure, FailureCategory, FailureKind, Inspection, PlannedRepair, RepairAction,
    RepairResult, RetryMode,
};
use regreen_repairs::{
    ManifestSnapshot, RepairContext, ToolCall, ToolResult, ToolRunner, apply_repair, inspect,
    roll_back_interrupted,
};

pub(crate) struct TestWorkspace {
    _folder: tempfile::TempDir,
    root: PathBuf,
    outside: PathBuf,
    pub(crate) manifests: ManifestSnapshot,
    pub(crate) path: OsString,
    pub(crate) commands: Vec<String>,
}

/// A failure as diagnosis would tell it.
pub(crate) fn failure(kind: FailureKind, line: &str, repair: Option<RepairAction>) -> Failure {
    Failure {
        category: FailureCategory::ToolError,
        kind,
        message: line.to_owned(),
        blocked_on: Some(line.to_owned()),
        line: Some(1),
        retryable: true,
        retry_mode: RetryMode::AfterRepair,
        completed_steps: Vec::new(),
        files_modified: Vec::new(),
        tool_usage: BTreeMap::new(),
        last_successful_tool: None,
        suggested_actions: Vec::new(),
        repair,
        rule: String::new(),
        confidence: Confidence::percent(90),
        fingerprint: String::new(),
    }
}

/// NoTools may start anything.
struct NoTools;

impl ToolRunner for NoTools {
    fn run(&mut self, call: &ToolCall) -> ToolResult {
        panic!("{:?} was started", call.argv);
    }
}

impl TestWorkspace {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let (root, outside) = (base.join("workspace"), base.join("outside"));
        fs::create_dir(&root).unwrap();
        fs::create_dir(&outside).unwrap();
        Self {
            _folder: folder,
            root,
            outside,
            manifests: ManifestSnapshot::default(),
            path: std::env::var_os("PATH").unwrap_or_default(),
            commands: Vec::new(),
        }
    }

    /// The run begins: what stands in the manifests now counts.
    pub(crate) fn begin(mut self) -> Self {
        self.manifests = ManifestSnapshot::read(&self.root);
        self
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn outside(&self) -> &Path {
        &self.outside
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        write(&self.root.join(path), text);
    }

    pub(crate) fn write_outside(&self, path: &str, text: &str) {
        write(&self.outside.join(path), text);
    }

    pub(crate) fn write_program(&self, path: &str, text: &str) {
        self.write(path, text);
        fs::set_permissions(self.root.join(path), fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn context<'s>(&'s self, output: &'s str) -> RepairContext<'s> {
        RepairContext {
            root: &self.root,
            manifests: &self.manifests,
            output,
            commands: &self.commands,
            environment: &[],
            path: &self.path,
            marker: Some("a-run-that-is-not"),
            now: SystemTime::now(),
        }
    }

    pub(crate) fn inspect(&self, failure: &Failure) -> Inspection {
        inspect(&self.context(&failure.message), failure)
    }

    pub(crate) fn apply(
        &self,
        failure: &Failure,
        planned: &PlannedRepair,
        runner: &mut dyn ToolRunner,
    ) -> RepairResult {
        apply_repair(
            &self.context(&failure.message),
            failure,
            planned,
            false,
            runner,
        )
    }

    pub(crate) fn roll_back_interrupted(&self, planned: &PlannedRepair) -> Result<(), String> {
        roll_back_interrupted(&self.context(""), planned)
    }

    /// A person has said yes.
    pub(crate) fn agreed(
        &self,
        failure: &Failure,
        planned: &PlannedRepair,
        runner: &mut dyn ToolRunner,
    ) -> RepairResult {
        apply_repair(
            &self.context(&failure.message),
            failure,
            planned,
            true,
            runner,
        )
    }

    /// Must not be allowed, must not be carried out either, and must leave no trace.
    #[track_caller]
    pub(crate) fn attack(&self, failure: &Failure) -> Inspection {
        let before = self.fingerprint();
        let said = self.inspect(failure);
        assert!(
            !matches!(said, Inspection::Allowed(_)),
            "{failure:?}\n{said:?}"
        );
        let forged = match &said {
            Inspection::Ask { repair, .. } => repair.clone(),
            _ => PlannedRepair {
                action: failure.repair.clone().unwrap_or(RepairAction::Ask {
                    what: String::new(),
                }),
                does: String::new(),
            },
        };
        self.must_fail(failure, &forged);
        if matches!(said, Inspection::Refused { .. }) {
            // What is refused is not lifted by a person's yes either.
            let result = self.agreed(failure, &forged, &mut NoTools);
            assert!(matches!(result, RepairResult::Failed { .. }), "{result:?}");
        }
        assert_eq!(self.fingerprint(), before);
        said
    }

    /// Carrying it out fails, starts nothing and changes nothing.
    #[track_caller]
    pub(crate) fn must_fail(&self, failure: &Failure, planned: &PlannedRepair) {
        let before = self.fingerprint();
        let result = self.apply(failure, planned, &mut NoTools);
        assert!(
            matches!(result, RepairResult::Failed { .. }),
            "{failure:?}\n{result:?}"
        );
        assert_eq!(self.fingerprint(), before);
    }

    /// Every name with its mode and content, in the workspace and beside it.
    fn fingerprint(&self) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
        let mut all = BTreeMap::new();
        for folder in [&self.root, &self.outside] {
            note(folder, &mut all);
        }
        all
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn note(path: &Path, all: &mut BTreeMap<PathBuf, (u32, Vec<u8>)>) {
    let stat = path.symlink_metadata().unwrap();
    let content = match stat.file_type() {
        kind if kind.is_symlink() => fs::read_link(path)
            .unwrap()
            .into_os_string()
            .into_encoded_bytes(),
        kind if kind.is_file() => fs::read(path).unwrap(),
        _ => Vec::new(),
    };
    all.insert(path.to_owned(), (stat.mode(), content));
    if stat.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            note(&entry.unwrap().path(), all);
        }
    }
}
