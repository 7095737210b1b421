//! A defect gives the terminal back, and says what it is.
#![expect(clippy::panic, reason = "the test is about a panic")]

use std::io;
use std::process::Command;
use std::sync::Arc;

use regreen_model::Timestamp;
use regreen_overview::{
    Action, AttemptRef, AttemptText, ChangeFeed, LogPage, Machine, PageStart, RunDetails, RunKey,
    RunSummary,
};
use regreen_test_support::Workspace;
use regreen_tui::{Options, Theme, run};

struct Defective;

impl Machine for Defective {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(1)
    }

    fn runs(&self) -> Vec<RunSummary> {
        std::thread::sleep(std::time::Duration::from_millis(300));
        panic!("a defect")
    }

    fn run(&self, _key: &RunKey) -> Option<RunDetails> {
        None
    }

    fn text(
        &self,
        _attempt: &AttemptRef,
        _text: AttemptText,
        _blamed: Option<&str>,
        _start: PageStart,
        _lines: usize,
    ) -> Result<LogPage, String> {
        Err(String::new())
    }

    fn act(&self, _run: &RunKey, _action: &Action) -> Result<String, String> {
        Err(String::new())
    }

    fn watch(&self) -> io::Result<ChangeFeed> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[test]
#[ignore = "the test below starts it on a terminal"]
fn shows_a_defective_machine() {
    let (stop, _open) = io::pipe().unwrap();
    let options = Options {
        only: None,
        theme: Theme::Plain,
        stop,
    };
    let machine: Arc<dyn Machine> = Arc::new(Defective);
    run(&machine, options).unwrap();
}

#[test]
fn a_panic_gives_the_terminal_back_before_it_is_reported() {
    let workspace = Workspace::new();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--ignored", "--exact", "--nocapture"])
        .arg("shows_a_defective_machine");
    let mut session = workspace.terminal_session(command, (24, 80));
    session.sees("\u{1b}[?1049h");
    session.sees("\u{1b}[?1049l");
    session.sees("a defect");
    session.ends();
    assert!(session.is_ordinary());
}
