//! The diagnosed cause of a failure, in the next prompt and in the question to a person.

use regreen_test_support::{TASKS, Workspace};

const RED: &str = "- [ ] 1.1 Store it\n  - **Verify**: `grep -q TABLE schema.sql`\n";
const RECOVERY: [&str; 2] = ["--recovery-mode", "--no-input"];

/// Runs with this agent until a person has to decide, and returns the final message.
fn asked(tasks: &str, arms: &str) -> (Workspace, String) {
    let workspace = Workspace::with_tasks(tasks)
        .file("schema.sql", "nothing yet\n")
        .agent(arms);
    let output = workspace.run_as_text(&RECOVERY);
    let text = format!("{}{}", output.stdout, output.stderr);
    (workspace, text)
}

#[test]
fn a_question_is_the_cause_not_the_red_verify_after_it() {
    let (workspace, shown) = asked(
        RED,
        "*) echo 'I read the task. It is not stated which database to use. Should the table live in Postgres or in MySQL?' ;;",
    );
    let question = "Should the table live in Postgres or in MySQL?";
    assert!(
        shown.contains(&format!(
            "it failed with: Task did not complete: {question}"
        )),
        "{shown}"
    );
    assert!(
        !workspace.text(TASKS).contains("[FIX"),
        "no agent can answer"
    );
    let prompt = workspace.note("1.1-2.prompt");
    assert!(prompt.contains(question), "{prompt}");
}

#[test]
fn the_agents_last_words_reach_the_fix_and_the_retry() {
    let workspace = Workspace::with_tasks(RED)
        .file("schema.sql", "nothing yet\n")
        .agent(
            "1.1:1) echo 'The compiler exploded.'; echo TASK_COMPLETE ;;
             1.1.1:*) echo 'I turned it off and on.'; echo TASK_COMPLETE ;;
             1.1:2) echo TABLE >schema.sql; echo TASK_COMPLETE ;;",
        );
    let output = workspace.run(&["--recovery-mode"]);
    assert_eq!(output.code, Some(0));
    let fix = workspace.note("1.1.1-1.prompt");
    assert!(fix.contains("The compiler exploded."), "{fix}");
    let retry = workspace.note("1.1-2.prompt");
    assert!(retry.contains("The compiler exploded."), "{retry}");
}

#[test]
fn a_crash_of_the_agent_is_not_blamed_on_the_task() {
    let tasks = "- [ ] 1.1 Add the module\n  - **Files**: report.py\n  - **Verify**: `python3 -c 'import report_of_the_task'`\n";
    let workspace = Workspace::with_tasks(tasks).agent(
        r#"1.1:1) python3 -c 'import os; {}["model"]' ;;
           1.1:*) touch report_of_the_task.py; echo TASK_COMPLETE ;;"#,
    );
    let output = workspace.run(&["--recovery-mode"]);
    assert_eq!(output.code, Some(0), "{}", output.stdout);
    assert!(
        !workspace.text(TASKS).contains("[FIX"),
        "nothing is to be fixed"
    );
    let why = workspace.regreen(&["why", "1.1"]);
    assert!(why.stdout.contains("KeyError: 'model'"), "{}", why.stdout);
    assert!(!why.stdout.contains("pip install"), "{}", why.stdout);
}

#[test]
fn a_check_that_says_nothing_is_explained() {
    let tasks = "- [ ] 1.1 Make it\n  - **Verify**: `test -f ok`\n";
    let workspace = Workspace::with_tasks(tasks).agent("*) echo TASK_COMPLETE ;;");
    workspace.run(&["--max-task-iterations=1"]);
    let why = workspace.regreen(&["why", "1.1"]);
    assert!(
        why.stdout
            .contains("Verify failed: `test -f ok` ended with exit code 1: ok does not exist"),
        "{}",
        why.stdout
    );
    assert!(
        why.stdout.contains("the agent claimed success"),
        "{}",
        why.stdout
    );
}

#[test]
fn what_a_person_answers_about_a_fix_is_told_to_the_original_too() {
    let workspace = Workspace::with_tasks(RED)
        .file("schema.sql", "nothing yet\n")
        .agent(
            r#"1.1:1) echo TASK_COMPLETE ;;
               1.1.1:*) case $prompt in *"use Postgres"*) echo TASK_COMPLETE ;;
                 *) echo 'It is not stated which database to use. Is it Postgres or MySQL?' ;; esac ;;
               1.1:*) case $prompt in *"use Postgres"*) echo TABLE >schema.sql; echo TASK_COMPLETE ;; esac ;;"#,
        );
    let agent = workspace.agent_flag();
    let mut run = workspace.on_terminal(&["--agent", &agent, "--recovery-mode"]);
    let (code, shown) = run
        .when("What now? ", "c\n")
        .when("An empty line ends it.", "Please use Postgres\n\n")
        .ends();
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("Is it Postgres or MySQL?"), "{shown}");
}

