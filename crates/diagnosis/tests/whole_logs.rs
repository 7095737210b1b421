//! Whole logs: what real tools print, also below the runners and CI systems that people run them
//! with, and logs in which much looks like a failure.

use regreen_diagnosis::{Explanation, evidence_of, scan};
use regreen_model::{Ending, Source};
use serde::Deserialize;

#[derive(Deserialize)]
struct Recorded {
    output: Vec<RecordedOutput>,
}

#[derive(Deserialize)]
struct RecordedOutput {
    name: String,
    exit: i32,
    kind: String,
    quoted: String,
    place: Option<String>,
    text: String,
}

#[derive(Deserialize)]
struct Noisy {
    log: Vec<NoisyLog>,
}

#[derive(Deserialize)]
struct NoisyLog {
    name: String,
    exit: i32,
    quoted: String,
    text: String,
}

const RECORDED: &str = include_str!("recorded_outputs.toml");

fn explained(text: &str, exit_code: i32) -> Explanation {
    let ending = Ending {
        exit_code: Some(exit_code),
        ..Ending::default()
    };
    let output = scan(text.as_bytes(), Source::Command);
    Explanation::of(&evidence_of(output, Source::Command, None, ending))
}

fn quoted(explanation: &Explanation) -> Option<&str> {
    explanation.failure.as_ref()?.blocked_on.as_deref()
}

#[test]
fn the_first_cause_and_its_place_are_found_in_what_tools_print() {
    let table: Recorded = toml::from_str(RECORDED).unwrap();
    for output in table.output {
        let explanation = explained(&output.text, output.exit);
        let kind = explanation
            .failure
            .as_ref()
            .map(|failure| failure.kind.name());
        assert_eq!(kind, Some(output.kind.as_str()), "{}", output.name);
        assert_eq!(
            quoted(&explanation),
            Some(output.quoted.as_str()),
            "{}",
            output.name
        );
        let place = explanation.place().map(|place| place.to_string());
        assert_eq!(place, output.place, "{}", output.name);
    }
}

#[test]
fn the_cause_is_the_same_below_runners_and_ci_systems() {
    let mut wrong = Vec::new();
    let table: Recorded = toml::from_str(RECORDED).unwrap();
    for output in table.output {
        for (runner, run) in RUNNERS {
            let explanation = explained(&run(&output.text), 1);
            if quoted(&explanation) != Some(output.quoted.as_str()) {
                let found = quoted(&explanation).map(str::to_owned);
                wrong.push(format!("{runner}: {}: {found:?}", output.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_only_looks_like_a_failure_is_not_the_cause() {
    let table: Noisy = toml::from_str(include_str!("noisy_logs.toml")).unwrap();
    for log in table.log {
        let explanation = explained(&log.text, log.exit);
        assert_eq!(
            quoted(&explanation),
            Some(log.quoted.as_str()),
            "{}",
            log.name
        );
    }
}

type Runner = fn(&str) -> String;

const RUNNERS: [(&str, Runner); 9] = [
    ("make", below_make),
    ("npm", below_npm),
    ("tox", below_tox),
    ("docker build", below_docker_build),
    ("docker compose", below_compose),
    ("GitHub Actions", below_github),
    ("GitLab CI", below_gitlab),
    ("Travis CI", below_travis),
    ("Jenkins", below_jenkins),
];

/// Puts a prefix before each line.
fn prefixed(text: &str, prefix: &str) -> String {
    text.lines()
        .map(|line| format!("{prefix}{line}\n"))
        .collect()
}

fn below_make(text: &str) -> String {
    format!(
        "make[1]: Entering directory '/w/sub'\n./ci.sh\n{text}\
         make[1]: *** [Makefile:12: test] Error 1\n\
         make[1]: Leaving directory '/w/sub'\n\
         make: *** [Makefile:3: all] Error 2\n"
    )
}

fn below_npm(text: &str) -> String {
    format!(
        "\n> cart@1.0.0 test\n> ./ci.sh\n\n{text}\
         npm error Lifecycle script `test` failed with error:\n\
         npm error code 1\nnpm error path /w\nnpm error workspace cart@1.0.0\n\
         npm error location /w\nnpm error command failed\nnpm error command sh -c ./ci.sh\n"
    )
}

fn below_tox(text: &str) -> String {
    format!(
        "py3: commands[0]> ./ci.sh\n{text}\
         py3: exit 1 (0.40 seconds) /w> ./ci.sh pid=12\n\
         \x20 py3: FAIL code 1 (4.47=setup[4.07]+cmd[0.40] seconds)\n\
         \x20 evaluation failed :( (8.71 seconds)\n"
    )
}

fn below_docker_build(text: &str) -> String {
    format!(
        "#5 [1/5] FROM docker.io/library/x:1\n#5 CACHED\n#9 [4/5] RUN ./ci.sh\n{}\
         #9 ERROR: process \"/bin/sh -c ./ci.sh\" did not complete successfully: exit code: 1\n\
         ------\n > [4/5] RUN ./ci.sh:\n------\nDockerfile:7\n--------------------\n\
         \x20  7 | >>> RUN ./ci.sh\n--------------------\n\
         ERROR: failed to solve: process \"/bin/sh -c ./ci.sh\" did not complete successfully: exit code: 1\n",
        prefixed(text, "#9 1.234 ")
    )
}

fn below_compose(text: &str) -> String {
    format!(
        "Attaching to test_1\n{}test_1 exited with code 1\nAborting on container exit...\n",
        prefixed(text, "test_1  | ")
    )
}

fn below_github(text: &str) -> String {
    let log = format!(
        "##[group]Run actions/checkout@v4\n##[endgroup]\n\
         ##[group]Run ./ci.sh\n./ci.sh\nshell: /usr/bin/bash -e {{0}}\n##[endgroup]\n{text}\
         ##[error]Process completed with exit code 1.\nPost job cleanup.\n\
         fatal: not in a git directory\n"
    );
    prefixed(&log, "2026-01-02T03:04:05.1234567Z ")
}

fn below_gitlab(text: &str) -> String {
    let log = format!(
        "section_start:1560896353:step_script\r\u{1b}[0KExecuting\n$ ./ci.sh\n{text}\
         section_end:1560896354:step_script\r\u{1b}[0K\n\
         section_start:1560896355:cleanup_file_variables\r\u{1b}[0KCleaning up\n\
         section_end:1560896355:cleanup_file_variables\r\u{1b}[0K\n\
         ERROR: Job failed: exit code 1\n"
    );
    prefixed(&log, "2026-01-02T03:04:05.123456Z 01O ")
}

fn below_travis(text: &str) -> String {
    format!(
        "travis_time:start:0b\r\u{1b}[0K$ ./ci.sh\n{text}\
         travis_time:end:0b:start=1,finish=2,duration=1\r\u{1b}[0K\
         \u{1b}[31;1mThe command \"./ci.sh\" exited with 1.\u{1b}[0m\n\
         travis_fold:start:cache.2\r\u{1b}[0Kstore build cache\n\
         curl: (6) Could not resolve host: cache.test\n\
         travis_fold:end:cache.2\r\u{1b}[0K\nDone. Your build exited with 1.\n"
    )
}

fn below_jenkins(text: &str) -> String {
    let log = format!(
        "[Pipeline] sh\n+ ./ci.sh\n{text}[Pipeline] }}\n[Pipeline] // stage\n\
         [Pipeline] End of Pipeline\nERROR: script returned exit code 1\nFinished: FAILURE\n"
    );
    prefixed(&log, "[2026-01-02T03:04:05.123Z] ")
}
