//! Work that is divided: its parts run one after the other, and what they did is not lost.

use snapbox::str;

use regreen_test_support::Workspace;

#[test]
fn a_delegation_without_progress_is_split_and_its_parts_run_in_order() {
    let workspace = Workspace::new().child_agent(
        "1) sleep 60 ;;
         2) printf '1. Write one.txt\\n2. Write two.txt\\n' ;;
         3) echo 1 >one.txt; echo 'One is there.' ;;
         4) echo 2 >two.txt; echo 'Two is there.' ;;",
    );
    let flags = ["--prompt", "Write both files.", "--timeout", "4s"];
    let more = [
        "--retries",
        "2",
        "--verify",
        "test -f one.txt -a -f two.txt",
    ];
    workspace.delegate(&[flags, more].concat()).shows(str![[r#"
## Subtask 1/2: Write one.txt

One is there.

## Subtask 2/2: Write two.txt

Two is there.

Execution summary:
  Duration: [TIME]
  Attempts: 4
  Tools used: none known
  Files modified: one.txt, two.txt
  Verified: test -f one.txt -a -f two.txt
  Recovered: timeout_no_progress: asked to divide the work; divided into 2 parts

<task_metadata>
  <session_id>[CHILD]</session_id>
  <status>completed</status>
</task_metadata>
--- standard error
asking the agent to split the work
Executing subtask 1/2
Executing subtask 2/2
--- exit code 0

"#]]);
    let asked = workspace.note("2.prompt");
    assert!(asked.contains("## Split this task"), "{asked}");
    let part = workspace.note("4.prompt");
    for text in [
        "Do part 2 of 2",
        "```text\nWrite two.txt\n```",
        "```text\nWrite both files.\n```",
        "Parts that are done:\n\n```text\n- Write one.txt\n```",
    ] {
        assert!(part.contains(text), "{text} in {part}");
    }
}

#[test]
fn a_part_that_fails_is_reported_with_the_parts_that_are_done() {
    let workspace = Workspace::new().child_agent(
        "1) sleep 60 ;;
         2) printf '1. Write one.txt\\n2. Break\\n3. Never\\n' ;;
         3) echo 1 >one.txt; echo 'One is there.' ;;
         *) echo \"ModuleNotFoundError: No module named 'pytest'\"; exit 1 ;;",
    );
    let flags = ["--prompt", "Do it.", "--timeout", "6s", "--retries", "2"];
    let output = workspace.delegate(&flags);
    assert_eq!(output.code, Some(1), "{}", output.stdout);
    assert_eq!(output.tag("failure_category"), Some("partial"));
    assert!(
        output.stdout.contains("  ✓ Write one.txt\n"),
        "{}",
        output.stdout
    );
    assert!(output.stdout.contains("Files modified: one.txt\n"));
    assert!(output.stdout.contains("\nBlocked on: ModuleNotFoundError"));
    assert!(
        output.stderr.contains("Executing subtask 2/3\n"),
        "{}",
        output.stderr
    );
    assert!(!output.stderr.contains("Executing subtask 3/3\n"));
}

#[test]
fn a_task_that_cannot_be_split_goes_to_a_person() {
    let workspace = Workspace::new().child_agent("1) sleep 60 ;; *) echo 'It is one thing.' ;;");
    let flags = ["--prompt", "Do it.", "--timeout", "2s", "--retries", "3"];
    let output = workspace.delegate(&flags);
    assert_eq!(output.code, Some(3), "{}", output.stdout);
    assert_eq!(output.tag("failure_category"), Some("timeout"));
    assert_eq!(output.tag("retryable"), Some("false"));
    assert!(
        output.stderr.contains("A person must decide: "),
        "{}",
        output.stderr
    );
}

/// Of two parts the first is done, and the second does not end in its time.
fn second_part_hangs(then: &str) -> Workspace {
    Workspace::new().child_agent(&format!(
        "1|4) sleep 60 ;;
         2) printf '1. Write one.txt\\n2. Hang\\n' ;;
         3) echo 1 >one.txt; echo 'One is there.' ;;
         *) {then} ;;"
    ))
}

#[test]
fn a_part_that_runs_out_of_time_keeps_the_answers_of_the_finished_ones() {
    let workspace = second_part_hangs("exit 1");
    let flags = ["--prompt", "Do it.", "--timeout", "4s", "--retries", "2"];
    workspace.delegate(&flags).shows(str![[r#"
## Subtask 1/2: Write one.txt

One is there.

Child agent failed: Child timed out after 2s

Category: partial
Duration: [TIME]
Retryable: No

Work completed before failure:
  ✓ Write one.txt

Files modified: one.txt

Blocked on: Time limit insufficient

Suggested recovery actions:
  • Break task into smaller subtasks
  • Check that the task can make progress at all

<task_metadata>
  <session_id>[CHILD]</session_id>
  <status>failed</status>
  <failure_category>partial</failure_category>
  <retryable>false</retryable>
</task_metadata>
--- standard error
asking the agent to split the work
Executing subtask 1/2
Executing subtask 2/2
--- exit code 1

"#]]);
}

#[test]
fn what_the_parts_leave_undone_is_done_after_them_and_dividing_did_not_help() {
    let workspace = second_part_hangs("echo 'Two is there, too.'");
    let flags = ["--prompt", "Do it.", "--timeout", "4s", "--retries", "3"];
    workspace.delegate(&flags).shows(str![[r#"
## Subtask 1/2: Write one.txt

One is there.

## The rest

Two is there, too.

Execution summary:
  Duration: [TIME]
  Attempts: 5
  Tools used: none known
  Files modified: one.txt
  Verified: no

<task_metadata>
  <session_id>[CHILD]</session_id>
  <status>completed</status>
</task_metadata>
--- standard error
asking the agent to split the work
Executing subtask 1/2
Executing subtask 2/2
attempt 3 of 3, with the failure explained, within 4s
--- exit code 0

"#]]);
}

#[test]
fn the_files_of_an_earlier_attempt_are_completed_work() {
    let workspace = Workspace::new()
        .child_agent("1) touch a b; sleep 60 ;; *) echo 'Boom: no more'; exit 1 ;;");
    let flags = ["--prompt", "Do it.", "--timeout", "2s", "--retries", "2"];
    workspace
        .delegate(&flags)
        .exits(1)
        .mentions("Work completed before failure:\n  ✓ Created 2 files\n")
        .mentions("Files modified: a, b\n");
}
