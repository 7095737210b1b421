//! The history of a hundred thousand failures: does clustering find the causes that the generator
//! knows, how long do statistics take, how large is the file, and how good are predictions?
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measurement for contributors"
)]

#[path = "history/forecast.rs"]
mod forecast;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use regreen_history::{
    Digest, DigestSource, FailureDigest, Filter, Fingerprint, FirstAttempt, History, Lookup,
    Retention, TaskDigest, Workspace,
};
use regreen_model::TaskFeatures;

const REPOSITORIES: u64 = 50;
const RUNS: u64 = 100;
const FAILURES_PER_RUN: u64 = 20;
const NOW_MS: i64 = 1_800_000_000_000;
const MONTH_MS: u64 = 30 * 24 * 60 * 60 * 1000;

const LEAST_F1: f64 = 0.95;
const MOST_TIME: Duration = Duration::from_millis(100);
const MOST_RECALL_TIME: Duration = Duration::from_millis(5);
const MOST_BYTES_PER_FAILURE: u64 = 1024;

/// Kinds and lines of causes. What stands in braces differs from failure to failure; `{package}`
/// makes a cause of its own per package.
const CAUSES: [(&str, &str); 40] = [
    (
        "missing_python_module",
        "ModuleNotFoundError: No module named '{package}'",
    ),
    (
        "missing_node_module",
        "Error: Cannot find module '{package}'",
    ),
    (
        "missing_command",
        "{path}: line {n}: {package}: command not found",
    ),
    (
        "missing_system_lib",
        "{path}:{n}:{n}: fatal error: {package}.h: No such file or directory",
    ),
    (
        "package_not_found",
        "npm ERR! 404 '{package}@{version}' is not in this registry.",
    ),
    (
        "missing_file",
        "FileNotFoundError: [Errno 2] No such file or directory: '{path}'",
    ),
    ("missing_file", "cat: {path}: No such file or directory"),
    (
        "missing_file",
        "Error: ENOENT: no such file or directory, open '{path}'",
    ),
    (
        "runtime_exception",
        "NameError: name '{name}' is not defined",
    ),
    ("runtime_exception", "KeyError: '{name}'"),
    ("runtime_exception", "IndexError: list index out of range"),
    ("runtime_exception", "ZeroDivisionError: division by zero"),
    (
        "runtime_exception",
        "AttributeError: 'NoneType' object has no attribute '{name}'",
    ),
    (
        "runtime_exception",
        "TypeError: Cannot read properties of undefined (reading '{name}')",
    ),
    ("runtime_exception", "ReferenceError: {name} is not defined"),
    (
        "runtime_exception",
        "ValueError: invalid literal for int() with base 10: '{name}'",
    ),
    (
        "runtime_exception",
        "thread 'main' panicked at {path}:{n}:{n}:",
    ),
    (
        "compile_error",
        "error[E0425]: cannot find value `{name}` in this scope",
    ),
    ("compile_error", "error[E0308]: mismatched types"),
    (
        "compile_error",
        "{path}:{n}:{n}: error: '{name}' undeclared (first use in this function)",
    ),
    (
        "compile_error",
        "{path}:{n}:{n}: error: expected ';' before 'return'",
    ),
    ("compile_error", "{path}:{n}:{n}: undefined: {name}"),
    ("link_error", "{path}: undefined reference to `{name}'"),
    (
        "type_check_error",
        "{path}({n},{n}): error TS2304: Cannot find name '{name}'.",
    ),
    (
        "type_check_error",
        "{path}({n},{n}): error TS2322: Type 'string' is not assignable to type 'number'.",
    ),
    (
        "lint_error",
        "{path}:{n}:{n}: F401 '{name}' imported but unused",
    ),
    (
        "lint_error",
        "{path}:{n}:{n}: E501 line too long ({n} > 88 characters)",
    ),
    (
        "syntax_error",
        "{path}: line {n}: syntax error: unexpected end of file",
    ),
    (
        "syntax_error",
        "IndentationError: unexpected indent ({path}, line {n})",
    ),
    ("test_failure", "AssertionError: {n} != {n}"),
    ("test_failure", "AssertionError: expected '{name}', got ''"),
    (
        "test_failure",
        "expect(received).toBe(expected) // Object.is equality",
    ),
    (
        "connection_refused",
        "connect to {host} port {n} failed: Connection refused",
    ),
    (
        "connection_refused",
        "Error: connect ECONNREFUSED {host}:{n}",
    ),
    ("dns_failure", "curl: (6) Could not resolve host: {host}"),
    (
        "port_in_use",
        "Error: listen EADDRINUSE: address already in use :::{n}",
    ),
    (
        "git_bad_ref",
        "error: pathspec '{name}' did not match any file(s) known to git",
    ),
    (
        "database_schema_missing",
        "sqlite3.OperationalError: no such table: {name}",
    ),
    (
        "missing_script_target",
        "make: *** No rule to make target '{name}'.  Stop.",
    ),
    (
        "wrong_tool_version",
        "error: package `{package} v{version}` cannot be built because it requires rustc {version} or newer",
    ),
];

