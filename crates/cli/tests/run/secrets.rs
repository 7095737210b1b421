//! Secrets in an agent's output are masked wherever it is stored or shown.

use std::fs;
use std::process::Command;

use regreen_test_support::{Workspace, files_below};

/// Built from parts, so that no secret scanner reports this file.
fn secrets() -> [String; 3] {
    [
        format!(
            "sk-ant-{}-{}",
            "api03", "Zx81kQ0pLm73nBv5cXw9Yt2RsAeD4fGh6JkUi8OoPzQx1mNb"
        ),
        format!("ghp{}{}", "_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"),
        "correct-horse-battery".to_owned(),
    ]
}

#[test]
fn secrets_are_masked_in_the_output_the_logs_and_the_journal() {
    let [key, token, password] = secrets();
    let workspace = Workspace::in_git(
        "- [ ] 1.1 Tell\n  - **Verify**: `cat told; test -f done`\n  - **Commit**: `feat: tell`\n",
    )
    .file(".env", format!("DB_PASSWORD={password}\n"))
    .agent(&format!(
        "1.1:1) echo '{key}'; echo '{token}' >&2; printf 'Task 1.1: Tell FAILED\\n- Error: login with {password} refused\\n- Attempted fix: {key}\\n' ;;
         1.1:2) echo 'token {token} and {password}' >told; echo TASK_COMPLETE ;;
         1.1:*) touch done; echo TASK_COMPLETE ;;"
    ));
    let hook = workspace.path(".git/hooks/pre-commit");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(
        &hook,
        format!("#!/bin/sh\ntest -f twice && exit 0\ntouch twice\necho 'hook: {token}'; exit 1\n"),
    )
    .unwrap();
    Command::new("chmod").arg("+x").arg(&hook).status().unwrap();

    let output = workspace.run_as_text(&[]);
    assert_eq!(output.code, Some(0), "{}{}", output.stdout, output.stderr);
    assert!(output.stdout.contains("refused"), "{}", output.stdout);
    let json = workspace.file(
        "specs/demo/tasks.md",
        "- [ ] 1.1 Tell\n  - **Verify**: `cat told; false`\n",
    );
    let told_json = json.run_as_text(&["--json", "--max-task-iterations=1"]);
    let mut places = vec![
        ("output", output.stdout),
        ("errors", output.stderr),
        ("json", told_json.stdout),
    ];
    let own = json.path(".regreen");
    for file in files_below(&own) {
        let bytes = fs::read(own.join(&file)).unwrap();
        let name: &'static str = Box::leak(file.into_boxed_str());
        places.push((name, String::from_utf8_lossy(&bytes).into_owned()));
    }
    for (place, text) in &places {
        for secret in secrets() {
            assert!(!text.contains(&secret), "{place} tells {secret}");
        }
    }
    // The output is really there: the log has it, masked.
    let log = places
        .iter()
        .find(|(name, _)| name.ends_with("1.1/1.log"))
        .unwrap();
    assert!(log.1.contains("login with "), "{}", log.1);
    // The user's own files are never altered.
    assert!(json.text("told").contains(&token));
}
