//! What the exit says where no line does.

use regreen_model::{Evidence, FailureKind};

use super::candidate::Candidate;
use super::compose::Diagnosis;
use crate::cause_origin::{EXIT_CODE, EXIT_SIGNAL};

pub(crate) const SIGKILL: i32 = 9;
const SIGTERM: i32 = 15;
const SIGINT: i32 = 2;
/// Shells report a death by signal as 128 and its number.
const SIGNAL_BASE: i32 = 128;
const LAST_SIGNAL: i32 = 64;

/// A line must prove at least this much to be believed rather than the signal.
const STRONGER_THAN_SIGNAL: i32 = 45;

/// The signal that ended it, if one did and no line explains more.
pub(crate) fn over(evidence: &Evidence, cause: Option<&Candidate<'_>>) -> Option<Diagnosis> {
    let signal = signal(evidence)?;
    if cause.is_some_and(|cause| cause.score >= STRONGER_THAN_SIGNAL) {
        return None;
    }
    let kind = match signal {
        // Nobody sends KILL without a word but the kernel that needs the memory.
        SIGKILL => FailureKind::OutOfMemory,
        SIGINT => FailureKind::Interrupted,
        _ => FailureKind::CrashedBySignal,
    };
    Some(Diagnosis {
        confidence: 50,
        message: Some(format!("Ended by {}", signal_name(signal))),
        ..Diagnosis::quoting_last_line(kind, EXIT_SIGNAL, evidence)
    })
}

pub(crate) fn signal(evidence: &Evidence) -> Option<i32> {
    let by_shell = || {
        let code = evidence.ending.exit_code?;
        let signal = code - SIGNAL_BASE;
        (1..=LAST_SIGNAL).contains(&signal).then_some(signal)
    };
    // 255 and its neighbours are ordinary codes; 126 to 128 are the shell's own.
    let is_usual = |signal: &i32| matches!(signal, 1..=15 | 24 | 25 | 31);
    evidence
        .ending
        .signal
        .or_else(|| by_shell().filter(is_usual))
}

fn signal_name(signal: i32) -> String {
    match signal {
        SIGINT => "SIGINT".to_owned(),
        6 => "SIGABRT".to_owned(),
        SIGKILL => "SIGKILL".to_owned(),
        11 => "SIGSEGV".to_owned(),
        SIGTERM => "SIGTERM".to_owned(),
        other => format!("signal {other}"),
    }
}

/// It failed and nothing says why: the last line is the best there is.
pub(crate) fn unexplained(evidence: &Evidence) -> Diagnosis {
    let kind = match evidence.ending.exit_code {
        Some(127) => FailureKind::MissingCommand,
        Some(126) => FailureKind::NotExecutable,
        _ => FailureKind::RuntimeException,
    };
    Diagnosis {
        confidence: 20,
        message: evidence
            .ending
            .exit_code
            .map(|code| format!("Ended with exit code {code}")),
        ..Diagnosis::quoting_last_line(kind, EXIT_CODE, evidence)
    }
}

/// The number of a signal given as a number or a name: `9`, `KILL`, `SIGKILL`.
#[must_use]
pub fn signal_number(text: &str) -> Option<i32> {
    let name = text.trim().to_ascii_uppercase();
    let name = name.strip_prefix("SIG").unwrap_or(&name);
    const NAMES: [(&str, i32); 16] = [
        ("HUP", 1),
        ("INT", 2),
        ("QUIT", 3),
        ("ILL", 4),
        ("TRAP", 5),
        ("ABRT", 6),
        ("BUS", 7),
        ("FPE", 8),
        ("KILL", 9),
        ("USR1", 10),
        ("SEGV", 11),
        ("USR2", 12),
        ("PIPE", 13),
        ("ALRM", 14),
        ("TERM", 15),
        ("XCPU", 24),
    ];
    let by_name = NAMES
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, n)| *n);
    by_name.or_else(|| name.parse().ok())
}
