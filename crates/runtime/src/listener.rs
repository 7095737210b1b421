//! Follows an agent while it works.

use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use regreen_agents::{Decoder, EarlyStop, Lines, PromptEcho, Reply, Stream as AgentStream};
use regreen_diagnosis::Scanner;
use regreen_engine::Input;
use regreen_model::{
    AgentEvent, ApiTrouble, CommandSeq, Ending, OutputKind, Source, Transcript, Unmasked, Usage,
    visible_line,
};
use regreen_redaction::{Filter, Masks};
use regreen_supervisor::{EndReason, Handle, Stream};

use crate::atomic_file::replace_atomically;
use crate::driver::StepRecorder;
use crate::log_file::LogFile;
use crate::process::{Processes, Sink};

const SHOWN_BYTES: usize = 400;
/// How long an agent may take to exit once it is done; some need seconds to clean up.
const EXIT_GRACE: Duration = Duration::from_secs(10);

/// Observes the transcript of an attempt as it grows.
pub(crate) trait TranscriptObserver {
    /// Shows what the agent is doing right now, in its own words.
    fn activity(&mut self, line: &str);

    /// Notes the id of the agent's session.
    fn session(&mut self, id: &str);
}

/// Observes an attempt of a run.
pub(crate) struct AttemptObserver<'a, 'c> {
    pub(crate) recorder: &'a mut StepRecorder<'c>,
    /// The command that asked for the attempt.
    pub(crate) seq: CommandSeq,
}

impl TranscriptObserver for AttemptObserver<'_, '_> {
    fn activity(&mut self, line: &str) {
        self.recorder.observer.activity(line);
    }

    /// Stores the session id at once, so that a crash does not lose it. A failure here doesn't end
    /// the attempt: storing the attempt's end would fail too, and report it.
    fn session(&mut self, id: &str) {
        let (seq, session) = (self.seq, id.to_owned());
        let _ = self.recorder.step(&Input::SessionSeen { seq, session });
    }
}

/// Listens to an agent: writes its masked output to the log, passes its lines to the decoder, and
/// sends the decoder's answers back. Ends the agent when waiting any longer is pointless.
///
/// The decoder sees the lines before they are masked, because a mask could swallow a signal or part
/// of the protocol. Everything it finds is masked before it goes any further.
pub(crate) struct Listener<'a> {
    pub(crate) log: LogFile,
    decoder: Box<dyn Decoder>,
    early_stop: EarlyStop,
    lines: [Lines; 2],
    masks: Masks,
    /// Mask the lines of each stream, and the agent's words, for the scanner and for people.
    line_filters: [Filter; 2],
    words_filter: Filter,
    /// The agent's last message, unmasked.
    unmasked_message: String,
    handle: Option<Handle>,
    transcript: Transcript,
    /// Scans the output for failures, if it may be the output of commands.
    scanner: Option<Scanner>,
    prompt: PromptEcho,
    /// The part of the prompt that the agent has not echoed yet.
    echo: PromptEcho,
    observer: &'a mut dyn TranscriptObserver,
    processes: &'a Processes,
    /// The last line of the agent's latest output, for display.
    last_line: Vec<u8>,
    /// Where usage is saved in case of a crash.
    usage_file: PathBuf,
    /// Set once the agent is done: ends it after a grace period, unless dropped first.
    grace: Option<Sender<()>>,
    is_hopeless: bool,
}

impl<'a> Listener<'a> {
    pub(crate) fn new(
        log: LogFile,
        decoder: Box<dyn Decoder>,
        observer: &'a mut dyn TranscriptObserver,
        processes: &'a Processes,
        usage_file: PathBuf,
    ) -> Self {
        let masks = &processes.masks;
        Self {
            log,
            decoder,
            early_stop: EarlyStop::default(),
            lines: <[Lines; 2]>::default(),
            masks: masks.clone(),
            line_filters: [masks.filter(), masks.filter()],
            words_filter: masks.filter(),
            unmasked_message: String::new(),
            handle: None,
            transcript: Transcript::default(),
            scanner: None,
            prompt: PromptEcho::default(),
            echo: PromptEcho::default(),
            observer,
            processes,
            last_line: Vec::new(),
            usage_file,
            grace: None,
            is_hopeless: false,
        }
    }

