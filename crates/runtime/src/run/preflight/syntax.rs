//! Commands that the shell can't read.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::time::Duration;

use regreen_documents::is_plain_command;
use regreen_model::PlainLine;
use regreen_supervisor::Stdin;
use regreen_workspace::{Programs, RealDisk};

use super::commands::PlannedCommand;
use super::finding::{Preflight, PreflightFinding};
use super::reader::{Answers, trusted_program};
use crate::process::{Job, Processes};
use crate::run::RunSetup;

/// How long the shell may take to read many commands.
const READING: Duration = Duration::from_secs(20);
/// How many commands one process reads. With `MAX_TEXT`, they fit into its arguments.
const TEXTS_AT_ONCE: usize = 64;
/// A longer command is left to its task.
const MAX_TEXT: usize = 16 * 1024;
/// Reads every argument, and prints the result.
const READER: &str = r#"for text do
printf '%s\n' "$text" | "$0" -n 2>&1
printf '\0%s\0' "$?"
done"#;
const SHOWN_CHARS: usize = 160;
/// What only shells say that gave up reading.
const COMPLAINTS: [&str; 4] = [
    "syntax error",
    "Syntax error",
    "unexpected EOF",
    "unexpected end of file",
];

/// Adds the commands that the shell can't read. The shell never runs them: they are the input of a
/// shell that is told to only read.
pub(super) fn look(
    found: &mut Preflight,
    setup: &RunSetup,
    programs: &Programs,
    processes: &Processes,
    planned: &[PlannedCommand],
) {
    let Some(shell) = trusted_shell(setup, programs) else {
        return;
    };
    let texts: BTreeSet<&str> = planned
        .iter()
        .map(|command| command.text.as_str())
        .filter(|text| !is_plain_command(text) && text.len() <= MAX_TEXT)
        .collect();
    let complaints = complaints(processes, &shell, &texts.into_iter().collect::<Vec<_>>());
    for command in planned {
        if let Some(complaint) = complaints.get(command.text.as_str()) {
            let what = format!("the shell can't read a command: {complaint}");
            let help = "run `regreen lint` to see the task, and correct its Verify";
            found.add(PreflightFinding {
                is_unreadable: true,
                ..PreflightFinding::error(what, help).of(&command.task)
            });
        }
    }
}

/// Returns the shell that runs Verify, unless the repository provides it.
fn trusted_shell(setup: &RunSetup, programs: &Programs) -> Option<OsString> {
    let shell = ["bash", "sh"]
        .into_iter()
        .find(|name| programs.find(&RealDisk, name).is_some())?;
    trusted_program(setup, programs, shell)
}

/// Returns what the shell says about the commands that it can't read. A keeper takes longer to start
/// than a shell, so one keeper has the shell read many.
fn complaints<'t>(
    processes: &Processes,
    shell: &OsString,
    texts: &[&'t str],
) -> BTreeMap<&'t str, String> {
    let mut complaints = BTreeMap::new();
    for texts in texts.chunks(TEXTS_AT_ONCE) {
        let said = read_all(processes, shell, texts).unwrap_or_default();
        let mut parts = said.split('\0');
        for text in texts {
            let (Some(said), Some(code)) = (parts.next(), parts.next()) else {
                break;
            };
            let complaint = complaint(said).filter(|_| code != "0");
            complaints.extend(complaint.map(|complaint| (*text, complaint)));
        }
    }
    complaints
}

/// Has the shell read each text. Returns what it says about each, and its exit code, each ended by a
/// NUL. The texts are arguments of a fixed script, and the input of a shell that only reads.
fn read_all(processes: &Processes, shell: &OsString, texts: &[&str]) -> Option<String> {
    let unset = |name: &str| (OsString::from(name), None);
    let script = [shell.clone(), "-c".into(), READER.into(), shell.clone()];
    let texts = texts.iter().map(|text| text.replace('\0', "").into());
    let job = Job {
        argv: script.into_iter().chain(texts).collect(),
        // A shell runs the files that these name, even if it only reads.
        env: vec![
            unset("BASH_ENV"),
            unset("ENV"),
            ("LC_ALL".into(), Some("C".into())),
        ],
        stdin: Stdin::Empty,
        timeout: READING,
        idle: None,
        purpose: "syntax".to_owned(),
    };
    Answers::of(processes, job)
}

/// Returns the line in which a shell says that it gave up reading.
fn complaint(said: &str) -> Option<String> {
    let is_complaint = |line: &&str| COMPLAINTS.iter().any(|words| line.contains(words));
    let line = said.lines().find(is_complaint)?;
    // `bash: line 3: syntax error …`
    let line = line.split_once(": ").map_or(line, |(_, rest)| rest);
    Some(PlainLine::flatten(line, SHOWN_CHARS).to_string())
}
