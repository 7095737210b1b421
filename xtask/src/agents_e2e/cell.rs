//! regreen with a real agent, from a task list to its exit code.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::case::{DONE, FAILED, overflow, overloaded, rate_limited, unauthorized};
use super::install::Cli;
use super::leftovers;
use super::model_server::ModelServer;
use super::reply::Reply;
use super::set_up::{self, Place};
use crate::repository;

const TASKS: &str = "# Tasks\n\n- [ ] 1.1 Write it\n  - **Do**: Write the word hello into out.txt\n  - **Files**: out.txt\n  - **Verify**: `grep -q hello out.txt`\n";
/// Whatever an agent does, a cell is over by then.
const LONGEST: Duration = Duration::from_secs(240);

/// One thing that a run must come through, or end at, in the right way.
struct Cell {
    name: &'static str,
    flags: &'static [&'static str],
    replies: fn(Cli) -> Vec<Reply>,
    exit: i32,
    /// The class that some attempt must have had.
    class: &'static str,
    kill: bool,
    /// Whether the last attempt goes on with the session of the one before, or must not.
    resumes: Option<bool>,
}

const PLAIN: Cell = Cell {
    name: "",
    flags: &[],
    replies: |_| Vec::new(),
    exit: 0,
    class: "ordinary",
    kill: false,
    resumes: None,
};

const CELLS: [Cell; 10] = [
    Cell {
        name: "success",
        replies: |_| vec![Reply::write("out.txt", "hello"), Reply::say(DONE)],
        ..PLAIN
    },
    Cell {
        name: "failed_block",
        flags: &["--max-task-iterations", "1"],
        replies: |_| vec![Reply::say(FAILED)],
        exit: 1,
        ..PLAIN
    },
    Cell {
        name: "false_claim",
        flags: &["--max-task-iterations", "1"],
        replies: |_| vec![Reply::say(DONE)],
        exit: 1,
        ..PLAIN
    },
    Cell {
        name: "failing_tool_healed_by_fix",
        flags: &["--recovery-mode"],
        replies: |_| {
            vec![
                Reply::run("cat missing.txt"),
                Reply::say(FAILED),
                Reply::write("out.txt", "hello"),
                Reply::say(DONE),
                Reply::say(DONE),
            ]
        },
        ..PLAIN
    },
    Cell {
        name: "unauthorized",
        replies: |cli| vec![unauthorized(cli)],
        exit: 78,
        class: "fatal",
        ..PLAIN
    },
    Cell {
        name: "rate_limited",
        flags: &["--max-wait", "10s"],
        replies: |cli| vec![rate_limited(cli)],
        exit: 75,
        class: "transient",
        ..PLAIN
    },
    Cell {
        name: "overloaded",
        flags: &["--max-wait", "1s"],
        replies: |cli| vec![overloaded(cli)],
        exit: 75,
        class: "transient",
        ..PLAIN
    },
    Cell {
        name: "context_overflow",
        replies: |cli| {
            vec![
                overflow(cli),
                overflow(cli),
                Reply::write("out.txt", "hello"),
                Reply::say(DONE),
            ]
        },
        class: "session",
        resumes: Some(false),
        ..PLAIN
    },
    Cell {
        name: "hang_then_resume",
        flags: &["--timeout", "45s"],
        replies: |_| {
            vec![
                Reply::write("remembered.txt", "x"),
                Reply::Hang,
                Reply::write("out.txt", "hello"),
                Reply::say(DONE),
            ]
        },
        resumes: Some(true),
        ..PLAIN
    },
    Cell {
        name: "killed_in_mid_tool",
        replies: |_| {
            vec![
                Reply::run("touch started; sleep 300"),
                Reply::write("out.txt", "hello"),
                Reply::say(DONE),
            ]
        },
        class: "interrupted",
        kill: true,
        ..PLAIN
    },
];

