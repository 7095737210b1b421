use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use regreen_agents::{Decoder, EarlyStop, Lines, OutputKind, Reply, Stream as AgentStream};
use regreen_diagnosis::Scanner;
use regreen_engine::Input;
use regreen_model::{AgentEvent, ApiTrouble, CommandSeq, Ending, Output, Source, ToolUse, Usage};
use regreen_supervisor::{EndReason, Handle, Stream};

use crate::chronicle::Chronicle;
use crate::echo::Echo;
use crate::log_file::LogFile;
use crate::process::Sink;
use crate::whole_file::replace_whole;

/// What people are shown of an agent's work, at most so often.
const SHOW_EVERY: Duration = Duration::from_millis(100);
const SHOWN_BYTES: usize = 400;
/// An agent that has said all may take so long to exit; some tidy up for seconds.
const EXIT_GRACE: Duration = Duration::from_secs(10);

/// What an agent let us see.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    pub(crate) final_message: String,
    /// The same without what it was told, which explains nothing.
    pub(crate) words: String,
    pub(crate) session: Option<String>,
    pub(crate) tools: ToolUse,
    /// What keeps it from its own service, if it has not got over it.
    pub(crate) trouble: Option<ApiTrouble>,
    pub(crate) usage: Option<Usage>,
    /// It has said, done or changed something.
    pub(crate) is_at_work: bool,
    /// The command that ended last, and how.
    pub(crate) last_tool: Option<(String, Option<i32>)>,
    /// What was printed, where that may be what commands print.
    pub(crate) output: Option<Output>,
    /// What its output is.
    pub(crate) prints: OutputKind,
    pub(crate) question: Option<Question>,
    /// It has come to its end by itself, and whether it takes that for a success.
    pub(crate) finished: Option<bool>,
}

/// What it would have a person answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) text: String,
    pub(crate) permission: bool,
}

impl Heard {
    pub(crate) fn note(&mut self, event: AgentEvent) {
        self.is_at_work |= matches!(
            event,
            AgentEvent::Text { .. }
                | AgentEvent::ToolStarted { .. }
                | AgentEvent::ToolEnded { .. }
                | AgentEvent::FileEdited { .. }
        );
        match event {
            AgentEvent::Session { id } => self.session = Some(id),
            AgentEvent::ToolStarted { name, .. } => {
                self.count_tool(name);
                self.trouble = None;
            }
            AgentEvent::Usage(usage) => self.usage = Some(usage),
            AgentEvent::Trouble(trouble) => self.trouble = Some(trouble),
            AgentEvent::FinalMessage { text } => self.final_message = text,
            AgentEvent::Question { text, permission } => {
                self.question = Some(Question { text, permission });
            }
            // Who has called its run a failure does not make it a success by another word.
            AgentEvent::Terminal { ok } => self.finished = Some(ok && self.finished != Some(false)),
            // Who works has got over it.
            AgentEvent::ToolEnded { name, ok, exit, .. } => {
                if ok {
                    self.tools.last_successful = Some(name.clone());
                }
                self.last_tool = Some((name, exit));
                self.trouble = None;
            }
            AgentEvent::Text { .. } | AgentEvent::FileEdited { .. } => self.trouble = None,
        }
    }

    /// Nobody needs more names than that.
    fn count_tool(&mut self, name: String) {
        const MOST_NAMES: usize = 64;
        let counts = &mut self.tools.counts;
        if counts.len() < MOST_NAMES || counts.contains_key(&name) {
            *counts.entry(name).or_default() += 1;
        }
    }
}

/// Whoever is told of an attempt while it is being made.
pub(crate) trait Told {
    /// What the agent is doing right now, in its own words.
    fn activity(&mut self, line: &str);

    /// What its session is called.
    fn session(&mut self, id: &str);
}

