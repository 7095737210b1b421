//! How regreen diagnoses what an agent prints, does and leaves behind.

use snapbox::str;

use regreen_test_support::Workspace;

#[test]
fn what_a_command_prints_elsewhere_explains_a_failure_without_words() {
    let workspace = Workspace::new().child_agent(
        "*) echo start; echo \"ModuleNotFoundError: No module named 'yaml'\" >&2; exit 1 ;;",
    );
    let output = workspace.delegate(&["--prompt", "Do it."]);
    assert_eq!(output.code, Some(1), "{}", output.stdout);
    let blocked = "Blocked on: ModuleNotFoundError: No module named 'yaml'\n";
    assert!(output.stdout.contains(blocked), "{}", output.stdout);
}

#[test]
fn a_red_check_is_named() {
    let workspace = Workspace::new().child_agent("*) echo 'All done.' ;;");
    let flags = ["--prompt", "Do it.", "--verify", "false"];
    workspace.delegate(&flags).shows(str![[r#"
Child agent failed: Verify failed: false ended with exit code 1: false always fails

Category: partial
Duration: [TIME]
Retryable: Yes

Work completed before failure:
  None

Files modified: none

Blocked on: `false` exited with 1: `false` always fails

Suggested recovery actions:
  • Run the check and fix what it reports

<task_metadata>
  <session_id>[CHILD]</session_id>
  <status>failed</status>
  <failure_category>partial</failure_category>
  <retryable>true</retryable>
</task_metadata>
--- exit code 1

"#]]);
}

#[test]
fn a_check_that_does_not_end_is_not_a_timeout_of_the_agent() {
    let workspace = Workspace::new().child_agent("*) echo 'All done.' ;;");
    let flags = ["--prompt", "Do it.", "--verify", "sleep 60"];
    let output = workspace.delegate(&[&flags[..], &["--verify-timeout", "0.2s"]].concat());
    output.shows(str![[r#"
Child agent failed: Verify failed: sleep 60 was stopped after 200ms

Category: tool_error
Duration: [TIME]
Retryable: No

Work completed before failure:
  None

Files modified: none

Blocked on: sleep 60

Suggested recovery actions:
  • Give the check more time: --verify-timeout 0.4s
  • Check whether the command can finish at all

<task_metadata>
  <session_id>[CHILD]</session_id>
  <status>failed</status>
  <failure_category>tool_error</failure_category>
  <retryable>false</retryable>
</task_metadata>
--- exit code 1

"#]]);
}

#[test]
fn files_are_what_is_there_and_not_what_the_agent_says() {
    let workspace = Workspace::new().child_agent(
        "*) touch real.py; echo 'I created src/a.py. The design in docs/layout.md does not exist, so I could not finish.'; exit 1 ;;",
    );
    let output = workspace.delegate(&["--prompt", "Do it."]);
    assert!(
        output.stdout.contains("\nFiles modified: real.py\n"),
        "{}",
        output.stdout
    );
    let workspace = Workspace::new()
        .child_agent("*) echo 'I created src/a.py but could not finish.'; exit 1 ;;");
    let output = workspace.delegate(&["--prompt", "Do it."]);
    assert!(
        output.stdout.contains("\nFiles modified: none\n"),
        "{}",
        output.stdout
    );
}

#[test]
fn a_command_whose_service_is_busy_is_waited_for_and_that_costs_no_attempt() {
    let workspace = Workspace::new().child_agent(
        "1) echo 'API Error: 429 rate_limit_error: try again in 1 seconds' >&2; exit 1 ;;
         *) echo 'It is done.' ;;",
    );
    let output = workspace.delegate(&["--prompt", "Do it."]);
    assert_eq!(output.code, Some(0), "{}{}", output.stdout, output.stderr);
    assert!(output.stderr.contains("waiting "), "{}", output.stderr);
}

#[test]
fn a_command_whose_login_is_refused_ends_it_at_once() {
    let workspace =
        Workspace::new().child_agent("*) echo 'Invalid API key · Please run /login'; exit 1 ;;");
    let output = workspace.delegate(&["--prompt", "Do it.", "--retries", "3"]);
    assert_eq!(output.code, Some(78), "{}", output.stdout);
    assert_eq!(output.tag("retryable"), Some("false"));
    assert!(!workspace.has_note("2.prompt"));
}

#[test]
fn missing_context_goes_to_a_person_even_after_a_single_attempt() {
    let workspace = Workspace::new()
        .child_agent("*) echo \"Cannot find 'the auth file' mentioned in prompt\" ;;");
    let output = workspace.delegate(&["--prompt", "Extend the auth file."]);
    assert_eq!(output.code, Some(3), "{}", output.stdout);
    let words = "Cannot both preserve all code and delete it: contradictory requirements";
    let workspace = Workspace::new().child_agent(&format!("*) echo '{words}' ;;"));
    let output = workspace.delegate(&["--prompt", "Do both."]);
    assert_eq!(output.code, Some(3), "{}", output.stdout);
}

#[test]
fn an_agent_that_repeats_its_prompt_has_not_failed() {
    let workspace = Workspace::new().child_agent("*) printf '%s\\n' \"$prompt\" ;;");
    let prompt = "If you cannot complete the task because a file is missing, say:\nI could not complete the task: the file config.yaml is missing.";
    let output = workspace.delegate(&["--prompt", prompt]);
    assert_eq!(output.code, Some(0), "{}", output.stdout);
}
