//! Records the output of agents, for the tests of their decoders.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc;
use std::{fs, thread};

use regex::{Captures, Regex};
use regreen_agents::{Agent, AgentChoice, AgentOptions, Assignment, Reply, StdinContent, Stream};
use regreen_model::{PromptKind, TaskId};
use serde_json::json;

use super::agents::Candidate;
use super::agents::{self, Sandbox};
use super::model_server::ModelServer;
use super::scenarios::Case;

/// An agent that has not exited by then is killed, and the recording ends in the middle.
const SECONDS: &str = "30";
const PROMPT: &str = "Do task 1.1: create out.txt";
/// The exit code of GNU `timeout` after a kill.
const KILLED: i32 = 137;

/// Runs an agent once and records everything said, in order.
pub(crate) fn record(
    candidate: Candidate,
    case: Case,
    bin: &Path,
    folder: &Path,
) -> io::Result<()> {
    let cli = candidate.cli;
    let place_folder = tempfile::tempdir()?;
    let mut sandbox = Sandbox::make(place_folder.path())?;
    let server = ModelServer::start(cli, sandbox.work.clone(), case.replies(cli))?;
    sandbox.prepare(cli, bin, server.port)?;
    let scrub = Scrub::new(&sandbox, bin, server.port);
    let mut text = String::new();
    let code = converse(candidate, case, &sandbox, |from, line| {
        text += &json!({from: scrub.line(line)}).to_string();
        text.push('\n');
    })?;
    text += &json!({"exit": code}).to_string();
    text.push('\n');
    let text = scrub.ids(&text);
    let folder = folder.join(candidate.name());
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(format!("{}.jsonl", case.name())), text)
}

/// Calls the agent and answers it as regreen does. Returns its exit code, if it exited on its own.
fn converse(
    candidate: Candidate,
    case: Case,
    sandbox: &Sandbox,
    mut note: impl FnMut(&'static str, &str),
) -> io::Result<Option<i32>> {
    let agent = agent(candidate)?;
    let id = TaskId::parse("1.1").ok_or_else(|| io::Error::other("an id"))?;
    let assignment = Assignment {
        task_id: id.as_str(),
        title: "Write it",
        attempt: 1,
        spec_dir: "specs/demo",
        root: &sandbox.work.display().to_string(),
        session: case.session(candidate.cli),
        prompt: PROMPT,
        kind: PromptKind::First,
        steps: &[],
    };
    let invocation = agent.invocation(&assignment);
    let mut decoder = agent.decoder(&assignment);
    let mut child = Command::new("timeout")
        .args(["-s", "KILL", SECONDS])
        .args(&invocation.argv)
        .current_dir(&sandbox.work)
        .env_clear()
        .envs(
            sandbox
                .environment
                .iter()
                .map(|(name, value)| (name, value)),
        )
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let (sender, lines) = mpsc::channel();
    listen("out", child.stdout.take(), sender.clone());
    listen("err", child.stderr.take(), sender);
    let mut stdin = child.stdin.take();
    if let StdinContent::Text(prompt) = &invocation.stdin {
        stdin
            .take()
            .map(|mut stdin| stdin.write_all(prompt.as_bytes()));
    }
    say(stdin.as_mut(), &decoder.on_start(), &mut note);
    for (from, line) in lines {
        let stream = if from == "out" {
            Stream::Out
        } else {
            Stream::Err
        };
        note(from, &line);
        say(
            stdin.as_mut(),
            &decoder.on_line(stream, line.as_bytes()),
            &mut note,
        );
        if decoder.is_done() {
            stdin = None;
        }
    }
    Ok(child.wait()?.code().filter(|code| *code != KILLED))
}

fn say(
    mut stdin: Option<&mut ChildStdin>,
    reply: &Reply,
    note: &mut impl FnMut(&'static str, &str),
) {
    for line in &reply.write {
        if let Some(stdin) = &mut stdin {
            // The client may be gone.
            let _ = writeln!(stdin, "{line}");
        }
        note("in", line);
    }
}

fn agent(candidate: Candidate) -> io::Result<Agent> {
    let options = AgentOptions {
        model: agents::model(candidate.cli).map(str::to_owned),
        ..AgentOptions::default()
    };
    let name = match candidate.over_acp {
        true => format!("acp:{}", candidate.acp_line()),
        false => candidate.cli.name().to_owned(),
    };
    match name.parse() {
        Ok(AgentChoice::CodingAgent(known)) => Ok(Agent::CodingAgent(known, options)),
        Ok(AgentChoice::Acp(line)) => Ok(Agent::Acp(line, AgentOptions::default())),
        _ => Err(io::Error::other("regreen does not know this agent")),
    }
}

fn listen(
    name: &'static str,
    stream: Option<impl Read + Send + 'static>,
    sender: mpsc::Sender<(&'static str, String)>,
) {
    let Some(stream) = stream else { return };
    thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            // Once the recording is written, nothing reads any more.
            let _ = sender.send((name, line));
        }
    });
}

