//! Runs regreen with a real agent through a scenario, from a task list to its exit code.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use super::agents::Candidate;
use super::agents::Sandbox;
use super::check::faults;
use super::claude_session;
use super::model_server::ModelServer;
use super::scenarios::{Scenario, scenarios};
use crate::repository;

/// A scenario never takes longer, whatever the agent does.
const LONGEST: Duration = Duration::from_secs(240);

/// Runs the scenarios and prints each result. Returns whether all passed. Tests a copy of the
/// build, so that later builds don't matter.
pub(crate) fn run_all(
    candidates: &[Candidate],
    only: Option<&str>,
    bin: &Path,
    root: &Path,
) -> io::Result<bool> {
    let built = repository::run_cargo(&["build", "--quiet", "--package", "regreen"]);
    if built != ExitCode::SUCCESS {
        return Ok(false);
    }
    let folder = tempfile::tempdir()?;
    let regreen = folder.path().join("regreen");
    fs::copy(root.join("target/debug/regreen"), &regreen)?;
    let mut all_well = true;
    for candidate in candidates {
        let is_wanted = |scenario: &Scenario| only.is_none_or(|only| only == scenario.name);
        for scenario in scenarios(*candidate).filter(is_wanted) {
            let begun = Instant::now();
            let faults = try_scenario(*candidate, &scenario, bin, &regreen)?;
            let seconds = begun.elapsed().as_secs();
            let verdict = match faults.is_empty() {
                true => "ok".to_owned(),
                false => format!("FAILED: {}", faults.join("; ")),
            };
            let (name, scenario) = (candidate.name(), scenario.name);
            println!("{name:<12} {scenario:<27} {seconds:>4} s  {verdict}");
            all_well &= faults.is_empty();
        }
    }
    all_well &= claude_session::run_all(candidates, only, bin, &regreen)?;
    Ok(all_well)
}

fn try_scenario(
    candidate: Candidate,
    scenario: &Scenario,
    bin: &Path,
    regreen: &Path,
) -> io::Result<Vec<String>> {
    let cli = candidate.cli;
    let folder = tempfile::tempdir()?;
    let mut sandbox = Sandbox::make(folder.path())?;
    fs::create_dir_all(sandbox.work.join("specs/demo"))?;
    fs::write(sandbox.work.join("specs/demo/tasks.md"), scenario.tasks)?;
    let server = ModelServer::start(cli, sandbox.work.clone(), (scenario.replies)(cli))?;
    sandbox.prepare(cli, bin, server.port)?;
    let run = Run {
        candidate,
        scenario,
        sandbox: &sandbox,
        regreen,
        output: &folder.path().join("output"),
    };
    if scenario.kill {
        run.kill_in_mid_tool()?;
    }
    let code = wait(&mut run.start()?)?;
    let output = fs::read_to_string(run.output)?;
    Ok(faults(candidate, scenario, &sandbox, code, &output))
}

/// Everything needed to start regreen, possibly more than once.
struct Run<'a> {
    candidate: Candidate,
    scenario: &'a Scenario,
    sandbox: &'a Sandbox,
    regreen: &'a Path,
    output: &'a Path,
}

impl Run<'_> {
    /// Kills a run while one of the agent's tools is running.
    fn kill_in_mid_tool(&self) -> io::Result<()> {
        let mut child = self.start()?;
        let begun = Instant::now();
        let started: PathBuf = self.sandbox.work.join("started");
        while !started.exists() && begun.elapsed() < LONGEST {
            thread::sleep(Duration::from_millis(100));
        }
        child.kill()?;
        child.wait()?;
        Ok(())
    }

    fn start(&self) -> io::Result<Child> {
        let mut options = fs::File::options();
        let file = options.append(true).create(true).open(self.output)?;
        let environment = self.sandbox.environment.iter();
        Command::new(self.regreen)
            .args(["run", "--json", "--keep-state"])
            .args(self.candidate.flags())
            .args(self.scenario.flags)
            .current_dir(&self.sandbox.work)
            .env_clear()
            .envs(environment.map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file)
            .spawn()
    }
}

/// Waits for the process, but not forever. Counts looks, not time: a machine that was paused must not
/// end the process before it has noticed that itself.
fn wait(child: &mut Child) -> io::Result<Option<i32>> {
    const LOOK_EVERY: Duration = Duration::from_millis(100);
    for _ in 0..LONGEST.as_millis() / LOOK_EVERY.as_millis() {
        if let Some(status) = child.try_wait()? {
            return Ok(status.code());
        }
        thread::sleep(LOOK_EVERY);
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

/// A process may need a moment to exit.
const GRACE: Duration = Duration::from_secs(10);

/// Waits until no process uses this home. Returns the processes that are still running if it takes
/// too long.
pub(crate) fn wait_for_no_process(home: &Path) -> Vec<String> {
    let begun = Instant::now();
    loop {
        let left = processes_of(home);
        if left.is_empty() || begun.elapsed() > GRACE {
            return left;
        }
        thread::sleep(Duration::from_millis(100));
    }
}

fn processes_of(home: &Path) -> Vec<String> {
    let mark = format!("HOME={}", home.display());
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter(|process| {
            let environment = fs::read(process.path().join("environ")).unwrap_or_default();
            environment
                .split(|byte| *byte == 0)
                .any(|word| word == mark.as_bytes())
        })
        .map(|process| {
            let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).replace('\0', " ")
        })
        .collect()
}
