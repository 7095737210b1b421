//! The programs, scripts and targets that checks can't start without.

use std::ffi::OsString;
use std::path::Path;
use std::time::SystemTime;

use regreen_diagnosis::{Scanner, check_failure, evidence_of};
use regreen_documents::needs_of;
use regreen_model::{CommandInput, Ending, Inspection, RepairPolicy, Source};
use regreen_repairs::{
    ManifestSnapshot, ProgramRecord, RepairContext, ToolCall, ToolQuery, inspect,
};
use regreen_workspace::{Programs, RealDisk, intended_input};

use super::commands::PlannedCommand;
use super::finding::{Preflight, PreflightFinding};
use crate::run::RunSetup;

/// The exit code of a shell that can't find a program.
const NOT_FOUND: i32 = 127;
/// Folders with a project's own programs, with what puts them into PATH.
const OWN_FOLDERS: [(&str, &str); 3] = [
    (".venv/bin", ". .venv/bin/activate"),
    ("venv/bin", ". venv/bin/activate"),
    ("node_modules/.bin", "PATH=\"$PWD/node_modules/.bin:$PATH\""),
];

/// Adds what a command needs and nothing provides.
pub(super) fn look(
    found: &mut Preflight,
    setup: &RunSetup,
    programs: &Programs,
    command: &PlannedCommand,
) {
    for need in needs_of(&command.text) {
        let is_missing = programs
            .missing(&RealDisk, std::slice::from_ref(&need))
            .is_some();
        if !is_missing || command.makers.name(&need) {
            continue;
        }
        let finding = match &need {
            CommandInput::Program(name) => missing_program(setup, command, name),
            need => missing_file(setup, need),
        };
        found.add(finding.of(&command.task));
    }
}

fn missing_program(setup: &RunSetup, command: &PlannedCommand, name: &str) -> PreflightFinding {
    let what = format!("`{name}` is not installed or not in PATH");
    let is_setup_ahead = command.makers.set_up();
    if let Some(repair) = repair_of(setup, command, name) {
        return PreflightFinding::warning(what, format!("recovery can {repair}"));
    }
    if is_setup_ahead {
        return PreflightFinding::warning(what, "this task or one before it may install it");
    }
    let root = &setup.paths.root;
    let own = OWN_FOLDERS
        .iter()
        .find(|(folder, _)| root.join(folder).join(name).exists());
    match own {
        // Repairs of an earlier run may have put the folder into PATH.
        Some((folder, _)) if crate::own_folder(root).exists() => {
            PreflightFinding::warning(what, format!("it is in {folder}"))
        }
        Some((folder, activate)) => PreflightFinding::error(
            what,
            format!("it is in {folder}: run `{activate}`, or run with --recovery-mode"),
        ),
        None => PreflightFinding::error(what, "install it, or add a task that does"),
    }
}

fn missing_file(setup: &RunSetup, need: &CommandInput) -> PreflightFinding {
    let what = need.to_string();
    match intended_input(&RealDisk, &setup.paths.root, need) {
        Some(intended) => PreflightFinding::error(
            what,
            format!("did you mean `{intended}`? Correct the Verify"),
        ),
        None => PreflightFinding::warning(what, "no task names it; an agent may create it"),
    }
}

/// Returns what recovery would do about a missing program, if it can.
fn repair_of(setup: &RunSetup, command: &PlannedCommand, name: &str) -> Option<String> {
    let repairs = setup.config.recovery && setup.config.repairs != RepairPolicy::Off;
    let root = repairs.then(|| setup.paths.root.canonicalize().ok())??;
    let output = format!("bash: line 1: {name}: command not found\n");
    let mut scanner = Scanner::new(Source::Command);
    scanner.feed(output.as_bytes());
    let ending = Ending {
        exit_code: Some(NOT_FOUND),
        ..Ending::default()
    };
    let text = Some(command.text.clone());
    let evidence = evidence_of(scanner.finish(), Source::Command, text, ending);
    let failure = check_failure(&evidence, None)?;
    let context = RepairContext {
        root: &root,
        manifests: &ManifestSnapshot::read(&root),
        programs: &ProgramRecord::read(&root),
        launchers: Path::new(".regreen/bin"),
        query: &NoAnswers,
        output: &output,
        commands: std::slice::from_ref(&command.text),
        environment: &[],
        path: &OsString::from(&setup.path),
        marker: None,
        now: SystemTime::now(),
    };
    match inspect(&context, &failure) {
        Inspection::Allowed(repair) => Some(repair.does),
        // On a terminal, or with the person's own installation.
        Inspection::Ask { repair, .. } => Some(format!("{}, if you agree", repair.does)),
        Inspection::Refused { .. } | Inspection::Nothing => None,
    }
}

/// Package managers are asked only once a repair is due.
#[derive(Debug)]
struct NoAnswers;

impl ToolQuery for NoAnswers {
    fn ask(&self, _call: &ToolCall) -> Option<String> {
        None
    }
}
