//! A command whose output is a terminal.

use std::fs::{File, OpenOptions};
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::process::Stdio;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::scene::Scene;

impl Scene {
    /// What a person would see; line ends as the terminal makes them.
    pub(crate) fn on_terminal(&self, arguments: &[&str]) -> String {
        let (ours, theirs) = terminal();
        let mut command = self.command(arguments);
        command.env("TERM", "xterm").stdout(Stdio::from(theirs));
        let mut child = command.spawn().unwrap();
        // Its own end of the terminal is closed with it.
        drop(command);
        let shown = read(ours);
        assert!(child.wait().unwrap().success(), "{shown:?}");
        shown
    }
}

fn terminal() -> (OwnedFd, File) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
    let theirs = OpenOptions::new().read(true).write(true).open(name);
    (ours, theirs.unwrap())
}

/// Reading ends with an error when nobody has the other end any more.
fn read(ours: OwnedFd) -> String {
    let mut ours = File::from(ours);
    let mut shown = Vec::new();
    let mut chunk = [0; 4096];
    while let Ok(count @ 1..) = ours.read(&mut chunk) {
        shown.extend_from_slice(&chunk[..count]);
    }
    String::from_utf8(shown).unwrap()
}
