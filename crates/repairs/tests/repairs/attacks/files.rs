//! Paths, links, scripts, settings and caches.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::{chmod, git, remove_lock};
use crate::test_workspace::{TestWorkspace, failure, missing_module};
use regreen_model::{FailureKind, PlannedRepair, RepairAction, RepairResult};
use regreen_repairs::{ToolCall, ToolResult, ToolRunner};

#[test]
fn a_path_that_climbs_out() {
    let workspace = TestWorkspace::new();
    workspace.write_outside("tool.sh", "#!/bin/sh\n");
    let workspace = workspace.begin();
    let up = format!(
        "../{}/tool.sh",
        workspace.outside().file_name().unwrap().to_str().unwrap()
    );
    let absolute = workspace.outside().join("tool.sh");
    for path in [
        up.as_str(),
        absolute.to_str().unwrap(),
        "/etc/hosts",
        "~/x.sh",
        "..",
        "a/../../x",
    ] {
        workspace.attack_repair(FailureKind::NotExecutable, chmod(path));
        let path = path.to_owned();
        let crlf = Some(RepairAction::CrlfToLf { path: path.clone() });
        workspace.attack(&failure(FailureKind::CrlfScript, "", crlf));
        let cache = Some(RepairAction::CleanCache { path: path.clone() });
        workspace.attack(&failure(FailureKind::DataCorrupt, "", cache));
        workspace.attack_repair(FailureKind::StaleLock, remove_lock(&path));
        let folder = format!("{path}/logs");
        let mkdir = Some(RepairAction::Mkdir { path: folder });
        workspace.attack(&failure(FailureKind::MissingFile, "", mkdir));
    }
}

#[test]
fn a_link_that_leads_out() {
    let workspace = TestWorkspace::new();
    workspace.write_outside("tool.sh", "#!/bin/sh\r\n");
    workspace.write_outside(
        "cache/CACHEDIR.TAG",
        "Signature: 8a477f597d28d172789f06886806bc55",
    );
    workspace.write_outside("x.pid", "4194000");
    workspace.link_out("run.sh", "tool.sh");
    workspace.link_out("cache", "cache");
    workspace.link_out("x.pid", "x.pid");
    workspace.link_out("build", "");
    let workspace = workspace.begin();
    workspace.attack(&failure(
        FailureKind::NotExecutable,
        "bash: ./run.sh: Permission denied",
        Some(chmod("./run.sh")),
    ));
    let path = "run.sh".to_owned();
    workspace.attack_repair(FailureKind::CrlfScript, RepairAction::CrlfToLf { path });
    let path = "cache".to_owned();
    workspace.attack_repair(FailureKind::DataCorrupt, RepairAction::CleanCache { path });
    workspace.attack_repair(FailureKind::StaleLock, remove_lock("x.pid"));
    let path = "build/new".to_owned();
    workspace.attack_repair(FailureKind::MissingFile, RepairAction::Mkdir { path });
}

#[test]
fn a_hard_link_to_a_file_outside() {
    let workspace = TestWorkspace::new();
    workspace.write_outside("tool.sh", "#!/bin/sh\n");
    fs::hard_link(
        workspace.outside().join("tool.sh"),
        workspace.root().join("run.sh"),
    )
    .unwrap();
    workspace
        .begin()
        .attack_repair(FailureKind::NotExecutable, chmod("run.sh"));
}

#[test]
fn a_link_swapped_in_between_inspection_and_action() {
    let workspace =
        TestWorkspace::with(&[("run.sh", "#!/bin/sh\n"), ("dir/run.sh", "#!/bin/sh\n")]);
    workspace.write_outside("run.sh", "#!/bin/sh\n");
    let workspace = workspace.begin();
    for (path, swapped) in [("run.sh", "run.sh"), ("dir/run.sh", "dir")] {
        let failure = failure(FailureKind::NotExecutable, "", Some(chmod(path)));
        let planned = workspace.allowed(&failure);
        let place = workspace.root().join(swapped);
        fs::rename(&place, workspace.root().join("aside")).unwrap();
        let target = if swapped == "dir" {
            workspace.outside().to_owned()
        } else {
            workspace.outside().join("run.sh")
        };
        symlink(target, &place).unwrap();
        workspace.must_fail(&failure, &planned);
        fs::remove_file(&place).unwrap();
        fs::rename(workspace.root().join("aside"), &place).unwrap();
    }
}

