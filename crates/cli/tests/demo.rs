//! `regreen demo`: what a newcomer sees first.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use regex::Regex;
use snapbox::{IntoData as _, str};

const REGREEN: &str = env!("CARGO_BIN_EXE_regreen");

/// A newcomer: a folder for temporary files, and a project that is none of the demo's
/// business.
struct Newcomer {
    home: tempfile::TempDir,
}

struct Seen {
    output: Output,
    /// What it printed, wherever and whenever that was.
    plain: String,
    /// The project that was made.
    folder: PathBuf,
}

impl Newcomer {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        for folder in ["tmp", "project/.git", "project/specs/hello"] {
            fs::create_dir_all(home.path().join(folder)).unwrap();
        }
        let newcomer = Self { home };
        newcomer.write("project/regreen.toml", "timeout = 'never'\n");
        newcomer.write("project/specs/hello/tasks.md", "- [ ] 1.1 Mine\n");
        newcomer.write(
            ".config/regreen/config.toml",
            "commit = 'never'\nwrong = 1\n",
        );
        newcomer
    }

    fn path(&self, path: &str) -> PathBuf {
        self.home.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn command(&self) -> Command {
        let mut command = Command::new(REGREEN);
        command
            .arg("demo")
            .current_dir(self.path("project"))
            .env("HOME", self.home.path())
            .env("TMPDIR", self.path("tmp"))
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("GIT_DIR");
        command
    }

    fn sees(&self) -> Seen {
        seen(&mut self.command())
    }

    /// Every file of their own project.
    fn own_files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        collect(&self.path("project"), &mut files);
        files
    }
}

fn collect(folder: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push((path.clone(), fs::read(path).unwrap()));
        }
    }
}

fn seen(command: &mut Command) -> Seen {
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let named = Regex::new(r"(?m)^  (/.*/regreen-demo-\w+)$").unwrap();
    let folder = named
        .captures(&text)
        .map_or("", |found| found.get(1).unwrap().as_str());
    let plain = timeless(&text.replace(REGREEN, "[REGREEN]"));
    Seen {
        plain: if folder.is_empty() {
            plain
        } else {
            plain.replace(folder, "[DEMO]")
        },
        folder: PathBuf::from(folder),
        output,
    }
}

/// Whenever it was, whatever the commits are called.
fn timeless(text: &str) -> String {
    [
        (r"\b\d{8}-\d{6}\b", "[RUN]"),
        (r"\bcommit [0-9a-f]{7}\b", "commit [HASH]"),
        (r"(after|Time:) +\d[\d.]*m?s\b", "$1 [TIME]"),
    ]
    .into_iter()
    .fold(text.to_owned(), |text, (from, to)| {
        let from = Regex::new(from).unwrap();
        from.replace_all(&text, to).into_owned()
    })
}

impl Seen {
    #[track_caller]
    fn ends_well(self) -> Self {
        let said = String::from_utf8_lossy(&self.output.stderr);
        assert_eq!(said, "", "{}", self.plain);
        assert_eq!(self.output.status.code(), Some(0), "{}", self.plain);
        self
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.folder.join(path)).unwrap()
    }

    /// What the only run kept about a task.
    fn kept(&self, path: &str) -> String {
        let mut runs = fs::read_dir(self.folder.join(".regreen/runs")).unwrap();
        let run = runs.next().unwrap().unwrap().path();
        assert!(runs.next().is_none());
        fs::read_to_string(run.join(path)).unwrap()
    }
}

#[track_caller]
fn same(actual: &str, expected: impl snapbox::IntoData) {
    snapbox::assert_data_eq!(
        actual.to_owned().into_data().raw(),
        expected.into_data().raw()
    );
}

