//! The history's file: feeding, forgetting, exporting, versions, and several processes at once.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot go on has failed, and the files of tests are real"
)]

use std::path::PathBuf;
use std::slice::from_ref;
use std::sync::Barrier;
use std::thread;

use regreen_history::{
    Digest, DigestSource, FailureDigest, Filter, FirstAttempt, ForgetScope, History, HistoryError,
    ImportError, Lookup, Retention, TaskDigest, Thresholds, Workspace,
};
use regreen_model::TaskFeatures;
use tempfile::TempDir;

const NOON: i64 = 1_763_294_400_000;
const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

const KEEP_ALL: Retention = Retention {
    keep_ms: u64::MAX,
    max_bytes: u64::MAX,
};

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("history.db")
    }

    fn open(&self) -> History {
        History::open(&self.file(), NOON).unwrap()
    }
}

fn workspace(name: &str) -> Workspace {
    Workspace {
        path: format!("/srv/{name}"),
    }
}

fn failure(task: &str, at_ms: i64, kind: &str, line: &str) -> FailureDigest {
    FailureDigest {
        task: task.to_owned(),
        at_ms,
        category: "tool_error".to_owned(),
        kind: kind.to_owned(),
        line: line.to_owned(),
        lost_ms: 5_000,
        lost_micro_usd: Some(20_000),
        response: Some("fix task".to_owned()),
        helped: Some(true),
        note: None,
        known: None,
        advice: Vec::new(),
    }
}

/// A run with one task that passed at once and one that was healed.
fn run(id: &str, started_ms: i64) -> Digest {
    let task = |id: &str, attempts, first_pass| TaskDigest {
        id: id.to_owned(),
        title: "Do it".to_owned(),
        at_ms: started_ms + HOUR,
        attempts,
        first_pass,
        passed: true,
        time_ms: 60_000,
        cost_micro_usd: Some(100_000),
        features: Some(TaskFeatures {
            words: 12,
            files: 2,
            file_kind: Some("rs".to_owned()),
            work: "do".to_owned(),
            verify: Some(u32::MAX),
            is_vague: false,
        }),
        first_attempt: Some(FirstAttempt {
            time_ms: 50_000,
            timed_out: false,
        }),
        verify_ms: Some(3_000),
    };
    Digest {
        source: DigestSource::Run,
        id: id.to_owned(),
        steps: 10,
        spec: "login".to_owned(),
        agent: "claude".to_owned(),
        started_ms,
        ended_ms: started_ms + 2 * HOUR,
        tasks: vec![task("1.1", 1, true), task("1.2", 3, false)],
        failures: vec![failure(
            "1.2",
            started_ms + HOUR,
            "missing_python_module",
            "ModuleNotFoundError: No module named 'yaml'",
        )],
    }
}

fn count(history: &History) -> u64 {
    let all = history.statistics(&Filter::default(), NOON + DAY).unwrap();
    all.failures.count
}

#[test]
fn feeding_twice_changes_nothing_and_a_longer_run_replaces_a_shorter() {
    let folder = Folder::new();
    let mut history = folder.open();
    let shop = workspace("shop");
    let first = run("a", NOON);
    let fed = history
        .feed(&shop, from_ref(&first), &KEEP_ALL, NOON)
        .unwrap();
    assert_eq!((fed.runs, fed.failures), (1, 1));
    let fed = history
        .feed(&shop, from_ref(&first), &KEEP_ALL, NOON)
        .unwrap();
    assert_eq!((fed.runs, fed.failures), (0, 0));
    let mut longer = first;
    longer.steps = 20;
    longer
        .failures
        .push(failure("1.2", NOON + HOUR, "test_failure", "assert 1 == 2"));
    history.feed(&shop, &[longer], &KEEP_ALL, NOON).unwrap();
    assert_eq!(count(&history), 2);
    assert_eq!(history.known(&shop).unwrap().get("a"), Some(&20));
    let all = history.statistics(&Filter::default(), NOON + DAY).unwrap();
    assert_eq!((all.tasks.count, all.tasks.attempts), (2, 4));
    assert_eq!(all.tasks.cost_micro_usd, Some(200_000));
}

