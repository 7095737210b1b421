use clap::Parser;

use super::*;

#[derive(Debug, Parser)]
struct Program {
    #[command(flatten)]
    run: Run,
}

fn parse(arguments: &[&str]) -> Result<Run, clap::Error> {
    let arguments = ["run"].iter().chain(arguments);
    Program::try_parse_from(arguments).map(|program| program.run)
}

#[track_caller]
fn refused(arguments: &[&str], message: &str) {
    let error = parse(arguments).unwrap_err().to_string();
    assert_eq!(error.lines().next().unwrap(), format!("error: {message}"));
}

#[test]
fn every_argument_is_optional() {
    let run = parse(&[]).unwrap();
    assert_eq!(run.spec, None);
    assert_eq!(run.only, None);
    assert!(!run.dry_run && !run.no_input && !run.json);
    assert_eq!(run.settings.layer(), SettingFlags::default().layer());
}

#[test]
fn every_flag_is_understood() {
    let run = parse(&[
        "login",
        "--agent=command:./agent.sh --fast",
        "--gate=make check",
        "--timeout=2s",
        "--verify-timeout=0.5s",
        "--idle-timeout=1h30m",
        "--max-wait=0s",
        "--max-task-iterations=3",
        "--max-global-iterations=40",
        "--include-optional",
        "--commit=never",
        "--keep-state",
        "--no-input",
        "--json",
        "--only=1.3",
        "--dry-run",
    ])
    .unwrap();
    assert_eq!(run.spec.as_deref(), Some("login"));
    assert_eq!(run.only, TaskId::parse("1.3"));
    assert!(run.dry_run && run.no_input && run.json);
    let flags = run.settings;
    assert_eq!(
        flags.agent.agent.unwrap().to_string(),
        "command:./agent.sh --fast"
    );
    assert_eq!(flags.gate.unwrap().command(), Some("make check"));
    assert_eq!(flags.timeout.unwrap().ms(), 2000);
    assert_eq!(flags.verify_timeout.unwrap().ms(), 500);
    let idle = flags.idle_timeout.unwrap().limit();
    assert_eq!(idle.unwrap().ms(), 5_400_000);
    assert_eq!(flags.max_wait.unwrap().ms(), 0);
    assert_eq!(flags.max_task_iterations.unwrap().get(), 3);
    assert_eq!(flags.max_global_iterations.unwrap().get(), 40);
    assert_eq!(flags.include_optional, Some(true));
    assert_eq!(flags.commit.unwrap().to_string(), "never");
    assert_eq!(flags.keep_state, Some(true));
}

#[test]
fn a_flag_can_turn_off_a_setting_of_a_file() {
    let run = parse(&["--include-optional=false", "--keep-state=false", "login"]).unwrap();
    assert_eq!(run.settings.include_optional, Some(false));
    assert_eq!(run.settings.keep_state, Some(false));
    // A flag without a value does not swallow the spec.
    let run = parse(&["--keep-state", "login"]).unwrap();
    assert_eq!(run.settings.keep_state, Some(true));
    assert_eq!(run.spec.as_deref(), Some("login"));
}

#[test]
fn bad_values_are_refused_with_a_hint() {
    refused(
        &["--timeout", "30"],
        "invalid value '30' for '--timeout <TIME|auto>': `30` has no unit; write a number with a unit: 250ms, 0.5s, 30m, 1h30m",
    );
    refused(
        &["--verify-timeout", "0s"],
        "invalid value '0s' for '--verify-timeout <TIME>': `0s` is too short; use a longer time, or leave it out for the default",
    );
    refused(
        &["--max-task-iterations", "0"],
        "invalid value '0' for '--max-task-iterations <N>': `0` is too small; use at least 1, or leave it out for the default",
    );
    refused(
        &["--agent", "clyde"],
        "invalid value 'clyde' for '--agent <AGENT>': unknown agent `clyde`; known agents: auto, claude, codex, gemini, opencode, shell, command:PROGRAM ARGS, acp:PROGRAM ARGS",
    );
    refused(
        &["--only", "the first"],
        "invalid value 'the first' for '--only <ID>': ids look like 1.3, T012, V4 or US-001",
    );
}
