//! A project with runs to look at: one that is at work, and one that needs a person.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::{Result, fail, large};

/// The agent fails, prints why among other lines, and waits in its last task.
const AGENT: &str = r#"#!/bin/sh
prompt=$(cat)
case $prompt in
  *"Wait for the test"*) echo "at work"; touch working; while ! test -f go; do sleep 0.1; done ;;
  *) seq 1 40 | sed 's/^/working on line /' ;;
esac
echo TASK_COMPLETE
"#;

const LOGIN: &str = "# Login

- [ ] 1.1 Add the form
  - **Verify**: `true`
- [ ] 1.2 Validate input
  - **Verify**: `sh check.sh`
- [ ] 1.3 Wait for the test
  - **Verify**: `true`
";

const BILLING: &str = "# Billing

- [ ] 2.1 Import invoices
  - **Do**: 1. `false`
  - **Verify**: `sh never.sh`
- [ ] 2.2 Export invoices
  - **Verify**: `true`
";

const CHECK: &str = r#"echo "collected 12 items"
seq 1 30 | sed 's/^/test_form.py::test_case_/; s/$/ PASSED/'
test -f fixed && exit 0
touch seen; n=$(wc -l < count 2>/dev/null || echo 0); echo x >> count
test "$n" -ge 2 && exit 0
echo "test_form.py:18: AssertionError: expected 'name is required', got ''"
echo "1 failed, 30 passed"
exit 1
"#;

const NEVER: &str = r#"echo "reading invoices.csv"
echo "billing.py:7: KeyError: 'amount'"
exit 1
"#;

/// Builds regreen.
pub(super) fn build(root: &Path) -> Result<PathBuf> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let cargo = cargo
        .args(["build", "--quiet", "-p", "regreen"])
        .current_dir(root);
    if !cargo.status()?.success() {
        return fail("regreen does not build");
    }
    Ok(root.join("target/debug/regreen"))
}

/// Two workspaces of a user of their own.
pub(super) struct Project {
    folder: tempfile::TempDir,
    program: PathBuf,
}

impl Project {
    pub(super) fn new(program: &Path) -> Result<Self> {
        let project = Self {
            folder: tempfile::tempdir()?,
            program: program.to_owned(),
        };
        project.workspace("login", LOGIN, &[("check.sh", CHECK)])?;
        project.workspace("billing", BILLING, &[("never.sh", NEVER)])?;
        project.workspace("large", "- [ ] 1.1 First\n  - **Do**: 1. `true`\n", &[])?;
        Ok(project)
    }

    /// Makes the third workspace one that has been used for a long time.
    pub(super) fn enlarge(&self) -> Result<usize> {
        self.run("large", "shell")?.wait()?;
        std::fs::write(self.path("large/specs/large/tasks.md"), large::tasks())?;
        large::add_run(&self.path("large/.regreen/regreen.db"))
    }

    fn workspace(&self, name: &str, tasks: &str, files: &[(&str, &str)]) -> Result<()> {
        let folder = self.path(name);
        std::fs::create_dir_all(folder.join("specs").join(name))?;
        std::fs::write(folder.join("specs").join(name).join("tasks.md"), tasks)?;
        std::fs::write(folder.join("agent.sh"), AGENT)?;
        for (file, text) in files {
            std::fs::write(folder.join(file), text)?;
        }
        let git = |arguments: &[&str]| {
            let mut git = Command::new("git");
            let git = git.args(arguments).current_dir(&folder);
            git.stdout(Stdio::null()).status()
        };
        git(&["init", "--quiet"])?;
        git(&["config", "user.name", "A"])?;
        git(&["config", "user.email", "a@example.com"])?;
        git(&["add", "."])?;
        git(&["commit", "--quiet", "-m", "Start"])?;
        Ok(())
    }

    /// Returns a path in one of the workspaces.
    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Returns a command of regreen in a workspace.
    pub(super) fn command(&self, workspace: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .current_dir(self.path(workspace))
            .env("HOME", self.folder.path())
            .env("XDG_STATE_HOME", self.path("state"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// Starts a run with an agent.
    pub(super) fn run(&self, workspace: &str, agent: &str) -> Result<Child> {
        let arguments = ["run", "--recovery-mode", "--agent", agent];
        Ok(self.command(workspace, &arguments).spawn()?)
    }

    /// Serves the dashboard, and returns its address.
    pub(super) fn serve(&self) -> Result<(Child, String)> {
        let mut child = self
            .command("login", &["serve", "--port", "0"])
            .stderr(Stdio::piped())
            .spawn()?;
        let output = child.stderr.take().ok_or("no output")?;
        let mut lines = BufReader::new(output).lines();
        let address = lines.find_map(|line| line.ok().filter(|line| line.starts_with("http")));
        Ok((child, address.ok_or("`regreen serve` prints no address")?))
    }
}