/// A run is told.
pub(crate) struct InRun<'a, 'c> {
    pub(crate) chronicle: &'a mut Chronicle<'c>,
    /// The command that the attempt answers.
    pub(crate) seq: CommandSeq,
}

impl Told for InRun<'_, '_> {
    fn activity(&mut self, line: &str) {
        self.chronicle.audience.activity(line);
    }

    /// Stored at once, for whoever goes on after a crash. Where that fails the end of the
    /// attempt cannot be stored either, and says so: no reason to end it now.
    fn session(&mut self, id: &str) {
        let (seq, session) = (self.seq, id.to_owned());
        let _ = self.chronicle.step(&Input::SessionSeen { seq, session });
    }
}

/// Listens to an agent: its output goes into the log, its lines to the decoder, the
/// decoder's answers back to it. Ends it when nothing more can come of it.
pub(crate) struct Listener<'a> {
    pub(crate) log: LogFile,
    decoder: Box<dyn Decoder>,
    early_stop: EarlyStop,
    lines: [Lines; 2],
    handle: Option<Handle>,
    heard: Heard,
    /// Reads along, where what is printed may be what commands print.
    scanner: Option<Scanner>,
    /// What it was told, and what it has not yet printed again of that.
    prompt: Echo,
    echo: Echo,
    told: &'a mut dyn Told,
    shown: Option<Instant>,
    /// Where what it has used up is kept, for whoever comes after a crash.
    usage_file: PathBuf,
    /// Runs since the agent has said all; ends the agent unless it is dropped before.
    grace: Option<Sender<()>>,
    is_hopeless: bool,
}

impl<'a> Listener<'a> {
    pub(crate) fn new(
        log: LogFile,
        decoder: Box<dyn Decoder>,
        told: &'a mut dyn Told,
        usage_file: PathBuf,
    ) -> Self {
        Self {
            log,
            decoder,
            early_stop: EarlyStop::default(),
            lines: <[Lines; 2]>::default(),
            handle: None,
            heard: Heard::default(),
            scanner: None,
            prompt: Echo::default(),
            echo: Echo::default(),
            told,
            shown: None,
            usage_file,
            grace: None,
            is_hopeless: false,
        }
    }

    /// What may be what commands print is read for why they fail; what the agent was told and
    /// says again is not.
    pub(crate) fn reading(mut self, prints: OutputKind, prompt: &str) -> Self {
        self.heard.prints = prints;
        if prints != OutputKind::Messages {
            self.scanner = Some(Scanner::new(Source::Command));
        }
        if prints == OutputKind::Mixed {
            self.echo = Echo::of(prompt);
            self.prompt = self.echo.clone();
        }
        self
    }

    /// What ended it. A limit that falls into the time it has to exit, after it has said all,
    /// cut nothing off.
    pub(crate) fn judged(&self, reason: EndReason) -> EndReason {
        let is_limit = matches!(reason, EndReason::HardLimit | EndReason::IdleLimit);
        match is_limit && self.decoder.is_done() && !self.is_hopeless {
            true => EndReason::Enough,
            false => reason,
        }
    }

    /// The program has ended. One that had said all and was ended then counts as one that
    /// exited.
    pub(crate) fn finish(mut self, ending: &Ending, reason: EndReason) -> (Heard, LogFile) {
        for (at, stream) in [AgentStream::Out, AgentStream::Err].into_iter().enumerate() {
            let mut last = Vec::new();
            self.lines[at].finish(|line| last = line.to_vec());
            if !last.is_empty() {
                let reply = self.decoder.on_line(stream, &last);
                self.follow(reply);
            }
        }
        let had_finished = reason == EndReason::Enough && !self.is_hopeless;
        let ending = match had_finished {
            true => Ending {
                exit_code: Some(0),
                signal: None,
                ..*ending
            },
            false => *ending,
        };
        for event in self.decoder.on_end(&ending) {
            self.heard.note(event);
        }
        self.heard.words = self.prompt.without(&self.heard.final_message);
        self.heard.output = self.scanner.map(Scanner::finish);
        (self.heard, self.log)
    }

