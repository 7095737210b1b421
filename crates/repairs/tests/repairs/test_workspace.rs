//! A workspace with a folder beside it, and the checks on both.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use regreen_model::{
    Confidence, Failure, FailureCategory, FailureKind, Inspection, PlannedRepair, RepairAction,
    RepairResult, RetryMode,
};
use regreen_repairs::{
    AppliedRepair, ManifestSnapshot, ProgramRecord, RepairContext, ToolCall, ToolQuery, ToolResult,
    ToolRunner, apply_repair, inspect, renew_launchers, roll_back_interrupted,
};

/// The registry that the user's own configuration names.
pub(crate) const REGISTRY: &str = "https://registry.example";

/// The folder for launchers.
pub(crate) const LAUNCHERS: &str = ".regreen/bin";

pub(crate) struct TestWorkspace {
    _folder: tempfile::TempDir,
    root: PathBuf,
    outside: PathBuf,
    pub(crate) manifests: ManifestSnapshot,
    programs: RefCell<ProgramRecord>,
    pub(crate) path: OsString,
    pub(crate) commands: Vec<String>,
    /// Whether the user's package managers report their registry.
    pub(crate) registries_are_known: bool,
}

/// Returns a failure as `diagnosis` would report it.
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

pub(crate) fn pip(name: &str) -> Option<RepairAction> {
    let args = vec![name.to_owned()];
    Some(RepairAction::PipInstall { args })
}

pub(crate) fn npm(name: &str) -> Option<RepairAction> {
    let args = vec![name.to_owned()];
    Some(RepairAction::NpmInstall { args })
}

/// Returns the failure of a missing Python module, with the package that `diagnosis` would suggest.
pub(crate) fn missing_module(module: &str, package: &str) -> Failure {
    let line = format!("ModuleNotFoundError: No module named '{module}'");
    failure(FailureKind::MissingPythonModule, &line, pip(package))
}

/// All of the user's package managers are configured for one registry.
#[derive(Debug)]
struct UsersRegistry {
    is_known: bool,
}

impl ToolQuery for UsersRegistry {
    fn ask(&self, call: &ToolCall) -> Option<String> {
        let is_pip = call.argv.iter().any(|word| word == "pip");
        let answer = if is_pip {
            format!("global.index-url='{REGISTRY}/simple'\nglobal.proxy='https://proxy.example'\n")
        } else {
            format!("{REGISTRY}/\n")
        };
        self.is_known.then_some(answer)
    }
}

/// Fails the test if a program is started.
struct NoTools;

impl ToolRunner for NoTools {
    fn run(&mut self, call: &ToolCall) -> ToolResult {
        panic!("{:?} was started", call.argv);
    }
}

/// Simulates every tool by a closure that returns the exit code.
pub(crate) struct Tools<F>(pub(crate) F);

impl<F: FnMut(&ToolCall) -> Option<i32>> ToolRunner for Tools<F> {
    fn run(&mut self, call: &ToolCall) -> ToolResult {
        ToolResult {
            exit: self.0(call),
            output: "some words\nERROR: no such version\n".to_owned(),
        }
    }
}

