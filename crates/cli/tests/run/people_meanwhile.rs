//! What people do while no attempt runs is theirs, and is neither undone nor lost.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use regreen_test_support::{Output, TASKS, Workspace, wait_until};

const THREE: &str = "- [ ] 1.1 First
  - **Verify**: `test -f first`
  - **Commit**: `feat: first`
- [ ] 1.2 Second
  - **Verify**: `test -f second`
  - **Commit**: `feat: second`
- [ ] 1.3 Third
  - **Verify**: `test -f third`
  - **Commit**: `feat: third`
";

const WORKER: &str = "1.1:*) touch first; echo TASK_COMPLETE ;;
     1.2:*) touch second; echo TASK_COMPLETE ;;
     1.3:*) touch third; echo TASK_COMPLETE ;;";

fn edit_plan(workspace: &Workspace, edit: impl Fn(&str) -> String) {
    let edited = edit(&workspace.text(TASKS));
    fs::write(workspace.path(TASKS), edited).unwrap();
}

/// The agent does this, and kills regreen. Returns when its last process has ended.
fn killed_after(deed: &str) -> Workspace {
    let kill = "kill -9 $(grep PPid /proc/$PPID/status | cut -f2); sleep 60";
    let workspace = Workspace::with_tasks(THREE).agent(&format!("1.1:*) {deed}; {kill} ;;"));
    assert_eq!(workspace.run_as_text(&[]).code, None);
    wait_until(|| {
        let files = fs::read_dir(workspace.path(".regreen/scratch")).unwrap();
        let mut names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        names.any(|name| name.starts_with("plan-left-") && !name.ends_with(".new"))
    });
    workspace.agent(WORKER)
}

#[test]
fn what_people_edit_after_regreen_was_killed_is_theirs() {
    let workspace = killed_after("true");
    edit_plan(&workspace, |plan| {
        plan.replace("[ ] 1.2", "[x] 1.2")
            .replace("test -f third", "test -d .")
    });
    let resumed = workspace.run(&[]).exits(0).omits("revert");
    assert!(
        !resumed.stdout.contains("1.2 attempt"),
        "{}",
        resumed.stdout
    );
    assert!(workspace.text(TASKS).contains("test -d ."));
}

#[test]
fn what_the_agent_changed_before_it_killed_regreen_is_reverted() {
    let deed = "sed -i 's/test -f third/true/; s/\\[ \\] 1.2/[x] 1.2/' $tasks";
    let workspace = killed_after(deed);
    let resumed = workspace.run(&[]).exits(0);
    assert!(resumed.stdout.contains("1.2 attempt"), "{}", resumed.stdout);
    resumed.mentions("reverted the agent's change of its Verify");
    assert!(workspace.text(TASKS).contains("test -f third"));
}

/// Which change is whose can't be told: all are reverted, kept, and offered.
#[test]
fn what_both_changed_around_a_kill_is_offered() {
    let workspace = killed_after("sed -i 's/test -f third/true/' $tasks");
    edit_plan(&workspace, |plan| plan.replace("[ ] 1.2", "[x] 1.2"));
    let resumed = workspace.run(&[]).exits(0);
    assert!(resumed.stdout.contains("1.2 attempt"), "{}", resumed.stdout);
    resumed
        .mentions("its Verify was changed since the interrupted attempt began")
        .mentions("regreen accept-plan");
}

/// Another spec is run before the killed run is resumed.
#[test]
fn a_run_of_another_spec_does_not_make_the_agents_changes_peoples() {
    let workspace = killed_after("sed -i 's/- \\[ \\]/- [x]/' $tasks")
        .file(
            "specs/other/tasks.md",
            "- [ ] 1.1 Other\n  - **Verify**: `true`\n",
        )
        .agent("*) touch other; echo TASK_COMPLETE ;;");
    let agent = workspace.agent_flag();
    let other = workspace.regreen(&["run", "other", "--agent", &agent]);
    assert_eq!(other.code, Some(0), "{}{}", other.stdout, other.stderr);
    let resumed = workspace.regreen(&["run", "demo", "--agent", &agent, "--max-task-iterations=1"]);
    assert_eq!(
        resumed.code,
        Some(1),
        "{}{}",
        resumed.stdout,
        resumed.stderr
    );
    assert!(workspace.text(TASKS).contains("- [ ] 1.2"));
}

