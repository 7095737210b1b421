//! regreen with a real agent, from a task list to its exit code.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::candidate::Candidate;
use super::cells::{Cell, cells};
use super::model_server::ModelServer;
use super::set_up::Place;
use super::verdict::faults;
use crate::repository;

const TASKS: &str = "# Tasks\n\n- [ ] 1.1 Write it\n  - **Do**: Write the word hello into out.txt\n  - **Files**: out.txt\n  - **Verify**: `grep -q hello out.txt`\n";
/// Whatever an agent does, a cell is over by then.
const LONGEST: Duration = Duration::from_secs(240);

/// Runs the cells and prints what came of each. Whether all were as they should be. What is
/// tried is one build, whatever is built meanwhile.
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
        let is_wanted = |cell: &Cell| only.is_none_or(|only| only == cell.name);
        for cell in cells(*candidate).filter(is_wanted) {
            let begun = Instant::now();
            let faults = try_cell(*candidate, &cell, bin, &regreen)?;
            let seconds = begun.elapsed().as_secs();
            let verdict = match faults.is_empty() {
                true => "ok".to_owned(),
                false => format!("FAILED: {}", faults.join("; ")),
            };
            let (name, cell) = (candidate.name(), cell.name);
            println!("{name:<12} {cell:<27} {seconds:>4} s  {verdict}");
            all_well &= faults.is_empty();
        }
    }
    Ok(all_well)
}

fn try_cell(
    candidate: Candidate,
    cell: &Cell,
    bin: &Path,
    regreen: &Path,
) -> io::Result<Vec<String>> {
    let cli = candidate.cli;
    let folder = tempfile::tempdir()?;
    let mut place = Place::make(folder.path())?;
    fs::create_dir_all(place.work.join("specs/demo"))?;
    fs::write(place.work.join("specs/demo/tasks.md"), TASKS)?;
    let server = ModelServer::start(cli, place.work.clone(), (cell.replies)(cli))?;
    place.prepare(cli, bin, server.port)?;
    let run = Run {
        candidate,
        cell,
        place: &place,
        regreen,
        output: &folder.path().join("output"),
    };
    if cell.kill {
        run.kill_in_mid_tool()?;
    }
    let code = wait(&mut run.start()?)?;
    let output = fs::read_to_string(run.output)?;
    Ok(faults(candidate, cell, &place, code, &output))
}

/// All that is needed to start regreen, once or again.
struct Run<'a> {
    candidate: Candidate,
    cell: &'a Cell,
    place: &'a Place,
    regreen: &'a Path,
    output: &'a Path,
}

impl Run<'_> {
    /// A run that is killed while a tool of the agent is at work.
    fn kill_in_mid_tool(&self) -> io::Result<()> {
        let mut child = self.start()?;
        let begun = Instant::now();
        let started: PathBuf = self.place.work.join("started");
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
        let environment = self.place.environment.iter();
        Command::new(self.regreen)
            .args(["run", "--json", "--keep-state"])
            .args(self.candidate.flags())
            .args(self.cell.flags)
            .current_dir(&self.place.work)
            .env_clear()
            .envs(environment.map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file)
            .spawn()
    }
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
