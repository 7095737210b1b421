//! Repairs that an inspection allows, and their effects. Installers are simulated by a runner that
//! records its calls; make, git and cargo are real.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::{Duration, SystemTime};

use crate::test_workspace::{LAUNCHERS, TestWorkspace, Tools, failure, missing_module, npm};
use regreen_model::{Failure, FailureKind, Inspection, PlannedRepair, RepairAction, RepairResult};
use regreen_repairs::{ToolCall, ToolResult, ToolRunner};

/// Simulates every tool: records the calls, and creates a file.
#[derive(Default)]
struct Player<'s> {
    asked: Vec<String>,
    makes: Option<(&'s TestWorkspace, &'s str)>,
    fails: bool,
}

impl ToolRunner for Player<'_> {
    fn run(&mut self, call: &ToolCall) -> ToolResult {
        let words: Vec<String> = call
            .argv
            .iter()
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        let program = words[0].rsplit('/').next().unwrap_or_default().to_owned();
        self.asked
            .push(format!("{program} {}", words[1..].join(" ")));
        if let Some((workspace, path)) = self.makes {
            workspace.write(path, "");
        }
        ToolResult {
            exit: Some(i32::from(self.fails)),
            output: "some words\nERROR: no such version\n".to_owned(),
        }
    }
}

#[track_caller]
fn done(result: RepairResult) -> Vec<(String, String)> {
    match result {
        RepairResult::Done { environment, .. } => environment,
        RepairResult::Failed { why } => panic!("{why}"),
    }
}

fn with_venv() -> TestWorkspace {
    let workspace = TestWorkspace::with(&[(".venv/pyvenv.cfg", "home = /usr/bin\n")]);
    workspace.write_program(".venv/bin/python", "#!/bin/sh\n");
    workspace
}

const PIP: &str = "python -I -m pip install --disable-pip-version-check --no-input";

#[track_caller]
fn check_python(manifests: &[(&str, &str)], module: &str, package: &str, asked: &str) {
    let workspace = with_venv();
    for (path, text) in manifests {
        workspace.write(path, text);
    }
    let workspace = workspace.begin();
    let failure = missing_module(module, package);
    let planned = workspace.allowed(&failure);
    let mut player = Player::default();
    let environment = done(workspace.apply(&failure, &planned, &mut player));
    assert_eq!(player.asked.first().unwrap(), &format!("{PIP} {asked}"));
    let bin = workspace.root().join(LAUNCHERS).join(".venv/bin");
    let path = environment.iter().find(|(name, _)| name == "PATH").unwrap();
    assert!(path.1.starts_with(bin.to_str().unwrap()), "{path:?}");
}

#[test]
fn a_package_is_installed_from_the_manifest() {
    let requirements = [("requirements.txt", "PyYAML>=6\n")];
    check_python(&requirements, "yaml", "PyYAML", "-r requirements.txt");
    let dev = [
        ("requirements.txt", "flask\n"),
        ("requirements-dev.txt", "-r requirements.txt\npytest\n"),
    ];
    check_python(&dev, "pytest", "pytest", "-r requirements-dev.txt");
    let pyproject = [(
        "pyproject.toml",
        "[project]\nname='a'\ndependencies=['python-dotenv>=1','six']\n",
    )];
    check_python(
        &pyproject,
        "dotenv",
        "python-dotenv",
        "python-dotenv>=1 six",
    );
    let setup = [("setup.cfg", "[options]\ninstall_requires =\n  attrs>=22\n")];
    check_python(&setup, "attrs", "attrs", "attrs>=22");
    let pipfile = [("Pipfile", "[packages]\nrequests = '==2.31.0'\n")];
    check_python(&pipfile, "requests", "requests", "requests==2.31.0");
}

#[test]
fn an_unavailable_package_does_not_block_another() {
    let workspace = with_venv();
    workspace.write("requirements.txt", "inflection==0.5.1\nzqnothing==9\n");
    let workspace = workspace.begin();
    let failure = missing_module("inflection", "inflection");
    let planned = workspace.allowed(&failure);
    let mut asked = Vec::new();
    let mut patchy = Tools(|call: &ToolCall| {
        let last = call.argv.last().unwrap().to_string_lossy().into_owned();
        let is_whole = last == "requirements.txt";
        asked.push(last);
        Some(i32::from(is_whole))
    });
    done(workspace.apply(&failure, &planned, &mut patchy));
    assert_eq!(asked[..2], ["requirements.txt", "inflection==0.5.1"]);
}