/// Someone saves the plan while regreen waits for a service, which is there then.
fn saved_while_waiting(edit: impl Fn(&str) -> String) -> (Workspace, Output) {
    saved_while_waiting_in(WAITING, edit)
}

fn saved_while_waiting_in(plan: &str, edit: impl Fn(&str) -> String) -> (Workspace, Output) {
    let refused = "curl: (7) Failed to connect to localhost port 80: Connection refused";
    let check = format!("test -f second || {{ echo '{refused}'; exit 7; }}\n");
    let workspace = Workspace::with_tasks(plan)
        .file("check.sh", check)
        .agent("*) touch first third; echo TASK_COMPLETE; touch $notes/began ;;");
    let run = workspace.start(&["--recovery-mode"], "began");
    wait_until(|| {
        let journal = workspace.command(&["journal"]).output().unwrap();
        String::from_utf8_lossy(&journal.stdout).contains("wait_started")
    });
    edit_plan(&workspace, edit);
    fs::write(workspace.path("second"), "").unwrap();
    let ended = run.wait();
    (workspace, ended)
}

const WAITING: &str = "- [ ] 1.1 First
  - **Verify**: `test -f first`
- [ ] 1.2 Second
  - **Verify**: `sh check.sh`
- [ ] 1.3 Third
  - **Verify**: `test -f third`
";

#[test]
fn an_old_copy_of_the_plan_that_an_editor_saves_undoes_no_tick() {
    let plan = format!("- [ ] 1.0 Before\n  - **Verify**: `test -f first`\n{WAITING}");
    let (workspace, ended) = saved_while_waiting_in(&plan, |_| plan.clone());
    let ended = ended.exits(0);
    for task in ["1.0", "1.1"] {
        let attempts = ended.stdout.matches(&format!("{task} attempt")).count();
        assert_eq!(attempts, 1, "{}", ended.stdout);
        assert!(workspace.text(TASKS).contains(&format!("- [x] {task}")));
    }
    ended
        .mentions("task 1.0 has passed, and an older copy of the task file was saved")
        .mentions("task 1.1 has passed, and an older copy of the task file was saved");
}

/// A person who empties the box that was ticked last leaves the same bytes as an editor that saves
/// an older copy, so regreen asks.
#[test]
fn whether_the_last_tick_was_undone_on_purpose_is_asked() {
    let untick = |plan: &str| plan.replace("- [x] 1.1", "- [ ] 1.1");
    for (answer, attempts) in [("done", 0), ("retry", 1)] {
        let (workspace, ended) = saved_while_waiting(untick);
        ended
            .exits(3)
            .mentions("`regreen done 1.1` to keep it, or `regreen retry 1.1` to do it again");
        assert!(workspace.text(TASKS).contains("- [ ] 1.1"));
        workspace.regreen(&[answer, "1.1"]).exits(0);
        let resumed = workspace.run(&["--recovery-mode"]).exits(0);
        let again = resumed.stdout.matches("1.1 attempt").count();
        assert_eq!(again, attempts, "{}", resumed.stdout);
        assert!(workspace.text(TASKS).contains("- [x] 1.1"));
    }
}

/// Any other file in which the box is open again is no older copy.
#[test]
fn a_row_that_a_person_unticks_after_a_later_one_was_ticked_is_open_again() {
    let plan = format!("- [ ] 1.0 Before\n  - **Verify**: `test -f first`\n{WAITING}");
    let untick = |plan: &str| plan.replace("- [x] 1.0", "- [ ] 1.0");
    let (_, ended) = saved_while_waiting_in(&plan, untick);
    let ended = ended.exits(0);
    let attempts = ended.stdout.matches("1.0 attempt").count();
    assert_eq!(attempts, 2, "{}", ended.stdout);
}

