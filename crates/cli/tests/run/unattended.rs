//! Unattended runs: what they waste, lose and leave behind.

use std::fs;
use std::process::{Command, Stdio};

use snapbox::str;

use regreen_test_support::{PROGRESS, STATE, TASKS, Workspace, wait_until};

const NEVER: &str = "*) echo x >>tried
    printf 'Task %s: It FAILED\\n- Error: it is broken %s\\n' $REGREEN_TASK_ID $REGREEN_TASK_ID ;;";

fn fixes_in(workspace: &Workspace) -> usize {
    workspace.text(TASKS).matches("[FIX ").count()
}

#[test]
fn no_fix_is_written_that_the_run_has_no_attempt_left_for() {
    let workspace = Workspace::with_tasks("- [ ] 1.1 It\n  - **Verify**: `true`\n").agent(NEVER);
    workspace
        .run(&["--recovery-mode", "--max-global-iterations=3"])
        .exits(1)
        .mentions("ended: limit");
    // The third attempt was at the second fix, and the run has none left.
    assert_eq!(fixes_in(&workspace), 2, "{}", workspace.text(TASKS));
    let progress = workspace.text(PROGRESS);
    assert!(
        progress.contains("- Task 1.1: 1 fix attempted (1.1.1)"),
        "{progress}"
    );
    assert!(
        progress.contains("- Task 1.1.1: 1 fix attempted (1.1.1.1)"),
        "{progress}"
    );
}

#[test]
fn after_a_depth_limit_another_run_writes_no_further_fix() {
    let workspace = Workspace::with_tasks("- [ ] 1.1 It\n  - **Verify**: `true`\n").agent(NEVER);
    let run = || workspace.run(&["--recovery-mode"]).exits(1).message;
    assert_eq!(
        run(),
        "ERROR: Max fix depth (3) reached at task 1.1.1.1.1\n"
    );
    let plan = workspace.text(TASKS);
    assert_eq!(
        run(),
        "ERROR: Max fix depth (3) reached at task 1.1.1.1.1\n"
    );
    assert_eq!(workspace.text(TASKS), plan);
}

#[test]
fn a_superseded_fix_is_neither_attempted_nor_done() {
    let workspace = Workspace::with_tasks(
        "- [ ] 1.1 It\n  - **Verify**: `test -f good`\n- [ ] 1.1.1 [FIX 1.1] Old\n",
    )
    .agent(
        "1.1.1:*) echo TASK_COMPLETE ;;
         1.1:*) touch good; echo TASK_COMPLETE ;;",
    );
    workspace.regreen(&["skip", "1.1.1"]).exits(0);
    workspace
        .run_as_text(&["--recovery-mode"])
        .exits(0)
        .mentions("Fixes  0 of 1 done");
    workspace
        .regreen(&["status"])
        .mentions("0 of 1 fixes done")
        .mentions("SKIP");
    assert!(!workspace.text(PROGRESS).contains("attempted"));
}

#[test]
fn six_fixes_get_the_attempts_that_they_need() {
    let workspace = Workspace::with_tasks("- [ ] 1.1 It\n  - **Verify**: `test -f good`\n").agent(
        "1.1:*) echo TASK_COMPLETE ;;
         1.1.6:*) touch good; echo TASK_COMPLETE ;;
         *) echo TASK_COMPLETE ;;",
    );
    workspace
        .run(&["--recovery-mode", "--max-fix-tasks=6"])
        .exits(0);
    assert_eq!(fixes_in(&workspace), 6);
}

/// A tool that never exists.
const MISSING: &str = "- [ ] 1.1 It\n  - **Verify**: `zqmissing --all`\n";

#[test]
fn what_is_missing_twice_is_not_tried_five_times() {
    let workspace = Workspace::with_tasks(MISSING).agent("*) echo TASK_COMPLETE ;;");
    let ended = workspace.run(&["--preflight=warn"]).exits(1);
    assert_eq!(
        ended.stdout.matches("1.1 attempt ").count(),
        2,
        "{}",
        ended.stdout
    );
    let message = ended.message;
    let expected = "ERROR: Max retries reached for task 1.1 after 2 attempts\n\
                    missing command, twice, with no file changed in between: ";
    assert!(message.starts_with(expected), "{message}");
    assert!(
        message.lines().count() >= 3,
        "it says what would help: {message}"
    );
}

#[test]
fn what_is_missing_is_tried_again_while_files_change() {
    let workspace = Workspace::with_tasks(MISSING).agent("*) echo x >>work; echo TASK_COMPLETE ;;");
    let ended = workspace.run(&["--preflight=warn"]).exits(1);
    let message = ended.message;
    assert_eq!(
        message,
        "ERROR: Max retries reached for task 1.1 after 5 attempts\n"
    );
}

