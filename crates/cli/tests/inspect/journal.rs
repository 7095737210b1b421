use std::fs;

use snapbox::str;

use crate::scene::Scene;

const TWO: &str = "- [ ] 1.1 Make it\n  - **Verify**: `cat good`\n- [ ] 1.2 Say it\n";

/// A run in which a fix heals the first task.
fn healed() -> (Scene, String) {
    let scene = Scene::in_git(TWO).agent(
        "1.1.1:*) echo x >good; echo TASK_COMPLETE ;;
         *) echo TASK_COMPLETE; echo y >>work ;;",
    );
    let told = scene.run(&["--recovery-mode"]);
    assert_eq!(told.code, Some(0), "{}{}", told.stdout, told.stderr);
    (scene, told.stdout)
}

fn export(scene: &Scene, flags: &[&str]) {
    let told = scene.regreen(&[&["journal"], flags].concat());
    assert_eq!(told.code, Some(0), "{}", told.stderr);
    fs::write(scene.path("journal.jsonl"), told.stdout).unwrap();
}

#[test]
fn a_run_that_is_exported_and_replayed_prints_the_lines_that_it_printed() {
    let (scene, printed) = healed();
    export(&scene, &[]);
    let replayed = scene.regreen(&["replay", "journal.jsonl"]);
    assert_eq!(replayed.code, Some(0), "{}", replayed.stderr);
    // The summary needs the task file as it was; all that is before it is there.
    let lines = printed.split("\n\n").next().unwrap_or_default();
    assert!(lines.contains("1.1.1"), "{lines}");
    assert_eq!(replayed.stdout.trim_end(), lines.trim_end());
}

#[test]
fn a_run_can_be_named_and_replayed_as_json() {
    let (scene, _) = healed();
    let run = scene.runs().remove(0);
    export(&scene, &[&run]);
    let replayed = scene.regreen(&["replay", "journal.jsonl", "--json"]);
    let events: Vec<serde_json::Value> = replayed
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(events.iter().all(|event| event["run"] == "[RUN]"));
    assert_eq!(events.last().unwrap()["event"], "run_ended");
}

#[test]
fn what_is_no_journal_is_named_by_file_and_line() {
    let (scene, _) = healed();
    export(&scene, &[]);
    let journal = fs::read_to_string(scene.path("journal.jsonl")).unwrap();
    let first = journal.lines().next().unwrap();
    fs::write(
        scene.path("bad.jsonl"),
        format!("{first}\n\n{{\"now\":1}}\n"),
    )
    .unwrap();
    fs::write(scene.path("empty.jsonl"), "\n").unwrap();
    scene.look(&["replay", "bad.jsonl"]).shows(str![[r#"
--- standard error
  × line 3 of bad.jsonl is no step of a run: missing field `input`
  help: a journal is what `regreen journal > FILE` writes, by the same version of regreen
--- exit code 2

"#]]);
    scene.look(&["replay", "empty.jsonl"]).shows(str![[r#"
--- standard error
  × line 1 of empty.jsonl is no step of a run: there is nothing in it
  help: a journal is what `regreen journal > FILE` writes, by the same version of regreen
--- exit code 2

"#]]);
    scene.look(&["replay", "none.jsonl"]).shows(str![[r#"
--- standard error
  × none.jsonl does not exist
  help: check the path; `regreen init NAME` makes a new spec
--- exit code 2

"#]]);
    let told = scene.look(&["journal", "20000101-000000"]);
    assert_eq!(told.code, Some(2));
    let known = "these were there: [RUN]";
    assert!(told.stderr.contains(known), "{}", told.stderr);
}
