//! Commands that the shell can't read.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::Duration;

use regreen_documents::is_plain_command;
use regreen_model::PlainLine;
use regreen_redaction::Masks;
use regreen_supervisor::{EndReason, Exit, Keepers, Stdin, Stream};
use regreen_workspace::{Programs, RealDisk};

use super::commands::PlannedCommand;
use super::finding::{Preflight, PreflightFinding};
use crate::asleep::SleepLedger;
use crate::process::{Job, Processes, Sink};
use crate::run::{RunSetup, marker_prefix};

/// How long the shell may take to read a command.
const READING: Duration = Duration::from_secs(5);
/// How much of its complaint is kept.
const KEPT: usize = 1024;
const SHOWN_CHARS: usize = 160;
/// What only shells say that gave up reading.
const COMPLAINTS: [&str; 4] = [
    "syntax error",
    "Syntax error",
    "unexpected EOF",
    "unexpected end of file",
];

/// Adds the commands that the shell can't read. The shell never runs them: they are its standard
/// input, and it is told to only read.
pub(super) fn look(
    found: &mut Preflight,
    setup: &RunSetup,
    programs: &Programs,
    planned: &[PlannedCommand],
    masks: &Masks,
) {
    let Some(shell) = trusted_shell(setup, programs) else {
        return;
    };
    let processes = Processes {
        keepers: Keepers::new(setup.keeper.clone()),
        root: setup.paths.root.clone(),
        masks: masks.clone(),
        stop: setup.stop.clone(),
        asleep: SleepLedger::default(),
        run: format!("{}preflight", marker_prefix(&setup.paths.root)),
        last_copy: None,
    };
    let mut read: BTreeMap<&str, Option<String>> = BTreeMap::new();
    for command in planned
        .iter()
        .filter(|command| !is_plain_command(&command.text))
    {
        let complaint = read
            .entry(&command.text)
            .or_insert_with(|| complaint(&processes, &shell, &command.text));
        if let Some(complaint) = complaint {
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
        .find_map(|name| programs.find(&RealDisk, name))?;
    let real = shell.canonicalize().ok()?;
    let root = setup.paths.root.canonicalize().ok()?;
    (shell.is_absolute() && !shell.starts_with(&root) && !real.starts_with(&root))
        .then(|| shell.into_os_string())
}

/// Returns what the shell says about a command that it can't read.
fn complaint(processes: &Processes, shell: &OsString, text: &str) -> Option<String> {
    let unset = |name: &str| (OsString::from(name), None);
    let job = Job {
        argv: vec![shell.clone(), "-n".into()],
        // A shell runs the files that these name, even if it only reads.
        env: vec![
            unset("BASH_ENV"),
            unset("ENV"),
            ("LC_ALL".into(), Some("C".into())),
        ],
        stdin: Stdin::Bytes(format!("{}\n", text.replace('\0', "")).into_bytes()),
        timeout: READING,
        idle: None,
        purpose: "syntax".to_owned(),
    };
    let mut said = Complaint(Vec::new());
    let ended = processes.run(job, &mut said).ok()?;
    let has_refused =
        ended.reason == EndReason::Normal && matches!(ended.exit, Exit::Exited(code) if code != 0);
    let said = String::from_utf8_lossy(&said.0).into_owned();
    let line = said
        .lines()
        .find(|line| COMPLAINTS.iter().any(|words| line.contains(words)))?;
    // `bash: line 3: syntax error …`
    let line = line.split_once(": ").map_or(line, |(_, rest)| rest);
    has_refused.then(|| PlainLine::flatten(line, SHOWN_CHARS).to_string())
}

/// Keeps the beginning of what a shell complains about.
struct Complaint(Vec<u8>);

impl Sink for Complaint {
    fn take(&mut self, stream: Stream, bytes: &[u8]) -> bool {
        let room = KEPT.saturating_sub(self.0.len());
        if stream == Stream::Stderr {
            self.0.extend(bytes.iter().take(room));
        }
        true
    }
}
