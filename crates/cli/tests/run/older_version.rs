//! A workspace that version 0.1.0 left when it was killed. Its files are in
//! `fixtures/killed-in-mid-fix-0.1.0`, with `dot-` for the dot of hidden files.

use std::fs;
use std::path::Path;

use regreen_test_support::{Workspace, files_below};
use snapbox::str;

const FIXTURE: &str = "tests/fixtures/killed-in-mid-fix-0.1.0";
const RUN: &str = "20261118-003410";

fn killed_in_mid_fix() -> Workspace {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(FIXTURE);
    let copy = |workspace: Workspace, path: &String| {
        let text = fs::read(folder.join(path)).unwrap();
        workspace.file(&path.replace("dot-", "."), text)
    };
    files_below(&folder).iter().fold(Workspace::new(), copy)
}

#[test]
fn a_run_that_an_older_version_began_is_finished() {
    let workspace = killed_in_mid_fix();
    workspace
        .regreen(&["run", "--agent", "command:sh agent.sh"])
        .exits(0)
        .mentions("ALL_TASKS_COMPLETE");
    snapbox::assert_data_eq!(
        workspace.text("specs/greeting/tasks.md"),
        str![[r##"
# Tasks: greeting

- [x] 1.1 Write the greeting
  - **Do**: Write `greeting.txt`
  - **Files**: `greeting.txt`
  - **Verify**: `test -f greeting.txt`
- [x] 1.2 Greet people by name
  - **Do**: Greet Ann in `greeting.txt`
  - **Files**: `greeting.txt`
  - **Verify**: `grep -q Ann greeting.txt`
- [x] 1.2.1 [FIX 1.2] Fix: Verify failed: grep -q Ann greeting.txt ended with
  - **Do**: Address the error: Verify failed: grep -q Ann greeting.txt ended with exit code 1
    1. Analyze the failure: No fix attempted
    2. Review related code in Files list
    3. Implement fix for: Verify failed: grep -q Ann greeting.txt ended with exit code 1
  - **Files**: `greeting.txt`
  - **Done when**: Error "Verify failed: grep -q Ann greeting.txt ended with exit code 1" no longer occurs
  - **Verify**: `grep -q Ann greeting.txt`
  - **Commit**: `fix(greeting): address error from task 1.2`
- [x] 1.3 Say goodbye
  - **Do**: Write `goodbye.txt`
  - **Files**: `goodbye.txt`
  - **Verify**: `test -f goodbye.txt`

"##]]
    );
    snapbox::assert_data_eq!(
        workspace.text("specs/greeting/.progress.md"),
        str![[r#"
## Completed Tasks
- [x] 1.1 Write the greeting
- [x] 1.2.1 Fix: Verify failed: grep -q Ann greeting.txt ended with
- [x] 1.2 Greet people by name
- [x] 1.3 Say goodbye

## Fix Task History
- Task 1.2: 1 fix attempted (1.2.1) - Final: PASS

"#]]
    );
    assert_eq!(workspace.runs(), [RUN]);
    // Finished tasks don't run again, and the interrupted attempt keeps its log.
    let logs = files_below(&workspace.path(&format!(".regreen/runs/{RUN}")));
    let attempts: Vec<&String> = logs
        .iter()
        .filter(|path| path.ends_with("/1.log") || path.ends_with("/2.log"))
        .collect();
    assert_eq!(
        attempts,
        [
            "1.1/1.log",
            "1.2.1/1.log",
            "1.2.1/2.log",
            "1.2/1.log",
            "1.3/1.log"
        ]
    );
}

#[test]
fn what_an_older_version_recorded_can_be_inspected() {
    let workspace = killed_in_mid_fix();
    workspace.regreen(&["status"]).exits(0).mentions("1.2.1");
    workspace
        .regreen(&["why", "1.2"])
        .exits(0)
        .mentions("grep -q Ann greeting.txt");
}