#[test]
fn a_row_that_a_person_unticks_and_edits_meanwhile_is_open_again() {
    let (_, ended) =
        saved_while_waiting(|plan| plan.replace("- [x] 1.1 First", "- [ ] 1.1 First, once more"));
    let ended = ended.exits(0);
    assert_eq!(
        ended.stdout.matches("1.1 attempt").count(),
        2,
        "{}",
        ended.stdout
    );
}

/// It may be what someone wants; but it is not checked again.
#[test]
fn finished_work_whose_row_is_removed_is_named_as_not_repeated() {
    let remove = |plan: &str| plan[plan.find("- [ ] 1.2").unwrap()..].to_owned();
    let (workspace, ended) = saved_while_waiting(remove);
    ended.exits(0);
    let events = workspace.note("stdout");
    assert!(events.contains(r#""why":"not_in_plan""#), "{events}");
}

/// A formatter among the commit hooks changes what must not change.
#[test]
fn what_changes_while_the_commit_hooks_run_is_not_called_the_agents() {
    let workspace = Workspace::in_git(THREE).agent(WORKER);
    let hook = workspace.path(".git/hooks/pre-commit");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    let format = format!("#!/bin/sh\nsed -i 's/^  - /  * /' {TASKS}; git add {TASKS}\n");
    fs::write(&hook, format).unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    workspace
        .run_as_text(&[])
        .exits(0)
        .mentions("while the commit hooks ran")
        .omits("the agent's change");
}

/// An editor or another git holds the index during regreen's first commit.
#[test]
fn an_index_that_another_program_held_is_up_to_date_in_the_end() {
    let workspace = Workspace::in_git(THREE).agent(
        "1.1:*) touch .git/index.lock; echo 1 >first; echo TASK_COMPLETE ;;
         1.2:*) rm -f .git/index.lock; echo 2 >second; echo TASK_COMPLETE ;;
         1.3:*) echo 3 >third; echo TASK_COMPLETE ;;",
    );
    let ran = workspace.run_as_text(&[]).exits(0);
    ran.mentions("if `git status` shows them then, run `git restore --staged .`");
    let status = workspace.git(&["status", "--porcelain", "--", "first", "second", "third"]);
    assert_eq!(status, "");
}

/// It stays: the message says how to mend it, and that helps.
#[test]
fn an_index_that_is_behind_is_named_with_the_way_out() {
    let tasks = &THREE[..THREE.find("- [ ] 1.2").unwrap()];
    let workspace = Workspace::in_git(tasks)
        .agent("1.1:*) touch .git/index.lock; echo 1 >first; echo TASK_COMPLETE ;;");
    workspace
        .run_as_text(&[])
        .mentions("git restore --staged .");
    fs::remove_file(workspace.path(".git/index.lock")).unwrap();
    assert_ne!(workspace.git(&["status", "--porcelain", "--", "first"]), "");
    workspace.git(&["restore", "--staged", "."]);
    assert_eq!(workspace.git(&["status", "--porcelain", "--", "first"]), "");
}

#[test]
fn a_file_that_is_too_large_for_snapshots_is_named_as_not_committed() {
    let tasks = &THREE[..THREE.find("- [ ] 1.2").unwrap()];
    let workspace = Workspace::in_git(tasks)
        .agent("1.1:*) truncate -s 101M big; echo 1 >first; echo TASK_COMPLETE ;;");
    workspace.run_as_text(&[]).exits(0).mentions(
        "big is too large (105906176 bytes): it is neither in the snapshot nor committed",
    );
    assert_eq!(workspace.git(&["ls-files", "big", "first"]), "first\n");
}

#[test]
fn the_heading_names_the_folder_of_the_commands_if_it_is_another() {
    let workspace = Workspace::in_git(THREE).agent(WORKER);
    let agent = workspace.agent_flag();
    let mut below = workspace.command(&["run", "--agent", &agent]);
    let output = below.current_dir(workspace.path("specs")).output().unwrap();
    let printed = workspace.output(&output).exits(0);
    let first = printed.stdout.lines().next().unwrap();
    assert!(first.ends_with(" · in [FOLDER]"), "{first}");
    let workspace = Workspace::in_git(THREE).agent(WORKER);
    workspace.run_as_text(&[]).exits(0).omits(" · in ");
}
