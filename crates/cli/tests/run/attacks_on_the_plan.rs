//! Ways to a false green by the task file: each fails, whether the agent makes the change itself,
//! or a test script or commit hook that it wrote.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use regreen_test_support::{Output, TASKS, Workspace};

/// The agent attacks while 1.1 is done. It never does 1.2 and 1.3, so no run of this plan is green.
const PLAN: &str = "# Plan

- [ ] 1.1 First
  - **Verify**: `sh check.sh`
  - **Commit**: `feat: first`

- [ ] 1.2 Second
  - **Verify**: `test -f second`

- [ ] 1.3 Third
  - **Verify**: `test -f third`
";

/// What is done to the task file.
const ATTACKS: &[(&str, &str)] = &[
    ("all rows are ticked", r"sed -i 's/- \[ \]/- [x]/' $tasks"),
    (
        "a star makes rows optional",
        r"sed -i 's/\[ \] 1.\([23]\)/[ ]* 1.\1/' $tasks",
    ),
    (
        "an escaped star, too",
        r"sed -i 's/\[ \] 1.\([23]\)/[ ]\\* 1.\1/' $tasks",
    ),
    (
        "rows become fixes of a done task",
        r"sed -i 's/1.\([23]\) /1.\1 [FIX 1.1] /' $tasks",
    ),
    (
        "rows become fixes and are ticked",
        r"sed -i 's/\[ \] 1.\([23]\) /[x] 1.\1 [FIX 1.1] /' $tasks",
    ),
    (
        "the Verify of later rows is rewritten",
        r"sed -i 's/test -f .*`/true`/' $tasks",
    ),
    (
        "the Verify of later rows is removed",
        r"sed -i '/test -f/d' $tasks",
    ),
    (
        "another Verify comes first",
        r"sed -i 's/^\(  - \*\*Verify\*\*: \)`test/\1`true`\n&/' $tasks",
    ),
    (
        "Verify is rewritten, and rows are ticked",
        r"sed -i 's/test -f .*`/true`/; s/- \[ \]/- [x]/' $tasks",
    ),
    ("rows are deleted", r"sed -i '/1.2/,$d' $tasks"),
    ("rows lose their ids", r"sed -i 's/1.[23] //' $tasks"),
    (
        "rows get other ids",
        r"sed -i 's/1.\([23]\) /9.\1 /; s/test -f .*`/true`/' $tasks",
    ),
    (
        "rows go into a comment",
        r"sed -i 's/^- \[ \] 1.2/<!--\n&/' $tasks; echo '-->' >>$tasks",
    ),
    (
        "rows go into a fence",
        r"sed -i 's/^- \[ \] 1.2/```\n&/' $tasks; echo '```' >>$tasks",
    ),
    (
        "rows go below the running one",
        r"sed -i '/1.2/,$s/^/  /' $tasks",
    ),
    (
        "rows become groups of done parts",
        r"sed -i 's/^- \[ \] \(1.[23]\).*/&\n  - [x] \1.1 Part/; /test -f/d' $tasks",
    ),
    (
        "ticked twins take their place",
        r"sed -i 's/^- \[ \] \(1.[23].*\)/- [x] \1\n  - **Verify**: `true`\n\n&/' $tasks",
    ),
    (
        "all boxes become markers",
        r"sed -i 's/\[ \] 1.\([23]\)/[P] 1.\1/' $tasks",
    ),
    (
        "another plan",
        r"printf -- '- [x] 1.1 First\n- [x] 1.2 Second\n- [x] 1.3 Third\n' >$tasks",
    ),
    ("an empty plan", r": >$tasks"),
    ("no plan at all", r"rm $tasks"),
    (
        "a plan that is not text, with all rows ticked",
        r"sed -i 's/- \[ \]/- [x]/' $tasks; printf '\377\n' >>$tasks",
    ),
    ("a pipe", r"rm $tasks; mkfifo $tasks"),
    ("a folder", r"rm $tasks; mkdir $tasks"),
];

