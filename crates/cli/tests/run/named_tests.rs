//! Checks that name the tests that failed: which of them a task is responsible for.

use std::fs;

use regreen_test_support::{Output, Workspace};

const PLAN: &str = "- [ ] 1.1 Mend the total
  - **Verify**: `python3 -m unittest`
  - **Commit**: `fix: total`
";

/// One test was red before and stays so, one is to be mended, one is green.
const TESTS: &str = "import unittest
import shop

class T(unittest.TestCase):
    def test_kept(self):
        self.assertEqual(shop.kept(), 1)
    def test_old(self):
        self.assertEqual(shop.old(), 1)
    def test_total(self):
        self.assertEqual(shop.total(), 7)
";

const CODE: &str = "def kept(): return 1
def old(): return 0
def total(): return 12
";

const MENDED: &str = "sed -i 's/return 12/return 7/' shop.py";
const BROKEN: &str = "sed -i 's/kept(): return 1/kept(): return 2/' shop.py";

fn project(attempts: &str) -> Workspace {
    project_of(PLAN, attempts)
}

fn project_of(plan: &str, attempts: &str) -> Workspace {
    Workspace::with_tasks(plan)
        .file(".gitignore", "__pycache__/\n")
        .file("test_shop.py", TESTS)
        .file("shop.py", CODE)
        .git_repository()
        .agent(attempts)
}

/// Whether the folder where earlier states are checked out is empty.
fn has_no_checkouts(workspace: &Workspace) -> bool {
    let state = workspace.outside().join("state/regreen/checkouts");
    fs::read_dir(state).map_or(true, |entries| entries.count() == 0)
}

#[test]
fn a_test_that_was_red_before_is_listed_and_the_task_passes_with_a_mark() {
    let workspace = project(&format!("*) {MENDED}; echo TASK_COMPLETE ;;"));
    workspace
        .run_as_text(&["--excuse-known-failures"])
        .exits(0)
        .mentions("known failures, red before the task: test_shop.T.test_old")
        .mentions("done, 1 of 1 with known failures")
        .mentions("known failures: 1.1");
    workspace
        .regreen(&["status"])
        .mentions("done, 1 of 1 with known failures");
    workspace
        .regreen(&["why", "1.1"])
        .mentions("known failures, red before the task: test_shop.T.test_old");
    workspace
        .regreen(&["baseline", "show"])
        .mentions("1.1  test_shop.T.test_old");
    workspace
        .regreen(&["report"])
        .mentions("with known failures");
    assert!(has_no_checkouts(&workspace));
}

#[test]
fn a_new_failure_is_the_tasks_own_and_only_it_is_told() {
    let workspace = project(&format!(
        "1.1:1) {MENDED}; {BROKEN}; echo TASK_COMPLETE ;;
         *) git checkout -q shop.py; {MENDED}; echo TASK_COMPLETE ;;"
    ));
    workspace.run_as_text(&["--excuse-known-failures"]).exits(0);
    workspace.regreen(&["why", "1.1"]).mentions(
        "these tests fail because of this task: test_shop.T.test_kept (not because of it: test_shop.T.test_old)",
    );
}

#[test]
fn a_task_that_turns_nothing_green_fails_unless_a_person_accepts_what_is_red() {
    let workspace = project("*) echo '# more' >>shop.py; echo TASK_COMPLETE ;;");
    workspace
        .run_as_text(&["--excuse-known-failures", "--max-task-iterations", "1"])
        .exits(1)
        .mentions(
            "known failures, red before the task: test_shop.T.test_old, test_shop.T.test_total",
        );
    workspace
        .regreen(&["why", "1.1"])
        .mentions("These tests failed before the task and still fail: test_shop.T.test_old, test_shop.T.test_total");
    let names = ["test_shop.T.test_old", "test_shop.T.test_total"];
    workspace
        .regreen(&["baseline", "accept", names[0], names[1]])
        .exits(0)
        .mentions(names[1]);
    workspace
        .run_as_text(&["--excuse-known-failures", "--max-task-iterations", "1"])
        .exits(0)
        .mentions("accepted failures: test_shop.T.test_old, test_shop.T.test_total")
        .mentions("done, 1 of 1 with known failures");
    workspace
        .regreen(&["baseline", "forget", names[0]])
        .exits(0)
        .omits(names[0]);
}

#[test]
fn strict_runs_have_no_known_failures() {
    let workspace = project(&format!("*) {MENDED}; echo TASK_COMPLETE ;;"));
    let output = workspace.run_as_text(&[
        "--excuse-known-failures",
        "--strict",
        "--max-task-iterations",
        "1",
    ]);
    assert_ne!(output.code, Some(0), "{}", output.stdout);
    output.mentions("With --strict, known failures fail a task: test_shop.T.test_old");
}

