//! Logs of CI systems: the cause is in the step that failed.

use regreen_diagnosis::{Explanation, evidence_of, scan};
use regreen_model::{Ending, Source};

/// Checks the quoted line of a failed log, and its number.
fn check(log: &str, expected: (usize, &str)) {
    let output = scan(log.as_bytes(), Source::Command);
    let ending = Ending {
        exit_code: Some(1),
        ..Ending::default()
    };
    let explanation = Explanation::of(&evidence_of(output, Source::Command, None, ending));
    let failure = explanation.failure.as_ref();
    let quoted = failure.and_then(|failure| Some((failure.line?, failure.blocked_on.as_deref()?)));
    assert_eq!(quoted, Some(expected), "{log}");
}

#[test]
fn travis_names_the_command_that_failed() {
    check(
        "travis_fold:start:system_info\r\u{1b}[0KBuild system information\r\n\
         Set the APP_HOME and APP_USER environment variables\r\n\
         travis_fold:end:system_info\r\u{1b}[0K\r\n\
         travis_time:start:0a\r\u{1b}[0K$ make lint\r\n\
         fatal: no upstream configured\r\n\
         travis_time:end:0a:start=1,finish=2,duration=1\r\u{1b}[0K\
         \u{1b}[32;1mThe command \"make lint\" exited with 0.\u{1b}[0m\r\n\
         travis_time:start:0b\r\u{1b}[0K$ go test ./...\r\n\
         --- FAIL: TestAdd (0.00s)\r\n\
         \x20   add_test.go:6: got 3, want 4\r\n\
         travis_time:end:0b:start=1,finish=2,duration=1\r\u{1b}[0K\
         \u{1b}[31;1mThe command \"go test ./...\" exited with 1.\u{1b}[0m\r\n\
         travis_fold:start:cache.2\r\u{1b}[0Kstore build cache\r\n\
         curl: (6) Could not resolve host: cache.test\r\n\
         travis_fold:end:cache.2\r\u{1b}[0K\r\n\
         Done. Your build exited with 1.\r\n",
        (9, "add_test.go:6: got 3, want 4"),
    );
}

#[test]
fn travis_may_repeat_a_script_of_several_lines() {
    check(
        "travis_time:start:0b\r\u{1b}[0K$ case \"$BUILD\" in\r\n\
         src/parser.erl:91: field tags undefined in record row\r\n\
         travis_time:end:0b:start=1,finish=2,duration=1\r\u{1b}[0K\
         \u{1b}[31;1mThe command \"case \"$BUILD\" in\r\n\
         \x20 fatal) echo \"error: none\" ;;\r\n\
         esac\r\n\
         \" exited with 1.\u{1b}[0m\r\n\
         Done. Your build exited with 1.\r\n",
        (2, "src/parser.erl:91: field tags undefined in record row"),
    );
}

#[test]
fn github_actions_ends_a_step_with_an_error_and_then_cleans_up() {
    check(
        "2026-01-02T03:04:05.1234567Z ##[group]Run actions/checkout@v4\n\
         2026-01-02T03:04:05.1234567Z fatal: no submodule mapping found\n\
         2026-01-02T03:04:05.1234567Z ##[endgroup]\n\
         2026-01-02T03:04:06.1234567Z ##[group]Run npm test\n\
         2026-01-02T03:04:06.1234567Z npm test\n\
         2026-01-02T03:04:06.1234567Z ##[endgroup]\n\
         2026-01-02T03:04:07.1234567Z src/a.ts(3,5): error TS2304: Cannot find name 'x'.\n\
         2026-01-02T03:04:07.1234567Z ##[error]Process completed with exit code 2.\n\
         2026-01-02T03:04:08.1234567Z Post job cleanup.\n\
         2026-01-02T03:04:08.1234567Z error: could not lock config file .git/config: File exists\n",
        (7, "src/a.ts(3,5): error TS2304: Cannot find name 'x'."),
    );
}

#[test]
fn a_log_that_gh_prints_names_job_and_step_on_every_line() {
    let at = "build\tTests\t2026-01-02T03:04:05.1234567Z ";
    let lines = [
        "##[group]Run cargo test",
        "##[endgroup]",
        "error[E0425]: cannot find value `x` in this scope",
        "##[error]Process completed with exit code 101.",
        "Post job cleanup.",
        "fatal: not a git repository (or any of the parent directories): .git",
    ];
    let log: String = lines.iter().map(|line| format!("{at}{line}\n")).collect();
    check(
        &log,
        (3, "error[E0425]: cannot find value `x` in this scope"),
    );
}

