//! Finds signals that are taken back: only a summary may follow a signal.

use std::sync::LazyLock;

use anstream::adapter::strip_str;
use regex::Regex;
use regreen_model::TaskId;

use crate::contradiction::Contradiction;
use crate::prose::{is_quote, sentences, unfenced_lines, without_code, without_descriptions};
use crate::signal::{last_signal, signal};

/// The rest of a longer line isn't read, because no sentence needs more.
const MAX_SENTENCE: usize = 400;

/// Matches sentences with which an author takes back what was just said.
static TAKES_BACK: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi)
          ^\W*(?:(?:oh|hmm+|uh|um|well|but|no|ok|okay|and|so|actually|sorry|please)\b\W*){0,3}
          (?:
              wait\b(?:\W*$|\s*[,.!…:;–—-]|\s+(?:the|a|no|i|i'm|there|that|that's|it|it's|this|one|some|not|actually|let)\b)
            | hold\son\b | hang\son\b | oops\b | whoops\b | not\sso\sfast\b | my\s(?:mistake|bad)\b
            | (?:scratch|strike)\sthat\b | never\s?mind\b | on\ssecond\sthought | correction\s*[:,–—-]
            | (?:disregard|ignore|forget)\s(?:that|this|the\s(?:above|signal|previous|last)|my\s(?:last|previous|signal))
            | i\s(?:take\s(?:that|it)\sback|spoke\stoo\ssoon|was\s(?:wrong|too\squick|mistaken)|retract)
            | i\s(?:should|must)(?:\snot|n't)\shave\s(?:said|signalled|signaled|claimed|printed|marked)
            | TASK_(?:FAILED|BLOCKED|INCOMPLETE)\b
            | (?:overall\s|final\s|task\s)?(?:status|result|outcome)\W{1,5}(?:failed|blocked|incomplete|partial|not\s(?:done|complete))\b
            | (?:failed|blocked|not\sdone|incomplete)\W*$
            | traceback\s\(most\srecent\scall\slast\) | thread\s'[^']*'\s(?:\(\d+\)\s)?panicked\b | panic: | fatal:
            | (?:[a-z]*error|[a-z.]*exception):\s
            | that\s(?:was|is|wasn't|isn't)\s(?:premature|wrong|not\s(?:true|right|correct)|true|right|correct)\b
          )",
    )
    .ok()
});

/// Matches sentences that say that the work isn't done.
static IS_NOT_DONE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi)
          \b(?:deployment|upload|download|release|publishing|push|installation|build|tests?|migration|verification|compilation|connection|request|login|step|command|check|suite|job|pipeline|it)\s(?:(?:has|have)\s)?(?:failed|crashed|timed\sout)(?:\W*$|\W?\s(?:with|because|due|on\smy)\b|:)
        | \bstill\s(?:\w+\s){0,2}(?:fails?|failing|failed|broken|red|crash(?:es|ing)?|errors?\sout|incomplete|unfinished|doesn't|don't|does\snot|do\snot|isn't|aren't)\b
        | \b(?:is|are|was|were|am)(?:\snot|n't)\s(?:\w+\s)?(?:done|complete|completed|finished|passing|green|fixed|working)\b
        | \b(?:tests?|build|suite|checks?|verify|verification|linter|lint|compilation|type\s?check|pipeline|it)\s(?:(?:is|are)\s)?(?:(?:still|now|currently)\s)?(?:fails?|failing|red|broken)\b
        | \b(?:tests?|build|suite|checks?|verify|verification|linter|compilation|code|it|they|that|this)\s(?:does|do)(?:\snot|n't)\s(?:\w+\s)?(?:pass|compile|build|work)\b
        | \bthere\s(?:is|are)\s(?:still\s)?(?:\w+\s){0,2}(?:failing|broken)\s(?:tests?|checks?|builds?)\b
        | \bi\s(?:still\s|now\s|first\s)?(?:need|have|must)\s(?:to\s)?(?:\w+\s)?(?:fix|finish|complete|re-?run|redo|revert|implement|repair|retry|investigate)\b
        | \b(?:i'll|i\swill|i'm\sgoing\sto|i\sam\sgoing\sto|let\sme)\s(?:\w+\s)?(?:fix|finish|re-?run|redo|revert|repair|retry|try\sagain|investigate|look\sinto|check\sagain|continue)\b
        | \bnot\s(?:actually\s|yet\s|really\s)?(?:done|complete|finished)(?:\syet)?\b",
    )
    .ok()
});

