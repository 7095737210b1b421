//! What `explain` answers besides the line: location, step, number of failures, excerpt.

use std::sync::Arc;

use regreen_diagnosis::{Baseline, Explanation, Scanner, evidence_of};
use regreen_model::{Ending, Source};

fn explained(log: &str, green: &[&str]) -> Explanation {
    let mut baseline = Baseline::default();
    for log in green {
        baseline.feed(log.as_bytes());
        baseline.end_log();
    }
    let mut scanner = Scanner::new(Source::Command);
    if !green.is_empty() {
        scanner = scanner.with_baseline(Arc::new(baseline));
    }
    scanner.feed(log.as_bytes());
    let ending = Ending {
        exit_code: Some(1),
        ..Ending::default()
    };
    Explanation::of(&evidence_of(
        scanner.finish(),
        Source::Command,
        None,
        ending,
    ))
}

fn line_of(explanation: &Explanation) -> &str {
    let failure = explanation.failure.as_ref();
    let line = failure.and_then(|failure| failure.blocked_on.as_deref());
    line.unwrap_or_default()
}

const COMPILER: &str = "$ make\n\
    cc -c a.c\n\
    src/a.c:3:5: error: unknown type name 'foo'\n\
    \x20   3 |     foo x;\n\
    \x20     |     ^~~\n\
    src/a.c:9:1: error: unknown type name 'bar'\n\
    make: *** [Makefile:2: all] Error 1\n";

#[test]
fn the_answer_has_place_command_others_and_the_lines_that_belong_to_it() {
    let explanation = explained(COMPILER, &[]);
    let json = explanation.to_json();
    assert_eq!(json["place"]["file"], "src/a.c");
    assert_eq!(json["place"]["line"], 3);
    assert_eq!(json["place"]["column"], 5);
    assert_eq!(json["step"], "make");
    assert_eq!(json["others"], 1);
    assert_eq!(json["excerpt"]["first_line"], 2);
    let lines = json["excerpt"]["lines"].as_array().unwrap();
    assert!(
        lines.iter().any(|line| line == "    3 |     foo x;"),
        "{lines:?}"
    );
}

#[test]
fn the_step_of_a_ci_log_is_the_one_that_failed() {
    let explanation = explained(
        "##[group]Run npm ci\n##[endgroup]\nadded 3 packages\n\
         ##[group]Run npm test\n##[endgroup]\n\
         src/a.ts(3,5): error TS2304: Cannot find name 'x'.\n\
         ##[error]Process completed with exit code 2.\n",
        &[],
    );
    assert_eq!(explanation.step(), Some("npm test"));
    let place = explanation.place().map(|place| place.to_string());
    assert_eq!(place.as_deref(), Some("src/a.ts:3:5"));
}

#[test]
fn a_line_that_no_rule_knows_is_shown_with_its_neighbours() {
    let explanation = explained("one\ntwo\nno quorum\n", &[]);
    let excerpt = explanation.excerpt().unwrap();
    assert_eq!((excerpt.first_line, excerpt.last_line), (1, 3));
    assert_eq!(excerpt.lines, ["one", "two", "no quorum"]);
}

#[test]
fn lines_that_a_green_run_prints_as_well_lose() {
    let red = "12:00:01 error: cannot read the cache /tmp/a1/x.db\n\
        the ledger of 12 accounts is not balanced\n\
        tidying up\n";
    assert!(line_of(&explained(red, &[])).contains("cannot read the cache"));
    let green = "09:30:00 error: cannot read the cache /tmp/b7/x.db\ntidying up\n";
    let explanation = explained(red, &["unrelated\n", green]);
    assert_eq!(
        line_of(&explanation),
        "the ledger of 12 accounts is not balanced"
    );
    assert_eq!(explanation.failure.unwrap().line, Some(2));
}

#[test]
fn a_cause_that_is_new_wins_over_stronger_lines_that_are_not() {
    let green =
        "fatal: not a git repository (or any of the parent directories): .git\n3 passed in 1s\n";
    let red = "fatal: not a git repository (or any of the parent directories): .git\n\
        E   assert 3 == 4\n1 failed, 2 passed in 1s\n";
    assert!(line_of(&explained(red, &[])).starts_with("fatal"));
    assert!(line_of(&explained(red, &[green])).contains("assert 3 == 4"));
}

#[test]
fn the_innermost_command_is_named_beside_the_step() {
    let cause = "src/a.ts(3,5): error TS2304: Cannot find name 'x'.\n";
    for (log, command) in [
        (
            format!(
                "> cart@1.0.0 test\n> npm run types\n\n\n> cart@1.0.0 types\n> tsc --noEmit\n\n{cause}"
            ),
            "tsc --noEmit",
        ),
        (
            format!("> Task :web:compile\n{cause}> Task :web:compile FAILED\n"),
            ":web:compile",
        ),
        (
            format!(
                "{cause}make[1]: *** [Makefile:12: types] Error 2\nmake: *** [Makefile:3: all] Error 2\n"
            ),
            "make types",
        ),
    ] {
        let framed = format!(
            "##[group]Run ./ci.sh\n##[endgroup]\n{log}##[error]Process completed with exit code 2.\n"
        );
        let framed: String = framed
            .lines()
            .map(|line| format!("2026-01-02T03:04:05.1234567Z {line}\n"))
            .collect();
        let explanation = explained(&framed, &[]);
        assert_eq!(explanation.step(), Some("./ci.sh"), "{log}");
        assert_eq!(explanation.command(), Some(command), "{log}");
    }
}
