//! Time limits, a missing agent, and requests to stop.

use std::fs;

use snapbox::str;

use regreen_test_support::{TASKS, Workspace, send_signal, wait_until};

const TWO: &str =
    "- [ ] 1.1 First\n  - **Verify**: `true`\n- [ ] 1.2 Second\n  - **Verify**: `true`\n";

#[test]
fn an_agent_that_takes_too_long_is_ended_and_has_the_same_time_again() {
    let workspace =
        Workspace::with_tasks(TWO).agent("*) echo working; sleep 60; echo TASK_COMPLETE ;;");
    let flags = ["--timeout=0.3s", "--max-task-iterations=3"];
    workspace.run(&flags).and_spec(&workspace).shows(str![[r#"
1.1 attempt 1 of 3; timed out; failed (timeout_with_progress): The agent did not finish within 300ms
1.1 attempt 2 of 3; timed out; failed (timeout_with_progress): The agent did not finish within 300ms
1.1 attempt 3 of 3; timed out; failed (timeout_with_progress): The agent did not finish within 300ms
ended: limit, 0 of 2 done, 3 of 100 attempts
ERROR: Max retries reached for task 1.1 after 3 attempts
--- exit code 1
--- changes in specs/demo/tasks.md
--- no specs/demo/.progress.md
--- state {"taskIndex":0,"totalTasks":2,"taskIteration":3,"globalIteration":3,"recoveryMode":false,"fixTaskMap":{},"taskResults":{"1.1":"failed","1.2":"pending"}}

"#]]);
}

#[test]
fn an_agent_that_signals_and_then_hangs_has_not_ended() {
    let workspace = Workspace::with_tasks(TWO).agent("*) echo TASK_COMPLETE; sleep 60 ;;");
    let flags = ["--timeout=0.3s", "--max-task-iterations=1"];
    workspace.run(&flags).and_plan(&workspace).shows(str![[r#"
1.1 attempt 1 of 1; timed out; failed (timeout_with_progress): The agent did not finish within 300ms
ended: limit, 0 of 2 done, 1 of 100 attempts
ERROR: Max retries reached for task 1.1 after 1 attempt
--- exit code 1
--- changes in specs/demo/tasks.md
--- no specs/demo/.progress.md

"#]]);
}

#[test]
fn an_agent_that_is_not_there_stops_the_run_at_once() {
    let workspace = Workspace::with_tasks(TWO);
    let output = workspace.regreen(&["run", "--agent", "command:no-such-agent --fast"]);
    output.and_spec(&workspace).shows(str![[r#"
--- standard error
  × the agent's program `no-such-agent` is not installed or not in PATH; `regreen agents` lists the agents that are, and `--agent` chooses one
--- exit code 78
--- changes in specs/demo/tasks.md
--- no specs/demo/.progress.md
--- no state

"#]]);
    // Once the agent is installed, the run starts.
    let workspace = workspace.agent("*) echo TASK_COMPLETE ;;");
    workspace
        .run_as_text(&[])
        .and_spec(&workspace)
        .shows(str![[r#"
   START  demo · 2 tasks · command:sh [AGENT]/agent.sh
    WARN  this folder is not in git: nothing is committed, and `regreen diff` and `regreen undo` have nothing to show; `git init` changes that
    PASS  [TIME] 1.1 First
    PASS  [TIME] 1.2 Second
     END  all tasks done                                          [RUN]

ALL_TASKS_COMPLETE
   Tasks  2 of 2 done in [TIME]
Attempts  2 of 100
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.1 First
x - [x] 1.2 Second
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 First
- [x] 1.2 Second
--- no state

"#]]);
}

/// A running agent, with children that refuse to end.
const STUBBORN: &str = "1.1:1) trap '' TERM
         sleep 300 & echo $! >$notes/pids
         setsid sh -c 'trap \"\" TERM INT HUP; echo $$; sleep 301' >>$notes/pids &
         while [ $(wc -l <$notes/pids) -lt 2 ]; do sleep 0.01; done
         touch out $notes/working
         wait ;;
     *) echo TASK_COMPLETE ;;";

fn stopped_by(signal: &str) -> (Workspace, regreen_test_support::Output) {
    let workspace = Workspace::with_tasks(TWO).agent(STUBBORN);
    let run = workspace.start(&[], "working");
    run.signal(signal);
    let output = run.wait();
    assert_all_gone(&workspace);
    (workspace, output)
}

fn assert_all_gone(workspace: &Workspace) {
    for pid in workspace.note("pids").lines() {
        let pid = pid.parse().unwrap();
        wait_until(|| !send_signal("0", pid) || is_zombie(pid));
    }
}

fn is_zombie(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| stat.contains(") Z "))
}

#[test]
fn ctrl_c_saves_everything_ends_all_children_and_the_next_run_resumes() {
    let (workspace, output) = stopped_by("INT");
    output.and_spec(&workspace).shows(str![[r#"
1.1 attempt 1 of 5
stop: interrupt
1.1 interrupted; signal 9
ended: stopped, 0 of 2 done, 0 of 100 attempts
--- exit code 130
--- changes in specs/demo/tasks.md
--- no specs/demo/.progress.md
--- state {"taskIndex":0,"totalTasks":2,"taskIteration":1,"globalIteration":1,"recoveryMode":false,"fixTaskMap":{},"taskResults":{"1.1":"pending","1.2":"pending"}}

"#]]);
    workspace
        .run(&["--keep-state"])
        .and_spec(&workspace)
        .shows(str![[r#"
resumed
1.1 attempt 1 of 5 (interrupted); verify green; done
1.2 attempt 1 of 5; verify green; done
ended: all_green, 2 of 2 done, 2 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.1 First
x - [x] 1.2 Second
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 First
- [x] 1.2 Second
--- state {"taskIndex":2,"totalTasks":2,"taskIteration":1,"globalIteration":2,"recoveryMode":false,"fixTaskMap":{},"taskResults":{"1.1":"success","1.2":"success"}}

"#]]);
    let prompt = workspace.note("1.1-2.prompt");
    assert!(
        prompt.contains("## The last attempt was interrupted"),
        "{prompt}"
    );
}

#[test]
fn a_second_signal_ends_the_run_at_once() {
    let arms = STUBBORN.replace("trap '' TERM", "trap \"touch $notes/asked\" TERM");
    let workspace =
        Workspace::with_tasks(TWO).agent(&arms.replace("wait ;;", "wait; sleep 300 ;;"));
    let run = workspace.start(&[], "working");
    run.signal("INT");
    wait_until(|| workspace.has_note("asked"));
    run.signal("INT");
    let output = run.wait();
    // As in a shell: ended by the signal, unless everything was already over.
    assert!(matches!(output.code, None | Some(130)), "{:?}", output.code);
    assert_all_gone(&workspace);
    let output = workspace.run(&[]);
    assert_eq!(output.code, Some(0), "{}{}", output.stdout, output.stderr);
}

#[test]
fn a_shutdown_of_the_system_stops_the_run() {
    let (workspace, output) = stopped_by("TERM");
    output.and_spec(&workspace).shows(str![[r#"
1.1 attempt 1 of 5
stop: terminate
1.1 interrupted; signal 9
ended: stopped, 0 of 2 done, 0 of 100 attempts
--- exit code 143
--- changes in specs/demo/tasks.md
--- no specs/demo/.progress.md
--- state {"taskIndex":0,"totalTasks":2,"taskIteration":1,"globalIteration":1,"recoveryMode":false,"fixTaskMap":{},"taskResults":{"1.1":"pending","1.2":"pending"}}

"#]]);
}

#[test]
fn a_terminal_that_goes_away_means_the_same() {
    let (workspace, output) = stopped_by("HUP");
    output.and_spec(&workspace).shows(str![[r#"
1.1 attempt 1 of 5
stop: terminate
1.1 interrupted; signal 9
ended: stopped, 0 of 2 done, 0 of 100 attempts
--- exit code 143
--- changes in specs/demo/tasks.md
--- no specs/demo/.progress.md
--- state {"taskIndex":0,"totalTasks":2,"taskIteration":1,"globalIteration":1,"recoveryMode":false,"fixTaskMap":{},"taskResults":{"1.1":"pending","1.2":"pending"}}

"#]]);
}

#[test]
fn a_run_stopped_during_verify_verifies_when_resumed() {
    let workspace = Workspace::with_tasks("- [ ] 1.1 First\n  - **Verify**: `touch \"$NOTES/verifying\"; test -f ready || sleep 300`\n")
        .agent("*) touch out; echo TASK_COMPLETE ;;");
    let notes = workspace.agent_flag();
    let notes = notes
        .trim_start_matches("command:sh ")
        .trim_end_matches("/agent.sh");
    let tasks = workspace.text(TASKS).replace("$NOTES", notes);
    let workspace = workspace.file(TASKS, tasks);
    let run = workspace.start(&[], "verifying");
    run.signal("INT");
    run.wait().shows(str![[r#"
1.1 attempt 1 of 5
stop: interrupt
ended: stopped, 0 of 1 done, 1 of 100 attempts
--- exit code 130

"#]]);
    let workspace = workspace.file("ready", "");
    workspace.run(&[]).shows(str![[r#"
resumed
1.1 verify green; done
ended: all_green, 1 of 1 done, 1 of 100 attempts
--- exit code 0

"#]]);
}

#[test]
fn a_run_resumes_with_another_agent_only_if_asked_to() {
    let workspace = Workspace::in_git(TWO)
        .agent("1.1:1) echo x >mine; touch $notes/at-work; sleep 60 ;; *) echo TASK_COMPLETE ;;");
    let run = workspace.start(&[], "at-work");
    run.signal("KILL");
    run.wait();
    // The agent is not remembered on another machine, or after a cleanup.
    fs::remove_dir_all(workspace.note_path("state")).unwrap();
    let refused = workspace.regreen(&["run"]);
    assert_eq!(refused.code, Some(2));
    let said: Vec<&str> = refused.stderr.split_whitespace().collect();
    let said = said.join(" ").replace("│ ", "");
    for part in [
        "the unfinished run was started with the agent command:sh [AGENT]/agent.sh, not with shell",
        "choose one: --agent 'command:sh [AGENT]/agent.sh' or --agent 'shell'",
    ] {
        assert!(said.contains(part), "{said}");
    }
    // A change from an interrupted attempt may be a person's, and regreen says so.
    let output = workspace.run(&[]);
    output
        .exits(0)
        .mentions("attempt 1 of task 1.1 was interrupted, so everything");
}

const EPIC: &str = "specs/_epics/shop/.epic-state.json";
const INDEX: &str = "specs/.index/index-state.json";
const INDEX_PAGE: &str = "specs/.index/index.md";

/// A spec of an epic, in an index of all specs.
fn spec_of_an_epic() -> Workspace {
    let task = "- [ ] 1.1 Write it\n  - **Verify**: `test -f out`\n  - **Commit**: `feat: it`\n";
    Workspace::with_tasks(task)
        .file(
            "specs/demo/.ralph-state.json",
            r#"{"phase":"execution","epicName":"shop"}"#,
        )
        .file(
            EPIC,
            r#"{"name":"shop","specs":[{"name":"demo","status":"in_progress","dependencies":[]}]}"#,
        )
        .file(INDEX, r#"{"specs":[{"name":"demo","phase":"execution"}]}"#)
        .file(INDEX_PAGE, "| demo | ./specs | execution | 0/1 tasks |\n")
        .agent("*) touch out; echo TASK_COMPLETE ;;")
}

#[test]
fn smart_ralph_s_epic_and_index_learn_that_the_spec_is_done() {
    let workspace = spec_of_an_epic();
    workspace.run(&[]).exits(0);
    assert!(workspace.text(EPIC).contains(r#""status":"completed""#));
    let index = workspace.text(INDEX);
    assert!(index.contains(r#""phase":"completed""#), "{index}");
    let page = workspace.text(INDEX_PAGE);
    assert_eq!(page, "| demo | ./specs | completed | done |\n");
}

#[test]
fn the_closing_commit_has_the_epic_and_the_index_if_git_tracks_them() {
    let workspace = spec_of_an_epic().file(".gitignore", ".ralph-state.json\n");
    workspace.init_git();
    let workspace = workspace.committed("before");
    workspace.git(&["rm", "--cached", "--quiet", INDEX_PAGE]);
    workspace.git(&["commit", "--quiet", "-m", "not tracked"]);
    workspace.run(&[]).exits(0);
    let history = workspace.history();
    let last = "* chore(demo): record progress\n\n\
                M\tspecs/.index/index-state.json\n\
                M\tspecs/_epics/shop/.epic-state.json\n\
                A\tspecs/demo/.progress.md\n";
    assert!(history.ends_with(last), "{history}");
    assert_eq!(
        workspace.git(&["status", "--porcelain"]),
        "?? specs/.index/index.md\n"
    );
}

#[test]
fn an_index_that_the_user_was_changing_is_not_committed() {
    let workspace = spec_of_an_epic().file(".gitignore", ".ralph-state.json\n");
    workspace.init_git();
    let workspace = workspace
        .committed("before")
        .file(INDEX_PAGE, "mine\n| demo | ./specs | execution |  |\n");
    workspace
        .run_as_text(&[])
        .exits(0)
        .mentions("specs/.index/index.md");
    assert_eq!(
        workspace.git(&["status", "--porcelain"]),
        " M specs/.index/index.md\n"
    );
    assert_eq!(
        workspace.text(INDEX_PAGE),
        "mine\n| demo | ./specs | completed | done |\n"
    );
}
