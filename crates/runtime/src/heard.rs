use std::time::{Duration, Instant};

use regreen_agents::{Decoder, Reply, Stream as AgentStream};
use regreen_model::{AgentEvent, ApiTrouble, Ending, Usage};
use regreen_supervisor::{Handle, Stream};

use crate::audience::Audience;
use regreen_agents::Lines;
use crate::log_file::LogFile;
use crate::process::Sink;

/// What people are shown of an agent's work, at most so often.
const SHOW_EVERY: Duration = Duration::from_millis(100);
const SHOWN_BYTES: usize = 400;

/// What an agent let us see.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    pub(crate) final_message: String,
    pub(crate) session: Option<String>,
    pub(crate) tools: u32,
    /// The last word of the agent about its own service.
    pub(crate) trouble: Option<ApiTrouble>,
    pub(crate) usage: Option<Usage>,
}

impl Heard {
    fn note(&mut self, event: AgentEvent) {
        match event {
            AgentEvent::Session { id } => self.session = Some(id),
            AgentEvent::ToolStarted { .. } => self.tools += 1,
            AgentEvent::Usage(usage) => self.usage = Some(usage),
            AgentEvent::Trouble(trouble) => self.trouble = Some(trouble),
            AgentEvent::FinalMessage { text } => self.final_message = text,
            AgentEvent::Text { .. }
            | AgentEvent::ToolEnded { .. }
            | AgentEvent::FileEdited { .. }
            | AgentEvent::Question { .. }
            | AgentEvent::Terminal { .. } => {}
        }
    }
}

/// Listens to an agent: its output goes into the log, its lines to the decoder, the
/// decoder's answers back to it.
pub(crate) struct Listener<'a> {
    pub(crate) log: LogFile,
    decoder: Box<dyn Decoder>,
    lines: [Lines; 2],
    handle: Option<Handle>,
    heard: Heard,
    audience: &'a mut dyn Audience,
    shown: Option<Instant>,
}

impl<'a> Listener<'a> {
    pub(crate) fn new(
        log: LogFile,
        decoder: Box<dyn Decoder>,
        audience: &'a mut dyn Audience,
    ) -> Self {
        Self {
            log,
            decoder,
            lines: <[Lines; 2]>::default(),
            handle: None,
            heard: Heard::default(),
            audience,
            shown: None,
        }
    }

    /// The program has ended.
    pub(crate) fn finish(mut self, ending: &Ending) -> (Heard, LogFile) {
        for (at, stream) in [AgentStream::Out, AgentStream::Err].into_iter().enumerate() {
            let mut last = Vec::new();
            self.lines[at].finish(|line| last = line.to_vec());
            if !last.is_empty() {
                let reply = self.decoder.on_line(stream, &last);
                self.follow(reply);
            }
        }
        for event in self.decoder.on_end(ending) {
            self.heard.note(event);
        }
        (self.heard, self.log)
    }

    fn follow(&mut self, reply: Reply) {
        for event in reply.events {
            if let AgentEvent::ToolStarted { name, .. } = &event {
                self.audience.activity(name);
            }
            self.heard.note(event);
        }
        let Some(handle) = &self.handle else { return };
        for line in reply.write {
            // A program that has closed its input has no use for answers.
            let _ = handle.write_line(&line);
        }
    }

    fn show(&mut self, line: &[u8]) {
        let is_due = |shown: Instant| shown.elapsed() >= SHOW_EVERY;
        if line.is_empty() || !self.shown.is_none_or(is_due) {
            return;
        }
        self.shown = Some(Instant::now());
        let beginning = line.get(..line.len().min(SHOWN_BYTES)).unwrap_or_default();
        self.audience.activity(&String::from_utf8_lossy(beginning));
    }
}

impl Sink for Listener<'_> {
    fn started(&mut self, handle: &Handle) {
        self.handle = Some(handle.clone());
        let reply = self.decoder.on_start();
        self.follow(reply);
    }

    fn take(&mut self, stream: Stream, bytes: &[u8]) -> bool {
        let (at, stream) = match stream {
            Stream::Stdout => (0, AgentStream::Out),
            Stream::Stderr => (1, AgentStream::Err),
        };
        let mut lines = std::mem::take(&mut self.lines[at]);
        lines.feed(bytes, |line| {
            let reply = self.decoder.on_line(stream, line);
            self.follow(reply);
            self.show(line);
        });
        self.lines[at] = lines;
        self.log.write(bytes)
    }
}
