//! gh under a keeper, with all its output masked.

use std::ffi::OsString;
use std::io;
use std::time::Duration;

use regreen_forge::{GhCall, GhReply, GhRunner};
use regreen_supervisor::{Exit, Stdin, Stream};

use crate::process::{Job, Processes, Sink};

/// How long a request may take.
const TIMEOUT: Duration = Duration::from_secs(10 * 60);
/// No answer is longer. A log is passed on instead.
const MAX_ANSWER: usize = 32 * 1024 * 1024;
const MAX_MESSAGE: usize = 64 * 1024;

/// Variables that keep gh from asking, colouring, and writing more than its answer.
const QUIET: [(&str, Option<&str>); 8] = [
    ("GH_PROMPT_DISABLED", Some("1")),
    ("GH_NO_UPDATE_NOTIFIER", Some("1")),
    ("NO_COLOR", Some("1")),
    ("CLICOLOR_FORCE", None),
    ("GH_FORCE_TTY", None),
    ("GH_DEBUG", None),
    ("DEBUG", None),
    ("GH_PAGER", Some("")),
];

#[derive(Debug)]
pub(super) struct SupervisedGh {
    pub(super) processes: Processes,
}

impl GhRunner for SupervisedGh {
    fn run(&self, call: &GhCall) -> io::Result<GhReply> {
        let mut stdout = Vec::new();
        let mut keep = |bytes: &[u8]| {
            stdout.extend_from_slice(bytes);
            stdout.len() <= MAX_ANSWER
        };
        let reply = self.run_into(call, &mut keep)?;
        Ok(GhReply { stdout, ..reply })
    }

    fn run_into(&self, call: &GhCall, take: &mut dyn FnMut(&[u8]) -> bool) -> io::Result<GhReply> {
        let arguments = call.args.iter().map(OsString::from);
        let set = QUIET.iter().map(|(name, value)| {
            let value = value.map(OsString::from);
            (OsString::from(name), value)
        });
        let job = Job {
            argv: std::iter::once(OsString::from("gh"))
                .chain(arguments)
                .collect(),
            env: set.collect(),
            stdin: if call.stdin.is_empty() {
                Stdin::Empty
            } else {
                Stdin::Bytes(call.stdin.clone().into_bytes())
            },
            timeout: TIMEOUT,
            idle: None,
            purpose: "gh".to_owned(),
        };
        let mut output = Output {
            take,
            message: Vec::new(),
        };
        let ended = self.processes.run(job, &mut output);
        let ended = ended.map_err(|error| io::Error::other(error.to_string()))?;
        if let Exit::NotStarted { errno, .. } = ended.exit {
            return Err(io::Error::from_raw_os_error(errno));
        }
        Ok(GhReply {
            exit: match ended.exit {
                Exit::Exited(code) => Some(code),
                _ => None,
            },
            stdout: Vec::new(),
            stderr: String::from_utf8_lossy(&output.message).into_owned(),
        })
    }
}

struct Output<'t> {
    take: &'t mut dyn FnMut(&[u8]) -> bool,
    message: Vec<u8>,
}

impl Sink for Output<'_> {
    fn take(&mut self, stream: Stream, bytes: &[u8]) -> bool {
        match stream {
            Stream::Stdout => (self.take)(bytes),
            Stream::Stderr => {
                let room = MAX_MESSAGE.saturating_sub(self.message.len());
                let kept = bytes.get(..bytes.len().min(room)).unwrap_or_default();
                self.message.extend_from_slice(kept);
                true
            }
        }
    }
}
