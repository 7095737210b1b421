use regreen_test_support::Workspace;

use crate::json;

/// Text that would become a part of a page, if anything let it.
const HOSTILE: &str = "<script>alert(1)</script> [link](https://example.com)";

/// A run in which 1.1 is healed by a fix, and 1.2 isn't verified.
fn healed() -> Workspace {
    let tasks =
        format!("- [ ] 1.1 First {HOSTILE}\n  - **Verify**: `cat wanted`\n- [ ] 1.2 Second\n");
    let workspace = Workspace::with_tasks(&tasks).agent(
        "1.1.1:*) touch wanted; echo TASK_COMPLETE ;;
         1.2:*) touch other; echo TASK_COMPLETE ;;
         *) echo TASK_COMPLETE ;;",
    );
    workspace.run(&["--recovery-mode"]).exits(0);
    workspace
}

#[test]
fn a_report_says_what_was_healed_and_what_to_review() {
    let workspace = healed();
    let report = json(&workspace, &["report", "--json"]);
    assert_eq!(report["outcome"], "all_green");
    assert_eq!(report["healed"][0]["id"], "1.1");
    assert_eq!(report["healed"][0]["fixes"][0]["fix"], "1.1.1");
    assert_eq!(report["done"][1]["marks"][0], "unverified");
    workspace
        .regreen(&["report"])
        .exits(0)
        .mentions("done, with unverified tasks")
        .mentions("  REVIEW  1.2 Second")
        .mentions("  HEALED  1.1 First")
        .mentions("No such file or directory → 1.1.1 ")
        .mentions(" UNVERIF  1.2 Second");
}

#[test]
fn a_report_of_a_run_that_was_killed_or_goes_on_says_so() {
    let workspace = crate::patient();
    let run = workspace.start(&[], "working");
    assert_eq!(json(&workspace, &["report", "--json"])["is_active"], true);
    run.signal("KILL");
    run.wait();
    workspace
        .regreen(&["report"])
        .exits(0)
        .mentions("killed; `regreen run` resumes it");
}

#[test]
fn the_page_of_a_report_loads_and_runs_nothing() {
    let workspace = healed();
    workspace
        .regreen(&["report", "--html", "report.html"])
        .exits(0);
    let page = workspace.text("report.html");
    assert!(page.contains("&lt;script&gt;alert(1)"), "{page}");
    for part in ["<script", "http://", "src=", "href=", "url("] {
        assert!(!page.contains(part), "{part}: {page}");
    }
    assert!(page.contains("default-src &#39;none&#39;") || page.contains("default-src 'none'"));
}

#[test]
fn the_markdown_of_a_report_has_no_links_of_others() {
    let workspace = healed();
    let printed = workspace.regreen(&["report", "--markdown"]).exits(0);
    assert!(
        printed.stdout.starts_with("# demo · "),
        "{}",
        printed.stdout
    );
    assert!(!printed.stdout.contains("](http"), "{}", printed.stdout);
    assert!(!printed.stdout.contains("<script"), "{}", printed.stdout);
}

#[test]
fn an_earlier_run_has_a_report_of_its_own() {
    let workspace = healed();
    workspace.regreen(&["retry", "1.2"]).exits(0);
    workspace.run(&["--recovery-mode"]).exits(0);
    let runs = workspace.runs();
    let of = |run: &str| json(&workspace, &["report", run, "--json"]);
    assert_eq!(of(&runs[0])["healed"][0]["id"], "1.1");
    let newest = of(&runs[1]);
    assert_eq!(newest["healed"], serde_json::json!([]));
    assert_eq!(newest["done"][0]["id"], "1.2", "{newest}");
}

#[test]
fn the_junit_report_has_a_test_for_each_task_and_is_no_greener_than_the_run() {
    let workspace = healed();
    workspace
        .regreen(&["report", "--junit", "results.xml"])
        .exits(0);
    let xml = workspace.text("results.xml");
    for part in [
        r#"<testsuite name="demo" tests="3" skipped="1" errors="0" failures="0">"#,
        "<testcase name=\"1.1 First &lt;script&gt;alert(1)",
        "<flakyFailure ",
        "No such file or directory",
        r#"<skipped message="unverified: nothing checked the result"/>"#,
    ] {
        assert!(xml.contains(part), "{part}: {xml}");
    }
}

#[test]
fn a_run_writes_its_junit_report_and_one_that_is_killed_leaves_no_green_one() {
    let workspace = crate::patient();
    let run = workspace.start(&["--junit", "results.xml"], "working");
    let begun = workspace.text("results.xml");
    assert!(begun.contains("the run has not ended"), "{begun}");
    run.signal("KILL");
    run.wait();
    assert_eq!(workspace.text("results.xml"), begun);
    crate::go(&workspace);
    workspace.run(&["--junit", "results.xml"]).exits(0);
    let ended = workspace.text("results.xml");
    assert!(
        ended.contains(r#"tests="2" skipped="0" errors="0" failures="0""#),
        "{ended}"
    );
}

#[test]
fn a_task_that_failed_fails_in_the_junit_report_with_its_cause_and_its_log() {
    let workspace =
        Workspace::with_tasks("- [ ] 1.1 First\n  - **Verify**: `cat wanted`\n- [ ] 1.2 Second\n")
            .agent("*) echo some words; echo TASK_COMPLETE ;;");
    workspace
        .run(&["--max-task-iterations=2", "--junit", "results.xml"])
        .exits(1);
    let xml = workspace.text("results.xml");
    for part in [
        r#"tests="3" skipped="1" errors="1" failures="1""#,
        "<failure message=\"cat: wanted: No such file or directory\"",
        "<rerunFailure ",
        "<system-out>some words",
        r#"<skipped message="not run"/>"#,
        "Max retries reached for task 1.1 after 2 attempts",
    ] {
        assert!(xml.contains(part), "{part}: {xml}");
    }
}
