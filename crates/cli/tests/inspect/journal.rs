use std::fs;

use snapbox::str;

use regreen_test_support::Workspace;

const TWO: &str = "- [ ] 1.1 Make it\n  - **Verify**: `cat good`\n- [ ] 1.2 Say it\n";

/// A run in which a fix heals the first task.
fn healed() -> (Workspace, String) {
    let workspace = Workspace::in_git(TWO).agent(
        "1.1.1:*) echo x >good; echo TASK_COMPLETE ;;
         *) echo TASK_COMPLETE; echo y >>work ;;",
    );
    let output = workspace.run_as_text(&["--recovery-mode"]);
    assert_eq!(output.code, Some(0), "{}{}", output.stdout, output.stderr);
    (workspace, output.stdout)
}

fn export(workspace: &Workspace, flags: &[&str]) {
    let output = workspace.regreen(&[&["journal"], flags].concat());
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    fs::write(workspace.path("journal.jsonl"), output.stdout).unwrap();
}

#[test]
fn a_run_that_is_exported_and_replayed_prints_the_lines_that_it_printed() {
    let (workspace, printed) = healed();
    export(&workspace, &[]);
    let replayed = workspace.regreen(&["replay", "journal.jsonl"]);
    assert_eq!(replayed.code, Some(0), "{}", replayed.stderr);
    // The summary needs the task file from back then; everything before it is there.
    let lines = printed.split("\n\n").next().unwrap_or_default();
    assert!(lines.contains("1.1.1"), "{lines}");
    assert_eq!(replayed.stdout.trim_end(), lines.trim_end());
}

#[test]
fn a_run_can_be_named_and_replayed_as_json() {
    let (workspace, _) = healed();
    let run = workspace.runs().remove(0);
    export(&workspace, &[&run]);
    let replayed = workspace.regreen(&["replay", "journal.jsonl", "--json"]);
    let events: Vec<serde_json::Value> = replayed
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(events.iter().all(|event| event["run"] == "[RUN]"));
    assert_eq!(events.last().unwrap()["event"], "run_ended");
}

#[test]
fn an_invalid_journal_is_named_by_file_and_line() {
    let (workspace, _) = healed();
    export(&workspace, &[]);
    let journal = fs::read_to_string(workspace.path("journal.jsonl")).unwrap();
    let first = journal.lines().next().unwrap();
    fs::write(
        workspace.path("bad.jsonl"),
        format!("{first}\n\n{{\"now\":1}}\n"),
    )
    .unwrap();
    fs::write(workspace.path("empty.jsonl"), "\n").unwrap();
    workspace.regreen(&["replay", "bad.jsonl"]).shows(str![[r#"
--- standard error
  × line 3 of bad.jsonl is not a journal step: missing field `input`
  help: write the journal with `regreen journal > FILE`, using the same version of regreen
--- exit code 2

"#]]);
    workspace
        .regreen(&["replay", "empty.jsonl"])
        .shows(str![[r#"
--- standard error
  × line 1 of empty.jsonl is not a journal step: it is empty
  help: write the journal with `regreen journal > FILE`, using the same version of regreen
--- exit code 2

"#]]);
    workspace.regreen(&["replay", "none.jsonl"]).shows(str![[r#"
--- standard error
  × none.jsonl does not exist
  help: check the path
--- exit code 2

"#]]);
    let output = workspace.regreen(&["journal", "20000101-000000"]);
    assert_eq!(output.code, Some(2));
    let known = "known runs: [RUN]";
    assert!(output.stderr.contains(known), "{}", output.stderr);
}

#[test]
fn a_bundle_has_the_run_and_the_spec_and_no_secret() {
    let workspace = Workspace::in_git("- [ ] 1.1 Make it\n")
        .file("source.py", "code = 'not for you'\n")
        .agent("*) echo key sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG; echo x >made; echo TASK_COMPLETE ;;")
        .has_run(&[], 0);
    let run = workspace.runs()[0].clone();
    fs::write(workspace.path("secret"), "outside the run\n").unwrap();
    let link = workspace.path(&format!(".regreen/runs/{run}/link"));
    std::os::unix::fs::symlink(workspace.path("secret"), link).unwrap();
    workspace
        .regreen(&["bundle"])
        .exits(0)
        .mentions("look through it before you share it");
    let archive = workspace.path(&format!("regreen-{run}.tar"));
    let tar = |arguments: &[&str]| {
        let output = std::process::Command::new("tar")
            .args(arguments)
            .arg(&archive)
            .output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    let names = tar(&["-tf"]);
    for name in [
        "README.txt",
        "journal.jsonl",
        "spec/tasks.md",
        "run/1.1/1.log",
    ] {
        assert!(names.contains(&format!("regreen/{name}\n")), "{names}");
    }
    let all = tar(&["-xOf"]);
    assert!(all.contains("TASK_COMPLETE"), "{all}");
    for secret in ["sk-ant-api03-abc", "not for you", "outside the run"] {
        assert!(!all.contains(secret), "{secret}");
    }
    // It is never overwritten.
    workspace
        .regreen(&["bundle"])
        .exits(2)
        .mentions("name another file with --output FILE");
}
