//! Delegations look their failures up as runs do.

use regreen_test_support::{Output, Workspace};
use serde_json::json;

use super::User;

const CHECK: &str = "test -f out || { echo \"KeyError: 'GREETING'\"; exit 1; }";

/// Succeeds at the second attempt if it is told what helped, else at the third.
const LEARNS: &str = r#"
    2) case $prompt in *"fix task — helped in"*) touch out ;; esac; echo done ;;
    3) touch out; echo done ;;
    *) echo done ;;"#;

impl User {
    fn delegates(&self, workspace: &Workspace) -> Output {
        let agent = workspace.agent_flag();
        let arguments = [
            "delegate",
            "--verbatim",
            "--agent",
            &agent,
            "--prompt",
            "Write the page",
            "--retries",
            "3",
            "--verify",
            CHECK,
        ];
        self.regreen(workspace, &arguments)
    }
}

fn attempts(workspace: &Workspace) -> usize {
    (1..=3)
        .filter(|n| workspace.has_note(&format!("{n}.prompt")))
        .count()
}

#[test]
fn a_delegation_is_told_what_helped_and_needs_fewer_attempts() {
    let user = User::new();
    let told = Workspace::new().child_agent(LEARNS);
    user.remembers(&told, "fix task", true);
    user.delegates(&told)
        .exits(0)
        .mentions("a failure like this was healed before: fix task — helped in 2 of 2 runs");
    let untold = Workspace::new().child_agent(LEARNS);
    User::new().delegates(&untold).exits(0);
    assert_eq!((attempts(&told), attempts(&untold)), (2, 3));
    let prompt = told.note("2.prompt");
    assert!(prompt.contains("## What helped before"), "{prompt}");
    assert!(!told.note("1.prompt").contains("What helped before"));
}

#[test]
fn advice_in_vain_fades_out_in_delegations_too() {
    let user = User::new();
    let first = Workspace::new().child_agent("3) touch out; echo done ;; *) echo done ;;");
    user.remembers(&first, "repair pip_install wrong", true);
    user.delegates(&first).exits(0);
    assert!(first.note("2.prompt").contains("pip_install wrong"));
    let next = Workspace::new().child_agent("3) touch out; echo done ;; *) echo done ;;");
    user.delegates(&next).exits(0);
    assert!(!next.note("2.prompt").contains("pip_install wrong"));
}

#[test]
fn a_delegation_looks_nothing_up_if_recall_is_off() {
    let user = User::new().configuration("history.recall = false\n");
    let test = Workspace::new().child_agent(LEARNS);
    user.remembers(&test, "fix task", true);
    user.delegates(&test).exits(0);
    assert_eq!(attempts(&test), 3);
}

#[test]
fn what_a_delegation_did_has_the_words_of_runs() {
    let user = User::new();
    let test = Workspace::new().child_agent("2) touch out; echo done ;; *) echo done ;;");
    user.delegates(&test).exits(0);
    let responses = &user.stats(&test, &[])["responses"];
    let helped = json!([{
        "response": "another attempt", "count": 1, "helped": { "count": 1, "of": 1 },
    }]);
    assert_eq!(*responses, helped);
}
