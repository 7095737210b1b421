//! A fake of GitHub's REST API, over a unix socket for the real gh, and a port for its stand-in.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

use serde_json::{Value, json};

/// The commit that is looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// It is the head of the base branch.
    pub(crate) is_base: bool,
    /// 0 for the first commit of the branch that was asked about.
    pub(crate) push: usize,
    /// How often its checks were asked for before.
    pub(crate) polls: usize,
    /// How often it ran again.
    pub(crate) reruns: u64,
}

/// A check, with the log of its job.
#[derive(Clone, Debug)]
pub(crate) struct FakeCheck {
    name: String,
    /// A conclusion, or `in_progress`.
    state: &'static str,
    log: String,
}

pub(crate) fn check(name: &str, state: &'static str) -> FakeCheck {
    FakeCheck {
        name: name.to_owned(),
        state,
        log: "all is well\n".to_owned(),
    }
}

pub(crate) fn failed(name: &str, log: &str) -> FakeCheck {
    FakeCheck {
        log: log.to_owned(),
        ..check(name, "failure")
    }
}

type Script = dyn Fn(Look) -> Vec<FakeCheck> + Send + Sync;

struct World {
    remote: PathBuf,
    script: Box<Script>,
    /// The commits of the branch, in the order in which they were asked about.
    pushes: Vec<String>,
    polls: BTreeMap<String, usize>,
    reruns: BTreeMap<String, u64>,
    logs: BTreeMap<u64, String>,
    is_open: bool,
    /// So many requests are answered with an error of the server.
    broken_answers: u32,
    requests: Vec<String>,
}

/// The fake, which answers as long as it lives.
pub(crate) struct GitHub {
    folder: tempfile::TempDir,
    world: Arc<Mutex<World>>,
}

/// Whether to use the real gh.
pub(crate) fn is_real() -> bool {
    std::env::var_os("REGREEN_TEST_GH").is_some()
}

impl GitHub {
    /// Plays GitHub for a bare repository.
    pub(crate) fn new(
        remote: &Path,
        script: impl Fn(Look) -> Vec<FakeCheck> + Send + Sync + 'static,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let world = Arc::new(Mutex::new(World {
            remote: remote.to_owned(),
            script: Box::new(script),
            pushes: Vec::new(),
            polls: BTreeMap::new(),
            reruns: BTreeMap::new(),
            logs: BTreeMap::new(),
            is_open: false,
            broken_answers: 0,
            requests: Vec::new(),
        }));
        let socket = folder.path().join("socket");
        let unix = UnixListener::bind(&socket).unwrap();
        let tcp = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = tcp.local_addr().unwrap().port();
        let of_socket = Arc::clone(&world);
        thread::spawn(move || {
            for stream in unix.incoming().map_while(Result::ok) {
                let world = Arc::clone(&of_socket);
                thread::spawn(move || answer(&stream, &stream, &world));
            }
        });
        let of_port = Arc::clone(&world);
        thread::spawn(move || {
            for stream in tcp.incoming().map_while(Result::ok) {
                let world = Arc::clone(&of_port);
                thread::spawn(move || answer(&stream, &stream, &world));
            }
        });
        let config = format!("http_unix_socket: {}\n", socket.display());
        fs::write(folder.path().join("config.yml"), config).unwrap();
        if !is_real() {
            let program = folder.path().join("bin/gh");
            fs::create_dir(folder.path().join("bin")).unwrap();
            let script = include_str!("stand_in.sh").replace("@PORT@", &port.to_string());
            fs::write(&program, script).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self { folder, world }
    }

    /// Lets a command find gh, and gh the fake.
    pub(crate) fn reached_by<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        let path = std::env::var("PATH").unwrap();
        let path = format!("{}/bin:{path}", self.folder.path().display());
        command
            .env("PATH", path)
            .env("GH_CONFIG_DIR", self.folder.path())
            .env("GH_TOKEN", "fake-token-of-the-tests")
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap()
    }

    /// Returns how often something was asked for, such as `POST /repos/ann/cart/pulls`.
    pub(crate) fn count(&self, beginning: &str) -> usize {
        let world = self.world();
        let found = world
            .requests
            .iter()
            .filter(|one| one.starts_with(beginning));
        found.count()
    }

    /// Whether all of these were answered.
    pub(crate) fn is_mended(&self) -> bool {
        self.world().broken_answers == 0
    }

    /// Answers so many requests with an error of the server.
    pub(crate) fn breaks(&self, answers: u32) {
        self.world().broken_answers = answers;
    }
}

