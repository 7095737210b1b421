//! Checks that were once green although something had failed.

use std::os::unix::fs::PermissionsExt;

use regreen_test_support::{TASKS, Workspace};

/// Runs a task with this Verify. Returns the exit code, and whether it was marked unverified.
fn judged(verify: &str) -> (Option<i32>, bool) {
    let tasks = format!("- [ ] 1.1 Write it\n  - **Verify**: {verify}\n");
    let workspace = Workspace::with_tasks(&tasks)
        .file("t.sh", "exit 0\n")
        .file("app/t.sh", "exit 1\n")
        .agent("*) echo it >>out; echo TASK_COMPLETE ;;");
    let flags = ["--json", "--max-task-iterations=1", "--preflight=warn"];
    let output = workspace.run_as_text(&flags);
    let marked = output.stdout.contains("expectation_not_checked");
    (output.code, marked)
}

#[test]
fn a_failure_is_never_turned_into_a_pass() {
    for verify in [
        "`sh -c 'exit 1'` (fails on warnings)",
        "If `sh -c 'exit 1'` fails, fix it",
        "nothing in `sh -c 'exit 1'` fails",
        "neither `true` nor `sh -c 'exit 1'` fails",
        "no `sh -c 'exit 1'` fails",
        "`sh -c 'exit 1'` fails before the change and passes after it",
        "`sh -c 'exit 1'` exits non-zero on failure",
        "`sh -c 'exit 1'` returns 0 errors",
        "`no-such-program-here x` fails",
        "`grep x no/such/file` returns 0 matches",
        "`sh -c 'echo 1 failed, 3 passed; exit 1'` shows \"passed\"",
        "`echo v14.2.0` shows 4.2.0",
        "`printf 'a\\nb\\n'` shows 3 files",
        "`echo CHANGES_REQUESTED` shows no CHANGES_REQUESTED",
        "`sh -c 'echo FAILED a; exit 1'` shows no ERROR",
        "`sh -c 'echo FAILED a; exit 1'` shows at most 3 lines",
        "`sh -c 'exit 3' | tail -5`",
        "`sh -c 'exit 3' 2>&1 | tee log`",
        "Run `./no-such-script.sh` and `true`",
        "\n    - `no-such-linter --max 0 src/`\n    - `true`",
        "`cd app` and `sh t.sh`",
        "\n    1. `cd app`\n    2. `sh t.sh`",
        "`python3 missing.py --bad` exits 2",
        "`sh missing.sh` fails",
        "`make no-such-target` fails",
        "`! grep -q TODO src/missing.py`",
        "`find missing -name x 2>/dev/null` shows 0 matches",
        "`cat missing.log | grep -c ERROR` prints 0",
        "`grep -rs TODO missing/` no output",
        "`test -z \"$(grep -r TODO missing)\"`",
        "`no-such-linter src | grep -c error` prints 0",
        "`! no-such-linter src | grep -q error`",
        "`test -z \"$(no-such-linter src)\"`",
        "`for f in t.sh nosuch t.sh; do test -f $f; done`",
        "`for f in t.sh nosuch t.sh; do test -f $f; done && echo ok`",
        "`test \"$(cat nosuch)\" != 1.0`",
        "`test \"$(grep -r TODO nosuch | wc -l)\" -eq 0`",
        "`n=$(grep -rs TODO nosuch | wc -l); [ $n -le 3 ]`",
        "`diff <(sort nosuch) <(sort none)`",
        "`[ \"$(cat nosuch)\" = \"$(cat none)\" ]`",
        "`! curl -sf http://127.0.0.1:9/admin`",
        "`curl -sf http://127.0.0.1:9/admin` fails",
        "`curl -s http://127.0.0.1:9/admin` no output",
        "`! curl -s http://127.0.0.1:9/log | grep -q ERROR`",
        "`curl -s http://127.0.0.1:9/log | grep -c ERROR` prints 0",
        "`.venv/bin/lint src | grep -c error` prints 0",
        "`echo TypeError` shows no \"Error\"",
        "`sh -c 'echo 1 problem >&2'` no output",
        "`echo ERRORS: 3` shows no ERROR",
        "Both `true` and `sh -c 'exit 1'` fail",
        "`sh -c 'echo 3; exit 1'` prints 3",
        "`sh -c 'echo 5; exit 1'` at least 5",
        "`true`\n  - **Verify 2**: `test -f nosuch`",
        "\n    ```sh\n    false\n    echo done\n    ```",
        "\n    ```sh\n    for x in a b; do\n      test $x = b\n    done\n    ```",
    ] {
        assert_eq!(judged(verify).0, Some(1), "{verify}");
    }
}

