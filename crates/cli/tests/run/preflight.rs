//! Obstacles to a run are found before anything is created.

use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use regreen_test_support::{Output, TASKS, Workspace};

const PLAN: &str = "- [ ] 1.1 Write it\n  - **Verify**: `true`\n  - **Commit**: `feat: it`\n";

/// Messages are wrapped.
#[track_caller]
fn check_complains(output: &Output, said: &str) {
    let message = output.stderr.replace("\n  │ ", " ");
    assert!(message.contains(said), "{message}");
}

#[track_caller]
fn check_refused(workspace: &Workspace, output: &Output, said: &str) {
    assert_eq!(output.code, Some(78), "{}{}", output.stdout, output.stderr);
    check_complains(output, said);
    assert!(!workspace.path(".regreen").exists());
    assert!(!workspace.path("started").exists());
}

fn project() -> Workspace {
    Workspace::in_git(PLAN).agent("*) touch started; echo TASK_COMPLETE ;;")
}

#[test]
fn an_unfinished_merge_or_rebase_is_found_before_the_first_attempt() {
    let workspace = project();
    let head = workspace.git(&["rev-parse", "HEAD"]);
    let workspace = workspace.file(".git/MERGE_HEAD", head);
    check_refused(
        &workspace,
        &workspace.run_as_text(&[]),
        "git is in the middle of a merge",
    );
    // Without commits, it doesn't matter.
    assert_eq!(workspace.run_as_text(&["--commit=never"]).code, Some(0));
    let workspace = project().file(".git/rebase-merge/done", "");
    check_refused(
        &workspace,
        &workspace.run_as_text(&[]),
        "git is in the middle of a rebase",
    );
}

#[test]
fn a_missing_identity_is_found_before_the_first_attempt() {
    let workspace = project();
    for (key, value) in [("user.name", ""), ("user.email", "")] {
        workspace.git(&["config", key, value]);
    }
    workspace.git(&["config", "user.useConfigOnly", "true"]);
    check_refused(
        &workspace,
        &workspace.run_as_text(&[]),
        "git does not know who is committing",
    );
}

