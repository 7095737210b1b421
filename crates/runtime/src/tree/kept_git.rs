use std::ffi::OsString;
use std::io;
use std::time::Duration;

use regreen_supervisor::{Exit, Stdin, Stream};
use regreen_workspace::{GitCall, GitReply, GitRunner};

use crate::process::{Job, Processes, Sink};

/// What a hook says is quoted, not stored whole.
const MAX_SAID: usize = 256 * 1024;

/// Git under a keeper: a commit runs the user's hooks, and those end with the run.
#[derive(Debug)]
pub(super) struct KeptGit {
    pub(super) processes: Processes,
    pub(super) timeout: Duration,
}

impl GitRunner for KeptGit {
    fn run(&self, call: &GitCall) -> io::Result<GitReply> {
        let argv = std::iter::once(OsString::from("git")).chain(call.args.iter().cloned());
        let job = Job {
            argv: argv.collect(),
            env: call.env.clone(),
            stdin: match call.stdin.is_empty() {
                true => Stdin::Empty,
                false => Stdin::Bytes(call.stdin.clone()),
            },
            timeout: self.timeout,
            idle: None,
            purpose: "git".to_owned(),
        };
        let processes = Processes {
            root: call.folder.clone(),
            ..self.processes.clone()
        };
        let mut said = Said::default();
        let ended = processes
            .run(job, &mut said)
            .map_err(|error| io::Error::other(error.to_string()))?;
        if let Exit::NotStarted { errno, .. } = ended.exit {
            return Err(io::Error::from_raw_os_error(errno));
        }
        Ok(GitReply {
            exit: match ended.exit {
                Exit::Exited(code) => Some(code),
                _ => None,
            },
            stdout: said.streams[0].clone(),
            stderr: said.streams[1].clone(),
            cut: false,
        })
    }
}

#[derive(Default)]
struct Said {
    streams: [Vec<u8>; 2],
}

impl Sink for Said {
    fn take(&mut self, stream: Stream, bytes: &[u8]) -> bool {
        let kept = match stream {
            Stream::Stdout => &mut self.streams[0],
            Stream::Stderr => &mut self.streams[1],
        };
        let room = MAX_SAID.saturating_sub(kept.len());
        kept.extend_from_slice(bytes.get(..bytes.len().min(room)).unwrap_or_default());
        true
    }
}
