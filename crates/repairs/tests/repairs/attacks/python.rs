//! Manifests, lock files and environments of Python.

use std::fs;
use std::os::unix::fs::symlink;

use super::{attack_module, with_venv};
use crate::test_workspace::{TestWorkspace, failure, missing_module, npm};
use regreen_model::{FailureKind, Inspection, RepairAction};

#[test]
fn a_package_in_no_manifest() {
    let workspace = with_venv();
    attack_module(&workspace, "zqhallucinated");
    // It is well known but not declared, so it requires a person's consent.
    let known = attack_module(&workspace, "numpy");
    assert!(matches!(known, Inspection::Ask { .. }), "{known:?}");
}

#[test]
fn a_package_that_the_agent_added_to_the_manifest_during_the_run() {
    let workspace = with_venv();
    workspace.write("requirements.txt", "requests\nzqevil\n");
    workspace.write(
        "pyproject.toml",
        "[project]\nname='a'\ndependencies=['zqevil']\n",
    );
    attack_module(&workspace, "zqevil");
}

#[test]
fn a_manifest_that_the_agent_changed_is_not_installed_from() {
    let workspace = with_venv();
    workspace.write("requirements.txt", "requests\nzqevil\n");
    let failure = missing_module("requests", "requests");
    let planned = workspace.allowed(&failure);
    assert_eq!(planned.action.arguments(), ["requests"]);
}

#[test]
fn a_manifest_that_fetches_from_elsewhere() {
    for line in [
        "--index-url http://127.0.0.1:9/simple",
        "--extra-index-url=http://127.0.0.1:9/simple",
        "--find-links /tmp",
        "--trusted-host evil",
        "git+https://127.0.0.1/x.git",
        "-e ../outside",
        "-r /etc/passwd",
    ] {
        let workspace = TestWorkspace::with(&[(".venv/pyvenv.cfg", "")]);
        workspace.write_program(".venv/bin/python", "#!/bin/sh\n");
        workspace.write("requirements.txt", &format!("{line}\nrequests\n"));
        attack_module(&workspace.begin(), "requests");
    }
}

#[test]
fn a_lock_file_or_manager_setting_that_the_agent_wrote() {
    for (call, lock) in [
        ("poetry run x", "poetry.lock"),
        ("pipenv run x", "Pipfile.lock"),
        ("pdm run x", "pdm.lock"),
        ("uv run x", "uv.lock"),
    ] {
        for changed in [
            lock,
            "pyproject.toml",
            "uv.toml",
            "setup.py",
            "libs/a/pyproject.toml",
        ] {
            let mut workspace = TestWorkspace::with(&[
                (
                    "pyproject.toml",
                    "[project]\nname='a'\ndependencies=['requests']\n",
                ),
                (lock, if lock == "Pipfile.lock" { "{}" } else { "" }),
            ])
            .begin()
            .with_tools(&["poetry", "pipenv", "pdm", "uv", "python3"]);
            workspace.commands = vec![call.to_owned()];
            let missing = missing_module("requests", "requests");
            workspace.allowed(&missing);
            workspace.write(changed, "# changed\n");
            workspace.refused(&missing);
        }
    }
}

#[test]
fn a_project_that_the_agent_changed_is_not_installed() {
    for changed in ["pyproject.toml", "setup.py", "setup.cfg"] {
        let workspace = with_venv();
        workspace.write("pyproject.toml", "[project]\nname='zqapp'\nversion='1'\n");
        workspace.write("src/zqapp/__init__.py", "");
        let workspace = workspace.begin();
        workspace.write(changed, "# changed\n");
        workspace.refused(&missing_module("zqapp", "zqapp"));
    }
}

#[test]
fn requirements_are_used_as_a_whole_only_if_all_their_files_are_unchanged() {
    for changed in ["pins.txt", "base.txt", "libs/x/setup.py", "setup.cfg"] {
        let workspace = with_venv();
        workspace.write(
            "requirements.txt",
            "-r base.txt\n-e .\n./libs/x[y]\nrequests\n",
        );
        workspace.write("base.txt", "-c pins.txt\nsix\n");
        workspace.write("pins.txt", "six==1\n");
        workspace.write("libs/x/pyproject.toml", "");
        workspace.write("pyproject.toml", "");
        let workspace = workspace.begin();
        let missing = missing_module("requests", "requests");
        let arguments = || match workspace.inspect(&missing) {
            Inspection::Allowed(planned) => planned.action.arguments().join(" "),
            other => panic!("{other:?}"),
        };
        assert_eq!(arguments(), "-r requirements.txt");
        workspace.write(changed, "# changed\n");
        assert_eq!(arguments(), "requests", "{changed}");
    }
}

