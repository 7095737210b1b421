//! The history of failures across workspaces: `regreen stats`, `regreen history`, thresholds, and
//! that none of it can harm a run.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod delegations;
mod recall;
mod templates;

use std::path::Path;
use std::process::Command;

use regreen_test_support::{Output, Workspace};
use serde_json::Value;

const TASKS: &str = "\
- [ ] 1.1 Write it
  - **Verify**: `test -f out || { echo \"ModuleNotFoundError: No module named 'yamlx'\"; exit 1; }`
";

/// Passes at the second attempt.
const SECOND: &str = "1.1:1) echo TASK_COMPLETE ;; 1.1:*) touch out; echo TASK_COMPLETE ;;";

/// Workspaces of one user, who has one state folder and one configuration.
struct User {
    home: tempfile::TempDir,
}

impl User {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        Self { home }
    }

    fn configuration(self, text: &str) -> Self {
        let folder = self.home.path().join("config/regreen");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("config.toml"), text).unwrap();
        self
    }

    fn state(&self) -> std::path::PathBuf {
        self.home.path().join("state/regreen")
    }

    fn as_user(&self, mut command: Command) -> std::process::Output {
        command
            .env("XDG_STATE_HOME", self.home.path().join("state"))
            .env("XDG_CONFIG_HOME", self.home.path().join("config"))
            .output()
            .unwrap()
    }

    fn regreen(&self, workspace: &Workspace, arguments: &[&str]) -> Output {
        workspace.output(&self.as_user(workspace.command(arguments)))
    }

    #[track_caller]
    fn runs(&self, workspace: &Workspace, code: i32) -> Output {
        let agent = workspace.agent_flag();
        let arguments = [
            "run",
            "--agent",
            &agent,
            "--json",
            "--max-task-iterations",
            "2",
        ];
        self.regreen(workspace, &arguments).exits(code)
    }

    fn stats(&self, workspace: &Workspace, flags: &[&str]) -> Value {
        let arguments = [&["stats", "--json"], flags].concat();
        let output = self.as_user(workspace.command(&arguments));
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

fn workspace() -> Workspace {
    Workspace::with_tasks(TASKS).agent(SECOND)
}

fn count(statistics: &Value) -> (u64, u64, u64) {
    let number = |pointer: &str| statistics.pointer(pointer).unwrap().as_u64().unwrap();
    (
        number("/runs"),
        number("/tasks/count"),
        number("/failures/count"),
    )
}

#[test]
fn a_failure_in_two_workspaces_is_one_blocker() {
    let user = User::new();
    let (one, other) = (workspace(), workspace());
    user.runs(&one, 0);
    user.runs(&other, 0);
    let all = user.stats(&one, &[]);
    assert_eq!(count(&all), (2, 2, 2), "{all:#}");
    assert_eq!(all["workspaces"], 2);
    assert_eq!(all["tasks"]["first_pass"]["count"], 0);
    assert_eq!(all["tasks"]["passed"]["count"], 2);
    let blocker = &all["blockers"][0];
    assert_eq!(blocker["kind"], "missing_python_module");
    assert_eq!(
        (&blocker["count"], &blocker["workspaces"]),
        (&2.into(), &2.into())
    );
    assert_eq!(all["responses"][0]["response"], "another attempt");
    assert_eq!(all["responses"][0]["helped"]["count"], 2);
    assert_eq!(count(&user.stats(&one, &["--here"])), (1, 1, 1));
    assert_eq!(count(&user.stats(&one, &["--spec", "other"])), (0, 0, 0));
    let mut page = user.regreen(&one, &["stats"]).exits(0);
    for part in [
        "2 tasks in 2 runs of 2 workspaces",
        "0 % passed the first time · 2 of 2 that failed passed later · 100 % passed in the end",
        "missing Python module",
        "BLOCKER  ModuleNotFoundError: No module named 'yamlx'",
        "helped in 2 of 2",
    ] {
        page = page.mentions(part);
    }
}

#[test]
fn running_again_counts_nothing_twice() {
    let user = User::new();
    let test = workspace();
    user.runs(&test, 0);
    user.regreen(&test, &["run"]);
    assert_eq!(count(&user.stats(&test, &["--since", "all"])).2, 1);
}

#[test]
fn a_delegation_is_learnt_from_as_well() {
    let user = User::new();
    let test = Workspace::with_tasks(TASKS).child_agent("*) echo hello ;;");
    let agent = test.agent_flag();
    let verify = "echo 'zsh: command not found: frobx'; exit 127";
    user.regreen(
        &test,
        &[
            "delegate", "--agent", &agent, "--prompt", "Do it", "--verify", verify,
        ],
    );
    let all = user.stats(&test, &[]);
    assert_eq!(count(&all), (1, 1, 1), "{all:#}");
    assert_eq!(all["tasks"]["passed"]["count"], 0);
}

#[test]
fn the_user_and_the_repository_can_refuse_the_history() {
    let user = User::new();
    let test = workspace().file("regreen.toml", "history.record = false\n");
    user.runs(&test, 0);
    assert!(!user.state().join("history.db").exists());
    let user = User::new().configuration("history.record = false\n");
    user.runs(&workspace(), 0);
    assert!(!user.state().join("history.db").exists());
}

#[test]
fn what_is_forgotten_stays_forgotten_until_it_is_imported() {
    let user = User::new();
    let test = workspace();
    user.runs(&test, 0);
    let file = user.home.path().join("export.jsonl");
    let file = file.to_str().unwrap();
    user.regreen(&test, &["history", "export", file]).exits(0);
    user.regreen(&test, &["history", "export", file]).exits(2);
    user.regreen(&test, &["history", "forget"])
        .exits(0)
        .mentions("forgot 1 run of ");
    user.regreen(&test, &["run"]);
    assert_eq!(count(&user.stats(&test, &["--since", "all"])).2, 0);
    user.regreen(&test, &["history", "import", file])
        .exits(0)
        .prints("imported 1 run with 1 failure\n");
    assert_eq!(count(&user.stats(&test, &["--since", "all"])).2, 1);
}

#[test]
fn an_agent_can_not_forget_or_import_for_the_person() {
    let user = User::new();
    let test = workspace();
    for arguments in [
        &["history", "forget", "--all"][..],
        &["history", "import", "x"],
    ] {
        let mut command = test.command(arguments);
        command.env("REGREEN_KEEPER", "x");
        let output = test.output(&user.as_user(command));
        output.exits(2).mentions("decides for a person");
    }
}

#[test]
fn a_history_that_can_not_be_used_is_a_note_and_nothing_more() {
    let user = User::new();
    std::fs::create_dir_all(user.state()).unwrap();
    std::fs::write(
        user.state().join("history.db"),
        "this is not a database at all",
    )
    .unwrap();
    let test = workspace();
    user.runs(&test, 0)
        .mentions("cannot update the history of failures");
    user.regreen(&test, &["stats"])
        .exits(78)
        .mentions("the history is damaged");
    std::fs::remove_file(user.state().join("history.db")).unwrap();
    user.regreen(&test, &["run"]);
    assert_eq!(
        count(&user.stats(&test, &[])).2,
        1,
        "the next run catches up"
    );
}

#[test]
fn the_history_is_the_users_alone_and_has_no_secret() {
    use std::os::unix::fs::PermissionsExt as _;
    let user = User::new();
    let secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";
    let tasks = format!(
        "- [ ] 1.1 Write it\n  - **Verify**: `test -f out || {{ echo \"ValueError: bad key {secret}\"; exit 1; }}`\n"
    );
    let test = Workspace::with_tasks(&tasks).agent(SECOND);
    user.runs(&test, 0);
    let mode = user.state().metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let exported = user.as_user(test.command(&["history", "export"]));
    let exported = String::from_utf8(exported.stdout).unwrap();
    assert!(exported.contains("ValueError"), "{exported}");
    assert!(!exported.contains(secret), "{exported}");
    assert!(!contains(&user.state().join("history.db"), secret));
}

fn contains(file: &Path, text: &str) -> bool {
    let bytes = std::fs::read(file).unwrap();
    String::from_utf8_lossy(&bytes).contains(text)
}

#[test]
fn a_threshold_warns_in_the_run_tells_the_users_program_and_fails_the_check() {
    let user = User::new();
    let told = user.home.path().join("told");
    let user = user.configuration(&format!(
        "alert.tool_error = 1\non_alert = ['sh', '-c', 'cat >>{}']\n",
        told.display()
    ));
    let test = Workspace::with_tasks(TASKS).agent("*) echo TASK_COMPLETE ;;");
    let message = "2 failures of the category tool_error in 24 hours, more than 1";
    user.runs(&test, 1).mentions(message);
    let alerts: Value = serde_json::from_slice(&std::fs::read(&told).unwrap()).unwrap();
    assert_eq!(alerts["alerts"][0]["setting"], "alert.tool_error");
    assert_eq!(alerts["alerts"][0]["value"], 2);
    user.regreen(&test, &["stats", "--check"])
        .exits(1)
        .mentions(message);
    let elsewhere = Workspace::with_tasks(TASKS);
    user.regreen(&elsewhere, &["stats", "--check", "--here"])
        .exits(0);
}

#[test]
fn a_repository_may_not_choose_the_program_for_alerts() {
    let test = workspace().file("regreen.toml", "on_alert = ['touch', 'ran']\n");
    User::new()
        .regreen(&test, &["stats", "--check"])
        .exits(2)
        .mentions("a repository may not set `on_alert`");
}

#[test]
fn statistics_of_nothing_say_so_and_create_nothing() {
    let user = User::new();
    user.regreen(&workspace(), &["stats"])
        .exits(0)
        .mentions("none yet");
    assert!(!user.state().exists());
}
