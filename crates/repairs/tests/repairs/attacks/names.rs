//! Names in the text of a failure.

use super::{attack_module, chmod, with_venv};
use crate::test_workspace::{failure, npm, pip};
use regreen_model::FailureKind;

#[test]
fn a_name_that_is_an_option() {
    let workspace = with_venv();
    for name in [
        "--index-url=http://127.0.0.1:9/simple",
        "-r",
        "-e",
        "--pre",
        "-",
    ] {
        attack_module(&workspace, name);
        workspace.attack(&failure(FailureKind::MissingPythonModule, "", pip(name)));
        workspace.attack(&failure(FailureKind::MissingNodeModule, "", npm(name)));
    }
}

#[test]
fn a_name_with_shell_syntax() {
    let workspace = with_venv();
    for name in [
        "a;touch pwned",
        "$(touch pwned)",
        "`touch pwned`",
        "a|sh",
        "a&&b",
        "a\nb",
        "a>b",
        "a\0b",
    ] {
        attack_module(&workspace, name);
        workspace.attack(&failure(FailureKind::MissingNodeModule, name, npm(name)));
    }
}

#[test]
fn a_name_that_is_a_path_or_url() {
    let workspace = with_venv();
    for name in [
        "git+https://127.0.0.1/x.git",
        "http://127.0.0.1/x.whl",
        "../evil",
        "/tmp/evil",
        "./evil",
        "evil @ https://127.0.0.1/x.whl",
        "evil.whl",
    ] {
        workspace.attack(&failure(FailureKind::MissingPythonModule, name, pip(name)));
        workspace.attack(&failure(FailureKind::MissingNodeModule, name, npm(name)));
    }
}

#[test]
fn a_huge_name() {
    let workspace = with_venv();
    attack_module(&workspace, &"a".repeat(100_000));
    attack_module(&workspace, &"a.".repeat(50_000));
    workspace.attack_repair(FailureKind::NotExecutable, chmod(&"a/".repeat(100_000)));
}

#[test]
fn a_name_with_lookalike_letters() {
    let workspace = with_venv();
    for name in [
        "rеquests",
        "ｒｅｑｕｅｓｔｓ",
        "requests\u{200b}",
        "req\u{202e}stseu",
        "требования",
        "requésts",
    ] {
        attack_module(&workspace, name);
        workspace.attack(&failure(FailureKind::MissingNodeModule, "", npm(name)));
    }
}
