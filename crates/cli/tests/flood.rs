//! regreen stays small, however much a program prints.
//!
//! The default flood is small. `REGREEN_FLOOD_MB` sets a larger one, and `REGREEN_FLOOD_PROGRAM`
//! another build; `cargo xtask sweep output` sets both.
#![cfg(target_os = "linux")]
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed, and a sweep says what it saw"
)]

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};

const DEFAULT_MB: u64 = 24;
/// The size of a flood that any program could keep in memory.
const A_FEW_LINES: u64 = 64 * 1024;
/// The promised limit, for regreen and everything it waits for.
const MOST_MEMORY_MB: i64 = 64;
/// How much more memory a flood may take than a few lines do; keeping the default flood takes more.
/// The pages of the program itself, a large share in a test build, count in both.
const MOST_GROWTH_MB: i64 = 16;

/// What prints the bytes.
#[derive(Clone, Copy, Debug)]
enum Flood {
    Lines,
    OneLine,
    /// Lines that look as if a diagnosis should remember them all.
    Errors,
}

impl Flood {
    fn command(self, bytes: u64) -> String {
        let source = match self {
            Self::Lines => "yes 'compiling the next part of it, as it should be'",
            Self::OneLine => "tr '\\0' x </dev/zero",
            Self::Errors => "yes 'error: cannot find module ./router (password=hunter2hunter2)'",
        };
        format!("{source} | head -c {bytes}")
    }
}

#[test]
fn an_agent_that_prints_without_end_is_logged_whole_in_little_memory() {
    let flood_it = |flood: Flood, bytes: u64| {
        let agent = format!(
            "cat >/dev/null\n{}\necho; echo TASK_COMPLETE\n",
            flood.command(bytes)
        );
        let logged = run(&agent, "true", "1.log");
        assert!(
            logged >= bytes,
            "{flood:?}: {logged} of {bytes} bytes are in the log"
        );
        most_memory_mb()
    };
    let floods = [Flood::Lines, Flood::OneLine, Flood::Errors];
    let a_few_lines = floods.map(|flood| flood_it(flood, A_FEW_LINES));
    for flood in floods {
        let most = flood_it(flood, megabytes() * 1_000_000);
        assert_little(&format!("an agent, {flood:?}"), a_few_lines[2], most);
    }
}

#[test]
fn a_verify_that_prints_without_end_is_logged_whole_in_little_memory() {
    let flood_it = |bytes: u64| {
        let verify = Flood::Errors.command(bytes);
        let agent = "cat >/dev/null\necho TASK_COMPLETE\n";
        let logged = run(agent, &verify, "1.verify.log");
        assert!(logged >= bytes, "{logged} of {bytes} bytes are in the log");
        most_memory_mb()
    };
    let a_few_lines = flood_it(A_FEW_LINES);
    assert_little("a Verify", a_few_lines, flood_it(megabytes() * 1_000_000));
}

fn megabytes() -> u64 {
    let asked = std::env::var("REGREEN_FLOOD_MB").ok();
    asked.map_or(DEFAULT_MB, |asked| asked.parse().unwrap())
}

/// Runs one task to its end. Returns the size of the log.
fn run(agent: &str, verify: &str, log: &str) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let at = |path: &str| folder.path().join(path);
    fs::write(at("agent.sh"), agent).unwrap();
    fs::create_dir_all(at("project/specs/flood")).unwrap();
    let plan = format!("- [ ] 1.1 Print\n  - **Verify**: `{verify}`\n");
    fs::write(at("project/specs/flood/tasks.md"), plan).unwrap();
    let program = std::env::var("REGREEN_FLOOD_PROGRAM");
    let program = program.unwrap_or_else(|_| env!("CARGO_BIN_EXE_regreen").to_owned());
    let started = Instant::now();
    let output = Command::new(program)
        .args([
            "run",
            "--agent",
            &format!("command:sh {}", at("agent.sh").display()),
        ])
        .current_dir(at("project"))
        .env("HOME", folder.path())
        .env_remove("XDG_CONFIG_HOME")
        .output()
        .unwrap();
    println!(
        "{:.1} s for {} MB",
        started.elapsed().as_secs_f64(),
        megabytes()
    );
    assert!(output.status.success(), "{output:?}");
    let runs = fs::read_dir(at("project/.regreen/runs")).unwrap();
    let run: PathBuf = runs.map(|run| run.unwrap().path()).next().unwrap();
    fs::metadata(run.join("1.1").join(log)).unwrap().len()
}

/// Returns the peak memory of any process so far that some process has waited for.
fn most_memory_mb() -> i64 {
    getrusage(UsageWho::RUSAGE_CHILDREN).unwrap().max_rss() / 1024
}

fn assert_little(what: &str, before: i64, most: i64) {
    println!("{what}: at most {most} MB of memory, {before} MB for a few lines");
    assert!(most <= MOST_MEMORY_MB, "{what}: {most} MB");
    let growth = most - before;
    assert!(growth <= MOST_GROWTH_MB, "{what}: {growth} MB more");
}