#[test]
fn expectations_that_hold_still_pass() {
    for verify in [
        "`echo 4.2.0` shows 4.2.0",
        "`printf 'a\\nb\\n'` shows 2 files",
        "`grep x out` returns 0 matches",
        "`grep x out` shows at most 3 lines",
        "`grep x out` shows no ERROR",
        "`sh -c 'exit 2'` fails",
        "`yes | head -1`",
        "`echo x | grep -q x`",
        "`! grep -q FAIL out`",
        "`for f in out t.sh; do test -f $f; done`",
        "`test \"$(cat out)\" != 1.0`",
        "`test \"$(grep -c TODO out)\" -eq 0`",
        "`diff <(sort out) <(sort out)`",
        "`! test -e nosuch`",
        "`! ls nosuch`",
        "`cat out | grep -c error` prints 0",
        "`! cat out | grep -q error`",
        "`check() { cat out; }; check | grep -c error` prints 0",
        "`test ! -f nosuch`",
        "`sh app/t.sh` fails",
        "`sh -c 'echo usage; exit 2'` exits 2 and prints \"usage\"",
        "\n    ```sh\n    cd /\n    X=1\n    if test \"$X\" = 1; then\n      cat <<E\n    false\n    E\n    fi\n    test \"$PWD\" = /\n    ```",
        "\n    ```sh\n    found=$(grep x out)\n    test -z \"$found\"\n    ```",
        "\n    ```sh\n    sh -c 'exit 2'\n    test $? -eq 2\n    ```",
    ] {
        assert_eq!(judged(verify), (Some(0), false), "{verify}");
    }
}

#[test]
fn what_can_not_be_checked_is_marked() {
    for verify in [
        "`true` shows usage",
        "`true` (fails on warnings)",
        "`true`; it is fast",
        "`sh t.sh` in app/",
        "From the `app` directory run `sh t.sh`",
        "Run `no-such-program --x` and `true`",
        "`! curl -s http://127.0.0.1:9`",
        "`test -z \"$(curl -s http://127.0.0.1:9)\"`",
        "`sh app/t.sh >log 2>&1; tail log`",
        "`make lint; sh t.sh`",
        "`bash -c 'make lint; sh t.sh'`",
        "`n=3; [ $n > 5 ]`",
        "`[[ 9 > 10 ]]`",
        "`[ -n $nothing ]`",
        "`[ 1==2 ]`",
        "`find app -name t.sh -exec sh {} \\;`",
    ] {
        assert_eq!(judged(verify), (Some(0), true), "{verify}");
    }
}

/// Whether a bare text is a command is decided before the agent works, so the agent can't change
/// that.
#[test]
fn a_check_that_the_agent_makes_impossible_is_red() {
    for (verify, deed) in [
        ("make check", "printf 'all:\\n' >Makefile"),
        ("make check", "rm Makefile"),
        ("sh check.txt", "rm check.txt"),
        ("Run `./judge.sh`", "chmod -x judge.sh"),
    ] {
        let tasks = format!("- [ ] 1.1 Write it\n  - **Verify**: {verify}\n");
        let workspace = Workspace::with_tasks(&tasks)
            .file("Makefile", "check:\n\ttrue\n")
            .file("check.txt", "true\n")
            // Not check.sh, because make would build `check` from it.
            .file("judge.sh", "#!/bin/sh\n")
            .agent(&format!("*) {deed}; echo it >>out; echo TASK_COMPLETE ;;"));
        let script = workspace.path("judge.sh");
        std::fs::set_permissions(script, PermissionsExt::from_mode(0o755)).unwrap();
        let output = workspace.run_as_text(&["--max-task-iterations=1"]);
        assert_eq!(output.code, Some(1), "{verify}, {deed}: {}", output.stdout);
    }
}

/// The same applies if an earlier task makes it impossible.
#[test]
fn a_check_that_was_there_when_the_run_began_is_red_when_it_is_gone() {
    let tasks =
        "- [ ] 1.1 A\n  - **Verify**: `test -f out`\n- [ ] 1.2 B\n  - **Verify**: make check\n";
    let workspace = Workspace::with_tasks(tasks)
        .file("Makefile", "check:\n\ttrue\n")
        .agent("*) rm -f Makefile; echo it >>out; echo TASK_COMPLETE ;;");
    let output = workspace.run_as_text(&["--max-task-iterations=1"]);
    assert_eq!(output.code, Some(1), "{}", output.stdout);
}

