//! Seeing what runs do, from another terminal, another folder, or the next morning.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod attach;
mod detach;
mod live;
mod ps;
mod questions;
mod report;
mod serve;
mod sleep;
mod tui;

use std::ops::Deref;

use regreen_test_support::Workspace;
use serde_json::Value;

/// An agent that works on 1.1 until the test lets it go on.
const PATIENT: &str = "1.1:1) echo at it; touch $notes/working
         while ! test -f $notes/go; do sleep 0.02; done
         echo TASK_COMPLETE ;;
     *) echo TASK_COMPLETE ;;";

/// A workspace with two tasks and that agent.
fn patient() -> Workspace {
    Workspace::with_tasks(
        "- [ ] 1.1 First\n  - **Verify**: `true`\n- [ ] 1.2 Second\n  - **Verify**: `true`\n",
    )
    .agent(PATIENT)
}

/// A workspace whose run in the background doesn't outlive its test.
struct Detached(Workspace);

impl Deref for Detached {
    type Target = Workspace;

    fn deref(&self) -> &Workspace {
        &self.0
    }
}

impl Drop for Detached {
    fn drop(&mut self) {
        let _ = self.0.command(&["stop"]).output();
    }
}

/// Lets the agent go on.
fn go(workspace: &Workspace) {
    std::fs::write(workspace.note_path("go"), "").unwrap();
}

/// Returns the JSON that a command prints.
fn json(workspace: &Workspace, arguments: &[&str]) -> Value {
    let output = workspace.command(arguments).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}
