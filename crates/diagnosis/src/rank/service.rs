//! Words of services in the output of a command. "401" and "rate limit" come from a service only if
//! a client reports them. In a test, an assertion or a type error they are part of the code, and
//! the cause is what the compiler or the test runner reports.

use regreen_model::FailureKind;

use super::cause::Candidate;
use super::signs::is_code;
use crate::line::LineKind;
use crate::rules::lazy_regex::LazyRegex;

/// The minimum score at which a test runner or compiler overrides a service's words.
const SURE: i32 = 50;

/// Matches the start of a client's report about a server's answer.
static CLIENT: LazyRegex = LazyRegex::new(
    r"(?x)^\W*(?:E\s{2,})?(?:\w+\s)?(?:
          curl:\s | wget:\s | npm\s(?:error|ERR!)\s | yarn\s | gh:\s | aws:\s | az:\s | gcloud
        | fatal:\s | remote:\s | denied:\s | toomanyrequests | psql:\s | FATAL:\s\s
        | ERROR:?\s(?:HTTP\serror|\d{3,4}[:\s(]|Could\snot\sinstall)
        | (?:ERROR|Error):\s(?:API\srate|Service\sUnavailable) | HTTP\sError\s\d{3} | HTTP/\d
        | \(error\)\s | An\serror\soccurred\s\( | API\s[Ee]rror | (?:ERROR:\s)?stream\s(?:error|disconnected)
        | (?:\w+\.)+\w*(?:Error|Exception|Throttled)\b
        | unexpected\sstatus\s\d{3} | \{\x22 | Error\sresponse\sfrom\sdaemon | Error:\sspawn\s)",
);

/// Matches lines about code: assertions, comparisons, type errors, source locations.
static CODE: LazyRegex = LazyRegex::new(
    r"(?xi)\bassert | \bexpect(?:ed|ing|s)?\b | \berror\sTS\d | \berror\[E\d | \bto(?:Be|Equal|Contain|Throw)\w*\(
        | \S\s(?:!=|==|!==|===)\s\S | \bgetBy\w+\( | \blocator\b | \bwaiting\sfor\b
        | ^\S+\.\w{1,5}[:(]\d+(?:[:,]\d+)?\)?:?\s | \bdoes\snot\sexist\son\stype | \bProperty\b | \bundefined:\s
        | \bcannot\sfind\s(?:name|symbol|value)",
);

/// Removes candidates that only look like a service's words.
pub(crate) fn without_words_of_code(candidates: &mut Vec<Candidate<'_>>) {
    let is_checked = candidates
        .iter()
        .any(|c| is_code(c.kind) && c.score >= SURE);
    candidates.retain(|c| !is_of_service(c.kind) || is_said_by_client(c, is_checked));
}

fn is_said_by_client(candidate: &Candidate<'_>, is_checked: bool) -> bool {
    let text = &candidate.finding.text;
    !is_of_code(text) && (!is_checked || CLIENT.is_match(text))
}

/// Returns whether a line is about code, despite words of services in it.
pub(crate) fn is_of_code(line: &str) -> bool {
    LineKind::of(line) == LineKind::Quoted || CODE.is_match(line)
}

fn is_of_service(kind: FailureKind) -> bool {
    matches!(
        kind,
        FailureKind::RateLimited
            | FailureKind::AuthFailed
            | FailureKind::ServiceUnavailable
            | FailureKind::NoCredit
            | FailureKind::ContextOverflow
            | FailureKind::BudgetExhausted
            | FailureKind::SessionLost
            | FailureKind::PermissionPrompt
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assertions_and_type_errors_are_about_code() {
        for line in [
            "AssertionError: HTTP 401 != 200",
            "src/a.ts(3,7): error TS2339: Property \"server_error\" does not exist on type 'X'.",
            "E       assert \"rate_limit\" in headers",
            "  12 | throw new Error(\"429 Too Many Requests\")",
            "    expect(received).toBe(expected) // 503",
        ] {
            assert!(is_of_code(line), "{line}");
        }
    }

    #[test]
    fn reports_of_clients_are_about_a_service() {
        for line in [
            "curl: (22) The requested URL returned error: 401",
            "npm error code E403",
            "requests.exceptions.HTTPError: 429 Client Error: Too Many Requests for url: https://x",
            "urllib.error.HTTPError: HTTP Error 429: Too Many Requests",
            "API Error: 529 {\"type\":\"error\"}",
        ] {
            assert!(!is_of_code(line) && CLIENT.is_match(line), "{line}");
        }
    }
}
