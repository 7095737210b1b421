//! Why an attempt failed, from what its agent says and from what was printed besides.

use regreen_agents::OutputKind;
use regreen_diagnosis::rank;
use regreen_model::{
    ApiTrouble, Confidence, Ending, Evidence, Failure, FailureKind, Output, ResetTime, Source,
    TroubleClass, named_span,
};

use crate::heard::Heard;

/// Rules that go by the exit alone, and those about the services behind agents.
const BY_EXIT: &str = "exit/";
const AGENT_APIS: &str = "agent_apis/";
/// Words that are less sure explain less than what was printed.
const SURE: Confidence = Confidence::percent(50);
/// As sure must be what makes us wait, or stop all.
const CERTAIN: Confidence = Confidence::percent(80);

/// What an agent says, as evidence.
pub(crate) fn evidence(heard: &Heard) -> Evidence {
    Evidence {
        source: Source::Agent,
        output: Output {
            head: heard.words.clone(),
            ..Output::default()
        },
        final_message: Some(heard.words.clone()),
        tools: heard.tools.clone(),
        ..Evidence::default()
    }
}

/// Why it failed, if it did. The words are evidence already; what was printed besides is only
/// looked at where they explain nothing.
pub(crate) fn why(words: &Evidence, heard: &Heard, failed: bool) -> Option<Failure> {
    match (heard.prints, &heard.output) {
        (OutputKind::CommandOutput, Some(output)) => rank(&of_commands(words, heard, output)),
        (OutputKind::Mixed, Some(output)) if failed => {
            let own = rank(words);
            let is_silent = heard.words.trim().is_empty();
            match own {
                Some(own) if !is_silent && explains(&own) => Some(own),
                own => rank(&printed(words, output)).or(own),
            }
        }
        _ => rank(words),
    }
}

/// What keeps the agent from its own service, where only what it prints can tell.
pub(crate) fn own_trouble(heard: &Heard, ending: Ending) -> Option<ApiTrouble> {
    let has_failed = ending.exit_code.is_some_and(|code| code != 0) && !ending.timed_out;
    if heard.prints != OutputKind::Mixed || !has_failed {
        return None;
    }
    let words = Evidence {
        ending,
        ..evidence(heard)
    };
    let found = why(&words, heard, true)?;
    let is_certain = found.rule.starts_with(AGENT_APIS) && found.confidence >= CERTAIN;
    let class = trouble_class(found.kind).filter(|_| is_certain)?;
    let message = found.blocked_on.unwrap_or(found.message);
    Some(ApiTrouble {
        class,
        kind: found.kind,
        resets: named_span(&message).map(ResetTime::After),
        message,
        status: None,
    })
}

fn trouble_class(kind: FailureKind) -> Option<TroubleClass> {
    match kind {
        FailureKind::RateLimited | FailureKind::ServiceUnavailable => Some(TroubleClass::Transient),
        FailureKind::AuthFailed | FailureKind::NoCredit => Some(TroubleClass::Fatal),
        _ => None,
    }
}

fn explains(found: &Failure) -> bool {
    !found.rule.starts_with(BY_EXIT) && found.confidence >= SURE
}

fn of_commands(words: &Evidence, heard: &Heard, output: &Output) -> Evidence {
    let (command, exit_code) = heard.last_tool.clone().unzip();
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

fn printed(words: &Evidence, output: &Output) -> Evidence {
    Evidence {
        source: Source::Command,
        output: output.clone(),
        final_message: None,
        ..words.clone()
    }
}

#[cfg(test)]
mod tests {
    use regreen_diagnosis::Scanner;

    use super::*;

    fn heard(words: &str, printed: &str) -> Heard {
        let mut scanner = Scanner::new(Source::Command);
        scanner.feed(printed.as_bytes());
        Heard {
            words: words.to_owned(),
            output: Some(scanner.finish()),
            prints: OutputKind::Mixed,
            ..Heard::default()
        }
    }

    const EXIT_1: Ending = Ending {
        exit_code: Some(1),
        signal: None,
        timed_out: false,
        limit_ms: None,
        duration_ms: 0,
    };

    fn found(heard: &Heard) -> Failure {
        let words = Evidence {
            ending: EXIT_1,
            ..evidence(heard)
        };
        why(&words, heard, true).unwrap()
    }

    #[test]
    fn what_was_printed_explains_what_words_do_not() {
        let heard = heard(
            "start",
            "start\nModuleNotFoundError: No module named 'yaml'\n",
        );
        assert_eq!(found(&heard).kind, FailureKind::MissingPythonModule);
    }

    #[test]
    fn words_that_explain_it_are_believed() {
        let said = "TASK_FAILED: 1.1\nError: fatal: not a git repository\n";
        let heard = heard(said, "TypeError: x is not a function\n");
        assert_eq!(found(&heard).kind, FailureKind::GitNotARepo);
    }

    #[test]
    fn a_service_that_is_busy_is_waited_for_as_long_as_it_says() {
        let said = "API Error: 429 rate_limit_error, try again in 2 seconds\n";
        let trouble = own_trouble(&heard(said, said), EXIT_1).unwrap();
        assert_eq!(trouble.class, TroubleClass::Transient);
        assert_eq!(trouble.resets, Some(ResetTime::After(2000)));
        let said = "Invalid API key · Please run /login\n";
        let trouble = own_trouble(&heard("", said), EXIT_1).unwrap();
        assert_eq!(trouble.class, TroubleClass::Fatal);
    }

    #[test]
    fn who_succeeds_or_fails_for_another_reason_has_no_trouble_of_its_own() {
        let said = "API Error: 429 rate_limit_error\n";
        let is_done = Ending {
            exit_code: Some(0),
            ..EXIT_1
        };
        assert_eq!(own_trouble(&heard(said, said), is_done), None);
        let said = "curl: (7) Failed to connect to localhost port 80: Connection refused\n";
        assert_eq!(own_trouble(&heard(said, said), EXIT_1), None);
    }
}
