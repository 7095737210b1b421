//! Inspecting creates nothing and changes nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use snapbox::str;

use regreen_test_support::{Workspace, files_below};

const ONE: &str = "- [ ] 1.1 Make it\n  - **Verify**: `true`\n";

const LOOKS: [&[&str]; 7] = [
    &["status"],
    &["status", "--json"],
    &["why", "1.1"],
    &["log", "1.1"],
    &["diff", "1.1"],
    &["journal"],
    &["stop"],
];

fn done() -> Workspace {
    Workspace::in_git(ONE)
        .agent("*) echo x >made; echo TASK_COMPLETE ;;")
        .has_run(&[], 0)
}

/// Returns every file with its content and modification time.
fn everything(workspace: &Workspace) -> Vec<(String, Vec<u8>, std::time::SystemTime)> {
    let names = files_below(&workspace.path("."));
    names
        .into_iter()
        .map(|name| {
            let path = workspace.path(&name);
            let time = fs::metadata(&path).unwrap().modified().unwrap();
            (name, fs::read(path).unwrap(), time)
        })
        .collect()
}

#[test]
fn looking_leaves_every_file_as_it_is() {
    let workspace = done();
    let before = everything(&workspace);
    for look in LOOKS {
        assert_eq!(workspace.regreen(look).code, Some(0), "{look:?}");
    }
    assert!(everything(&workspace) == before);
}

#[test]
fn inspecting_a_workspace_without_runs_creates_nothing() {
    let workspace = Workspace::in_git(ONE);
    let before = everything(&workspace);
    for look in LOOKS {
        workspace.regreen(look);
    }
    assert!(everything(&workspace) == before);
}

fn set_modes(path: &Path, folders: u32, files: u32) {
    let mode = if path.is_dir() { folders } else { files };
    if path.is_dir() {
        fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
        for entry in fs::read_dir(path).unwrap() {
            set_modes(&entry.unwrap().path(), folders, files);
        }
    }
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_read_only_workspace_can_be_inspected() {
    let workspace = done();
    let own = workspace.path(".regreen");
    set_modes(&own, 0o500, 0o400);
    let status = workspace.as_ordinary_user(&["status"]);
    let log = workspace.as_ordinary_user(&["log", "1.1"]);
    let skip = workspace.as_ordinary_user(&["skip", "1.1"]);
    set_modes(&own, 0o700, 0o600);
    let (Some(status), Some(log)) = (status, log) else {
        return;
    };
    status.shows(str![[r#"
    SPEC  demo · 1 of 1 tasks done · specs/demo/tasks.md
     RUN  [RUN] · command:sh [AGENT]/agent.sh · all tasks done
          1 of 100 attempts

    PASS  1.1 Make it
--- exit code 0

"#]]);
    log.shows(str![[r#"
TASK_COMPLETE
--- exit code 0

"#]]);
    assert_eq!(skip.unwrap().code, Some(78));
}

#[test]
fn an_unreadable_journal_is_reported() {
    let workspace = done();
    set_modes(&workspace.path(".regreen"), 0o000, 0o000);
    let status = workspace.as_ordinary_user(&["status"]);
    set_modes(&workspace.path(".regreen"), 0o700, 0o600);
    let Some(status) = status else { return };
    status.shows(str![[r#"
--- standard error
  × cannot use [FOLDER]/.regreen/regreen.db: cannot read the journal: Permission denied (os error 13)
  help: give your user read permission on the folder and its files
--- exit code 78

"#]]);
}
