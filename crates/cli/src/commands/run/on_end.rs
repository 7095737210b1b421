//! Runs the user's `on_end` program.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::output;

/// Runs the program with the summary as JSON on its standard input. Its result does not change
/// that of the run.
pub fn run(argv: &[String], root: &Path, summary: &str) {
    if let Err(error) = start(argv, root, summary) {
        let program = argv.first().map_or("", String::as_str);
        output::note(&format!("on_end: {program}: {error}"));
    }
}

fn start(argv: &[String], root: &Path, summary: &str) -> std::io::Result<()> {
    let Some((program, arguments)) = argv.split_first() else {
        return Ok(());
    };
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(root)
        .stdin(Stdio::piped())
        .spawn()?;
    if let Some(mut input) = child.stdin.take() {
        // The program may choose not to read it.
        let _ = input.write_all(summary.as_bytes());
    }
    let status = child.wait()?;
    if !status.success() {
        output::note(&format!("on_end: {program} failed: {status}"));
    }
    Ok(())
}