#[test]
fn a_limit_of_one_run_does_not_stay_for_the_next() {
    let workspace = Workspace::with_tasks("- [ ] 1.1 It\n  - **Verify**: `true`\n").agent(NEVER);
    workspace
        .run(&["--max-global-iterations=2", "--max-task-iterations=9"])
        .exits(1);
    let state = workspace.text(STATE);
    assert!(state.contains("\"maxGlobalIterations\": 100"), "{state}");
    assert!(state.contains("\"maxTaskIterations\": 5"), "{state}");
    let message = workspace.run(&[]).exits(1).message;
    assert_eq!(
        message,
        "ERROR: Max retries reached for task 1.1 after 5 attempts\n"
    );
}

#[test]
fn the_next_run_goes_on_with_the_agent_of_the_last_and_another_one_with_a_notice() {
    let workspace = Workspace::with_tasks("- [ ] 1.1 It\n  - **Verify**: `test -f good`\n")
        .agent("1.1:1) echo TASK_COMPLETE ;; *) touch good; echo TASK_COMPLETE ;;");
    workspace.run(&["--max-task-iterations=1"]).exits(1);
    workspace
        .regreen(&["config"])
        .exits(0)
        .mentions("the spec's last run");
    workspace
        .regreen(&["run"])
        .exits(0)
        .mentions("note: continuing with the agent of the last run: command:sh [AGENT]/agent.sh");
    // A spec that is done keeps its agent.
    workspace
        .regreen(&["config"])
        .mentions("the spec's last run");
    // So a task of it that someone reopens gets the same agent.
    workspace.regreen(&["retry", "1.1"]).exits(0);
    workspace
        .regreen(&["run"])
        .exits(0)
        .mentions("note: continuing with the agent of the last run");
}

#[test]
fn a_paused_run_continues_with_another_agent_and_says_so() {
    let workspace = Workspace::with_tasks("- [ ] 1.1 It\n- [ ] 1.2 And it\n")
        .agent("1.1:*) echo done >made; touch $notes/at-work; sleep 60 ;;");
    let run = workspace.start(&[], "at-work");
    run.signal("TERM");
    run.wait().exits(143);
    let workspace = workspace.agent("*) echo $REGREEN_TASK_ID >>more; echo TASK_COMPLETE ;;");
    let other = format!("{} other", workspace.agent_flag());
    workspace
        .regreen(&["run", "--agent", &other])
        .exits(0)
        .mentions("the run began with the agent command:sh [AGENT]/agent.sh, and continues with");
}

