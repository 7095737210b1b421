use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use crate::background::{send_signal, wait_for_exit};
use crate::emulator::{Emulator, OnResize};
use crate::normalize::normalize_screen;
use crate::workspace::Workspace;

/// Long enough even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// Longer than the pause between the writes of one frame, shorter than that between two frames.
const BETWEEN_WRITES: Duration = Duration::from_millis(30);

/// Rows and columns; so wide that only regreen wraps lines.
const WIDE: (u16, u16) = (50, 400);

/// A command on a pseudo terminal, and the person using it.
#[derive(Debug)]
pub struct TerminalSession<'w> {
    workspace: &'w Workspace,
    child: Child,
    keyboard: File,
    reader: Option<JoinHandle<()>>,
    shown: Arc<Mutex<Vec<u8>>>,
    /// How much of the output has been searched already.
    seen: usize,
    /// The sizes of the terminal, each with the length of the output before it.
    sizes: Vec<(usize, (u16, u16))>,
}

impl Workspace {
    /// Starts a run on a terminal that only shows lines, so that its output can be compared.
    pub fn on_terminal(&self, flags: &[&str]) -> TerminalSession<'_> {
        self.on_terminal_with(flags, &[("TERM", "dumb")])
    }

    /// Starts a run on a terminal, with variables such as `TERM`.
    pub fn on_terminal_with(
        &self,
        flags: &[&str],
        variables: &[(&str, &str)],
    ) -> TerminalSession<'_> {
        let mut command = self.command(&["run"]);
        command
            .args(flags)
            .env_remove("VISUAL")
            .env_remove("EDITOR")
            .env_remove("NO_COLOR")
            .envs(variables.iter().copied());
        self.terminal_session(command, WIDE)
    }

    /// Starts a command in this workspace on a terminal with this many rows and columns.
    pub fn terminal_session(&self, mut command: Command, size: (u16, u16)) -> TerminalSession<'_> {
        let (ours, theirs) = open_terminal(size);
        command
            .stdin(Stdio::from(theirs.try_clone().unwrap()))
            .stdout(Stdio::from(theirs.try_clone().unwrap()))
            .stderr(Stdio::from(theirs));
        let child = command.spawn().unwrap();
        // Closes our copies of the program's end of the terminal.
        drop(command);
        let shown = Arc::new(Mutex::new(Vec::new()));
        let screen = File::from(ours.try_clone().unwrap());
        TerminalSession {
            workspace: self,
            child,
            keyboard: File::from(ours),
            reader: Some(read(screen, Arc::clone(&shown))),
            shown,
            seen: 0,
            sizes: vec![(0, size)],
        }
    }

    /// Returns the output of a command with only its standard output on a terminal; line endings
    /// are the terminal's.
    #[track_caller]
    pub fn output_on_terminal(&self, arguments: &[&str]) -> String {
        let (ours, theirs) = open_terminal(WIDE);
        let mut command = self.command(arguments);
        command.env("TERM", "xterm").stdout(Stdio::from(theirs));
        let mut child = command.spawn().unwrap();
        drop(command);
        let shown = Arc::new(Mutex::new(Vec::new()));
        let reader = read(File::from(ours), Arc::clone(&shown));
        let status = child.wait().unwrap();
        reader.join().unwrap();
        let shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
        let shown = String::from_utf8(shown.clone()).unwrap();
        assert!(status.success(), "{shown:?}");
        shown
    }
}

impl TerminalSession<'_> {
    /// Waits for a text, then types.
    #[track_caller]
    pub fn when(&mut self, text: &str, typed: &str) -> &mut Self {
        self.sees(text);
        self.types(typed)
    }

    /// Types without waiting for anything.
    pub fn types(&mut self, typed: &str) -> &mut Self {
        self.keyboard.write_all(typed.as_bytes()).unwrap();
        self
    }

    /// Waits for a text after the last one that was waited for.
    #[track_caller]
    pub fn sees(&mut self, text: &str) -> &mut Self {
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

    /// Sends regreen a signal, such as `INT`.
    pub fn signal(&self, name: &str) {
        send_signal(name, self.child.id());
    }

    /// Resizes the terminal to this many rows and columns.
    pub fn resize(&mut self, size: (u16, u16)) {
        self.sizes.push((self.bytes().len(), size));
        tcsetwinsize(&self.keyboard, window(size)).unwrap();
    }

    /// Whether the terminal reads lines and shows what is typed, as a shell expects it.
    pub fn is_ordinary(&self) -> bool {
        let modes = tcgetattr(&self.keyboard).unwrap().local_modes;
        modes.contains(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG)
    }

    /// Returns everything written to the terminal, including control sequences.
    pub fn shown(&self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }

    /// Returns everything written to the terminal, as bytes.
    pub fn bytes(&self) -> Vec<u8> {
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        shown.clone()
    }

    /// Returns the rows on the screen, normalized without moving columns.
    pub fn screen(&self, on_resize: OnResize) -> String {
        let bytes = self.bytes();
        let mut emulator = Emulator::new(self.sizes[0].1, on_resize);
        let mut from = 0;
        for (before, size) in &self.sizes {
            emulator.process(&bytes[from..*before]);
            emulator.resize(*size);
            from = *before;
        }
        emulator.process(&bytes[from..]);
        normalize_screen(&self.workspace.without_folders(&emulator.contents()))
    }

    /// Waits until the screen meets a condition, and a moment longer: a view is drawn in several
    /// writes, and half of one may meet it too.
    #[track_caller]
    pub fn shows(&self, is_there: impl Fn(&str) -> bool) -> String {
        let began = Instant::now();
        loop {
            let length = self.bytes().len();
            if is_there(&self.screen(OnResize::Rewrap)) {
                thread::sleep(BETWEEN_WRITES);
                let screen = self.screen(OnResize::Rewrap);
                if self.bytes().len() == length && is_there(&screen) {
                    return screen;
                }
            }
            if began.elapsed() > PATIENCE {
                self.signal("KILL");
                panic!("it is not shown:\n{}", self.screen(OnResize::Rewrap));
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits for the exit. Returns the exit code and everything that was shown, normalized.
    #[track_caller]
    pub fn ends(&mut self) -> (Option<i32>, String) {
        let shown = Arc::clone(&self.shown);
        let status = wait_for_exit(&mut self.child, || {
            let shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
            String::from_utf8_lossy(&shown).into_owned()
        });
        if let Some(reader) = self.reader.take() {
            reader.join().unwrap();
        }
        let shown = self.shown().replace("\r\n", "\n");
        (status.code(), self.workspace.plain(&shown))
    }
}

fn open_terminal(size: (u16, u16)) -> (OwnedFd, File) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    tcsetwinsize(&ours, window(size)).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
    let theirs = OpenOptions::new().read(true).write(true).open(name);
    (ours, theirs.unwrap())
}

fn window((rows, columns): (u16, u16)) -> Winsize {
    Winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    }
}

/// Reads until an error signals that the other end is closed.
fn read(mut screen: File, shown: Arc<Mutex<Vec<u8>>>) -> JoinHandle<()> {
    thread::spawn(move || {
        let mut chunk = [0; 4096];
        while let Ok(count @ 1..) = screen.read(&mut chunk) {
            let mut shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
            shown.extend_from_slice(&chunk[..count]);
        }
    })
}