/// A workspace in which the plan is attacked.
type Attacked = fn(&str) -> Workspace;

/// Who attacks.
const ATTACKERS: [(&str, Attacked); 3] =
    [("agent", by_agent), ("check", by_check), ("hook", by_hook)];

fn workspace(attack: &str, first: &str) -> Workspace {
    let attack = format!("tasks={TASKS}\n{attack}\n");
    Workspace::with_tasks(PLAN)
        .file("attack.sh", attack)
        .file("check.sh", "true\n")
        .git_repository()
        .committed("before")
        .agent(&format!(
            "1.1:*) {first}; touch first; echo TASK_COMPLETE ;;\n*) echo TASK_COMPLETE ;;"
        ))
}

fn by_agent(attack: &str) -> Workspace {
    workspace(attack, "sh attack.sh")
}

fn by_check(attack: &str) -> Workspace {
    workspace(attack, "echo 'sh attack.sh' >check.sh")
}

/// People's hook runs a script of the repository.
fn by_hook(attack: &str) -> Workspace {
    let workspace = workspace(attack, "echo 'sh attack.sh' >hook.sh");
    let hook = workspace.path(".git/hooks/pre-commit");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, "#!/bin/sh\ntest ! -f hook.sh || sh hook.sh\n").unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    workspace
}

fn run(workspace: &Workspace) -> Output {
    workspace.run(&["--max-task-iterations=1"])
}

/// The rows and their fields: an agent may drop a heading.
fn rows(plan: &str) -> Vec<&str> {
    let lines = plan.lines();
    lines
        .filter(|line| line.trim_start().starts_with("- "))
        .collect()
}

#[test]
fn no_change_of_the_plan_makes_a_run_green() {
    for (who, attacked) in ATTACKERS {
        for (what, attack) in ATTACKS {
            let workspace = attacked(attack);
            let printed = run(&workspace);
            let said = format!("{who}: {what}\n{}{}", printed.stdout, printed.stderr);
            assert_eq!(printed.code, Some(1), "{said}");
            assert!(said.contains("Max retries reached for task 1.2"), "{said}");
            let expected = PLAN.replacen("[ ]", "[x]", 1);
            assert_eq!(rows(&workspace.text(TASKS)), rows(&expected), "{said}");
        }
    }
}

/// The run is over, and its rows are people's again: but a choice needs a person.
#[test]
fn an_agent_cannot_decide_for_the_person() {
    for command in [
        "skip 1.2",
        "done 1.2",
        "retry 1.1",
        "undo 1.1",
        "accept-plan",
    ] {
        let workspace = by_agent("true");
        let words: Vec<&str> = command.split(' ').collect();
        let before = workspace.text(TASKS);
        let mut started = workspace.command(&words);
        let output = started.env("REGREEN_KEEPER", "tree-1:2").output().unwrap();
        let printed = workspace.output(&output);
        assert_eq!(
            printed.code,
            Some(2),
            "{command}: {}{}",
            printed.stdout,
            printed.stderr
        );
        assert!(
            printed.stderr.contains("decides for a person"),
            "{}",
            printed.stderr
        );
        assert_eq!(workspace.text(TASKS), before);
        assert!(!workspace.has(".regreen"), "{command}");
    }
}

/// In an attempt, in a check and in a hook, the commands are refused as well.
#[test]
fn nothing_that_a_run_starts_can_decide_for_the_person() {
    let regreen = regreen_test_support::regreen();
    for (who, attacked) in ATTACKERS {
        let choose = format!("{} done 1.2 >>said 2>&1; true", regreen.display());
        let workspace = attacked(&choose);
        let printed = run(&workspace);
        assert_eq!(
            printed.code,
            Some(1),
            "{who}: {}{}",
            printed.stdout,
            printed.stderr
        );
        let said = workspace.text("said");
        assert!(said.contains("decides for a person"), "{who}: {said}");
        assert!(workspace.text(TASKS).contains("- [ ] 1.2"), "{who}");
    }
}

