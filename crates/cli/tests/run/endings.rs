//! Time limits, an agent that is not there, and people who ask to stop.

use std::fs;

use snapbox::str;

use crate::scene::{Scene, TASKS, kill, wait_until};

const TWO: &str =
    "- [ ] 1.1 First\n  - **Verify**: `true`\n- [ ] 1.2 Second\n  - **Verify**: `true`\n";

#[test]
fn an_agent_that_takes_too_long_is_ended_and_has_the_same_time_again() {
    let scene = Scene::new(TWO).agent("*) echo working; sleep 60; echo TASK_COMPLETE ;;");
    let flags = ["--timeout=0.3s", "--max-task-iterations=3"];
    scene.run(&flags).and_spec(&scene).shows(str![[r#"
run [RUN]: spec demo, agent command:sh [AGENT]/agent.sh
warning: this folder is not in git: nothing is committed, and regreen diff and regreen undo have nothing to show; git init changes that
1.1 First: attempt 1 of 3
1.1 First: attempt 1 of 3 failed after [TIME] (timeout): The agent was ended: it had not finished after 300ms
1.1 First: attempt 2 of 3
1.1 First: attempt 2 of 3 failed after [TIME] (timeout): The agent was ended: it had not finished after 300ms
1.1 First: attempt 3 of 3
1.1 First: attempt 3 of 3 failed after [TIME] (timeout): The agent was ended: it had not finished after 300ms
run [RUN] ended after [TIME]: a limit was reached (exit code 1)

Originals:       0 of 2 done
Attempts:        3 (limit 100)
Time:            [TIME]
Warnings:        1
Next:            `regreen why 1.1` tells how it failed
Next:            `regreen run` tries once more
--- standard error
ERROR: Max retries reached for task 1.1 after 3 attempts
--- exit code 1
--- specs/demo/tasks.md
- [ ] 1.1 First
  - **Verify**: `true`
- [ ] 1.2 Second
  - **Verify**: `true`
--- no specs/demo/.progress.md
--- specs/demo/.ralph-state.json
{
  "phase": "execution",
  "taskIndex": 0,
  "totalTasks": 2,
  "taskIteration": 3,
  "maxTaskIterations": 3,
  "globalIteration": 3,
  "maxGlobalIterations": 100,
  "recoveryMode": false,
  "maxFixTasksPerOriginal": 3,
  "fixTaskMap": {},
  "taskResults": {
    "1.1": "failed",
    "1.2": "pending"
  }
}

"#]]);
}

#[test]
fn an_agent_that_signals_and_then_hangs_has_not_ended() {
    let scene = Scene::new(TWO).agent("*) echo TASK_COMPLETE; sleep 60 ;;");
    let flags = ["--timeout=0.3s", "--max-task-iterations=1"];
    scene.run(&flags).and_plan(&scene).shows(str![[r#"
run [RUN]: spec demo, agent command:sh [AGENT]/agent.sh
warning: this folder is not in git: nothing is committed, and regreen diff and regreen undo have nothing to show; git init changes that
1.1 First: attempt 1 of 1
1.1 First: attempt 1 of 1 failed after [TIME] (timeout): The agent was ended: it had not finished after 300ms
run [RUN] ended after [TIME]: a limit was reached (exit code 1)

Originals:       0 of 2 done
Attempts:        1 (limit 100)
Time:            [TIME]
Warnings:        1
Next:            `regreen why 1.1` tells how it failed
Next:            `regreen run` tries once more
--- standard error
ERROR: Max retries reached for task 1.1 after 1 attempt
--- exit code 1
--- specs/demo/tasks.md
- [ ] 1.1 First
  - **Verify**: `true`
- [ ] 1.2 Second
  - **Verify**: `true`
--- no specs/demo/.progress.md

"#]]);
}

#[test]
fn an_agent_that_is_not_there_stops_the_run_at_once() {
    let scene = Scene::new(TWO);
    let told = scene.regreen(&["run", "--agent", "command:no-such-agent --fast"]);
    told.and_spec(&scene).shows(str![[r#"
run [RUN]: spec demo, agent command:no-such-agent --fast
warning: this folder is not in git: nothing is committed, and regreen diff and regreen undo have nothing to show; git init changes that
1.1 First: attempt 1 of 5
run [RUN] ended after [TIME]: the set-up must be fixed (exit code 78)

Originals:       0 of 2 done
Attempts:        1, of which 0 count (limit 100)
Time:            [TIME]
Warnings:        1
Next:            mend it, then `regreen run` goes on
--- standard error
The set-up must be fixed first: the agent's program no-such-agent cannot be started: No such file or directory (os error 2). Install it, or choose another with --agent
--- exit code 78
--- specs/demo/tasks.md
- [ ] 1.1 First
  - **Verify**: `true`
- [ ] 1.2 Second
  - **Verify**: `true`
--- no specs/demo/.progress.md
--- specs/demo/.ralph-state.json
{
  "phase": "execution",
  "taskIndex": 0,
  "totalTasks": 2,
  "taskIteration": 1,
  "maxTaskIterations": 5,
  "globalIteration": 1,
  "maxGlobalIterations": 100,
  "recoveryMode": false,
  "maxFixTasksPerOriginal": 3,
  "fixTaskMap": {},
  "taskResults": {
    "1.1": "pending",
    "1.2": "pending"
  }
}

"#]]);
    // Once it is there, the run goes on.
    let scene = scene.agent("*) echo TASK_COMPLETE ;;");
    scene.run(&[]).and_spec(&scene).shows(str![[r#"
run [RUN] goes on: spec demo, agent command:sh [AGENT]/agent.sh
1.1 First: attempt 1 of 5
1.1: verifying: true
1.1 First: done after [TIME]
1.2 Second: attempt 1 of 5
1.2: verifying: true
1.2 Second: done after [TIME]
run [RUN] ended after [TIME]: all tasks are done (exit code 0)

ALL_TASKS_COMPLETE
Originals:       2 of 2 done
Attempts:        3, of which 2 count (limit 100)
Time:            [TIME]
Warnings:        1
--- exit code 0
--- specs/demo/tasks.md
- [x] 1.1 First
  - **Verify**: `true`
- [x] 1.2 Second
  - **Verify**: `true`
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 First
- [x] 1.2 Second
--- no specs/demo/.ralph-state.json

"#]]);
}

/// An agent at work, with children that want to stay.
const STUBBORN: &str = "1.1:1) trap '' TERM
         sleep 300 & echo $! >$notes/pids
         setsid sh -c 'trap \"\" TERM INT HUP; echo $$; sleep 301' >>$notes/pids &
         while [ $(wc -l <$notes/pids) -lt 2 ]; do sleep 0.01; done
         touch out $notes/working
         wait ;;
     *) echo TASK_COMPLETE ;;";

fn stopped_by(signal: &str) -> (Scene, crate::scene::Told) {
    let scene = Scene::new(TWO).agent(STUBBORN);
    let run = scene.start(&[], "working");
    run.signal(signal);
    let told = run.ended();
    assert_all_gone(&scene);
    (scene, told)
}

fn assert_all_gone(scene: &Scene) {
    for pid in scene.note("pids").lines() {
        let pid = pid.parse().unwrap();
        wait_until(|| !kill("0", pid) || is_zombie(pid));
    }
}

fn is_zombie(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| stat.contains(") Z "))
}

#[test]
fn ctrl_c_saves_everything_ends_all_children_and_the_next_run_goes_on() {
    let (scene, told) = stopped_by("INT");
    told.and_spec(&scene).shows(str![[r#"
run [RUN]: spec demo, agent command:sh [AGENT]/agent.sh
warning: this folder is not in git: nothing is committed, and regreen diff and regreen undo have nothing to show; git init changes that
1.1 First: attempt 1 of 5
stopping: what runs is being ended; once more ends at once
1.1: the attempt was cut off: somebody asked to stop
run [RUN] ended after [TIME]: stopped, everything is saved (exit code 130)

Originals:       0 of 2 done
Attempts:        1, of which 0 count (limit 100)
Time:            [TIME]
Warnings:        1
Next:            `regreen run` goes on
--- standard error
Stopped. Everything is saved.
--- exit code 130
--- specs/demo/tasks.md
- [ ] 1.1 First
  - **Verify**: `true`
- [ ] 1.2 Second
  - **Verify**: `true`
--- no specs/demo/.progress.md
--- specs/demo/.ralph-state.json
{
  "phase": "execution",
  "taskIndex": 0,
  "totalTasks": 2,
  "taskIteration": 1,
  "maxTaskIterations": 5,
  "globalIteration": 1,
  "maxGlobalIterations": 100,
  "recoveryMode": false,
  "maxFixTasksPerOriginal": 3,
  "fixTaskMap": {},
  "taskResults": {
    "1.1": "pending",
    "1.2": "pending"
  }
}

"#]]);
    scene
        .run(&["--keep-state"])
        .and_spec(&scene)
        .shows(str![[r#"
run [RUN] goes on: spec demo, agent command:sh [AGENT]/agent.sh
1.1 First: attempt 1 of 5, the last one was cut off
1.1: verifying: true
1.1 First: done after [TIME]
1.2 Second: attempt 1 of 5
1.2: verifying: true
1.2 Second: done after [TIME]
run [RUN] ended after [TIME]: all tasks are done (exit code 0)

ALL_TASKS_COMPLETE
Originals:       2 of 2 done
Attempts:        3, of which 2 count (limit 100)
Time:            [TIME]
Warnings:        1
--- exit code 0
--- specs/demo/tasks.md
- [x] 1.1 First
  - **Verify**: `true`
- [x] 1.2 Second
  - **Verify**: `true`
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1 First
- [x] 1.2 Second
--- specs/demo/.ralph-state.json
{
  "phase": "execution",
  "taskIndex": 2,
  "totalTasks": 2,
  "taskIteration": 1,
  "maxTaskIterations": 5,
  "globalIteration": 2,
  "maxGlobalIterations": 100,
  "recoveryMode": false,
  "maxFixTasksPerOriginal": 3,
  "fixTaskMap": {},
  "taskResults": {
    "1.1": "success",
    "1.2": "success"
  }
}

"#]]);
    let prompt = scene.note("1.1-2.prompt");
    assert!(
        prompt.contains("## The attempt before this one was cut off"),
        "{prompt}"
    );
}

#[test]
fn whoever_asks_twice_does_not_wait() {
    let arms = STUBBORN.replace("trap '' TERM", "trap \"touch $notes/asked\" TERM");
    let scene = Scene::new(TWO).agent(&arms.replace("wait ;;", "wait; sleep 300 ;;"));
    let run = scene.start(&[], "working");
    run.signal("INT");
    wait_until(|| scene.has_note("asked"));
    run.signal("INT");
    let told = run.ended();
    // As the shell would have it: ended by the signal, unless all was over already.
    assert!(matches!(told.code, None | Some(130)), "{:?}", told.code);
    assert_all_gone(&scene);
    let told = scene.run(&[]);
    assert_eq!(told.code, Some(0), "{}{}", told.stdout, told.stderr);
}

#[test]
fn a_system_that_shuts_down_is_heard() {
    let (scene, told) = stopped_by("TERM");
    told.and_spec(&scene).shows(str![[r#"
run [RUN]: spec demo, agent command:sh [AGENT]/agent.sh
warning: this folder is not in git: nothing is committed, and regreen diff and regreen undo have nothing to show; git init changes that
1.1 First: attempt 1 of 5
stopping on request: what runs is being ended
1.1: the attempt was cut off: somebody asked to stop
run [RUN] ended after [TIME]: stopped, everything is saved (exit code 143)

Originals:       0 of 2 done
Attempts:        1, of which 0 count (limit 100)
Time:            [TIME]
Warnings:        1
Next:            `regreen run` goes on
--- standard error
Stopped. Everything is saved.
--- exit code 143
--- specs/demo/tasks.md
- [ ] 1.1 First
  - **Verify**: `true`
- [ ] 1.2 Second
  - **Verify**: `true`
--- no specs/demo/.progress.md
--- specs/demo/.ralph-state.json
{
  "phase": "execution",
  "taskIndex": 0,
  "totalTasks": 2,
  "taskIteration": 1,
  "maxTaskIterations": 5,
  "globalIteration": 1,
  "maxGlobalIterations": 100,
  "recoveryMode": false,
  "maxFixTasksPerOriginal": 3,
  "fixTaskMap": {},
  "taskResults": {
    "1.1": "pending",
    "1.2": "pending"
  }
}

"#]]);
}

#[test]
fn a_terminal_that_goes_away_means_the_same() {
    let (scene, told) = stopped_by("HUP");
    told.and_spec(&scene).shows(str![[r#"
run [RUN]: spec demo, agent command:sh [AGENT]/agent.sh
warning: this folder is not in git: nothing is committed, and regreen diff and regreen undo have nothing to show; git init changes that
1.1 First: attempt 1 of 5
stopping on request: what runs is being ended
1.1: the attempt was cut off: somebody asked to stop
run [RUN] ended after [TIME]: stopped, everything is saved (exit code 143)

Originals:       0 of 2 done
Attempts:        1, of which 0 count (limit 100)
Time:            [TIME]
Warnings:        1
Next:            `regreen run` goes on
--- standard error
Stopped. Everything is saved.
--- exit code 143
--- specs/demo/tasks.md
- [ ] 1.1 First
  - **Verify**: `true`
- [ ] 1.2 Second
  - **Verify**: `true`
--- no specs/demo/.progress.md
--- specs/demo/.ralph-state.json
{
  "phase": "execution",
  "taskIndex": 0,
  "totalTasks": 2,
  "taskIteration": 1,
  "maxTaskIterations": 5,
  "globalIteration": 1,
  "maxGlobalIterations": 100,
  "recoveryMode": false,
  "maxFixTasksPerOriginal": 3,
  "fixTaskMap": {},
  "taskResults": {
    "1.1": "pending",
    "1.2": "pending"
  }
}

"#]]);
}

#[test]
fn a_run_that_was_stopped_while_it_verified_verifies_when_it_goes_on() {
    let scene = Scene::new("- [ ] 1.1 First\n  - **Verify**: `touch \"$NOTES/verifying\"; test -f ready || sleep 300`\n")
        .agent("*) touch out; echo TASK_COMPLETE ;;");
    let notes = scene.agent_flag();
    let notes = notes
        .trim_start_matches("command:sh ")
        .trim_end_matches("/agent.sh");
    let tasks = scene.text(TASKS).replace("$NOTES", notes);
    let scene = scene.file(TASKS, tasks);
    let run = scene.start(&[], "verifying");
    run.signal("INT");
    run.ended().shows(str![[r#"
run [RUN]: spec demo, agent command:sh [AGENT]/agent.sh
warning: this folder is not in git: nothing is committed, and regreen diff and regreen undo have nothing to show; git init changes that
1.1 First: attempt 1 of 5
1.1: verifying: touch "[AGENT]/verifying"; test -f ready || sleep 300
stopping: what runs is being ended; once more ends at once
run [RUN] ended after [TIME]: stopped, everything is saved (exit code 130)

Originals:       0 of 1 done
Attempts:        1 (limit 100)
Time:            [TIME]
Warnings:        1
Next:            `regreen run` goes on
--- standard error
Stopped. Everything is saved.
--- exit code 130

"#]]);
    let scene = scene.file("ready", "");
    scene.run(&[]).shows(str![[r#"
run [RUN] goes on: spec demo, agent command:sh [AGENT]/agent.sh
1.1: verifying: touch "[AGENT]/verifying"; test -f ready || sleep 300
1.1 First: done
run [RUN] ended after [TIME]: all tasks are done (exit code 0)

ALL_TASKS_COMPLETE
Originals:       1 of 1 done
Attempts:        1 (limit 100)
Time:            [TIME]
Warnings:        1
--- exit code 0

"#]]);
}

#[test]
fn a_run_does_not_go_on_with_another_agent_unless_somebody_says_so() {
    let scene = Scene::in_git(TWO)
        .agent("1.1:1) echo x >mine; touch $notes/at-work; sleep 60 ;; *) echo TASK_COMPLETE ;;");
    let run = scene.start(&[], "at-work");
    run.signal("KILL");
    run.ended();
    let refused = scene.regreen(&["run"]);
    assert_eq!(refused.code, Some(2));
    let said: Vec<&str> = refused.stderr.split_whitespace().collect();
    let said = said.join(" ").replace("│ ", "");
    for part in [
        "the run that is to go on was begun with the agent command:sh [AGENT]/agent.sh, not with shell",
        "say which is meant: --agent 'command:sh [AGENT]/agent.sh', or --agent 'shell'",
    ] {
        assert!(said.contains(part), "{said}");
    }
    // What was cut off may be anybody's work, and that is said.
    let told = scene.run(&[]);
    assert_eq!(told.code, Some(0));
    assert!(
        told.stdout
            .contains("nobody saw how attempt 1 of task 1.1 ended"),
        "{}",
        told.stdout
    );
}
