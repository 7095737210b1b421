//! A step: a cargo command whose output goes straight to the terminal.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::repository;

#[derive(Debug)]
pub(super) struct Step {
    pub(super) title: &'static str,
    pub(super) arguments: Vec<&'static str>,
    pub(super) variables: &'static [(&'static str, &'static str)],
    /// The lines of its output to repeat at the end.
    pub(super) closing: Option<Closing>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Closing {
    pub(super) stream: Stream,
    pub(super) is_closing: fn(&str) -> bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Stream {
    Stdout,
    Stderr,
}

#[derive(Debug)]
pub(super) enum Outcome {
    Passed {
        duration: Duration,
        closing_lines: Vec<String>,
    },
    Failed {
        duration: Duration,
        code: u8,
    },
}

impl Step {
    pub(super) fn run(&self) -> Outcome {
        let started = Instant::now();
        let mut cargo = repository::cargo(&self.arguments);
        cargo.envs(self.variables.iter().copied());
        let ended = self.watch(cargo);
        let duration = started.elapsed();
        match ended {
            Ok((status, closing_lines)) if status.success() => Outcome::Passed {
                duration,
                closing_lines,
            },
            Ok((status, _)) => Outcome::Failed {
                duration,
                code: exit_code(status),
            },
            Err(error) => {
                eprintln!("cargo could not be run: {error}");
                Outcome::Failed { duration, code: 1 }
            }
        }
    }

    fn watch(&self, mut command: Command) -> io::Result<(ExitStatus, Vec<String>)> {
        let Some(closing) = self.closing else {
            return Ok((command.status()?, Vec::new()));
        };
        match closing.stream {
            Stream::Stdout => command.stdout(Stdio::piped()),
            Stream::Stderr => command.stderr(Stdio::piped()),
        };
        let mut child = command.spawn()?;
        let lines = pass_on(&mut child, closing.is_closing)?;
        Ok((child.wait()?, lines))
    }
}

/// Copies the piped stream to the terminal line by line. Returns the closing lines.
fn pass_on(child: &mut Child, is_closing: fn(&str) -> bool) -> io::Result<Vec<String>> {
    if let Some(stdout) = child.stdout.take() {
        return copy_lines(stdout, io::stdout(), is_closing);
    }
    match child.stderr.take() {
        Some(stderr) => copy_lines(stderr, io::stderr(), is_closing),
        None => Ok(Vec::new()),
    }
}

fn copy_lines(
    from: impl Read,
    mut to: impl Write,
    is_closing: fn(&str) -> bool,
) -> io::Result<Vec<String>> {
    let mut from = BufReader::new(from);
    let mut kept = Vec::new();
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line)? > 0 {
        to.write_all(&line)?;
        let text = String::from_utf8_lossy(&line);
        if is_closing(&text) {
            kept.push(text.trim().to_owned());
        }
        line.clear();
    }
    Ok(kept)
}

/// Returns the exit code to end with; a tool that was killed has none.
fn exit_code(status: ExitStatus) -> u8 {
    status
        .code()
        .and_then(|code| u8::try_from(code).ok())
        .unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_passed_on_and_closing_lines_are_kept() {
        let output = "a\n     Summary [ 0.1s] 3 tests run: 3 passed\nlast \u{fffd} without end";
        let mut terminal = Vec::new();
        let kept = copy_lines(output.as_bytes(), &mut terminal, |line| {
            line.contains("Summary [")
        });
        assert_eq!(terminal, output.as_bytes());
        assert_eq!(kept.unwrap(), ["Summary [ 0.1s] 3 tests run: 3 passed"]);
    }
}
