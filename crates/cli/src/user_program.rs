//! Runs the programs that the user's own configuration names: `on_end`, `on_question` and `on_alert`.

use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;

use crate::output;

/// Runs the program of a setting to its end, with this text on its standard input. Its result does
/// not affect the run's.
pub fn run(setting: &str, argv: &[String], root: &Path, input: &str) {
    let Some(mut child) = start(setting, argv, root, input) else {
        return;
    };
    let program = argv.first().map_or("", String::as_str);
    match child.wait() {
        Ok(status) if status.success() => {}
        Ok(status) => output::note(&format!("{setting}: {program} failed: {status}")),
        Err(error) => output::note(&format!("{setting}: {program}: {error}")),
    }
}

/// Does the same without waiting for the program, which may outlive the run.
pub fn run_beside(setting: &'static str, argv: &[String], root: &Path, input: &str) {
    if let Some(mut child) = start(setting, argv, root, input) {
        // If there is no thread for it, a zombie is left until regreen ends.
        let _ = thread::Builder::new().spawn(move || child.wait());
    }
}

fn start(setting: &str, argv: &[String], root: &Path, input: &str) -> Option<Child> {
    let (program, arguments) = argv.split_first()?;
    let child = Command::new(program)
        .args(arguments)
        .current_dir(root)
        .stdin(Stdio::piped())
        .spawn();
    match child {
        Ok(mut child) => {
            if let Some(mut stdin) = child.stdin.take() {
                // The program need not read it.
                let _ = stdin.write_all(input.as_bytes());
            }
            Some(child)
        }
        Err(error) => {
            output::note(&format!("{setting}: {program}: {error}"));
            None
        }
    }
}