/// Matches sentences that are only a summary, whatever other words they contain.
static IS_SUMMARY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi)
          \b(?:no|none|nothing|zero|0|without|never|neither)\b[^,;]*\b(?:fail|fails|failing|failed|broken|red|left|incomplete|errors?)\b
        | \w\s(?:that|which)\s(?:is|are|was|were)\b | \bno\slonger\b | \bunrelated\b | \bpre-?existing\b | \bout\sof\sscope\b | \b(?:before|previously|earlier|used\sto|originally|formerly)\b
        | \b(?:first|initial|initially)\b | \b(?:where|case|once|after|each|whose)\b[^.;]*\b(?:failed|crashed|timed\sout)\b | \b(?:which|and|;)\s*i\s(?:then\s)?(?:fixed|added|regenerated|reran)\b
        | \b(?:as|by)\s(?:expected|intended|designed|design|required)\b | \bexpected\sto\b | \bon\s(?:purpose|main|master)\b | \bif\s(?:you|it|the|that|this)\b
        | \b(?:should|would|could|might|may)\b | \byou\b | \bnow\s(?:pass|passes|works?|compiles?|builds?)\b | \bverified\sthat\b | \b(?:so\sthat|ensures?|when|unless|until)\b",
    )
    .ok()
});

/// Finds the first words after a message's signal that take it back.
pub(crate) fn retraction(message: &str, id: &TaskId, is_verify_row: bool) -> Option<Contradiction> {
    signal(message, id, is_verify_row)?;
    let plain: String = strip_str(message).collect();
    let (signal_line, _) = last_signal(&plain, is_verify_row)?;
    let after = unfenced_lines(&plain).filter(|(n, line)| *n > signal_line && !is_quote(line));
    after
        .flat_map(|(n, line)| {
            let apart = sentences(&without_code(line));
            let all: Vec<String> = apart.lines().map(beginning).collect();
            all.into_iter().map(move |sentence| (n, sentence))
        })
        .find(|(_, sentence)| takes_back(sentence))
        .map(|(n, sentence)| Contradiction {
            phrase: sentence.trim().to_owned(),
            line: n + 1,
        })
}

fn beginning(sentence: &str) -> String {
    sentence.chars().take(MAX_SENTENCE).collect()
}