const PACKAGES: [&str; 12] = [
    "yaml",
    "requests",
    "numpy",
    "express",
    "lodash",
    "serde",
    "tokio",
    "kubectl",
    "terraform",
    "zlib",
    "openssl",
    "flask",
];
const NAMES: [&str; 12] = [
    "total",
    "user_count",
    "itemIndex",
    "cfg",
    "retryDelay",
    "job7",
    "load_data",
    "x",
    "isReady",
    "handle_login",
    "tmp",
    "Order",
];
const FOLDERS: [&str; 6] = [
    "/srv/shop",
    "src",
    "/opt/build/api",
    "tests/unit",
    "lib/a/b",
    "./pkg",
];
const FILES: [&str; 6] = [
    "main.py",
    "index.js",
    "util.c",
    "lib.rs",
    "data.json",
    "run.sh",
];
const HOSTS: [&str; 5] = [
    "127.0.0.1",
    "localhost",
    "db.example.org",
    "10.1.2.3",
    "api.test.internal",
];

/// What a slot is filled with.
type Filling<'f> = (&'f str, &'f dyn Fn(&mut Random) -> String);

/// Random numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn one_of<'t>(&mut self, all: &[&'t str]) -> &'t str {
        all[usize::try_from(self.below(all.len() as u64)).unwrap()]
    }
}

/// Returns a failure and the name of its cause.
fn generated(random: &mut Random) -> (String, &'static str, String) {
    let at = usize::try_from(random.below(CAUSES.len() as u64)).unwrap();
    let (kind, pattern) = CAUSES[at];
    let package = random.one_of(&PACKAGES);
    let mut line = pattern.replace("{package}", package);
    let fillings: [Filling<'_>; 5] = [
        ("{name}", &|r: &mut Random| r.one_of(&NAMES).to_owned()),
        ("{path}", &|r: &mut Random| {
            format!("{}/{}", r.one_of(&FOLDERS), r.one_of(&FILES))
        }),
        ("{host}", &|r: &mut Random| r.one_of(&HOSTS).to_owned()),
        ("{version}", &|r: &mut Random| {
            format!("{}.{}.{}", r.below(9), r.below(30), r.below(9))
        }),
        ("{n}", &|r: &mut Random| (1 + r.below(60_000)).to_string()),
    ];
    for (slot, fill) in fillings {
        while line.contains(slot) {
            line = line.replacen(slot, &fill(random), 1);
        }
    }
    let own = if pattern.contains("{package}") {
        package
    } else {
        ""
    };
    (format!("{at} {own}"), kind, line)
}

fn digest(
    random: &mut Random,
    repository: u64,
    run: u64,
    causes: &mut Vec<(String, Fingerprint)>,
) -> Digest {
    let age = random.below(3 * MONTH_MS);
    let started_ms = NOW_MS - i64::try_from(age).unwrap();
    let failures: Vec<FailureDigest> = (0..FAILURES_PER_RUN)
        .map(|n| {
            let (cause, kind, line) = generated(random);
            let task = format!("1.{n}");
            causes.push((
                cause,
                Fingerprint::of(kind, &line, &format!("{repository} {task}")),
            ));
            FailureDigest {
                task,
                at_ms: started_ms,
                category: "tool_error".to_owned(),
                kind: kind.to_owned(),
                line,
                lost_ms: random.below(600_000),
                lost_micro_usd: Some(random.below(900_000)),
                response: Some("fix task".to_owned()),
                helped: Some(random.below(2) == 0),
                note: None,
                known: Some(true),
                advice: if random.below(2) == 0 {
                    vec!["fix task".to_owned()]
                } else {
                    Vec::new()
                },
            }
        })
        .collect();
    let task = |failure: &FailureDigest| TaskDigest {
        id: failure.task.clone(),
        title: "Add the form to the page and validate its input".to_owned(),
        at_ms: failure.at_ms,
        attempts: 2,
        first_pass: false,
        passed: true,
        time_ms: 2 * failure.lost_ms,
        cost_micro_usd: failure.lost_micro_usd,
        features: Some(TaskFeatures {
            words: 60,
            files: 2,
            file_kind: Some("py".to_owned()),
            work: "add".to_owned(),
            verify: u32::try_from(failure.lost_ms % 20).ok(),
            is_vague: false,
        }),
        first_attempt: Some(FirstAttempt {
            time_ms: failure.lost_ms,
            timed_out: false,
        }),
        verify_ms: Some(failure.lost_ms / 10),
    };
    Digest {
        source: DigestSource::Run,
        id: format!("run-{run}"),
        steps: 100,
        spec: format!("spec-{}", run % 7),
        agent: ["claude", "codex", "gemini"][usize::try_from(run % 3).unwrap()].to_owned(),
        started_ms,
        ended_ms: started_ms,
        tasks: failures.iter().map(task).collect(),
        failures,
    }
}