#[test]
fn the_same_failure_in_two_workspaces_is_one_blocker() {
    let folder = Folder::new();
    let mut history = folder.open();
    history
        .feed(&workspace("shop"), &[run("a", NOON)], &KEEP_ALL, NOON)
        .unwrap();
    let mut other = run("a", NOON);
    "E   ModuleNotFoundError: No module named 'yaml.loader'"
        .clone_into(&mut other.failures[0].line);
    history
        .feed(&workspace("api"), &[other], &KEEP_ALL, NOON)
        .unwrap();
    let all = history.statistics(&Filter::default(), NOON + DAY).unwrap();
    let blocker = &all.blockers[0];
    assert_eq!(
        (all.blockers.len(), blocker.count, blocker.workspaces),
        (1, 2, 2)
    );
    let places: Vec<&str> = blocker
        .places
        .iter()
        .map(|p| p.workspace.as_str())
        .collect();
    assert_eq!(places, ["/srv/api", "/srv/shop"]);
    assert_eq!(
        (all.tasks.first_pass.percent(), all.tasks.healed.percent()),
        (50, 100)
    );
    assert_eq!(
        (all.failures.lost_ms, all.failures.lost_micro_usd),
        (10_000, Some(40_000))
    );
    let helped = all.responses[0].helped;
    assert_eq!(
        (all.responses[0].response.as_str(), helped.count, helped.of),
        ("fix task", 2, 2)
    );
}

#[test]
fn filters_select_by_time_spec_agent_and_workspace() {
    let folder = Folder::new();
    let mut history = folder.open();
    let old = run("a", NOON - 10 * DAY);
    let mut other = run("b", NOON);
    "codex".clone_into(&mut other.agent);
    "pay".clone_into(&mut other.spec);
    history
        .feed(&workspace("shop"), &[old, other], &KEEP_ALL, NOON)
        .unwrap();
    let found = |filter: Filter| {
        let statistics = history.statistics(&filter, NOON + DAY).unwrap();
        (statistics.runs, statistics.failures.count)
    };
    let all = Filter::default;
    assert_eq!(found(all()), (2, 2));
    assert_eq!(
        found(Filter {
            since_ms: NOON - DAY,
            ..all()
        }),
        (1, 1)
    );
    assert_eq!(
        found(Filter {
            spec: Some("pay".to_owned()),
            ..all()
        }),
        (1, 1)
    );
    assert_eq!(
        found(Filter {
            agent: Some("claude".to_owned()),
            ..all()
        }),
        (1, 1)
    );
    assert_eq!(
        found(Filter {
            agent: Some("gemini".to_owned()),
            ..all()
        }),
        (0, 0)
    );
    assert_eq!(
        found(Filter {
            workspace: Some("/srv/shop".to_owned()),
            ..all()
        }),
        (2, 2)
    );
    assert_eq!(
        found(Filter {
            workspace: Some("/srv/api".to_owned()),
            ..all()
        }),
        (0, 0)
    );
}

#[test]
fn what_is_forgotten_is_not_learnt_again_unless_it_is_imported() {
    let folder = Folder::new();
    let mut history = folder.open();
    let (shop, api) = (workspace("shop"), workspace("api"));
    for place in [&shop, &api] {
        history
            .feed(place, &[run("a", NOON)], &KEEP_ALL, NOON)
            .unwrap();
    }
    let mut exported = Vec::new();
    assert_eq!(history.export(&mut exported).unwrap(), 2);
    let of_shop = ForgetScope::Workspace(shop.clone());
    assert_eq!(history.forget(&of_shop, NOON + HOUR).unwrap(), 1);
    history
        .feed(&shop, &[run("a", NOON)], &KEEP_ALL, NOON)
        .unwrap();
    assert_eq!(count(&history), 1);
    history
        .feed(&shop, &[run("b", NOON + 2 * HOUR)], &KEEP_ALL, NOON)
        .unwrap();
    assert_eq!(count(&history), 2);
    assert_eq!(
        history.forget(&ForgetScope::All, NOON + 3 * HOUR).unwrap(),
        2
    );
    history
        .feed(&api, &[run("a", NOON)], &KEEP_ALL, NOON)
        .unwrap();
    assert_eq!(count(&history), 0);
    let fed = history
        .import(exported.as_slice(), &KEEP_ALL, NOON)
        .unwrap();
    assert_eq!((fed.runs, fed.failures), (2, 2));
    let mut again = Vec::new();
    history.export(&mut again).unwrap();
    assert_eq!(String::from_utf8(again), String::from_utf8(exported));
}

#[test]
fn a_line_that_was_not_exported_is_refused_with_its_number() {
    let mut history = Folder::new().open();
    let import = |history: &mut History, text: &str| {
        history
            .import(text.as_bytes(), &KEEP_ALL, NOON)
            .unwrap_err()
    };
    let error = import(&mut history, "\n{\"a\": 1}\n");
    assert!(
        matches!(error, ImportError::NotALine { line: 2, .. }),
        "{error}"
    );
    let error = import(&mut history, "{\"regreen_history\": 9}");
    assert_eq!(
        error.to_string(),
        "line 1 has version 9; this regreen reads version 1"
    );
}