#[test]
fn a_file_that_is_not_a_script() {
    let workspace = TestWorkspace::with(&[
        ("data.csv", "a,b\n"),
        (".git/hooks/pre-commit", "#!/bin/sh\n"),
    ])
    .begin();
    for path in ["data.csv", ".git/hooks/pre-commit", "nothing.sh", "."] {
        workspace.attack_repair(FailureKind::NotExecutable, chmod(path));
    }
}

#[test]
fn a_file_that_could_not_be_written() {
    let workspace = TestWorkspace::with(&[("conf/app.sh", "#!/bin/sh\n")]).begin();
    for line in [
        "sh: 1: cannot create conf/app.sh: Permission denied",
        "cp: cannot create regular file 'conf/app.sh': Permission denied",
    ] {
        workspace.attack_line(FailureKind::PermissionDenied, line);
    }
}

#[test]
fn settings_that_git_would_commit() {
    let workspace = TestWorkspace::with(&[(".env.example", "SECRET_KEY=x\n")]);
    git(&workspace, &["init", "-q"]);
    let workspace = workspace.begin();
    let unset = failure(
        FailureKind::MissingEnvVar,
        "RuntimeError: SECRET_KEY is not set",
        None,
    );
    workspace.asked_about(&unset);
    workspace.write(".gitignore", ".env\n");
    workspace.allowed(&unset);
}

#[test]
fn a_cache_without_a_tag() {
    let cases: [(&str, &str); 4] = [
        ("", "untagged"),
        ("", "empty tag"),
        ("Signature: 00000000000000000000000000000000", "wrong tag"),
        (
            " Signature: 8a477f597d28d172789f06886806bc55",
            "not at the start",
        ),
    ];
    for (tag, what) in cases {
        let workspace = TestWorkspace::with(&[("cache/state.json", "{")]);
        if what != "untagged" {
            workspace.write("cache/CACHEDIR.TAG", tag);
        }
        let workspace = workspace.begin();
        let line = "json.decoder.JSONDecodeError: Expecting value: cache/state.json";
        workspace.attack_line(FailureKind::DataFormatError, line);
        let path = "cache".to_owned();
        workspace.attack(&failure(
            FailureKind::DataCorrupt,
            line,
            Some(RepairAction::CleanCache { path }),
        ));
    }
}

#[test]
fn a_cache_that_is_intact_or_contains_more() {
    let tag = "Signature: 8a477f597d28d172789f06886806bc55\n";
    let workspace = TestWorkspace::with(&[
        ("cache/CACHEDIR.TAG", tag),
        ("cache/state.json", "{}"),
        ("venv/CACHEDIR.TAG", tag),
        ("venv/pyvenv.cfg", ""),
        ("venv/lib/x.json", "{"),
        ("repo/CACHEDIR.TAG", tag),
        ("repo/.git/HEAD", ""),
        ("repo/x.json", "{"),
    ])
    .begin();
    for file in ["cache/state.json", "venv/lib/x.json", "repo/x.json"] {
        let line = format!("json.decoder.JSONDecodeError: Expecting value: {file}");
        workspace.attack_line(FailureKind::DataFormatError, &line);
    }
}

#[test]
fn an_existing_settings_file() {
    let workspace =
        TestWorkspace::with(&[(".env.example", "SECRET_KEY=x\n"), (".env", "OTHER=mine\n")])
            .begin();
    let args = vec![".env.example".to_owned(), ".env".to_owned()];
    let copy = Some(RepairAction::CopyFile { args });
    workspace.attack(&failure(
        FailureKind::MissingEnvVar,
        "RuntimeError: SECRET_KEY is not set",
        copy,
    ));
}

