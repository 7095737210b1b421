use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use regreen_supervisor::{EndReason, Exit, Keepers, Marker, SpawnError, StartStep};

use crate::check::{run, spec, testchild};

#[test]
fn the_exit_code_arrives() {
    for code in [0, 1, 3, 255] {
        let ended = run(spec(&["exit", &code.to_string()])).ended;
        assert_eq!(ended.exit, Exit::Exited(code));
        assert_eq!(ended.reason, EndReason::Normal);
        assert_eq!(ended.leftovers_ended, 0);
    }
}

#[test]
fn the_signal_arrives() {
    for signal in [6, 9, 15] {
        let ended = run(spec(&["die", &signal.to_string()])).ended;
        assert_eq!(ended.exit, Exit::Signalled(signal));
        assert_eq!(ended.reason, EndReason::Normal);
    }
}

#[test]
fn a_program_that_does_not_exist_is_not_started() {
    for name in ["no-such-program-anywhere", "/no/such/program"] {
        let mut spec = spec(&[]);
        spec.argv = vec![name.into()];
        let exit = run(spec).ended.exit;
        assert!(exit.is_not_found(), "{exit:?}");
        assert_eq!(exit.shell_code(), 127);
    }
}

#[test]
fn a_file_that_may_not_be_executed_is_not_started() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script");
    fs::write(&script, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o644)).unwrap();
    let mut spec = spec(&[]);
    spec.argv = vec![script.into()];
    let exit = run(spec).ended.exit;
    assert_eq!(
        exit.start_error().unwrap().kind(),
        std::io::ErrorKind::PermissionDenied
    );
    assert_eq!(exit.shell_code(), 126);
}

#[test]
fn a_folder_that_does_not_exist_is_named_as_the_reason() {
    let mut spec = spec(&["exit", "0"]);
    spec.cwd = "/no/such/folder".into();
    let exit = run(spec).ended.exit;
    assert!(matches!(
        exit,
        Exit::NotStarted {
            step: StartStep::Folder,
            ..
        }
    ));
}

#[test]
fn an_empty_command_is_not_started() {
    let mut spec = spec(&[]);
    spec.argv.clear();
    assert!(run(spec).ended.exit.is_not_found());
}

#[test]
fn a_keeper_that_does_not_exist_is_an_error() {
    let keepers = Keepers::new("/no/such/keeper".into());
    let error = keepers.spawn(spec(&["exit", "0"])).unwrap_err();
    assert!(matches!(error, SpawnError::Keeper(_)));
}

#[test]
fn the_program_runs_in_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let mut spec = spec(&["folder"]);
    spec.cwd = folder.path().to_path_buf();
    let expected = folder.path().canonicalize().unwrap();
    assert_eq!(run(spec).stdout.trim(), expected.to_str().unwrap());
}

#[test]
fn the_environment_is_inherited_with_the_changes_and_the_marker() {
    let env = |name: &str| {
        let mut spec = spec(&["env", name]);
        spec.env = vec![
            ("ADDED".into(), Some("a value".into())),
            ("CARGO_MANIFEST_DIR".into(), None),
        ];
        spec.marker = Marker::new("mine");
        (spec.marker.clone(), run(spec).stdout.trim().to_owned())
    };
    assert_eq!(env("ADDED").1, "a value");
    assert_eq!(env("CARGO_MANIFEST_DIR").1, "unset");
    assert_ne!(env("PATH").1, "unset");
    let (marker, seen) = env(Marker::VARIABLE);
    assert_eq!(seen, marker.as_str());
}

#[test]
fn the_program_is_in_a_session_without_our_terminal() {
    let session = run(spec(&["session"])).stdout;
    assert!(!session.is_empty());
    assert_ne!(session.trim(), our_session());
}

/// Read from `/proc`, because rustix's `getsid` can't return 0, which a container sees if its
/// session was opened outside.
fn our_session() -> String {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let (_, after_name) = stat.rsplit_once(')').unwrap();
    after_name.split_whitespace().nth(3).unwrap().to_owned()
}

#[test]
fn the_program_has_no_open_files_that_another_child_of_ours_would_not_have() {
    let other = Command::new(testchild()).arg("open-files").output();
    let expected = String::from_utf8(other.unwrap().stdout).unwrap();
    assert_eq!(run(spec(&["open-files"])).stdout, expected);
}

#[test]
fn a_keeper_started_by_hand_does_nothing() {
    let output = Command::new(testchild())
        .arg(regreen_supervisor::KEEPER_ARGUMENT)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
}