#[test]
fn old_runs_and_too_many_runs_are_removed() {
    let folder = Folder::new();
    let mut history = folder.open();
    let shop = workspace("shop");
    let a_week = Retention {
        keep_ms: u64::try_from(7 * DAY).unwrap(),
        ..KEEP_ALL
    };
    let digests = [run("old", NOON - 30 * DAY), run("new", NOON - DAY)];
    history.feed(&shop, &digests, &a_week, NOON).unwrap();
    assert_eq!(
        history
            .known(&shop)
            .unwrap()
            .into_keys()
            .collect::<Vec<_>>(),
        ["new"]
    );
    let many: Vec<Digest> = (0..2_000)
        .map(|n| run(&format!("r{n}"), NOON + n))
        .collect();
    let small = Retention {
        max_bytes: 300_000,
        ..KEEP_ALL
    };
    history.feed(&shop, &many, &small, NOON).unwrap();
    let kept = history.known(&shop).unwrap();
    assert!(
        kept.len() < 2_000 && kept.contains_key("r1999"),
        "{}",
        kept.len()
    );
}

#[test]
fn a_newer_file_is_refused_and_stays_as_it_is() {
    let folder = Folder::new();
    drop(folder.open());
    let conn = rusqlite::Connection::open(folder.file()).unwrap();
    conn.execute_batch(
        "INSERT INTO schema_history VALUES (99, '9.9.9', 0); PRAGMA user_version = 99;",
    )
    .unwrap();
    drop(conn);
    let before = std::fs::read(folder.file()).unwrap();
    let error = History::open(&folder.file(), NOON).unwrap_err();
    assert!(
        matches!(&error, HistoryError::Newer { found: 99, regreen, .. } if regreen == "9.9.9"),
        "{error}"
    );
    assert_eq!(std::fs::read(folder.file()).unwrap(), before);
}

#[test]
fn files_of_other_programs_are_refused() {
    let folder = Folder::new();
    std::fs::write(folder.file(), "not a database, but long enough to look at").unwrap();
    let error = History::open(&folder.file(), NOON).unwrap_err();
    assert!(matches!(error, HistoryError::Damaged(_)), "{error}");
}

#[test]
fn a_file_of_every_version_is_read() {
    for (version, fixture) in [
        (1, include_str!("fixtures/v1.sql")),
        (2, include_str!("fixtures/v2.sql")),
        (3, include_str!("fixtures/v3.sql")),
    ] {
        let folder = Folder::new();
        let conn = rusqlite::Connection::open(folder.file()).unwrap();
        conn.execute_batch(fixture).unwrap();
        drop(conn);
        reads_the_fixture(&mut folder.open(), version);
    }
}

/// All fixtures have the same run. Versions 1 and 2 knew nothing of features.
fn reads_the_fixture(history: &mut History, version: u32) {
    let mut exported = Vec::new();
    history.export(&mut exported).unwrap();
    let exported = String::from_utf8(exported).unwrap();
    assert_eq!(exported.contains("\"features\""), version > 2, "{exported}");
    let all = history.statistics(&Filter::default(), NOON + DAY).unwrap();
    assert_eq!((all.runs, all.tasks.count, all.failures.count), (1, 2, 1));
    assert_eq!(
        all.blockers[0].example,
        "ModuleNotFoundError: No module named 'yaml'"
    );
    let fingerprint =
        regreen_history::Fingerprint::of("missing_python_module", &all.blockers[0].example, "");
    assert_eq!(all.blockers[0].fingerprint, fingerprint.as_str());
    let folder = Folder::new();
    let mut copy = folder.open();
    copy.import(exported.as_bytes(), &KEEP_ALL, NOON).unwrap();
    let mut again = Vec::new();
    copy.export(&mut again).unwrap();
    assert_eq!(String::from_utf8(again).unwrap(), exported);
    history
        .feed(&workspace("shop"), &[run("new", NOON)], &KEEP_ALL, NOON)
        .unwrap();
    assert_eq!(count(history), 2);
}

#[test]
fn processes_that_feed_at_once_lose_nothing() {
    const WRITERS: usize = 8;
    let folder = Folder::new();
    let start = Barrier::new(WRITERS);
    thread::scope(|scope| {
        for n in 0..WRITERS {
            let (folder, start) = (&folder, &start);
            scope.spawn(move || {
                start.wait();
                let mut history = folder.open();
                for m in 0..5 {
                    let digest = run(&format!("{n}-{m}"), NOON);
                    history
                        .feed(&workspace(&format!("w{n}")), &[digest], &KEEP_ALL, NOON)
                        .unwrap();
                }
            });
        }
    });
    assert_eq!(count(&folder.open()), 5 * WRITERS as u64);
}

