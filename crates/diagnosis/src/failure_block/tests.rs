use proptest::prelude::*;

use super::*;

const EXAMPLE: &str = "Task 1.3: Add failure parser FAILED
- Error: File not found: src/parser.ts
- Attempted fix: Checked alternate paths
- Status: Blocked, needs manual intervention
";

fn id(token: &str) -> TaskId {
    TaskId::parse(token).unwrap()
}

fn check(output: &str, task: &str, error: &str, fix: &str, status: &str) {
    let failure = parse_failure(output, &id(task));
    assert_eq!(failure.error, error, "{output}");
    assert_eq!(failure.attempted_fix, fix, "{output}");
    assert_eq!(failure.status, status, "{output}");
    assert_eq!(failure.raw_output, output);
}

#[test]
fn the_documented_example_gives_the_documented_object() {
    let mut failure = parse_failure(EXAMPLE, &id("1.3"));
    assert_eq!(failure.raw_output, EXAMPLE);
    "...".clone_into(&mut failure.raw_output);
    assert_eq!(
        serde_json::to_string_pretty(&failure).unwrap(),
        r#"{
  "taskId": "1.3",
  "failed": true,
  "error": "File not found: src/parser.ts",
  "attemptedFix": "Checked alternate paths",
  "status": "Blocked, needs manual intervention",
  "rawOutput": "..."
}"#
    );
}

#[test]
fn missing_fields_have_their_fallbacks() {
    check(
        "Task 1.3: x FAILED",
        "1.3",
        "Task execution failed",
        "No fix attempted",
        "Unknown status",
    );
    check(
        "Task 1.3: x FAILED\n- Error:\n- Status: stuck",
        "1.3",
        "Task execution failed",
        "No fix attempted",
        "stuck",
    );
}

#[test]
fn without_a_block_the_last_message_is_the_error() {
    check(
        "I looked around.\n\nThe API key is missing.\n\n",
        "1.3",
        "Task did not complete: The API key is missing.",
        "No fix attempted",
        "Unknown status",
    );
    check(
        " \n\n",
        "1.3",
        "Task did not complete",
        "No fix attempted",
        "Unknown status",
    );
}

#[test]
fn only_the_block_of_the_task_that_was_run_counts() {
    let output = format!("{EXAMPLE}\nTask 1.30: other FAILED\n- Error: other\n");
    assert_eq!(
        parse_failure(&output, &id("1.3")).error,
        "File not found: src/parser.ts"
    );
    assert_eq!(parse_failure(&output, &id("1.30")).error, "other");
    assert!(!has_failure_block(&output, &id("1")));
    assert!(!has_failure_block(&output, &id("1.3.1")));
}

#[test]
fn the_last_of_several_blocks_counts() {
    let output = format!(
        "{EXAMPLE}\nI tried again.\n\nTask 1.3: Add failure parser FAILED\n- Error: second\n"
    );
    check(
        &output,
        "1.3",
        "second",
        "No fix attempted",
        "Unknown status",
    );
}

#[test]
fn a_field_includes_its_continuation_lines() {
    check(
        "Task 1.3: x FAILED\n- Error: two lines\n  of error\n\n  and more\n- Attempted fix: this\nand that\n- Status: Blocked\n\nGood bye.",
        "1.3",
        "two lines of error and more",
        "this and that",
        "Blocked",
    );
}

#[test]
fn agents_print_it_in_many_ways() {
    for output in [
        "**Task T012: Add x FAILED**\n- **Error**: boom\n- **Attempted fix**: none worked\n- **Status**: Blocked",
        "### Task T012 (Add x): FAILED\n* **Error:** boom\n* **Attempted fix:** none worked\n* **Status:** Blocked",
        "Task T012 FAILED.\n\n* Error: boom\n* Attempted fix: none worked\n* Status: Blocked",
        "❌ Task T012 — Add x — FAILED\nError: boom\nAttempted Fix: none worked\nSTATUS: Blocked",
        "\u{1b}[31mTask T012: Add x FAILED\u{1b}[0m\r\n- error: boom\r\n- attempted fixes: none worked\r\n- status: Blocked\r\n",
        "- Task T012: Add x FAILED\n  - Error: boom\n  - Attempted fix: none worked\n  - Status: Blocked",
    ] {
        check(output, "T012", "boom", "none worked", "Blocked");
    }
}

