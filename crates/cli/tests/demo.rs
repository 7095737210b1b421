//! `regreen demo`: the first thing a newcomer sees.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use regex::Regex;
use snapbox::{IntoData as _, str};

const REGREEN: &str = env!("CARGO_BIN_EXE_regreen");

/// A newcomer: a temporary folder, and a project that the demo must not touch.
struct Newcomer {
    home: tempfile::TempDir,
}

struct DemoRun {
    output: Output,
    /// The output, without times and hashes.
    plain: String,
    /// The project that the demo created.
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

    fn sees(&self) -> DemoRun {
        seen(&mut self.command())
    }

    /// Returns every file of their own project.
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

fn seen(command: &mut Command) -> DemoRun {
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let named = Regex::new(r"(?m)^  (/.*/regreen-demo-\w+)$").unwrap();
    let folder = named
        .captures(&text)
        .map_or("", |found| found.get(1).unwrap().as_str());
    let plain = timeless(&text.replace(REGREEN, "[REGREEN]"));
    DemoRun {
        plain: if folder.is_empty() {
            plain
        } else {
            plain.replace(folder, "[DEMO]")
        },
        folder: PathBuf::from(folder),
        output,
    }
}

/// Replaces times and commit hashes.
fn timeless(text: &str) -> String {
    [
        (r"\b\d{8}-\d{6}(-\d+)?\b", "[RUN]"),
        (r"\bcommit [0-9a-f]{7}\b", "commit [HASH]"),
        (r"\[ *\d[\d.]*m?s\]", "[TIME]"),
        (r"(?m)^( +PASS .*)(  | · )[0-9a-f]{7}$", "$1$2[HASH]"),
        (r"(after|done in) +\d[\d.]*m?s\b", "$1 [TIME]"),
        (r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\b", "[MOMENT]"),
    ]
    .into_iter()
    .fold(text.to_owned(), |text, (from, to)| {
        let from = Regex::new(from).unwrap();
        from.replace_all(&text, to).into_owned()
    })
}

impl DemoRun {
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

    /// Reads a file that the run with the agent kept about a task.
    fn kept(&self, path: &str) -> String {
        let runs = fs::read_dir(self.folder.join(".regreen/runs")).unwrap();
        let run = runs.map(|run| run.unwrap().path()).min().unwrap();
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
fn a_newcomer_sees_one_task_pass_one_healed_and_one_healed_by_a_fix_of_a_fix() {
    let newcomer = Newcomer::new();
    let before = newcomer.own_files();
    let seen = newcomer.sees().ends_well();
    same(
        &seen.plain,
        str![[r#"
regreen runs a task list through a coding agent, checks every result itself, and adds fix
tasks until everything passes. This demo makes a small project in which a script plays the
agent, and two tasks fail on purpose. It needs no agent and no network, and touches nothing
outside this folder:

  [DEMO]

1. The plan, specs/hello/tasks.md
---------------------------------
  # Tasks: hello

  - [ ] 1.1 Greet the world
    - **Do**: Write `hello.sh`. It prints: Hello, world!
    - **Verify**: `sh hello.sh | grep -qx 'Hello, world!'`
    - **Commit**: `feat: greet the world`

  - [ ] 1.2 Greet people by name
    - **Do**: `sh hello.sh Ann` prints: Hello, Ann!
    - **Verify**: `sh check.sh`
    - **Commit**: `feat: greet people by name`

  - [ ] 1.3 Greet the whole team
    - **Do**: Write `all.sh`. It greets everybody who is named in `team/names.txt`
    - **Verify**: `sh all.sh | grep -qx 'Hello, Bob!'`
    - **Commit**: `feat: greet the whole team`

2. The run
----------
$ regreen run hello --agent 'command:sh agent.sh' --recovery-mode

   START  hello · 3 tasks · command:sh agent.sh · recovery on
    PASS  [TIME] 1.1 Greet the world                            [HASH]
    FAIL  [TIME] 1.2 Greet people by name                       attempt 1/5
          test failure
          expected 'Hello, Ann!', got 'Hello, world!'
     FIX  1.2.1 added for 1.2
    PASS  [TIME] 1.2.1 Fix: expected 'Hello, Ann!', got 'Hello, world!'  [HASH]
    PASS  [TIME] 1.2 Greet people by name                       [HASH]
    FAIL  [TIME] 1.3 Greet the whole team                       attempt 1/5
          missing file
          team/names.txt does not exist
     FIX  1.3.1 added for 1.3
    FAIL  [TIME] 1.3.1 Fix: team/names.txt does not exist       attempt 1/5
          missing file
          no folder team: a file has that name
     FIX  1.3.1.1 added for 1.3.1
    PASS  [TIME] 1.3.1.1 Fix: no folder team: a file has that name  [HASH]
          Verify failed; 1.3 decides whether the fix worked
          `sh all.sh | grep -qx 'Hello, Bob!'` ended with exit code 1: the output of `sh all.sh` does not contain "Hello, Bob!"
    PASS  [TIME] 1.3.1 Fix: team/names.txt does not exist       [HASH]
    PASS  [TIME] 1.3 Greet the whole team                       [HASH]
     END  all tasks done                                          [RUN]

ALL_TASKS_COMPLETE
   Tasks  3 of 3 done in [TIME]
   Fixes  3 of 3 done
Attempts  8 of 100

What happened
-------------
1.1  The agent signalled completion. That is not enough: regreen ran the task's Verify,
     which passed. Only then did regreen tick the task and commit the change.
1.2  The agent signalled completion, but Verify failed. So regreen added fix task 1.2.1 to
     the plan. The agent did it, and then Verify of 1.2 passed.
1.3  The agent reported what stopped it, and regreen added fix task 1.3.1. That failed too
     and got 1.3.1.1. Then 1.3.1 was attempted again, and then 1.3: both passed.

$ regreen status

    SPEC  hello · 3 of 3 tasks done · 3 of 3 fixes done · specs/hello/tasks.md
     RUN  [RUN] · command:sh agent.sh · all tasks done
          8 of 100 attempts

    PASS  1.1 Greet the world                                     [HASH]
    PASS  1.2 Greet people by name                                [HASH]
    PASS    1.2.1 Fix: expected 'Hello, Ann!', got 'Hello, world!'  [HASH]
    PASS  1.3 Greet the whole team                                2 attempts · [HASH]
    PASS    1.3.1 Fix: team/names.txt does not exist              2 attempts · [HASH]
    PASS      1.3.1.1 Fix: no folder team: a file has that name   [HASH]

$ regreen why 1.2

    PASS  1.2 Greet people by name
          fix 1.2.1 Fix: expected 'Hello, Ann!', got 'Hello, world!' (done)

     RUN  [RUN] · command:sh agent.sh
    FAIL  [TIME] attempt 1 · [MOMENT]
          exit code 0, signalled completion
          changed 1 file: regreen diff 1.2 1
            hello.sh +1
          log: regreen log 1.2 1
          Verify failed: `sh check.sh` ended with exit code 1
            | expected 'Hello, Ann!', got 'Hello, world!'
          Verify failed again
          test failure
          may help: Fix the code or the test that fails
          may help: Run the test alone
     FIX  1.2.1 added: `regreen why 1.2.1`
    PASS  Verify before the next attempt                          [HASH]
          Verify passed

3. What regreen changed in specs/hello/tasks.md (- before, + now)
-----------------------------------------------------------------
  - - [ ] 1.1 Greet the world
  + - [x] 1.1 Greet the world
    ...
  - - [ ] 1.2 Greet people by name
  + - [x] 1.2 Greet people by name
    ...
  + - [x] 1.2.1 [FIX 1.2] Fix: expected 'Hello, Ann!', got 'Hello, world!'
  +   - **Do**: Address the error: expected 'Hello, Ann!', got 'Hello, world!'
  +     1. Analyze the failure: No fix attempted
  +     2. Review related code in Files list
  +     3. Implement fix for: expected 'Hello, Ann!', got 'Hello, world!'
  +   - **Files**: Same directory as original
  +   - **Done when**: Error "expected 'Hello, Ann!', got 'Hello, world!'" no longer occurs
  +   - **Verify**: `sh check.sh`
  +   - **Commit**: `fix(hello): address test failure from task 1.2`
  +
  - - [ ] 1.3 Greet the whole team
  + - [x] 1.3 Greet the whole team
    ...
  +
  + - [x] 1.3.1 [FIX 1.3] Fix: team/names.txt does not exist
  +   - **Do**: Address the error: team/names.txt does not exist
  +     1. Analyze the failure: wrote all.sh, which needs it
  +     2. Review related code in Files list
  +     3. Implement fix for: team/names.txt does not exist
  +   - **Files**: Same directory as original
  +   - **Done when**: Error "team/names.txt does not exist" no longer occurs
  +   - **Verify**: `sh all.sh | grep -qx 'Hello, Bob!'`
  +   - **Commit**: `fix(hello): address missing file from task 1.3`
  +
  + - [x] 1.3.1.1 [FIX 1.3.1] Fix: no folder team: a file has that name
  +   - **Do**: Address the error: no folder team: a file has that name
  +     1. Analyze the failure: looked into it: it has the names
  +     2. Review related code in Files list
  +     3. Implement fix for: no folder team: a file has that name
  +   - **Files**: Same directory as original
  +   - **Done when**: Error "no folder team: a file has that name" no longer occurs
  +   - **Verify**: `sh all.sh | grep -qx 'Hello, Bob!'`
  +   - **Commit**: `fix(hello): address missing file from task 1.3.1`

And without an agent
--------------------
The shell agent runs the commands of the tasks themselves. The script of this task is not
executable, and it writes to a folder that does not exist:

  # Tasks: release

  - [ ] 1.1 Make a release
    - **Do**: `./release.sh`
    - **Verify**: `test -s dist/hello.sh`
    - **Commit**: `chore: make a release`

$ regreen run release --agent shell --recovery-mode

   START  release · 1 task · shell · recovery on
    FAIL  [TIME] 1.1 Make a release                             attempt 1/5
          file not executable
          bash: line 1: ./release.sh: Permission denied
     FIX  1.1.1 added for 1.1: make release.sh executable
    PASS  [TIME] 1.1.1 Fix: bash: line 1: ./release.sh: Permission denied  [HASH]
    FAIL  [TIME] 1.1 Make a release                             attempt 2/5
          missing file
          cp: cannot create regular file 'dist/hello.sh': No such file or directory
     FIX  1.1.2 added for 1.1: create the folder dist
    PASS  [TIME] 1.1.2 Fix: cp: cannot create regular file 'dist/hello.sh': No  [HASH]
    PASS  [TIME] 1.1 Make a release                             [HASH]
     END  all tasks done                                          [RUN]

ALL_TASKS_COMPLETE
   Tasks  1 of 1 done in [TIME]
   Fixes  2 of 2 done
Attempts  3 of 100

What regreen changed in specs/release/tasks.md (- before, + now)
----------------------------------------------------------------
  - - [ ] 1.1 Make a release
  + - [x] 1.1 Make a release
    ...
  +
  + - [x] 1.1.1 [FIX 1.1] Fix: bash: line 1: ./release.sh: Permission denied
  +   - **Do**: Address the error: bash: line 1: ./release.sh: Permission denied
  +     1. Analyze the failure: No fix attempted
  +     2. Review related code in Files list
  +     3. Implement fix for: bash: line 1: ./release.sh: Permission denied
  +     4. regreen does this itself: make release.sh executable
  +   - **Files**: Same directory as original
  +   - **Done when**: Error "bash: line 1: ./release.sh: Permission denied" no longer occurs
  +   - **Verify**: `test -s dist/hello.sh`
  +   - **Commit**: `fix(release): address file not executable from task 1.1`
  +
  + - [x] 1.1.2 [FIX 1.1] Fix: cp: cannot create regular file 'dist/hello.sh': No
  +   - **Do**: Address the error: cp: cannot create regular file 'dist/hello.sh': No such file or directory
  +     1. Analyze the failure: No fix attempted
  +     2. Review related code in Files list
  +     3. Implement fix for: cp: cannot create regular file 'dist/hello.sh': No such file or directory
  +     4. regreen does this itself: create the folder dist
  +   - **Files**: Same directory as original
  +   - **Done when**: Error "cp: cannot create regular file 'dist/hello.sh': No such file or directory" no longer occurs
  +   - **Verify**: `test -s dist/hello.sh`
  +   - **Commit**: `fix(release): address missing file from task 1.1`

regreen repairs the environment itself where an inspection of the project shows that it is
safe. Each repair is a task in the plan, and its log says what was done.

Look closer
-----------
  cd [DEMO]
How 1.3.1 failed, and passed:
  [REGREEN] why 1.3.1
The prompt that the agent got to fix 1.2:
  cat .regreen/runs/*/1.2.1/1.prompt.md
What was changed for 1.3:
  [REGREEN] diff 1.3
What was committed:
  git log --oneline
What is done, and how often it had to be fixed:
  cat specs/hello/.progress.md
The folder stays until you remove it:
  rm -rf [DEMO]

To start a plan of your own, run `regreen init NAME` in your project, then
`regreen run NAME --recovery-mode`.

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

/// Returns the demo output in the README.
fn readme_excerpt() -> String {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let text = fs::read_to_string(readme).unwrap();
    let (_, from) = text.split_once("```text\n").unwrap();
    from.split_once("```").unwrap().0.to_owned()
}

#[test]
fn the_prompt_of_a_fix_says_how_its_task_failed() {
    let newcomer = Newcomer::new();
    let seen = newcomer.sees().ends_well();
    let failure = "expected 'Hello, Ann!', got 'Hello, world!'";
    assert!(!seen.kept("1.2/1.prompt.md").contains(failure));
    assert!(seen.kept("1.2.1/1.prompt.md").contains(failure));
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
$ sh check.sh
expected 'Hello, Ann!', got 'Hello, world!'
[exit code 1]

"#]],
    );
    same(
        &seen.kept("1.3.1/1.log"),
        str![[r#"
Task 1.3.1: FAILED
- Error: no folder team: a file has that name
- Attempted fix: looked into it: it has the names

"#]],
    );
    // After the fix, the task passed without the agent.
    assert!(
        !seen
            .folder
            .join(".regreen/runs")
            .read_dir()
            .unwrap()
            .any(|run| { run.unwrap().path().join("1.2/2.log").exists() })
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
    assert_eq!(boxes(&seen.text("specs/hello/tasks.md")), 6);
    let hash = Regex::new("- [0-9a-f]{7}\n").unwrap();
    let progress = seen.text("specs/hello/.progress.md");
    same(
        &hash.replace_all(&progress, "- [HASH]\n"),
        str![[r#"
## Completed Tasks
- [x] 1.1 Greet the world - [HASH]
- [x] 1.2.1 Fix: expected 'Hello, Ann!', got 'Hello, world!' - [HASH]
- [x] 1.2 Greet people by name - [HASH]
- [x] 1.3.1.1 Fix: no folder team: a file has that name - [HASH]
- [x] 1.3.1 Fix: team/names.txt does not exist - [HASH]
- [x] 1.3 Greet the whole team - [HASH]

## Fix Task History
- Task 1.2: 1 fix attempted (1.2.1) - Final: PASS
- Task 1.3.1: 1 fix attempted (1.3.1.1) - Final: PASS
- Task 1.3: 1 fix attempted (1.3.1) - Final: PASS

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
regreen demo <demo@example.invalid> chore(release): record progress
regreen demo <demo@example.invalid> chore: make a release
regreen demo <demo@example.invalid> fix(release): address missing file from task 1.1
regreen demo <demo@example.invalid> fix(release): address file not executable from task 1.1
regreen demo <demo@example.invalid> A release to be made
regreen demo <demo@example.invalid> chore(hello): record progress
regreen demo <demo@example.invalid> feat: greet the whole team
regreen demo <demo@example.invalid> fix(hello): address missing file from task 1.3
regreen demo <demo@example.invalid> fix(hello): address missing file from task 1.3.1
regreen demo <demo@example.invalid> feat: greet people by name
regreen demo <demo@example.invalid> fix(hello): address test failure from task 1.2
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
    let before = first.kept("1.3/2.log");
    let second = newcomer.sees().ends_well();
    assert_eq!(first.plain, second.plain);
    assert_ne!(first.folder, second.folder);
    assert_eq!(fs::read_dir(newcomer.path("tmp")).unwrap().count(), 2);
    assert_eq!(first.kept("1.3/2.log"), before);
}

#[test]
fn without_git_it_shows_what_there_is_to_show() {
    let newcomer = Newcomer::new();
    let bin = newcomer.path("bin");
    fs::create_dir(&bin).unwrap();
    for program in ["sh", "cat", "cp", "grep", "mkdir", "mv"] {
        symlink(which(program), bin.join(program)).unwrap();
    }
    // By the name `regreen`, too.
    symlink(REGREEN, bin.join("regreen")).unwrap();
    let seen = seen(newcomer.command().env("PATH", &bin)).ends_well();
    let from = seen.plain.find("   START  ").unwrap();
    same(
        &seen.plain[from..],
        str![[r#"
   START  hello · 3 tasks · command:sh agent.sh · recovery on
    WARN  this folder is not in git: nothing is committed, and `regreen diff` and `regreen undo` have nothing to show; `git init` changes that
    PASS  [TIME] 1.1 Greet the world
    FAIL  [TIME] 1.2 Greet people by name                       attempt 1/5
          test failure
          expected 'Hello, Ann!', got 'Hello, world!'
     FIX  1.2.1 added for 1.2
    PASS  [TIME] 1.2.1 Fix: expected 'Hello, Ann!', got 'Hello, world!'
    PASS  [TIME] 1.2 Greet people by name
    FAIL  [TIME] 1.3 Greet the whole team                       attempt 1/5
          missing file
          team/names.txt does not exist
     FIX  1.3.1 added for 1.3
    FAIL  [TIME] 1.3.1 Fix: team/names.txt does not exist       attempt 1/5
          missing file
          no folder team: a file has that name
     FIX  1.3.1.1 added for 1.3.1
    PASS  [TIME] 1.3.1.1 Fix: no folder team: a file has that name
          Verify failed; 1.3 decides whether the fix worked
          `sh all.sh | grep -qx 'Hello, Bob!'` ended with exit code 1: the output of `sh all.sh` does not contain "Hello, Bob!"
    PASS  [TIME] 1.3.1 Fix: team/names.txt does not exist
    PASS  [TIME] 1.3 Greet the whole team
     END  all tasks done                                          [RUN]

ALL_TASKS_COMPLETE
   Tasks  3 of 3 done in [TIME]
   Fixes  3 of 3 done
Attempts  8 of 100

What happened
-------------
1.1  The agent signalled completion. That is not enough: regreen ran the task's Verify,
     which passed. Only then did regreen tick the task.
1.2  The agent signalled completion, but Verify failed. So regreen added fix task 1.2.1 to
     the plan. The agent did it, and then Verify of 1.2 passed.
1.3  The agent reported what stopped it, and regreen added fix task 1.3.1. That failed too
     and got 1.3.1.1. Then 1.3.1 was attempted again, and then 1.3: both passed.

$ regreen status

    SPEC  hello · 3 of 3 tasks done · 3 of 3 fixes done · specs/hello/tasks.md
     RUN  [RUN] · command:sh agent.sh · all tasks done
          8 of 100 attempts

    PASS  1.1 Greet the world
    PASS  1.2 Greet people by name
    PASS    1.2.1 Fix: expected 'Hello, Ann!', got 'Hello, world!'
    PASS  1.3 Greet the whole team                                2 attempts
    PASS    1.3.1 Fix: team/names.txt does not exist              2 attempts
    PASS      1.3.1.1 Fix: no folder team: a file has that name

$ regreen why 1.2

    PASS  1.2 Greet people by name
          fix 1.2.1 Fix: expected 'Hello, Ann!', got 'Hello, world!' (done)

     RUN  [RUN] · command:sh agent.sh
    FAIL  [TIME] attempt 1 · [MOMENT]
          exit code 0, signalled completion
          changed 1 file
          log: regreen log 1.2 1
          Verify failed: `sh check.sh` ended with exit code 1
            | expected 'Hello, Ann!', got 'Hello, world!'
          Verify failed again
          test failure
          may help: Fix the code or the test that fails
          may help: Run the test alone
     FIX  1.2.1 added: `regreen why 1.2.1`
    PASS  Verify before the next attempt
          Verify passed

3. What regreen changed in specs/hello/tasks.md (- before, + now)
-----------------------------------------------------------------
  - - [ ] 1.1 Greet the world
  + - [x] 1.1 Greet the world
    ...
  - - [ ] 1.2 Greet people by name
  + - [x] 1.2 Greet people by name
    ...
  + - [x] 1.2.1 [FIX 1.2] Fix: expected 'Hello, Ann!', got 'Hello, world!'
  +   - **Do**: Address the error: expected 'Hello, Ann!', got 'Hello, world!'
  +     1. Analyze the failure: No fix attempted
  +     2. Review related code in Files list
  +     3. Implement fix for: expected 'Hello, Ann!', got 'Hello, world!'
  +   - **Files**: Same directory as original
  +   - **Done when**: Error "expected 'Hello, Ann!', got 'Hello, world!'" no longer occurs
  +   - **Verify**: `sh check.sh`
  +   - **Commit**: `fix(hello): address test failure from task 1.2`
  +
  - - [ ] 1.3 Greet the whole team
  + - [x] 1.3 Greet the whole team
    ...
  +
  + - [x] 1.3.1 [FIX 1.3] Fix: team/names.txt does not exist
  +   - **Do**: Address the error: team/names.txt does not exist
  +     1. Analyze the failure: wrote all.sh, which needs it
  +     2. Review related code in Files list
  +     3. Implement fix for: team/names.txt does not exist
  +   - **Files**: Same directory as original
  +   - **Done when**: Error "team/names.txt does not exist" no longer occurs
  +   - **Verify**: `sh all.sh | grep -qx 'Hello, Bob!'`
  +   - **Commit**: `fix(hello): address missing file from task 1.3`
  +
  + - [x] 1.3.1.1 [FIX 1.3.1] Fix: no folder team: a file has that name
  +   - **Do**: Address the error: no folder team: a file has that name
  +     1. Analyze the failure: looked into it: it has the names
  +     2. Review related code in Files list
  +     3. Implement fix for: no folder team: a file has that name
  +   - **Files**: Same directory as original
  +   - **Done when**: Error "no folder team: a file has that name" no longer occurs
  +   - **Verify**: `sh all.sh | grep -qx 'Hello, Bob!'`
  +   - **Commit**: `fix(hello): address missing file from task 1.3.1`

And without an agent
--------------------
The shell agent runs the commands of the tasks themselves. The script of this task is not
executable, and it writes to a folder that does not exist:

  # Tasks: release

  - [ ] 1.1 Make a release
    - **Do**: `./release.sh`
    - **Verify**: `test -s dist/hello.sh`
    - **Commit**: `chore: make a release`

$ regreen run release --agent shell --recovery-mode

   START  release · 1 task · shell · recovery on
    WARN  this folder is not in git: nothing is committed, and `regreen diff` and `regreen undo` have nothing to show; `git init` changes that
    FAIL  [TIME] 1.1 Make a release                             attempt 1/5
          file not executable
          sh: 1: ./release.sh: Permission denied
     FIX  1.1.1 added for 1.1: make release.sh executable
    PASS  [TIME] 1.1.1 Fix: sh: 1: ./release.sh: Permission denied
    FAIL  [TIME] 1.1 Make a release                             attempt 2/5
          missing file
          cp: cannot create regular file 'dist/hello.sh': No such file or directory
     FIX  1.1.2 added for 1.1: create the folder dist
    PASS  [TIME] 1.1.2 Fix: cp: cannot create regular file 'dist/hello.sh': No
    PASS  [TIME] 1.1 Make a release
     END  all tasks done                                          [RUN]

ALL_TASKS_COMPLETE
   Tasks  1 of 1 done in [TIME]
   Fixes  2 of 2 done
Attempts  3 of 100

What regreen changed in specs/release/tasks.md (- before, + now)
----------------------------------------------------------------
  - - [ ] 1.1 Make a release
  + - [x] 1.1 Make a release
    ...
  +
  + - [x] 1.1.1 [FIX 1.1] Fix: sh: 1: ./release.sh: Permission denied
  +   - **Do**: Address the error: sh: 1: ./release.sh: Permission denied
  +     1. Analyze the failure: No fix attempted
  +     2. Review related code in Files list
  +     3. Implement fix for: sh: 1: ./release.sh: Permission denied
  +     4. regreen does this itself: make release.sh executable
  +   - **Files**: Same directory as original
  +   - **Done when**: Error "sh: 1: ./release.sh: Permission denied" no longer occurs
  +   - **Verify**: `test -s dist/hello.sh`
  +   - **Commit**: `fix(release): address file not executable from task 1.1`
  +
  + - [x] 1.1.2 [FIX 1.1] Fix: cp: cannot create regular file 'dist/hello.sh': No
  +   - **Do**: Address the error: cp: cannot create regular file 'dist/hello.sh': No such file or directory
  +     1. Analyze the failure: No fix attempted
  +     2. Review related code in Files list
  +     3. Implement fix for: cp: cannot create regular file 'dist/hello.sh': No such file or directory
  +     4. regreen does this itself: create the folder dist
  +   - **Files**: Same directory as original
  +   - **Done when**: Error "cp: cannot create regular file 'dist/hello.sh': No such file or directory" no longer occurs
  +   - **Verify**: `test -s dist/hello.sh`
  +   - **Commit**: `fix(release): address missing file from task 1.1`

regreen repairs the environment itself where an inspection of the project shows that it is
safe. Each repair is a task in the plan, and its log says what was done.

Look closer
-----------
  cd [DEMO]
How 1.3.1 failed, and passed:
  regreen why 1.3.1
The prompt that the agent got to fix 1.2:
  cat .regreen/runs/*/1.2.1/1.prompt.md
What is done, and how often it had to be fixed:
  cat specs/hello/.progress.md
The folder stays until you remove it:
  rm -rf [DEMO]

To start a plan of your own, run `regreen init NAME` in your project, then
`regreen run NAME --recovery-mode`.

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

/// Returns the commands that it names, as a reader would paste them.
fn pasted(seen: &DemoRun) -> Vec<String> {
    let text = String::from_utf8(seen.output.stdout.clone()).unwrap();
    let (_, page) = text.split_once("Look closer\n").unwrap();
    let commands = page.lines().filter_map(|line| line.strip_prefix("  "));
    commands.map(str::to_owned).collect()
}

#[test]
fn every_command_that_it_names_can_be_pasted() {
    let newcomer = Newcomer::new();
    let seen = newcomer.sees().ends_well();
    let commands = pasted(&seen);
    assert_eq!(commands.len(), 7);
    let script = format!("set -e\n{}\n", commands.join("\n"));
    let output = Command::new("sh")
        .args(["-c", &script])
        .env("HOME", newcomer.home.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(!seen.folder.exists());
}