#[test]
fn a_reader_sees_a_history_that_is_being_written() {
    let folder = Folder::new();
    assert!(
        History::open_read_only(&folder.file(), NOON)
            .unwrap()
            .is_none()
    );
    let mut writer = folder.open();
    writer
        .feed(&workspace("shop"), &[run("a", NOON)], &KEEP_ALL, NOON)
        .unwrap();
    let reader = History::open_read_only(&folder.file(), NOON)
        .unwrap()
        .unwrap();
    assert_eq!(count(&reader), 1);
}

#[test]
fn thresholds_are_about_the_last_day() {
    let folder = Folder::new();
    let mut history = folder.open();
    let digests: Vec<Digest> = (0..3).map(|n| run(&format!("r{n}"), NOON)).collect();
    history
        .feed(&workspace("shop"), &digests, &KEEP_ALL, NOON)
        .unwrap();
    let day = |now: i64| {
        let filter = Filter {
            since_ms: now - DAY,
            ..Filter::default()
        };
        history.statistics(&filter, now).unwrap()
    };
    let thresholds = Thresholds {
        failures: Some(2),
        first_pass_percent: Some(80),
        categories: [("tool_error".to_owned(), 3), ("timeout".to_owned(), 0)].into(),
    };
    let today = thresholds.alerts(&day(NOON + 2 * HOUR));
    let settings: Vec<&str> = today.iter().map(|alert| alert.setting.as_str()).collect();
    assert_eq!(settings, ["alert.failures_24h", "alert.first_pass_rate"]);
    assert_eq!(
        today[1].message,
        "50 % of 6 tasks passed the first time in 24 hours, less than 80 %"
    );
    assert_eq!(thresholds.alerts(&day(NOON + 3 * DAY)), []);
}

fn lookup(kind: &str, line: &str) -> Lookup {
    Lookup {
        kind: kind.to_owned(),
        line: line.to_owned(),
        workspace: "/srv/third".to_owned(),
        task: "1.1".to_owned(),
        share: false,
    }
}

/// A run in which a repair helped, which the prompt had advised.
fn healed(kind: &str, line: &str) -> Digest {
    let repaired = FailureDigest {
        response: Some("repair pip_install PyYAML".to_owned()),
        note: Some("Installed it".to_owned()),
        known: Some(true),
        advice: vec!["repair pip_install PyYAML".to_owned()],
        ..failure("1.2", NOON, kind, line)
    };
    Digest {
        failures: vec![repaired],
        ..run("a", NOON)
    }
}

#[test]
fn what_helped_in_two_workspaces_is_recalled_in_a_third_also_after_an_export() {
    let (folder, other) = (Folder::new(), Folder::new());
    let missing = |name: &str| format!("ModuleNotFoundError: No module named '{name}'");
    let mut history = folder.open();
    for name in ["shop", "api"] {
        let digest = healed("missing_python_module", &missing("yaml"));
        history
            .feed(&workspace(name), &[digest], &KEEP_ALL, NOON)
            .unwrap();
    }
    let mut lines = Vec::new();
    history.export(&mut lines).unwrap();
    let mut copy = other.open();
    copy.import(lines.as_slice(), &KEEP_ALL, NOON).unwrap();
    for history in [&history, &copy] {
        let asked = lookup("missing_python_module", &missing("yaml"));
        let known = history.recall(&asked).unwrap().unwrap();
        assert_eq!((known.failures, known.workspaces), (2, 2));
        let advice = &known.advice[0];
        assert_eq!(advice.response, "repair pip_install PyYAML");
        assert_eq!((advice.helped, advice.tried, advice.here), (2, 2, false));
        assert!(advice.notes.is_empty(), "not shared");
        let flask = lookup("missing_python_module", &missing("flask"));
        assert_eq!(history.recall(&flask).unwrap(), None);
    }
    history.forget(&ForgetScope::All, NOON).unwrap();
    let asked = lookup("missing_python_module", &missing("yaml"));
    assert_eq!(history.recall(&asked).unwrap(), None);
}

#[test]
fn a_similar_failure_is_recalled_as_similar_and_refuses_nothing() {
    let folder = Folder::new();
    let mut history = folder.open();
    let line = "sqlite3.OperationalError: no such column: price in table users";
    for name in ["shop", "api"] {
        let digest = healed("runtime_exception", line);
        history
            .feed(&workspace(name), &[digest], &KEEP_ALL, NOON)
            .unwrap();
    }
    let near = "sqlite3.OperationalError: no such column: price in index users";
    let known = history.recall(&lookup("runtime_exception", near));
    let known = known.unwrap().unwrap();
    assert!(known.similar && known.useless.is_empty());
    let far = "ValueError: bad date given here";
    assert_eq!(
        history.recall(&lookup("runtime_exception", far)).unwrap(),
        None
    );
}