/// Runs the cells and prints what came of each. Whether all were as they should be.
pub(crate) fn run_all(
    clis: &[Cli],
    only: Option<&str>,
    bin: &Path,
    root: &Path,
) -> io::Result<bool> {
    let built = repository::run_cargo(&["build", "--quiet", "--package", "regreen"]);
    if built != ExitCode::SUCCESS {
        return Ok(false);
    }
    let regreen = root.join("target/debug/regreen");
    let mut all_well = true;
    for cli in clis {
        for cell in CELLS
            .iter()
            .filter(|cell| only.is_none_or(|only| only == cell.name))
        {
            let begun = Instant::now();
            let faults = try_cell(*cli, cell, bin, &regreen)?;
            let seconds = begun.elapsed().as_secs();
            let verdict = match faults.is_empty() {
                true => "ok".to_owned(),
                false => format!("FAILED: {}", faults.join("; ")),
            };
            println!(
                "{:<9} {:<27} {seconds:>4} s  {verdict}",
                cli.name(),
                cell.name
            );
            all_well &= faults.is_empty();
        }
    }
    Ok(all_well)
}

fn try_cell(cli: Cli, cell: &Cell, bin: &Path, regreen: &Path) -> io::Result<Vec<String>> {
    let folder = tempfile::tempdir()?;
    let mut place = Place::make(folder.path())?;
    fs::create_dir_all(place.work.join("specs/demo"))?;
    fs::write(place.work.join("specs/demo/tasks.md"), TASKS)?;
    let server = ModelServer::start(cli, place.work.clone(), (cell.replies)(cli))?;
    place.prepare(cli, bin, server.port)?;
    let output = folder.path().join("output");
    if cell.kill {
        kill_in_mid_tool(cli, cell, &place, regreen, &output)?;
    }
    let mut child = start(cli, cell, &place, regreen, &output)?;
    let code = wait(&mut child)?;
    let text = fs::read_to_string(&output)?;
    let mut faults = Vec::new();
    if code != Some(cell.exit) {
        let end: String = text.lines().rev().take(3).collect::<Vec<_>>().join(" | ");
        faults.push(format!("exit {code:?} instead of {}: {end}", cell.exit));
    }
    if !classes(&text).iter().any(|class| class == cell.class) {
        faults.push(format!("no attempt was {}", cell.class));
    }
    let sessions = sessions(&place.work.join(".regreen"));
    let has_resumed = sessions.iter().rev().take(2).collect::<BTreeSet<_>>().len() == 1;
    if cell.resumes.is_some_and(|resumes| resumes != has_resumed) {
        faults.push(format!("these were the sessions: {}", sessions.join(", ")));
    }
    let left = leftovers::wait_for_none(&place.home);
    if !left.is_empty() {
        faults.push(format!("still running: {}", left.join(", ")));
    }
    Ok(faults)
}

/// A run that is killed while a tool of the agent is at work.
fn kill_in_mid_tool(
    cli: Cli,
    cell: &Cell,
    place: &Place,
    regreen: &Path,
    output: &Path,
) -> io::Result<()> {
    let mut child = start(cli, cell, place, regreen, output)?;
    let begun = Instant::now();
    let started: PathBuf = place.work.join("started");
    while !started.exists() && begun.elapsed() < LONGEST {
        thread::sleep(Duration::from_millis(100));
    }
    child.kill()?;
    child.wait()?;
    Ok(())
}

fn start(cli: Cli, cell: &Cell, place: &Place, regreen: &Path, output: &Path) -> io::Result<Child> {
    let file = fs::File::options().append(true).create(true).open(output)?;
    let mut command = Command::new(regreen);
    command.args(["run", "--json", "--agent", cli.name()]);
    if let Some(model) = set_up::model(cli) {
        command.args(["--agent-model", model]);
    }
    command
        .args(cell.flags)
        .current_dir(&place.work)
        .env_clear()
        .envs(place.environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(file.try_clone()?)
        .stderr(file)
        .spawn()
}

/// Waits for it, but not for ever.
fn wait(child: &mut Child) -> io::Result<Option<i32>> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.code());
        }
        if begun.elapsed() > LONGEST {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(100));
    }
}

/// The sessions of all attempts, in order, as regreen has kept them.
fn sessions(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    let of = |path: &PathBuf| match path.is_dir() {
        true => sessions(path),
        false if path.extension().is_some_and(|name| name == "session") => {
            vec![fs::read_to_string(path).unwrap_or_default()]
        }
        false => Vec::new(),
    };
    paths.iter().flat_map(of).collect()
}

fn classes(text: &str) -> Vec<String> {
    let events = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let classes = events.filter_map(|event| event["class"].as_str().map(str::to_owned));
    classes.collect()
}
