//! Telling the user's own program how a run ended.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::output;

/// Runs it with the summary as JSON on its input. Whatever it does, the run has ended as it
/// has.
pub fn run(argv: &[String], root: &Path, summary: &str) {
    if let Err(error) = tell(argv, root, summary) {
        let program = argv.first().map_or("", String::as_str);
        output::note(&format!("on_end: {program}: {error}"));
    }
}

fn tell(argv: &[String], root: &Path, summary: &str) -> std::io::Result<()> {
    let Some((program, arguments)) = argv.split_first() else {
        return Ok(());
    };
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(root)
        .stdin(Stdio::piped())
        .spawn()?;
    if let Some(mut input) = child.stdin.take() {
        // A program that does not read it has no use for it.
        let _ = input.write_all(summary.as_bytes());
    }
    let status = child.wait()?;
    if !status.success() {
        output::note(&format!("on_end: {program} ended with {status}"));
    }
    Ok(())
}
