//! Programs that the agent writes to places where a repair of PATH would find them.

use std::fs;
use std::os::unix::fs::symlink;

use super::{attack_module, missing_node};
use crate::test_workspace::{LAUNCHERS, TestWorkspace, Tools, failure, missing_module};
use regreen_model::{Failure, FailureKind, Inspection, RepairResult};
use regreen_repairs::ToolCall;

const AGENTS: &str = "#!/bin/sh\necho the agent\n";
const OURS: &str = "#!/bin/sh\necho ours\n";

fn missing_command(name: &str) -> Failure {
    let line = format!("bash: line 1: {name}: command not found");
    failure(FailureKind::MissingCommand, &line, None)
}

/// A virtual environment with a tool, from before the run starts.
fn with_tool() -> TestWorkspace {
    let workspace = TestWorkspace::with(&[
        (".venv/pyvenv.cfg", "home = /usr/bin\n"),
        ("requirements.txt", "zqtool\nzqother\n"),
    ]);
    symlink("/bin/sh", workspace.root().join(".venv/python")).unwrap();
    fs::create_dir_all(workspace.root().join(".venv/bin")).unwrap();
    fs::rename(
        workspace.root().join(".venv/python"),
        workspace.root().join(".venv/bin/python"),
    )
    .unwrap();
    workspace.write_program(".venv/bin/zqtool", OURS);
    workspace.begin()
}

/// Puts the environment first in PATH.
fn activated(workspace: &TestWorkspace) -> Vec<(String, String)> {
    let nothing = Tools(|_: &ToolCall| Some(0));
    workspace.heal(&missing_command("zqtool"), &mut { nothing })
}

#[test]
fn programs_that_the_agent_writes_beside_ours_are_not_found() {
    let workspace = with_tool();
    let environment = activated(&workspace);
    for name in ["grep", "bash", "test", "zqnew", "python3", "git"] {
        workspace.write_program(&format!(".venv/bin/{name}"), AGENTS);
        let said = workspace.run_in(&environment, &format!("{name} --version </dev/null"));
        assert_ne!(said, "the agent", "{name}");
    }
    assert_eq!(workspace.run_in(&environment, "zqtool"), "ours");
    assert_eq!(workspace.run_in(&environment, "python -c 'echo sh'"), "sh");
}

#[test]
fn a_program_that_the_agent_replaces_is_not_found_anymore() {
    let workspace = with_tool();
    let environment = activated(&workspace);
    workspace.write_program(".venv/bin/zqtool", AGENTS);
    assert_eq!(workspace.run_in(&environment, "zqtool"), "");
    workspace.write_program(".venv/bin/zqtool", OURS);
    assert_eq!(workspace.run_in(&environment, "zqtool"), "ours");
    // A link to the agent's own program, inside or outside of the workspace.
    workspace.write_program("tool.sh", AGENTS);
    let tool = workspace.root().join(".venv/bin/zqtool");
    fs::remove_file(&tool).unwrap();
    symlink("../../tool.sh", &tool).unwrap();
    assert_eq!(workspace.run_in(&environment, "zqtool"), "");
}

#[test]
fn an_environment_whose_python_or_settings_the_agent_replaces() {
    for (path, text) in [
        (".venv/bin/python", AGENTS),
        (".venv/pyvenv.cfg", "home = /tmp/mine\n"),
    ] {
        let workspace = with_tool();
        let environment = activated(&workspace);
        fs::remove_file(workspace.root().join(path)).unwrap();
        workspace.write_program(path, text);
        // Its scripts name its Python in their first line, so none of them may run.
        assert_eq!(workspace.run_in(&environment, "zqtool"), "", "{path}");
        assert_ne!(workspace.run_in(&environment, "python"), "the agent");
        workspace.asked_about(&missing_command("zqtool"));
        workspace.asked_about(&missing_module("zqother", "zqother"));
    }
}

#[test]
fn launchers_that_the_agent_writes() {
    let workspace = with_tool();
    let environment = activated(&workspace);
    workspace.run_in(&environment, "true");
    let launchers = format!("{LAUNCHERS}/.venv/bin");
    for name in ["grep", "zqtool", "zqnew"] {
        workspace.write_program(&format!("{launchers}/{name}"), AGENTS);
        let said = workspace.run_in(&environment, &format!("{name} --version </dev/null"));
        assert_ne!(said, "the agent", "{name}");
    }
    fs::create_dir(workspace.root().join(&launchers).join("sed")).unwrap();
    assert_eq!(workspace.run_in(&environment, "echo a | sed s/a/b/"), "b");
    assert_eq!(workspace.run_in(&environment, "zqtool"), "ours");
}

