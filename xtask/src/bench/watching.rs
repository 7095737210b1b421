//! `cargo xtask bench watching`: how much a run is slowed by those who watch it.
//!
//! The same plan runs in alternation alone, and with `regreen attach` and a dashboard whose page about the run is
//! fetched again at every change, as a browser does. Its agent prints for a fifth of a second per task, which is a
//! hundred times faster than a real one: so there are more events per second to watch. Other work on the machine can
//! only add to a time, so the shortest of several rounds counts.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use clap::Args;
use tempfile::TempDir;

use super::run_loop::{Doing as _, LoopError};
use crate::repository::Product;

/// The promise.
const MAX_PERCENT: f64 = 2.0;
const AGENT: &str = "cat >/dev/null\nfor n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do echo line $n; sleep 0.01; done\necho TASK_COMPLETE\n";

#[derive(Clone, Debug, Args)]
pub(crate) struct Arguments {
    /// Number of tasks to run.
    #[arg(long, default_value_t = 25, value_name = "N")]
    tasks: usize,
    /// Number of rounds.
    #[arg(long, default_value_t = 5, value_name = "N")]
    rounds: usize,
    #[command(flatten)]
    product: Product,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let program = match arguments.product.program() {
        Ok(program) => program,
        Err(code) => return code,
    };
    match compare(arguments, &program) {
        Ok(percent) if percent < MAX_PERCENT => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns by how many percent a run is slower when it is watched.
fn compare(arguments: &Arguments, program: &Path) -> Result<f64, LoopError> {
    let mut best = [Duration::MAX; 2];
    for round in 0..arguments.rounds {
        for is_watched in [round % 2 == 0, round % 2 != 0] {
            let took = Project::new(program, arguments.tasks)?.time(is_watched)?;
            let who = if is_watched { "watched" } else { "alone" };
            println!("{who:>8}  {:.3} s", took.as_secs_f64());
            let best = &mut best[usize::from(is_watched)];
            *best = took.min(*best);
        }
    }
    let [alone, watched] = best.map(|best| best.as_secs_f64());
    let percent = (watched / alone - 1.0) * 100.0;
    println!(
        "{} tasks: {alone:.3} s alone, {watched:.3} s with a dashboard and `regreen attach`: {percent:+.2} % (promised: less than {MAX_PERCENT} %)",
        arguments.tasks
    );
    Ok(percent)
}

struct Project {
    folder: TempDir,
    program: PathBuf,
}

impl Project {
    fn new(program: &Path, tasks: usize) -> Result<Self, LoopError> {
        let folder = tempfile::tempdir().doing("make a folder")?;
        let spec = folder.path().join("project/specs/watched");
        fs::create_dir_all(&spec).doing("make a folder")?;
        let rows: String = (1..=tasks)
            .map(|n| format!("- [ ] 1.{n} Task {n}\n  - **Verify**: `true`\n"))
            .collect();
        fs::write(spec.join("tasks.md"), rows).doing("write a plan")?;
        fs::write(folder.path().join("agent.sh"), AGENT).doing("write an agent")?;
        Ok(Self {
            folder,
            program: program.to_owned(),
        })
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let home = self.folder.path();
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .current_dir(home.join("project"))
            .env("HOME", home)
            .env("XDG_STATE_HOME", home.join("state"))
            .env_remove("XDG_CONFIG_HOME")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// Runs the plan, and returns how long that takes.
    fn time(&self, is_watched: bool) -> Result<Duration, LoopError> {
        let agent = format!(
            "command:sh {}",
            self.folder.path().join("agent.sh").display()
        );
        let mut watchers = Vec::new();
        if is_watched {
            watchers.push(self.serve()?);
        }
        let began = Instant::now();
        let mut run = self.command(&["run", "--agent", &agent]);
        let mut run = run.spawn().doing("start a run")?;
        if is_watched {
            // It needs a run to attach to.
            while !self
                .folder
                .path()
                .join("project/.regreen/regreen.db")
                .exists()
            {
                thread::sleep(Duration::from_millis(5));
            }
            let attach = self.command(&["attach"]).spawn().doing("attach")?;
            watchers.push(attach);
        }
        let status = run.wait().doing("wait for a run")?;
        let took = began.elapsed();
        for mut watcher in watchers {
            let _ = watcher.kill();
            let _ = watcher.wait();
        }
        if status.success() {
            Ok(took)
        } else {
            Err(LoopError::Failed(format!("the run: {status}")))
        }
    }

    /// Serves the dashboard to a browser.
    fn serve(&self) -> Result<Child, LoopError> {
        let mut serve = self.command(&["serve", "--port", "0"]);
        let mut child = serve.stderr(Stdio::piped()).spawn().doing("serve")?;
        let no_address = || LoopError::Failed("regreen serve".to_owned());
        let output = child.stderr.take().ok_or_else(no_address)?;
        let mut lines = BufReader::new(output).lines();
        let address = lines.find_map(|line| line.ok().filter(|line| line.starts_with("http")));
        let address = address.ok_or_else(no_address)?;
        let (host, path) = address
            .trim_start_matches("http://")
            .split_once('/')
            .ok_or_else(no_address)?;
        let browser = Browser {
            host: host.to_owned(),
            cookie: String::new(),
        };
        let path = format!("/{path}");
        thread::spawn(move || browser.watch(&path));
        Ok(child)
    }
}

/// Fetches pages as a browser does.
struct Browser {
    host: String,
    cookie: String,
}

impl Browser {
    /// Logs in, and fetches the page about the run at every change, until the server is gone.
    fn watch(mut self, login: &str) -> std::io::Result<()> {
        let answer = self.page(login)?;
        let cookie = answer.split_once("set-cookie: ").map(|(_, rest)| rest);
        let cookie = cookie.and_then(|rest| rest.split(';').next());
        self.cookie = cookie.unwrap_or_default().to_owned();
        let mut page = "/".to_owned();
        for line in BufReader::new(self.ask("/changes")?).lines() {
            if !line?.starts_with("data:") {
                continue;
            }
            let answer = self.page(&page)?;
            if page == "/" {
                let link = answer
                    .split("href=\"")
                    .find(|rest| rest.starts_with("/runs/"));
                let link = link.and_then(|rest| rest.split('"').next());
                page = link.unwrap_or("/").to_owned();
            }
        }
        Ok(())
    }

    fn ask(&self, path: &str) -> std::io::Result<TcpStream> {
        let mut stream = TcpStream::connect(&self.host)?;
        let (host, cookie) = (&self.host, &self.cookie);
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n"
        )?;
        Ok(stream)
    }

    fn page(&self, path: &str) -> std::io::Result<String> {
        let mut answer = String::new();
        self.ask(path)?.read_to_string(&mut answer)?;
        Ok(answer)
    }
}
