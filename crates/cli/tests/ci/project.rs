use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use regreen_test_support::{Output, Workspace};

use crate::github::{FakeCheck, GitHub, Look};

/// A finished plan whose change is on the branch `feature`.
const PLAN: &str = "\
- [x] 1.1 Write it
  - **Files**: src.txt
  - **Verify**: `grep -q good src.txt`
";

const WORKFLOW: &str = "\
on: [push, pull_request]
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - name: Run the tests
        run: sh check.sh
";

/// The log of a job whose step runs `sh check.sh`.
pub(crate) const TEST_LOG: &str = "\
2026-11-17T10:00:00.0000000Z ##[group]Run sh check.sh
2026-11-17T10:00:00.0000000Z sh check.sh
2026-11-17T10:00:00.0000000Z shell: /usr/bin/bash -e {0}
2026-11-17T10:00:00.0000000Z ##[endgroup]
2026-11-17T10:00:01.0000000Z E       AssertionError: expected 'fixed', got 'good'
2026-11-17T10:00:01.0000000Z src.txt:1: AssertionError
2026-11-17T10:00:01.0000000Z ##[error]Process completed with exit code 1.
";

/// A workspace on a branch, its remote and the fake.
pub(crate) struct Project {
    pub(crate) workspace: Workspace,
    pub(crate) github: GitHub,
}

impl Project {
    pub(crate) fn new(script: impl Fn(Look) -> Vec<FakeCheck> + Send + Sync + 'static) -> Self {
        let workspace = Workspace::with_tasks(PLAN)
            .file("src.txt", "good\n")
            .file("check.sh", "grep -q fixed src.txt\n")
            .file(".github/workflows/ci.yml", WORKFLOW)
            .git_repository();
        let remote = workspace.note_path("remote.git");
        let remote_name = remote.display().to_string();
        workspace.git(&[
            "init",
            "--quiet",
            "--bare",
            "--initial-branch=main",
            &remote_name,
        ]);
        workspace.git(&["remote", "add", "origin", &remote_name]);
        workspace.git(&["push", "--quiet", "origin", "main"]);
        workspace.git(&["switch", "--quiet", "-c", "feature"]);
        let workspace = workspace
            .file("feature.txt", "new\n")
            .committed("the feature");
        let github = GitHub::new(&remote, script);
        Self { workspace, github }
    }

    /// Sets what the agent does about fix 1.1.1, which then says that it is done.
    pub(crate) fn fixing(mut self, script: &str) -> Self {
        let arms = format!("1.1.1:*) {script}; echo TASK_COMPLETE ;;\n*) exit 9 ;;");
        self.workspace = self.workspace.agent(&arms);
        self
    }

    pub(crate) fn command(&self, flags: &[&str]) -> Command {
        let agent = self.workspace.agent_flag();
        let usual = [
            "ci", "--repo", "ann/cart", "--poll", "20ms", "--settle", "60ms", "--agent", &agent,
        ];
        let mut command = self.workspace.command(&[&usual, flags].concat());
        self.github.reached_by(&mut command);
        command
    }

    pub(crate) fn run(&self, flags: &[&str]) -> Output {
        let output = self.command(flags).output().unwrap();
        self.workspace.output(&output)
    }

    /// Opens a pull request and may push.
    pub(crate) fn run_all(&self, flags: &[&str]) -> Output {
        self.run(&[&["--create", "--allow-push"], flags].concat())
    }

    /// Starts it in the background; its output goes to this note.
    pub(crate) fn start(&self, flags: &[&str], note: &str) -> Child {
        let file = std::fs::File::create(self.workspace.note_path(note)).unwrap();
        let mut command = self.command(flags);
        command.stdout(file).stderr(Stdio::null()).spawn().unwrap()
    }

    pub(crate) fn remote(&self) -> PathBuf {
        self.workspace.note_path("remote.git")
    }

    /// Returns the commit of a branch on the remote.
    pub(crate) fn remote_head(&self, branch: &str) -> String {
        let remote = self.remote().display().to_string();
        let name = format!("refs/heads/{branch}");
        let git = self
            .workspace
            .git(&["--git-dir", &remote, "rev-parse", &name]);
        git.trim().to_owned()
    }

    pub(crate) fn head(&self) -> String {
        self.workspace.git(&["rev-parse", "HEAD"]).trim().to_owned()
    }

    /// Returns the texts of all saved logs.
    pub(crate) fn logs(&self) -> String {
        let folder = self.workspace.path(".regreen/ci/logs");
        let files = regreen_test_support::files_below(&folder);
        let texts = files
            .iter()
            .map(|path| std::fs::read_to_string(folder.join(path)).unwrap());
        texts.collect()
    }
}
