use std::fs::{self, File};
use std::process::{Command, Stdio};

use snapbox::str;

use regreen_test_support::Workspace;

const ONE: &str = "- [ ] 1.1 Make it\n  - **Verify**: `cat good`\n- [ ] 1.2 Later\n";

fn tried_twice() -> Workspace {
    Workspace::with_tasks(ONE)
        .agent(
            "1.1:1) echo first words; echo TASK_COMPLETE ;;
             1.1:2) echo second words; exit 1 ;;",
        )
        .has_run(&["--max-task-iterations=2"], 1)
}

#[test]
fn logs_print_the_output_of_an_attempt() {
    let workspace = tried_twice();
    workspace.regreen(&["log", "1.1", "1"]).shows(str![[r#"
first words
TASK_COMPLETE
--- exit code 0

"#]]);
    workspace.regreen(&["log", "1.1"]).shows(str![[r#"
second words
--- exit code 0

"#]]);
    workspace
        .regreen(&["log", "1.1", "1", "--verify"])
        .shows(str![[r#"
$ cat good
cat: good: No such file or directory
[exit code 1]
$ cat good
cat: good: No such file or directory
[exit code 1]
--- exit code 0

"#]]);
    workspace
        .regreen(&["log", "1.1", "--verify"])
        .shows(str![[r#"
$ cat good
cat: good: No such file or directory
[exit code 1]
$ cat good
cat: good: No such file or directory
[exit code 1]
--- exit code 0

"#]]);
}

#[test]
fn a_missing_log_is_reported_with_the_existing_ones() {
    let workspace = tried_twice();
    workspace.regreen(&["log", "1.1", "3"]).shows(str![[r#"
--- standard error
  × task 1.1 has no attempt 3
  help: attempts in that run: 1, 2
--- exit code 2

"#]]);
    workspace.regreen(&["log", "1.2"]).shows(str![[r#"
--- standard error
  × task 1.2 has no attempts
  help: run `regreen status` to see which tasks have attempts
--- exit code 2

"#]]);
    workspace.regreen(&["log", "1.3"]).shows(str![[r#"
--- standard error
  × task 1.3 not found in specs/demo/tasks.md
  help: known tasks: 1.1, 1.2
--- exit code 2

"#]]);
    workspace
        .regreen(&["log", "1.1", "--run", "20200101-000000"])
        .shows(str![[r#"
--- standard error
  × task 1.1 has no attempts in that run
  help: runs with this task: [RUN]
--- exit code 2

"#]]);
    let runs = workspace.path(".regreen/runs");
    fs::remove_dir_all(&runs).unwrap();
    workspace.regreen(&["log", "1.1", "1"]).shows(str![[r#"
--- standard error
  × log of attempt 1 not found: [FOLDER]/.regreen/runs/[RUN]/1.1/1.log
  help: someone removed it, or the attempt was interrupted before it started; run `regreen why TASK` to see what is known
--- exit code 2

"#]]);
    // History is not lost with the logs.
    workspace.regreen(&["why", "1.1"]).shows(str![[r#"
    TODO  1.1 Make it

     RUN  [RUN] · command:sh [AGENT]/agent.sh
    FAIL  [TIME] attempt 1 · [MOMENT]
          exit code 0, signalled completion
          changed no file
          log: regreen log 1.1 1
          Verify failed: `cat good` ended with exit code 1
            | cat: good: No such file or directory
          Verify failed again
          missing file
          may help: Check the path
          may help: Create the file, or run the step that generates it
    FAIL  [TIME] attempt 2 · [MOMENT]
          prompted with the last failure
          exit code 1, no completion signal
          its log is missing
          changed no file
          log: regreen log 1.1 2
          Verify failed: `cat good` ended with exit code 1
            | cat: good: No such file or directory
          Verify failed again
          missing file
          may help: Check the path
          may help: Create the file, or run the step that generates it
     END  ERROR: Max retries reached for task 1.1 after 2 attempts
--- exit code 0

"#]]);
}

#[test]
fn without_a_run_there_is_no_log() {
    let workspace = Workspace::with_tasks(ONE);
    workspace.regreen(&["log", "1.1"]).shows(str![[r#"
--- standard error
  × spec demo has not been run yet
  help: run `regreen run` to start one
--- exit code 2

"#]]);
    let workspace = workspace.file("specs/other/tasks.md", ONE);
    workspace.regreen(&["log", "1.1"]).shows(str![[r#"
--- standard error
  × several specs found, and none is selected
  help: choose one of these with --spec: demo, other
--- exit code 2

"#]]);
    assert!(!workspace.has(".regreen"));
}

/// A title, colors, a cleared screen, and a line that overwrites another.
const TRICKS: &str =
    "\\033]0;title\\007\\033[31mred\\033[0m\\033[2J\\302\\205\\342\\200\\256end\\nbad\\rgood\\n";

#[test]
fn nothing_that_was_printed_commands_a_terminal() {
    let workspace = Workspace::in_git("- [ ] 1.1 Make it\n  - **Verify**: `true`\n")
        .agent(&format!(
            "*) printf '{TRICKS}' | tee made; echo TASK_COMPLETE ;;"
        ))
        .has_run(&[], 0);
    let shown = workspace.output_on_terminal(&["log", "1.1"]);
    assert_eq!(shown, "red end\r\nbad\r\ngood\r\nTASK_COMPLETE\r\n");
    let diff = workspace.output_on_terminal(&["diff", "1.1"]);
    assert!(diff.ends_with("+red end\r\n+bad\r\ngood\r\n"), "{diff:?}");
    // Programs get the bytes as they are.
    let output = workspace.command(&["log", "1.1"]).output().unwrap();
    assert!(output.stdout.starts_with(b"\x1b]0;title\x07\x1b[31mred"));
}

#[test]
fn secrets_in_a_diff_are_masked_on_a_terminal() {
    let key = format!(
        "sk-ant-{}-{}",
        "api03", "Qw71kZ0pLm93nBv5cXw9Yt2RsAeD4fGh6JkUi8OoPzQx1mNb"
    );
    let workspace = Workspace::in_git("- [ ] 1.1 Make it\n  - **Verify**: `true`\n")
        .agent(&format!("*) echo {key} >made; echo TASK_COMPLETE ;;"))
        .has_run(&[], 0);
    let diff = workspace.output_on_terminal(&["diff", "1.1"]);
    assert!(
        diff.contains("+++ b/made") && !diff.contains(&key),
        "{diff}"
    );
    let why = workspace.regreen(&["why", "1.1", "--diff"]);
    assert!(why.stdout.contains("+++ b/made") && !why.stdout.contains(&key));
    // Output to a file can be applied as a patch.
    let patch = workspace.regreen(&["diff", "1.1"]);
    assert!(patch.stdout.contains(&key));
}

#[test]
fn a_log_longer_than_memory_is_printed() {
    let workspace = tried_twice();
    let [run] = workspace.runs().try_into().unwrap();
    let log = workspace.path(&format!(".regreen/runs/{run}/1.1/1.log"));
    // Takes no space on the disk.
    const LENGTH: u64 = 1 << 30;
    let file = File::options().write(true).open(log).unwrap();
    file.set_len(LENGTH).unwrap();
    let regreen = workspace.command(&["log", "1.1", "1"]);
    let program = regreen.get_program().to_str().unwrap();
    let limited = format!("ulimit -v 600000; exec {program} log 1.1 1");
    let mut child = Command::new("sh")
        .args(["-c", &limited])
        .current_dir(workspace.path("."))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let printed = std::io::copy(&mut child.stdout.take().unwrap(), &mut std::io::sink());
    assert_eq!(printed.unwrap(), LENGTH);
    assert!(child.wait().unwrap().success());
    // Reads only its end.
    workspace.regreen(&["why", "1.1"]);
}
