use regreen_test_support::TASKS;

use crate::github::check;
use crate::project::Project;

impl Project {
    /// Commits a change of a file to the base branch on the remote.
    fn base_changes(&self, file: &str, text: &str) {
        let git = |arguments: &[&str]| self.workspace.git(arguments);
        git(&["switch", "--quiet", "main"]);
        std::fs::write(self.workspace.path(file), text).unwrap();
        git(&["commit", "--quiet", "-am", "elsewhere"]);
        git(&["push", "--quiet", "origin", "main"]);
        git(&["switch", "--quiet", "feature"]);
    }

    fn branch_changes(&self, file: &str, text: &str) {
        std::fs::write(self.workspace.path(file), text).unwrap();
        self.workspace.git(&["commit", "--quiet", "-am", "here"]);
    }
}

#[test]
fn a_conflict_with_the_base_branch_is_merged_by_a_fix_task() {
    let project = Project::new(|_| vec![check("test", "success")]).fixing(
        "c=$(sed -n 's/.*git merge --no-commit \\([0-9a-f]*\\).*/\\1/p' \"$tasks\" | head -n 1)
         git merge --no-commit \"$c\" >/dev/null
         echo good from both >src.txt
         git add src.txt
         git commit --quiet --no-edit",
    );
    project.base_changes("src.txt", "good from main\n");
    project.branch_changes("src.txt", "good from feature\n");
    let base = project.remote_head("main");
    project
        .run_all(&[])
        .exits(0)
        .mentions("1.1.1 added: Fix: merge conflict with main")
        .mentions("1 check passed");
    let plan = project.workspace.text(TASKS);
    assert!(
        plan.contains(&format!("git merge-base --is-ancestor {base} HEAD")),
        "{plan}"
    );
    assert_eq!(project.workspace.text("src.txt"), "good from both\n");
    assert_eq!(project.remote_head("feature"), project.head());
}

#[test]
fn a_conflict_is_not_touched_without_permission_to_push() {
    let project = Project::new(|_| vec![check("test", "success")]);
    project
        .workspace
        .git(&["push", "--quiet", "origin", "feature"]);
    project.run(&["--create"]).exits(0);
    project.base_changes("src.txt", "good from main\n");
    project.branch_changes("src.txt", "good from feature\n");
    project
        .workspace
        .git(&["push", "--quiet", "origin", "feature"]);
    let head = project.head();
    project.run(&[]).exits(3).mentions("#7 conflicts with main");
    assert_eq!(project.head(), head);
}
