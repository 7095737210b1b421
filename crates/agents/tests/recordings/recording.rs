use std::fs;
use std::path::{Path, PathBuf};

use regreen_agents::{Agent, Assignment, Decoder, Known, Options, Stream};
use regreen_model::{AgentEvent, Ending, PromptKind, TaskId};
use serde_json::Value;

/// All that an agent printed once, in order, and how it ended.
pub(crate) struct Recording {
    pub(crate) name: String,
    pub(crate) known: Known,
    pub(crate) lines: Vec<(Stream, String)>,
    pub(crate) ending: Ending,
    resumes: bool,
}

pub(crate) fn all() -> Vec<Recording> {
    let known = Known::ALL.into_iter();
    let mut all: Vec<Recording> = known
        .flat_map(|known| {
            let files = fs::read_dir(folder().join(known.name())).unwrap();
            files.map(move |file| read(known, &file.unwrap().path()))
        })
        .collect();
    all.sort_by(|one, other| one.name.cmp(&other.name));
    all
}

pub(crate) fn found(known: Known, case: &str) -> Recording {
    let file = format!("{case}.jsonl");
    read(known, &folder().join(known.name()).join(file))
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/recordings")
}

fn read(known: Known, path: &Path) -> Recording {
    let case = path.file_stem().unwrap().to_str().unwrap();
    let mut lines = Vec::new();
    let mut ending = Ending::default();
    for line in fs::read_to_string(path).unwrap().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| line.get(key).and_then(Value::as_str).map(str::to_owned);
        match (text("out"), text("err")) {
            (Some(out), _) => lines.push((Stream::Out, out)),
            (_, Some(err)) => lines.push((Stream::Err, err)),
            _ => ending = ended(&line["exit"]),
        }
    }
    Recording {
        name: format!("{}/{case}", known.name()),
        known,
        lines,
        ending,
        resumes: case == "lost_session",
    }
}

/// Who did not end by itself was killed.
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
            session: self.resumes.then_some("a-session"),
            prompt: "Do it",
            kind: PromptKind::First,
            steps: &[],
        };
        Agent::Known(self.known, Options::default()).decoder(&assignment)
    }

    pub(crate) fn events(&self) -> Vec<AgentEvent> {
        let mut decoder = self.decoder();
        let mut events = Vec::new();
        for (stream, line) in &self.lines {
            events.extend(decoder.on_line(*stream, line.as_bytes()).events);
        }
        events.extend(decoder.on_end(&self.ending));
        events
    }
}
