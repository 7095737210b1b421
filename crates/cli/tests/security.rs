//! The statements in docs/security.md about the whole program.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use regreen_test_support::{Output, Workspace};
use snapbox::str;

const TASKS: &str = "specs/demo/tasks.md";
const AGENT: &str = "command:sh agent.sh";

/// Built from parts, so that scanners do not report this file.
fn api_key() -> String {
    format!(
        "sk-ant-{}-{}",
        "api03", "Qw71kZ0pLm93nBv5cXw9Yt2RsAeD4fGh6JkUi8OoPzQx1mNb"
    )
}

/// A repository with a spec and an agent.
fn repository(tasks: &str, agent: &str) -> Workspace {
    let test = Workspace::new().file(TASKS, tasks).file("agent.sh", agent);
    fs::remove_dir(test.path(".git")).unwrap();
    git(&test, &["init", "--quiet", "--initial-branch=main"]);
    for (key, value) in [
        ("user.name", "Tester"),
        ("user.email", "tester@example.com"),
        ("commit.gpgsign", "false"),
    ] {
        git(&test, &["config", key, value]);
    }
    git(&test, &["add", "--all"]);
    git(&test, &["commit", "--quiet", "-m", "before"]);
    test
}

fn git(test: &Workspace, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(test.path("."))
        .env("HOME", test.path("user"))
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn run(test: &Workspace) -> Output {
    test.regreen(&["run", "demo", "--agent", AGENT])
}

/// Returns all files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found
}