fn takes_back(sentence: &str) -> bool {
    let matches = |rule: &LazyLock<Option<Regex>>, text: &str| {
        rule.as_ref().is_some_and(|rule| rule.is_match(text))
    };
    matches(&TAKES_BACK, sentence)
        || matches(&IS_NOT_DONE, &without_descriptions(sentence)) && !matches(&IS_SUMMARY, sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(after: &str) -> Option<String> {
        let id = TaskId::parse("1.3").unwrap();
        let message = format!("All done.\n\nTASK_COMPLETE\n{after}");
        retraction(&message, &id, false).map(|found| found.phrase)
    }

    #[test]
    fn a_signal_that_is_taken_back_is_a_contradiction() {
        for after in [
            "Actually no, the deployment failed.",
            "TASK_FAILED",
            "Status: BLOCKED",
            "Traceback (most recent call last):\n  File \"x\"\nException: boom",
            "Error: connect ECONNREFUSED 127.0.0.1:443",
            "Looking again, the upload failed.",
            "Actually wait, the tests still fail.",
            "Wait, the tests still fail.",
            "wait -- one of the tests is red",
            "Hmm, wait. Let me look at that again.",
            "Hold on, I forgot the migration.",
            "Oops, that was the wrong file.",
            "Scratch that.",
            "Never mind, it does not compile.",
            "On second thought, this is not enough.",
            "Correction: two checks are red.",
            "Please disregard the above signal.",
            "Ignore that, I was wrong.",
            "I spoke too soon.",
            "I take that back.",
            "That was premature.",
            "Sorry, I should not have said that.",
            "The tests still fail.",
            "However, the build still doesn't work.",
            "The suite is still failing with 3 errors.",
            "But the tests fail.",
            "Unfortunately the build is broken.",
            "The tests are failing on CI.",
            "It does not compile.",
            "It doesn’t work yet.",
            "The tests do not pass.",
            "There is still a failing test.",
            "There are two failing tests.",
            "The task is not complete.",
            "This is not done yet.",
            "The login form isn't finished.",
            "I still need to fix the parser.",
            "I need to rerun the suite.",
            "I'll fix the remaining error next.",
            "Let me re-run the tests.",
            "I have to revert the last change.",
            "Not actually done: the parser is a stub.",
            "Summary of the work follows. The tests still fail, though.",
            "- Added the parser\n- The tests still fail",
            "\u{1b}[31mThe tests still fail.\u{1b}[0m",
        ] {
            assert!(found(after).is_some(), "{after}");
        }
    }

    #[test]
    fn a_summary_may_follow_a_signal() {
        for after in [
            "",
            "Good bye.",
            "The first build failed because of a missing import; I added it.",
            "- Covers the case where the upload failed.",
            "Summary: added the parser and its tests. All 12 tests pass.",
            "Fixed the failing test in tests/login.rs.",
            "- Fixed two tests that failed before.\n- Updated the docs.",
            "No tests fail.",
            "None of the 212 tests fails any more.",
            "The build no longer fails.",
            "Previously the build failed on Windows; it now passes.",
            "The script waits until the server is ready.",
            "Wait times are now configurable.",
            "Added a `wait` helper and a `tests still fail` message.",
            "Let me know if you want anything else.",
            "You still need to set API_KEY in production.",
            "Next steps: deploy it.",
            "Two unrelated tests still fail on main.",
            "The pre-existing lint error is still not fixed.",
            "The new test fails when the cache is cold, as required.",
            "The command now exits with 1 if the build fails.",
            "Actually quite simple in the end.",
            "I verified that the tests fail without the change.",
            "The parser rejects input that is not complete.",
            "It is finished.",
            "Correctness was checked with proptest.",
            "Nothing is left to do.",
            "The request is retried until it does not fail.",
            "> The tests still fail.",
            "```\nthe tests still fail\n```",
            "Error handling: shows a message when a request fails.",
            "The flag should not be set if it is not done.",
            "Hold times are shorter.",
            "| test | result |\n|---|---|\n| login | passed |",
        ] {
            assert_eq!(found(after), None, "{after}");
        }
    }

    #[test]
    fn only_what_follows_the_last_signal_takes_it_back() {
        let id = TaskId::parse("1.3").unwrap();
        let check = |message: &str| retraction(message, &id, false).map(|found| found.line);
        assert_eq!(
            check("Wait, the tests still fail.\nFixed.\nTASK_COMPLETE"),
            None
        );
        assert_eq!(
            check("TASK_COMPLETE\nWait, the tests still fail.\nFixed it.\n\nTASK_COMPLETE\nBye."),
            None
        );
        assert_eq!(
            check("TASK_COMPLETE\n\nBye.\nThe tests still fail."),
            Some(4)
        );
        assert_eq!(check("The tests still fail."), None);
    }

    #[test]
    fn hostile_sizes_are_read_quickly() {
        for unit in ["wait ", "still ", "not ", "`", "\n", "is not "] {
            let _ = found(&unit.repeat(200_000 / unit.len()));
        }
    }
}
