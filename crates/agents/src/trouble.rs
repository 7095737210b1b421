//! The meaning of errors from an agent's service.

use regreen_model::{
    AgentEvent, ApiTrouble, ERROR_CHARS, FailureKind, PlainLine, ResetTime, TroubleClass,
};

use crate::message::bounded;
use crate::reset_time::reset_in;

/// An error, from an agent's own error fields. Text that a model wrote never gets here.
#[derive(Clone, Debug, Default)]
pub(crate) struct ApiError<'a> {
    pub(crate) status: Option<u16>,
    /// Its name in the protocol: `rate_limit`, `UNAUTHENTICATED`.
    pub(crate) word: &'a str,
    pub(crate) message: &'a str,
    /// When it ends, if a field says so.
    pub(crate) resets: Option<ResetTime>,
}

impl<'a> ApiError<'a> {
    /// Creates an error of which only the message is known.
    pub(crate) fn of(message: &'a str) -> Self {
        Self {
            message,
            ..Self::default()
        }
    }

    /// Creates an error that only a protocol word names.
    pub(crate) fn named(word: &'a str, message: &'a str) -> Self {
        Self {
            word,
            ..Self::of(message)
        }
    }

    /// Returns the trouble, or the message if it says nothing about the service.
    pub(crate) fn into_event(self) -> AgentEvent {
        match trouble(&self) {
            Some(trouble) => AgentEvent::Trouble(trouble),
            None => AgentEvent::FinalMessage {
                text: bounded(self.message),
            },
        }
    }
}

type Meaning = (TroubleClass, FailureKind);

const NO_CREDIT: Meaning = (TroubleClass::Fatal, FailureKind::NoCredit);
/// Words about accounts that a person must pay for, or whose limit a person must raise; a time next
/// to them is that of the next bill.
const SPENT: [&str; 3] = ["out of usage credits", "spend limit", "shared budget"];
const LOGIN: Meaning = (TroubleClass::Fatal, FailureKind::AuthFailed);
const SET_UP: Meaning = (TroubleClass::Fatal, FailureKind::BadUsage);
const OVERFLOW: Meaning = (TroubleClass::Session, FailureKind::ContextOverflow);
const LOST: Meaning = (TroubleClass::Session, FailureKind::SessionLost);
const TURNS: Meaning = (TroubleClass::Session, FailureKind::BudgetExhausted);
const LIMITED: Meaning = (TroubleClass::Transient, FailureKind::RateLimited);
const DOWN: Meaning = (TroubleClass::Transient, FailureKind::ServiceUnavailable);
const UNREACHABLE: Meaning = (TroubleClass::Transient, FailureKind::ConnectionRefused);

/// Words that say more than the status, separated by bars. The first row that matches counts.
const WORDS: [(&str, Meaning); 8] = [
    (
        "prompt is too long|prompt_too_long|context_length|context length|\
         context window|contextoverflow|input token count|maximum number of tokens",
        OVERFLOW,
    ),
    (
        "credit balance|billing|insufficient_quota|out of credits|payment required|\
         out of usage credits|spend limit|shared budget",
        NO_CREDIT,
    ),
    (
        "no conversation found|session not found|no rollout found|thread not found|\
         invalid session identifier|error resuming session",
        LOST,
    ),
    (
        "max_turns|maximum number of turns|maximum session turns|max session turns",
        TURNS,
    ),
    (
        "authentication|unauthenticated|unauthorized|invalid api key|invalid x-api-key|\
         incorrect api key|api key not valid|/login|not logged in|permission_error|\
         permission_denied",
        LOGIN,
    ),
    (
        "rate_limit|rate limit|usage limit|hit your limit|limit reached|out of extra usage|\
         too many requests|resource_exhausted|resource has been exhausted|quota",
        LIMITED,
    ),
    (
        "overloaded|at capacity|high demand|server_error|unavailable",
        DOWN,
    ),
    (
        "stream disconnected|connection error|connection refused|unable to connect|\
         econnrefused|econnreset|etimedout|enotfound|eai_again|fetch failed|\
         error sending request|socket hang up",
        UNREACHABLE,
    ),
];