impl TestWorkspace {
    /// Creates a workspace with these files, before the run starts.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let workspace = Self::new();
        for (path, text) in files {
            workspace.write(path, text);
        }
        workspace
    }

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
            programs: RefCell::default(),
            path: std::env::var_os("PATH").unwrap_or_default(),
            commands: Vec::new(),
            registries_are_known: true,
        }
    }

    /// Starts the run: records the manifests and programs as they are now.
    pub(crate) fn begin(mut self) -> Self {
        self.manifests = ManifestSnapshot::read(&self.root);
        self.programs = RefCell::new(ProgramRecord::read(&self.root));
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

    /// Provides only these tools to the run.
    pub(crate) fn with_tools(mut self, names: &[&str]) -> Self {
        for name in names {
            self.write_outside(name, "#!/bin/sh\n");
            let mode = fs::Permissions::from_mode(0o755);
            fs::set_permissions(self.outside.join(name), mode).unwrap();
        }
        self.path = self.outside.as_os_str().to_owned();
        self
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root.join(path)).unwrap()
    }

    pub(crate) fn exists(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }

    /// Creates a link in the workspace to something outside.
    pub(crate) fn link_out(&self, name: &str, target: &str) {
        std::os::unix::fs::symlink(self.outside.join(target), self.root.join(name)).unwrap();
    }

    /// Runs the real programs of a repair, in the workspace.
    pub(crate) fn real_tools(&self) -> Tools<impl FnMut(&ToolCall) -> Option<i32>> {
        Tools(|call: &ToolCall| {
            let folder = self.root.join(&call.folder);
            let mut command = Command::new(&call.argv[0]);
            let output = command.args(&call.argv[1..]).current_dir(folder).output();
            output.unwrap().status.code()
        })
    }

    /// Returns the plan of a repair that is allowed.
    #[track_caller]
    pub(crate) fn allowed(&self, failure: &Failure) -> PlannedRepair {
        match self.inspect(failure) {
            Inspection::Allowed(planned) => planned,
            other => panic!("{other:?}"),
        }
    }

    /// Applies a repair that must be allowed and succeed; returns the variables it sets.
    #[track_caller]
    pub(crate) fn heal(
        &self,
        failure: &Failure,
        runner: &mut dyn ToolRunner,
    ) -> Vec<(String, String)> {
        match self.apply(failure, &self.allowed(failure), runner) {
            RepairResult::Done { environment, .. } => environment,
            RepairResult::Failed { why } => panic!("{why}"),
        }
    }

    /// Applies a repair that must be allowed and fail; returns the reason.
    #[track_caller]
    pub(crate) fn heal_in_vain(&self, failure: &Failure, runner: &mut dyn ToolRunner) -> String {
        match self.apply(failure, &self.allowed(failure), runner) {
            RepairResult::Failed { why } => why,
            RepairResult::Done { did, .. } => panic!("{did}"),
        }
    }

    /// Attacks only through a line of the output.
    #[track_caller]
    pub(crate) fn attack_line(&self, kind: FailureKind, line: &str) -> Inspection {
        self.attack(&failure(kind, line, None))
    }

    /// Attacks only through a suggested repair.
    #[track_caller]
    pub(crate) fn attack_repair(&self, kind: FailureKind, repair: RepairAction) -> Inspection {
        self.attack(&failure(kind, "", Some(repair)))
    }

    /// Attacks, and expects a refusal instead of a question.
    #[track_caller]
    pub(crate) fn refused(&self, failure: &Failure) {
        let said = self.attack(failure);
        assert!(
            matches!(said, Inspection::Refused { .. }),
            "{failure:?}\n{said:?}"
        );
    }

    /// Attacks, and expects a question.
    #[track_caller]
    pub(crate) fn asked_about(&self, failure: &Failure) {
        let said = self.attack(failure);
        assert!(
            matches!(said, Inspection::Ask { .. }),
            "{failure:?}\n{said:?}"
        );
    }

    fn context<'s>(&'s self, programs: &'s ProgramRecord, output: &'s str) -> RepairContext<'s> {
        RepairContext {
            root: &self.root,
            manifests: &self.manifests,
            programs,
            launchers: Path::new(LAUNCHERS),
            query: if self.registries_are_known {
                &UsersRegistry { is_known: true }
            } else {
                &UsersRegistry { is_known: false }
            },
            output,
            commands: &self.commands,
            environment: &[],
            path: &self.path,
            marker: Some("a-run-that-is-not"),
            now: SystemTime::now(),
        }
    }

    pub(crate) fn inspect(&self, failure: &Failure) -> Inspection {
        let programs = self.programs.borrow();
        inspect(&self.context(&programs, &failure.message), failure)
    }

    pub(crate) fn apply(
        &self,
        failure: &Failure,
        planned: &PlannedRepair,
        runner: &mut dyn ToolRunner,
    ) -> RepairResult {
        self.carry_out(failure, planned, false, runner)
    }

    /// Applies a repair and records the programs it installed, as a run does.
    fn carry_out(
        &self,
        failure: &Failure,
        planned: &PlannedRepair,
        agreed: bool,
        runner: &mut dyn ToolRunner,
    ) -> RepairResult {
        let AppliedRepair { result, programs } = {
            let known = self.programs.borrow();
            let context = self.context(&known, &failure.message);
            apply_repair(&context, failure, planned, agreed, runner)
        };
        self.programs.borrow_mut().add(programs);
        result
    }

    /// Starts a program as a process of the run would, with these variables. Returns its output.
    pub(crate) fn run_in(&self, environment: &[(String, String)], command: &str) -> String {
        let programs = self.programs.borrow();
        let launchers = Path::new(LAUNCHERS);
        renew_launchers(&self.root, launchers, environment, &programs, &self.path).unwrap();
        let variables = environment.iter().map(|(name, value)| (name, value));
        let mut shell = Command::new("/bin/sh");
        shell.env("PATH", &self.path).envs(variables);
        shell.args(["-c", command]).current_dir(&self.root);
        let output = shell.output().unwrap();
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    pub(crate) fn roll_back_interrupted(&self, planned: &PlannedRepair) -> Result<(), String> {
        let programs = self.programs.borrow();
        roll_back_interrupted(&self.context(&programs, ""), planned)
    }

    /// Applies a repair with a person's consent.
    pub(crate) fn agreed(
        &self,
        failure: &Failure,
        planned: &PlannedRepair,
        runner: &mut dyn ToolRunner,
    ) -> RepairResult {
        self.carry_out(failure, planned, true, runner)
    }

    /// Checks that a repair isn't allowed, can't be applied, and leaves no trace.
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
            // Consent doesn't override a refusal.
            let result = self.agreed(failure, &forged, &mut NoTools);
            assert!(matches!(result, RepairResult::Failed { .. }), "{result:?}");
        }
        assert_eq!(self.fingerprint(), before);
        said
    }

    /// Checks that applying a repair fails, starts nothing and changes nothing.
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

    /// Returns every name with its mode and content, in the workspace and beside it.
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