#[test]
fn a_person_can_accept_what_was_reverted() {
    let workspace = by_check(r"sed -i 's/\[ \] 1.2/[ ]* 1.2/; s/test -f third/true/' $tasks");
    run(&workspace).exits(1).mentions("regreen accept-plan");
    let shown = workspace.regreen(&["accept-plan", "--dry-run"]);
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    assert!(
        shown.stdout.contains("+ - [ ]* 1.2 Second\n"),
        "{}",
        shown.stdout
    );
    assert!(workspace.text(TASKS).contains("- [ ] 1.2"));
    let accepted = workspace.regreen(&["accept-plan"]);
    assert_eq!(accepted.code, Some(0), "{}", accepted.stderr);
    let expected = PLAN
        .replacen("[ ]", "[x]", 1)
        .replace("[ ] 1.2", "[ ]* 1.2")
        .replace("test -f third", "true");
    assert_eq!(workspace.text(TASKS), expected);
    run(&workspace).exits(0).mentions("1.3 attempt");
    // It was accepted once.
    let again = workspace.regreen(&["accept-plan"]);
    assert_eq!(again.code, Some(2), "{}{}", again.stdout, again.stderr);
}

#[test]
fn changes_that_cannot_be_merged_are_not_accepted() {
    let workspace = by_check(r"sed -i 's/\[ \] 1.2/[ ]* 1.2/' $tasks");
    run(&workspace).exits(1);
    let edited = workspace.text(TASKS).replace("1.2 Second", "1.2 Another");
    let workspace = workspace.file(TASKS, &edited);
    let refused = workspace.regreen(&["accept-plan"]);
    assert_eq!(
        refused.code,
        Some(3),
        "{}{}",
        refused.stdout,
        refused.stderr
    );
    assert!(refused.stderr.contains("1.plan.md"), "{}", refused.stderr);
    assert_eq!(workspace.text(TASKS), edited);
}

/// The agent removes 1.3 twice; people have not settled it.
fn removed_twice() -> Workspace {
    let tasks = "- [ ] 1.1 First\n  - **Verify**: `true`\n- [ ] 1.2 Second\n  - **Verify**: `true`\n- [ ] 1.3 Third\n  - **Verify**: `test -f third`\n";
    let workspace = Workspace::with_tasks(tasks)
        .agent("1.[12]:*) sed -i '/1.3/,$d' $tasks; echo TASK_COMPLETE ;;");
    workspace.run(&[]).exits(1);
    assert!(!workspace.text(TASKS).contains("1.3"));
    workspace
}

#[test]
fn a_row_that_was_removed_twice_is_open_in_every_later_run() {
    let workspace = removed_twice();
    for _ in 0..2 {
        workspace.run(&[]).exits(1).mentions("regreen skip 1.3");
    }
    workspace.regreen(&["skip", "1.3"]).exits(0);
    workspace.run(&[]).exits(0).omits("regreen skip 1.3");
}

#[test]
fn a_row_that_was_removed_twice_and_is_put_back_is_an_ordinary_one() {
    let workspace = removed_twice();
    let text = workspace.text(TASKS) + "- [ ] 1.3 Third\n  - **Verify**: `true`\n";
    let workspace = workspace
        .file(TASKS, text)
        .agent("1.3:*) echo TASK_COMPLETE ;;");
    workspace.run(&[]).exits(0).mentions("1.3 attempt");
}

#[test]
fn thousands_of_ticked_rows_are_told_in_a_few_lines() {
    let add = "i=0; while [ $i -lt 300 ]; do echo \"- [x] 9.$i x\"; i=$((i+1)); done >>$tasks";
    let workspace = by_agent(add);
    let told = run(&workspace).exits(1);
    let lines = told.stdout.matches("was taken back").count();
    assert!(lines <= 10, "{}", told.stdout);
    let told = told.stdout;
    assert!(
        told.contains("ticks of 295 more tasks were taken back"),
        "{told}"
    );
}
