use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;

use super::runner::{GitCall, GitReply, GitRunner};

/// How much of the standard error is kept, counted from its end.
const MAX_STDERR: usize = 256 * 1024;

/// Starts git as an ordinary child of this process.
#[derive(Clone, Debug)]
pub struct PlainRunner {
    program: OsString,
    env: Vec<(OsString, OsString)>,
}

impl Default for PlainRunner {
    fn default() -> Self {
        Self {
            program: "git".into(),
            env: Vec::new(),
        }
    }
}

impl PlainRunner {
    /// Creates a runner with additional variables, for example for another global configuration.
    #[must_use]
    pub fn with_env(env: Vec<(OsString, OsString)>) -> Self {
        Self {
            env,
            ..Self::default()
        }
    }

    fn command(&self, call: &GitCall) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&call.args).current_dir(&call.folder);
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        for (name, value) in &call.env {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
            .stdin(if call.stdin.is_empty() {
                Stdio::null()
            } else {
                Stdio::piped()
            })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

impl GitRunner for PlainRunner {
    fn run(&self, call: &GitCall) -> io::Result<GitReply> {
        self.run_reading(call, |pipe| read_beginning(pipe, call.max_stdout))
    }

    fn run_into(
        &self,
        call: &GitCall,
        take: &mut dyn FnMut(&[u8]) -> bool,
    ) -> io::Result<GitReply> {
        self.run_reading(call, |pipe| hand_on(pipe, take))
    }
}

impl PlainRunner {
    /// Runs git. `read` returns the part of the output that it kept, and whether it stopped early.
    fn run_reading(
        &self,
        call: &GitCall,
        read: impl FnOnce(ChildStdout) -> io::Result<(Vec<u8>, bool)>,
    ) -> io::Result<GitReply> {
        let mut child = self.command(call).spawn()?;
        let read = exchange(&mut child, call, read);
        if !matches!(read, Ok((_, _, false))) {
            // Kill git, which would otherwise wait for a reader.
            let _already_gone = child.kill();
        }
        let status = child.wait()?;
        let (stdout, stderr, cut) = read?;
        Ok(GitReply {
            exit: status.code(),
            stdout,
            stderr,
            cut,
        })
    }
}

/// Handles all three streams at once, so that neither side blocks.
fn exchange(
    child: &mut Child,
    call: &GitCall,
    read: impl FnOnce(ChildStdout) -> io::Result<(Vec<u8>, bool)>,
) -> io::Result<(Vec<u8>, Vec<u8>, bool)> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    thread::scope(|scope| {
        let feeding = stdin.map(|pipe| scope.spawn(move || feed(pipe, &call.stdin)));
        let saying = stderr.map(|pipe| scope.spawn(move || read_end(pipe)));
        let read = stdout.map_or(Ok((Vec::new(), false)), read);
        if !matches!(read, Ok((_, false))) {
            let _already_gone = child.kill();
        }
        let said = saying.map_or(Ok(Vec::new()), joined);
        feeding.map_or(Ok(()), joined)?;
        let (stdout, cut) = read?;
        Ok((stdout, said?, cut))
    })
}

fn joined<T>(thread: thread::ScopedJoinHandle<'_, io::Result<T>>) -> io::Result<T> {
    thread
        .join()
        .unwrap_or_else(|_| Err(io::Error::other("a reader of git's output ended early")))
}

fn feed(mut pipe: impl Write, bytes: &[u8]) -> io::Result<()> {
    match pipe.write_all(bytes) {
        // Git may exit without reading everything; its exit code tells why.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

fn read_beginning(mut pipe: impl Read, max: Option<usize>) -> io::Result<(Vec<u8>, bool)> {
    let mut bytes = Vec::new();
    let Some(max) = max else {
        pipe.read_to_end(&mut bytes)?;
        return Ok((bytes, false));
    };
    pipe.take(max as u64 + 1).read_to_end(&mut bytes)?;
    let cut = bytes.len() > max;
    bytes.truncate(max);
    Ok((bytes, cut))
}

fn hand_on(
    mut pipe: impl Read,
    take: &mut dyn FnMut(&[u8]) -> bool,
) -> io::Result<(Vec<u8>, bool)> {
    let mut chunk = vec![0; 64 * 1024];
    loop {
        match pipe.read(&mut chunk) {
            Ok(0) => return Ok((Vec::new(), false)),
            Ok(count) if take(chunk.get(..count).unwrap_or_default()) => {}
            Ok(_) => return Ok((Vec::new(), true)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn read_end(mut pipe: impl Read) -> io::Result<Vec<u8>> {
    let mut kept = Vec::new();
    let mut chunk = [0; 16 * 1024];
    loop {
        match pipe.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => kept.extend_from_slice(chunk.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if kept.len() > 2 * MAX_STDERR {
            kept.drain(..kept.len() - MAX_STDERR);
        }
    }
    kept.drain(..kept.len().saturating_sub(MAX_STDERR));
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git(args: &[&str], stdin: &[u8], max_stdout: Option<usize>) -> GitReply {
        let call = GitCall {
            args: args.iter().map(OsString::from).collect(),
            folder: std::env::temp_dir(),
            stdin: stdin.to_vec(),
            max_stdout,
            ..GitCall::default()
        };
        PlainRunner::default().run(&call).unwrap()
    }

    #[test]
    fn input_and_output_may_exceed_the_pipe_buffer() {
        let long = b"0123456789\n".repeat(200_000);
        let reply = git(&["stripspace"], &long, None);
        assert!(reply.succeeded() && !reply.cut);
        assert_eq!(reply.stdout, long);
    }

    #[test]
    fn output_stops_at_the_limit() {
        let long = b"0123456789\n".repeat(200_000);
        let reply = git(&["stripspace"], &long, Some(5));
        assert_eq!((reply.stdout.as_slice(), reply.cut), (&b"01234"[..], true));
        let reply = git(&["stripspace"], b"abcd\n", Some(5));
        assert_eq!(
            (reply.stdout.as_slice(), reply.cut),
            (&b"abcd\n"[..], false)
        );
    }

    #[test]
    fn output_is_streamed_until_the_reader_stops() {
        let long = b"0123456789\n".repeat(200_000);
        let call = GitCall {
            args: vec!["stripspace".into()],
            folder: std::env::temp_dir(),
            stdin: long.clone(),
            ..GitCall::default()
        };
        let runner = PlainRunner::default();
        let (mut whole, mut begun) = (Vec::new(), Vec::new());
        let all = runner.run_into(&call, &mut |bytes| {
            whole.extend_from_slice(bytes);
            true
        });
        assert!(matches!(all, Ok(reply) if reply.succeeded() && !reply.cut));
        assert_eq!(whole, long);
        let some = runner.run_into(&call, &mut |bytes| {
            begun.extend_from_slice(bytes);
            false
        });
        assert!(some.unwrap().cut);
        assert!(!begun.is_empty() && long.starts_with(&begun) && begun.len() < long.len());
    }

    #[test]
    fn only_the_end_of_long_output_is_kept() {
        let talk = b"word ".repeat(MAX_STDERR);
        let kept = read_end([talk.as_slice(), b"the end"].concat().as_slice()).unwrap();
        assert!(kept.len() <= MAX_STDERR && kept.ends_with(b"word the end"));
    }

    #[test]
    fn a_failure_is_a_reply() {
        let reply = git(&["no-such-command"], b"unread", None);
        assert!(!reply.succeeded() && !reply.stderr.is_empty());
    }
}