#[test]
fn gitlab_frames_sections() {
    check(
        "section_start:1560896352:get_sources\r\u{1b}[0KGetting source from Git repository\n\
         error: unable to read askpass response\n\
         section_end:1560896352:get_sources\r\u{1b}[0K\n\
         section_start:1560896353:step_script\r\u{1b}[0KExecuting \"step_script\"\n\
         $ ./check.sh\n\
         ./check.sh: line 3: jq: command not found\n\
         section_end:1560896354:step_script\r\u{1b}[0K\n\
         section_start:1560896355:cleanup_file_variables\r\u{1b}[0KCleaning up\n\
         ERROR: Job failed: exit code 127\n",
        (6, "./check.sh: line 3: jq: command not found"),
    );
}

#[test]
fn jenkins_azure_and_buildkite_frame_steps_too() {
    check(
        "[Pipeline] checkout\n\
         fatal: not a git repository (or any of the parent directories): .git\n\
         [Pipeline] sh\n\
         + cargo build\n\
         error[E0425]: cannot find value `x` in this scope\n\
         [Pipeline] }\n\
         ERROR: script returned exit code 101\n\
         Finished: FAILURE\n",
        (5, "error[E0425]: cannot find value `x` in this scope"),
    );
    check(
        "##[section]Starting: Checkout app@main to s\n\
         fatal: not a git repository (or any of the parent directories): .git\n\
         ##[section]Finishing: Checkout app@main to s\n\
         ##[section]Starting: Build\n\
         error[E0425]: cannot find value `x` in this scope\n\
         ##[error]Bash exited with code '101'.\n\
         ##[section]Finishing: Build\n\
         ##[section]Starting: Post-job: Checkout app@main to s\n",
        (5, "error[E0425]: cannot find value `x` in this scope"),
    );
    check(
        "~~~ Preparing working directory\n\
         fatal: not a git repository (or any of the parent directories): .git\n\
         ~~~ Running commands\n\
         error[E0425]: cannot find value `x` in this scope\n\
         🚨 Error: The command exited with status 101\n",
        (4, "error[E0425]: cannot find value `x` in this scope"),
    );
}

#[test]
fn a_line_that_only_says_that_something_failed_quotes_what_stands_above_it() {
    check(
        "> size-limit\n\
         \n\
         Package size limit has exceeded by 49 B\n\
         \n\
         error Command failed with exit code 3.\n\
         info Visit https://tool.test/docs for documentation about this command.\n",
        (3, "Package size limit has exceeded by 49 B"),
    );
    check(
        "the table has no header\nmake: *** [Makefile:3: report] Error 2\n",
        (1, "the table has no header"),
    );
}

#[test]
fn without_marks_a_log_is_one_step() {
    check(
        "fatal: not a git repository (or any of the parent directories): .git\nbye\n",
        (
            1,
            "fatal: not a git repository (or any of the parent directories): .git",
        ),
    );
}

#[test]
fn github_actions_echoes_scripts_which_are_no_output() {
    check(
        "2026-01-02T03:04:06.1234567Z ##[group]Run ./check.sh || { echo \"error: check failed\"; exit 1; }\n\
         2026-01-02T03:04:06.1234567Z \u{1b}[36;1m./check.sh || { echo \"x\"; exit 1; }\u{1b}[0m\n\
         2026-01-02T03:04:06.1234567Z \u{1b}[36;1mfatal: not a git repository (or any of the parent directories): .git\u{1b}[0m\n\
         2026-01-02T03:04:06.1234567Z ##[endgroup]\n\
         2026-01-02T03:04:07.1234567Z ##[error]the schedule has no owner\n\
         2026-01-02T03:04:07.1234567Z ##[error]Process completed with exit code 1.\n",
        (5, "the schedule has no owner"),
    );
}

#[test]
fn an_error_that_the_program_survived_loses_to_what_ended_it() {
    let noise = "compiling another unit\n".repeat(60);
    let log = format!(
        "realpath: invalid option -- 'm'\n{noise}error[E0425]: cannot find value `x` in this scope\n"
    );
    check(
        &log,
        (62, "error[E0425]: cannot find value `x` in this scope"),
    );
    let close =
        "realpath: invalid option -- 'm'\nerror[E0425]: cannot find value `x` in this scope\n";
    check(close, (1, "realpath: invalid option -- 'm'"));
}

