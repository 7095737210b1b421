//! Scenarios in which Claude Code works in its own session, and calls regreen.

use std::io;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Instant;

use super::agents::{Candidate, Cli, Sandbox};
use super::{plugin, stop_hook};

/// Returns what went wrong, with the folder of the agents and the program of regreen.
type Scenario = fn(&Path, &Path) -> io::Result<String>;

/// Runs the selected scenarios, and prints each result. Returns whether all passed.
pub(crate) fn run_all(
    candidates: &[Candidate],
    only: Option<&str>,
    bin: &Path,
    regreen: &Path,
) -> io::Result<bool> {
    let is_claude = |candidate: &Candidate| candidate.cli == Cli::Claude && !candidate.over_acp;
    if !candidates.iter().any(is_claude) {
        return Ok(true);
    }
    let scenarios: [(&str, Scenario); 2] = [
        (stop_hook::NAME, stop_hook::open_rows),
        (plugin::NAME, plugin::faults),
    ];
    let mut all_well = true;
    for (name, faults_of) in scenarios {
        if only.is_some_and(|only| only != name) {
            continue;
        }
        let begun = Instant::now();
        let faults = faults_of(bin, regreen)?;
        let seconds = begun.elapsed().as_secs();
        let verdict = if faults.is_empty() {
            "ok".to_owned()
        } else {
            format!("FAILED: {faults}")
        };
        println!("{:<12} {name:<27} {seconds:>4} s  {verdict}", "claude");
        all_well &= faults.is_empty();
    }
    Ok(all_well)
}

/// Calls Claude Code in the sandbox.
pub(crate) fn claude(sandbox: &Sandbox, arguments: &[&str]) -> io::Result<Output> {
    let environment = sandbox.environment.iter();
    Command::new("timeout")
        .args(["-s", "KILL", "120", "claude"])
        .args(arguments)
        .current_dir(&sandbox.work)
        .env_clear()
        .envs(environment.map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .output()
}
