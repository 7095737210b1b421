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
const HEAL: [&str; 2] = ["--recovery-mode", "--no-input"];

fn workspace() -> Workspace {
    let workspace = Workspace::in_git(TASKS).file("report.sh", SCRIPT);
    fs::set_permissions(workspace.path("report.sh"), Permissions::from_mode(0o644)).unwrap();
    workspace.committed("before")
}

fn heal(workspace: &Workspace, more: &[&str]) -> Output {
    workspace.run_with_agent("shell", &[&HEAL[..], more].concat())
}

#[test]
fn a_broken_environment_is_repaired_without_an_agent() {
    let workspace = workspace();
    heal(&workspace, &[]).and_plan(&workspace).shows(str![[r#"
1.1 attempt 1 of 5; exit code 1; failed (not_executable): bash: line 1: ./report.sh: Permission denied; repair allowed: make report.sh executable; inserted 1.1.1
1.1.1 repaired: make report.sh executable; done, committed
1.1 attempt 2 of 5; exit code 1; failed (missing_file): cp: cannot create regular file 'out/report.txt': No such file or directory; repair allowed: create the folder out; inserted 1.1.2
1.1.2 repaired: create the folder out; done, committed
1.1 attempt 3 of 5; verify green; done, committed
ended: all_green, 1 of 1 done, 2 of 2 fixes, 3 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.1 Make a report
+
+ - [x] 1.1.1 [FIX 1.1] Fix: bash: line 1: ./report.sh: Permission denied
+
+ - [x] 1.1.2 [FIX 1.1] Fix: cp: cannot create regular file 'out/report.txt': N
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
fn a_repair_has_its_story_and_its_log() {
    let workspace = workspace();
    heal(&workspace, &[]);
    workspace.regreen(&["why", "1.1.1"]).shows(str![[r#"
    PASS  1.1.1 Fix: bash: line 1: ./report.sh: Permission denied
          fixes 1.1 Make a report

     RUN  [RUN] · shell
     FIX  make report.sh executable                               [HASH]
          log: regreen log 1.1.1 1 --run [RUN]
          make report.sh executable
    PASS
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
1.1 attempt 1 of 5; exit code 1; failed (not_executable): bash: line 1: ./report.sh: Permission denied; asked: the shell agent runs commands and cannot fix them, and repairs are off
ended: needs_person, 0 of 1 done, 1 of 100 attempts
task 1.1: the shell agent runs commands and cannot fix them, and repairs are off; it failed with: bash: line 1: ./report.sh: Permission denied
--- exit code 3
--- changes in specs/demo/tasks.md
--- no specs/demo/.progress.md

"#]]);
    assert!(!workspace.has("out"));
}

#[test]
fn a_report_for_an_absent_person_names_what_may_be_needed() {
    let workspace = workspace();
    heal(&workspace, &["--repairs", "ask"])
        .and_plan(&workspace)
        .shows(str![[r#"
1.1 attempt 1 of 5; exit code 1; failed (not_executable): bash: line 1: ./report.sh: Permission denied; repair allowed: make report.sh executable; asked: this may help: make report.sh executable; regreen is set to ask before repairs
ended: needs_person, 0 of 1 done, 1 of 100 attempts
task 1.1: this may help: make report.sh executable; regreen is set to ask before repairs; it failed with: bash: line 1: ./report.sh: Permission denied
--- exit code 3
--- changes in specs/demo/tasks.md
--- no specs/demo/.progress.md

"#]]);
    assert!(!workspace.has("out"));
}

#[test]
fn a_repository_does_not_decide_what_is_repaired() {
    let workspace = workspace().file("regreen.toml", "repairs = 'safe'\n");
    heal(&workspace, &[]).shows(str![[r#"
--- standard error
  × a repository may not set `repairs`
   ╭─[regreen.toml:1:1]
 1 │ repairs = 'safe'
   · ───┬───
   ·    ╰── it controls what regreen repairs on your machine
   ╰────
  help: to use it, set it in ~/.config/regreen/config.toml
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
    let mut command = workspace.command(&[&["run", "--agent", "shell"], &HEAL[..]].concat());
    let mut run = command.stdout(Stdio::null()).spawn().unwrap();
    wait_until(|| workspace.has_note("begun"));
    run.kill().unwrap();
    run.wait().unwrap();
    heal(&workspace, &[]).and_plan(&workspace).shows(str![[r#"
resumed
1.1.1 repaired: run `make gen/version.txt` of Makefile to make gen/version.txt; done, committed
1.1 attempt 2 of 5; verify green; done
ended: all_green, 1 of 1 done, 1 of 1 fixes, 2 of 100 attempts
--- exit code 0
--- changes in specs/demo/tasks.md
x - [x] 1.1 Show the version
+
+ - [x] 1.1.1 [FIX 1.1] Fix: cat: gen/version.txt: No such file or directory
--- specs/demo/.progress.md
## Completed Tasks
- [x] 1.1.1 Fix: cat: gen/version.txt: No such file or directory - [HASH]
- [x] 1.1 Show the version

## Fix Task History
- Task 1.1: 1 fix attempted (1.1.1) - Final: PASS

"#]]);
}

/// Makes a virtual environment with one program, as `python3 -I -m venv .venv` would.
const PYTHON: &str = "test \"$3\" = venv || exit 1\nmkdir -p .venv/bin\necho 'home = /' >.venv/pyvenv.cfg\n\
                      printf '#!/bin/sh\\n' >.venv/bin/python\ncp .venv/bin/python .venv/bin/checker\n\
                      chmod +x .venv/bin/*";
const NEEDS_VENV: &str = "#!/bin/sh\necho \"${VIRTUAL_ENV:-none}\" >used\ncommand -v checker >/dev/null && exit 0\n\
                          echo 'error: externally-managed-environment'\nexit 1\n";

fn row(id: &str) -> String {
    format!("- [ ] {id} Check\n  - **Do**: `true`\n  - **Verify**: `sh ./check.sh`\n")
}

#[test]
fn the_venv_that_a_repair_made_is_remembered_until_it_is_gone() {
    let workspace = Workspace::with_tasks(&row("1.1"))
        .file("check.sh", NEEDS_VENV)
        .program("python3", PYTHON);
    heal(&workspace, &[])
        .exits(0)
        .mentions("repaired: create .venv and use it");
    // Later runs repair nothing, and need not.
    let more = |id: &str| workspace.text("specs/demo/tasks.md") + &row(id);
    let again = |id: &str| {
        fs::write(workspace.path("specs/demo/tasks.md"), more(id)).unwrap();
        workspace.run_with_agent("shell", &["--no-input", "--max-task-iterations=1"])
    };
    again("1.2")
        .exits(0)
        .mentions("1.2 attempt 1 of 1; verify green");
    // What they inherit they pass on.
    again("1.3")
        .exits(0)
        .mentions("1.3 attempt 1 of 1; verify green");
    let venv = workspace.path(".venv");
    assert!(workspace.text("used").ends_with("/.venv\n"));
    fs::remove_dir_all(venv).unwrap();
    again("1.4")
        .exits(1)
        .mentions("externally-managed-environment");
    assert_eq!(workspace.text("used"), "none\n");
}
