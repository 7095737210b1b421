//! Follows an agent while it works.

use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use regreen_agents::{Decoder, EarlyStop, Lines, PromptEcho, Reply, Stream as AgentStream};
use regreen_diagnosis::Scanner;
use regreen_engine::Input;
use regreen_model::{AgentEvent, CommandSeq, Ending, OutputKind, Source, Transcript, Usage};
use regreen_supervisor::{EndReason, Handle, Stream};

use crate::atomic_file::replace_atomically;
use crate::driver::StepRecorder;
use crate::log_file::LogFile;
use crate::process::Sink;

/// How often people are shown at most what an agent does.
const SHOW_EVERY: Duration = Duration::from_millis(100);
const SHOWN_BYTES: usize = 400;
/// How long an agent may take to exit once it is done; some clean up for seconds.
const EXIT_GRACE: Duration = Duration::from_secs(10);

/// Follows the transcript of an attempt while it grows.
pub(crate) trait TranscriptObserver {
    /// Shows what the agent does right now, in its own words.
    fn activity(&mut self, line: &str);

    /// Notes the id of the agent's session.
    fn session(&mut self, id: &str);
}

/// Follows an attempt of a run.
pub(crate) struct AttemptObserver<'a, 'c> {
    pub(crate) recorder: &'a mut StepRecorder<'c>,
    /// The command that the attempt answers.
    pub(crate) seq: CommandSeq,
}

impl TranscriptObserver for AttemptObserver<'_, '_> {
    fn activity(&mut self, line: &str) {
        self.recorder.observer.activity(line);
    }

    /// Stores the session at once, so that a crash does not lose it. If that fails, storing the
    /// end of the attempt fails as well and says so: no reason to end the attempt now.
    fn session(&mut self, id: &str) {
        let (seq, session) = (self.seq, id.to_owned());
        let _ = self.recorder.step(&Input::SessionSeen { seq, session });
    }
}

/// Listens to an agent: its output goes into the log, its lines go to the decoder, and the
/// decoder's answers go back to it. Ends the agent when waiting longer is pointless.
pub(crate) struct Listener<'a> {
    pub(crate) log: LogFile,
    decoder: Box<dyn Decoder>,
    early_stop: EarlyStop,
    lines: [Lines; 2],
    handle: Option<Handle>,
    transcript: Transcript,
    /// Scans the output, where it may be that of commands.
    scanner: Option<Scanner>,
    prompt: PromptEcho,
    /// What the agent has not yet repeated of its prompt.
    echo: PromptEcho,
    observer: &'a mut dyn TranscriptObserver,
    last_shown: Option<Instant>,
    /// Where the usage so far is saved in case of a crash.
    usage_file: PathBuf,
    /// Set once the agent is done: ends it after a while, unless this is dropped before.
    grace: Option<Sender<()>>,
    is_hopeless: bool,
}

impl<'a> Listener<'a> {
    pub(crate) fn new(
        log: LogFile,
        decoder: Box<dyn Decoder>,
        observer: &'a mut dyn TranscriptObserver,
        usage_file: PathBuf,
    ) -> Self {
        Self {
            log,
            decoder,
            early_stop: EarlyStop::default(),
            lines: <[Lines; 2]>::default(),
            handle: None,
            transcript: Transcript::default(),
            scanner: None,
            prompt: PromptEcho::default(),
            echo: PromptEcho::default(),
            observer,
            last_shown: None,
            usage_file,
            grace: None,
            is_hopeless: false,
        }
    }

    /// Scans what may be output of commands for why they fail, without the lines of the prompt
    /// that the agent repeats.
    pub(crate) fn reading(mut self, output_kind: OutputKind, prompt: &str) -> Self {
        self.transcript.output_kind = output_kind;
        if output_kind != OutputKind::Messages {
            self.scanner = Some(Scanner::new(Source::Command));
        }
        if output_kind == OutputKind::Mixed {
            self.echo = PromptEcho::of(prompt);
            self.prompt = self.echo.clone();
        }
        self
    }

    /// Why the agent ended. A limit that is reached while a finished agent exits interrupts
    /// nothing.
    pub(crate) fn end_reason(&self, reason: EndReason) -> EndReason {
        let is_limit = matches!(reason, EndReason::HardLimit | EndReason::IdleLimit);
        if is_limit && self.decoder.is_done() && !self.is_hopeless {
            EndReason::ObserverDone
        } else {
            reason
        }
    }

