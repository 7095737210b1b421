//! What people see: whole terminal screens of 80 and 120 columns, stored as text beside this file.
//! `SNAPSHOTS=overwrite cargo test -p regreen --test screens` rewrites them.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod project;
mod resizing;

use std::fs;
use std::path::Path;
use std::process::Command;

use regreen_test_support::{OnResize, TerminalSession, Workspace, regreen};
use snapbox::IntoData as _;
use snapbox::data::DataFormat;

use crate::project::{login, release, sessions};

const WIDTHS: [u16; 2] = [80, 120];
/// High enough that nothing scrolls away.
const ROWS: u16 = 70;

/// Compares a screen with its snapshot.
#[track_caller]
fn check(name: &str, columns: u16, screen: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/screens");
    let picture = folder.join(format!("{name}-{columns}.txt"));
    let picture = snapbox::Data::read_from(&picture, Some(DataFormat::Text));
    snapbox::assert_data_eq!(screen.to_owned().into_data().raw(), picture.raw());
}

/// Starts a command on a terminal with colors and a live view.
fn start<'w>(workspace: &'w Workspace, arguments: &[&str], columns: u16) -> TerminalSession<'w> {
    let mut command = workspace.command(arguments);
    command.env("TERM", "xterm").env_remove("NO_COLOR");
    workspace.terminal_session(command, (ROWS, columns))
}

/// Returns the final screen of a command.
fn screen_of(workspace: &Workspace, arguments: &[&str], columns: u16) -> String {
    let mut session = start(workspace, arguments, columns);
    session.ends();
    session.screen(OnResize::Rewrap)
}

#[test]
fn the_demo() {
    let folder = regex::Regex::new(r"\[AGENT\]/regreen-demo-\w+").unwrap();
    for columns in WIDTHS {
        let workspace = Workspace::new().program("unused", "");
        let mut command: Command = workspace.command(&["demo"]);
        // By its bare name, as when installed.
        let bin = workspace.outside().join("bin");
        std::os::unix::fs::symlink(regreen(), bin.join("regreen")).unwrap();
        command
            .env("TERM", "xterm")
            .env("TMPDIR", workspace.outside());
        let mut session = workspace.terminal_session(command, (ROWS, columns));
        session.ends();
        let screen = session.screen(OnResize::Rewrap);
        check("demo", columns, &folder.replace_all(&screen, "[DEMO]"));
    }
}

#[test]
fn a_healing_run_while_it_works_and_when_it_is_over() {
    for columns in WIDTHS {
        let workspace = login();
        let arguments = ["run", "login", "--recovery-mode"];
        let mut session = start(&workspace, &arguments, columns);
        let at_work =
            session.shows(|screen| screen.contains("Bash: pytest") && screen.contains(" done · "));
        check("healing", columns, &at_work);
        fs::write(workspace.note_path("go"), "").unwrap();
        let (code, shown) = session.ends();
        assert_eq!(code, Some(0), "{shown}");
        check("healed", columns, &session.screen(OnResize::Rewrap));
        check(
            "status",
            columns,
            &screen_of(&workspace, &["status", "login"], columns),
        );
        let why = screen_of(&workspace, &["why", "1.2", "--spec", "login"], columns);
        check("why", columns, &why);
    }
}

#[test]
fn a_waiting_run_and_how_it_is_stopped() {
    for columns in WIDTHS {
        let workspace = release();
        let mut session = start(&workspace, &["run"], columns);
        let waiting =
            session.shows(|screen| screen.contains(" left · ") && screen.contains(" done · "));
        check("waiting", columns, &waiting);
        session.signal("INT");
        let (code, shown) = session.ends();
        assert_eq!(code, Some(130), "{shown}");
        check("stopped", columns, &session.screen(OnResize::Rewrap));
    }
}

#[test]
fn an_explanation() {
    for columns in WIDTHS {
        let workspace = login();
        let arguments = ["explain", "test-output.txt"];
        check(
            "explain",
            columns,
            &screen_of(&workspace, &arguments, columns),
        );
    }
}

#[test]
fn findings_of_lint_and_a_run_that_asks() {
    for columns in WIDTHS {
        let workspace = sessions();
        check(
            "lint",
            columns,
            &screen_of(&workspace, &["lint", "sessions"], columns),
        );
        let mut session = start(&workspace, &["run", "sessions", "--no-input"], columns);
        let (code, shown) = session.ends();
        assert_eq!(code, Some(3), "{shown}");
        check("asking", columns, &session.screen(OnResize::Rewrap));
        // Where the workspace is has no effect on the layout.
        let mut command = workspace.command(&["questions"]);
        command
            .env("TERM", "xterm")
            .env("HOME", workspace.path(""))
            .env_remove("NO_COLOR");
        let mut session = workspace.terminal_session(command, (ROWS, columns));
        session.ends();
        check("questions", columns, &session.screen(OnResize::Rewrap));
    }
}
