//! Everything around a run that can go wrong: reported clearly, with the right exit code, and
//! without losing anything.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use snapbox::str;

use regreen_test_support::{
    PROGRESS, STATE, TASKS, Workspace, files_below, send_signal, wait_until,
};

const ONE: &str = "- [x] 1.1 Was done\n- [ ] 1.2 Is open\n  - **Verify**: `test -f out`\n";
const WORKER: &str = "*) touch out; echo TASK_COMPLETE ;;";

#[test]
fn a_spec_that_is_not_there() {
    let workspace = Workspace::with_tasks(ONE).agent(WORKER);
    workspace.run(&["login"]).shows(str![[r#"
--- standard error
  × spec or task file login not found
  help: choose one of these: demo
--- exit code 2

"#]]);
    assert!(!workspace.has(".regreen"));
}

#[test]
fn several_specs_and_none_is_chosen() {
    let workspace = Workspace::with_tasks(ONE)
        .file("specs/other/tasks.md", ONE)
        .agent(WORKER);
    workspace.run(&[]).shows(str![[r#"
--- standard error
  × several specs found, and none is selected
  help: choose one of these: demo, other
--- exit code 2

"#]]);
    // One of them can be made the current one.
    let workspace = workspace.file("specs/.current-spec", "other\n");
    assert_eq!(workspace.run(&[]).code, Some(0));
    assert_eq!(
        workspace.text("specs/other/tasks.md"),
        ONE.replace("[ ]", "[x]")
    );
    assert_eq!(workspace.text(TASKS), ONE);
}

#[test]
fn a_chosen_spec_that_is_gone() {
    let workspace = Workspace::with_tasks(ONE)
        .file("specs/.current-spec", "gone\n")
        .agent(WORKER);
    workspace.run(&[]).shows(str![[r#"
--- standard error
  × specs/.current-spec names the spec gone, which does not exist
  help: choose one of these: demo
--- exit code 2

"#]]);
}

#[test]
fn no_spec_at_all() {
    let workspace = Workspace::new().agent(WORKER);
    workspace.run(&[]).shows(str![[r#"
--- standard error
  × no spec found in [FOLDER]
  help: run `regreen init NAME` to create one
--- exit code 2

"#]]);
}

#[test]
fn a_file_without_tasks() {
    let workspace = Workspace::with_tasks("# Tasks\n\nNone yet.\n").agent(WORKER);
    workspace
        .run(&[])
        .and(&workspace, &[TASKS, STATE])
        .shows(str![[r#"
--- standard error
  × no runnable tasks in specs/demo/tasks.md
  help: write each task as a list item with a box: `- [ ] 1.1 Title`; run `regreen lint FILE` to see how regreen reads the file
--- exit code 2
--- specs/demo/tasks.md
# Tasks

None yet.
--- no specs/demo/.ralph-state.json

"#]]);
}

#[test]
fn a_state_file_that_is_not_json_is_kept_and_rebuilt() {
    let tasks = format!("{ONE}- [x] 1.2.1 [FIX 1.2] Fix: syntax error\n");
    let workspace = Workspace::with_tasks(&tasks)
        .file(STATE, "{\"taskIndex\": 1, oops")
        .file(&format!("{STATE}.corrupt-1"), "an older one")
        .agent("*) exit 1 ;;");
    let printed = workspace.run(&["--max-task-iterations=1"]);
    printed.and_spec(&workspace).shows(str![[r#"
  warning: specs/demo/.ralph-state.json was not JSON: key must be a string at line 1 column 18; kept it as specs/demo/.ralph-state.json.corrupt-2 and rebuilt it from the tasks
1.2 attempt 1 of 1; exit code 1; verify red; verify red; failed (runtime_exception): Verify failed: `test -f out` ended with exit code 1: out does not exist
ended: limit, 1 of 2 done, 1 of 1 fixes, 1 of 100 attempts
ERROR: Max retries reached for task 1.2 after 1 attempt
--- standard error
note: [FOLDER]/specs/demo/.ralph-state.json is not JSON: key must be a string at line 1 column 18; ignoring its limits
--- exit code 1
--- changes in specs/demo/tasks.md
--- no specs/demo/.progress.md
--- state {"taskIndex":1,"totalTasks":3,"taskIteration":1,"globalIteration":1,"recoveryMode":false,"fixTaskMap":{"1.2":{"attempts":1,"fixTaskIds":["1.2.1"],"lastError":"syntax error"}},"taskResults":{"1.1":"success","1.2":"failed","1.2.1":"success"}}

"#]]);
    assert_eq!(
        workspace.text(&format!("{STATE}.corrupt-1")),
        "an older one"
    );
    assert_eq!(
        workspace.text(&format!("{STATE}.corrupt-2")),
        "{\"taskIndex\": 1, oops"
    );
}

#[test]
fn a_state_file_that_the_agent_breaks_is_rebuilt() {
    let workspace = Workspace::with_tasks(ONE).agent(
        "*) echo broken >$REGREEN_SPEC_DIR/.ralph-state.json; touch out; echo TASK_COMPLETE ;;",
    );
    workspace.run(&["--keep-state"]).and_spec(&workspace).shows(str![[r#"
1.2 attempt 1 of 5; verify green; done
  warning: specs/demo/.ralph-state.json was not JSON: expected value at line 1 column 1; kept it as specs/demo/.ralph-state.json.corrupt-1 and rebuilt it from the tasks
ended: all_green, 2 of 2 done, 1 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.2 Is open
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.2 Is open
--- state {"taskIndex":2,"totalTasks":2,"taskIteration":1,"globalIteration":1,"recoveryMode":false,"fixTaskMap":{},"taskResults":{"1.1":"success","1.2":"success"}}

"#]]);
    assert_eq!(workspace.text(&format!("{STATE}.corrupt-1")), "broken\n");
}

#[test]
fn a_state_file_with_values_of_wrong_types() {
    let workspace = Workspace::with_tasks(ONE)
        .file(
            STATE,
            "{\"taskIndex\": \"one\", \"maxTaskIterations\": null, \"taskResults\": []}\n",
        )
        .agent("*) exit 1 ;;");
    let printed = workspace.run(&["--max-task-iterations=1"]);
    printed.and(&workspace, &[STATE]).shows(str![[r#"
1.2 attempt 1 of 1; exit code 1; verify red; verify red; failed (runtime_exception): Verify failed: `test -f out` ended with exit code 1: out does not exist
ended: limit, 1 of 2 done, 1 of 100 attempts
ERROR: Max retries reached for task 1.2 after 1 attempt
--- standard error
note: [FOLDER]/specs/demo/.ralph-state.json: taskIndex: expected a number, found text; using 0
note: [FOLDER]/specs/demo/.ralph-state.json: maxTaskIterations: expected a number, found null; using 5
note: [FOLDER]/specs/demo/.ralph-state.json: taskResults: expected an object, found a list; using {}
--- exit code 1
--- specs/demo/.ralph-state.json
{"taskIndex":1,"maxTaskIterations":5,"taskResults":{"1.1":{"status":"success"},"1.2":{"status":"failed"}},"phase":"execution","totalTasks":2,"taskIteration":1,"globalIteration":1,"maxGlobalIterations":100}

"#]]);
}

#[test]
fn a_task_file_that_is_not_text() {
    let workspace = Workspace::new()
        .file(TASKS, b"- [ ] 1.1 caf\xe9\n")
        .agent(WORKER);
    workspace.run(&[]).shows(str![[r#"
--- standard error
  × [FOLDER]/specs/demo/tasks.md is not UTF-8 text: line 1 has an invalid byte (at offset 13)
  help: convert the file to UTF-8, for example: iconv -f latin1 -t utf-8 OLD > NEW
--- exit code 2

"#]]);
    assert!(!workspace.has(".regreen"));
}

#[test]
fn a_second_run_in_the_same_tree_names_the_holder() {
    let workspace = Workspace::with_tasks(ONE).agent(
        "*) touch $notes/working; while [ ! -f out ]; do sleep 0.05; done; echo TASK_COMPLETE ;;",
    );
    let first = workspace.start(&[], "working");
    let second = workspace.run(&[]);
    assert!(second.stderr.contains("process [PID]"), "{}", second.stderr);
    second.shows(str![[r#"
--- standard error
  × another run is active here: process [PID], spec demo
  help: wait until it ends, stop it with `regreen stop`, or work in another tree: git worktree add ../another
--- exit code 2

"#]]);
    fs::write(workspace.path("out"), "").unwrap();
    first.wait().and_plan(&workspace).shows(str![[r#"
1.2 attempt 1 of 5; verify green; done
ended: all_green, 2 of 2 done, 1 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.2 Is open
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.2 Is open

"#]]);
}

#[test]
fn the_lock_of_a_run_that_was_killed_is_taken_over() {
    let workspace = Workspace::with_tasks(ONE).agent(
        "1.2:1) echo $$ >$notes/pid; touch $notes/working; sleep 300 ;;
         *) touch out; echo TASK_COMPLETE ;;",
    );
    let run = workspace.start(&[], "working");
    run.signal("KILL");
    assert_eq!(run.wait().code, None);
    let pid = workspace.note("pid").trim().parse().unwrap();
    wait_until(|| !send_signal("0", pid));
    workspace
        .run(&["--keep-state"])
        .and_spec(&workspace)
        .shows(str![[r#"
resumed
1.2 interrupted
1.2 attempt 1 of 5 (interrupted); verify green; done
ended: all_green, 2 of 2 done, 1 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.2 Is open
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.2 Is open
--- state {"taskIndex":2,"totalTasks":2,"taskIteration":1,"globalIteration":1,"recoveryMode":false,"fixTaskMap":{},"taskResults":{"1.1":"success","1.2":"success"}}

"#]]);
}

#[test]
fn a_journal_that_another_process_holds() {
    let workspace = Workspace::with_tasks(ONE).agent("*) exit 1 ;;");
    assert_eq!(workspace.run(&["--max-task-iterations=1"]).code, Some(1));
    let connection = rusqlite::Connection::open(workspace.path(".regreen/regreen.db")).unwrap();
    connection.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let workspace = workspace.agent(WORKER);
    workspace.run(&[]).and_plan(&workspace).shows(str![[r#"
--- standard error
  × another process is writing to the journal
  help: wait until the other process ends, then try again
--- exit code 78
--- changes in specs/demo/tasks.md
--- no specs/demo/.progress.md

"#]]);
    drop(connection);
    assert_eq!(workspace.run(&[]).code, Some(0));
}

#[test]
fn a_damaged_journal_is_set_aside_by_the_command_that_the_message_names() {
    let workspace = Workspace::with_tasks(ONE).agent("*) exit 1 ;;");
    assert_eq!(workspace.run(&["--max-task-iterations=1"]).code, Some(1));
    fs::write(
        workspace.path(".regreen/regreen.db"),
        "no database at all, but text".repeat(300),
    )
    .unwrap();
    let workspace = workspace.agent(WORKER);
    let printed = workspace.run(&[]);
    let help = printed.stderr.clone();
    printed.and_spec(&workspace).shows(str![[r#"
--- standard error
  × cannot use [FOLDER]/.regreen/regreen.db: the journal is damaged: file is not a database
  help: move it away, then run this command again; the task file and the state file are enough to resume
        mkdir -p .regreen/damaged && mv .regreen/regreen.db* .regreen/damaged
--- exit code 78
--- changes in specs/demo/tasks.md
--- no specs/demo/.progress.md
--- state {"taskIndex":1,"totalTasks":2,"taskIteration":1,"globalIteration":1,"recoveryMode":false,"fixTaskMap":{},"taskResults":{"1.1":"success","1.2":"failed"}}

"#]]);
    // The suggested command works.
    let command = help.lines().last().unwrap().trim();
    let mut sh = Command::new("sh");
    let status = sh
        .args(["-c", command])
        .current_dir(workspace.path("."))
        .status();
    assert!(status.unwrap().success(), "{command}");
    workspace.run(&[]).and_spec(&workspace).shows(str![[r#"
1.2 attempt 1 of 5; verify green; done
ended: all_green, 2 of 2 done, 1 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.2 Is open
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.2 Is open
--- no state

"#]]);
}

#[test]
fn a_folder_that_may_not_be_written() {
    let workspace = Workspace::with_tasks(ONE).agent(WORKER);
    fs::set_permissions(workspace.path("."), fs::Permissions::from_mode(0o555)).unwrap();
    let printed = workspace.run_as_ordinary_user();
    fs::set_permissions(workspace.path("."), fs::Permissions::from_mode(0o755)).unwrap();
    match printed {
        Some(printed) => printed.and_plan(&workspace).shows(str![[r#"
--- standard error
  × cannot create [FOLDER]/.regreen: Permission denied (os error 13)
  help: make [FOLDER]/.regreen writable: regreen keeps its journal there
--- exit code 78
--- changes in specs/demo/tasks.md
--- no specs/demo/.progress.md

"#]]),
        None => println!("skipped: cannot run as an ordinary user"),
    }
}

#[test]
fn a_spec_folder_that_may_not_be_written() {
    let workspace = Workspace::with_tasks(ONE).agent(WORKER);
    fs::set_permissions(
        workspace.path("specs/demo"),
        fs::Permissions::from_mode(0o555),
    )
    .unwrap();
    let printed = workspace.run_as_ordinary_user();
    fs::set_permissions(
        workspace.path("specs/demo"),
        fs::Permissions::from_mode(0o755),
    )
    .unwrap();
    match printed {
        Some(printed) => printed.and_plan(&workspace).shows(str![[r#"
--- standard error
  × cannot create [FOLDER]/specs/demo/.ralph-state.json: Permission denied (os error 13)
--- exit code 78
--- changes in specs/demo/tasks.md
--- no specs/demo/.progress.md

"#]]),
        None => println!("skipped: cannot run as an ordinary user"),
    }
}

/// A workspace on a disk of eight megabytes that the agent fills; later there is room again.
const SMALL_DISK: &str = r#"
mount -t tmpfs -o size=8m none "$FOLDER" && echo mounted || exit
cd "$FOLDER" && mkdir -p .git specs/demo && printf %s "$TASKS" >specs/demo/tasks.md
"$REGREEN" run --agent "$AGENT"; echo "exit code $?"
cat specs/demo/tasks.md
rm -f filler
"$REGREEN" run --agent "$AGENT"; echo "exit code $?"
cat specs/demo/tasks.md specs/demo/.progress.md
"#;

/// A workspace on a disk that is full from the start.
const FULL_DISK: &str = r#"
mount -t tmpfs -o size=1m none "$FOLDER" && echo mounted || exit
cd "$FOLDER" && mkdir -p .git specs/demo && printf %s "$TASKS" >specs/demo/tasks.md
"$REGREEN" run --agent "$AGENT"; echo "exit code $?"
ls -A
"#;

#[test]
fn a_disk_that_is_full_from_the_beginning_is_found_before_anything_is_created() {
    let workspace = Workspace::with_tasks(ONE).agent("*) touch out; echo TASK_COMPLETE ;;");
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("unshare");
    command
        .args([
            "--user",
            "--map-root-user",
            "--mount",
            "sh",
            "-c",
            FULL_DISK,
        ])
        .env("FOLDER", folder.path())
        .env("TASKS", ONE)
        .env("REGREEN", regreen_test_support::regreen())
        .env("AGENT", workspace.agent_flag())
        .env("HOME", folder.path());
    let said = match command.output() {
        Ok(output) if output.stdout.starts_with(b"mounted") => output.stdout,
        other => {
            println!("skipped: no small disk can be mounted here: {other:?}");
            return;
        }
    };
    let said = String::from_utf8(said).unwrap();
    assert_eq!(said, "mounted\nexit code 78\n.git\nspecs\n");
}

#[test]
fn a_disk_that_is_full_stops_the_run_and_loses_nothing() {
    let workspace = Workspace::with_tasks(ONE).agent(
        "1.2:1) touch out; dd if=/dev/zero of=filler bs=1024 2>/dev/null; echo TASK_COMPLETE ;;
         *) touch out; echo TASK_COMPLETE ;;",
    );
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("unshare");
    command
        .args(["--user", "--map-root-user", "--mount"])
        .args(["sh", "-c", SMALL_DISK])
        .env("FOLDER", folder.path())
        .env("TASKS", ONE)
        .env("REGREEN", regreen_test_support::regreen())
        .env("AGENT", workspace.agent_flag())
        .env("HOME", folder.path());
    let output = match command.output() {
        Ok(output) if String::from_utf8_lossy(&output.stdout).contains("mounted") => output,
        other => {
            println!("skipped: no small disk can be mounted here: {other:?}");
            return;
        }
    };
    let said =
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    snapbox::assert_data_eq!(
        workspace.plain(&said),
        str![[r#"
mounted
   START  demo · 2 tasks · command:sh [AGENT]/agent.sh
    WARN  less than 256 MB are free on this disk; logs and snapshots of a long run may fill it
    WARN  this folder is not in git: nothing is committed, and `regreen diff` and `regreen undo` have nothing to show; `git init` changes that
exit code 78
- [x] 1.1 Was done
- [ ] 1.2 Is open
  - **Verify**: `test -f out`
  RESUME  demo · 2 tasks · command:sh [AGENT]/agent.sh
   RETRY  1.2 the attempt was interrupted
          regreen or the machine stopped during the attempt
    PASS  [TIME] 1.2 Is open
     END  all tasks done                                          [RUN]

ALL_TASKS_COMPLETE
   Tasks  2 of 2 done in [TIME]
Attempts  2 made, 1 of 100 used
Unchecked  1 task was ticked before regreen first ran this list, and never checked: 1.1
    WARN  less than 256 MB are free on this disk; logs and snapshots of a long run may fill it
    WARN  this folder is not in git: nothing is committed, and `regreen diff` and `regreen undo` have nothing to show; `git init` changes that
    Next  have 1.1 done again and checked:  regreen retry 1.1
exit code 0
- [x] 1.1 Was done
- [x] 1.2 Is open
  - **Verify**: `test -f out`
## Completed Tasks
- [x] 1.2 Is open
  × the disk is full; cannot write the journal
  help: free some space and start again; nothing stored so far is lost

"#]]
    );
}

#[test]
fn a_refused_run_leaves_no_trace() {
    let workspace = Workspace::with_tasks(ONE)
        .file("regreen.toml", "agent = \"command:evil\"\n")
        .agent(WORKER);
    let before = files_below(&workspace.path("."));
    workspace
        .regreen(&["run"])
        .and(&workspace, &[TASKS, PROGRESS])
        .shows(str![[r#"
--- standard error
  × a repository may not choose the program to run as the agent
   ╭─[regreen.toml:1:9]
 1 │ agent = "command:evil"
   ·         ───────┬──────
   ·                ╰── only these are allowed here: auto, claude, codex, gemini, opencode, shell
   ╰────
  help: if you trust it, set `agent` in ~/.config/regreen/config.toml, or pass --agent 'command:PROGRAM ARGS'
--- exit code 2
--- specs/demo/tasks.md
- [x] 1.1 Was done
- [ ] 1.2 Is open
  - **Verify**: `test -f out`
--- no specs/demo/.progress.md

"#]]);
    assert_eq!(files_below(&workspace.path(".")), before);
}

/// A run that was killed while its agent was working on 1.2, and left no process behind.
fn killed_at_work() -> Workspace {
    let workspace = Workspace::with_tasks(ONE).agent(
        "1.2:1) echo $$ >$notes/pid; touch $notes/working; sleep 300 ;;
         *) touch out; echo TASK_COMPLETE ;;",
    );
    let run = workspace.start(&[], "working");
    run.signal("KILL");
    assert_eq!(run.wait().code, None);
    let pid = workspace.note("pid").trim().parse().unwrap();
    wait_until(|| !send_signal("0", pid));
    workspace
}

/// Removes what shows how the agent left the plan, as if its keeper had been killed as well.
fn forget_last_copy(workspace: &Workspace) {
    let scratch = workspace.path(".regreen/scratch");
    let copy = || {
        let names = files_below(&scratch).into_iter();
        names.map(|name| scratch.join(name)).find(|path| {
            let name = path.file_name().unwrap().to_string_lossy();
            name.starts_with("plan-left-") && path.extension().is_none()
        })
    };
    wait_until(|| copy().is_some());
    fs::remove_file(copy().unwrap()).unwrap();
}

#[test]
fn edits_made_after_a_kill_are_kept_beside_if_they_may_be_the_agents() {
    let workspace = killed_at_work();
    forget_last_copy(&workspace);
    let persons = workspace
        .text(TASKS)
        .replace("test -f out", "test -f other");
    fs::write(workspace.path(TASKS), &persons).unwrap();
    let printed = workspace.run(&[]);
    assert_eq!(
        printed.code,
        Some(0),
        "{}{}",
        printed.stdout,
        printed.stderr
    );
    assert!(printed.stdout.contains("a person may have made them"));
    let kept = files_below(&workspace.path(".regreen/runs"));
    let kept = kept.iter().find(|path| path.ends_with("1.2/1.plan.md"));
    let kept = format!(".regreen/runs/{}", kept.unwrap());
    assert!(
        printed
            .stdout
            .contains(&format!("kept as {}", workspace.plain(&kept)))
    );
    assert_eq!(workspace.text(&kept), persons);
}

#[test]
fn a_task_called_done_after_a_kill_stays_done() {
    let workspace = killed_at_work();
    assert_eq!(workspace.regreen(&["done", "1.2"]).code, Some(0));
    let printed = workspace.run(&[]);
    assert_eq!(
        printed.code,
        Some(0),
        "{}{}",
        printed.stdout,
        printed.stderr
    );
    assert!(workspace.text(TASKS).contains("- [x] 1.2 Is open"));
    // Nothing had to be reverted.
    printed.omits("1.2 attempt").omits("kept as");
}

#[test]
fn the_name_of_a_spec_cannot_write_on_the_terminal() {
    let workspace = Workspace::new()
        .file("specs/a\u{1b}[2J\nspec b/tasks.md", ONE)
        .agent(WORKER);
    for printed in [
        workspace.run_as_text(&["--dry-run"]),
        workspace.regreen(&["status"]),
    ] {
        assert_eq!(printed.code, Some(0), "{}", printed.stderr);
        let first = printed.stdout.lines().next().unwrap_or_default();
        assert!(first.contains("spec b"), "{first}");
        assert!(!printed.stdout.contains('\u{1b}'));
    }
}
