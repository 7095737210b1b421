//! Budgets: scripts in place of real agents report what they have used.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::agents::{run, run_command as command, says};
use regreen_test_support::{Workspace, files_below, wait_until};

const TWO: &str = "- [ ] 1.1 Write it\n  - **Verify**: `test -f out`\n- [ ] 1.2 Write more\n  - **Verify**: `test -f more`\n";
const INIT: &str = r#"{"type":"system","subtype":"init","session_id":"s-1"}"#;
const DONE: &str = r#"{"type":"result","subtype":"success","is_error":false,"result":"Done.\nTASK_COMPLETE","total_cost_usd":0.5,"usage":{"input_tokens":700,"output_tokens":30}}"#;
/// Far less than the scripts would sleep.
const SOON: Duration = Duration::from_secs(100);

/// Claude Code as a script, which may read `$REGREEN_TASK_ID`.
fn claude(script: &str) -> Workspace {
    Workspace::with_tasks(TWO).program("claude", script)
}

fn calls(workspace: &Workspace) -> usize {
    workspace.note("calls").lines().count()
}

#[track_caller]
fn says_once(printed: &str, text: &str) {
    assert_eq!(printed.matches(text).count(), 1, "{text}\n{printed}");
}

#[test]
fn a_run_ends_before_an_attempt_that_its_budget_cannot_pay_for() {
    let workspace = claude(&format!("touch out more\n{}", says(&[INIT, DONE])));
    let (code, printed) = run(&workspace, &["--max-cost", "0.5"]);
    assert_eq!(code, Some(1), "{printed}");
    says_once(
        &printed,
        "ERROR: Cost budget ($0.50) used up: $0.50 spent. Raise --max-cost, or start again: a new run has a budget of its own.\n",
    );
    says_once(&printed, "   Tasks  1 of 2 done in ");
    says_once(&printed, "    Cost  $0.50\n");
    says_once(&printed, "  Tokens  700 in, 30 out\n");
    assert_eq!(calls(&workspace), 1);
    // A new run has its own budget.
    let (code, printed) = run(&workspace, &["--max-cost", "0.5"]);
    assert_eq!(code, Some(0), "{printed}");
}

#[test]
fn tokens_are_limited_by_the_repository_as_well() {
    let workspace = claude(&format!("touch out more\n{}", says(&[INIT, DONE])))
        .file("regreen.toml", "max_tokens = 730\nmax_cost = 'off'\n");
    let (code, printed) = run(&workspace, &[]);
    assert_eq!(code, Some(1), "{printed}");
    says_once(
        &printed,
        "ERROR: Token budget (730) used up: 730 spent. Raise --max-tokens, or start again",
    );
    let (code, printed) = run(&workspace, &["--max-tokens", "off"]);
    assert_eq!(code, Some(0), "{printed}");
}

#[test]
fn a_task_and_its_fixes_have_one_budget() {
    // The fix claims success, but the task still fails.
    let workspace = claude(&says(&[INIT, DONE]));
    let flags = ["--recovery-mode", "--max-task-cost", "1.5"];
    let (code, printed) = run(&workspace, &flags);
    assert_eq!(code, Some(1), "{printed}");
    says_once(
        &printed,
        "ERROR: Cost budget ($1.50) of task 1.1 and its fixes used up: $1.50 spent. Raise --max-task-cost, or split the task; a new run tries it once more.\n",
    );
    assert_eq!(calls(&workspace), 3, "{printed}");
}

/// A message from Claude Code that reports this many tokens so far.
fn message(id: &str, input: u64, output: u64) -> String {
    format!(
        r#"{{"type":"assistant","message":{{"id":"{id}","model":"m","content":[{{"type":"text","text":"on it"}}],"usage":{{"input_tokens":{input},"output_tokens":{output}}}}}}}"#
    )
}

#[test]
fn an_agent_without_a_final_report_has_spent_what_it_reported_so_far() {
    let output = [message("m-1", 7, 1), message("m-1", 1_000_000, 20)];
    let workspace = claude(&format!(
        "{}sleep 300",
        says(&[INIT, &output[0], &output[1]])
    ));
    let (code, printed) = run(&workspace, &["--max-tokens", "10", "--timeout", "3s"]);
    assert_eq!(code, Some(1), "{printed}");
    says_once(&printed, "ERROR: Token budget (10) used up: 1000020 spent.");
    assert_eq!(calls(&workspace), 1);
}

#[test]
fn usage_reported_along_the_way_is_not_counted_twice() {
    let output = [message("m-1", 300, 10), message("m-2", 400, 1)];
    let works = says(&[INIT, &output[0], &output[1], DONE]);
    let workspace = claude(&format!("touch out more\n{works}"));
    let (code, printed) = run(&workspace, &[]);
    assert_eq!(code, Some(0), "{printed}");
    says_once(&printed, "  Tokens  1.4k in, 60 out\n");
}

/// Starts a run and kills it once a file with this suffix exists.
fn killed_at(workspace: &Workspace, flags: &[&str], file: &str) {
    let mut started = command(workspace, flags)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let runs = workspace.path(".regreen/runs");
    wait_until(|| {
        let is_it = |name: &String| name.ends_with(file);
        runs.exists() && files_below(&runs).iter().any(is_it)
    });
    started.kill().unwrap();
    started.wait().unwrap();
}

#[test]
fn the_amount_spent_before_a_kill_counts() {
    // It has reported its cost, and does not exit.
    let workspace = claude(&format!("{}sleep 300", says(&[INIT, DONE])));
    killed_at(&workspace, &["--max-cost", "0.5"], "1.usage");
    let (code, printed) = run(&workspace, &["--max-cost", "0.5"]);
    assert_eq!(code, Some(1), "{printed}");
    says_once(&printed, "ERROR: Cost budget ($0.50) used up: $0.50 spent.");
    assert_eq!(calls(&workspace), 1);
}

