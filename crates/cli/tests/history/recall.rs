//! What helped before reaches the next prompts, what never helped isn't repeated, and a memory that
//! is wrong does no harm.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use regreen_test_support::{Output, Workspace};
use serde_json::{Value, json};

use super::User;

const ERROR: &str = "KeyError: 'GREETING'";

/// Tasks that all fail in the same way until they are healed.
fn tasks() -> String {
    let task = |id: u32| {
        format!(
            "- [ ] 1.{id} Write page {id}\n  - **Verify**: `test -f out-1.{id} || {{ echo \"{ERROR}\"; exit 1; }}`\n"
        )
    };
    (1..=3).map(task).collect()
}

/// Heals in the first fix and says how.
const KNOWS: &str = r#"
    1.1.1:*) touch out-1.1; echo "Set GREETING in app.env."; echo TASK_COMPLETE ;;
    1.2.1:*) touch out-1.2; echo "Set GREETING in app.env."; echo TASK_COMPLETE ;;
    *) echo TASK_COMPLETE ;;"#;

/// Heals in the first fix if it is told how, else in the second.
fn learns(hint: &str) -> String {
    format!(
        r#"
    1.1.1:*) case $prompt in *"{hint}"*) touch out-1.1 ;; esac; echo TASK_COMPLETE ;;
    1.1.2:*) touch out-1.1; echo TASK_COMPLETE ;;
    *) echo TASK_COMPLETE ;;"#
    )
}

impl User {
    #[track_caller]
    fn heals(&self, workspace: &Workspace, task: &str) -> Output {
        let agent = workspace.agent_flag();
        let only = ["--only", task, "--recovery-mode", "--no-input", "--json"];
        let arguments = [&["run", "--agent", &agent][..], &only].concat();
        self.regreen(workspace, &arguments).exits(0)
    }

    /// A repository in which two runs were healed in the same way.
    fn has_learnt(self) -> Self {
        let teacher = Workspace::with_tasks(&tasks()).agent(KNOWS);
        self.heals(&teacher, "1.1");
        self.heals(&teacher, "1.2");
        self
    }

    /// Runs in two other repositories in which this helped against the error, or didn't.
    pub(super) fn remembers(&self, workspace: &Workspace, response: &str, helped: bool) {
        let failure = json!({
            "task": "1.1", "at_ms": 1_000, "category": "tool_error", "kind": "missing_env_var",
            "line": ERROR, "lost_ms": 1, "lost_micro_usd": null, "response": response,
            "helped": helped,
        });
        let run = |path: &str| {
            json!({
                "regreen_history": 1, "path": path, "source": "run", "id": "a", "steps": 1,
                "spec": "demo", "agent": "claude", "started_ms": 1_000, "ended_ms": i64::MAX / 2,
                "tasks": [], "failures": [failure],
            })
        };
        let lines = format!("{}\n{}\n", run("/srv/one"), run("/srv/two"));
        let file = self.home.path().join("import.jsonl");
        fs::write(&file, lines).unwrap();
        let file = file.to_str().unwrap();
        self.regreen(workspace, &["history", "import", file])
            .exits(0);
    }
}

/// How often the agent was asked to work.
fn attempts(workspace: &Workspace) -> usize {
    let notes = fs::read_dir(workspace.outside()).unwrap();
    let names = notes.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.ends_with(".prompt")).count()
}

fn learner(hint: &str) -> Workspace {
    Workspace::with_tasks(&tasks()).agent(&learns(hint))
}

#[test]
fn a_failure_in_a_second_repository_is_healed_in_fewer_attempts() {
    let shares = User::new()
        .configuration("history.share = true\n")
        .has_learnt();
    let told = learner("app.env");
    shares.heals(&told, "1.1");
    let forgetful = User::new()
        .configuration("history.share = true\nhistory.recall = false\n")
        .has_learnt();
    let untold = learner("app.env");
    forgetful.heals(&untold, "1.1");
    let (with, without) = (attempts(&told), attempts(&untold));
    assert!(
        with < without,
        "{with} attempts with recall, {without} without"
    );
    let prompt = told.note("1.1.1-1.prompt");
    let remembered = prompt.split_once("## What helped before").unwrap().1;
    assert!(
        remembered.contains(
            "- fix task — helped in 2 of 2 runs, in another repository\n  \"Set GREETING in app.env.\"\n"
        ),
        "{prompt}"
    );
    let recall = shares.stats(&told, &[])["recall"].clone();
    assert_eq!(
        recall,
        json!({
            "known": { "count": 2, "of": 3 },
            "advised": 2,
            "with_advice": { "count": 2, "of": 2 },
            "without_advice": { "count": 1, "of": 1 },
        })
    );
    shares
        .regreen(&told, &["stats"])
        .exits(0)
        .mentions("known from before               2 of 3")
        .mentions("2 of 2 with advice · 1 of 1 without");
    told.regreen(&["why", "1.1"])
        .mentions("known from before: fix task — helped in 2 of 2 runs");
}