    /// Scans output of commands, or of the agent's own program, for the cause of failures. Skips
    /// lines of the prompt that the agent echoes.
    pub(crate) fn reading(mut self, output_kind: OutputKind, prompt: &str) -> Self {
        self.transcript.output_kind = output_kind;
        self.scanner = Some(Scanner::new(Source::Command));
        self.prompt = PromptEcho::of(prompt);
        if output_kind == OutputKind::Mixed {
            self.echo = self.prompt.clone();
        }
        self
    }

    /// Returns why the agent ended. A limit that is reached while a finished agent exits doesn't
    /// count as an interruption.
    pub(crate) fn end_reason(&self, reason: EndReason) -> EndReason {
        let is_limit = matches!(reason, EndReason::HardLimit | EndReason::IdleLimit);
        if is_limit && self.decoder.is_done() && !self.is_hopeless {
            EndReason::ObserverDone
        } else {
            reason
        }
    }

    /// Reads the rest of the output. An agent that was already done when it was ended counts as
    /// having exited.
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
            self.keep(event);
        }
        let own_words = self.prompt.strip(&self.unmasked_message);
        self.transcript.own_words = self.masks.mask(&own_words);
        self.transcript.unmasked_message = Some(Unmasked::new(self.unmasked_message));
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
        // An agent that is being ended may still claim success, so only its usage counts.
        if self.is_hopeless && !matches!(event, AgentEvent::Usage(_)) {
            return;
        }
        match &event {
            AgentEvent::ToolStarted { name, input, .. } => self.show_tool(name, input),
            AgentEvent::Text { text } => self.show_words(text),
            AgentEvent::Usage(usage) => self.save_usage(usage),
            AgentEvent::Session { id } => {
                let id = self.masks.mask(id);
                if self.transcript.session.as_ref() != Some(&id) {
                    self.observer.session(&id);
                }
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
        self.keep(event);
    }

    /// Adds an event to the transcript, masked.
    fn keep(&mut self, event: AgentEvent) {
        if let AgentEvent::FinalMessage { text } = &event {
            self.unmasked_message.clone_from(text);
        }
        self.transcript.record(masked(event, &self.masks));
    }

    fn show_words(&mut self, text: &str) {
        let mut shown = Vec::new();
        self.words_filter.feed(text.as_bytes(), &mut shown);
        let last = shown
            .split(|byte| *byte == b'\n')
            .rfind(|line| !line.is_empty());
        self.show(last.unwrap_or_default());
    }

    /// Saves the usage. A failure here doesn't end the attempt: if its end isn't seen, it merely
    /// counts as free.
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
            // A program that has closed its input doesn't need answers.
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

    fn read_line(&mut self, at: usize, stream: AgentStream, line: &[u8]) {
        let reply = self.decoder.on_line(stream, line);
        let is_event = !reply.events.is_empty();
        self.follow(reply);
        let mut masked = Vec::with_capacity(line.len() + 1);
        self.line_filters[at].feed(line, &mut masked);
        self.line_filters[at].feed(b"\n", &mut masked);
        if masked.last() == Some(&b'\n') {
            masked.pop();
        }
        // On stderr, beside the protocol, the agent's program reports its own trouble.
        let is_scanned = self.transcript.output_kind != OutputKind::Messages
            || (stream == AgentStream::Err && !is_event);
        if is_scanned {
            self.scan(line, &masked, is_event);
        }
        // Protocol messages are not meant for people.
        if !masked.is_empty() && !line.starts_with(b"{") {
            self.last_line.clear();
            self.last_line.extend_from_slice(beginning(&masked));
        }
    }

    /// Scans the output of the last command, but not the agent's words about it.
    fn scan(&mut self, line: &[u8], masked: &[u8], is_event: bool) {
        let has_failed = matches!(self.transcript.last_tool, Some((_, Some(code))) if code != 0);
        let Some(scanner) = &mut self.scanner else {
            return;
        };
        if is_event && !has_failed {
            *scanner = Scanner::new(Source::Command);
        } else if !is_event && !has_failed && !self.echo.consumes(line) {
            scanner.feed(masked);
            scanner.feed(b"\n");
        }
    }

    /// Shows which tool the agent is using, and on what.
    fn show_tool(&mut self, name: &str, input: &str) {
        // Some agents name files by absolute path.
        let root = format!("{}/", self.processes.root.display());
        let line = tool_line(name, input, &root, &self.masks);
        self.observer.activity(&line);
    }

    fn show(&mut self, line: &[u8]) {
        if !line.is_empty() {
            let line = String::from_utf8_lossy(beginning(line));
            self.observer.activity(&line);
        }
    }
}