    fn follow(&mut self, reply: Reply) {
        for line in reply.write {
            self.write(&line);
        }
        for event in reply.events {
            self.heed(event);
        }
    }

    fn heed(&mut self, event: AgentEvent) {
        // Who is being ended may still say that all is well: only what it cost is of interest.
        if self.is_hopeless && !matches!(event, AgentEvent::Usage(_)) {
            return;
        }
        match &event {
            AgentEvent::ToolStarted { name, .. } => self.told.activity(name),
            AgentEvent::Text { text } => self.show(text.lines().last().unwrap_or("").as_bytes()),
            AgentEvent::Usage(usage) => self.keep_usage(usage),
            AgentEvent::Session { id } if self.heard.session.as_ref() != Some(id) => {
                self.told.session(id);
            }
            _ => {}
        }
        if self.early_stop.should_stop(&event) && !self.is_hopeless {
            self.is_hopeless = true;
            for line in self.decoder.on_cancel() {
                self.write(&line);
            }
            self.end();
        }
        self.heard.note(event);
    }

    /// Without it an attempt that nobody saw the end of costs nothing; no reason to end it.
    fn keep_usage(&self, usage: &Usage) {
        if self.heard.usage.as_ref() == Some(usage) {
            return;
        }
        if let Ok(usage) = serde_json::to_vec(usage) {
            let _ = replace_whole(&self.usage_file, &usage);
        }
    }

    fn write(&self, line: &str) {
        if let Some(handle) = &self.handle {
            // A program that has closed its input has no use for answers.
            let _ = handle.write_line(line);
        }
    }

    fn end(&self) {
        if let Some(handle) = &self.handle {
            handle.end(EndReason::Enough);
        }
    }

    /// Gives an agent that has said all some time to exit, and takes it back if it goes on.
    fn watch_end(&mut self) {
        match (self.decoder.is_done(), &self.grace, &self.handle) {
            (true, None, Some(handle)) => {
                handle.close_stdin();
                self.grace = Some(end_later(handle.clone()));
            }
            (false, Some(_), _) => self.grace = None,
            _ => {}
        }
    }

    /// What the last command prints; what the agent says of it is none of that.
    fn scan(&mut self, line: &[u8], is_news: bool) {
        let has_failed = matches!(self.heard.last_tool, Some((_, Some(code))) if code != 0);
        let Some(scanner) = &mut self.scanner else {
            return;
        };
        if is_news && !has_failed {
            *scanner = Scanner::new(Source::Command);
        } else if !is_news && !has_failed && !self.echo.goes_on_with(line) {
            scanner.feed(line);
            scanner.feed(b"\n");
        }
    }

    fn show(&mut self, line: &[u8]) {
        let is_due = |shown: Instant| shown.elapsed() >= SHOW_EVERY;
        if line.is_empty() || !self.shown.is_none_or(is_due) {
            return;
        }
        self.shown = Some(Instant::now());
        let beginning = line.get(..line.len().min(SHOWN_BYTES)).unwrap_or_default();
        self.told.activity(&String::from_utf8_lossy(beginning));
    }
}

/// Ends the program after a while, unless what is returned is dropped before.
fn end_later(handle: Handle) -> Sender<()> {
    let (sender, receiver) = mpsc::channel::<()>();
    thread::spawn(move || {
        if receiver.recv_timeout(EXIT_GRACE) == Err(RecvTimeoutError::Timeout) {
            handle.end(EndReason::Enough);
        }
    });
    sender
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
            let is_news = !reply.events.is_empty();
            self.follow(reply);
            self.scan(line, is_news);
            // Messages of a protocol are for nobody's eyes.
            if !line.starts_with(b"{") {
                self.show(line);
            }
        });
        self.lines[at] = lines;
        self.watch_end();
        self.log.write(bytes)
    }
}