#[test]
fn a_newcomer_sees_a_task_pass_one_fail_its_verify_and_pass_and_one_unverified() {
    let newcomer = Newcomer::new();
    let before = newcomer.own_files();
    let seen = newcomer.sees().ends_well();
    same(
        &seen.plain,
        str![[r#"
regreen runs a list of tasks through a coding agent and checks every result itself.
Here is a small project to see it with. A script stands in for the agent: no agent and no
network is needed, and nothing outside of this folder is touched:

  [DEMO]

Its tasks, in specs/hello/tasks.md:

  # Tasks: hello

  - [ ] 1.1 Greet the world
    - **Do**: Write `hello.sh`. It prints: Hello, world!
    - **Verify**: `sh hello.sh | grep -qx 'Hello, world!'`
    - **Commit**: `feat: greet the world`

  - [ ] 1.2 Greet people by name
    - **Do**: `sh hello.sh Ann` prints: Hello, Ann!
    - **Verify**: `sh check-name.sh`
    - **Commit**: `feat: greet people by name`

  - [ ] 1.3 Describe it
    - **Do**: Write `README.md`, for people who have never seen it
    - **Verify**: it is easy to understand
    - **Commit**: `docs: describe it`

The script is agent.sh. As agents do, it gets a prompt, changes files, and says
TASK_COMPLETE when it believes that it is done. This gives it one task after the other:

  regreen run hello --agent 'command:sh agent.sh'

run [RUN]: spec hello, agent command:sh agent.sh
1.1 Greet the world: attempt 1 of 5
1.1: verifying: sh hello.sh | grep -qx 'Hello, world!'
1.1 Greet the world: done after [TIME], commit [HASH]
1.2 Greet people by name: attempt 1 of 5
1.2: verifying: sh check-name.sh
1.2: Verify is red, it runs once more: Verify failed: sh check-name.sh ended with exit code 1
1.2 Greet people by name: attempt 1 of 5 failed after [TIME]: Verify failed: sh check-name.sh ended with exit code 1
1.2 Greet people by name: attempt 2 of 5
1.2: verifying: sh check-name.sh
1.2 Greet people by name: done after [TIME], commit [HASH]
1.3 Describe it: attempt 1 of 5
1.3 Describe it: done after [TIME], commit [HASH], unverified
run [RUN] ended after [TIME]: all tasks are done (exit code 0)

ALL_TASKS_COMPLETE
Originals:       3 of 3 done
Attempts:        4 (limit 100)
Time: [TIME]
Unverified:      1.3
Next:            `regreen diff 1.3` shows what nothing has verified

What happened
-------------
1.1  The agent said that it was done. That alone counts for nothing: regreen ran the task's
     Verify, which was green. Only then was the task ticked, and the change committed.
1.2  The agent said that it was done, and it was not: Verify was red, and still red when it
     ran once more. So the task was tried again, with Verify's words in the prompt. The
     agent read them, found its mistake, and the second attempt passed.
1.3  Its Verify is a sentence, not a command, so there was nothing to run. The result is
     accepted, but marked "unverified" wherever it is shown: a person should look at it.

Where to look now
-----------------
  cd [DEMO]
The story of task 1.2:
  [REGREEN] why 1.2
What the agent said in its second attempt:
  [REGREEN] log 1.2 2
What its first attempt had changed:
  [REGREEN] diff 1.2 1
What was committed:
  git log --oneline
The tasks, now ticked:
  cat specs/hello/tasks.md
Every prompt, and all that was printed:
  ls .regreen/runs/*/1.2
The folder stays until you remove it:
  rm -rf [DEMO]

A list of your own is made in your project with `regreen init NAME`, and run with
`regreen run NAME`.

"#]],
    );
    assert!(seen.plain.contains(&timeless(&readme_excerpt())));
    assert!(newcomer.own_files() == before);
    assert!(
        seen.folder
            .starts_with(newcomer.path("tmp").canonicalize().unwrap())
    );
    let mode = fs::metadata(&seen.folder).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

/// What the README shows of it.
fn readme_excerpt() -> String {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let text = fs::read_to_string(readme).unwrap();
    let (_, from) = text.split_once("```text\n").unwrap();
    from.split_once("```").unwrap().0.to_owned()
}

#[test]
fn the_agent_was_told_how_it_had_failed_and_read_it() {
    let newcomer = Newcomer::new();
    let seen = newcomer.sees().ends_well();
    let failure = "expected 'Hello, Ann!', got 'Hello, world!'\n";
    let quoted = format!("What else is known:\n\n```text\n{failure}```\n");
    assert!(!seen.kept("1.2/1.prompt.md").contains(failure));
    assert!(seen.kept("1.2/2.prompt.md").contains(&quoted));
    same(
        &seen.kept("1.2/1.log"),
        str![[r#"
hello.sh takes a name now.
TASK_COMPLETE

"#]],
    );
    same(
        &seen.kept("1.2/1.verify.log"),
        str![[r#"
$ sh check-name.sh
expected 'Hello, Ann!', got 'Hello, world!'
[exit code 1]

"#]],
    );
    same(
        &seen.kept("1.2/2.log"),
        str![[r#"
The prompt tells me why the last attempt failed: expected 'Hello, Ann!', got 'Hello, world!'
I had forgotten to print the name. Now hello.sh does.
TASK_COMPLETE

"#]],
    );
}

#[test]
fn the_run_leaves_ticks_commits_and_a_progress_file() {
    let newcomer = Newcomer::new();
    let seen = newcomer.sees().ends_well();
    let boxes = |text: &str| {
        text.lines()
            .filter(|line| line.starts_with("- [x]"))
            .count()
    };
    assert_eq!(boxes(&seen.text("specs/hello/tasks.md")), 3);
    let hash = Regex::new("- [0-9a-f]{7}\n").unwrap();
    let progress = seen.text("specs/hello/.progress.md");
    same(
        &hash.replace_all(&progress, "- [HASH]\n"),
        str![[r#"
## Completed Tasks
- [x] 1.1 Greet the world - [HASH]
- [x] 1.2 Greet people by name - [HASH]
- [x] 1.3 Describe it - [HASH]

"#]],
    );
    let git = Command::new("git")
        .args(["log", "--format=%an <%ae> %s", "main"])
        .current_dir(&seen.folder)
        .output()
        .unwrap();
    same(
        &String::from_utf8(git.stdout).unwrap(),
        str![[r#"
regreen demo <demo@example.invalid> docs: describe it
regreen demo <demo@example.invalid> feat: greet people by name
regreen demo <demo@example.invalid> feat: greet the world
regreen demo <demo@example.invalid> Three tasks for an agent

"#]],
    );
    assert!(!seen.folder.join("specs/hello/.ralph-state.json").exists());
}

#[test]
fn a_second_one_stands_beside_the_first() {
    let newcomer = Newcomer::new();
    let first = newcomer.sees().ends_well();
    let before = first.kept("1.2/2.log");
    let second = newcomer.sees().ends_well();
    assert_eq!(first.plain, second.plain);
    assert_ne!(first.folder, second.folder);
    assert_eq!(fs::read_dir(newcomer.path("tmp")).unwrap().count(), 2);
    assert_eq!(first.kept("1.2/2.log"), before);
}

#[test]
fn without_git_it_shows_what_there_is_to_show() {
    let newcomer = Newcomer::new();
    let bin = newcomer.path("bin");
    fs::create_dir(&bin).unwrap();
    for program in ["sh", "cat", "grep"] {
        symlink(which(program), bin.join(program)).unwrap();
    }
    // By the name of regreen, too.
    symlink(REGREEN, bin.join("regreen")).unwrap();
    let seen = seen(newcomer.command().env("PATH", &bin)).ends_well();
    let from = seen.plain.find("run [RUN]: ").unwrap();
    same(
        &seen.plain[from..],
        str![[r#"
run [RUN]: spec hello, agent command:sh agent.sh
warning: this folder is not in git: nothing is committed, and regreen diff and regreen undo have nothing to show; git init changes that
1.1 Greet the world: attempt 1 of 5
1.1: verifying: sh hello.sh | grep -qx 'Hello, world!'
1.1 Greet the world: done after [TIME]
1.2 Greet people by name: attempt 1 of 5
1.2: verifying: sh check-name.sh
1.2: Verify is red, it runs once more: Verify failed: sh check-name.sh ended with exit code 1
1.2 Greet people by name: attempt 1 of 5 failed after [TIME]: Verify failed: sh check-name.sh ended with exit code 1
1.2 Greet people by name: attempt 2 of 5
1.2: verifying: sh check-name.sh
1.2 Greet people by name: done after [TIME]
1.3 Describe it: attempt 1 of 5
1.3 Describe it: done after [TIME], unverified
run [RUN] ended after [TIME]: all tasks are done (exit code 0)

ALL_TASKS_COMPLETE
Originals:       3 of 3 done
Attempts:        4 (limit 100)
Time: [TIME]
Unverified:      1.3
Warnings:        1
Next:            `regreen diff 1.3` shows what nothing has verified

What happened
-------------
1.1  The agent said that it was done. That alone counts for nothing: regreen ran the task's
     Verify, which was green. Only then was the task ticked.
1.2  The agent said that it was done, and it was not: Verify was red, and still red when it
     ran once more. So the task was tried again, with Verify's words in the prompt. The
     agent read them, found its mistake, and the second attempt passed.
1.3  Its Verify is a sentence, not a command, so there was nothing to run. The result is
     accepted, but marked "unverified" wherever it is shown: a person should look at it.

Where to look now
-----------------
  cd [DEMO]
The story of task 1.2:
  regreen why 1.2
What the agent said in its second attempt:
  regreen log 1.2 2
The tasks, now ticked:
  cat specs/hello/tasks.md
Every prompt, and all that was printed:
  ls .regreen/runs/*/1.2
The folder stays until you remove it:
  rm -rf [DEMO]

A list of your own is made in your project with `regreen init NAME`, and run with
`regreen run NAME`.

"#]],
    );
    assert!(!seen.folder.join(".git").exists());
}

fn which(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let mut found = std::env::split_paths(&path).map(|folder| folder.join(program));
    found.find(|path| path.is_file()).unwrap()
}

#[test]
fn it_needs_no_home() {
    let newcomer = Newcomer::new();
    let without = seen(newcomer.command().env_remove("HOME")).ends_well();
    // Nobody can write there, not even root.
    let unwritable = seen(newcomer.command().env("HOME", "/proc")).ends_well();
    assert_eq!(without.plain, unwritable.plain);
    assert!(without.plain.contains("ALL_TASKS_COMPLETE"));
}

#[test]
fn git_may_be_set_up_as_it_likes() {
    let newcomer = Newcomer::new();
    newcomer.write("hooks/pre-commit", "#!/bin/sh\nexit 1\n");
    let hook = newcomer.path("hooks/pre-commit");
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    let hooks = newcomer.path("hooks").display().to_string();
    newcomer.write(
        ".gitconfig",
        &format!("[core]\nhooksPath = {hooks}\n[commit]\ngpgSign = true\n[gpg]\nprogram = false\n"),
    );
    // As in a hook of the newcomer's own repository.
    let own = newcomer.path("project/.git");
    let before = newcomer.own_files();
    seen(newcomer.command().env("GIT_DIR", own)).ends_well();
    assert!(newcomer.own_files() == before);
}

/// The commands that it names, as somebody would paste them.
fn pasted(seen: &Seen) -> Vec<String> {
    let text = String::from_utf8(seen.output.stdout.clone()).unwrap();
    let (_, page) = text.split_once("Where to look now").unwrap();
    let commands = page.lines().filter_map(|line| line.strip_prefix("  "));
    commands.map(str::to_owned).collect()
}

#[test]
fn every_command_that_it_names_can_be_pasted() {
    let newcomer = Newcomer::new();
    let seen = newcomer.sees().ends_well();
    let commands = pasted(&seen);
    assert_eq!(commands.len(), 8);
    let script = format!("set -e\n{}\n", commands.join("\n"));
    let output = Command::new("sh")
        .args(["-c", &script])
        .env("HOME", newcomer.home.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(!seen.folder.exists());
}