/// Returns the trouble that a line of the agent's own program describes; `None` if it says nothing
/// about the service.
#[must_use]
pub fn service_trouble(line: &str) -> Option<ApiTrouble> {
    trouble(&ApiError::of(line))
}

/// Returns the meaning of the error; `None` if it says nothing about the service.
pub(crate) fn trouble(error: &ApiError<'_>) -> Option<ApiTrouble> {
    let status = error.status.or_else(|| status_in(error.message));
    let resets = error.resets.clone().or_else(|| reset_in(error.message));
    let words = by_words(error).filter(|meaning| !is_overruled(*meaning, status));
    let (class, kind) = match words.or_else(|| by_status(status?))? {
        // A quota that resets is a limit, whatever the message says about billing.
        NO_CREDIT if resets.is_some() && !is_spent(error.message) => LIMITED,
        meaning => meaning,
    };
    Some(ApiTrouble {
        class,
        kind,
        message: message(error, kind),
        status,
        resets: resets.filter(|_| class == TroubleClass::Transient),
    })
}

fn is_spent(message: &str) -> bool {
    let message = message.to_lowercase();
    SPENT.iter().any(|words| message.contains(words))
}

/// Returns the trouble for an error that the agent itself retries: it is transient, whatever it is.
pub(crate) fn passing(error: &ApiError<'_>) -> ApiTrouble {
    trouble(error).unwrap_or_else(|| ApiTrouble {
        class: DOWN.0,
        kind: DOWN.1,
        message: message(error, DOWN.1),
        status: error.status,
        resets: error.resets.clone(),
    })
}

/// Parses the message of an agent that can't find the session to resume.
pub(crate) fn lost_session(line: &[u8]) -> Option<AgentEvent> {
    let line = String::from_utf8_lossy(line);
    let error = ApiError::of(line.trim());
    let is_lost = line.contains("Error") && by_words(&error) == Some(LOST);
    is_lost.then(|| error.into_event())
}

fn by_words(error: &ApiError<'_>) -> Option<Meaning> {
    let said = format!("{}\n{}", error.word, error.message).to_lowercase();
    let has_any = |words: &str| words.split('|').any(|word| said.contains(word));
    let row = WORDS.iter().find(|(words, _)| has_any(words));
    row.map(|(_, meaning)| *meaning)
}

/// Returns whether the status says more than the words. A service that is down may mention its own
/// login or billing, which says nothing about ours.
fn is_overruled(meaning: Meaning, status: Option<u16>) -> bool {
    match status {
        Some(429) => meaning == LOGIN,
        Some(500..=599) => meaning == LOGIN || meaning == NO_CREDIT,
        _ => false,
    }
}

fn by_status(status: u16) -> Option<Meaning> {
    match status {
        401 | 403 => Some(LOGIN),
        402 => Some(NO_CREDIT),
        // No such model, or no such service.
        404 => Some(SET_UP),
        408 => Some(UNREACHABLE),
        429 => Some(LIMITED),
        500..=599 => Some(DOWN),
        _ => None,
    }
}

/// Parses `unexpected status 401 Unauthorized`, `last status: 429`, `"code":503`, `API Error: 529`.
fn status_in(message: &str) -> Option<u16> {
    const BEFORE: [&str; 5] = [
        "status ",
        "status: ",
        "\"code\":",
        "API Error: ",
        "rejected (",
    ];
    BEFORE.iter().find_map(|words| {
        let (_, rest) = message.split_once(words)?;
        let digits: String = rest
            .trim_start()
            .chars()
            .take_while(char::is_ascii_digit)
            .collect();
        digits
            .parse()
            .ok()
            .filter(|status| (400..600).contains(status))
    })
}