#[test]
fn an_included_file_that_fetches_from_elsewhere() {
    let workspace = with_venv();
    workspace.write("requirements.txt", "-r base.txt\nrequests\n");
    workspace.write("base.txt", "-c pins.txt\n");
    workspace.write("pins.txt", "--index-url http://127.0.0.1:9/simple\n");
    attack_module(&workspace.begin(), "requests");
}

#[test]
fn a_package_one_letter_off_a_known_one() {
    let workspace = with_venv();
    for name in ["reqeusts", "requets", "request5", "numpyy", "djang0"] {
        workspace.refused(&missing_module(name, name));
    }
    let workspace = TestWorkspace::with(&[("package.json", r#"{"dependencies":{"lodash":"4"}}"#)]);
    workspace
        .begin()
        .attack(&failure(FailureKind::MissingNodeModule, "", npm("loadsh")));
}

#[test]
fn a_module_of_the_project_itself() {
    let workspace = with_venv();
    workspace.write("helpers.py", "");
    workspace.write("zqlocal/__init__.py", "");
    for module in ["helpres", "zqlocal", "zqlocal.sub", "helpers"] {
        attack_module(&workspace, module);
    }
}

#[test]
fn an_environment_that_leads_out_of_the_workspace() {
    let workspace = TestWorkspace::with(&[("requirements.txt", "requests\n")]);
    workspace.write_outside("venv/pyvenv.cfg", "");
    workspace.write_outside("venv/bin/python", "");
    workspace.link_out(".venv", "venv");
    attack_module(&workspace.begin(), "requests");

    let workspace = with_venv();
    workspace.write_outside("site/x", "");
    fs::create_dir_all(workspace.root().join(".venv/lib/python3.11")).unwrap();
    let inner = workspace.root().join(".venv/lib/python3.11/site-packages");
    symlink(workspace.outside().join("site"), inner).unwrap();
    attack_module(&workspace, "requests");
}

#[test]
fn code_that_builds_the_project_and_was_changed_by_the_agent() {
    let project = "[project]\nname='zqapp'\nversion='1'\n";
    let own_backend =
        format!("{project}[build-system]\nbuild-backend='own'\nbackend-path=['backend']\n");
    let hook = format!("{project}[tool.hatch.build.hooks.custom]\npath='tools/hook.py'\n");
    for (pyproject, setup, loaded) in [
        (project, "import versions\n", "versions.py"),
        (&own_backend, "", "backend/own.py"),
        (&hook, "", "tools/hook.py"),
        (project, "", "hatch_build.py"),
    ] {
        let workspace = with_venv();
        workspace.write("pyproject.toml", pyproject);
        workspace.write("setup.py", setup);
        workspace.write("src/zqapp/__init__.py", "");
        workspace.write(loaded, "");
        let workspace = workspace.begin();
        let missing = missing_module("zqapp", "zqapp");
        workspace.allowed(&missing);
        workspace.write(loaded, "# changed\n");
        workspace.asked_about(&missing);
    }
}

#[test]
fn a_package_inside_the_tree_that_the_agent_changed_is_not_installed() {
    let workspace = with_venv();
    workspace.write("requirements.txt", "requests\n./libs/own\n");
    workspace.write("libs/own/pyproject.toml", "[project]\nname='own'\n");
    workspace.write("libs/own/own.py", "");
    let workspace = workspace.begin();
    let missing = missing_module("requests", "requests");
    let action = |workspace: &TestWorkspace| workspace.allowed(&missing).action;
    let args = |args: &[&str]| RepairAction::PipInstall {
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
    };
    assert_eq!(action(&workspace), args(&["-r", "requirements.txt"]));
    workspace.write("libs/own/own.py", "# changed\n");
    // Only what the file lists from the index.
    assert_eq!(action(&workspace), args(&["requests"]));
}