#[test]
fn a_fix_that_someone_wrote_for_a_done_task_is_run_and_judged_by_its_own_verify() {
    let tasks = "- [x] 1.3 A\n  - **Verify**: `true`\n- [ ] 1.4 [FIX 1.3] B\n  - **Verify**: `test -f fixed`\n";
    let workspace = Workspace::with_tasks(tasks).agent("*) touch fixed; echo TASK_COMPLETE ;;");
    assert_eq!(workspace.run_as_text(&[]).code, Some(0));
    let workspace = Workspace::with_tasks(tasks).agent("*) echo it >>out; echo TASK_COMPLETE ;;");
    let output = workspace.run_as_text(&["--max-task-iterations=1"]);
    assert_eq!(output.code, Some(1), "{}", output.stdout);
}

#[test]
fn a_fix_whose_own_verify_failed_is_marked() {
    let tasks = "- [ ] 1.3 A\n  - **Verify**: `test -f out`\n- [ ] 1.3.1 [FIX 1.3] B\n  - **Verify**: `test -f fixed`\n";
    let workspace = Workspace::with_tasks(tasks).agent("*) echo it >>out; echo TASK_COMPLETE ;;");
    let output = workspace.run_as_text(&[]);
    assert_eq!(output.code, Some(0));
    for told in [
        "its own Verify failed",
        "own Verify failed: 1.3.1",
        "unverified: 1.3.1",
    ] {
        assert!(output.stdout.contains(told), "{told}: {}", output.stdout);
    }
}

#[test]
fn open_rows_with_a_verify_that_are_not_run_are_named() {
    let tasks = "- [ ] 1.1 A\n  - **Verify**: `test -f out`\n- [ ] 1.2 B\n  - **Verify**: `test -f out`\n- [ ] Task 1.3: C\n  - **Verify**: `test -f c`\n";
    let workspace = Workspace::with_tasks(tasks).agent("*) echo it >>out; echo TASK_COMPLETE ;;");
    let notice = "1 open row has no id, so it is not run: line 5 (Task 1.3: C, with a Verify); give it an id like the other tasks have to make it a task";
    workspace.run_as_text(&[]).mentions(notice);
    workspace.regreen(&["status"]).mentions(notice);
    let (message, help) = (
        "1 open row has no id, so it is not run",
        "give it an id like the other tasks have",
    );
    workspace
        .regreen(&["lint"])
        .mentions(message)
        .mentions(help);
}

/// People insert a row, which renumbers those below it, and the title doesn't tell two of them apart.
#[test]
fn checks_of_rows_with_the_same_title_are_repeated_after_they_were_renumbered() {
    let tasks = "- [ ] Add tests
  - **Verify**: `test -f a`
- [ ] Add tests
  - **Verify**: `test -f b`
- [ ] Make c
  - **Verify**: `test -f c`
";
    let done = "echo TASK_COMPLETE ;;";
    let workspace = Workspace::with_tasks(tasks).agent(&format!(
        "1:*) touch a; {done}\n2:*) touch b; {done}\n*) {done}"
    ));
    let flags = ["--max-task-iterations=1"];
    workspace.run_as_text(&flags).exits(1);
    let plan = workspace.text(TASKS);
    let workspace = workspace
        .file(TASKS, format!("- [x] New first row\n{plan}"))
        .agent(&format!("*) rm b; touch c; {done}"));
    let told = workspace.run_as_text(&flags).exits(1);
    told.mentions("`test -f b` ended with");
}

#[test]
fn what_the_hooks_of_the_last_commit_change_is_checked_again() {
    for hook in ["pre-commit", "post-commit"] {
        let tasks = "- [ ] 1.1 Make a\n  - **Verify**: `test -f a`\n  - **Commit**: `feat: a`\n";
        let path = format!(".git/hooks/{hook}");
        let workspace = Workspace::in_git(tasks)
            .file(
                &path,
                "#!/bin/sh\necho >>.git/count\n[ $(wc -l <.git/count) -lt 2 ] || rm -f a\n",
            )
            .agent("*) touch a; echo TASK_COMPLETE ;;");
        std::fs::set_permissions(workspace.path(&path), PermissionsExt::from_mode(0o755)).unwrap();
        let told = workspace.run_as_text(&[]).exits(1);
        told.mentions("files changed while the closing commit was made (a)")
            .mentions("no longer does");
    }
}

