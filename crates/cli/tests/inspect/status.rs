use std::fs;

use snapbox::str;

use regreen_test_support::{TASKS, Workspace};

const TREE: &str = "\
# Plan

- [x] 1.1 Was done
- [ ] 1.2 Fails
  - **Verify**: `cat good`
- [ ] 1.2.1 [FIX 1.2] Repair it
- [ ] 2 Group
  - [ ] 2.1 Inside
    - **Verify**: `true`
    - **Commit**: `feat: inside`
  - [ ] 2.2 Inside, too
- [ ]* 3 Only if asked for
";

#[test]
fn before_any_run_the_plan_is_shown_as_a_tree_and_nothing_is_made() {
    let workspace = Workspace::with_tasks(TREE);
    workspace.regreen(&["status"]).shows(str![[r#"
    SPEC  demo · 1 of 5 tasks done · 0 of 1 fixes done · specs/demo/tasks.md
     RUN  none yet: `regreen run` starts one

    PASS  1.1 Was done
    TODO  1.2 Fails                                               1/3 fixes
    TODO    1.2.1 Repair it
    TODO  2 Group
    TODO    2.1 Inside
    TODO    2.2 Inside, too
    TODO  3 Only if asked for (optional)
--- exit code 0

"#]]);
    assert!(!workspace.has(".regreen"));
}

#[test]
fn attempts_of_all_runs_are_counted() {
    let workspace = Workspace::in_git(TREE)
        .agent(
            "1.2:*) echo no >tried; echo TASK_COMPLETE ;;
             2.1:*) echo x >inside; echo TASK_COMPLETE ;;
             *) echo $REGREEN_TASK_ID >other; echo TASK_COMPLETE ;;",
        )
        .has_run(&["--max-task-iterations=2"], 1);
    workspace.regreen(&["status"]).shows(str![[r#"
    SPEC  demo · 1 of 5 tasks done · 1 of 1 fixes done · specs/demo/tasks.md
     RUN  [RUN] · command:sh [AGENT]/agent.sh · limit reached; `regreen run` tries once more
          ERROR: Max retries reached for task 1.2 after 2 attempts
          3 of 100 attempts

    PASS  1.1 Was done
    FAIL  1.2 Fails                                               2/2 attempts used · 1/3 fixes
          missing file
          cat: good: No such file or directory
    PASS    1.2.1 Repair it                                       unverified
    TODO  2 Group
    TODO    2.1 Inside
    TODO    2.2 Inside, too
    TODO  3 Only if asked for (optional)
--- exit code 0

"#]]);
    workspace.regreen(&["skip", "1.2"]).shows(str![[r#"
skipping 1.2 from now on; run `regreen retry 1.2` to reopen
--- exit code 0

"#]]);
    // At once, not only when the next run has applied it.
    workspace.regreen(&["status"]).shows(str![[r#"
    SPEC  demo · 1 of 5 tasks done · 1 of 1 fixes done · specs/demo/tasks.md
     RUN  [RUN] · command:sh [AGENT]/agent.sh · limit reached; `regreen run` tries once more
          ERROR: Max retries reached for task 1.2 after 2 attempts
          3 of 100 attempts

    PASS  1.1 Was done
    SKIP  1.2 Fails                                               2 attempts · 1/3 fixes
          missing file
          cat: good: No such file or directory
    PASS    1.2.1 Repair it                                       unverified
    TODO  2 Group
    TODO    2.1 Inside
    TODO    2.2 Inside, too
    TODO  3 Only if asked for (optional)
--- exit code 0

"#]]);
    let workspace = workspace.has_run(&["--max-task-iterations=2"], 1);
    workspace.regreen(&["retry", "1.2"]).shows(str![[r#"
reopened 1.2 and reset its attempts; run `regreen run` to try again
--- exit code 0

"#]]);
    workspace.regreen(&["status"]).shows(str![[r#"
    SPEC  demo · 4 of 5 tasks done · 1 of 1 fixes done · specs/demo/tasks.md
     RUN  [RUN] · command:sh [AGENT]/agent.sh · open tasks were skipped
          2 of 100 attempts

    PASS  1.1 Was done
    FAIL  1.2 Fails                                               2 attempts
          missing file
          cat: good: No such file or directory
    PASS    1.2.1 Repair it                                       unverified
    PASS  2 Group
    PASS    2.1 Inside                                            [HASH]
    PASS    2.2 Inside, too                                       unverified
    TODO  3 Only if asked for (optional)
--- exit code 0

"#]]);
    let workspace = workspace.file("good", "").has_run(&[], 0);
    workspace.regreen(&["status"]).shows(str![[r#"
    SPEC  demo · 5 of 5 tasks done · 1 of 1 fixes done · specs/demo/tasks.md
     RUN  [RUN] · command:sh [AGENT]/agent.sh · all tasks done, 1 of 3 unverified
          1 of 100 attempts

    PASS  1.1 Was done
    PASS  1.2 Fails                                               3 attempts
    PASS    1.2.1 Repair it                                       unverified
    PASS  2 Group
    PASS    2.1 Inside                                            [HASH]
    PASS    2.2 Inside, too                                       unverified
    TODO  3 Only if asked for (optional)
--- exit code 0

"#]]);
}

#[test]
fn for_scripts_there_is_json() {
    let tasks = "- [ ] 1.1 Odd \u{1b}[31m\u{202e}title\n  - **Verify**: `cat good`\n- [ ] 1.1.1 [FIX 1.1] Repair it\n- [ ] 1.1 Again\n";
    let workspace = Workspace::in_git(tasks)
        .agent("1.1.1:*) echo x >made; echo TASK_COMPLETE ;; *) echo TASK_COMPLETE ;;")
        .has_run(&["--max-task-iterations=1"], 1);
    workspace.regreen(&["status", "--json"]).shows(str![[r#"
{
  "v": 1,
  "spec": "demo",
  "file": "specs/demo/tasks.md",
  "originals": {
    "done": 0,
    "total": 2
  },
  "fixes": {
    "done": 1,
    "total": 1
  },
  "run": {
    "id": "[RUN]",
    "started": "[MOMENT]",
    "agent": "command:sh [AGENT]/agent.sh",
    "at_work": null,
    "outcome": "limit",
    "message": "ERROR: Max retries reached for task 1.1 after 1 attempt",
    "attempts_used": 2,
    "attempts_limit": 100,
    "waited_ms": 0,
    "max_wait_ms": 21600000,
    "spent": {
      "cost_micro_usd": null,
      "input_tokens": 0,
      "output_tokens": 0,
      "time_ms": [TIME]
    },
    "budget": {
      "cost_micro_usd": null,
      "tokens": null,
      "time_ms": null
    },
    "left_ms": null,
    "services": []
  },
  "other_run": null,
  "tasks": [
    {
      "id": "1.1",
      "occurrence": 0,
      "title": "Odd \u001b[31m\u202etitle",
      "kind": "task",
      "depth": 0,
      "below": null,
      "done": false,
      "optional": false,
      "superseded": false,
      "skipped": false,
      "parked": false,
      "question": null,
      "attempts": 1,
      "attempts_used": 1,
      "attempts_limit": 1,
      "fixes_used": 1,
      "fixes_limit": 3,
      "marks": [],
      "commit": null,
      "current": null,
      "failure": "Verify failed: `cat good` ended with exit code 1\ncat: good: No such file or directory"
    },
    {
      "id": "1.1.1",
      "occurrence": 0,
      "title": "Repair it",
      "kind": "fix",
      "depth": 1,
      "below": "1.1",
      "done": true,
      "optional": false,
      "superseded": false,
      "skipped": false,
      "parked": false,
      "question": null,
      "attempts": 1,
      "attempts_used": 1,
      "attempts_limit": 1,
      "fixes_used": 0,
      "fixes_limit": 3,
      "marks": [
        "unverified"
      ],
      "commit": null,
      "current": null,
      "failure": null
    },
    {
      "id": "1.1",
      "occurrence": 1,
      "title": "Again",
      "kind": "task",
      "depth": 0,
      "below": null,
      "done": false,
      "optional": false,
      "superseded": false,
      "skipped": false,
      "parked": false,
      "question": null,
      "attempts": 0,
      "attempts_used": 0,
      "attempts_limit": 1,
      "fixes_used": 0,
      "fixes_limit": 3,
      "marks": [],
      "commit": null,
      "current": null,
      "failure": null
    }
  ],
  "stops_after_task": false,
  "not_run": []
}
--- exit code 0

"#]]);
}

#[test]
fn a_list_without_ids_keeps_its_history_when_rows_move() {
    let workspace = Workspace::with_tasks("- [ ] First\n- [ ] Second\n")
        .agent("*) touch $REGREEN_ATTEMPT; echo TASK_COMPLETE ;;")
        .has_run(&[], 0);
    fs::write(
        workspace.path(TASKS),
        "- [ ] New\n- [x] Second\n- [x] First\n",
    )
    .unwrap();
    workspace.regreen(&["status"]).shows(str![[r#"
    SPEC  demo · 2 of 3 tasks done · specs/demo/tasks.md
     RUN  [RUN] · command:sh [AGENT]/agent.sh · ended; 1 task is open again, `regreen run` does the rest
          3 of 100 attempts

    TODO  1 New
    PASS  2 Second                                                2 attempts · unverified
    PASS  3 First                                                 unverified
--- exit code 0

"#]]);
    workspace.regreen(&["why", "3"]).shows(str![[r#"
    PASS  3 First

     RUN  [RUN] · command:sh [AGENT]/agent.sh
    PASS  [TIME] attempt 1 · [MOMENT]            unverified
          exit code 0, signalled completion
          changed 1 file
          log: regreen log 3 1
          no Verify to run
--- exit code 0

"#]]);
    workspace.regreen(&["why", "1"]).shows(str![[r#"
    TODO  1 New
          not attempted yet
--- exit code 0

"#]]);
}

#[test]
fn any_single_task_file_has_a_status() {
    let workspace =
        Workspace::with_tasks("").file("docs/todo.md", "- [ ] Buy milk\n- [ ] Drink it\n");
    let agent = "command:echo TASK_COMPLETE";
    let output = workspace.regreen(&["run", "docs/todo.md", "--agent", agent]);
    assert_eq!(output.code, Some(0), "{}{}", output.stdout, output.stderr);
    workspace
        .regreen(&["status", "docs/todo.md"])
        .shows(str![[r#"
    SPEC  todo · 2 of 2 tasks done · docs/todo.md
     RUN  [RUN] · command:echo TASK_COMPLETE · done, 2 of 2 unverified
          4 of 100 attempts

    PASS  1 Buy milk                                              2 attempts · unverified · nothing changed
    PASS  2 Drink it                                              2 attempts · unverified · nothing changed
--- exit code 0

"#]]);
    workspace
        .regreen(&["why", "2", "--spec", "docs/todo.md"])
        .shows(str![[r#"
    PASS  2 Drink it

     RUN  [RUN] · command:echo TASK_COMPLETE
     RUN  [TIME] attempt 1 · [MOMENT]
          exit code 0, signalled completion
          changed no file
          log: regreen log 2 1 --spec docs/todo.md
          no Verify to run
    PASS  [TIME] attempt 2 · [MOMENT]            unverified · nothing changed
          prompted that the last attempt changed nothing
          exit code 0, signalled completion
          changed no file
          log: regreen log 2 2 --spec docs/todo.md
          no Verify to run
--- exit code 0

"#]]);
    workspace
        .regreen(&["log", "1", "1", "--spec", "docs/todo.md"])
        .shows(str![[r#"
TASK_COMPLETE
--- exit code 0

"#]]);
}
