use std::path::Path;
use std::sync::Arc;

use clap::Args as _;

use super::*;
use crate::commands::Run;
use crate::config::read::{ConfigFile, read_layer};

fn layer(owner: Owner, text: &str) -> Layer {
    let file = ConfigFile {
        owner,
        path: Arc::from(Path::new("/w/regreen.toml")),
        user_file: "config.toml".to_owned(),
    };
    read_layer(text, &file).unwrap()
}

fn resolved(flags: &SettingFlags, workspace: &str, user: &str, stored: StoredLimits) -> Settings {
    let workspace = layer(Owner::Workspace, workspace);
    let user = layer(Owner::User, user);
    Settings::resolve(
        flags,
        AgentLayer::default(),
        Some(&workspace),
        Some(&user),
        &stored,
    )
}

#[test]
fn the_defaults_are_those_of_the_engine() {
    let settings = Settings::resolve(
        &SettingFlags::default(),
        AgentLayer::default(),
        None,
        None,
        &StoredLimits::default(),
    );
    let config = settings.run_config("login", None);
    let default = RunConfig {
        spec: "login".to_owned(),
        agent: "auto".to_owned().into(),
        // The engine alone has no history to ask.
        recall: true,
        ..RunConfig::default()
    };
    assert_eq!(config, default);
    assert_eq!(settings.timeout.origin, Origin::Default);
}

/// Removes the layers one by one.
#[test]
fn flags_beat_the_workspace_beats_the_user_beats_the_state_beats_the_default() {
    let line = |n: u32| format!("max_task_iterations = {n}");
    let flag = SettingFlags {
        max_task_iterations: Count::new(1),
        ..SettingFlags::default()
    };
    let stored = StoredLimits {
        fix_tasks: None,
        fix_depth: None,
        recovery: false,
        task_iterations: Count::new(4),
        global_iterations: None,
    };
    let no_flag = SettingFlags::default();
    let no_state = StoredLimits::default();
    for (flags, workspace, user, stored, value, origin) in [
        (&flag, line(2), line(3), stored, 1, "flag"),
        (&no_flag, line(2), line(3), stored, 2, "workspace"),
        (&no_flag, String::new(), line(3), stored, 3, "user"),
        (&no_flag, String::new(), String::new(), stored, 4, "state"),
        (
            &no_flag,
            String::new(),
            String::new(),
            no_state,
            5,
            "default",
        ),
    ] {
        let limit = resolved(flags, &workspace, &user, stored).max_task_iterations;
        assert_eq!(limit.value.get(), value);
        assert_eq!(limit.origin.name(), origin);
    }
}

#[test]
fn a_stronger_layer_can_undo_a_weaker_one() {
    let flags = SettingFlags {
        gate: "".parse().ok(),
        include_optional: Some(false),
        ..SettingFlags::default()
    };
    let workspace = "gate = 'make'\ninclude_optional = true\nidle_timeout = 'off'";
    let user = "idle_timeout = '5m'";
    let settings = resolved(&flags, workspace, user, StoredLimits::default());
    let config = settings.run_config("login", None);
    assert_eq!(config.gate, None);
    assert!(!config.include_optional);
    assert_eq!(config.idle_timeout_ms, None);
}

