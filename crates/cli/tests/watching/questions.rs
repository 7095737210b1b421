use regreen_test_support::Workspace;

use crate::json;

/// A run that needs a person for 1.1.
pub(crate) fn asked() -> Workspace {
    let workspace = Workspace::with_tasks(
        "- [ ] 1.1 First\n  - **Do**: 1. `false`\n  - **Verify**: `test -f never`\n",
    );
    workspace
        .run_with_agent("shell", &["--recovery-mode"])
        .exits(3);
    workspace
}

#[test]
fn a_question_is_listed_with_its_cause_and_the_way_to_settle_it() {
    let workspace = asked();
    let listed = json(&workspace, &["questions", "--json"]);
    assert_eq!(listed[0]["task"], "1.1");
    assert_eq!(listed[0]["is_active"], false);
    workspace
        .regreen(&["questions"])
        .exits(0)
        .mentions("ASK  1.1 First")
        .mentions("`regreen why 1.1 --spec demo` shows more");
    workspace
        .regreen(&["ps"])
        .exits(0)
        .mentions("needs your decision")
        .mentions("needs you: 1.1 ");
}

#[test]
fn a_question_is_settled_by_a_choice_or_a_tick() {
    let workspace = asked();
    workspace.regreen(&["skip", "1.1"]).exits(0);
    workspace
        .regreen(&["questions"])
        .exits(0)
        .prints("no open questions\n");
    let workspace = asked();
    workspace
        .regreen(&["tasks", "tick", "--write", "specs/demo/tasks.md", "1.1"])
        .exits(0);
    workspace
        .regreen(&["questions"])
        .exits(0)
        .prints("no open questions\n");
}

#[test]
fn an_answer_that_needs_no_run_is_a_choice() {
    let workspace = asked();
    workspace
        .regreen(&["answer", "1.1", "skip"])
        .exits(0)
        .mentions("skipping 1.1");
    workspace.regreen(&["answer", "1.1", "skip"]).exits(2);
    let workspace = asked();
    workspace
        .regreen(&["answer", "1.1", "done"])
        .exits(0)
        .mentions("marked 1.1 as done");
}

#[test]
fn an_answer_for_the_run_is_taken_when_it_is_resumed() {
    let workspace = asked();
    workspace
        .regreen(&["answer", "1.1", "fix"])
        .exits(0)
        .mentions("continues with it");
    let flags = ["--recovery-mode", "--no-input"];
    let resumed = workspace.run_with_agent("shell", &flags);
    assert!(
        resumed.stdout.contains("answered fix"),
        "{}",
        resumed.stdout
    );
    // It counts once.
    let again = workspace.run_with_agent("shell", &flags);
    assert!(!again.stdout.contains("answered fix"), "{}", again.stdout);
}

#[test]
fn an_answer_that_is_impossible_is_refused() {
    let workspace = asked();
    for (words, why) in [
        (vec!["1.1", "repair"], "no repair is proposed"),
        (vec!["1.1", "context", "look"], "does not read prompts"),
        (vec!["1.1", "fix", "text"], "only `context` takes a text"),
        (vec!["9.9", "fix"], "no open question about task 9.9"),
    ] {
        let words = [vec!["answer"], words].concat();
        workspace.regreen(&words).exits(2).mentions(why);
    }
}

#[test]
fn a_detached_run_waits_for_an_answer_and_goes_on() {
    let workspace = Workspace::with_tasks(
        "- [ ] 1.1 First\n  - **Do**: 1. `test -f ready`\n  - **Verify**: `test -f ready`\n",
    );
    workspace
        .regreen(&["run", "--detach", "--recovery-mode", "--agent", "shell"])
        .exits(0);
    let newest = || json(&workspace, &["ps", "--json"])[0].clone();
    regreen_test_support::wait_until(|| newest()["activity"]["what"] == "asking");
    let elsewhere = Workspace::new();
    std::fs::write(workspace.path("ready"), "").unwrap();
    let mut answer = elsewhere.command(&["answer", "1.1", "retry"]);
    answer.env("XDG_STATE_HOME", workspace.outside().join("state"));
    let output = elsewhere.output(&answer.output().unwrap());
    output.exits(0).mentions("continues");
    regreen_test_support::wait_until(|| newest()["state"] == "done");
}

#[test]
fn the_users_program_is_told_what_a_run_asks() {
    let workspace = Workspace::with_tasks(
        "- [ ] 1.1 First\n  - **Do**: 1. `false`\n  - **Verify**: `test -f never`\n",
    );
    let asked = workspace.note_path("asked").display().to_string();
    let workspace = workspace.file(
        "user/.config/regreen/config.toml",
        format!("on_question = ['sh', '-c', 'cat >{asked}.part; mv {asked}.part {asked}']\n"),
    );
    workspace
        .run_with_agent("shell", &["--recovery-mode"])
        .exits(3);
    regreen_test_support::wait_until(|| workspace.has_note("asked"));
    let question: serde_json::Value = serde_json::from_str(&workspace.note("asked")).unwrap();
    assert_eq!(question["v"], 1);
    assert_eq!(question["task"], "1.1");
    assert_eq!(
        question["why"],
        "the shell agent runs commands and cannot fix them"
    );
}

#[test]
fn a_question_at_a_terminal_is_answered_from_another_one() {
    let workspace = Workspace::with_tasks(
        "- [ ] 1.1 First\n  - **Do**: 1. `false`\n  - **Verify**: `test -f never`\n",
    );
    let mut session = workspace.on_terminal(&["--agent", "shell", "--recovery-mode"]);
    session.sees("What now?");
    workspace
        .regreen(&["answer", "1.1", "skip"])
        .exits(0)
        .mentions("answered 1.1: skip; the run in ")
        .mentions(" continues");
    session.sees("answered with `regreen answer`: skip");
    assert_eq!(session.ends().0, Some(1));
}
