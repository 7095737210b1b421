//! With `diagnosis.ask = "agent"`, the agent is asked for causes that the rules are not sure of.

use regreen_test_support::Workspace;

const CONFIG: &str = "user/.config/regreen/config.toml";
const ASKS: &str = "diagnosis.ask = 'agent'\n";
const TASKS: &str = "\
- [ ] 1.1 Calm the gremlins
  - **Do**: it
  - **Verify**: `sh check.sh`
  - **Commit**: None
";
/// Its last line says nothing of the cause, and no rule knows the one above.
const CHECK: &str = "test -f calm && exit 0\necho phase one\necho 'gremlins in the flux'\necho 'good bye'\nexit 1\n";

/// An agent that answers a question with this text, and does the task at its second attempt.
fn workspace(answer: &str) -> Workspace {
    let agent = format!(
        "*) case $prompt in\n\
         *'Say which line explains'*) pwd >>\"$notes/asked\"; echo '{answer}' ;;\n\
         *) test $REGREEN_ATTEMPT = 1 || touch calm; echo TASK_COMPLETE ;;\n\
         esac ;;"
    );
    Workspace::with_tasks(TASKS)
        .file("check.sh", CHECK)
        .agent(&agent)
        .git_repository()
}

const ANSWER: &str = r#"{"line": "gremlins in the flux", "category": "tool_error"}"#;

#[test]
fn an_agent_that_is_asked_names_the_cause() {
    let workspace = workspace(ANSWER).file(CONFIG, ASKS);
    workspace.run(&[]).exits(0);
    let asked = workspace.note("asked");
    assert_eq!(asked.lines().count(), 1, "{asked}");
    // It has no business in the workspace.
    assert!(asked.trim_end().ends_with("1.question"), "{asked}");
    workspace
        .regreen(&["why", "1.1"])
        .mentions("the agent names the cause: gremlins in the flux");
}

#[test]
fn an_answer_that_cannot_be_believed_changes_nothing() {
    for answer in [
        "It is the gremlins.",
        r#"{"line": "rm -rf /", "category": "tool_error"}"#,
        r#"{"line": "good bye", "category": "sabotage"}"#,
        r#"{"line": "good bye", "category": "tool_error", "repair": {"action": "mkdir", "path": "x"}}"#,
    ] {
        let workspace = workspace(answer).file(CONFIG, ASKS);
        workspace.run(&[]).exits(0);
        assert!(workspace.has_note("asked"));
        workspace
            .regreen(&["why", "1.1"])
            .omits("the agent names the cause");
    }
}

#[test]
fn no_one_is_asked_unless_the_user_wants_it() {
    let workspace = workspace(ANSWER);
    workspace.run(&[]).exits(0);
    assert!(!workspace.has_note("asked"));
    // Explaining a log starts nothing, whatever is configured.
    let workspace = workspace.file(CONFIG, ASKS).file("a.log", "good bye\n");
    workspace.regreen(&["explain", "--exit-code", "1", "a.log"]);
    assert!(!workspace.has_note("asked"));
}

#[test]
fn a_repository_may_not_let_the_agent_be_asked() {
    let workspace = workspace(ANSWER).file("regreen.toml", ASKS);
    workspace
        .regreen(&["run"])
        .exits(2)
        .mentions("a repository may not set `diagnosis.ask`");
}

#[test]
fn a_delegation_asks_too() {
    let child = format!(
        "*) case $prompt in\n\
         *'Say which line explains'*) touch \"$notes/asked\"; echo '{ANSWER}' ;;\n\
         *) echo done ;;\n\
         esac ;;"
    );
    let workspace = Workspace::new()
        .file("check.sh", CHECK)
        .file(CONFIG, ASKS)
        .child_agent(&child);
    workspace
        .delegate(&["--prompt", "Calm them", "--verify", "sh check.sh"])
        .mentions("Blocked on: gremlins in the flux");
    assert!(workspace.has_note("asked"));
}