#[test]
fn a_run_that_is_started_with_nohup_outlives_its_terminal() {
    let workspace = Workspace::with_tasks("- [ ] 1.1 It\n  - **Verify**: `test -f go`\n").agent(
        "*) touch $notes/at-work; while ! test -f go; do sleep 0.05; done; echo TASK_COMPLETE ;;",
    );
    let agent = workspace.agent_flag();
    let regreen = workspace.command(&["run", "--agent", &agent]);
    let mut nohup = Command::new("nohup");
    nohup.arg(regreen.get_program()).args(regreen.get_args());
    nohup.current_dir(workspace.path("."));
    nohup.envs(
        regreen
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    let mut run = nohup
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_until(|| workspace.has_note("at-work"));
    regreen_test_support::send_signal("HUP", run.id());
    fs::write(workspace.path("go"), "").unwrap();
    assert!(run.wait().unwrap().success());
    assert!(workspace.text(TASKS).starts_with("- [x]"));
}

#[test]
fn a_finished_run_leaves_a_clean_tree() {
    let tasks = "- [ ] 1.1 It\n  - **Verify**: `true`\n  - **Commit**: `feat: it`\n\
                 - [ ] 1.2 More\n  - **Verify**: `true`\n  - **Commit**: `feat: more`\n";
    let workspace = Workspace::in_git(tasks)
        .agent("*) echo x >$REGREEN_TASK_ID; echo TASK_COMPLETE ;;")
        .has_run(&[], 0);
    assert_eq!(workspace.git(&["status", "--porcelain"]), "");
    let history = workspace.history();
    let last = "* chore(demo): record progress\n\nM\tspecs/demo/.progress.md\n";
    assert!(history.ends_with(last), "{history}");
}

#[test]
fn all_commits_also_tasks_without_a_commit_field() {
    let tasks = "- [ ] 1.1 Write the parser\n  - **Verify**: `true`\n\
                 - [ ] 1.2 Say nothing\n  - **Verify**: `true`\n  - **Commit**: None\n";
    let agent = "*) echo x >$REGREEN_TASK_ID; echo TASK_COMPLETE ;;";
    let workspace = Workspace::in_git(tasks)
        .agent(agent)
        .has_run(&["--commit=all"], 0);
    let history = workspace.history();
    assert!(
        history.contains("* demo: 1.1 Write the parser\n\nA\t1.1\n"),
        "{history}"
    );
    assert!(!history.contains("Say nothing"), "{history}");
    let workspace = Workspace::in_git(tasks).agent(agent).has_run(&[], 0);
    assert_eq!(workspace.history().matches("* ").count(), 1);
}

#[test]
fn nothing_verified_is_not_called_green() {
    let workspace = Workspace::with_tasks("- [ ] 1.1 It\n- [ ] 1.2 And it\n")
        .agent("*) echo x >>made; echo TASK_COMPLETE ;;");
    workspace
        .run_as_text(&[])
        .exits(0)
        .mentions("done, 2 of 2 unverified")
        .mentions("regreen log 1.1")
        .omits("all tasks done");
    workspace
        .regreen(&["status"])
        .mentions("done, 2 of 2 unverified")
        .omits("all tasks done");
}

#[test]
fn strict_fails_what_nothing_verifies_before_the_agent_is_asked() {
    let workspace = Workspace::with_tasks("- [ ] 1.1 It\n").agent("*) echo TASK_COMPLETE ;;");
    workspace.run(&["--strict"]).shows(str![[r#"
ended: limit, 0 of 1 done, 0 of 100 attempts
ERROR: Task 1.1 can't pass with --strict: nothing verifies it. Add a Verify to it, or set a gate
--- exit code 1

"#]]);
    workspace.run(&["--strict", "--gate=true"]).exits(0);
}

#[test]
fn strict_fails_a_flaky_verify() {
    let tasks = "- [ ] 1.1 It\n  - **Verify**: `test -f again || { touch again; false; }`\n";
    let agent = "*) rm -f again; echo x >>made; echo TASK_COMPLETE ;;";
    let flaky = Workspace::with_tasks(tasks).agent(agent);
    flaky
        .run(&["--strict", "--max-task-iterations=1"])
        .exits(1)
        .mentions("flaky");
    let flaky = Workspace::with_tasks(tasks).agent(agent);
    flaky.run(&["--max-task-iterations=1"]).exits(0);
}

#[test]
fn open_rows_without_an_id_are_mentioned() {
    let tasks = "- [ ] 1.1 It\n  - **Verify**: `true`\n- [ ] 1.2 And it\n  - **Verify**: `true`\n- [ ] No id\n";
    let workspace = Workspace::with_tasks(tasks).agent("*) echo x >>made; echo TASK_COMPLETE ;;");
    let note = "1 open row has no id, so it is not run: line 5 (No id);";
    workspace.run_as_text(&[]).exits(0).mentions(note);
}

#[test]
fn stop_after_task_lets_the_task_finish() {
    let tasks =
        "- [ ] 1.1 It\n  - **Verify**: `test -f go`\n- [ ] 1.2 Next\n  - **Verify**: `true`\n";
    let workspace = Workspace::with_tasks(tasks).agent(
        "*) touch $notes/at-work; while ! test -f go; do sleep 0.05; done; echo TASK_COMPLETE ;;",
    );
    let run = workspace.start(&[], "at-work");
    workspace
        .regreen(&["stop", "--after-task"])
        .exits(0)
        .mentions("spec demo stops after its current task; `regreen run` resumes it then");
    workspace
        .regreen(&["status"])
        .mentions("stops after this task, on request");
    fs::write(workspace.path("go"), "").unwrap();
    run.wait()
        .exits(143)
        .mentions("stop: after_task")
        .mentions("1.1 verify green; done");
    assert!(workspace.text(TASKS).starts_with("- [x] 1.1"));
    assert!(workspace.text(TASKS).contains("- [ ] 1.2"));
    // The request was only for that run.
    workspace.run(&[]).exits(0);
    workspace
        .regreen(&["stop", "--after-task"])
        .mentions("no run is active here");
}

#[test]
fn what_is_done_again_after_undo_is_committed() {
    let tasks = "- [ ] 1.1 It\n  - **Verify**: `true`\n  - **Commit**: `feat: it`\n";
    let workspace = Workspace::in_git(tasks)
        .agent("*) echo $REGREEN_RUN >made; echo x >>old; echo TASK_COMPLETE ;;")
        .file("old", "one\n")
        .committed("old")
        .has_run(&[], 0);
    workspace.regreen(&["undo", "1.1"]).exits(0);
    assert!(
        !workspace.text(PROGRESS).contains("1.1"),
        "{}",
        workspace.text(PROGRESS)
    );
    workspace
        .regreen(&["status"])
        .mentions("1 task is open again")
        .omits("all tasks done");
    let workspace = workspace.agent("*) echo anew >made; echo y >>old; echo TASK_COMPLETE ;;");
    workspace
        .regreen(&["run"])
        .exits(0)
        .mentions("continuing with the agent of the last run")
        .omits("already had changes");
    assert_eq!(workspace.git(&["show", "HEAD~1:made"]), "anew\n");
    assert_eq!(workspace.git(&["status", "--porcelain"]), "");
}

#[test]
fn the_first_json_event_names_its_run() {
    let workspace = Workspace::with_tasks("- [ ] 1.1 It\n").agent("*) echo TASK_COMPLETE ;;");
    let agent = workspace.agent_flag();
    let output = workspace
        .command(&["run", "--agent", &agent, "--json"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let first: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(first["event"], "run_started");
    assert_eq!(
        first["run"].as_str(),
        workspace.runs().first().map(String::as_str)
    );
}
