//! A repository whose configuration names a program for everything that git can run.
//!
//! None of them runs in regreen's own operations: snapshots, comparisons, queries. The user's own
//! commit runs their hooks, filters and signing program; undo runs the filters.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use regreen_workspace::{Git, PathStatus, path_status};

use crate::repo::{Repo, around, changes, quiet_env, rel};

/// Configuration that runs a program, or leads to one that does.
const RUNS_A_PROGRAM: [&str; 30] = [
    "core.fsmonitor",
    "core.pager",
    "pager.log",
    "pager.diff-tree",
    "core.editor",
    "sequence.editor",
    "core.askPass",
    "core.sshCommand",
    "core.gitProxy",
    "core.alternateRefsCommand",
    "credential.helper",
    "diff.external",
    "diff.evil.command",
    "diff.evil.textconv",
    "interactive.diffFilter",
    "filter.evil.clean",
    "filter.evil.smudge",
    "filter.evil.process",
    "merge.evil.driver",
    "mergetool.evil.cmd",
    "gpg.program",
    "gpg.ssh.program",
    "gpg.ssh.defaultKeyCommand",
    "gpg.x509.program",
    "trailer.evil.command",
    "remote.origin.uploadpack",
    "remote.origin.receivepack",
    "uploadpack.packObjectsHook",
    "gc.recentObjectsHook",
    "receive.procReceiveRefs",
];

const HOOKS: [&str; 6] = [
    "pre-commit",
    "post-commit",
    "post-checkout",
    "post-index-change",
    "reference-transaction",
    "pre-auto-gc",
];

struct Hostile {
    repo: Repo,
    /// A blob of the first commit that is missing, as in a partial clone.
    missing: String,
}

impl Hostile {
    fn new() -> Self {
        let repo = Repo::with(&["f", "old.txt"]);
        repo.write("old.txt", "other");
        repo.write(".gitattributes", "* diff=evil filter=evil merge=evil\n");
        repo.commit_all("second");
        sign_head(&repo);
        let trap = repo.beside("trap");
        let marks = repo.beside("marks").display().to_string();
        fs::write(&trap, format!("#!/bin/sh\necho x >>'{marks}'\nexit 1\n")).unwrap();
        fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).unwrap();
        let trap = trap.display().to_string();
        for key in RUNS_A_PROGRAM {
            repo.git(&["config", key, &trap]);
        }
        let hooks = repo.beside("hooks");
        fs::create_dir_all(&hooks).unwrap();
        for hook in HOOKS {
            fs::copy(&trap, hooks.join(hook)).unwrap();
        }
        for (key, value) in [
            ("core.hooksPath", hooks.to_str().unwrap()),
            ("log.showSignature", "true"),
            ("commit.gpgSign", "true"),
            ("gpg.format", "openpgp"),
            ("protocol.file.allow", "always"),
            ("protocol.ext.allow", "always"),
            ("remote.origin.url", repo.path(".").to_str().unwrap()),
            ("remote.origin.promisor", "true"),
            ("extensions.partialClone", "origin"),
            ("core.repositoryFormatVersion", "1"),
        ] {
            repo.git(&["config", key, value]);
        }
        let missing = repo.git(&["rev-parse", "HEAD^:old.txt"]).trim().to_owned();
        fs::remove_file(repo.path(&format!(".git/objects/{}/{}", &missing[..2], &missing[2..])))
            .unwrap();
        Self { repo, missing }
    }

    /// Whether one of the programs has run since the last call.
    fn ran(&self) -> bool {
        fs::remove_file(self.repo.beside("marks")).is_ok()
    }

    fn run_git(&self, args: &[&str]) {
        let mut git = Command::new("git");
        git.args(args).current_dir(self.repo.root());
        git.envs(quiet_env()).output().unwrap();
    }
}

/// Signs HEAD, so that `log.showSignature` would have something to check.
fn sign_head(repo: &Repo) {
    let commit = repo.git(&["cat-file", "commit", "HEAD"]);
    let signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n x\n -----END PGP SIGNATURE-----\n\n";
    repo.write(
        ".regreen/signed",
        &commit.replacen("\n\n", &format!("\n{signature}"), 1),
    );
    let signed = repo.git(&["hash-object", "-t", "commit", "-w", ".regreen/signed"]);
    repo.git(&["update-ref", "HEAD", signed.trim()]);
}

#[test]
fn the_traps_work() {
    let hostile = Hostile::new();
    for usual in [
        &["status"][..],
        &["log", "-1"],
        &["diff", "HEAD"],
        &["cat-file", "-p", &hostile.missing],
        &["update-ref", "refs/x", "HEAD"],
        &["add", "f"],
    ] {
        hostile.repo.write("f", "touched");
        hostile.ran();
        hostile.run_git(usual);
        assert!(hostile.ran(), "{usual:?}");
    }
}

#[test]
fn nothing_that_the_repository_configures_runs_for_snapshots_and_comparisons() {
    let hostile = Hostile::new();
    let repo = &hostile.repo;
    let mut snapshots = repo.snapshots();
    let (before, after) = around(repo, &mut snapshots, 1, |repo| {
        repo.write("f", "changed");
        repo.write("new", "new");
    });
    assert!(!hostile.ran(), "snapshots");
    let git = snapshots.git();
    assert_eq!(changes(git, &before, &after), ["M f", "A new"]);
    assert!(!hostile.ran(), "changed files");
    git.changed_lines(&before.oid, &after.oid).unwrap();
    git.diff(&before.oid, &after.oid, None, None).unwrap();
    assert!(!hostile.ran(), "diff");
    git.dirty_paths().unwrap();
    git.listed_files().unwrap();
    git.snapshots(None).unwrap();
    let found = path_status(repo.root(), &rel("f"));
    assert_eq!(found, PathStatus::Tracked);
    assert!(!hostile.ran(), "status");
}

#[test]
fn missing_objects_of_a_partial_clone_are_not_fetched() {
    let hostile = Hostile::new();
    let git: Git = hostile.repo.open();
    let head = git.head().unwrap().unwrap();
    let first = hostile.repo.git(&["rev-parse", "HEAD^"]);
    let first = regreen_workspace::Oid::parse(first.trim()).unwrap();
    hostile.ran();
    let complaint = git.diff(&first, &head, None, None).unwrap_err().to_string();
    assert!(complaint.contains(&hostile.missing), "{complaint}");
    assert!(!hostile.ran());
}

/// The user's filter is used, and the repository can't replace it.
#[test]
fn the_users_filter_is_used_and_not_that_of_the_repository() {
    let hostile = Hostile::new();
    let repo = &hostile.repo;
    let global = repo.beside("gitconfig");
    fs::write(&global, "[filter \"evil\"]\n\tclean = tr a-z A-Z\n").unwrap();
    repo.git(&["config", "--unset", "filter.evil.process"]);
    let mut snapshots = repo.snapshots_with(&[("GIT_CONFIG_GLOBAL", Path::new(&global))]);
    let (_, after) = around(repo, &mut snapshots, 1, |repo| repo.write("f", "changed"));
    assert_eq!(repo.content_in(&after.oid, "f"), "CHANGED");
    assert!(!hostile.ran());
}
