//! Repositories that regreen creates itself.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use regreen_workspace::{CommitOutcome, CommitRequest, Git, Identity, PlainRunner};

use crate::repo::{quiet_env, rel, run_git};

const IDENTITY: Identity<'_> = Identity {
    name: "Nobody",
    email: "nobody@example.invalid",
};

/// Configures a user whose hooks refuse everything and whose signing fails.
fn users_settings(home: &Path) -> Vec<(OsString, OsString)> {
    for folder in ["hooks", "template/hooks"] {
        fs::create_dir_all(home.join(folder)).unwrap();
        let hook = home.join(folder).join("pre-commit");
        fs::write(&hook, "#!/bin/sh\nexit 1\n").unwrap();
        fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let settings = home.join("gitconfig");
    let shown = home.display();
    let text = format!(
        "[core]\nhooksPath = {shown}/hooks\n[init]\ntemplateDir = {shown}/template\n\
         [commit]\ngpgSign = true\n[gpg]\nprogram = false\n[user]\nname = Ann\nemail = a@b\n"
    );
    fs::write(&settings, text).unwrap();
    // As if a hook of another repository had started regreen.
    let elsewhere = home.join("elsewhere").into_os_string();
    let mut env = quiet_env();
    env.retain(|(name, _)| name != "GIT_CONFIG_GLOBAL");
    env.push(("GIT_CONFIG_GLOBAL".into(), settings.into_os_string()));
    env.push(("GIT_DIR".into(), elsewhere));
    env
}

#[test]
fn own_repositories_ignore_the_users_settings() {
    let folder = tempfile::tempdir().unwrap();
    let (home, root) = (folder.path().join("home"), folder.path().join("work"));
    fs::create_dir_all(root.join(".regreen")).unwrap();
    fs::write(root.join("a"), "a").unwrap();
    let runner = Arc::new(PlainRunner::with_env(users_settings(&home)));
    let git = Git::init_with(&root, IDENTITY, runner).unwrap();
    let request = CommitRequest {
        key: "start".into(),
        message: "Start".into(),
        paths: [rel("a")].into(),
        leave_alone: [].into(),
        spec_files: [].into(),
        parent: None,
    };
    let committed = git.commit(&request, &root.join(".regreen")).unwrap();
    assert!(matches!(committed.outcome, CommitOutcome::Made(_)));
    let log = run_git(&root, &["log", "--format=%an %ae %G? %s on %D"]);
    assert_eq!(
        log,
        "Nobody nobody@example.invalid N Start on HEAD -> main\n"
    );
    assert!(!root.join(".git/hooks").exists());
    assert!(!home.join("elsewhere").exists());
}