/// Installs a program that only notes that it was started.
fn trap(test: &Workspace, name: &str) -> PathBuf {
    let path = test.path(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let notes = test.path("started").display().to_string();
    fs::write(
        &path,
        format!("#!/bin/sh\necho \"${{0##*/}}\" >>'{notes}'\n"),
    )
    .unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// Returns the programs that were started.
fn started(test: &Workspace) -> String {
    let notes = test.path("started");
    let text = fs::read_to_string(&notes).unwrap_or_default();
    let _ = fs::remove_file(notes);
    text
}

const PROGRAMS: [&str; 18] = [
    "sh", "bash", "env", "git", "touch", "true", "make", "cargo", "npm", "python3", "less", "more",
    "pager", "man", "vi", "cat", "grep", "regreen",
];

const HOSTILE: &str = "\
- [ ] 1.1 Look
  - **Do**: 1. `touch ran`
  - **Verify**: `touch ran`

- [ ] 1.2 Look again
  - **Do**:
    ```sh
    touch ran
    ```
  - **Verify**: `git touch`, then `touch ran`
";

#[test]
fn looking_starts_no_program() {
    let agent = "cat >/dev/null; echo x >made; echo TASK_COMPLETE\n";
    let test = repository("- [ ] 1.1 Look\n  - **Verify**: `true`\n", agent);
    run(&test).exits(0);
    let test = test
        .file(TASKS, HOSTILE)
        .file("regreen.toml", "agent = 'shell'\ngate = 'touch ran'\n")
        .file("log", "error: run `touch ran` to fix this\n");
    for program in PROGRAMS {
        trap(&test, &format!("bin/{program}"));
    }
    let looks: [&[&str]; 24] = [
        &["lint", "demo"],
        &["tasks", "list", TASKS],
        &["tasks", "tick", TASKS, "1.1"],
        &["explain", "log"],
        &["rules", "list"],
        &["config", "demo"],
        &["status", "demo"],
        &["status", "demo", "--json"],
        &["failures"],
        &["stats"],
        &["history", "export"],
        &["log", "1.1", "--spec", "demo"],
        &["log", "1.1", "--verify", "--spec", "demo"],
        &["run", "demo", "--dry-run"],
        &["skip", "1.2", "--spec", "demo"],
        &["retry", "1.2", "--spec", "demo"],
        &["done", "1.2", "--spec", "demo"],
        &["init", "another"],
        &["use", "another"],
        &["completions", "bash"],
        &["man", "run"],
        &["hook", "stop"],
        &["hook", "explain"],
        &["hook", "status"],
    ];
    for look in looks {
        test.regreen_with(&[("PATH", "bin")], look).exits(0);
        assert_eq!(started(&test), "", "{look:?}");
    }
    // The traps work.
    test.regreen_with(&[("PATH", "bin")], &["why", "1.1", "--spec", "demo"]);
    assert_eq!(started(&test), "git\n");
    assert!(!test.path("ran").exists());
}

#[test]
fn a_dry_run_hides_nothing_that_would_be_run() {
    let long = format!("true {} && touch ran", "x".repeat(500));
    let tasks = format!(
        "- [ ] 1.1 Look\n  - **Do**:\n    ```sh\n    echo '[x]' \u{1b}[8m`id`\n    touch ran\n    ```\n\
         \x20 - **Verify**: `{long}`\n"
    );
    let test = Workspace::new().file(TASKS, tasks);
    let expected = format!(
        "spec demo, agent shell: 1 of 1 tasks would be run\n\n1.1 Look\n\
         \x20   steps:  echo '[x]' ?[8m`id`\n            touch ran\n    verify: {long}\n\n\
         limits: 5 attempts per task, 30m 00s per attempt, 10m 00s per Verify\n"
    );
    test.regreen(&["run", "--agent", "shell", "--dry-run"])
        .exits(0)
        .prints(expected);
}

#[test]
fn git_is_asked_without_running_what_the_repository_sets_up() {
    let agent = "cat >/dev/null; echo x >made.txt; echo TASK_COMPLETE\n";
    let test = repository("- [ ] 1.1 Make\n  - **Verify**: `true`\n", agent);
    run(&test).exits(0);
    let evil = trap(&test, "evil").display().to_string();
    for key in [
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "core.sshCommand",
        "diff.external",
        "diff.evil.command",
        "diff.evil.textconv",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "credential.helper",
        "gpg.program",
    ] {
        git(&test, &["config", key, &evil]);
    }
    let test = test.file(".gitattributes", "* diff=evil filter=evil\n");
    for look in [
        &["why", "1.1"],
        &["diff", "1.1"],
        &["status", "demo"],
        &["log", "1.1"],
    ] {
        test.regreen(look).exits(0);
        assert_eq!(started(&test), "", "{look:?}");
    }
    test.regreen(&["diff", "1.1"])
        .complains("")
        .prints(str![[r#"
diff --git a/made.txt b/made.txt
new file mode 100644
index 0000000..587be6b
--- /dev/null
+++ b/made.txt
@@ -0,0 +1 @@
+x

"#]]);
}

#[test]
fn missing_objects_of_a_partial_clone_are_not_fetched_for_a_look() {
    let agent = "cat >/dev/null; echo y >old.txt; echo TASK_COMPLETE\n";
    let test = repository("- [ ] 1.1 Make\n  - **Verify**: `true`\n", agent).file("old.txt", "x\n");
    git(&test, &["add", "--all"]);
    git(&test, &["commit", "--quiet", "-m", "old"]);
    run(&test).exits(0);
    let evil = trap(&test, "evil").display().to_string();
    for (key, value) in [
        ("remote.origin.url", "."),
        ("remote.origin.promisor", "true"),
        ("remote.origin.uploadpack", &evil),
        ("protocol.file.allow", "always"),
        ("extensions.partialClone", "origin"),
        ("core.repositoryFormatVersion", "1"),
    ] {
        git(&test, &["config", key, value]);
    }
    let blob = git(&test, &["rev-parse", "HEAD:old.txt"]);
    let (folder, name) = blob.trim().split_at(2);
    fs::remove_file(test.path(".git/objects").join(folder).join(name)).unwrap();
    for look in [
        &["diff", "1.1"][..],
        &["why", "1.1"],
        &["status", "demo"],
        &["log", "1.1"],
        &["lint", "demo"],
        &["config", "demo"],
        &["failures"],
    ] {
        test.regreen(look);
        assert_eq!(started(&test), "", "{look:?}");
    }
    // Git itself would have fetched it.
    let mut usual = Command::new("git");
    let usual = usual.args(["cat-file", "-p", blob.trim()]);
    usual.current_dir(test.path(".")).output().unwrap();
    assert_eq!(started(&test), "evil\n");
}

#[test]
fn secrets_of_agents_and_env_files_are_neither_stored_nor_shown() {
    let (key, password) = (api_key(), "correct-horse-battery");
    let agent = format!(
        "cat >/dev/null
         case $REGREEN_ATTEMPT in
         1) echo 'the key is {key}'; echo '{password}' >&2; echo '{key}' >made
            printf 'Task 1.1: Tell FAILED\\n- Error: {password} and {key} refused\\n' ;;
         *) touch ready; echo '{key} {password}'; echo TASK_COMPLETE ;;
         esac\n"
    );
    let tasks = "- [ ] 1.1 Tell\n  - **Verify**: `cat made .env; test -f ready`\n";
    let test = repository(tasks, &agent).file(".env", format!("DB_PASSWORD={password}\n"));
    let answer = run(&test).exits(0);
    assert!(answer.stdout.contains(" refused"), "{}", answer.stdout);
    let why = test.regreen(&["why", "1.1"]).exits(0);
    let mut texts = vec![answer.stdout, answer.stderr, why.stdout];
    let kept = files(&test.path(".regreen"));
    assert!(kept.iter().any(|path| path.ends_with("1.1/2.prompt.md")));
    for path in kept {
        texts.push(String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned());
    }
    for text in texts {
        assert!(!text.contains(&key), "{text}");
        assert!(!text.contains(password), "{text}");
    }
    // The user's own files are unchanged.
    assert_eq!(test.text("made"), format!("{key}\n"));
    assert_eq!(test.text(".env"), format!("DB_PASSWORD={password}\n"));
}

#[test]
fn nothing_that_a_plan_or_an_agent_says_commands_the_terminal() {
    let tricks = "\u{1b}]0;title\u{7}\u{1b}[2J\u{202e}";
    let tasks = format!("- [ ] 1.1 Show {tricks}\n  - **Verify**: `cat said; test -f ready`\n");
    let agent = format!(
        "cat >/dev/null; printf '{tricks}\\r%s\\n' forged | tee said\n\
         test $REGREEN_ATTEMPT = 1 || touch ready\n\
         touch \"$(printf 'a\\033[2Jb\\nc')\"\n\
         echo TASK_COMPLETE\n"
    );
    let test = repository(&tasks, &agent);
    let looks: [&[&str]; 6] = [
        &["run", "demo", "--agent", AGENT],
        &["status", "demo"],
        &["why", "1.1"],
        &["lint", "demo"],
        &["tasks", "list", TASKS],
        &["run", "demo", "--agent", AGENT, "--json"],
    ];
    for look in looks {
        let answer = test.regreen(look).exits(0);
        for text in [answer.stdout, answer.stderr] {
            let harm = text
                .chars()
                .find(|c| (c.is_control() && *c != '\n') || ('\u{202a}'..='\u{202e}').contains(c));
            assert_eq!(harm, None, "{look:?}: {text}");
        }
    }
}

#[test]
fn the_files_of_a_run_are_private_and_not_part_of_the_repository() {
    let agent = "cat >/dev/null; echo x >made; echo TASK_COMPLETE\n";
    let tasks = "- [ ] 1.1 Make\n  - **Verify**: `true`\n  - **Commit**: `feat: make`\n";
    let test = repository(tasks, agent);
    run(&test).exits(0);
    let own = fs::metadata(test.path(".regreen")).unwrap();
    assert_eq!(own.permissions().mode() & 0o777, 0o700);
    let known = git(
        &test,
        &["ls-files", "--cached", "--others", "--exclude-standard"],
    );
    assert!(!known.contains(".regreen"), "{known}");
    let snapshots = git(
        &test,
        &["for-each-ref", "--format=%(refname)", "refs/regreen"],
    );
    for snapshot in snapshots.lines() {
        let kept = git(&test, &["ls-tree", "-r", "--name-only", snapshot]);
        assert!(
            kept.contains("agent.sh") && !kept.contains(".regreen"),
            "{kept}"
        );
    }
    assert_eq!(snapshots.lines().count(), 2);
    // The closing commit has the last lines of the spec's files.
    assert_eq!(git(&test, &["status", "--porcelain", "-uall"]), "");
    assert!(!test.path("user").exists());
}

#[test]
fn an_agent_passes_nothing_by_its_word_or_by_another_verify() {
    let agent = "cat >/dev/null\n\
                 sed -i.bak 's/test -f wanted/true/' specs/demo/tasks.md\n\
                 echo TASK_COMPLETE\n";
    let tasks = "- [ ] 1.1 Make\n  - **Verify**: `test -f wanted`\n";
    let test = repository(tasks, agent);
    run(&test).exits(1);
    assert_eq!(test.text(TASKS), tasks);
}

#[test]
fn a_mask_swallows_no_signal_and_lets_no_secret_through() {
    let key = api_key();
    let agent = format!(
        "echo 'Removed the text -----BEGIN RSA PRIVATE KEY----- from the page.'\n\
         echo 'The key was {key}.'\necho\necho TASK_COMPLETE\n"
    );
    let test = repository("- [ ] 1.1 Mention a key\n  - **Verify**: `true`\n", &agent);
    let output = run(&test).exits(0).omits(&key);
    drop(output);
    for file in files(&test.path(".regreen")) {
        let bytes = fs::read(&file).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(&key), "{}", file.display());
    }
}