#[test]
fn a_lock_file_pins_the_version() {
    let poetry = [
        (
            "pyproject.toml",
            "[tool.poetry]\nname='a'\n[tool.poetry.dependencies]\nrequests='^2.30'\n",
        ),
        (
            "poetry.lock",
            "[[package]]\nname='requests'\nversion='2.31.0'\n[[package]]\nname='idna'\nversion='3.4'\n",
        ),
    ];
    check_python(&poetry, "requests", "requests", "requests==2.31.0");
    check_python(&poetry, "idna", "idna", "idna==3.4");
}

#[test]
fn a_manifest_may_list_the_package_under_another_name() {
    let binary = [("requirements.txt", "psycopg2==2.9\n")];
    check_python(
        &binary,
        "psycopg2",
        "psycopg2-binary",
        "-r requirements.txt",
    );
    let headless = [("requirements.txt", "opencv-python-headless\n")];
    check_python(&headless, "cv2", "opencv-python", "-r requirements.txt");
    let cloud = [("requirements.txt", "google-cloud-storage\n")];
    check_python(
        &cloud,
        "google.cloud.storage",
        "google",
        "-r requirements.txt",
    );
}

#[test]
fn the_project_itself_is_installed_from_its_folder() {
    let own = [
        ("pyproject.toml", "[project]\nname='zqapp'\nversion='1'\n"),
        ("src/zqapp/__init__.py", ""),
    ];
    check_python(&own, "zqapp", "zqapp", "-e .");
}

#[test]
fn a_missing_environment_is_created() {
    let workspace = TestWorkspace::with(&[("requirements.txt", "inflection==0.5.1\n")]);
    workspace.write_outside("bin/python3", "#!/bin/sh\n");
    let python = workspace.outside().join("bin/python3");
    fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).unwrap();
    let mut workspace = workspace.begin();
    workspace.path = workspace.outside().join("bin").into_os_string();
    let failure = missing_module("inflection", "inflection");
    let planned = workspace.allowed(&failure);
    let path = ".venv".to_owned();
    assert_eq!(planned.action, RepairAction::VenvCreate { path });
    let mut player = Player {
        makes: Some((&workspace, ".venv/bin/python")),
        ..Player::default()
    };
    let environment = done(workspace.apply(&failure, &planned, &mut player));
    assert_eq!(player.asked[0], "python3 -I -m venv .venv");
    assert_eq!(player.asked[1], format!("{PIP} -r requirements.txt"));
    assert_eq!(environment.len(), 2);
    // Ignored, so that it isn't committed by mistake.
    assert_eq!(workspace.read(".venv/.gitignore"), "*\n");
}

/// A tool that starts and never returns.
struct CutOff<'s>(&'s TestWorkspace, &'s str);

impl ToolRunner for CutOff<'_> {
    fn run(&mut self, _call: &ToolCall) -> ToolResult {
        self.0.write(self.1, "half");
        panic!("cut off");
    }
}

/// Applies a repair up to a simulated crash.
fn crash(workspace: &TestWorkspace, failure: &Failure, planned: &PlannedRepair, half: &str) {
    let mut runner = CutOff(workspace, half);
    let carried = std::panic::AssertUnwindSafe(|| workspace.apply(failure, planned, &mut runner));
    assert!(std::panic::catch_unwind(carried).is_err());
    assert!(workspace.exists(half));
}

#[test]
fn an_interrupted_repair_is_rolled_back_and_planned_again() {
    let workspace = TestWorkspace::with(&[
        ("requirements.txt", "inflection\n"),
        (
            "Makefile",
            "gen/version.py:\n\tmkdir -p gen; echo V=1 > $@\n",
        ),
    ]);
    workspace.write_outside("bin/python3", "#!/bin/sh\n");
    let python = workspace.outside().join("bin/python3");
    fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).unwrap();
    let mut workspace = workspace.begin();
    let path = [
        workspace.outside().join("bin"),
        "/usr/bin".into(),
        "/bin".into(),
    ];
    workspace.path = std::env::join_paths(path).unwrap();
    for (module, half) in [
        ("inflection", ".venv/lib/half"),
        ("version", "gen/version.py"),
    ] {
        let failure = missing_module(module, module);
        let planned = workspace.allowed(&failure);
        crash(&workspace, &failure, &planned, half);
        assert_ne!(
            workspace.inspect(&failure),
            Inspection::Allowed(planned.clone())
        );
        workspace.roll_back_interrupted(&planned).unwrap();
        assert!(!workspace.exists(half));
        assert_eq!(workspace.allowed(&failure), planned);
        // A rollback happens only once: anything created later stays.
        workspace.write(half, "whole");
        workspace.roll_back_interrupted(&planned).unwrap();
        assert!(workspace.exists(half));
    }
    // Ignored while it was still empty.
    let ignored = workspace.root().join(".regreen/removed/1/.venv/.gitignore");
    assert_eq!(fs::read_to_string(ignored).unwrap(), "*\n");
}

