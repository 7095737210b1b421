use snapbox::str;

use regreen_test_support::Workspace;

#[test]
fn the_story_of_a_task_is_in_order() {
    let workspace = Workspace::in_git(
        "- [ ] 1.1 Make it\n  - **Verify**: `seq 3; cat good`\n  - **Commit**: `feat: make it`\n\
         - [ ] 1.2 Comes later\n  - **Verify**: `true`\n- [ ] 1.3 Comes last\n",
    )
    .file("kept", "one\ntwo\n")
    .committed("kept")
    .agent(
        "1.1:1) echo 'I looked around.'; echo; echo 'It is too hard.'; echo three >>kept
                sed -i 's/seq 3; cat good/true/; s/\\[ \\] 1.2/[x] 1.2/; s/Comes last/& of all/' $tasks ;;
         1.1:2) echo TASK_COMPLETE; echo 'This requires manual work.' ;;
         1.1:3) printf 'Task 1.1: Make it FAILED\\n- Error: no paint\\n- Attempted fix: bought some\\n' ;;
         1.1:4) touch good; printf 'a\\n\\0b' >picture; rm kept; echo TASK_COMPLETE ;;
         *) echo $REGREEN_TASK_ID >made; echo TASK_COMPLETE ;;",
    )
    .has_run(&[], 0);
    workspace.regreen(&["why", "1.1"]).shows(str![[r#"
    PASS  1.1 Make it

     RUN  [RUN] · command:sh [AGENT]/agent.sh
    FAIL  [TIME] attempt 1 · [MOMENT]
          exit code 0, no completion signal
            | I looked around.
            |
            | It is too hard.
          plan: task 1.1 is being worked on: reverted the agent's changes to it
          plan: some of the agent's changes to the task file were reverted; its version is kept as .regreen/runs/[RUN]/1.1/1.plan.md; if they are yours, run `regreen accept-plan`
          plan: agent ticked 1.2 Comes later
          plan: agent changed 1.3 Comes last of all
          changed 2 files: regreen diff 1.1 1
            kept +1
            specs/demo/tasks.md +3 -3
          log: regreen log 1.1 1
          plan: 1.2 verified, stays ticked
          Verify failed: `seq 3; cat good` ended with exit code 1
            | 1
            | 2
            | 3
            | cat: good: No such file or directory
          Verify failed again
          missing file
          may help: Check the path
          may help: Create the file, or run the step that generates it
    FAIL  [TIME] attempt 2 · [MOMENT]
          prompted with the last failure
          exit code 0, signalled completion
            | TASK_COMPLETE
            | This requires manual work.
          its message contradicts that: requires manual
          changed no file
          log: regreen log 1.1 2
          CONTRADICTION: claimed completion while admitting failure: requires manual
    FAIL  [TIME] attempt 3 · [MOMENT]
          prompted with the last failure
          exit code 0, reported failure
            | Task 1.1: Make it FAILED
            | - Error: no paint
            | - Attempted fix: bought some
          changed no file
          log: regreen log 1.1 3
          no paint
          attempted fix: bought some
    PASS  [TIME] attempt 4 · [MOMENT]            [HASH]
          prompted with the last failure
          exit code 0, signalled completion
          changed 3 files: regreen diff 1.1 4
            good
            kept -3
            picture (binary)
          log: regreen log 1.1 4
          Verify passed
--- exit code 0

"#]]);
    workspace.regreen(&["why", "1.2"]).shows(str![[r#"
    PASS  1.2 Comes later

     RUN  [RUN] · command:sh [AGENT]/agent.sh
    PLAN  ticked by the agent in attempt 1 of 1.1
          verified, stays ticked
    PASS                                                          claimed by the agent
--- exit code 0

"#]]);
    workspace.regreen(&["why", "1.3", "--diff"]).shows(str![[r#"
    PASS  1.3 Comes last of all

     RUN  [RUN] · command:sh [AGENT]/agent.sh
    PLAN  changed by the agent in attempt 1 of 1.1
    PASS  [TIME] attempt 1 · [MOMENT]            unverified
          exit code 0, signalled completion
          changed 1 file: regreen diff 1.3 1
            made +1
            | diff --git a/made b/made
            | new file mode 100644
            | index 0000000..7e32cd5
            | --- /dev/null
            | +++ b/made
            | @@ -0,0 +1 @@
            | +1.3
          log: regreen log 1.3 1
          no Verify to run
--- exit code 0

"#]]);
}

#[test]
fn reminders_second_looks_and_hooks_are_part_of_it() {
    let workspace = Workspace::in_git(
        "- [ ] 1.1 Make it\n  - **Verify**: `test -f seen || { touch seen; echo not yet; exit 4; }`\n  - **Commit**: `feat: make it`\n",
    )
    .agent(
        "1.1:1) echo a >made; echo 'All is well.' ;;
         1.1:2) echo TASK_COMPLETE ;;
         1.1:3) echo b >made; echo TASK_COMPLETE ;;",
    )
    .file(
        ".git/hooks/pre-commit",
        "#!/bin/sh\ngrep -q b made || { echo 'made has no b'; exit 1; }\n",
    );
    let hook = workspace.path(".git/hooks/pre-commit");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(hook, mode).unwrap();
    let workspace = workspace.has_run(&[], 0);
    workspace.regreen(&["why", "1.1"]).shows(str![[r#"
    PASS  1.1 Make it

     RUN  [RUN] · command:sh [AGENT]/agent.sh
     RUN  [TIME] attempt 1 · [MOMENT]
          exit code 0, no completion signal
            | All is well.
          changed 1 file: regreen diff 1.1 1
            made +1
          log: regreen log 1.1 1
          Verify failed: `test -f seen || { touch seen; echo not yet; exit 4; }` ended with exit code 4
            | not yet
          Verify passed the second time: flaky
    FAIL  [TIME] attempt 2 · [MOMENT]
          reminded of the completion signal
          exit code 0, signalled completion
          changed no file
          log: regreen log 1.1 2
          Verify passed
          a commit hook refused the commit
            | made has no b
          made has no b
    PASS  [TIME] attempt 3 · [MOMENT]            [HASH]
          prompted with the last failure
          exit code 0, signalled completion
          changed 1 file: regreen diff 1.1 3
            made +1 -1
          log: regreen log 1.1 3
          Verify passed
--- exit code 0

"#]]);
}

#[test]
fn attempts_and_choices_of_older_runs_are_shown_with_their_run() {
    let workspace = Workspace::in_git("- [ ] 1.1 Make it\n  - **Verify**: `cat good`\n")
        .agent("*) date +%N >made; echo TASK_COMPLETE ;;")
        .has_run(&["--max-task-iterations=1"], 1);
    workspace.regreen(&["skip", "1.1"]).shows(str![[r#"
skipping 1.1 from now on; run `regreen retry 1.1` to reopen
--- exit code 0

"#]]);
    let workspace = workspace.has_run(&[], 1);
    workspace.regreen(&["retry", "1.1"]).shows(str![[r#"
reopened 1.1 and reset its attempts; run `regreen run` to try again
--- exit code 0

"#]]);
    let workspace = workspace.file("good", "").has_run(&[], 0);
    workspace.regreen(&["why", "1.1"]).shows(str![[r#"
    PASS  1.1 Make it

     RUN  [RUN] · command:sh [AGENT]/agent.sh
    FAIL  [TIME] attempt 1 · [MOMENT]
          exit code 0, signalled completion
          changed 1 file: regreen diff 1.1 1 --run [RUN]
            made +1
          log: regreen log 1.1 1 --run [RUN]
          Verify failed: `cat good` ended with exit code 1
            | cat: good: No such file or directory
          Verify failed again
          missing file
          may help: Check the path
          may help: Create the file, or run the step that generates it
     END  ERROR: Max retries reached for task 1.1 after 1 attempt

     RUN  [RUN] · command:sh [AGENT]/agent.sh
    SKIP  your choice

     RUN  [RUN] · command:sh [AGENT]/agent.sh
   RETRY  your choice, starting over
    PASS  [TIME] attempt 1 · [MOMENT]
          prompted with the last failure
          exit code 0, signalled completion
          changed 1 file: regreen diff 1.1 1
            made +1 -1
          log: regreen log 1.1 1
          Verify passed
--- exit code 0

"#]]);
    let first = workspace.runs()[0].clone();
    let way = ["log", "1.1", "1", "--run", &first];
    workspace.regreen(&way).shows(str![[r#"
TASK_COMPLETE
--- exit code 0

"#]]);
}

#[test]
fn a_task_that_an_agent_removed_says_who_did() {
    let workspace = Workspace::with_tasks(
        "- [ ] 1.1 Is first\n  - **Verify**: `true`\n- [ ] 1.2 Is removed\n  - **Verify**: `true`\n",
    )
    .agent(
        "1.1:1) sed -i '/1.2/,+1d' $tasks; exit 1 ;;
         1.1:2) sed -i '/1.2/,+1d' $tasks; echo TASK_COMPLETE ;;",
    )
    .has_run(&[], 1);
    workspace.regreen(&["why", "1.2"]).shows(str![[r#"
    SKIP  1.2 Is removed
          no longer in the file

     RUN  [RUN] · command:sh [AGENT]/agent.sh
    PLAN  removed by the agent and put back in attempt 1 of 1.1
    PLAN  removed again by the agent, so skipped, in attempt 2 of 1.1
    SKIP
--- exit code 0

"#]]);
}

#[test]
fn fixes_are_shown_with_the_task_that_they_fix() {
    let workspace = Workspace::in_git("- [ ] 1.1 Make it\n  - **Verify**: `cat good`\n")
        .agent(
            "1.1:*) echo try >made; echo TASK_COMPLETE ;;
             1.1.1:*) touch good; echo TASK_COMPLETE ;;",
        )
        .has_run(&["--recovery-mode"], 0);
    workspace.regreen(&["why", "1.1"]).shows(str![[r#"
    PASS  1.1 Make it
          fix 1.1.1 Fix: cat: good: No such file or directory (done)

     RUN  [RUN] · command:sh [AGENT]/agent.sh
    FAIL  [TIME] attempt 1 · [MOMENT]
          exit code 0, signalled completion
          changed 1 file: regreen diff 1.1 1
            made +1
          log: regreen log 1.1 1
          Verify failed: `cat good` ended with exit code 1
            | cat: good: No such file or directory
          Verify failed again
          missing file
          may help: Check the path
          may help: Create the file, or run the step that generates it
     FIX  1.1.1 added: `regreen why 1.1.1`
    PASS  Verify before the next attempt
          Verify passed
--- exit code 0

"#]]);
    workspace.regreen(&["why", "1.1.1"]).shows(str![[r#"
    PASS  1.1.1 Fix: cat: good: No such file or directory
          fixes 1.1 Make it

     RUN  [RUN] · command:sh [AGENT]/agent.sh
    PASS  [TIME] attempt 1 · [MOMENT]            [HASH]
          exit code 0, signalled completion
          changed 1 file: regreen diff 1.1.1 1
            good
          log: regreen log 1.1.1 1
          Verify passed
--- exit code 0

"#]]);
    workspace.regreen(&["status"]).shows(str![[r#"
    SPEC  demo · 1 of 1 tasks done · 1 of 1 fixes done · specs/demo/tasks.md
     RUN  [RUN] · command:sh [AGENT]/agent.sh · all tasks done
          2 of 100 attempts

    PASS  1.1 Make it
    PASS    1.1.1 Fix: cat: good: No such file or directory       [HASH]
--- exit code 0

"#]]);
}

#[test]
fn a_task_without_attempts_has_no_story() {
    let workspace = Workspace::with_tasks("- [ ] 1.1 Make it\n- [ ] 1.2 Again\n");
    workspace.regreen(&["why", "1.2"]).shows(str![[r#"
    TODO  1.2 Again
          not attempted yet
--- exit code 0

"#]]);
    workspace.regreen(&["why", "1.3"]).shows(str![[r#"
--- standard error
  × task 1.3 not found in specs/demo/tasks.md
  help: known tasks: 1.1, 1.2
--- exit code 2

"#]]);
    workspace.regreen(&["why", "what?"]).shows(str![[r#"
--- standard error
  × invalid task id `what?`
  help: ids look like 1.3, T012, V4 or US-001; run `regreen tasks list FILE` to list the ids in a file
--- exit code 2

"#]]);
}

#[test]
fn of_two_tasks_with_one_id_the_open_one_is_shown() {
    let tasks = "- [x] 1.1 Make it\n- [ ] 1.1 Make another\n  - **Verify**: `test -f no`\n";
    let workspace = Workspace::with_tasks(tasks).agent("*) echo x >>out; echo TASK_COMPLETE ;;");
    workspace.run(&["--max-task-iterations=1"]);
    workspace
        .regreen(&["why", "1.1"])
        .mentions("1.1 Make another")
        .mentions("2 tasks have the id 1.1; this is the one on line 2");
}

#[test]
fn of_two_tasks_with_one_id_each_has_its_own_story() {
    let workspace = Workspace::with_tasks("- [ ] 1.1 Make it\n- [ ] 1.1 Make it again\n")
        .agent("*) echo \"$prompt\" | grep -o 'Make it again' | head -n 1 >out; touch $(date +%N); echo TASK_COMPLETE ;;")
        .has_run(&[], 0);
    workspace.regreen(&["why", "1.1"]).shows(str![[r#"
    PASS  1.1 Make it

     RUN  [RUN] · command:sh [AGENT]/agent.sh
    PASS  [TIME] attempt 1 · [MOMENT]            unverified
          exit code 0, signalled completion
          changed 2 files
          log: regreen log 1.1 1
          no Verify to run
--- exit code 0

"#]]);
    workspace
        .regreen(&["why", "1.1", "--line", "2"])
        .shows(str![[r#"
    PASS  1.1 Make it again

     RUN  [RUN] · command:sh [AGENT]/agent.sh
    PASS  [TIME] attempt 1 · [MOMENT]            unverified
          exit code 0, signalled completion
          changed 2 files
          log: regreen log 1.1 1 --line 2
          no Verify to run
--- exit code 0

"#]]);
    workspace
        .regreen(&["why", "1.1", "--line", "3"])
        .shows(str![[r#"
--- standard error
  × task 1.1 is not on line 3 of specs/demo/tasks.md
  help: rows with that id are on lines: 1, 2
--- exit code 2

"#]]);
}