#[test]
fn where_no_agent_is_installed_a_task_without_commands_is_found_before_the_first_attempt() {
    let workspace = Workspace::in_git(
        "- [ ] 1.1 Write it\n  - **Do**: `touch started`\n- [ ] 1.2 In words\n  - **Do**: think\n",
    );
    let run = |flags: &[&str]| {
        let flags = [&["run"], flags].concat();
        let mut command = workspace.command(&flags);
        // Whatever else is installed.
        let output = command.env("PATH", "/usr/bin:/bin").output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), text)
    };
    let (code, said) = run(&[]);
    assert_eq!(code, Some(78), "{said}");
    for part in [
        "no coding agent is installed, and 1.2 has no commands for the shell agent",
        "install claude, codex, gemini or opencode, or name one with --agent",
    ] {
        assert!(said.contains(part), "{said}");
    }
    assert!(!workspace.path("started").exists());
    // Who names the shell gets it.
    let (code, said) = run(&["--agent=shell", "--max-task-iterations=1"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(workspace.path("started").exists());
}

#[test]
fn a_missing_agent_is_found_before_the_first_attempt() {
    let workspace = project();
    let output = workspace.regreen(&["run", "--agent=command:no-such-agent"]);
    check_refused(
        &workspace,
        &output,
        "`no-such-agent` is not installed or not in PATH",
    );
}

/// The way past every finding.
const WARN: &str = "--preflight=warn";

fn with_plan(plan: &str) -> Workspace {
    Workspace::with_tasks(plan).agent("*) touch started; echo TASK_COMPLETE ;;")
}

#[track_caller]
fn check_plan_refused(workspace: &Workspace, code: i32, said: &str) {
    let output = workspace.run_as_text(&[]);
    assert_eq!(
        output.code,
        Some(code),
        "{}{}",
        output.stdout,
        output.stderr
    );
    check_complains(&output, said);
    assert!(!workspace.has(".regreen") && !workspace.has("started"));
    let dry = workspace.run_as_text(&["--dry-run"]);
    assert_eq!(dry.code, Some(code), "{}{}", dry.stdout, dry.stderr);
    assert!(
        dry.stdout.contains(&format!("error: {said}")),
        "{}",
        dry.stdout
    );
    assert!(!workspace.has(".regreen"));
}

/// Runs to the end, with this warning; an empty one for none.
#[track_caller]
fn check_warned(workspace: &Workspace, flags: &[&str], said: &str) {
    let output = workspace.run_as_text(flags);
    let shown = format!("{}{}", output.stdout, output.stderr);
    assert!(workspace.has("started"), "{shown}");
    match said {
        "" => assert!(!shown.contains("did you mean"), "{shown}"),
        said => assert!(shown.contains(said), "{shown}"),
    }
}

#[test]
fn a_check_whose_program_is_missing_is_found_before_the_first_attempt() {
    let plan = "- [ ] 1.1 Write it\n  - **Verify**: `no-such-pytest -q`\n\
                - [ ] 1.2 Test it\n  - **Verify**: `cd . && no-such-pytest tests`\n\
                - [x] 1.3 Done\n  - **Verify**: `no-such-tool`\n";
    let said = "1.1, 1.2: `no-such-pytest` is not installed or not in PATH; install it, or add a task that does";
    check_plan_refused(&with_plan(plan), 78, said);
    check_warned(
        &with_plan(plan),
        &[WARN],
        "`no-such-pytest` is not installed",
    );
    // Without a look, only the attempt itself tells.
    let output = with_plan(plan).run_as_text(&["--preflight=off"]);
    assert!(
        !output.stdout.contains("is not installed or not in PATH"),
        "{}",
        output.stdout
    );
    // The gate stands in for a Verify.
    let workspace =
        with_plan("- [ ] 1.1 Write it\n").file("regreen.toml", "gate = 'no-such-gate'\n");
    check_plan_refused(&workspace, 78, "1.1: `no-such-gate` is not installed");
}

#[test]
fn a_module_of_python_that_is_missing_is_found_and_nothing_is_imported() {
    let plan = "- [ ] 1.1 Test it\n  - **Verify**: `python3 -m no_such_pytest -q`\n";
    let said = "1.1: `python3` has no module `no_such_pytest`; install it, or add a task that does";
    check_plan_refused(&with_plan(plan), 78, said);
    // One of the project's own, which a task may make, and one that comes with the interpreter.
    let own = "- [ ] 1.1 Add shop/cli.py\n  - **Verify**: `python3 -m shop.cli && python3 -m app && python3 -m json.tool x`\n";
    let workspace = with_plan(own).file("app/__init__.py", "open('ran', 'w')\n");
    let output = workspace.run_as_text(&["--dry-run"]);
    assert!(
        !output.stdout.contains("has no module"),
        "{}",
        output.stdout
    );
    assert!(!workspace.has("ran"));
}

#[test]
fn a_misspelt_script_or_target_is_found_with_the_right_name() {
    let plan = "- [ ] 1.1 Write it\n  - **Verify**: `bash scripts/chek.sh`\n\
                - [ ] 1.2 Lint it\n  - **Verify**: `make lnit`\n";
    let project = || {
        let workspace = with_plan(plan);
        workspace
            .file("scripts/check.sh", "")
            .file("Makefile", "lint:\n\ttrue\n")
    };
    let path =
        "1.1: scripts/chek.sh does not exist; did you mean `scripts/check.sh`? Correct the Verify";
    check_plan_refused(&project(), 78, path);
    let target = "1.2: make has no target lnit; did you mean `lint`? Correct the Verify";
    check_plan_refused(&project(), 78, target);
    // A task may be about to make it.
    let made = plan.replace(
        "Write it\n",
        "Write it\n  - **Files**: scripts/chek.sh, Makefile\n",
    );
    let workspace = with_plan(&made)
        .file("scripts/check.sh", "")
        .file("Makefile", "lint:\n");
    check_warned(&workspace, &["--max-task-iterations=1"], "");
}

#[test]
fn what_a_task_may_still_provide_is_only_a_warning() {
    let plan = "- [ ] 1.1 Install the tools\n- [ ] 1.2 Test it\n  - **Verify**: `no-such-pytest`\n";
    let said = "1.2: `no-such-pytest` is not installed or not in PATH; this task or one before it may install it";
    check_warned(&with_plan(plan), &["--max-task-iterations=1"], said);
    let plan = "- [ ] 1.1 Test it\n  - **Verify**: `bash scripts/e2e.sh`\n";
    let said = "1.1: scripts/e2e.sh does not exist; no task names it; an agent may create it";
    check_warned(&with_plan(plan), &["--max-task-iterations=1"], said);
}

#[test]
fn what_recovery_can_repair_is_only_a_warning() {
    let plan = "- [ ] 1.1 Test it\n  - **Verify**: `zqtool --check`\n";
    let project = || {
        let workspace = with_plan(plan)
            .file(".venv/pyvenv.cfg", "")
            .file(".venv/bin/python", "");
        let workspace = workspace.file(".venv/bin/zqtool", "#!/bin/sh\n");
        for name in ["python", "zqtool"] {
            let program = workspace.path(&format!(".venv/bin/{name}"));
            std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        workspace
    };
    let said = "it is in .venv/bin: run `. .venv/bin/activate`, or run with --recovery-mode";
    check_refused(&project(), &project().run_as_text(&[]), said);
    let workspace = project();
    let flags = ["--recovery-mode", "--max-task-iterations=1"];
    check_warned(
        &workspace,
        &flags,
        "1.1: `zqtool` is not installed or not in PATH; recovery can ",
    );
}

#[test]
fn a_check_that_the_shell_cannot_read_is_found_and_not_run() {
    let plan = "- [ ] 1.1 Write it\n  - **Verify**: `touch ran && (echo $(touch ran)`\n";
    let said = "1.1: the shell can't read a command: ";
    let workspace = with_plan(plan).file("env.sh", "touch ran\n");
    let env = workspace.path("env.sh");
    let mut command = workspace.command(&["run", "--agent", &workspace.agent_flag()]);
    let output = command
        .env("BASH_ENV", &env)
        .env("ENV", &env)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(!workspace.has("ran"));
    check_plan_refused(&workspace, 2, said);
    assert!(!workspace.has("ran"));
}

#[test]
fn a_missing_login_is_found() {
    let said = "no login of Claude Code was found";
    let fake = || {
        let plan = "- [ ] 1.1 Write it\n  - **Verify**: `true`\n";
        Workspace::with_tasks(plan).program("claude", "exit 1")
    };
    let flags = ["run", "--agent=claude", "--dry-run"];
    let show = |workspace: &Workspace, set: &[(&str, &str)]| {
        let mut command = workspace.command(&flags);
        for name in [
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "ANTHROPIC_BASE_URL",
            "CLAUDE_CODE_OAUTH_TOKEN",
        ] {
            command.env_remove(name);
        }
        let output = command.envs(set.iter().copied()).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stdout).unwrap()
    };
    let shown = show(&fake(), &[]);
    assert!(shown.contains(&format!("warning: {said}")), "{shown}");
    for shown in [
        show(&fake(), &[("ANTHROPIC_API_KEY", "x")]),
        show(&fake(), &[("CLAUDE_CODE_USE_BEDROCK", "1")]),
        show(&fake().file("user/.claude/.credentials.json", "{}"), &[]),
    ] {
        assert!(!shown.contains(said), "{shown}");
    }
    // It is not even called.
    assert!(!fake().has_note("calls"));
}

#[test]
fn a_resumed_run_is_not_looked_at_again() {
    let plan = "- [ ] 1.1 Write it\n  - **Verify**: `true`\n";
    let workspace = Workspace::with_tasks(plan).agent(
        "*) touch $notes/working; test -f $notes/second || { touch $notes/second; sleep 300; }; echo TASK_COMPLETE ;;",
    );
    let run = workspace.start(&[], "working");
    let stopped = workspace.regreen(&["stop"]);
    assert_eq!(stopped.code, Some(0), "{}", stopped.stderr);
    run.wait();
    let more = "- [ ] 1.2 Test it\n  - **Verify**: `no-such-pytest`\n";
    let workspace = workspace.file(TASKS, format!("{plan}{more}"));
    let resumed = workspace.run_as_text(&["--max-task-iterations=1"]);
    assert_eq!(
        resumed.code,
        Some(1),
        "{}{}",
        resumed.stdout,
        resumed.stderr
    );
    assert!(workspace.text(TASKS).contains("- [x] 1.1"));
}

#[test]
fn a_long_plan_is_looked_at_in_a_moment() {
    let row = |n: usize| {
        format!(
            "- [ ] 1.{n} Write part {n}\n  - **Verify**: `test -n \"{n}\" && (cd . && ls) | grep -q specs`\n"
        )
    };
    let plan: String = (1..=60).map(row).collect();
    let time = |flag: &str| {
        let workspace = with_plan(&plan);
        let began = Instant::now();
        let output = workspace.run_as_text(&["--dry-run", flag]);
        assert_eq!(output.code, Some(0), "{}{}", output.stdout, output.stderr);
        assert!(!output.stdout.contains("warning"), "{}", output.stdout);
        began.elapsed()
    };
    let (without, with) = (time("--preflight=off"), time("--preflight=fail"));
    println!("60 tasks: {without:?} without a look, {with:?} with one");
    // Generous, for a busy machine and a build without optimizations.
    assert!(with < without + Duration::from_secs(20), "{with:?}");
}
