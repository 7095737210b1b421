//! Ways to a false green by regreen.toml, which names the gate: each fails.

use regreen_test_support::{Workspace, files_below};

const SETTINGS: &str = "regreen.toml";
const GATE: &str = "gate = \"test -f gated\"\n";
const PLAN: &str = "- [ ] 1.1 First
  - **Verify**: `sh check.sh`
- [ ] 1.2 Second
";

/// What is done to the settings.
const ATTACKS: &[&str] = &[
    "echo 'gate = \"true\"' >regreen.toml",
    "rm regreen.toml",
    "rm regreen.toml; mkfifo regreen.toml",
    "rm regreen.toml; ln -s /dev/null regreen.toml",
];

/// The agent attacks while it works on 1.1, or by the check of 1.1. It never does 1.2.
fn workspace(attack: &str, first: &str) -> Workspace {
    Workspace::with_tasks(PLAN)
        .file(SETTINGS, GATE)
        .file("attack.sh", attack)
        .file("check.sh", "true\n")
        .agent(&format!(
            "1.1:*) {first}; echo TASK_COMPLETE ;;
             *) echo more >>second; echo TASK_COMPLETE ;;"
        ))
}

#[test]
fn no_change_of_the_gate_makes_this_run_or_a_later_one_green() {
    for first in ["sh attack.sh", "cp attack.sh check.sh"] {
        for attack in ATTACKS {
            let workspace = workspace(attack, first);
            for run in 0..2 {
                let told = workspace.run_as_text(&["--max-task-iterations=1"]);
                let said = format!("{first}, {attack}, run {run}: {}", told.stdout);
                assert_eq!(told.code, Some(1), "{said}{}", told.stderr);
                assert!(said.contains("`test -f gated` ended with"), "{said}");
                assert_eq!(workspace.text(SETTINGS), GATE, "{said}");
                if run == 0 {
                    assert!(said.contains("regreen.toml decides how"), "{said}");
                }
            }
        }
    }
}

#[test]
fn the_changed_settings_are_kept() {
    let workspace = workspace(ATTACKS[0], "sh attack.sh");
    workspace.run_as_text(&["--max-task-iterations=1"]).exits(1);
    let own = workspace.path(".regreen/runs");
    let files = files_below(&own);
    let kept = files.iter().find(|file| file.ends_with(SETTINGS)).unwrap();
    let kept = format!(".regreen/runs/{kept}");
    assert_eq!(workspace.text(&kept), "gate = \"true\"\n");
}

#[test]
fn a_task_may_change_the_settings_if_its_files_name_them() {
    let tasks = "- [ ] 1.1 Set the gate\n  - **Files**: `regreen.toml`\n  - **Verify**: `true`\n";
    let workspace = Workspace::with_tasks(tasks)
        .agent("*) echo 'gate = \"true\"' >regreen.toml; echo TASK_COMPLETE ;;");
    workspace.run_as_text(&[]).exits(0).omits("decides how");
    assert_eq!(workspace.text(SETTINGS), "gate = \"true\"\n");
}

/// The agent changes the gate and kills regreen, so that nothing can be taken back.
fn killed() -> Workspace {
    let kill = "kill -9 $(grep PPid /proc/$PPID/status | cut -f2); sleep 5";
    let workspace = workspace(ATTACKS[0], &format!("sh attack.sh; {kill}"));
    let told = workspace.run_as_text(&["--max-task-iterations=1"]);
    assert_eq!(told.code, None, "{}{}", told.stdout, told.stderr);
    assert_ne!(workspace.text(SETTINGS), GATE);
    workspace.agent("*) echo more >>second; echo TASK_COMPLETE ;;")
}

/// Runs the command behind these words, as a person pastes it.
fn paste(workspace: &Workspace, stderr: &str, before: &str) {
    let command = stderr.split(before).nth(1).unwrap();
    let command = command.lines().next().unwrap();
    let status = std::process::Command::new("sh")
        .args(["-c", command])
        .current_dir(workspace.path(""))
        .status();
    assert!(status.unwrap().success(), "{command}");
}

#[test]
fn settings_that_changed_in_a_killed_run_are_for_a_person_to_accept() {
    let workspace = killed();
    let told = workspace.run_as_text(&["--max-task-iterations=1"]);
    let told = told.exits(3);
    assert!(told.stderr.contains("regreen.toml has changed since"));
    paste(&workspace, &told.stderr, "restore it: ");
    assert_eq!(workspace.text(SETTINGS), GATE);
    let resumed = workspace.run_as_text(&["--max-task-iterations=1"]);
    resumed.exits(1).mentions("`test -f gated` ended with");

    let workspace = killed();
    let told = workspace.run_as_text(&["--max-task-iterations=1"]);
    paste(&workspace, &told.stderr, "accept it: ");
    workspace.run_as_text(&[]).exits(0);
}

/// Otherwise the next run would be about a spec of which everything is done.
#[test]
fn an_agent_cannot_choose_the_next_spec() {
    for attack in ["echo other >specs/.current-spec", "rm specs/.current-spec"] {
        let workspace = Workspace::with_tasks("- [ ] 1.1 First\n  - **Verify**: `test -f first`\n")
            .file("specs/other/tasks.md", "- [x] 1.1 Done\n")
            .file("specs/.current-spec", "demo\n")
            .agent(&format!("*) {attack}; echo TASK_COMPLETE ;;"));
        for _ in 0..2 {
            let told = workspace.run_as_text(&["--max-task-iterations=1"]).exits(1);
            let said = "specs/.current-spec decides which spec is run";
            assert!(told.stdout.contains(said), "{attack}: {}", told.stdout);
            assert_eq!(workspace.text("specs/.current-spec"), "demo\n");
        }
    }
}
