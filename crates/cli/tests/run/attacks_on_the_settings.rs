//! Attempts at a false green through regreen.toml, which sets the gate: each fails.

use regreen_test_support::{Workspace, files_below};

const SETTINGS: &str = "regreen.toml";
const GATE: &str = "gate = \"test -f gated\"\n";
const PLAN: &str = "- [ ] 1.1 First
  - **Verify**: `sh check.sh`
- [ ] 1.2 Second
";

/// The attacks on the settings.
const ATTACKS: &[&str] = &[
    "echo 'gate = \"true\"' >regreen.toml",
    "rm regreen.toml",
    "rm regreen.toml; mkfifo regreen.toml",
    "rm regreen.toml; ln -s /dev/null regreen.toml",
];

/// The attack happens while the agent works on 1.1, or in the check of 1.1. The agent never does
/// 1.2.
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

/// The agent changes the gate and kills regreen, so that the change can't be reverted.
fn killed() -> Workspace {
    let kill = "kill -9 $(grep PPid /proc/$PPID/status | cut -f2); sleep 5";
    let workspace = workspace(ATTACKS[0], &format!("sh attack.sh; {kill}"));
    let told = workspace.run_as_text(&["--max-task-iterations=1"]);
    assert_eq!(told.code, None, "{}{}", told.stdout, told.stderr);
    assert_ne!(workspace.text(SETTINGS), GATE);
    workspace.agent("*) echo more >>second; echo TASK_COMPLETE ;;")
}

/// Runs the command after these words, as a person would paste it.
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

/// Otherwise the next run could be of a spec with nothing left to do.
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

/// The settings of smart-ralph's plugin name the folders with specs.
#[test]
fn an_agent_cannot_choose_where_specs_are() {
    let settings = ".claude/ralph-specum.local.md";
    let attack =
        format!("mkdir -p .claude; printf -- '---\\nspecs_dirs: [\"alt\"]\\n---\\n' >{settings}");
    let workspace = Workspace::with_tasks("- [ ] 1.1 First\n  - **Verify**: `test -f first`\n")
        .file("alt/demo/tasks.md", "- [x] 1.1 Done\n")
        .agent(&format!("*) {attack}; echo TASK_COMPLETE ;;"));
    for _ in 0..2 {
        let told = workspace.run_as_text(&["--max-task-iterations=1"]).exits(1);
        told.mentions("ralph-specum.local.md decides where specs are");
        assert!(!workspace.has(settings));
    }
}

/// The agent of 1.1 writes the file into the Files of 1.2. A person may write it there.
#[test]
fn only_files_as_people_wrote_them_permit_a_task_to_change_the_settings() {
    let tasks = "- [ ] 1.1 One
  - **Files**: `a`
- [ ] 1.2 Two
  - **Files**: `b`
";
    let attack = "echo 'gate = \"true\"' >regreen.toml";
    let workspace = Workspace::with_tasks(tasks)
        .file(SETTINGS, "gate = \"test ! -f bad\"\n")
        .agent(&format!(
            "1.1:*) touch a; sed -i 's/`b`/`b`, `regreen.toml`/' $tasks; echo TASK_COMPLETE ;;
             *) touch b bad; {attack}; echo TASK_COMPLETE ;;"
        ));
    for _ in 0..2 {
        let told = workspace.run_as_text(&["--max-task-iterations=1"]).exits(1);
        told.mentions("task 1.2 may not change regreen.toml");
        assert_eq!(workspace.text(SETTINGS), "gate = \"test ! -f bad\"\n");
    }
    let plan = workspace.text("specs/demo/tasks.md");
    let plan = plan.replace("`b`, `regreen.toml`", "`regreen.toml`, `b`");
    let workspace = workspace.file("specs/demo/tasks.md", plan);
    workspace.run_as_text(&["--max-task-iterations=1"]);
    assert_eq!(workspace.text(SETTINGS), "gate = \"true\"\n");
}

#[test]
fn settings_that_could_not_be_restored_are_for_a_person_to_accept() {
    let workspace = Workspace::with_tasks("- [ ] 1.1 One\n")
        .file(SETTINGS, "gate = \"test ! -f bad\"\n")
        .agent("*) touch bad; echo 'gate = \"true\"' >regreen.toml; chmod 555 .; echo TASK_COMPLETE ;;");
    let agent = workspace.agent_flag();
    let flags = ["run", "--agent", &agent, "--max-task-iterations=1"];
    let Some(told) = workspace.as_ordinary_user(&flags) else {
        return;
    };
    let said = format!("{}{}", told.stdout, told.stderr);
    told.exits(78);
    assert!(
        said.contains("regreen.toml was changed while a task ran"),
        "{said}"
    );
    let writable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(workspace.path(""), writable).unwrap();
    let told = workspace.as_ordinary_user(&flags).unwrap().exits(3);
    paste(&workspace, &told.stderr, "restore it: ");
    let workspace = workspace.agent("*) echo TASK_COMPLETE ;;");
    let told = workspace.as_ordinary_user(&flags).unwrap();
    told.exits(1).mentions("`test ! -f bad` ended with");
}

/// An agent can write the user's settings, where nobody would notice it.
#[test]
fn a_run_without_a_final_check_says_so() {
    let workspace = Workspace::with_tasks("- [ ] 1.1 One\n  - **Verify**: `true`\n")
        .agent("*) touch a; echo TASK_COMPLETE ;;");
    let told = workspace.run_as_text(&["--final-check", "off"]).exits(0);
    told.mentions("the final check is off");
}

#[test]
fn an_agent_cannot_turn_recovery_on_or_raise_the_limits_of_the_next_run() {
    let state = "{\"recoveryMode\": true, \"maxFixTasksPerOriginal\": 50}";
    let tasks = "- [ ] 1.1 Make it\n  - **Verify**: `test -f no`\n";
    let workspace = Workspace::with_tasks(tasks).agent(&format!(
        "*) echo '{state}' >$REGREEN_SPEC_DIR/.ralph-state.json; echo x >>out; echo TASK_COMPLETE ;;"
    ));
    workspace
        .run_as_text(&["--max-task-iterations=1"])
        .mentions("was changed in")
        .mentions("maxFixTasksPerOriginal, recoveryMode while a task ran")
        .exits(1);
    let stored = workspace.text("specs/demo/.ralph-state.json");
    assert!(!stored.contains("50"), "{stored}");
    assert!(
        !stored.replace(' ', "").contains("\"recoveryMode\":true"),
        "{stored}"
    );
}