#[test]
fn a_test_run_without_a_test_verifies_nothing() {
    let ran = "test result: ok. 1 passed; 0 failed; 0 ignored";
    for (output, marked) in [
        (ran.to_owned(), false),
        (ran.replace("1 passed", "0 passed"), true),
    ] {
        let tasks = "- [ ] 1.1 Write it\n  - **Verify**: `./bin/cargo test parser`\n";
        let workspace = Workspace::with_tasks(tasks)
            .file("bin/cargo", format!("#!/bin/sh\necho '{output}'\n"))
            .agent("*) echo it >>out; echo TASK_COMPLETE ;;");
        let program = workspace.path("bin/cargo");
        std::fs::set_permissions(program, PermissionsExt::from_mode(0o755)).unwrap();
        let output = workspace.run_as_text(&[]);
        assert_eq!(output.code, Some(0), "{}", output.stdout);
        let printed = format!("{}{}", output.stdout, output.stderr);
        assert_eq!(
            printed.contains("passed without running a test"),
            marked,
            "{printed}"
        );
        assert_eq!(printed.contains("unverified: 1.1"), marked, "{printed}");
        let strict = workspace.run_as_text(&["--strict"]);
        assert_eq!(strict.code, Some(0), "nothing is open: {}", strict.stdout);
    }
}

#[test]
fn tasks_that_were_ticked_before_the_first_run_are_named_as_never_checked() {
    let tasks = "- [x] 1.1 Begin\n  - **Verify**: `test -f nosuch`\n- [x] 1.2 Go on\n";
    let workspace = Workspace::with_tasks(tasks).agent("*) echo TASK_COMPLETE ;;");
    let output = workspace.run_as_text(&[]);
    assert_eq!(output.code, Some(0), "{}", output.stdout);
    assert!(
        output.stdout.contains("ALL_TASKS_COMPLETE"),
        "{}",
        output.stdout
    );
    let words = output
        .stdout
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        words.contains("Unchecked 2 tasks were ticked before regreen first ran this list, and never checked: 1.1, 1.2"),
        "{words}"
    );
    assert!(
        words.contains("Next have 1.1 done again and checked: regreen retry 1.1"),
        "{words}"
    );
    workspace
        .regreen(&["report"])
        .mentions("ticked before the first run, never checked");
    // That was said; what a person does now is theirs to know.
    let again = workspace.run_as_text(&[]);
    assert!(!again.stdout.contains("never checked"), "{}", again.stdout);
}

#[test]
fn a_task_that_is_done_by_regreen_is_not_called_unchecked() {
    let tasks = "- [x] 1.1 Begin\n- [ ] 1.2 Go on\n  - **Verify**: `test -f out`\n";
    let workspace = Workspace::with_tasks(tasks)
        .agent("1.2:1) echo TASK_COMPLETE ;;\n*) touch out; echo TASK_COMPLETE ;;");
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let first = workspace.run_as_text(&["--max-task-iterations=1"]);
    assert_eq!(first.code, Some(1), "{}", first.stdout);
    // The next run, too, until one has ended with all tasks done.
    let output = workspace.run_as_text(&[]);
    assert_eq!(output.code, Some(0), "{}", output.stdout);
    for printed in [&first.stdout, &output.stdout] {
        assert!(
            words(printed).contains(
                "1 task was ticked before regreen first ran this list, and never checked: 1.1"
            ),
            "{printed}"
        );
    }
}

#[test]
fn commands_that_continue_name_the_line_of_a_task_whose_id_is_ambiguous() {
    let tasks =
        "- [ ] 1.1 One\n  - **Verify**: `true`\n- [ ] 1.1 Two\n  - **Verify**: `test -f nosuch`\n";
    let workspace = Workspace::with_tasks(tasks).agent("*) echo x >>out; echo TASK_COMPLETE ;;");
    let output = workspace.run_as_text(&["--max-task-iterations=1"]);
    assert_eq!(output.code, Some(1), "{}", output.stdout);
    assert!(
        output.stdout.contains("regreen why 1.1 --line 3"),
        "{}",
        output.stdout
    );
    workspace
        .regreen(&["why", "1.1", "--line", "3"])
        .mentions("Two");
}
