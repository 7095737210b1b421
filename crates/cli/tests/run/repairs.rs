//! Repairs that regreen carries out itself, as whole runs without an agent.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use snapbox::str;

use regreen_test_support::{Output, Workspace, wait_until};

const TASKS: &str = "\
- [ ] 1.1 Make a report
  - **Do**: `./report.sh`
  - **Verify**: `test -s out/report.txt`
  - **Commit**: `feat: report`
";
const SCRIPT: &str = "#!/bin/sh\ncp report.sh out/report.txt\n";
const HEAL: [&str; 5] = ["run", "--agent", "shell", "--recovery-mode", "--no-input"];

fn workspace() -> Workspace {
    let workspace = Workspace::in_git(TASKS).file("report.sh", SCRIPT);
    fs::set_permissions(workspace.path("report.sh"), Permissions::from_mode(0o644)).unwrap();
    workspace.committed("before")
}

fn heal(workspace: &Workspace, more: &[&str]) -> Output {
    workspace.regreen(&[&HEAL[..], more].concat())
}

#[test]
fn what_is_wrong_with_the_environment_is_repaired_without_an_agent() {
    let workspace = workspace();
    heal(&workspace, &[]).and_plan(&workspace).shows(str![[r#"
run [RUN]: spec demo, agent shell
1.1 Make a report: attempt 1 of 5
1.1 Make a report: attempt 1 of 5 failed after [TIME] (file not executable): bash: line 1: ./report.sh: Permission denied
1.1: 1.1.1 is written into the plan, to repair it
1.1.1 Fix: bash: line 1: ./report.sh: Permission denied: regreen does it: make report.sh executable
1.1.1 Fix: bash: line 1: ./report.sh: Permission denied: done after [TIME], commit [HASH]
1.1 Make a report: attempt 2 of 5
1.1 Make a report: attempt 2 of 5 failed after [TIME] (missing file): cp: cannot create regular file 'out/report.txt': No such file or directory
1.1: 1.1.2 is written into the plan, to repair it
1.1.2 Fix: cp: cannot create regular file 'out/report.txt': N: regreen does it: make the folder out
1.1.2 Fix: cp: cannot create regular file 'out/report.txt': N: done after [TIME], commit [HASH]
1.1 Make a report: attempt 3 of 5
1.1: verifying: test -s out/report.txt
1.1 Make a report: done after [TIME], commit [HASH]
run [RUN] ended after [TIME]: all tasks are done (exit code 0)

ALL_TASKS_COMPLETE
Originals:       1 of 1 done
Fixes:           2 done of 2 made
Attempts:        3 (limit 100)
Time:            [TIME]
--- exit code 0
--- specs/demo/tasks.md
- [x] 1.1 Make a report
  - **Do**: `./report.sh`
  - **Verify**: `test -s out/report.txt`
  - **Commit**: `feat: report`

- [x] 1.1.1 [FIX 1.1] Fix: bash: line 1: ./report.sh: Permission denied
  - **Do**: Address the error: bash: line 1: ./report.sh: Permission denied
    1. Analyze the failure: No fix attempted
    2. Review related code in Files list
    3. Implement fix for: bash: line 1: ./report.sh: Permission denied
    4. regreen does this itself: make report.sh executable
  - **Files**: Same directory as original
  - **Done when**: Error "bash: line 1: ./report.sh: Permission denied" no longer occurs
  - **Verify**: `test -s out/report.txt`
  - **Commit**: `fix(demo): address file not executable from task 1.1`

- [x] 1.1.2 [FIX 1.1] Fix: cp: cannot create regular file 'out/report.txt': N
  - **Do**: Address the error: cp: cannot create regular file 'out/report.txt': No such file or directory
    1. Analyze the failure: No fix attempted
    2. Review related code in Files list
    3. Implement fix for: cp: cannot create regular file 'out/report.txt': No such file or directory
    4. regreen does this itself: make the folder out
  - **Files**: Same directory as original
  - **Done when**: Error "cp: cannot create regular file 'out/report.txt': No such file or directory" no longer occurs
  - **Verify**: `test -s out/report.txt`
  - **Commit**: `fix(demo): address missing file from task 1.1`
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1.1 Fix: bash: line 1: ./report.sh: Permission denied - [HASH]
- [x] 1.1.2 Fix: cp: cannot create regular file 'out/report.txt': N - [HASH]
- [x] 1.1 Make a report - [HASH]

## Fix Task History
- Task 1.1: 2 fixes attempted (1.1.1, 1.1.2) - Final: PASS

"#]]);
    assert_eq!(
        workspace.git(&["ls-files", "-s", "report.sh"]).get(..6),
        Some("100755")
    );
}

#[test]
fn what_was_repaired_has_its_story_and_its_log() {
    let workspace = workspace();
    heal(&workspace, &[]);
    workspace.regreen(&["why", "1.1.1"]).shows(str![[r#"
1.1.1 Fix: bash: line 1: ./report.sh: Permission denied (done)
  made to fix 1.1 Make a report

run [RUN], agent shell

  regreen repairs it itself: make report.sh executable: `regreen log 1.1.1 1 --run [RUN]`
    done: make report.sh executable
    commit [HASH]
  done
--- exit code 0

"#]]);
    workspace.regreen(&["log", "1.1.1", "1"]).shows(str![[r#"
[done: make report.sh executable]
--- exit code 0

"#]]);
}

#[test]
fn without_repairs_nothing_is_repaired() {
    let workspace = workspace();
    heal(&workspace, &["--repairs", "off"])
        .and_plan(&workspace)
        .shows(str![[r#"
run [RUN]: spec demo, agent shell
1.1 Make a report: attempt 1 of 5
1.1 Make a report: attempt 1 of 5 failed after [TIME] (file not executable): bash: line 1: ./report.sh: Permission denied
1.1: a person must decide: the shell agent runs commands and cannot repair them, and repairs are off
run [RUN] ended after [TIME]: a person must decide (exit code 3)

Originals:       0 of 1 done
Attempts:        1 (limit 100)
Time:            [TIME]
Waiting:         1.1
Next:            `regreen why 1.1` tells how it failed
Next:            `regreen retry 1.1` once it is edited or repaired, or `regreen done 1.1`, or `regreen skip 1.1`
Next:            `regreen run` goes on then; on a terminal it asks
--- standard error
A person must decide: task 1.1: the shell agent runs commands and cannot repair them, and repairs are off; it failed with: bash: line 1: ./report.sh: Permission denied
--- exit code 3
--- specs/demo/tasks.md
- [ ] 1.1 Make a report
  - **Do**: `./report.sh`
  - **Verify**: `test -s out/report.txt`
  - **Commit**: `feat: report`
--- no specs/demo/.progress.md

"#]]);
    assert!(!workspace.has("out"));
}

#[test]
fn who_is_to_be_asked_and_is_not_there_is_told_what_may_be_needed() {
    let workspace = workspace();
    heal(&workspace, &["--repairs", "ask"])
        .and_plan(&workspace)
        .shows(str![[r#"
run [RUN]: spec demo, agent shell
1.1 Make a report: attempt 1 of 5
1.1 Make a report: attempt 1 of 5 failed after [TIME] (file not executable): bash: line 1: ./report.sh: Permission denied
1.1: a person must decide: it may need this: make report.sh executable; repairs are to be asked about
run [RUN] ended after [TIME]: a person must decide (exit code 3)

Originals:       0 of 1 done
Attempts:        1 (limit 100)
Time:            [TIME]
Waiting:         1.1
Next:            `regreen why 1.1` tells how it failed
Next:            `regreen retry 1.1` once it is edited or repaired, or `regreen done 1.1`, or `regreen skip 1.1`
Next:            `regreen run` goes on then; on a terminal it asks
--- standard error
A person must decide: task 1.1: it may need this: make report.sh executable; repairs are to be asked about; it failed with: bash: line 1: ./report.sh: Permission denied
--- exit code 3
--- specs/demo/tasks.md
- [ ] 1.1 Make a report
  - **Do**: `./report.sh`
  - **Verify**: `test -s out/report.txt`
  - **Commit**: `feat: report`
--- no specs/demo/.progress.md

"#]]);
    assert!(!workspace.has("out"));
}

#[test]
fn a_repository_does_not_say_what_is_repaired() {
    let workspace = workspace().file("regreen.toml", "repairs = 'safe'\n");
    heal(&workspace, &[]).shows(str![[r#"
--- standard error
  × a repository may not set `repairs`
   ╭─[regreen.toml:1:1]
 1 │ repairs = 'safe'
   · ───┬───
   ·    ╰── it says what is repaired on your machine
   ╰────
  help: if you want it, put it into ~/.config/regreen/config.toml
--- exit code 2

"#]]);
}

#[test]
fn a_repair_that_was_killed_is_done_again() {
    const MADE: &str = "\
- [ ] 1.1 Show the version
  - **Do**: `cat gen/version.txt`
  - **Verify**: `grep -qx whole gen/version.txt`
";
    const MAKEFILE: &str = "gen/version.txt: version.sh\n\tmkdir -p gen\n\tsh version.sh\n";
    let script = |workspace: &Workspace| {
        let note = workspace.outside().join("begun");
        format!(
            "echo half > gen/version.txt\nif [ ! -e '{0}' ]; then touch '{0}'; sleep 60; fi\necho whole > gen/version.txt\n",
            note.display()
        )
    };
    let workspace = Workspace::in_git(MADE).file("Makefile", MAKEFILE);
    let text = script(&workspace);
    let workspace = workspace.file("version.sh", text).committed("before");
    let mut command = workspace.command(&HEAL);
    let mut run = command.stdout(Stdio::null()).spawn().unwrap();
    wait_until(|| workspace.has_note("begun"));
    run.kill().unwrap();
    run.wait().unwrap();
    heal(&workspace, &[]).and_plan(&workspace).shows(str![[r#"
run [RUN] goes on: spec demo, agent shell
1.1.1 Fix: cat: gen/version.txt: No such file or directory: regreen does it: run make gen/version.txt of Makefile to make gen/version.txt
1.1.1 Fix: cat: gen/version.txt: No such file or directory: done, commit [HASH]
1.1 Show the version: attempt 2 of 5
1.1: verifying: grep -qx whole gen/version.txt
1.1 Show the version: done after [TIME]
run [RUN] ended after [TIME]: all tasks are done (exit code 0)

ALL_TASKS_COMPLETE
Originals:       1 of 1 done
Fixes:           1 done of 1 made
Attempts:        2 (limit 100)
Time:            [TIME]
--- exit code 0
--- specs/demo/tasks.md
- [x] 1.1 Show the version
  - **Do**: `cat gen/version.txt`
  - **Verify**: `grep -qx whole gen/version.txt`

- [x] 1.1.1 [FIX 1.1] Fix: cat: gen/version.txt: No such file or directory
  - **Do**: Address the error: cat: gen/version.txt: No such file or directory
    1. Analyze the failure: No fix attempted
    2. Review related code in Files list
    3. Implement fix for: cat: gen/version.txt: No such file or directory
    4. regreen does this itself: run make gen/version.txt of Makefile to make gen/version.txt
  - **Files**: Same directory as original
  - **Done when**: Error "cat: gen/version.txt: No such file or directory" no longer occurs
  - **Verify**: `grep -qx whole gen/version.txt`
  - **Commit**: `fix(demo): address missing file from task 1.1`
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1.1 Fix: cat: gen/version.txt: No such file or directory - [HASH]
- [x] 1.1 Show the version

## Fix Task History
- Task 1.1: 1 fix attempted (1.1.1) - Final: PASS

"#]]);
}
