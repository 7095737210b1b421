//! The arguments and prompts of a delegation.

use std::io::Write as _;
use std::process::Stdio;

use snapbox::str;

use regreen_test_support::Workspace;

#[test]
fn without_a_prompt_there_is_nothing_to_do() {
    let workspace = Workspace::new().child_agent("*) echo ok ;;");
    for arguments in [&[][..], &["--prompt", "x", "--prompt-file", "y"]] {
        assert_eq!(workspace.delegate(arguments).code, Some(2));
    }
    workspace.delegate(&["--prompt", " "]).shows(str![[r#"
--- standard error
  × the prompt is empty
  help: say what to do: --prompt 'Add a test for src/auth.py'
--- exit code 2

"#]]);
    workspace
        .delegate(&["--prompt-file", "gone.md"])
        .shows(str![[r#"
--- standard error
  × gone.md does not exist
  help: check the path, or pass the text itself with --prompt TEXT
--- exit code 2

"#]]);
    assert!(!workspace.path(".regreen").exists());
}

#[test]
fn a_prompt_that_needs_a_conversation_is_warned_about() {
    let workspace = Workspace::new().child_agent("*) echo ok ;;");
    let vague = workspace.delegate(&["--prompt", "Fix it as we discussed"]);
    let note = "note: the prompt says “we discussed”, but the agent has seen no conversation";
    assert!(vague.exits(0).stderr.starts_with(note));
    let clear = workspace.delegate(&["--prompt", "Fix src/a.py"]);
    assert_eq!(clear.exits(0).stderr, "");
}

#[test]
fn a_prompt_may_come_from_standard_input_and_begin_with_a_dash() {
    let workspace = Workspace::new().child_agent("*) echo ok ;;");
    let mut child = workspace
        .delegate_command(&["--prompt-file", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"- do this\n- do that").unwrap();
    drop(input);
    assert!(child.wait_with_output().unwrap().status.success());
    assert_eq!(workspace.note("1.prompt"), "- do this\n- do that\n");
    assert_eq!(workspace.delegate(&["--prompt", "- do it"]).code, Some(0));
    assert_eq!(workspace.note("1.prompt"), "- do it\n");
}

#[test]
fn nothing_can_be_delegated_to_the_shell_agent() {
    let workspace = Workspace::new().child_agent("");
    let output = workspace.regreen(&["delegate", "--prompt", "x", "--agent", "shell"]);
    output.shows(str![[r#"
--- standard error
  × no agent to delegate to
  help: the shell agent only runs commands from task files; install claude, codex, gemini or opencode, or name a program: --agent 'command:PROGRAM ARGS'
--- exit code 78

"#]]);
}

#[test]
fn a_repository_chooses_no_program_to_delegate_to() {
    let workspace = Workspace::new()
        .child_agent("")
        .file("regreen.toml", "agent = 'command:./evil.sh'\n");
    let output = workspace.regreen(&["delegate", "--prompt", "x"]);
    assert_eq!(output.code, Some(2), "{}", output.stderr);
}

#[test]
fn scripts_get_one_object() {
    let workspace = Workspace::new().child_agent("*) touch out; echo 'All done.' ;;");
    let output = workspace.delegate(&["--prompt", "Do it.", "--json", "--verify", "true"]);
    output.shows(str![[r#"
{
  "session_id": "[CHILD]",
  "status": "completed",
  "exit_code": 0,
  "why": null,
  "text": "All done.\n\nExecution summary:\n  Duration: [TIME]\n  Attempts: 1\n  Tools used: none known\n  Files modified: out\n  Verified: true\n\n<task_metadata>\n  <session_id>[CHILD]</session_id>\n  <status>completed</status>\n</task_metadata>\n",
  "completion": {
    "session_id": "[CHILD]",
    "answer": "All done.\n",
    "duration": [TIME],
    "attempts": 1,
    "files_modified": [
      "out"
    ],
    "tool_usage": {},
    "verified": "true",
    "flaky": false,
    "recovered": []
  },
  "failure": null,
  "finished_parts": null,
  "attempts": [
    {
      "number": 1,
      "time": "[MOMENT]",
      "prompt_kind": "first",
      "timeout_ms": 300000,
      "duration_ms": [TIME],
      "outcome": "completed",
      "category": null,
      "kind": null,
      "blocked_on": null,
      "files": [
        "out"
      ],
      "tried": null,
      "helped": null,
      "log": ".regreen/delegations/[CHILD]/1.log"
    }
  ]
}
--- exit code 0

"#]]);
    let workspace = Workspace::new()
        .child_agent("*) echo \"ModuleNotFoundError: No module named 'pytest'\"; exit 1 ;;");
    workspace
        .delegate(&["--prompt", "Do it.", "--json"])
        .shows(str![[r#"
{
  "session_id": "[CHILD]",
  "status": "failed",
  "exit_code": 1,
  "why": null,
  "text": "Child agent failed: ModuleNotFoundError: No module named 'pytest'\n\nCategory: tool_error\nDuration: [TIME]\nRetryable: Yes\n\nWork completed before failure:\n  None\n\nFiles modified: none\n\nBlocked on: ModuleNotFoundError: No module named 'pytest'\n\nSuggested recovery actions:\n  • Install missing dependencies\n  • Run: pip install pytest\n  • Verify installation: pytest --version\n\n<task_metadata>\n  <session_id>[CHILD]</session_id>\n  <status>failed</status>\n  <failure_category>tool_error</failure_category>\n  <retryable>true</retryable>\n</task_metadata>\n",
  "completion": null,
  "failure": {
    "category": "tool_error",
    "message": "ModuleNotFoundError: No module named 'pytest'",
    "session_id": "[CHILD]",
    "duration": [TIME],
    "completed_steps": [],
    "files_modified": [],
    "blocked_on": "ModuleNotFoundError: No module named 'pytest'",
    "suggested_retry": true,
    "suggested_actions": [
      "Install missing dependencies",
      "Run: pip install pytest",
      "Verify installation: pytest --version"
    ],
    "tool_usage": {},
    "last_successful_tool": null
  },
  "finished_parts": null,
  "attempts": [
    {
      "number": 1,
      "time": "[MOMENT]",
      "prompt_kind": "first",
      "timeout_ms": 300000,
      "duration_ms": [TIME],
      "outcome": "failed",
      "category": "tool_error",
      "kind": "missing_python_module",
      "blocked_on": "ModuleNotFoundError: No module named 'pytest'",
      "files": [],
      "tried": null,
      "helped": null,
      "log": ".regreen/delegations/[CHILD]/1.log"
    }
  ]
}
--- exit code 1

"#]]);
}

#[test]
fn every_attempt_has_a_log_that_is_never_touched_again() {
    let workspace = Workspace::new()
        .child_agent("*) echo \"attempt $REGREEN_ATTEMPT of $REGREEN_TASK_ID\"; exit 1 ;;");
    workspace.delegate(&["--prompt", "Do it.", "--retries", "2"]);
    workspace.delegate(&["--prompt", "Do it."]);
    let folder = workspace.path(".regreen/delegations");
    let mut logs = Vec::new();
    for child in std::fs::read_dir(folder).unwrap() {
        let child = child.unwrap().path();
        let name = child.file_name().unwrap().to_str().unwrap().to_owned();
        for number in 1..=2 {
            if let Ok(log) = std::fs::read_to_string(child.join(format!("{number}.log"))) {
                assert_eq!(log, format!("attempt {number} of {name}\n"));
                logs.push(log);
            }
        }
    }
    assert_eq!(logs.len(), 3);
}

#[test]
fn a_child_may_be_delegated_to_while_a_run_is_at_work() {
    // A run's agent delegates while the run holds the working tree.
    let tasks = "- [ ] 1.1 Write it\n  - **Verify**: `test -f out`\n";
    let workspace = Workspace::new()
        .child_agent("*) touch out; echo TASK_COMPLETE ;;")
        .file("specs/demo/tasks.md", tasks);
    let regreen = regreen_test_support::regreen().display().to_string();
    let inner = workspace.agent_flag();
    let agent = format!("command:{regreen} delegate --prompt x --agent '{inner}'");
    let output = workspace.regreen(&["run", "--agent", &agent, "--max-task-iterations", "1"]);
    assert!(
        workspace.path("out").exists(),
        "{}{}",
        output.stdout,
        output.stderr
    );
    assert_eq!(output.code, Some(0), "{}{}", output.stdout, output.stderr);
}

#[test]
fn the_help_offers_only_agents_that_take_a_prompt() {
    let output = Workspace::new()
        .child_agent("")
        .regreen(&["delegate", "--help"]);
    assert!(
        output.stdout.contains("command:PROGRAM"),
        "{}",
        output.stdout
    );
    assert!(!output.stdout.contains("shell,"), "{}", output.stdout);
}

#[test]
fn nothing_is_repaired_where_nothing_may_be() {
    let workspace = Workspace::new()
        .child_agent("1) sh -c ./run.sh || exit 126 ;; *) echo ok ;;")
        .file("run.sh", "#!/bin/sh\necho hello\n");
    let flags = ["--prompt", "Run it.", "--retries", "2", "--repairs"];
    for (repairs, is_repaired) in [("off", false), ("safe", true)] {
        let output = workspace.delegate(&[&flags[..], &[repairs]].concat());
        let repairs = output.stderr.contains("repair: ");
        assert_eq!(repairs, is_repaired, "{}{}", output.stdout, output.stderr);
    }
}
