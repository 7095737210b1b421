//! Explains an attempt by its agent's words and by other output.

use regreen_model::{
    AttemptReport, Confidence, Ending, Evidence, Failure, Output, OutputKind, Source, Transcript,
};

use crate::cause_origin::CauseOrigin;
use crate::rank;

/// Below this, an agent's words explain less than the output does.
pub(super) const CONVINCING: Confidence = Confidence::percent(50);

pub(super) fn evidence_of_attempt(report: &AttemptReport, transcript: &Transcript) -> Evidence {
    Evidence {
        ending: report.ending,
        // This alone decides how a time limit is handled.
        progressed: Some(report.progressed),
        ..evidence_of_words(transcript)
    }
}

pub(super) fn evidence_of_words(transcript: &Transcript) -> Evidence {
    let words = transcript.own_words.clone();
    Evidence {
        source: Source::Agent,
        output: Output {
            head: words.clone(),
            ..Output::default()
        },
        final_message: Some(words),
        tools: transcript.tools.clone(),
        ..Evidence::default()
    }
}

/// Ranks the agent's words. Other output counts only if they explain nothing, or if the agent has
/// no words of its own.
pub(super) fn explain(words: &Evidence, transcript: &Transcript, failed: bool) -> Option<Failure> {
    match (transcript.output_kind, &transcript.output) {
        // If no command ran, the words are those of the agent itself.
        (OutputKind::Commands, Some(output)) if transcript.last_tool.is_some() => {
            rank(&evidence_of_last_command(words, transcript, output))
        }
        (OutputKind::Mixed, Some(output)) if failed => {
            let is_silent = transcript.own_words.trim().is_empty();
            match rank(words) {
                Some(failure) if !is_silent && is_convincing(&failure) => Some(failure),
                failure => rank(&evidence_of_output(words, output)).or(failure),
            }
        }
        _ => rank(words),
    }
}

pub(crate) fn is_convincing(failure: &Failure) -> bool {
    CauseOrigin::of(failure) != CauseOrigin::Exit && failure.confidence >= CONVINCING
}

fn evidence_of_last_command(
    words: &Evidence,
    transcript: &Transcript,
    output: &Output,
) -> Evidence {
    let (command, exit_code) = transcript.last_tool.clone().unzip();
    Evidence {
        source: Source::Command,
        command,
        ending: Ending {
            exit_code: exit_code.flatten().or(words.ending.exit_code),
            ..words.ending
        },
        output: output.clone(),
        ..words.clone()
    }
}

fn evidence_of_output(words: &Evidence, output: &Output) -> Evidence {
    Evidence {
        source: Source::Command,
        output: output.clone(),
        final_message: None,
        ..words.clone()
    }
}