/// Removes everything specific to this machine and moment.
struct Scrub {
    places: Vec<(String, &'static str)>,
    patterns: Vec<(Regex, &'static str)>,
}

impl Scrub {
    fn new(sandbox: &Sandbox, bin: &Path, port: u16) -> Self {
        let cli = bin.parent().unwrap_or(bin).join("cli/node_modules");
        let shown = |path: &Path| path.display().to_string();
        let pattern = |pattern: &str, with: &'static str| Some((Regex::new(pattern).ok()?, with));
        let patterns = [
            pattern(
                r"\d{4}-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d[.-]\d+Z",
                "2026-01-01T00:00:00.000Z",
            ),
            pattern(r"\b17\d{11}\b", "1700000000000"),
            pattern(
                r#""((?:duration|ttft|time_to|first_content)\w*_ms)":\d+"#,
                r#""$1":1"#,
            ),
            pattern(r#""retry_delay_ms":\d+"#, r#""retry_delay_ms":500"#),
            pattern(r"run=[0-9a-f]{8}", "run=00000000"),
            pattern(
                r"/tmp/gemini-client-error[^ ]*",
                "/tmp/gemini-client-error.json",
            ),
        ];
        Self {
            places: vec![
                (shown(&sandbox.work), "/project"),
                // As seen from the root.
                (
                    shown(sandbox.work.strip_prefix("/").unwrap_or(&sandbox.work)),
                    "project",
                ),
                (shown(&sandbox.home), "/homes/user"),
                (shown(&cli), "/cli"),
                (format!("127.0.0.1:{port}"), "127.0.0.1:1"),
                // A folder inside opencode's program that looks like one on the machine.
                (format!("/$bunfs/{}/", "root"), "/$bunfs/"),
            ],
            patterns: patterns.into_iter().flatten().collect(),
        }
    }

    fn line(&self, line: &str) -> String {
        let mut line = line.to_owned();
        for (sandbox, with) in &self.places {
            line = line.replace(sandbox, with);
        }
        for (pattern, with) in &self.patterns {
            line = pattern.replace_all(&line, *with).into_owned();
        }
        line
    }

    /// Replaces ids by the order in which they appear.
    fn ids(&self, text: &str) -> String {
        let Ok(id) = Regex::new(
            r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b(?:ses|prt|msg)_[0-9A-Za-z]{26}\b",
        ) else {
            return text.to_owned();
        };
        let mut seen: Vec<String> = Vec::new();
        let named = |found: &Captures<'_>| {
            let found = found[0].to_owned();
            let at = seen.iter().position(|id| *id == found).unwrap_or_else(|| {
                seen.push(found.clone());
                seen.len() - 1
            });
            match found.split_once('_') {
                Some((kind, _)) => format!("{kind}_{at:026}"),
                None => format!("00000000-0000-4000-8000-{at:012}"),
            }
        };
        id.replace_all(text, named).into_owned()
    }
}
