//! Commands during a run.

use std::fs;

use snapbox::str;

use regreen_test_support::{BackgroundRun, TASKS, Workspace, send_signal, wait_until};

const TWO: &str = "- [ ] 1.1 Goes on\n  - **Verify**: `true`\n- [ ] 1.2 Later\n";

fn workspace() -> Workspace {
    Workspace::in_git(TWO)
        .file("specs/other/tasks.md", "- [ ] 7 Else\n")
        .file("specs/.current-spec", "demo\n")
        .committed("other")
        .agent("*) echo 'working on it'; touch made $notes/working; sleep 120 ;;")
}

fn end(run: BackgroundRun<'_>) {
    run.signal("KILL");
    run.wait();
}

#[test]
fn everything_can_be_looked_at() {
    let workspace = workspace();
    let run = workspace.start(&["demo"], "working");
    wait_until(|| !workspace.regreen(&["log", "1.1"]).stdout.is_empty());
    let before = own_files(&workspace);
    workspace.regreen(&["status"]).shows(str![[r#"
    SPEC  demo · 0 of 2 tasks done · specs/demo/tasks.md
     RUN  [RUN] · command:sh [AGENT]/agent.sh · running: process [PID], spec demo
          0 of 100 attempts

     RUN  1.1 Goes on                                             attempt 1 for 0s
    TODO  1.2 Later
--- exit code 0

"#]]);
    workspace.regreen(&["status", "other"]).shows(str![[r#"
    SPEC  other · 0 of 1 tasks done · specs/other/tasks.md
     RUN  none yet: `regreen run other` starts one
    WARN  another spec is running here: process [PID], spec demo

    TODO  7 Else
--- exit code 0

"#]]);
    workspace.regreen(&["log", "1.1"]).shows(str![[r#"
working on it
--- exit code 0

"#]]);
    workspace.regreen(&["why", "1.1"]).shows(str![[r#"
    TODO  1.1 Goes on

     RUN  [RUN] · command:sh [AGENT]/agent.sh
     RUN  attempt 1 · [MOMENT]
--- exit code 0

"#]]);
    workspace.regreen(&["diff", "1.1"]).shows(str![[r#"
--- standard error
  × attempt 1 of task 1.1 has not ended, so its changes are not known yet
  help: wait until it ends; if its run was killed, run `regreen run` to resume it
--- exit code 2

"#]]);
    workspace.regreen(&["diff", "1.1", "1"]).shows(str![[r#"
--- standard error
  × attempt 1 of task 1.1 has not ended, so its changes are not known yet
  help: wait until it ends; if its run was killed, run `regreen run` to resume it
--- exit code 2

"#]]);
    let json = workspace.regreen(&["status", "--json"]);
    for part in [
        "\"at_work\": {\n      \"process\": [PID],\n      \"spec\": \"demo\"\n    }",
        "\"current\": {\n        \"what\": \"attempt\",\n        \"attempt\": 1,\n        \"since\": \"[MOMENT]\",\n        \"until\": null\n      }",
    ] {
        assert!(json.stdout.contains(part), "{}", json.stdout);
    }
    assert_eq!(own_files(&workspace), before);
    end(run);
    workspace.regreen(&["status"]).shows(str![[r#"
    SPEC  demo · 0 of 2 tasks done · specs/demo/tasks.md
     RUN  [RUN] · command:sh [AGENT]/agent.sh · interrupted; `regreen run` resumes it
          0 of 100 attempts

    TODO  1.1 Goes on
    TODO  1.2 Later
--- exit code 0

"#]]);
}

/// Returns everything in regreen's folder except the files that SQLite shares between readers.
fn own_files(workspace: &Workspace) -> Vec<(String, Vec<u8>)> {
    let names = regreen_test_support::files_below(&workspace.path(".regreen"));
    let names = names.into_iter().filter(|name| !name.ends_with("-shm"));
    names
        .map(|name| {
            let bytes = fs::read(workspace.path(".regreen").join(&name)).unwrap();
            (name, bytes)
        })
        .collect()
}

#[test]
fn a_run_at_work_is_told_what_a_person_decides() {
    let workspace = workspace();
    let run = workspace.start(&["demo"], "working");
    workspace.regreen(&["skip", "1.2"]).shows(str![[r#"
told the run: skip 1.2; it does so as soon as its current step has ended (`regreen stop` ends that at once)
--- exit code 0

"#]]);
    for command in ["done", "retry"] {
        let output = workspace.regreen(&[command, "1.2"]);
        assert_eq!(output.code, Some(0), "{command}");
        let told = format!("told the run: {command} 1.2");
        assert!(output.stdout.contains(&told), "{}", output.stdout);
    }
    // It can't do anything about another spec, and the tree is its own.
    let output = workspace.regreen(&["skip", "7", "--spec", "other"]);
    assert_eq!(output.code, Some(2));
    assert_eq!(workspace.text(TASKS), TWO);
    end(run);
    // A dead holder holds nothing.
    wait_until(|| workspace.regreen(&["skip", "1.2"]).code == Some(0));
}

#[test]
fn changes_of_a_killed_run_are_not_undone_by_guess() {
    let workspace = workspace();
    let run = workspace.start(&["demo"], "working");
    let pid = run.pid();
    end(run);
    wait_until(|| !send_signal("0", pid));
    workspace.regreen(&["undo", "1.1"]).shows(str![[r#"
--- standard error
  × attempt 1 of task 1.1 has not ended, so its changes are not known yet
  help: wait until it ends; if its run was killed, run `regreen run` to resume it
--- exit code 2

"#]]);
    assert!(workspace.has("made"));
}