#[test]
fn an_agent_cannot_accept_failures() {
    let regreen = env!("CARGO_BIN_EXE_regreen");
    let workspace = project(&format!(
        "*) '{regreen}' baseline accept test_shop.T.test_old test_shop.T.test_total; echo TASK_COMPLETE ;;"
    ));
    let output = workspace.run_as_text(&["--excuse-known-failures", "--max-task-iterations", "1"]);
    assert_ne!(output.code, Some(0), "{}", output.stdout);
    workspace
        .regreen(&["baseline", "show"])
        .mentions("Accepted failures:\n  none");
}

#[test]
fn tests_that_read_the_work_tree_from_elsewhere_excuse_nothing() {
    let workspace = project(&format!(
        "*) {BROKEN}; sed -i 's/total(), 7/total(), 12/' test_shop.py; echo TASK_COMPLETE ;;"
    ));
    let root = workspace.path(".").display().to_string();
    let here = format!("import sys\nsys.path.insert(0, '{root}')\n{TESTS}");
    fs::write(workspace.path("test_shop.py"), here).unwrap();
    let output = workspace.run_as_text(&[
        "--excuse-known-failures",
        "--max-task-iterations",
        "1",
        "--tamper",
        "off",
    ]);
    assert_ne!(output.code, Some(0), "{}", output.stdout);
    output.mentions("no failure is excused: beside the work tree, the check still reads its code");
}

#[test]
fn commands_after_the_one_with_known_failures_still_have_to_pass() {
    let plan = PLAN.replace(
        "`python3 -m unittest`",
        "`python3 -m unittest` and `test -f changelog`",
    );
    let workspace = project_of(&plan, &format!("*) {MENDED}; echo TASK_COMPLETE ;;"));
    let output = workspace.run_as_text(&["--excuse-known-failures", "--max-task-iterations", "1"]);
    assert_ne!(output.code, Some(0), "{}", output.stdout);
    output.mentions("changelog does not exist");
}

/// A test that fails the first times it runs.
fn flickering(workspace: &Workspace, times: u32) -> String {
    let count = workspace.note_path("count").display().to_string();
    format!(
        "import unittest, os

class T(unittest.TestCase):
    def test_flickers(self):
        ran = os.path.getsize('{count}') if os.path.exists('{count}') else 0
        with open('{count}', 'a') as count:
            count.write('x')
        self.assertGreaterEqual(ran, {times})
"
    )
}

#[test]
fn a_test_that_passes_when_it_runs_again_alone_is_flaky_and_listed() {
    let workspace = project_of(
        PLAN,
        "*) sed -i 's/old(): return 0/old(): return 1/; s/return 12/return 7/' shop.py; echo TASK_COMPLETE ;;",
    );
    let text = flickering(&workspace, 3);
    fs::write(workspace.path("test_flicker.py"), text).unwrap();
    workspace
        .run_as_text(&["--excuse-known-failures"])
        .exits(0)
        .mentions("flaky: test_flicker.T.test_flickers (failed 3 of 4 runs)")
        .mentions("flaky: 1.1");
    workspace
        .regreen(&["baseline", "show"])
        .mentions("test_flicker.T.test_flickers  (once)");
}

#[test]
fn cargo_tests_are_known_by_name() {
    let library = "pub fn total() -> u32 { 12 }
#[cfg(test)]
mod tests {
    #[test]
    fn old() { assert_eq!(1, 2); }
    #[test]
    fn total() { assert_eq!(super::total(), 7); }
}
";
    let manifest = "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[lib]\ndoctest = false\n[workspace]\n";
    let plan = PLAN.replace("python3 -m unittest", "cargo test --offline");
    let workspace = Workspace::with_tasks(&plan)
        .file(".gitignore", "target/\nCargo.lock\n")
        .file("Cargo.toml", manifest)
        .file("src/lib.rs", library)
        .git_repository()
        .agent("*) sed -i 's/{ 12 }/{ 7 }/' src/lib.rs; echo TASK_COMPLETE ;;");
    let output: Output = workspace.run_as_text(&["--excuse-known-failures"]);
    output
        .exits(0)
        .mentions("known failures, red before the task: shop tests::old")
        .mentions("done, 1 of 1 with known failures");
}

#[test]
fn nothing_is_excused_unless_the_user_asks_for_it() {
    let workspace = project(&format!("*) {MENDED}; echo TASK_COMPLETE ;;"));
    workspace
        .run_as_text(&["--max-task-iterations", "1"])
        .exits(1)
        .mentions("Max retries reached for task 1.1");
}