fn message(error: &ApiError<'_>, kind: FailureKind) -> String {
    let text = match (error.message.trim(), error.word.trim()) {
        ("", "") => kind.meaning().to_owned(),
        ("", word) => format!("{} ({word})", kind.meaning()),
        (message, _) => quoted_message(message).unwrap_or(message).to_owned(),
    };
    PlainLine::flatten(&text, ERROR_CHARS).to_string()
}

/// Returns the service's own message, if its whole answer is quoted.
fn quoted_message(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once("{\"error\"")?;
    let (_, said) = rest.split_once("\"message\":\"")?;
    let (said, _) = said.split_once('"')?;
    (!said.is_empty() && !said.ends_with('\\')).then_some(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(status: Option<u16>, message: &str, expected: Option<Meaning>) {
        let error = ApiError {
            status,
            ..ApiError::of(message)
        };
        let found = trouble(&error).map(|trouble| (trouble.class, trouble.kind));
        assert_eq!(found, expected, "{message}");
    }

    #[test]
    fn every_class_is_recognized_by_what_servers_say() {
        check(Some(401), "nope", Some(LOGIN));
        check(None, "unexpected status 401 Unauthorized: x", Some(LOGIN));
        check(None, "Please run /login", Some(LOGIN));
        check(None, "Credit balance is too low", Some(NO_CREDIT));
        check(
            None,
            "exceeded retry limit, last status: 429 Too Many Requests",
            Some(LIMITED),
        );
        check(
            None,
            "You’ve hit your usage limit. Try again later.",
            Some(LIMITED),
        );
        check(None, "Selected model is at capacity.", Some(DOWN));
        check(Some(529), "", Some(DOWN));
        check(Some(500), "Internal error", Some(DOWN));
        check(
            None,
            "stream disconnected before completion",
            Some(UNREACHABLE),
        );
        check(
            Some(400),
            "prompt is too long: 3 tokens > 2 maximum",
            Some(OVERFLOW),
        );
        check(
            Some(400),
            "The input token count (9) exceeds the maximum number of tokens allowed (5).",
            Some(OVERFLOW),
        );
        check(None, "No conversation found with session ID: x", Some(LOST));
        check(Some(400), "tools.0: bad schema", None);
        let down = "upstream authentication service unavailable";
        check(Some(503), down, Some(DOWN));
        check(Some(429), down, Some(LIMITED));
        check(None, &format!("API Error: 503 {down}"), Some(DOWN));
        check(Some(502), "billing service: bad gateway", Some(DOWN));
        check(Some(401), down, Some(LOGIN));
        check(None, down, Some(LOGIN));
        check(Some(429), "insufficient_quota", Some(NO_CREDIT));
        check(None, "something else", None);
    }

    #[test]
    fn a_limit_is_waited_for_but_spent_money_is_not() {
        check(
            None,
            "You're out of extra usage · resets 9pm",
            Some(LIMITED),
        );
        check(None, "5-hour limit reached ∙ resets 9pm", Some(LIMITED));
        for spent in [
            "You're out of usage credits · resets Dec 1",
            "Your organization has reached its monthly spend limit. Resets 12am (UTC)",
            "The shared budget of your team is used up; try again in 40 hours",
        ] {
            check(Some(429), spent, Some(NO_CREDIT));
            check(None, spent, Some(NO_CREDIT));
        }
        check(Some(503), "shared budget service unavailable", Some(DOWN));
    }

    #[test]
    fn only_transient_trouble_has_a_reset_time() {
        let at = |status, message| {
            let error = ApiError {
                status: Some(status),
                ..ApiError::of(message)
            };
            trouble(&error).and_then(|trouble| trouble.resets)
        };
        assert_eq!(at(429, "try again in 2s"), Some(ResetTime::After(2000)));
        assert_eq!(at(401, "try again in 2s"), None);
        let quota = "You exceeded your quota, check your billing details. Please retry in 9s.";
        assert_eq!(at(429, quota), Some(ResetTime::After(9000)));
        assert_eq!(at(429, "Quota exceeded, check your billing details."), None);
    }
}
