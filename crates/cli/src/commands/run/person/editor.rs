//! The user's own editor.

use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use regreen_runtime::Stop;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};

/// How often to check whether the editor has exited.
const POLL: Duration = Duration::from_millis(50);
/// How long an editor gets to save its state.
const GRACE: Duration = Duration::from_secs(2);

/// A program and its arguments, from `VISUAL` or `EDITOR`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Editor {
    argv: Vec<String>,
}

#[derive(Debug)]
pub(super) enum EditResult {
    Done,
    Failed(String),
    /// Someone asked to stop while the editor was open.
    Stopped,
}

impl Editor {
    pub(super) fn of_user() -> Option<Self> {
        let set = |name: &str| std::env::var(name).ok();
        ["VISUAL", "EDITOR"]
            .into_iter()
            .find_map(|name| Self::parse(&set(name)?))
    }

    /// Splits words and quotes as a shell does, and nothing more.
    fn parse(text: &str) -> Option<Self> {
        let argv = shell_words::split(text).ok()?;
        (!argv.is_empty()).then_some(Self { argv })
    }

    /// Opens a file, and waits until the editor exits.
    pub(super) fn edit(&self, file: &Path, stop: &Stop) -> EditResult {
        let name = self.argv.join(" ");
        match self.run(file, stop) {
            Err(error) => EditResult::Failed(format!("{name} cannot be started: {error}")),
            Ok(None) => EditResult::Stopped,
            Ok(Some(status)) if status.success() => EditResult::Done,
            Ok(Some(status)) => EditResult::Failed(format!("{name} ended with {status}")),
        }
    }

    fn run(&self, file: &Path, stop: &Stop) -> io::Result<Option<ExitStatus>> {
        let bell = stop.wake_pipe()?;
        let (program, arguments) = self.argv.split_first().ok_or(io::ErrorKind::NotFound)?;
        let mut child = Command::new(program).args(arguments).arg(file).spawn()?;
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(Some(status));
            }
            let mut ready = [PollFd::new(&bell, PollFlags::IN)];
            let timeout = Timespec::try_from(POLL).ok();
            // A signal cuts the wait short; then check again.
            if poll(&mut ready, timeout.as_ref()).is_ok_and(|ready| ready > 0) {
                return end(&mut child).map(|()| None);
            }
        }
    }
}

/// Ends the editor, asking it first so that nothing typed is lost.
fn end(child: &mut Child) -> io::Result<()> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid {
        // It may already have exited.
        let _ = kill_process(pid, Signal::TERM);
    }
    let asked = Instant::now();
    while asked.elapsed() < GRACE {
        if child.try_wait()?.is_some() {
            return Ok(());
        }
        thread::sleep(POLL);
    }
    child.kill()?;
    child.wait().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_and_quotes_are_understood_and_nothing_else() {
        let argv = |text| Editor::parse(text).map(|editor| editor.argv);
        assert_eq!(argv("vi").unwrap(), ["vi"]);
        assert_eq!(argv("code  --wait").unwrap(), ["code", "--wait"]);
        assert_eq!(argv("'my editor' -n").unwrap(), ["my editor", "-n"]);
        assert_eq!(
            argv("vi; rm -rf $HOME").unwrap(),
            ["vi;", "rm", "-rf", "$HOME"]
        );
        for nothing in ["", "  ", "'"] {
            assert_eq!(argv(nothing), None);
        }
    }
}