fn answer(input: impl Read, mut output: impl Write, world: &Mutex<World>) {
    let mut input = BufReader::new(input);
    let mut first = String::new();
    let mut length = 0;
    let mut is_chunked = false;
    if input.read_line(&mut first).is_err() || first.is_empty() {
        return;
    }
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).unwrap_or(0) <= 2 {
            break;
        }
        let line = line.trim().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.parse().unwrap();
        }
        is_chunked |= line == "transfer-encoding: chunked";
    }
    let mut body = vec![0; length];
    let _ = input.read_exact(&mut body);
    if is_chunked {
        body = read_chunks(&mut input);
    }
    let mut words = first.split(' ');
    let (method, path) = (words.next().unwrap(), words.next().unwrap());
    let reply = world.lock().unwrap().reply(method, path, &body);
    let (status, more, text) = reply;
    let _ = write!(
        output,
        "HTTP/1.1 {status} X\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: {}\r\n{more}Connection: close\r\n\r\n{text}",
        text.len()
    );
}

fn read_chunks(input: &mut impl std::io::BufRead) -> Vec<u8> {
    let mut all = Vec::new();
    loop {
        let mut size = String::new();
        input.read_line(&mut size).unwrap();
        let size = usize::from_str_radix(size.trim(), 16).unwrap();
        let mut chunk = vec![0; size + 2];
        input.read_exact(&mut chunk).unwrap();
        if size == 0 {
            return all;
        }
        all.extend_from_slice(&chunk[..size]);
    }
}

type Reply = (u16, String, String);

fn ok(value: &Value) -> Reply {
    (200, String::new(), value.to_string())
}

fn error(status: u16, message: &str) -> Reply {
    (
        status,
        String::new(),
        format!("{{\"message\":\"{message}\"}}"),
    )
}

impl World {
    fn reply(&mut self, method: &str, path: &str, body: &[u8]) -> Reply {
        self.requests.push(format!("{method} {path}"));
        if self.broken_answers > 0 {
            self.broken_answers -= 1;
            return error(502, "Bad Gateway");
        }
        if let Some(id) = path.strip_prefix("/logs/") {
            let log = self.logs.get(&id.parse().unwrap()).cloned();
            return (200, String::new(), log.unwrap_or_default());
        }
        let Some(path) = path.strip_prefix("/repos/ann/cart") else {
            return error(404, "Not Found");
        };
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        match (method, &parts[..]) {
            ("GET", [""]) => ok(&json!({"default_branch": "main"})),
            ("GET", ["pulls"]) => {
                let all = if self.is_open {
                    json!([{"number": 7}])
                } else {
                    json!([])
                };
                ok(&all)
            }
            ("POST", ["pulls"]) => {
                let sent: Value = serde_json::from_slice(body).unwrap();
                assert_eq!(sent["head"], "ann:feature");
                assert_eq!(sent["base"], "main");
                self.is_open = true;
                let pull = self.pull_request();
                (201, String::new(), pull.to_string())
            }
            ("GET", ["pulls", "7"]) => ok(&self.pull_request()),
            ("GET", ["branches", "main"]) => {
                let sha = self.head("main");
                ok(
                    &json!({"commit": {"sha": sha}, "protection": {"enabled": false,
                    "required_status_checks": {"contexts": [], "checks": []}}}),
                )
            }
            ("GET", ["rules", "branches", "main"]) => ok(&json!([])),
            ("GET", ["commits", sha, "check-runs"]) => self.check_runs(sha),
            ("GET", ["commits", _, "status"]) => {
                ok(&json!({"state": "pending", "total_count": 0, "statuses": []}))
            }
            ("GET", ["actions", "runs"]) => self.workflow_runs(path_query(query)),
            ("GET", ["actions", "jobs", id, "logs"]) => {
                let location = format!("Location: https://results.example/logs/{id}\r\n");
                (302, location, String::new())
            }
            ("GET", ["actions", "jobs", id]) => {
                let id: u64 = id.parse().unwrap();
                ok(&json!({"id": id, "steps": [
                    {"name": "Set up job", "conclusion": "success"},
                    {"name": "Run the tests", "conclusion": "failure"},
                ]}))
            }
            ("POST", ["actions", "runs", id, "rerun-failed-jobs"]) => {
                let at: usize = id.parse().unwrap();
                let sha = self.pushes[at - 100].clone();
                *self.reruns.entry(sha).or_default() += 1;
                (201, String::new(), "{}".to_owned())
            }
            _ => error(404, "Not Found"),
        }
    }