#[test]
fn a_fix_is_called_after_its_cause_and_its_commit_says_it() {
    let tasks = "- [ ] 1.1 Test it\n  - **Verify**: `test -f fixed || { echo '/opt/py/bin/python3: No module named pytest' >&2; exit 1; }`\n  - **Commit**: `feat: test it`\n";
    let workspace = Workspace::in_git(tasks).agent(
        "1.1:1) echo one >one; echo TASK_COMPLETE ;;
         1.1.1:*) echo two >fixed; echo TASK_COMPLETE ;;
         *) echo TASK_COMPLETE ;;",
    );
    let output = workspace.run(&["--recovery-mode", "--repairs=off"]);
    assert_eq!(output.code, Some(0), "{}", output.stdout);
    let plan = workspace.text(TASKS);
    assert!(plan.contains("Fix: pytest is not installed\n"), "{plan}");
    let messages = workspace.git(&["log", "--format=%B"]);
    assert!(
        messages.contains(
            "fix(demo): address missing Python module from task 1.1\n\n/opt/py/bin/python3: No module named pytest\n"
        ),
        "{messages}"
    );
}

#[test]
fn a_time_limit_is_the_blocker_everywhere() {
    let tasks = "- [ ] 1.1 Wait\n  - **Verify**: `true`\n";
    let workspace = Workspace::with_tasks(tasks).agent(
        "1.1:1) echo 'Running the long suite'; sleep 30 ;;
         *) echo TASK_COMPLETE ;;",
    );
    let output = workspace.run(&["--recovery-mode", "--timeout=1s"]);
    assert_eq!(output.code, Some(0), "{}", output.stdout);
    let prompt = workspace.note("1.1-2.prompt");
    assert!(prompt.contains("Running the long suite"), "{prompt}");
    assert!(
        !prompt.contains("What blocked it:\n\n```text\nRunning"),
        "{prompt}"
    );
}

const UNFINISHED: &str =
    "*) date >>out; echo 'The error handling is not implemented yet.'; echo TASK_COMPLETE ;;";

#[test]
fn an_admission_in_any_words_fails_what_nothing_verifies() {
    let workspace = Workspace::with_tasks("- [ ] 1.1 Make it\n").agent(UNFINISHED);
    let output = workspace.run(&["--max-task-iterations=1"]);
    assert_eq!(output.code, Some(1), "{}", output.stdout);
    assert!(
        output.stdout.contains(
            "CONTRADICTION: claimed completion while admitting failure: The error handling is not implemented yet."
        ),
        "{}",
        output.stdout
    );
}

#[test]
fn an_admission_is_a_warning_if_all_else_is_well() {
    let tasks = "- [ ] 1.1 Make it\n  - **Verify**: `test -f out`\n";
    let workspace = Workspace::with_tasks(tasks).agent(UNFINISHED);
    let output = workspace.run(&[]);
    assert_eq!(output.code, Some(0), "{}", output.stdout);
    assert!(
        output.stdout.contains(
            "task 1.1 passed, but its agent says: The error handling is not implemented yet."
        ),
        "{}",
        output.stdout
    );
}

#[test]
fn the_line_of_a_verify_that_failed_without_a_word_is_the_cause() {
    for (lines, cause) in [
        ("test -f a\n    test -f b", "b does not exist"),
        (
            "# both\n    set -e\n    test -f a\n    test -f b",
            "b does not exist",
        ),
        ("test -f b\n    test -f a", "b does not exist"),
    ] {
        let tasks =
            format!("- [ ] 1.1 Make it\n  - **Verify**:\n    ```bash\n    {lines}\n    ```\n");
        let workspace = Workspace::with_tasks(&tasks).agent("*) echo x >>a; echo TASK_COMPLETE ;;");
        workspace
            .run_as_text(&["--max-task-iterations=1"])
            .mentions(cause)
            .omits("exited with 1`")
            .exits(1);
    }
}

#[test]
fn a_signal_that_an_agent_takes_back_is_never_green() {
    for said in [
        "TASK_COMPLETE; echo Actually no, the deployment failed.",
        "TASK_COMPLETE; echo TASK_FAILED",
        "TASK_COMPLETE; echo Status: BLOCKED",
    ] {
        let tasks = "- [ ] 1.1 Make it\n  - **Verify**: `test -f a`\n";
        let workspace =
            Workspace::with_tasks(tasks).agent(&format!("*) echo x >>a; echo {said} ;;"));
        workspace
            .run_as_text(&["--max-task-iterations=1"])
            .mentions("CONTRADICTION: claimed completion")
            .exits(1);
    }
}