#[test]
fn packages_reach_other_repositories_and_words_only_if_they_are_shared() {
    let user = User::new().has_learnt();
    let test = learner("repair pip_install greetings");
    user.remembers(&test, "repair pip_install greetings", true);
    user.heals(&test, "1.1");
    let prompt = test.note("1.1.1-1.prompt");
    assert!(!prompt.contains("app.env"), "{prompt}");
    assert!(
        prompt.contains(
            "- repair pip_install greetings — helped in 2 of 2 runs, in 2 other repositories\n"
        ),
        "{prompt}"
    );
    assert!(
        !test.has_note("1.1.2-1.prompt"),
        "the first fix knew enough"
    );
}

#[test]
fn words_of_the_same_repository_come_back_after_one_run() {
    let user = User::new();
    let test = Workspace::with_tasks(&tasks()).agent(KNOWS);
    user.heals(&test, "1.1");
    user.heals(&test, "1.2");
    let prompt = test.note("1.2.1-1.prompt");
    assert!(prompt.contains("\"Set GREETING in app.env.\""), "{prompt}");
}

#[test]
fn a_repository_can_turn_recall_off() {
    let user = User::new();
    let test = Workspace::with_tasks(&tasks())
        .agent(KNOWS)
        .file("regreen.toml", "history.recall = false\n");
    user.heals(&test, "1.1");
    user.heals(&test, "1.2");
    let prompt = test.note("1.2.1-1.prompt");
    assert!(!prompt.contains("What helped before"), "{prompt}");
}

#[test]
fn a_wrong_memory_costs_no_attempt_and_fades_out() {
    let without = learner("nothing helps");
    User::new().heals(&without, "1.1");
    let user = User::new();
    let with = learner("nothing helps");
    user.remembers(&with, "repair pip_install wrong", true);
    user.heals(&with, "1.1");
    assert_eq!(attempts(&with), attempts(&without));
    let first = with.note("1.1.1-1.prompt");
    assert!(first.contains("pip_install wrong"), "{first}");
    let next = Workspace::with_tasks(&tasks()).agent(KNOWS);
    user.heals(&next, "1.1");
    let faded = next.note("1.1.1-1.prompt");
    assert!(!faded.contains("pip_install wrong"), "{faded}");
}

#[test]
fn a_repair_that_never_helped_is_not_made_a_third_time() {
    let user = User::new();
    let task = |id: u32| {
        format!(
            "- [ ] 1.{id} Write page {id}\n  - **Verify**: `test -f out-1.{id} || {{ chmod 644 report.sh; ./report.sh; }}`\n"
        )
    };
    let tasks: String = (1..=3).map(task).collect();
    let heals = r#"
        1.1.2:*) touch out-1.1; echo TASK_COMPLETE ;;
        1.2.2:*) touch out-1.2; echo TASK_COMPLETE ;;
        1.3.1:*) touch out-1.3; echo TASK_COMPLETE ;;
        *) echo TASK_COMPLETE ;;"#;
    let test = Workspace::with_tasks(&tasks)
        .agent(heals)
        .file("report.sh", "#!/bin/sh\necho report\n");
    fs::set_permissions(test.path("report.sh"), Permissions::from_mode(0o644)).unwrap();
    for id in ["1.1", "1.2"] {
        user.heals(&test, id)
            .mentions(r#""event":"repair_started""#);
    }
    user.heals(&test, "1.3")
        .omits(r#""event":"repair_started""#)
        .mentions(r#""useless":["repair chmod_x"]"#);
}

#[test]
fn a_person_is_told_that_nothing_ever_helped() {
    let user = User::new();
    let test = Workspace::with_tasks(&tasks()).agent("*) echo TASK_COMPLETE ;;");
    user.remembers(&test, "fix task", false);
    user.remembers_again(&test);
    let agent = test.agent_flag();
    let arguments = ["run", "--agent", &agent, "--only", "1.1", "--no-input"];
    user.regreen(&test, &arguments)
        .exits(1)
        .mentions("this has failed 4 times in 3 repositories, and nothing helped");
}

impl User {
    /// One more repository in which nothing helped.
    fn remembers_again(&self, workspace: &Workspace) {
        let file = self.home.path().join("import.jsonl");
        let line = fs::read_to_string(&file).unwrap();
        let mut run: Value = serde_json::from_str(line.lines().next().unwrap()).unwrap();
        run["path"] = json!("/srv/three");
        let failure = run["failures"][0].clone();
        run["failures"] = json!([failure, failure]);
        fs::write(&file, format!("{run}\n")).unwrap();
        let file = file.to_str().unwrap();
        self.regreen(workspace, &["history", "import", file])
            .exits(0);
    }
}