#[test]
fn an_environment_that_did_not_help_is_set_aside() {
    let workspace = TestWorkspace::with(&[("requirements.txt", "inflection\n")]).begin();
    let failure = missing_module("inflection", "inflection");
    let Inspection::Allowed(planned) = workspace.inspect(&failure) else {
        return; // There is no Python here.
    };
    let mut player = Player {
        makes: Some((&workspace, ".venv/bin/python")),
        fails: true,
        ..Player::default()
    };
    let result = workspace.apply(&failure, &planned, &mut player);
    let RepairResult::Failed { why } = result else {
        panic!("it failed");
    };
    assert!(why.contains("no such version"), "{why}");
    assert!(!workspace.exists(".venv"));
}

#[test]
fn an_install_without_effect_fails() {
    let workspace = TestWorkspace::with(&[("package.json", r#"{"dependencies":{"ms":"2.1.3"}}"#)])
        .begin()
        .with_tools(&["npm"]);
    let line = "Error: Cannot find module 'ms'";
    let failure = failure(FailureKind::MissingNodeModule, line, npm("ms"));
    let planned = workspace.allowed(&failure);
    let mut nothing = Player::default();
    let result = workspace.apply(&failure, &planned, &mut nothing);
    assert!(matches!(result, RepairResult::Failed { .. }), "{result:?}");
    let mut player = Player {
        makes: Some((&workspace, "node_modules/ms/package.json")),
        ..Player::default()
    };
    done(workspace.apply(&failure, &planned, &mut player));
    let without_lock =
        "npm install --no-save --no-package-lock --ignore-scripts --no-audit --no-fund";
    assert_eq!(player.asked, [without_lock]);
}

#[test]
fn each_manager_installs_its_lock_file_without_scripts() {
    for (lock, text, asked) in [
        (
            "package-lock.json",
            r#"{"packages":{"node_modules/ms":{"version":"2.1.3"}}}"#,
            "npm ci --ignore-scripts --no-audit --no-fund",
        ),
        (
            "yarn.lock",
            "",
            "yarn install --frozen-lockfile --ignore-scripts --non-interactive",
        ),
        (
            "pnpm-lock.yaml",
            "",
            "pnpm install --frozen-lockfile --ignore-scripts",
        ),
        (
            "bun.lock",
            "",
            "bun install --frozen-lockfile --ignore-scripts",
        ),
    ] {
        let workspace = TestWorkspace::with(&[
            ("package.json", r#"{"dependencies":{"ms":"2.1.3"}}"#),
            (lock, text),
        ]);
        let workspace = workspace
            .begin()
            .with_tools(&["npm", "yarn", "pnpm", "bun"]);
        let failure = failure(FailureKind::MissingNodeModule, "", npm("ms"));
        let planned = workspace.allowed(&failure);
        let mut player = Player {
            makes: Some((&workspace, "node_modules/ms/package.json")),
            ..Player::default()
        };
        done(workspace.apply(&failure, &planned, &mut player));
        assert_eq!(player.asked, [asked]);
    }
}

#[test]
fn a_command_of_the_project_is_added_to_path() {
    let workspace = with_venv();
    workspace.write_program(".venv/bin/zqtool", "#!/bin/sh\necho .venv/bin\n");
    workspace.write_program(
        "node_modules/.bin/zqnode",
        "#!/bin/sh\necho node_modules/.bin\n",
    );
    let workspace = workspace.begin();
    for (command, folder) in [("zqtool", ".venv/bin"), ("zqnode", "node_modules/.bin")] {
        let line = format!("bash: line 1: {command}: command not found");
        let failure = failure(FailureKind::MissingCommand, &line, None);
        let environment = workspace.heal(&failure, &mut Player::default());
        let expected = workspace.root().join(LAUNCHERS).join(folder);
        assert!(
            environment[0].1.starts_with(expected.to_str().unwrap()),
            "{environment:?}"
        );
        assert_eq!(workspace.run_in(&environment, command), folder);
    }
}

#[test]
fn a_script_becomes_executable() {
    let workspace = TestWorkspace::with(&[("scripts/ci.sh", "#!/bin/sh\n")]).begin();
    for line in [
        "bash: line 1: ./scripts/ci.sh: Permission denied",
        "run.sh: line 3: ./scripts/ci.sh: Permission denied",
        "PermissionError: [Errno 13] Permission denied: './scripts/ci.sh'",
    ] {
        fs::set_permissions(
            workspace.root().join("scripts/ci.sh"),
            fs::Permissions::from_mode(0o644),
        )
        .unwrap();
        let failure = failure(FailureKind::PermissionDenied, line, None);
        workspace.heal(&failure, &mut Player::default());
        let mode = fs::metadata(workspace.root().join("scripts/ci.sh"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o755, "{line}");
    }
}

#[test]
fn a_folder_is_created_only_for_writing() {
    let workspace = TestWorkspace::new().begin();
    let missing = |line: &str| failure(FailureKind::MissingFile, line, None);
    let written =
        missing("FileNotFoundError: [Errno 2] No such file or directory: 'build/report/out.txt'");
    workspace.heal(&written, &mut Player::default());
    assert!(workspace.root().join("build/report").is_dir());
    for line in [
        "FileNotFoundError: [Errno 2] No such file or directory: 'data/input.csv'",
        "cat: logs/a.txt: No such file or directory",
        "open(\"dist/manifest.json\"): No such file or directory: 'dist/manifest.json'",
        "readFileSync: ENOENT: no such file or directory, open 'dist/index.html'",
    ] {
        workspace.attack(&missing(line));
    }
}

#[test]
fn a_folder_with_a_probable_typo_is_not_created() {
    let workspace = TestWorkspace::with(&[("build/x", ""), ("logs", "a file")]).begin();
    for path in ["biuld/out.txt", "logs/out.txt"] {
        let line = format!("open(\"{path}\", \"w\"): No such file or directory: '{path}'");
        workspace.attack_line(FailureKind::MissingFile, &line);
    }
}

#[test]
fn ascii_only_programs_get_a_locale() {
    let workspace = TestWorkspace::new().begin();
    let encoding = |line: &str| failure(FailureKind::LocaleEncoding, line, None);
    let ascii = encoding("UnicodeEncodeError: 'ascii' codec can't encode character");
    let environment = workspace.heal(&ascii, &mut Player::default());
    assert!(environment.contains(&("LC_ALL".to_owned(), "C.UTF-8".to_owned())));
    workspace.attack(&encoding(
        "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff",
    ));
}

#[test]
fn an_example_is_copied_to_the_settings_file() {
    for ending in ["example", "sample", "template", "dist"] {
        let workspace =
            TestWorkspace::with(&[(&format!(".env.{ending}"), "SECRET_KEY=x\nEMPTY=\n")]).begin();
        let unset = |name: &str| {
            let line = format!("RuntimeError: {name} is not set");
            failure(FailureKind::MissingEnvVar, &line, None)
        };
        // Copying would not help, or only with a value that the example doesn't have.
        workspace.attack(&unset("UNKNOWN_THING"));
        workspace.attack(&unset("EMPTY"));
        let failure = unset("SECRET_KEY");
        workspace.heal(&failure, &mut Player::default());
        assert!(workspace.root().join(".env").is_file());
    }
}

#[test]
fn a_generated_file_is_created_by_its_target() {
    let workspace = TestWorkspace::with(&[("Makefile", "gen: gen/version.py\ngen/version.py: version.txt\n\tmkdir -p gen; echo \"V=`cat version.txt`\" > $@\n"),
("version.txt", "1\n")]).begin();
    let failure = missing_module("version", "version");
    workspace.heal(&failure, &mut workspace.real_tools());
    assert_eq!(workspace.read("gen/version.py"), "V=1\n");
}

#[test]
fn own_versions_in_a_lock_file_are_updated() {
    let workspace = TestWorkspace::new();
    let manifest = "[package]\nname='zq'\nversion='0.1.0'\nedition='2021'\n[workspace]\n";
    workspace.write("Cargo.toml", manifest);
    workspace.write("src/lib.rs", "");
    workspace.write(
        "Cargo.lock",
        "version = 3\n\n[[package]]\nname = \"zq\"\nversion = \"0.0.9\"\n",
    );
    let workspace = workspace.begin();
    let args = ["cargo", "update", "--workspace"].map(str::to_owned).into();
    let line = "error: cannot update the lock file Cargo.lock because --locked was passed";
    let failure = failure(
        FailureKind::LockfileOutdated,
        line,
        Some(RepairAction::Run { args }),
    );
    workspace.heal(&failure, &mut workspace.real_tools());
    assert!(workspace.read("Cargo.lock").contains("0.1.0"));
}

#[test]
fn a_lock_file_that_changes_otherwise_is_restored() {
    let before = "[[package]]\nname='b'\nversion='1'\nsource='r'\n";
    let workspace = TestWorkspace::with(&[
        ("Cargo.toml", "[package]\nname='a'\n"),
        ("Cargo.lock", before),
    ])
    .begin();
    let args = ["cargo", "update", "--workspace"].map(str::to_owned).into();
    let failure = failure(
        FailureKind::LockfileOutdated,
        "Cargo.lock",
        Some(RepairAction::Run { args }),
    );
    workspace.heal_in_vain(
        &failure,
        &mut Tools(|_: &ToolCall| {
            let changed = "[[package]]\nname='b'\nversion='2'\nsource='r'\n";
            workspace.write("Cargo.lock", changed);
            Some(0)
        }),
    );
    assert_eq!(workspace.read("Cargo.lock"), before);
}

#[cfg(target_os = "linux")]
#[test]
fn a_stale_lock_of_git_is_set_aside() {
    let workspace = TestWorkspace::new();
    let git = |args: &[&str]| {
        Command::new("git")
            .args(args)
            .current_dir(workspace.root())
            .status()
            .unwrap()
            .success()
    };
    assert!(git(&["init", "-q"]));
    workspace.write("a.txt", "a");
    workspace.write(".git/index.lock", "");
    let lock = fs::File::options()
        .write(true)
        .open(workspace.root().join(".git/index.lock"))
        .unwrap();
    lock.set_modified(SystemTime::now() - Duration::from_secs(7200))
        .unwrap();
    drop(lock);
    let stage_path = workspace
        .root()
        .join(".git/index.lock")
        .display()
        .to_string();
    let line = format!("fatal: Unable to create '{stage_path}': File exists.");
    let failure = failure(
        FailureKind::StaleLock,
        &line,
        Some(RepairAction::RemoveStaleLock { path: stage_path }),
    );
    workspace.heal(&failure, &mut Player::default());
    assert!(git(&["add", "a.txt"]));
    assert!(workspace.exists(".regreen/removed/1/index.lock"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_pid_file_of_a_dead_process_is_set_aside() {
    let mut child = Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    let workspace = TestWorkspace::new();
    workspace.write(".run/server.pid", &format!("{}\n", child.id()));
    let workspace = workspace.begin();
    let line = format!("server already running (pid {})", child.id());
    let failure = failure(FailureKind::StaleLock, &line, None);
    workspace.heal(&failure, &mut Player::default());
    assert!(!workspace.exists(".run/server.pid"));
}

#[cfg(target_os = "linux")]
#[test]
fn only_a_process_with_our_marker_is_ended() {
    let workspace = TestWorkspace::new();
    let start = |marker: &str| {
        let mut command = Command::new("sleep");
        command.arg("300").current_dir(workspace.root());
        command
            .env(regreen_supervisor::Marker::VARIABLE, marker)
            .spawn()
    };
    for (marker, is_ours) in [("another-run:1", false), ("a-run-that-is-not:1.1:1", true)] {
        let mut child = start(marker).unwrap();
        workspace.write(".run/server.pid", &child.id().to_string());
        let line = format!("server already running (pid {})", child.id());
        let failure = failure(FailureKind::StaleLock, &line, None);
        if is_ours {
            workspace.heal(&failure, &mut Player::default());
        } else {
            workspace.attack(&failure);
            assert!(child.try_wait().unwrap().is_none());
            child.kill().unwrap();
        }
        assert!(!child.wait().unwrap().success());
    }
}

#[test]
fn a_corrupt_cache_with_a_tag_is_set_aside() {
    let workspace = TestWorkspace::with(&[
        (
            ".cache/CACHEDIR.TAG",
            "Signature: 8a477f597d28d172789f06886806bc55\n",
        ),
        (".cache/state.json", "{\"schema\":3"),
    ])
    .begin();
    let line = "json.load(open(\".cache/state.json\")): Expecting ',' delimiter";
    let failure = failure(FailureKind::DataFormatError, line, None);
    workspace.heal(&failure, &mut Player::default());
    assert!(!workspace.exists(".cache"));
    assert!(workspace.exists(".regreen/removed/1/.cache/state.json"));
}

#[test]
fn a_repair_with_consent_is_applied() {
    let workspace = with_venv().begin();
    let failure = missing_module("slugify", "python-slugify");
    let Inspection::Ask { repair, .. } = workspace.inspect(&failure) else {
        panic!("it is asked about");
    };
    let mut player = Player::default();
    let refused = workspace.apply(&failure, &repair, &mut player);
    assert!(matches!(refused, RepairResult::Failed { .. }));
    assert_eq!(player.asked, [""; 0]);
    done(workspace.agreed(&failure, &repair, &mut player));
    assert_eq!(player.asked[0], format!("{PIP} python-slugify"));
}
