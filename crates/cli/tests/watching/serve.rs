//! `regreen serve`, over loopback.
#![cfg(target_os = "linux")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Stdio};
use std::time::Duration;

use regreen_test_support::{Workspace, send_signal, wait_until};

use super::questions::asked;
use super::{go, patient};

/// A dashboard that is being served, for one browser.
struct Served {
    child: Child,
    port: u16,
    cookie: String,
}

impl Served {
    fn start(workspace: &Workspace, flags: &[&str]) -> Self {
        let arguments = [&["serve", "--port", "0"], flags].concat();
        let mut child = workspace
            .command(&arguments)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = lines.find_map(|line| line.ok().filter(|line| line.starts_with("http")));
        let address = address.unwrap();
        let (_, rest) = address.split_once("127.0.0.1:").unwrap();
        let (port, path) = rest.split_once('/').unwrap();
        let mut served = Self {
            child,
            port: port.parse().unwrap(),
            cookie: String::new(),
        };
        let login = served.ask(&format!("GET /{path}"), "", "");
        let (_, cookie) = login.split_once("set-cookie: ").unwrap();
        served.cookie = cookie.split(';').next().unwrap().to_owned();
        served
    }

    /// Sends a request, and returns the whole answer.
    fn ask(&self, what: &str, headers: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        let (port, cookie, length) = (self.port, &self.cookie, body.len());
        write!(
            stream,
            "{what} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: {cookie}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn page(&self, path: &str) -> String {
        self.ask(&format!("GET {path}"), "", "")
    }

    /// Returns the address of the only run.
    fn run(&self) -> String {
        first(&self.page("/"), "href=\"", "\"", "/runs/")
    }

    fn form_token(&self) -> String {
        let page = self.page(&self.run());
        first(&page, "name=\"token\" value=\"", "\"", "")
    }

    fn act(&self, form: &str) -> String {
        let (run, token) = (self.run(), self.form_token());
        let run = run.split("/tasks").next().unwrap();
        let origin = format!("Origin: http://127.0.0.1:{}\r\n", self.port);
        let body = format!("token={token}&{form}");
        self.ask(&format!("POST {run}/act"), &origin, &body)
    }

    /// Waits until a page says this.
    fn shows(&self, path: &str, text: &str) -> String {
        wait_until(|| self.page(path).contains(text));
        self.page(path)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Returns the first text between two others that begins like this.
fn first(page: &str, before: &str, after: &str, begins: &str) -> String {
    let mut texts = page
        .split(before)
        .skip(1)
        .filter_map(|rest| rest.split(after).next());
    texts
        .find(|text| text.starts_with(begins))
        .unwrap()
        .to_owned()
}

#[test]
fn a_run_is_watched_and_stopped_from_a_browser() {
    let workspace = patient();
    let run = workspace.start(&[], "working");
    let served = Served::start(&workspace, &[]);
    let page = served.page(&served.run());
    assert!(
        page.contains("running") && page.contains("1.1 First"),
        "{page}"
    );
    let log = format!("{}/tasks/1%2E1/0/attempts/1/log", served.run());
    assert!(served.page(&log).contains("at it"));
    let answer = served.act("action=stop-after-task");
    assert!(answer.starts_with("HTTP/1.1 303"), "{answer}");
    go(&workspace);
    run.wait().exits(143);
    served.shows("/", "1 of 2 tasks done");
}

#[test]
fn a_question_is_answered_from_a_browser_with_the_code_of_the_command() {
    let workspace = asked();
    let served = Served::start(&workspace, &[]);
    served.shows("/", "badge question");
    let answer = served.act("action=answer&task=1.1&occurrence=0&choice=retry");
    assert!(answer.starts_with("HTTP/1.1 303"), "{answer}");
    assert!(served.page("/").contains("Nothing needs you."));
}

#[test]
fn an_agent_that_finds_the_token_can_not_answer_its_own_question() {
    let workspace = asked();
    let served = Served::start(&workspace, &[]);
    let (run, token) = (served.run(), served.form_token());
    let run = run.split("/tasks").next().unwrap();
    let body = format!("token={token}&action=answer&task=1.1&occurrence=0&choice=done");
    // What bash has of a web client.
    let request = format!(
        "exec 3<>/dev/tcp/127.0.0.1/{port}; printf 'POST {run}/act HTTP/1.1\\r\\nHost: 127.0.0.1:{port}\\r\\nOrigin: http://127.0.0.1:{port}\\r\\nCookie: {cookie}\\r\\nContent-Length: {length}\\r\\nConnection: close\\r\\n\\r\\n{body}' >&3; head -1 <&3",
        port = served.port,
        cookie = served.cookie,
        length = body.len(),
    );
    let attack = workspace.path("attack.sh");
    std::fs::write(&attack, &request).unwrap();
    let agent = format!(
        "bash {} > {}",
        attack.display(),
        workspace.note_path("answer").display()
    );
    let other = Workspace::with_tasks("- [ ] 1.1 Attack\n")
        .agent(&format!("*) {agent}; echo TASK_COMPLETE ;;"));
    other.run(&[]);
    let answer = workspace.note("answer");
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    assert!(workspace.text("specs/demo/tasks.md").contains("- [ ] 1.1"));
    // The same from a person's shell.
    let answer = std::process::Command::new("bash")
        .arg(&attack)
        .output()
        .unwrap();
    let answer = String::from_utf8(answer.stdout).unwrap();
    assert!(answer.starts_with("HTTP/1.1 303"), "{answer}");
}

#[test]
fn the_address_is_the_users_alone() {
    let workspace = patient();
    let served = Served::start(&workspace, &["--read-only"]);
    let folder = workspace.outside().join("state/regreen/dashboards");
    let record = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap();
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&record.path()), 0o600);
    assert_eq!(mode(&folder), 0o700);
    let listening = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let on =
        |host: &str| listening.contains(&format!("{host}:{:04X} 00000000:0000 0A", served.port));
    assert!(on("0100007F") && !on("00000000"), "{listening}");
}

#[test]
fn killing_the_dashboard_changes_nothing_and_the_death_of_a_run_is_seen() {
    let workspace = patient();
    let run = workspace.start(&[], "working");
    let first = Served::start(&workspace, &[]);
    assert!(first.page("/").contains("running"));
    drop(first);
    let served = Served::start(&workspace, &[]);
    assert!(send_signal("KILL", run.pid()));
    let _ = run.wait();
    // The page is made anew each time; that browsers are told in time is for `cargo xtask browser`.
    served.shows("/", "killed; `regreen run` resumes it");
}

#[test]
fn an_agent_can_not_serve_a_dashboard_that_decides() {
    let workspace = patient();
    workspace
        .command(&["serve", "--port", "0"])
        .env("REGREEN_KEEPER", "1")
        .output()
        .map(|output| workspace.output(&output))
        .unwrap()
        .exits(2)
        .mentions("decides for a person");
}