#[test]
fn programs_that_the_agent_wrote_before_the_repair() {
    let workspace = TestWorkspace::with(&[("requirements.txt", "zqtool\n")]).begin();
    workspace.write_program("node_modules/.bin/zqtool", AGENTS);
    workspace.asked_about(&missing_command("zqtool"));
    workspace.write(".venv/pyvenv.cfg", "home = /usr/bin\n");
    workspace.write_program(".venv/bin/python", AGENTS);
    workspace.write_program(".venv/bin/zqtool", AGENTS);
    workspace.asked_about(&missing_command("zqtool"));
    // Its Python would run our installer.
    attack_module(&workspace, "zqtool");
}

#[test]
fn an_installation_does_not_make_what_was_there_ours() {
    let workspace = TestWorkspace::with(&[("package.json", r#"{"dependencies":{"zqtool":"1"}}"#)])
        .begin()
        .with_tools(&["npm"]);
    workspace.write_program("node_modules/.bin/zqfake", AGENTS);
    let mut npm = Tools(|_: &ToolCall| {
        workspace.write("node_modules/zqtool/package.json", "{}");
        workspace.write_program("node_modules/.bin/zqtool", OURS);
        workspace.write_program("node_modules/.bin/grep", AGENTS);
        Some(0)
    });
    workspace.heal(&missing_node("zqtool"), &mut npm);
    // Neither the agent's files, nor a package's program with a system name.
    let nothing = &mut Tools(|_: &ToolCall| Some(0));
    let mut environment = workspace.heal(&missing_command("zqtool"), nothing);
    for (_, path) in &mut environment {
        path.push_str(":/usr/bin:/bin");
    }
    let mut workspace = workspace;
    workspace.path = "/usr/bin:/bin".into();
    assert_eq!(workspace.run_in(&environment, "zqtool"), "ours");
    assert_eq!(workspace.run_in(&environment, "zqfake"), "");
    assert_eq!(workspace.run_in(&environment, "echo a | grep a"), "a");
}

/// Applies a repair that requires consent, with a person's consent. Returns the variables it sets.
#[track_caller]
fn agreed(workspace: &TestWorkspace, failure: &Failure) -> Vec<(String, String)> {
    let Inspection::Ask { repair, .. } = workspace.inspect(failure) else {
        panic!("it is asked about");
    };
    let mut nothing = Tools(|_: &ToolCall| Some(0));
    match workspace.agreed(failure, &repair, &mut nothing) {
        RepairResult::Done { environment, .. } => environment,
        RepairResult::Failed { why } => panic!("{why}"),
    }
}

#[test]
fn consent_to_a_program_is_not_consent_to_those_beside_it() {
    let mut workspace = TestWorkspace::with(&[]).begin();
    workspace.path = "/usr/bin:/bin".into();
    for name in ["zqtool", "zqfake"] {
        workspace.write_program(&format!("node_modules/.bin/{name}"), AGENTS);
        workspace.write_program(&format!("vendor/bin/{name}"), AGENTS);
    }
    let environment = agreed(&workspace, &missing_command("zqtool"));
    assert_eq!(workspace.run_in(&environment, "zqtool"), "the agent");
    assert_eq!(workspace.run_in(&environment, "zqfake"), "");

    // In a virtual environment the program needs its Python as well.
    let workspace = with_tool();
    for name in ["zqnew", "zqfake"] {
        workspace.write_program(&format!(".venv/bin/{name}"), AGENTS);
    }
    let environment = agreed(&workspace, &missing_command("zqnew"));
    assert_eq!(workspace.run_in(&environment, "zqnew"), "the agent");
    assert_eq!(workspace.run_in(&environment, "zqtool"), "ours");
    assert_eq!(workspace.run_in(&environment, "zqfake"), "");
}

#[test]
fn consent_to_a_package_is_not_consent_to_programs() {
    let workspace = with_tool();
    workspace.write_program(".venv/bin/zqfake", AGENTS);
    let environment = agreed(&workspace, &missing_module("slugify", "python-slugify"));
    assert_eq!(workspace.run_in(&environment, "zqtool"), "ours");
    assert_eq!(workspace.run_in(&environment, "zqfake"), "");
}