#[test]
fn a_block_in_a_fence_counts() {
    let fenced = format!("It does not work.\n\n```text\n{EXAMPLE}```\n\n- Status: of all else\n");
    check(
        &fenced,
        "1.3",
        "File not found: src/parser.ts",
        "Checked alternate paths",
        "Blocked, needs manual intervention",
    );
    assert!(reports_failure(&fenced, &id("1.3")));
    assert!(!has_failure_block(&fenced, &id("1.3")));
    let unclosed = format!("```\n{EXAMPLE}");
    assert!(has_failure_block(&unclosed, &id("1.3")));
    let both = format!("```\n{EXAMPLE}```\nTask 1.3: x FAILED\n- Error: second\n");
    assert_eq!(parse_failure(&both, &id("1.3")).error, "second");
    assert_eq!(
        before_block(&fenced, &id("1.3")).trim(),
        "It does not work."
    );
}

#[test]
fn quoted_repeated_or_mentioned_blocks_do_not_count() {
    for output in [
        "> Task 1.3: x FAILED\n> - Error: boom",
        "```text\nTask 1.3: x FAILED\n- Error: <the one line>\n- Attempted fix: <what you tried>\n- Status: <where it stands>\n```",
        "Task 1.3: x FAILED\n- Error: <the one line>\n- Status: <where it stands>",
        "~~~text\nTask 1.3: x FAILED\n~~~",
        "The task 1.3 has FAILED twice before, now it works.",
        "Task 1.3: handle the word FAILED in logs",
        "Task 1.3: x failed",
        "Task 1.3: x UNFAILED",
        "Task one: x FAILED",
    ] {
        assert!(!reports_failure(output, &id("1.3")), "{output}");
        assert!(!has_failure_block(output, &id("1.3")), "{output}");
    }
}

#[test]
fn a_block_ends_where_something_else_begins() {
    check(
        "Task 1.3: x FAILED\n- Error: boom\n- Next steps: dance\n- Status: never mine\n",
        "1.3",
        "boom",
        "No fix attempted",
        "Unknown status",
    );
    check(
        "Task 1.3: x FAILED\n- Error: boom\nTask 1.4: y FAILED\n- Error: other\n- Status: other",
        "1.3",
        "boom",
        "No fix attempted",
        "Unknown status",
    );
}

#[test]
fn hostile_sizes_are_read_quickly() {
    for unit in [
        "Task 1.3: x FAILED\n",
        "- Error: a\n",
        "a\n",
        "```\n",
        "> ",
        "task ",
    ] {
        let output = unit.repeat(400_000 / unit.len());
        let failure = parse_failure(&output, &id("1.3"));
        assert!(failure.error.len() <= MAX_FIELD + 64);
    }
}

proptest! {
    #[test]
    fn any_output_is_read(output in "\\PC*") {
        let failure = parse_failure(&output, &id("1.3"));
        prop_assert!(failure.failed);
        prop_assert!(!failure.error.is_empty());
        prop_assert_eq!(failure.raw_output, output);
    }

    #[test]
    fn a_block_is_found_after_any_text(before in "[a-z0-9 .\n]{0,80}") {
        let output = format!("{before}\n\n{EXAMPLE}");
        prop_assert_eq!(parse_failure(&output, &id("1.3")).error, "File not found: src/parser.ts");
    }
}

#[test]
fn the_title_of_a_failed_fix_is_not_its_failure() {
    let message = "Task 1.3.1: Fix: cat: nofile.txt: No such file or directory FAILED\n- Error: no commands\n";
    assert_eq!(
        without_titles(message),
        "Task 1.3.1 FAILED\n- Error: no commands"
    );
}
