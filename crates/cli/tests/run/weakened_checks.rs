//! Agents that weaken a check in the files that git shows: tests, scripts, settings.

use std::os::unix::fs::PermissionsExt;

use regreen_test_support::Workspace;

const PLAN: &str = "- [ ] 1.1 Mend the total
  - **Verify**: `sh tests/test_total.sh`
  - **Commit**: `fix: total`
";

const TEST: &str = "#!/bin/sh
set -e
test_total() {
  [ \"$(sh total.sh 3 4)\" = 7 ]
}
test_none() {
  [ \"$(sh total.sh)\" = 0 ]
}
test_total
test_none
";

const RIGHT: &str = "s=0; for p in \"$@\"; do s=$((s+p)); done; echo $s";

/// A repository with a test, in which attempts do this.
fn project(attempts: &str) -> Workspace {
    Workspace::with_tasks(PLAN)
        .file("tests/test_total.sh", TEST)
        .file("total.sh", "echo 12\n")
        .git_repository()
        .agent(attempts)
}

#[test]
fn an_attempt_with_two_signs_has_failed_and_the_test_is_as_it_was() {
    let workspace = project(&format!(
        "1.1:1) sed -i -e '/^test_none/,$d' -e 's/^test_total$/test_total || true/' tests/test_total.sh; echo 'test_total || true' >>tests/test_total.sh; echo TASK_COMPLETE ;;
         *) printf '%s\\n' '{RIGHT}' >total.sh; echo TASK_COMPLETE ;;"
    ));
    let output = workspace.run_as_text(&[]);
    assert_eq!(output.code, Some(0), "{}", output.stdout);
    assert_eq!(workspace.text("tests/test_total.sh"), TEST);
    workspace
        .regreen(&["why", "1.1"])
        .mentions("the attempt weakened checks of others")
        .mentions("tests/test_total.sh removes a test: test_none")
        .mentions("swallows an exit code: test_total || true")
        .mentions("regreen restored tests/test_total.sh");
}

#[test]
fn a_single_sign_is_a_warning_and_the_policy_may_be_off() {
    let attempt = format!(
        "*) printf '%s\\n' '{RIGHT}' >total.sh; sed -i 's/^test_none$/test_none || true/' tests/test_total.sh; echo TASK_COMPLETE ;;"
    );
    let workspace = project(&attempt);
    workspace.run_as_text(&[]).exits(0).mentions(
        "attempt 1 of task 1.1 may have weakened a check: tests/test_total.sh:10 swallows an exit code",
    );
    let workspace = project(&attempt);
    workspace
        .run_as_text(&["--tamper", "off"])
        .exits(0)
        .omits("weakened");
}

#[test]
fn a_task_may_change_the_files_that_it_names() {
    let plan = PLAN.replace(
        "  - **Verify**",
        "  - **Files**: `total.sh`, `tests/test_total.sh`\n  - **Verify**",
    );
    let attempt = format!(
        "*) printf '%s\\n' '{RIGHT}' >total.sh; sed -i -e '/^test_none/,$d' tests/test_total.sh; echo 'test_total || true' >>tests/test_total.sh; echo TASK_COMPLETE ;;"
    );
    let workspace = Workspace::with_tasks(&plan)
        .file("tests/test_total.sh", TEST)
        .file("total.sh", "echo 12\n")
        .git_repository()
        .agent(&attempt);
    workspace.run_as_text(&[]).exits(0);
    assert!(workspace.text("tests/test_total.sh").contains("|| true"));
}

/// Neither a snapshot nor `git diff` shows such a script.
#[test]
fn a_check_script_that_git_ignores_is_compared_and_restored_like_others() {
    let plan = "- [ ] 1.1 Mend the total\n  - **Verify**: `./check.sh`\n";
    let check = "#!/bin/sh\nset -e\ntest \"$(sh total.sh 3 4)\" = 7\n";
    let project = |attempts: &str| {
        let workspace = Workspace::with_tasks(plan)
            .file(".gitignore", "check.sh\n")
            .file("check.sh", check)
            .file("total.sh", "echo 12\n")
            .git_repository()
            .agent(attempts);
        let script = workspace.path("check.sh");
        std::fs::set_permissions(script, PermissionsExt::from_mode(0o755)).unwrap();
        workspace
    };
    let workspace = project(
        "*) printf '#!/bin/sh\\nexit 0\\n' >check.sh; echo x >>note; echo TASK_COMPLETE ;;",
    );
    let output = workspace.run_as_text(&["--max-task-iterations=1"]);
    let printed = format!("{}{}", output.stdout, output.stderr);
    assert!(printed.contains("check.sh"), "{printed}");
    assert!(printed.contains("weakened"), "{printed}");
    let workspace = project(&format!(
        "1.1:1) printf '#!/bin/sh\\nsh total.sh 3 4 || true\\n' >check.sh; echo TASK_COMPLETE ;;
         *) printf '%s\\n' '{RIGHT}' >total.sh; echo TASK_COMPLETE ;;"
    ));
    let output = workspace.run_as_text(&[]);
    assert_eq!(output.code, Some(0), "{}", output.stdout);
    assert_eq!(workspace.text("check.sh"), check);
    let mode = workspace
        .path("check.sh")
        .metadata()
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o755);
    workspace
        .regreen(&["why", "1.1"])
        .mentions("edits what a Verify runs")
        .mentions("regreen restored check.sh");
}
