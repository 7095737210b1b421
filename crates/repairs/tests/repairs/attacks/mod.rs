//! Attacks on regreen. Each goes through the whole crate: the inspection must not allow it,
//! applying a forged plan must fail, no program may start, and nothing may change in the workspace
//! or beside it.

mod files;
mod managers;
mod names;
mod node;
mod processes;
mod programs;
mod python;
mod sources;
mod targets;
mod texts;

use std::process::Command;

use crate::test_workspace::{TestWorkspace, failure, missing_module, npm};
use regreen_model::{Failure, FailureKind, Inspection, RepairAction};

fn chmod(path: &str) -> RepairAction {
    let path = path.to_owned();
    RepairAction::ChmodX { path }
}

fn remove_lock(path: &str) -> RepairAction {
    let path = path.to_owned();
    RepairAction::RemoveStaleLock { path }
}

#[track_caller]
fn attack_module(workspace: &TestWorkspace, module: &str) -> Inspection {
    workspace.attack(&missing_module(module, module))
}

fn with_venv() -> TestWorkspace {
    let workspace = TestWorkspace::with(&[(".venv/pyvenv.cfg", "home = /usr/bin\n")]);
    workspace.write_program(".venv/bin/python", "#!/bin/sh\n");
    workspace.write("requirements.txt", "requests\n");
    workspace.begin()
}

/// A workspace whose package.json lists `ms`, which may be installed.
fn with_ms() -> (TestWorkspace, Failure) {
    let workspace = TestWorkspace::with(&[("package.json", r#"{"dependencies":{"ms":"2.1.3"}}"#)])
        .begin()
        .with_tools(&["npm"]);
    let missing = missing_node("ms");
    workspace.allowed(&missing);
    (workspace, missing)
}

fn missing_node(name: &str) -> Failure {
    let line = format!("Error: Cannot find module '{name}'");
    failure(FailureKind::MissingNodeModule, &line, npm(name))
}

fn git(workspace: &TestWorkspace, args: &[&str]) {
    let status = Command::new("git")
        .args(args)
        .current_dir(workspace.root())
        .status();
    assert!(status.unwrap().success(), "{args:?}");
}