#[test]
fn an_example_that_is_a_link_to_secrets() {
    let workspace = TestWorkspace::new();
    workspace.write_outside("secrets", "SECRET_KEY=real\n");
    workspace.link_out(".env.example", "secrets");
    let workspace = workspace.begin();
    workspace.attack_line(
        FailureKind::MissingEnvVar,
        "RuntimeError: SECRET_KEY is not set",
    );
    let args = vec!["/etc/passwd".to_owned(), ".env".to_owned()];
    workspace.attack_repair(FailureKind::MissingFile, RepairAction::CopyFile { args });
}

/// Replaces a folder with a link after the first call.
struct Swapping<'s>(&'s TestWorkspace, usize);

impl ToolRunner for Swapping<'_> {
    fn run(&mut self, call: &ToolCall) -> ToolResult {
        assert_eq!(self.1, 0, "{:?} was started", call.argv);
        self.1 += 1;
        fs::remove_dir_all(self.0.root().join(".venv")).unwrap();
        symlink(self.0.outside(), self.0.root().join(".venv")).unwrap();
        ToolResult {
            exit: Some(0),
            output: String::new(),
        }
    }
}

#[test]
fn a_folder_that_becomes_a_link_between_two_calls() {
    let workspace = TestWorkspace::with(&[("requirements.txt", "inflection\n")])
        .begin()
        .with_tools(&["python3"]);
    let missing = missing_module("inflection", "inflection");
    workspace.heal_in_vain(&missing, &mut Swapping(&workspace, 0));
}

#[test]
fn a_link_in_the_path_of_a_folder() {
    let workspace = TestWorkspace::with(&[
        ("Gemfile", "gem 'rake'\n"),
        ("Gemfile.lock", ""),
        ("web/Makefile", "gen/v.js:\n\tmkdir -p gen; echo 1 > $@\n"),
    ])
    .begin()
    .with_tools(&["bundle", "make"]);
    let args = vec!["bundle".to_owned(), "install".to_owned()];
    let gems = failure(
        FailureKind::MissingFile,
        "",
        Some(RepairAction::Run { args }),
    );
    workspace.allowed(&gems);
    workspace.link_out("vendor", "");
    workspace.attack(&gems);

    let line = "ENOENT: no such file or directory, open 'web/gen/v.js'";
    let missing = failure(FailureKind::MissingFile, line, None);
    let planned = workspace.allowed(&missing);
    fs::rename(
        workspace.root().join("web"),
        workspace.outside().join("web"),
    )
    .unwrap();
    workspace.link_out("web", "web");
    let result = workspace.apply(&missing, &planned, &mut Swapping(&workspace, 1));
    assert!(matches!(result, RepairResult::Failed { .. }), "{result:?}");
}

#[test]
fn a_forged_marker_of_an_interrupted_repair() {
    let workspace = TestWorkspace::with(&[("src/main.py", "gold"), (".venv/x", "tracked")]);
    git(&workspace, &["init", "-q"]);
    git(&workspace, &["add", "-f", ".venv/x"]);
    let workspace = workspace.begin();
    let planned = |action: RepairAction| PlannedRepair {
        action,
        does: "make".to_owned(),
    };
    let mark = r#"{"does":"make","makes":["src","src/main.py",".venv","../outside",".git"]}"#;
    let path = ".venv".to_owned();
    let args = vec!["npm".to_owned()];
    for action in [
        RepairAction::VenvCreate { path },
        RepairAction::Run { args },
    ] {
        workspace.write(".regreen/repair-begun", mark);
        workspace.roll_back_interrupted(&planned(action)).unwrap();
        for kept in ["src/main.py", ".venv/x", ".git/index"] {
            assert!(workspace.exists(kept), "{kept}");
        }
    }
    assert!(workspace.outside().exists());
}

#[test]
fn a_setuid_script() {
    let workspace = TestWorkspace::with(&[("run.sh", "#!/bin/sh\n")]);
    let path = workspace.root().join("run.sh");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o4644)).unwrap();
    workspace
        .begin()
        .attack_repair(FailureKind::NotExecutable, chmod("run.sh"));
}