    fn head(&self, branch: &str) -> String {
        let mut git = Command::new("git");
        let name = format!("refs/heads/{branch}");
        let output = git
            .arg("-C")
            .arg(&self.remote)
            .args(["rev-parse", &name])
            .output();
        String::from_utf8(output.unwrap().stdout)
            .unwrap()
            .trim()
            .to_owned()
    }

    fn pull_request(&self) -> Value {
        let mut git = Command::new("git");
        let merge =
            git.arg("-C")
                .arg(&self.remote)
                .args(["merge-tree", "--write-tree", "main", "feature"]);
        let is_clean = merge.output().unwrap().status.success();
        json!({
            "number": 7, "state": "open", "merged": false, "draft": false,
            "head": {"sha": self.head("feature"), "ref": "feature"},
            "base": {"ref": "main"},
            "mergeable": is_clean,
            "mergeable_state": if is_clean { "clean" } else { "dirty" },
            "html_url": "https://github.com/ann/cart/pull/7",
        })
    }

    /// Returns the number of a commit; 99 for that of the base branch.
    fn number(&mut self, sha: &str) -> u64 {
        if sha == self.head("main") {
            return 99;
        }
        if !self.pushes.iter().any(|known| known == sha) {
            self.pushes.push(sha.to_owned());
        }
        let at = self.pushes.iter().position(|known| known == sha).unwrap();
        100 + at as u64
    }

    fn look(&mut self, sha: &str) -> (u64, Vec<FakeCheck>) {
        let number = self.number(sha);
        let look = Look {
            is_base: number == 99,
            push: usize::try_from(number.saturating_sub(100)).unwrap(),
            polls: self.polls.get(sha).copied().unwrap_or(0),
            reruns: self.reruns.get(sha).copied().unwrap_or(0),
        };
        (number, (self.script)(look))
    }

    fn check_runs(&mut self, sha: &str) -> Reply {
        let (number, checks) = self.look(sha);
        *self.polls.entry(sha.to_owned()).or_default() += 1;
        let reruns = self.reruns.get(sha).copied().unwrap_or(0);
        let mut runs = Vec::new();
        for (at, check) in (0_u64..).zip(&checks) {
            let id = number * 10_000 + reruns * 100 + at;
            self.logs.insert(id, check.log.clone());
            let is_running = check.state == "in_progress";
            runs.push(json!({
                "id": id, "name": check.name,
                "status": if is_running { "in_progress" } else { "completed" },
                "conclusion": if is_running { Value::Null } else { check.state.into() },
                "html_url": format!("https://github.com/ann/cart/actions/runs/{number}/job/{id}"),
                "output": {"title": null, "summary": null},
                "app": {"slug": "github-actions"},
                "check_suite": {"id": number},
            }));
        }
        ok(&json!({"total_count": runs.len(), "check_runs": runs}))
    }

    fn workflow_runs(&mut self, sha: &str) -> Reply {
        let (number, checks) = self.look(sha);
        if checks.is_empty() {
            return ok(&json!({"total_count": 0, "workflow_runs": []}));
        }
        let is_running = checks.iter().any(|check| check.state == "in_progress");
        let is_green = checks.iter().all(|check| check.state == "success");
        let conclusion = if is_green { "success" } else { "failure" };
        let reruns = self.reruns.get(sha).copied().unwrap_or(0);
        ok(&json!({"total_count": 1, "workflow_runs": [{
            "id": number, "name": "CI", "workflow_id": 1, "event": "push",
            "status": if is_running { "in_progress" } else { "completed" },
            "conclusion": if is_running { Value::Null } else { conclusion.into() },
            "check_suite_id": number, "run_attempt": reruns + 1,
        }]}))
    }
}

/// Returns the commit of `head_sha=…&per_page=…`.
fn path_query(query: &str) -> &str {
    let query = query.strip_prefix("head_sha=").unwrap_or(query);
    query.split('&').next().unwrap_or_default()
}
