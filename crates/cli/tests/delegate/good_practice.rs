//! The good examples of delegation, as whole programs.

use regreen_diagnosis::Report;

use regreen_test_support::Workspace;

#[test]
fn a_prompt_that_says_everything_is_done_and_verified() {
    let prompt = "Implement user authentication:
1. Add bcrypt to requirements.txt
2. Implement password hashing in src/auth.py
3. Add tests in tests/test_auth.py
4. Run tests to verify

Files to modify:
- src/auth.py (add hash_password, verify_password functions)
- tests/test_auth.py (add test cases)
- requirements.txt (add bcrypt)
";
    let workspace = Workspace::new()
        .child_agent(
            "*) mkdir -p src tests
            echo 'def hash_password(p): ...' >src/auth.py
            echo 'def test_hash(): ...' >tests/test_auth.py
            echo bcrypt >>requirements.txt
            echo 'Added hash_password and its tests; all tests pass.' ;;",
        )
        .file("requirements.txt", "flask\n")
        .file("prompt.md", prompt);
    let check = "grep -q hash_password src/auth.py && grep -q bcrypt requirements.txt";
    let flags = [
        "--prompt-file",
        "prompt.md",
        "--timeout",
        "300s",
        "--verify",
        check,
    ];
    let output = workspace.delegate(&flags);
    assert_eq!(output.code, Some(0), "{}", output.stdout);
    assert_eq!(output.tag("status"), Some("completed"));
    let files = "Files modified: requirements.txt, src/auth.py, tests/test_auth.py\n";
    assert!(output.stdout.contains(files), "{}", output.stdout);
    assert_eq!(workspace.note("1.prompt").trim_end(), prompt.trim_end());
}

#[test]
fn a_failure_is_handled_by_what_the_report_says() {
    // A careful caller reads the report and decides by hand.
    let workspace =
        Workspace::new().child_agent("*) echo working; test -f fast || sleep 60; echo done ;;");
    let output = workspace.delegate(&["--prompt", "Complex task", "--timeout", "1s"]);
    assert_eq!(output.tag("status"), Some("failed"));
    assert_eq!(output.tag("failure_category"), Some("timeout"));
    assert_eq!(output.tag("retryable"), Some("true"));
    let report = Report::parse(&output.stdout).unwrap();
    assert!(report.is_retryable());
    assert_eq!(report.blocker(), Some("Time limit insufficient"));
    let actions = report.suggested_actions();
    assert!(
        actions
            .iter()
            .any(|action| action == "Break task into smaller subtasks"),
        "{actions:?}"
    );
    let workspace = workspace.file("fast", "");
    let output = workspace.delegate(&["--prompt", "Complex task", "--timeout", "60s"]);
    assert_eq!(output.tag("status"), Some("completed"), "{}", output.stdout);
}

#[test]
fn the_environment_is_fixed_and_the_same_is_delegated_again() {
    let workspace = Workspace::new().child_agent(
        "*) test -f installed || { echo \"ModuleNotFoundError: No module named 'pytest'\"; exit 1; }
            echo 'All tests pass.' ;;",
    );
    let output = workspace.delegate(&["--prompt", "Complex task"]);
    assert_eq!(output.tag("failure_category"), Some("tool_error"));
    let report = Report::parse(&output.stdout).unwrap();
    assert_eq!(
        report.blocker(),
        Some("ModuleNotFoundError: No module named 'pytest'")
    );
    let workspace = workspace.file("installed", "");
    let output = workspace.delegate(&["--prompt", "Complex task"]);
    assert_eq!(output.tag("status"), Some("completed"), "{}", output.stdout);
}

#[test]
fn failures_are_logged_for_analysis() {
    let workspace = Workspace::new().child_agent(
        "*) touch half; echo \"ModuleNotFoundError: No module named 'pytest'\"; exit 1 ;;",
    );
    workspace.delegate(&["--prompt", "Run the tests", "--timeout", "60s"]);
    let listed = workspace.regreen(&["failures", "--since", "24h", "--json"]);
    let rows: serde_json::Value = serde_json::from_str(&listed.stdout).unwrap();
    let row = &rows[0];
    assert_eq!(row["prompt"], "Run the tests");
    assert_eq!(row["timeout_ms"], 60_000);
    assert_eq!(row["category"], "tool_error");
    assert_eq!(
        row["blocked_on"],
        "ModuleNotFoundError: No module named 'pytest'"
    );
    assert_eq!(row["files_modified"][0], "half");
    assert_eq!(row["time"], "[MOMENT]");
}

#[test]
fn the_first_prompt_gets_what_is_known_about_the_project_unless_it_is_verbatim() {
    let prompt = |flags: &[&str]| {
        let workspace = Workspace::new()
            .child_agent("*) echo done ;;")
            .file("src/auth.py", "");
        let agent = workspace.agent_flag();
        let mut arguments = vec![
            "delegate",
            "--agent",
            &agent,
            "--prompt",
            "Change src/auth.py",
        ];
        arguments.extend(flags);
        let output = workspace.regreen(&arguments);
        assert_eq!(output.code, Some(0), "{}", output.stderr);
        workspace.note("1.prompt")
    };
    let told = prompt(&[]);
    assert!(
        told.starts_with("Change src/auth.py\n\n## What is known"),
        "{told}"
    );
    assert!(told.contains("Named by the task: src/auth.py\n"), "{told}");
    assert_eq!(prompt(&["--verbatim"]).trim_end(), "Change src/auth.py");
}