#[test]
fn a_budget_raised_after_a_kill_continues_from_the_amount_spent() {
    let workspace = claude(&format!(
        "case $(wc -l <\"$notes/calls\") in\n*1) {}sleep 300 ;;\n*) touch out more\n{} ;;\nesac",
        says(&[INIT, DONE]),
        says(&[INIT, DONE]),
    ));
    killed_at(&workspace, &["--max-cost", "0.5"], "1.usage");
    let (code, printed) = run(&workspace, &["--max-cost", "1"]);
    assert_eq!(code, Some(1), "{printed}");
    says_once(&printed, "ERROR: Cost budget ($1.00) used up: $1.00 spent.");
    says_once(&printed, "    Cost  $1.00\n");
    assert_eq!(calls(&workspace), 2);
}

fn codex_turn(thread: &str, text: &str, input: u64, output: u64) -> String {
    let begun = format!(r#"{{"type":"thread.started","thread_id":"{thread}"}}"#);
    let said = format!(
        r#"{{"type":"item.completed","item":{{"id":"item_0","type":"agent_message","text":"{text}"}}}}"#
    );
    let ended = format!(
        r#"{{"type":"turn.completed","usage":{{"input_tokens":{input},"cached_input_tokens":0,"output_tokens":{output}}}}}"#
    );
    says(&[&begun, &said, &ended])
}

#[test]
fn a_resumed_codex_session_is_counted_once() {
    // It forgets the signal, gets a reminder in its session, and reports its whole past again.
    let workspace = Workspace::with_tasks(TWO).program("codex",
        &format!(
            "case $(wc -l <\"$notes/calls\") in\n*1) touch out\n{} ;;\n*2) {} ;;\n*) touch more\n{} ;;\nesac",
            codex_turn("t-1", "Well.", 100, 10),
            codex_turn("t-1", "TASK_COMPLETE", 220, 20),
            codex_turn("t-2", "TASK_COMPLETE", 40, 4),
        ),
    );
    let flags = ["--agent", "codex", "--max-tokens", "300"];
    let (code, printed) = run(&workspace, &flags);
    assert_eq!(code, Some(0), "{printed}");
    let calls = workspace.note("calls");
    let resumed: Vec<bool> = calls.lines().map(|call| call.contains("resume")).collect();
    assert_eq!(resumed, [false, true, false], "{calls}");
    says_once(&printed, "  Tokens  260 in, 24 out\n");
    assert!(!printed.contains("    Cost  "), "{printed}");
}

#[test]
fn an_agent_that_reports_no_cost_gets_one_notice() {
    let turn = codex_turn("t-1", "TASK_COMPLETE", 40, 4);
    let workspace = Workspace::with_tasks(TWO).program("codex", &format!("touch out more\n{turn}"));
    let (code, printed) = run(&workspace, &["--agent", "codex", "--max-cost", "1"]);
    assert_eq!(code, Some(0), "{printed}");
    says_once(
        &printed,
        "    WARN  the cost limit cannot be enforced: the agent codex does not report its cost. Set a token or time limit instead",
    );
}

#[test]
fn an_attempt_ends_with_the_time_of_the_run_and_has_not_failed() {
    let workspace = claude(&format!("{}sleep 300", says(&[INIT])));
    let begun = Instant::now();
    let (code, printed) = run(&workspace, &["--max-time", "2s"]);
    assert_eq!(code, Some(1), "{printed}");
    assert!(begun.elapsed() < SOON);
    says_once(&printed, "ERROR: Time budget (2s) used up: ");
    says_once(
        &printed,
        " spent; that ended the attempt. Raise --max-time, ",
    );
    assert!(!printed.contains("failed"), "{printed}");
    assert_eq!(calls(&workspace), 1);
}

#[test]
fn an_invalid_budget_is_refused_with_a_hint() {
    let workspace = Workspace::with_tasks(TWO);
    for (flag, value, why) in [
        ("--max-cost", "0", "`0` is too small"),
        ("--max-cost", "-1", "`-1` is too small"),
        ("--max-cost", "NaN", "invalid amount `NaN`"),
        ("--max-task-cost", "1e99", "invalid amount `1e99`"),
        ("--max-cost", "2000000", "use at most 1000000 dollars"),
        ("--max-tokens", "0", "`0` is too small"),
        ("--max-task-tokens", "many", "`many` is not a whole number"),
        ("--max-time", "0s", "`off` means no limit"),
        ("--max-task-time", "soon", "invalid time `soon`"),
    ] {
        let (code, printed) = run(&workspace, &[flag, value]);
        assert_eq!(code, Some(2), "{flag} {value}: {printed}");
        assert!(printed.contains(why), "{flag} {value}: {printed}");
    }
    for (line, why) in [
        ("max_cost = nan", "invalid amount `nan`"),
        ("max_cost = -2.5", "`-2.5` is too small"),
        ("max_tokens = 0", "`0` is too small"),
        ("max_tokens = '7'", "a number, or \"off\" for no limit"),
        ("max_time = 5", "write \"5m\" for minutes"),
    ] {
        let workspace = Workspace::with_tasks(TWO).file("regreen.toml", line);
        let (code, printed) = run(&workspace, &[]);
        assert_eq!(code, Some(2), "{line}: {printed}");
        assert!(printed.contains(why), "{line}: {printed}");
    }
}
