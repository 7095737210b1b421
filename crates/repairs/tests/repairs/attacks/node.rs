//! Manifests and lock files of Node.js.

use super::{attack_module, missing_node, with_ms, with_venv};
use crate::test_workspace::TestWorkspace;

#[test]
fn a_node_package_that_the_agent_added_during_the_run() {
    let (workspace, missing) = with_ms();
    workspace.write(
        "package.json",
        r#"{"dependencies":{"ms":"2.1.3","zqevil":"1"}}"#,
    );
    workspace.attack(&missing_node("zqevil"));
    workspace.attack(&missing);
}

#[test]
fn installer_settings_that_the_agent_wrote() {
    let (workspace, missing) = with_ms();
    workspace.write(".npmrc", "registry=http://127.0.0.1:9/\n");
    workspace.attack(&missing);
    let workspace = with_venv();
    workspace.write(
        ".venv/pip.conf",
        "[global]\nindex-url=http://127.0.0.1:9/\n",
    );
    attack_module(&workspace, "requests");
}

#[test]
fn npm_overrides_in_a_manifest_or_a_member() {
    let manifest = |more: &str| format!(r#"{{"dependencies":{{"ms":"2.1.3"}}{more}}}"#);
    let members = r#","workspaces":["packages/*"]"#;
    let missing = missing_node("ms");
    for (before, path, after) in [
        (
            "",
            "package.json",
            manifest(r#","overrides":{"ms":"npm:zqevil@1"}"#),
        ),
        ("", "package.json", manifest(r#","resolutions":{"ms":"1"}"#)),
        ("", "package.json", manifest(members)),
        (members, "packages/a/package.json", manifest("")),
        (members, "packages/b/package.json", manifest("")),
        ("", ".npmrc", "registry=x".to_owned()),
        ("", "pnpm-workspace.yaml", "packages: [x]".to_owned()),
    ] {
        let workspace = TestWorkspace::with(&[
            ("package.json", &manifest(before)),
            ("packages/a/package.json", r#"{"name":"a"}"#),
        ])
        .begin()
        .with_tools(&["npm"]);
        workspace.allowed(&missing);
        workspace.write(path, &after);
        workspace.attack(&missing);
    }
}

#[test]
fn node_modules_that_lead_out_of_the_workspace() {
    let (workspace, missing) = with_ms();
    workspace.write_outside("modules/x", "");
    workspace.link_out("node_modules", "modules");
    workspace.refused(&missing);
}
