//! Attempts at a false green through the task file: each fails, whether the agent makes the change
//! itself, or a test script or commit hook that it wrote.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use regreen_test_support::{Output, TASKS, Workspace};

/// The attack happens while the agent works on 1.1. The agent never does 1.2 and 1.3, so no run of
/// this plan is green.
const PLAN: &str = "# Plan

- [ ] 1.1 First
  - **Verify**: `sh check.sh`
  - **Commit**: `feat: first`

- [ ] 1.2 Second
  - **Verify**: `test -f second`

- [ ] 1.3 Third
  - **Verify**: `test -f third`
";

/// The attacks on the task file.
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

/// People's own hook runs a script of the repository.
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

/// Returns the rows and their fields; an agent may drop a heading.
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

/// After the run, the rows are people's again, but a choice still needs a person.
#[test]
fn an_agent_cannot_decide_for_the_person() {
    for command in [
        "skip 1.2",
        "done 1.2",
        "retry 1.1",
        "undo 1.1",
        "accept-plan",
        "answer 1.2 done",
        "stop",
        "stop --after-task",
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

/// The commands are also refused in an attempt, a check and a hook.
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

/// Ways in which a program hides that a run started it: it removes the marker, cleans the whole
/// environment, or leaves its parents and its session as well.
const DISGUISES: [&str; 4] = [
    "REGREEN",
    "env -u REGREEN_KEEPER REGREEN",
    "env -i REGREEN",
    "setsid env -i sh -c 'sleep 0.1; REGREEN; touch ended' & sleep 0.05",
];

#[test]
fn no_disguise_makes_an_agent_a_person() {
    let regreen = regreen_test_support::regreen().display().to_string();
    let commands = [
        "skip 1.2",
        "done 1.2",
        "retry 1.1",
        "undo 1.1",
        "accept-plan",
        "answer 1.2 done",
        "stop",
    ];
    let tries: Vec<String> = commands
        .iter()
        .flat_map(|command| DISGUISES.map(|disguise| (*command, disguise)))
        .map(|(command, disguise)| {
            disguise.replace("REGREEN;", &format!("{regreen} {command} >>said 2>&1;"))
                + &if disguise.ends_with("REGREEN") {
                    format!(" {command} >>said 2>&1")
                } else {
                    "\nwhile ! test -f ended; do sleep 0.02; done; rm ended".to_owned()
                }
        })
        .map(|line| line.replace("REGREEN ", &format!("{regreen} ")))
        .collect();
    let workspace = by_agent(&tries.join("\n"));
    let printed = run(&workspace);
    let said = workspace.text("said");
    let refused = said.matches("decides for a person").count();
    assert_eq!(refused, tries.len(), "{said}");
    assert!(workspace.text(TASKS).contains("- [ ] 1.2"));
    assert_eq!(printed.code, Some(1), "{}", printed.stdout);
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
    // It can be accepted only once.
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

/// The agent removes 1.3 twice, and no one has decided about it.
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

/// The agent ticks the rows of another spec, or rewrites their Verify, for a later run of that spec.
#[test]
fn no_change_of_the_plan_of_another_spec_makes_its_run_green() {
    let other = "specs/other/tasks.md";
    let plan = "- [ ] 1.1 Make o\n  - **Verify**: `test -f o`\n- [ ] 1.2 Make p\n";
    for attack in [
        "sed -i 's/\\[ \\]/[x]/'",
        "sed -i 's/test -f o/true/'",
        "rm",
    ] {
        let workspace = Workspace::with_tasks("- [ ] 1.1 First\n  - **Verify**: `test -f first`\n")
            .file(other, plan)
            .agent(&format!(
                "*) touch first; [ $REGREEN_SPEC_DIR = specs/other ] || {attack} {other}; echo TASK_COMPLETE ;;"
            ));
        let told = workspace.run_as_text(&["demo"]).exits(0);
        told.mentions("specs/other/tasks.md, the plan of another spec, was");
        assert_eq!(workspace.text(other), plan, "{attack}");
        let told = workspace.run_as_text(&["other", "--max-task-iterations=1"]);
        told.exits(1).mentions("`test -f o` ended with");
    }
}

#[test]
fn the_plan_of_another_spec_is_reviewed_after_a_kill_too() {
    let other = "specs/other/tasks.md";
    let plan = "- [ ] 1.1 Make o\n  - **Verify**: `test -f o`\n";
    let kill = "kill -9 $(grep PPid /proc/$PPID/status | cut -f2); sleep 5";
    let workspace = Workspace::with_tasks("- [ ] 1.1 First\n  - **Verify**: `test -f first`\n")
        .file(other, plan)
        .agent(&format!("*) sed -i 's/test -f o/true/' {other}; {kill} ;;"));
    assert_eq!(workspace.run_as_text(&["demo"]).code, None);
    assert_ne!(workspace.text(other), plan);
    let workspace = workspace.agent("*) echo TASK_COMPLETE ;;");
    let told = workspace.run_as_text(&["other", "--max-task-iterations=1"]);
    told.exits(1)
        .mentions("the plan of another spec, was changed");
    assert_eq!(workspace.text(other), plan);
}

/// People write the next plan while a run is at work.
#[test]
fn rows_and_texts_that_are_new_in_the_plan_of_another_spec_stay() {
    let other = "specs/other/tasks.md";
    let workspace = Workspace::with_tasks("- [ ] 1.1 First\n  - **Verify**: `test -f first`\n")
        .file(other, "- [ ] 1.1 Make o\n")
        .agent(&format!(
            "*) touch first; echo '- [ ] 1.2 Make p' >>{other}; echo TASK_COMPLETE ;;"
        ));
    let told = workspace.run_as_text(&["demo"]).exits(0);
    told.omits("the plan of another spec");
    assert_eq!(
        workspace.text(other),
        "- [ ] 1.1 Make o\n- [ ] 1.2 Make p\n"
    );
}

/// A plan that regreen could not write is reviewed by the next run, like one after a kill.
#[test]
fn a_plan_that_the_agent_made_read_only_is_reviewed_by_the_next_run() {
    for lock in [
        "chmod 444 $tasks",
        "chmod 444 $tasks; chmod 555 $REGREEN_SPEC_DIR",
    ] {
        let plan = "- [ ] 1.1 First\n  - **Verify**: `test -f a`\n- [ ] 1.2 Second\n  - **Verify**: `test -f b`\n";
        let attack =
            "sed 's/\\[ \\]/[x]/; s/test -f ./true/' $tasks >$notes/plan; cat $notes/plan >$tasks";
        let workspace = Workspace::with_tasks(plan).agent(&format!(
            "1.1:1) touch a; {attack}; {lock}; echo TASK_COMPLETE ;;\n*) echo TASK_COMPLETE ;;"
        ));
        let agent = workspace.agent_flag();
        let flags = ["run", "--agent", &agent, "--max-task-iterations=1"];
        let Some(told) = workspace.as_ordinary_user(&flags) else {
            return;
        };
        told.exits(78);
        let writable = |path: &str, mode| {
            fs::set_permissions(workspace.path(path), fs::Permissions::from_mode(mode)).unwrap();
        };
        writable("specs/demo", 0o755);
        writable(TASKS, 0o644);
        let told = workspace.as_ordinary_user(&flags).unwrap();
        assert_eq!(told.code, Some(1), "{lock}: {}{}", told.stdout, told.stderr);
        assert!(workspace.text(TASKS).contains("test -f b"), "{lock}");
    }
}

#[test]
fn a_row_that_was_removed_twice_is_not_written_again_by_the_agent() {
    let plan = "- [ ] 1.1 A\n  - **Verify**: `test -f a`\n- [ ] 1.2 B\n- [ ] 1.3 C\n- [ ] 1.4 D\n  - **Verify**: `test -f d`\n";
    let workspace = Workspace::with_tasks(plan).agent(
        "1.3:*) touch c; printf -- '- [ ] 1.4 D\\n  - **Verify**: `true`\\n' >>$tasks; echo TASK_COMPLETE ;;
         1.4:*) echo TASK_COMPLETE ;;
         *) touch a; echo $REGREEN_TASK_ID >>b; sed -i '/1.4/,$d' $tasks; echo TASK_COMPLETE ;;",
    );
    for _ in 0..2 {
        let told = workspace.run_as_text(&["--max-task-iterations=2"]);
        told.exits(1).mentions("regreen skip 1.4");
    }
}
