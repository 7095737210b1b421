use std::fs;
use std::path::{Path, PathBuf};

use regreen_agents::{Agent, AgentChoice, AgentOptions, Assignment, CodingAgent, Decoder, Stream};
use regreen_model::{AgentEvent, Ending, PromptKind, TaskId};
use serde_json::Value;

/// Everything that an agent printed in one run, in order, and how it ended.
pub(crate) struct Recording {
    pub(crate) name: String,
    agent: Agent,
    pub(crate) lines: Vec<(Stream, String)>,
    /// The lines written to it, if it has a protocol: each after this many lines of its own.
    pub(crate) told: Vec<(usize, String)>,
    pub(crate) ending: Ending,
    session: Option<&'static str>,
}

/// Every agent with recordings, by the name of the folder.
pub(crate) fn agents() -> Vec<&'static str> {
    let known = CodingAgent::ALL.iter().map(|known| known.name());
    known.chain(["acp_gemini", "acp_opencode"]).collect()
}

pub(crate) fn all() -> Vec<Recording> {
    let mut all = Vec::new();
    for agent in agents() {
        let files = fs::read_dir(folder().join(agent)).unwrap();
        all.extend(files.map(|file| read(agent, &file.unwrap().path())));
    }
    all.sort_by(|one, other| one.name.cmp(&other.name));
    all
}

pub(crate) fn found(agent: &str, case: &str) -> Recording {
    let file = format!("{case}.jsonl");
    read(agent, &folder().join(agent).join(file))
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/recordings")
}

fn agent(name: &str) -> Agent {
    let options = AgentOptions::default();
    match (CodingAgent::named(name), "acp:agent".parse()) {
        (Some(known), _) => Agent::CodingAgent(known, options),
        (None, Ok(AgentChoice::Acp(line))) => Agent::Acp(line, options),
        other => panic!("{name}: {other:?}"),
    }
}

fn read(name: &str, path: &Path) -> Recording {
    let case = path.file_stem().unwrap().to_str().unwrap();
    let (mut lines, mut told) = (Vec::new(), Vec::new());
    let mut ending = Ending::default();
    for line in fs::read_to_string(path).unwrap().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| line.get(key).and_then(Value::as_str).map(str::to_owned);
        match (text("out"), text("err"), text("in")) {
            (Some(out), _, _) => lines.push((Stream::Out, out)),
            (_, Some(err), _) => lines.push((Stream::Err, err)),
            (_, _, Some(line)) => told.push((lines.len(), line)),
            _ => ending = ended(&line["exit"]),
        }
    }
    Recording {
        name: format!("{name}/{case}"),
        agent: agent(name),
        lines,
        told,
        ending,
        session: session(name, case),
    }
}

/// Returns the session to resume.
fn session(agent: &str, case: &str) -> Option<&'static str> {
    let id = match agent {
        "acp_opencode" => "ses_00000000000000000000000000",
        _ => "00000000-0000-4000-8000-000000000000",
    };
    (case == "lost_session").then_some(id)
}

/// An agent that didn't end by itself was killed.
fn ended(code: &Value) -> Ending {
    let code = code.as_i64().map(|code| i32::try_from(code).unwrap());
    Ending {
        exit_code: code,
        signal: code.is_none().then_some(9),
        ..Ending::default()
    }
}

impl Recording {
    pub(crate) fn decoder(&self) -> Box<dyn Decoder> {
        let id = TaskId::parse("1.1").unwrap();
        let assignment = Assignment {
            task_id: id.as_str(),
            title: "Write it",
            attempt: 1,
            spec_dir: "specs/demo",
            root: "/project",
            session: self.session,
            prompt: "Do task 1.1: create out.txt",
            kind: PromptKind::First,
            steps: &[],
        };
        self.agent.decoder(&assignment)
    }

    /// Returns our lines, each after how many of the agent's.
    pub(crate) fn answers(&self) -> Vec<(usize, String)> {
        let mut decoder = self.decoder();
        let start = decoder.on_start().write;
        let mut answers: Vec<_> = start.into_iter().map(|line| (0, line)).collect();
        for (at, (stream, line)) in self.lines.iter().enumerate() {
            let reply = decoder.on_line(*stream, line.as_bytes());
            answers.extend(reply.write.into_iter().map(|line| (at + 1, line)));
        }
        answers
    }

    pub(crate) fn events(&self) -> Vec<AgentEvent> {
        let mut decoder = self.decoder();
        let _ = decoder.on_start();
        let mut events = Vec::new();
        for (stream, line) in &self.lines {
            events.extend(decoder.on_line(*stream, line.as_bytes()).events);
        }
        events.extend(decoder.on_end(&self.ending));
        events
    }
}