#[test]
fn the_mark_that_a_step_failed_may_say_why() {
    check(
        "travis_time:start:0b\r\u{1b}[0K$ timeout 35m ci/build.sh\r\n\
         [4 of 4] Compiling Data.Tree\r\n\
         travis_time:end:0b:start=1,finish=2,duration=1\r\u{1b}[0K\
         \u{1b}[31;1mThe command \"timeout 35m ci/build.sh\" exited with 124.\u{1b}[0m\r\n",
        (
            3,
            "The command \"timeout 35m ci/build.sh\" exited with 124.",
        ),
    );
}

#[test]
fn a_script_that_echoes_commands_is_explained_by_the_last_one() {
    check(
        "+ cp config.example config\n\
         cp: cannot stat 'config.example': No such file or directory\n\
         + cargo build\n\
         error[E0425]: cannot find value `x` in this scope\n\
         + rm -rf tmp\n",
        (
            2,
            "cp: cannot stat 'config.example': No such file or directory",
        ),
    );
    check(
        "+ cp config.example config\n\
         cp: cannot stat 'config.example': No such file or directory\n\
         + cargo build\n\
         error[E0425]: cannot find value `x` in this scope\n",
        (4, "error[E0425]: cannot find value `x` in this scope"),
    );
}

#[test]
fn jenkins_ends_a_pipeline_before_it_says_that_a_step_failed() {
    check(
        "[Pipeline] { (Test)\n\
         [Pipeline] sh\n\
         + cargo build\n\
         error[E0425]: cannot find value `x` in this scope\n\
         [Pipeline] }\n\
         [Pipeline] End of Pipeline\n\
         ERROR: script returned exit code 101\n\
         Finished: FAILURE\n",
        (4, "error[E0425]: cannot find value `x` in this scope"),
    );
}

#[test]
fn stages_that_jenkins_skips_and_post_actions_are_not_the_step_that_failed() {
    check(
        "[Pipeline] { (Install)\n\
         [Pipeline] sh\n\
         + ./install.sh\n\
         curl: (6) Could not resolve host: mirror.test\n\
         [Pipeline] }\n\
         [Pipeline] { (Test)\n\
         [Pipeline] sh\n\
         + go test ./...\n\
         \x20   cart_test.go:14: got 138, want 119\n\
         [Pipeline] }\n\
         [Pipeline] // stage\n\
         [Pipeline] stage\n\
         [Pipeline] { (Deploy)\n\
         Stage \"Deploy\" skipped due to earlier failure(s)\n\
         [Pipeline] }\n\
         [Pipeline] // stage\n\
         [Pipeline] stage\n\
         [Pipeline] { (Declarative: Post Actions)\n\
         [Pipeline] sh\n\
         + docker logs db\n\
         Error: No such container: db\n\
         [Pipeline] junit\n\
         ERROR: No test report files were found. Configuration error?\n\
         [Pipeline] }\n\
         [Pipeline] End of Pipeline\n\
         ERROR: script returned exit code 1\n\
         Finished: FAILURE\n",
        (9, "cart_test.go:14: got 138, want 119"),
    );
}

#[test]
fn earlier_commands_of_a_gitlab_job_passed() {
    check(
        "section_start:1560896353:step_script\r\u{1b}[0KExecuting \"step_script\"\n\
         $ ./install.sh\n\
         curl: (6) Could not resolve host: mirror.test\n\
         $ go test ./...\n\
         \x20   cart_test.go:14: got 138, want 119\n\
         section_end:1560896354:step_script\r\u{1b}[0K\n\
         section_start:1560896355:after_script\r\u{1b}[0KRunning after_script\n\
         $ docker logs db\n\
         Error: No such container: db\n\
         section_end:1560896356:after_script\r\u{1b}[0K\n\
         ERROR: Job failed: exit code 1\n",
        (5, "cart_test.go:14: got 138, want 119"),
    );
}

#[test]
fn a_command_that_failed_silently_is_quoted_itself() {
    let log = "+ echo checking\nchecking\n+ test -f shop.cfg\n";
    check(log, (3, "test -f shop.cfg"));
    let below_make = format!("{log}make: *** [Makefile:3: check] Error 1\n");
    check(&below_make, (3, "test -f shop.cfg"));
}

#[test]
fn the_lines_of_a_diff_are_no_commands() {
    check(
        "AssertionError: Lists differ: [1, 2] != [1, 3]\n\n- [1, 2]\n?     ^\n\n+ [1, 3]\n?     ^\n\n\
         AssertionError: False is not true\n",
        (1, "AssertionError: Lists differ: [1, 2] != [1, 3]"),
    );
}
