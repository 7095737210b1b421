//! Final messages of agents that signal completion. Odd messages were seen when the rules were
//! written; the even ones show how the rules do on others.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use regreen_diagnosis::ObservedAttempt;
use regreen_model::{AttemptReport, Ending, TaskId, Transcript};

const HARMLESS: &str = include_str!("harmless_messages.txt");
/// One message per line, with `\n` for its line breaks.
const UNFINISHED: &str = include_str!("unfinished_messages.txt");

fn report(message: &str) -> AttemptReport {
    let attempt = ObservedAttempt {
        transcript: Transcript {
            final_message: message.to_owned(),
            own_words: message.to_owned(),
            finished: Some(true),
            ..Transcript::default()
        },
        ending: Ending {
            exit_code: Some(0),
            ..Ending::default()
        },
        ..ObservedAttempt::default()
    };
    attempt.task_report(&TaskId::parse("1.1").unwrap(), false)
}

/// Returns what would keep the message from passing without a word.
fn objection(message: &str) -> Option<String> {
    let report = report(message);
    if !report.signalled {
        return Some("no signal".to_owned());
    }
    let contradiction = report
        .contradiction
        .map(|words| format!("contradiction: {words}"));
    contradiction.or(report.admission)
}

#[test]
fn nothing_is_held_against_messages_about_finished_work() {
    let wrong: Vec<String> = HARMLESS
        .split("======\n")
        .filter_map(|message| Some(format!("{message}=> {}", objection(message)?)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn messages_about_unfinished_work_are_never_silent() {
    let silent: Vec<&str> = UNFINISHED
        .lines()
        .filter(|line| objection(&line.replace("\\n", "\n")).is_none())
        .collect();
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}