/// Describes the use of a tool in one line without control characters, long enough to recognize it,
/// with `root` removed from paths. Masks first: no mask would recognize the first half of a secret
/// that has been cut in two.
fn tool_line(name: &str, input: &str, root: &str, masks: &Masks) -> String {
    const INPUT_CHARS: usize = 200;
    let (name, input) = (masks.mask(name), masks.mask(input).replace(root, ""));
    let line = visible_line(input.trim_start(), INPUT_CHARS);
    let words: Vec<&str> = line.split_whitespace().collect();
    if words.is_empty() {
        name.replace(root, "")
    } else {
        format!("{}: {}", name.replace(root, ""), words.join(" "))
    }
}

/// Returns as much of a line as is shown.
fn beginning(line: &[u8]) -> &[u8] {
    line.get(..line.len().min(SHOWN_BYTES)).unwrap_or_default()
}

/// Ends the program after a grace period, unless the returned sender is dropped first.
fn end_later(handle: Handle) -> Sender<()> {
    let (sender, receiver) = mpsc::channel::<()>();
    thread::spawn(move || {
        if receiver.recv_timeout(EXIT_GRACE) == Err(RecvTimeoutError::Timeout) {
            handle.end(EndReason::ObserverDone);
        }
    });
    sender
}

/// Masks all text in an event.
fn masked(event: AgentEvent, masks: &Masks) -> AgentEvent {
    let mask = |text: String| masks.mask(&text);
    match event {
        AgentEvent::Session { id } => AgentEvent::Session { id: mask(id) },
        AgentEvent::Text { text } => AgentEvent::Text { text: mask(text) },
        AgentEvent::ToolStarted { call, name, input } => AgentEvent::ToolStarted {
            call: mask(call),
            name: mask(name),
            input: mask(input),
        },
        AgentEvent::ToolEnded {
            call,
            name,
            ok,
            exit,
        } => AgentEvent::ToolEnded {
            call: mask(call),
            name: mask(name),
            ok,
            exit,
        },
        AgentEvent::FileEdited { path } => AgentEvent::FileEdited { path: mask(path) },
        AgentEvent::Trouble(trouble) => AgentEvent::Trouble(ApiTrouble {
            message: mask(trouble.message),
            ..trouble
        }),
        AgentEvent::Question { text, permission } => AgentEvent::Question {
            text: mask(text),
            permission,
        },
        AgentEvent::FinalMessage { text } => AgentEvent::FinalMessage { text: mask(text) },
        numbers @ (AgentEvent::Usage(_) | AgentEvent::Terminal { .. }) => numbers,
    }
}

impl Sink for Listener<'_> {
    fn started(&mut self, handle: &Handle) {
        self.handle = Some(handle.clone());
        let reply = self.decoder.on_start();
        self.follow(reply);
    }

    fn read_unmasked(&mut self, stream: Stream, bytes: &[u8]) {
        let (at, stream) = match stream {
            Stream::Stdout => (0, AgentStream::Out),
            Stream::Stderr => (1, AgentStream::Err),
        };
        let mut lines = std::mem::take(&mut self.lines[at]);
        lines.feed(bytes, |line| self.read_line(at, stream, line));
        self.lines[at] = lines;
        let last_line = std::mem::take(&mut self.last_line);
        self.show(&last_line);
        self.watch_end();
    }

    fn take(&mut self, _stream: Stream, bytes: &[u8]) -> bool {
        self.log.write(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "Zq8wLm3vTr5xKp9cKd2y";

    fn shown(input: &str) -> String {
        tool_line("Bash", input, "/srv/project/", &Masks::new([SECRET]))
    }

    #[test]
    fn a_secret_is_masked_wherever_the_input_of_a_tool_is_cut() {
        for before in 170..210 {
            let line = shown(&format!("{} {SECRET} end", "x".repeat(before)));
            assert!(!line.contains(&SECRET[..1]), "{line}");
        }
    }

    #[test]
    fn the_use_of_a_tool_is_one_plain_line() {
        assert_eq!(
            shown("\u{1b}[31mcd a\n  make\u{202e}\u{7}"),
            "Bash: cd a make"
        );
        assert_eq!(shown("cat /srv/project/src/a.rs"), "Bash: cat src/a.rs");
        assert_eq!(shown(" \n"), "Bash");
        let long = shown(&"x".repeat(1_000_000));
        assert_eq!(long.chars().count(), "Bash: ".len() + 201);
        assert!(long.ends_with('…'));
    }
}