/// Counts pairs without looking at each: `n` things make `n (n - 1) / 2` pairs.
fn pairwise_f1(causes: &[(String, Fingerprint)]) -> f64 {
    let pairs =
        |counts: BTreeMap<String, u64>| -> u64 { counts.values().map(|n| n * (n - 1) / 2).sum() };
    let count = |name: &dyn Fn(&(String, Fingerprint)) -> String| {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for one in causes {
            *counts.entry(name(one)).or_default() += 1;
        }
        pairs(counts)
    };
    let both = count(&|(cause, cluster)| format!("{cause}\0{cluster}"));
    let sum = count(&|(cause, _)| cause.clone()) + count(&|(_, cluster)| cluster.to_string());
    2.0 * both as f64 / sum as f64
}

/// Returns the median of nine times.
fn median(work: impl Fn()) -> Duration {
    let mut times: Vec<Duration> = (0..9)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    times.sort();
    times[times.len() / 2]
}

/// Returns the time of the slowest lookup: of each cause, of one that is only similar to a known
/// one, and of one that is unknown. A run opens the file for each.
fn slowest_recall(file: &Path) -> Duration {
    let mut random = Random(11);
    let known = (0..200).map(|_| generated(&mut random));
    let mut failures: Vec<(String, String)> = known
        .map(|(_, kind, line)| (kind.to_owned(), line))
        .collect();
    failures.extend(
        [
            "undeclared (first use in this class)",
            "a line of its own that nobody has seen",
        ]
        .map(|line| ("compile_error".to_owned(), line.to_owned())),
    );
    let times = failures.into_iter().map(|(kind, line)| {
        let lookup = Lookup {
            kind,
            line,
            workspace: "/srv/repository-7".to_owned(),
            task: "1.1".to_owned(),
            share: true,
        };
        median(|| {
            let history = History::open_read_only(file, NOW_MS).unwrap().unwrap();
            history.recall(&lookup).unwrap();
        })
    });
    times.max().unwrap_or_default()
}

fn main() -> ExitCode {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("history.db");
    let mut history = History::open(&file, NOW_MS).unwrap();
    let keep_all = Retention {
        keep_ms: u64::MAX,
        max_bytes: u64::MAX,
    };
    let (mut random, mut causes) = (Random(7), Vec::new());
    for repository in 0..REPOSITORIES {
        let digests: Vec<Digest> = (0..RUNS)
            .map(|run| digest(&mut random, repository, run, &mut causes))
            .collect();
        let workspace = Workspace {
            path: format!("/srv/repository-{repository}"),
        };
        history
            .feed(&workspace, &digests, &keep_all, NOW_MS)
            .unwrap();
    }
    drop(history);
    let bytes = file.metadata().unwrap().len();
    let f1 = pairwise_f1(&causes);
    let time = |since_ms: i64| {
        let filter = Filter {
            since_ms,
            ..Filter::default()
        };
        median(|| {
            let history = History::open_read_only(&file, NOW_MS).unwrap().unwrap();
            assert!(history.statistics(&filter, NOW_MS).unwrap().failures.count > 0);
        })
    };
    let slowest = slowest_recall(&file);
    let (month, all) = (time(NOW_MS - i64::try_from(MONTH_MS).unwrap()), time(0));
    let per_failure = bytes / causes.len() as u64;
    println!("{} failures in {REPOSITORIES} repositories", causes.len());
    println!("pairwise F1 of clusters    {f1:.4} (at least {LEAST_F1})");
    println!("statistics of 30 days      {month:?}");
    println!("statistics of everything   {all:?} (at most {MOST_TIME:?})");
    println!("one recall, slowest cause  {slowest:?} (at most {MOST_RECALL_TIME:?})");
    println!("bytes per failure          {per_failure} (at most {MOST_BYTES_PER_FAILURE})");
    let is_quick = all <= MOST_TIME && slowest <= MOST_RECALL_TIME;
    let predicts = forecast::measure();
    let keeps = predicts && f1 >= LEAST_F1 && is_quick && per_failure <= MOST_BYTES_PER_FAILURE;
    ExitCode::from(u8::from(!keeps))
}
