//! Other package managers, and tools in general.

use super::{attack_module, with_venv};
use crate::test_workspace::{TestWorkspace, Tools, failure, missing_module, npm};
use regreen_model::{FailureKind, RepairAction};
use regreen_repairs::ToolCall;

#[test]
fn secrets_in_manifests_are_neither_kept_nor_shown() {
    let workspace = TestWorkspace::with(&[(".venv/pyvenv.cfg", "")]);
    workspace.write_program(".venv/bin/python", "#!/bin/sh\n");
    let index = "--index-url https://user:hunter2secret@127.0.0.1/simple";
    workspace.write("requirements.txt", &format!("{index}\nrequests\n"));
    workspace.write("Makefile", "gen/v.py:\n\tTOKEN=hunter2secret curl x > $@\n");
    workspace.write(".npmrc", "//registry/:_authToken=hunter2secret\n");
    let workspace = workspace.begin();
    let said = [
        attack_module(&workspace, "requests"),
        attack_module(&workspace, "v"),
    ];
    let kept = serde_json::to_string(&workspace.manifests).unwrap();
    let shown = serde_json::to_string(&said).unwrap();
    assert!(!kept.contains("hunter2"), "{kept}");
    assert!(!shown.contains("hunter2"), "{shown}");
}

#[test]
fn cargo_settings_that_the_agent_wrote() {
    let workspace = TestWorkspace::with(&[
        (
            "Cargo.toml",
            "[package]\nname='a'\n[dependencies]\nserde='1'\n",
        ),
        ("Cargo.lock", ""),
    ])
    .begin()
    .with_tools(&["cargo"]);
    let args = vec!["serde".to_owned()];
    let missing = failure(
        FailureKind::CompileError,
        "error[E0432]: unresolved import `serde`",
        Some(RepairAction::CargoAdd { args }),
    );
    workspace.allowed(&missing);
    workspace.write(
        ".cargo/config.toml",
        "[source.crates-io]\nreplace-with='x'\n",
    );
    workspace.refused(&missing);
}

#[test]
fn a_program_of_the_workspace_instead_of_a_tool() {
    let workspace = TestWorkspace::new();
    workspace.write_program("bin/npm", "#!/bin/sh\ntouch pwned\n");
    workspace.write("package.json", r#"{"dependencies":{"ms":"2.1.3"}}"#);
    let mut workspace = workspace.begin();
    workspace.path = workspace.root().join("bin").into_os_string();
    workspace.attack(&failure(FailureKind::MissingNodeModule, "", npm("ms")));
}

#[test]
fn a_tool_that_changes_a_manifest() {
    let workspace = with_venv();
    let honest = missing_module("requests", "requests");
    workspace.heal_in_vain(
        &honest,
        &mut Tools(|_: &ToolCall| {
            workspace.write("requirements.txt", "changed\n");
            Some(0)
        }),
    );
    assert_eq!(workspace.read("requirements.txt"), "requests\n");
}