    /// Reads the rest of the output. An agent that was done when it was ended counts as one
    /// that exited.
    pub(crate) fn finish(mut self, ending: &Ending, reason: EndReason) -> (Transcript, LogFile) {
        for (at, stream) in [AgentStream::Out, AgentStream::Err].into_iter().enumerate() {
            let mut last = Vec::new();
            self.lines[at].finish(|line| last = line.to_vec());
            if !last.is_empty() {
                let reply = self.decoder.on_line(stream, &last);
                self.follow(reply);
            }
        }
        let had_finished = reason == EndReason::ObserverDone && !self.is_hopeless;
        let ending = if had_finished {
            Ending {
                exit_code: Some(0),
                signal: None,
                ..*ending
            }
        } else {
            *ending
        };
        for event in self.decoder.on_end(&ending) {
            self.transcript.record(event);
        }
        self.transcript.own_words = self.prompt.strip(&self.transcript.final_message);
        self.transcript.output = self.scanner.map(Scanner::finish);
        (self.transcript, self.log)
    }

    fn follow(&mut self, reply: Reply) {
        for line in reply.write {
            self.write(&line);
        }
        for event in reply.events {
            self.record(event);
        }
    }

    fn record(&mut self, event: AgentEvent) {
        // An agent that is being ended may still claim success: only its usage counts.
        if self.is_hopeless && !matches!(event, AgentEvent::Usage(_)) {
            return;
        }
        match &event {
            AgentEvent::ToolStarted { name, .. } => self.observer.activity(name),
            AgentEvent::Text { text } => self.show(text.lines().last().unwrap_or("").as_bytes()),
            AgentEvent::Usage(usage) => self.save_usage(usage),
            AgentEvent::Session { id } if self.transcript.session.as_ref() != Some(id) => {
                self.observer.session(id);
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
        self.transcript.record(event);
    }

    /// Saves the usage. If that fails, an attempt whose end is not seen counts as free: no reason
    /// to end it.
    fn save_usage(&self, usage: &Usage) {
        if self.transcript.usage.as_ref() == Some(usage) {
            return;
        }
        if let Ok(usage) = serde_json::to_vec(usage) {
            let _ = replace_atomically(&self.usage_file, &usage);
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
            handle.end(EndReason::ObserverDone);
        }
    }

    /// Gives an agent that is done some time to exit, unless it continues.
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

    /// Scans the output of the last command, without what the agent says about it.
    fn scan(&mut self, line: &[u8], is_event: bool) {
        let has_failed = matches!(self.transcript.last_tool, Some((_, Some(code))) if code != 0);
        let Some(scanner) = &mut self.scanner else {
            return;
        };
        if is_event && !has_failed {
            *scanner = Scanner::new(Source::Command);
        } else if !is_event && !has_failed && !self.echo.consumes(line) {
            scanner.feed(line);
            scanner.feed(b"\n");
        }
    }

    fn show(&mut self, line: &[u8]) {
        let is_due = |shown: Instant| shown.elapsed() >= SHOW_EVERY;
        if line.is_empty() || !self.last_shown.is_none_or(is_due) {
            return;
        }
        self.last_shown = Some(Instant::now());
        let beginning = line.get(..line.len().min(SHOWN_BYTES)).unwrap_or_default();
        self.observer.activity(&String::from_utf8_lossy(beginning));
    }
}

/// Ends the program after a while, unless the returned sender is dropped before.
fn end_later(handle: Handle) -> Sender<()> {
    let (sender, receiver) = mpsc::channel::<()>();
    thread::spawn(move || {
        if receiver.recv_timeout(EXIT_GRACE) == Err(RecvTimeoutError::Timeout) {
            handle.end(EndReason::ObserverDone);
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
            let is_event = !reply.events.is_empty();
            self.follow(reply);
            self.scan(line, is_event);
            // Messages of a protocol are not for people.
            if !line.starts_with(b"{") {
                self.show(line);
            }
        });
        self.lines[at] = lines;
        self.watch_end();
        self.log.write(bytes)
    }
}