#[test]
fn every_setting_reaches_the_run() {
    let workspace = r#"
        gate = "make check"
        timeout = "2s"
        verify_timeout = "0.5s"
        idle_timeout = "1m"
        max_wait = "0s"
        max_task_iterations = 0x3
        max_global_iterations = 1_000
        max_cost = 2.5
        max_tokens = 1_000
        max_time = "1h"
        max_task_cost = 1
        max_task_tokens = 0x10
        max_task_time = "1m"
        include_optional = true
        commit = "never"
        keep_state = true
        context_tokens = 300
        preflight = "warn"
        history.recall = false
    "#;
    let user = "agent = 'command:my-agent'\non_end = ['say', 'done']\non_question = ['say', 'help']\nprompts = 'p'\ndiagnosis.ask = 'agent'";
    let settings = resolved(
        &SettingFlags::default(),
        workspace,
        user,
        StoredLimits::default(),
    );
    let only = TaskId::parse("1.3");
    let config = settings.run_config("login", only.clone());
    let expected = RunConfig {
        accepted_tests: Vec::new(),
        recovery: false,
        repairs: RepairPolicy::Safe,
        final_check: FinalCheckPolicy::Fail,
        final_check_time_ms: 1_800_000,
        tamper: TamperPolicy::Fail,
        keep_going: false,
        answer_wait_ms: None,
        asks: false,
        spec_argument: None,
        spec: "login".to_owned(),
        agent: "command:my-agent".to_owned().into(),
        limits: Limits {
            task_iterations: 3,
            global_iterations: 1000,
            ..Limits::default()
        },
        budgets: Budgets {
            run: Budget {
                cost_micro_usd: Some(2_500_000),
                tokens: Some(1000),
                time_ms: Some(3_600_000),
            },
            task: Budget {
                cost_micro_usd: Some(1_000_000),
                tokens: Some(16),
                time_ms: Some(60_000),
            },
        },
        attempt_timeout_ms: 2000,
        verify_timeout_ms: 500,
        idle_timeout_ms: Some(60_000),
        max_wait_ms: 0,
        include_optional: true,
        commits: false,
        commit_all: false,
        strict: false,
        excuse_known_failures: false,
        diagnosis_ask: DiagnosisAsk::Agent,
        recall: false,
        stored_limits: None,
        progress_file: None,
        folder: None,
        in_git: true,
        ticked_before: Vec::new(),
        auto_timeout: false,
        times: None,
        templates: Vec::new(),
        keep_state: true,
        only,
        gate: Some("make check".to_owned()),
    };
    assert_eq!(config, expected);
    assert_eq!(settings.context_budget(), Some(300));
    assert_eq!(settings.preflight.value, PreflightPolicy::Warn);
    assert_eq!(
        settings.on_end.value.argv(),
        Some(&["say".to_owned(), "done".to_owned()][..])
    );
    assert_eq!(
        settings.on_question.value.argv(),
        Some(&["say".to_owned(), "help".to_owned()][..])
    );
    assert_eq!(settings.prompts.value.path(), Some(Path::new("/w/p")));
}

#[test]
fn the_help_is_right_about_defaults() {
    let run = Run::augment_args(clap::Command::new("run"));
    let mut with_default = Vec::new();
    for row in Settings::from(Layer::default()).rows() {
        let argument = run.get_arguments().find(|a| a.get_id() == row.key.name());
        let help = argument.and_then(|argument| argument.get_help());
        let help = help.map(ToString::to_string).unwrap_or_default();
        if let Some((_, default)) = help.split_once("[default: ") {
            assert!(default.starts_with(&row.text), "{help}");
            with_default.push(row.key.name());
        }
    }
    assert!(with_default.contains(&"timeout"), "{with_default:?}");
}

#[test]
fn every_setting_has_the_flag_of_its_name_or_is_for_more_than_one_run() {
    let run = Run::augment_args(clap::Command::new("run"));
    let has_flag = |key: &&Key| {
        let name = key.name().replace('_', "-");
        run.get_arguments()
            .any(|argument| argument.get_long() == Some(&name))
    };
    let without: Vec<&Key> = Key::ALL.iter().filter(|key| !has_flag(key)).collect();
    assert_eq!(
        without,
        [
            &Key::DiagnosisAsk,
            &Key::CiPush,
            &Key::HistoryRecord,
            &Key::HistoryRecall,
            &Key::HistoryShare,
            &Key::HistoryKeep,
            &Key::AlertFailures,
            &Key::AlertFirstPassRate,
            &Key::AlertTimeout,
            &Key::AlertMissingContext,
            &Key::AlertToolError,
            &Key::AlertInvalidTask,
            &Key::AlertPartial,
            &Key::OnAlert,
            &Key::Prompts,
            &Key::McpAnswer,
            &Key::OnEnd,
            &Key::OnQuestion,
            &Key::Inhibit,
        ]
    );
}

#[test]
fn a_repository_may_refuse_the_history_but_not_decide_it() {
    let file = ConfigFile {
        owner: Owner::Workspace,
        path: Arc::from(Path::new("/w/regreen.toml")),
        user_file: "config.toml".to_owned(),
    };
    assert!(read_layer("history.record = false", &file).is_ok());
    let faults = read_layer("history.record = true", &file).unwrap_err();
    assert_eq!(faults[0].label, "a repository can only turn this off");
    assert!(read_layer("history.recall = false", &file).is_ok());
    assert!(read_layer("history.recall = true", &file).is_err());
    assert!(read_layer("history.share = false", &file).is_err());
    let keep = read_layer("history.keep = '1s'", &file).unwrap_err();
    assert_eq!(keep[0].message, "a repository may not set `history.keep`");
    let off = resolved(
        &SettingFlags::default(),
        "history.record = false",
        "history.record = true\nalert.failures_24h = 5\nalert.first_pass_rate = 80\nalert.timeout = 2",
        StoredLimits::default(),
    );
    assert!(!off.history_record.value.is_on());
    let thresholds = off.thresholds();
    assert_eq!(thresholds.failures, Some(5));
    assert_eq!(thresholds.first_pass_percent, Some(80));
    assert_eq!(thresholds.categories, [("timeout".to_owned(), 2)].into());
}
