use std::fs;
use std::time::{Duration, Instant};

use snapbox::str;

use regreen_test_support::{Workspace, send_signal, wait_until};

/// An agent that refuses to end, with children that do too.
const STUBBORN: &str = "1.1:1) trap '' TERM
         sleep 300 & echo $! >$notes/pids
         setsid sh -c 'trap \"\" TERM INT HUP; echo $$; sleep 301' >>$notes/pids &
         while [ $(wc -l <$notes/pids) -lt 2 ]; do sleep 0.01; done
         touch out $notes/working
         wait ;;
     *) echo TASK_COMPLETE ;;";

/// The time that a run gives a child before killing it.
const GRACE: Duration = Duration::from_secs(1);

#[test]
fn a_run_stops_with_all_its_children_and_can_be_resumed() {
    let workspace = Workspace::with_tasks(
        "- [ ] 1.1 First\n  - **Verify**: `true`\n- [ ] 1.2 Second\n  - **Verify**: `true`\n",
    )
    .agent(STUBBORN);
    let run = workspace.start(&[], "working");
    let began = Instant::now();
    workspace.regreen(&["stop"]).shows(str![[r#"
stopped spec demo; run `regreen run` to resume
--- exit code 0

"#]]);
    let took = began.elapsed();
    assert_eq!(run.wait().code, Some(143));
    for pid in workspace.note("pids").lines() {
        let pid = pid.parse().unwrap();
        wait_until(|| !send_signal("0", pid) || is_zombie(pid));
    }
    // On an idle machine; a busy one gets more.
    let allowed = GRACE + Duration::from_secs(2) * busy();
    assert!(took < allowed, "{took:?}");
    workspace.regreen(&["status"]).shows(str![[r#"
    SPEC  demo · 0 of 2 tasks done · specs/demo/tasks.md
     RUN  [RUN] · command:sh [AGENT]/agent.sh · stopped; `regreen run` resumes it
          0 of 100 attempts

    TODO  1.1 First
    TODO  1.2 Second
--- exit code 0

"#]]);
    workspace.regreen(&["why", "1.1"]).shows(str![[r#"
    TODO  1.1 First

     RUN  [RUN] · command:sh [AGENT]/agent.sh
     RUN  [TIME] attempt 1 · [MOMENT]
          signal 9, interrupted
          printed nothing
          changed 1 file
          log: regreen log 1.1 1
     END  stopped
--- exit code 0

"#]]);
    workspace.run(&[]).shows(str![[r#"
resumed
1.1 attempt 1 of 5 (interrupted); verify green; done
1.2 attempt 1 of 5; verify green; done
ended: all_green, 2 of 2 done, 2 of 100 attempts
--- exit code 0

"#]]);
}

/// Returns how many times slower than on an idle machine a process is here.
fn busy() -> u32 {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split('.').next().and_then(|load| load.parse().ok());
    load.unwrap_or(0).max(1)
}

fn is_zombie(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| stat.contains(") Z "))
}

#[test]
fn without_a_run_there_is_nothing_to_stop() {
    let workspace = Workspace::with_tasks("- [ ] 1.1 First\n").agent("*) echo TASK_COMPLETE ;;");
    workspace.regreen(&["stop"]).shows(str![[r#"
no run is active here
--- exit code 0

"#]]);
    assert!(!workspace.has(".regreen"));
    let workspace = workspace.has_run(&[], 0);
    workspace.regreen(&["stop"]).shows(str![[r#"
no run is active here
--- exit code 0

"#]]);
}

#[test]
fn a_process_that_has_not_the_tree_is_left_alone() {
    let workspace = Workspace::with_tasks("- [ ] 1.1 First\n").agent("*) echo TASK_COMPLETE ;;");
    let workspace = workspace.has_run(&[], 0);
    // The content means nothing while no process holds the lock.
    let lock = format!("{}\nrun\ndemo\nspecs/demo/tasks.md\n", std::process::id());
    fs::write(workspace.path(".regreen/lock"), lock).unwrap();
    workspace.regreen(&["stop"]).shows(str![[r#"
no run is active here
--- exit code 0

"#]]);
    workspace.regreen(&["status"]).shows(str![[r#"
    SPEC  demo · 1 of 1 tasks done · specs/demo/tasks.md
     RUN  [RUN] · command:sh [AGENT]/agent.sh · done, 1 of 1 unverified
          2 of 100 attempts

    PASS  1.1 First                                               2 attempts · unverified · nothing changed
--- exit code 0

"#]]);
}

#[test]
fn the_command_to_resume_names_the_spec_where_there_are_several() {
    let workspace = Workspace::with_tasks("- [ ] 1.1 First\n")
        .file("specs/other/tasks.md", "- [ ] 1.1 First\n")
        .agent("1.1:1) touch $notes/working; sleep 300 ;;");
    let run = workspace.start(&["demo"], "working");
    workspace.regreen(&["stop"]).shows(str![[r#"
stopped spec demo; run `regreen run demo` to resume
--- exit code 0

"#]]);
    assert_eq!(run.wait().code, Some(143));
}
