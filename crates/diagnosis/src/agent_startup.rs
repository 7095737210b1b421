//! Errors of an agent's own program that end it before it does anything: a wrong option, a refused
//! user, a broken installation.

use regreen_model::{
    ERROR_CHARS, Ending, Evidence, Output, OutputKind, PlainLine, Source, Transcript,
};

use crate::attempt_failure::is_convincing;
use crate::rank;

/// Returns the error with which an agent's program ended before its protocol began; `None` if it
/// began, succeeded or said nothing.
#[must_use]
pub fn startup_error(transcript: &Transcript, ending: Ending) -> Option<String> {
    let has_failed = ending.exit_code.is_some_and(|code| code != 0) && !ending.timed_out;
    let has_begun = transcript.worked
        || transcript.session.is_some()
        || transcript.finished.is_some()
        || transcript.question.is_some()
        || transcript.trouble.is_some();
    let speaks_a_protocol = transcript.output_kind == OutputKind::Messages;
    if !has_failed || has_begun || !speaks_a_protocol {
        return None;
    }
    let printed = transcript.output.as_ref()?;
    let error = diagnosed_line(printed, ending).or_else(|| last_line(printed))?;
    Some(PlainLine::flatten(&error, ERROR_CHARS).to_string())
}

/// Returns the line that a rule explains. A usage message follows many errors.
fn diagnosed_line(printed: &Output, ending: Ending) -> Option<String> {
    let found = rank(&Evidence {
        source: Source::Command,
        ending,
        output: printed.clone(),
        ..Evidence::default()
    })?;
    found.blocked_on.clone().filter(|_| is_convincing(&found))
}

fn last_line(printed: &Output) -> Option<String> {
    let mut lines = printed.end().lines().map(str::trim);
    lines.rfind(|line| !line.is_empty()).map(ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scanner;

    fn printed(text: &str) -> Transcript {
        let mut scanner = Scanner::new(Source::Command);
        scanner.feed(text.as_bytes());
        Transcript {
            output: Some(scanner.finish()),
            ..Transcript::default()
        }
    }

    fn exited(code: i32) -> Ending {
        Ending {
            exit_code: Some(code),
            ..Ending::default()
        }
    }

    #[test]
    fn the_error_of_a_program_that_refuses_to_start_is_quoted() {
        let refused = "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons";
        assert_eq!(
            startup_error(&printed(&format!("{refused}\n\n")), exited(1)).as_deref(),
            Some(refused)
        );
        let usage = "error: unexpected argument '--full' found\n\nUsage: codex exec [OPTIONS]\n\nFor more information, try '--help'.\n";
        let found = startup_error(&printed(usage), exited(2)).unwrap();
        assert!(found.contains("unexpected argument '--full'"), "{found}");
    }

    #[test]
    fn an_agent_that_began_or_succeeded_has_no_startup_error() {
        let refused = printed("no\n");
        assert_eq!(startup_error(&refused, exited(0)), None);
        assert_eq!(startup_error(&printed(""), exited(1)), None);
        let worked = Transcript {
            worked: true,
            ..refused.clone()
        };
        assert_eq!(startup_error(&worked, exited(1)), None);
        let prints_anything = Transcript {
            output_kind: OutputKind::Mixed,
            ..refused
        };
        assert_eq!(startup_error(&prints_anything, exited(1)), None);
    }
}
