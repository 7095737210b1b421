//! A run on a terminal, and the person before it.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::scene::{Scene, kill};

/// Long enough for anything that happens at all, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Wide enough that nothing is broken into lines but by regreen.
const SIZE: Winsize = Winsize {
    ws_row: 50,
    ws_col: 400,
    ws_xpixel: 0,
    ws_ypixel: 0,
};

impl Scene {
    /// A run on a terminal that only shows lines: what is seen can be compared.
    pub(crate) fn on_terminal(&self, flags: &[&str]) -> AtTerminal<'_> {
        self.on_terminal_with(flags, &[("TERM", "dumb")])
    }

    pub(crate) fn on_terminal_with(
        &self,
        flags: &[&str],
        variables: &[(&str, &str)],
    ) -> AtTerminal<'_> {
        let (ours, theirs) = terminal();
        let mut command = self.command(&["run"]);
        command
            .args(flags)
            .env_remove("VISUAL")
            .env_remove("EDITOR")
            .env_remove("NO_COLOR")
            .envs(variables.iter().copied())
            .stdin(Stdio::from(theirs.try_clone().unwrap()))
            .stdout(Stdio::from(theirs.try_clone().unwrap()))
            .stderr(Stdio::from(theirs));
        let child = command.spawn().unwrap();
        // Its own ends of the terminal are closed with it.
        drop(command);
        let shown = Arc::new(Mutex::new(Vec::new()));
        let screen = File::from(ours.try_clone().unwrap());
        AtTerminal {
            scene: self,
            child,
            keyboard: File::from(ours),
            reader: Some(read(screen, Arc::clone(&shown))),
            shown,
            seen: 0,
        }
    }
}

/// Somebody who reads and types.
pub(crate) struct AtTerminal<'s> {
    scene: &'s Scene,
    child: Child,
    keyboard: File,
    reader: Option<JoinHandle<()>>,
    shown: Arc<Mutex<Vec<u8>>>,
    /// So much was read and answered.
    seen: usize,
}

impl AtTerminal<'_> {
    /// Waits until this is seen, then types.
    #[track_caller]
    pub(crate) fn when(&mut self, text: &str, typed: &str) -> &mut Self {
        self.sees(text);
        self.keyboard.write_all(typed.as_bytes()).unwrap();
        self
    }

    #[track_caller]
    pub(crate) fn sees(&mut self, text: &str) -> &mut Self {
        let began = Instant::now();
        loop {
            let shown = self.shown();
            if let Some(at) = shown.get(self.seen..).and_then(|new| new.find(text)) {
                self.seen += at + text.len();
                return self;
            }
            if began.elapsed() > PATIENCE {
                self.signal("KILL");
                panic!("{text:?} is not seen: {shown}");
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn signal(&self, name: &str) {
        kill(name, self.child.id());
    }

    fn shown(&self) -> String {
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&shown).into_owned()
    }

    /// The exit code, and all that was seen.
    #[track_caller]
    pub(crate) fn ends(&mut self) -> (Option<i32>, String) {
        let began = Instant::now();
        let status = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status,
                None if began.elapsed() > PATIENCE => {
                    self.signal("KILL");
                    panic!("the run does not end: {}", self.shown());
                }
                None => thread::sleep(Duration::from_millis(10)),
            }
        };
        if let Some(reader) = self.reader.take() {
            reader.join().unwrap();
        }
        let shown = self.shown().replace("\r\n", "\n");
        (status.code(), self.scene.plain(&shown))
    }
}

fn terminal() -> (OwnedFd, File) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    tcsetwinsize(&ours, SIZE).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
    let theirs = OpenOptions::new().read(true).write(true).open(name);
    (ours, theirs.unwrap())
}

/// Reading ends with an error when nobody has the other end any more.
fn read(mut screen: File, shown: Arc<Mutex<Vec<u8>>>) -> JoinHandle<()> {
    thread::spawn(move || {
        let mut chunk = [0; 4096];
        while let Ok(count @ 1..) = screen.read(&mut chunk) {
            let mut shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
            shown.extend_from_slice(&chunk[..count]);
        }
    })
}
