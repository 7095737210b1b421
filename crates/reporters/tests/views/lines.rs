use regreen_reporters::{Lines, Palette};
use snapbox::{assert_data_eq, str};

use crate::scripts;

fn text(view: &[u8]) -> &str {
    std::str::from_utf8(view).expect("it is text")
}

#[test]
fn a_run_is_told_in_lines() {
    let mut out = Vec::new();
    scripts::well_in_the_end(Lines::new(&mut out, Palette::Plain)).finish();
    assert_data_eq!(
        text(&out),
        str![[r#"
run 20261116-0445: spec demo, agent command:./agent.sh
1.2 Print it again: attempt 1 of 5
1.2: verifying: cargo test
1.2: Verify is red, it runs once more: assertion left == right failed
1.2 Print it again: attempt 1 of 5 failed after 13s: assertion left == right failed
1.2 Print it again: attempt 2 of 5
plan: the agent added 1.5 Check the links
warning: task 1.3 had vanished from the plan and was put back
warning: the agent's tick of task 1.4 was taken back: nothing shows that it is done. If it is: regreen done 1.4
1.2: verifying: cargo test
1.2: Verify is red, it runs once more: assertion left == right failed
1.2: Verify is green the second time: flaky
1.2 Print it again: done after 1m 15s, commit 0a1b2c3, flaky
1.4 Write the guide: attempt 1 of 5
1.4 Write the guide: only the signal is missing, the agent is reminded
1.4 Write the guide: done after 7s, unverified
1.5 Check the links: attempt 1 of 5
1.5: waiting 5m 16s, until 04:51:40 UTC: 429 rate limit
1.5 Check the links: attempt 1 of 5
1.5: the agent's session is of no more use: context window is full
1.5 Check the links: attempt 1 of 5, in a new session
1.5: verifying: ./links.sh --all
1.5 Check the links: done after 5m 55s
run 20261116-0445 ended after 7m 18s: all tasks are done (exit code 0)

"#]]
    );
}

#[test]
fn a_limit_is_told_with_what_led_to_it() {
    let mut out = Vec::new();
    scripts::limit_reached(Lines::new(&mut out, Palette::Plain)).finish();
    assert_data_eq!(
        text(&out),
        str![[r#"
run 20261116-0445: spec demo, agent command:./agent.sh
1.2 Print it again: attempt 1 of 2
warning: CONTRADICTION: claimed completion while admitting failure
1.2 Print it again: attempt 1 of 2 failed after 3s: CONTRADICTION: claimed completion while admitting failure: could not complete
1.2 Print it again: attempt 2 of 2
1.2: verifying: cargo test
1.2: a commit hook refused it
1.2 Print it again: attempt 2 of 2 failed after 4s: trailing space in src/print.rs
run 20261116-0445 ended after 7s: a limit was reached (exit code 1)

"#]]
    );
}

#[test]
fn a_run_that_goes_on_says_which_it_is() {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    let stopped = scripts::stopped(Lines::new(&mut first, Palette::Plain));
    scripts::goes_on(stopped, Lines::new(&mut second, Palette::Plain)).finish();
    assert_data_eq!(
        text(&first),
        str![[r#"
run 20261116-0445: spec demo, agent command:./agent.sh
1.2 Print it again: attempt 1 of 5
stopping: what runs is being ended; once more ends at once
run 20261116-0445 ended after 4s: stopped, everything is saved (exit code 130)

"#]]
    );
    assert_data_eq!(
        text(&second),
        str![[r#"
run 20261116-0445 goes on: spec demo, agent command:./agent.sh
1.2: the attempt was cut off: regreen or the machine ended while the agent was at work
1.2 Print it again: attempt 1 of 5, the last one was cut off
1.2: verifying: cargo test
1.2 Print it again: done
2: verifying: make ship
run 20261116-0445 ended after 1s: a person must decide (exit code 3)

"#]]
    );
}

#[test]
fn colours_are_there_when_they_are_asked_for() {
    let mut out = Vec::new();
    scripts::stopped(Lines::new(&mut out, Palette::Coloured)).finish();
    assert_data_eq!(
        text(&out).replace('\u{1b}', "^"),
        str![[r#"
^[1mrun 20261116-0445: spec demo, agent command:./agent.sh^[0m
1.2 Print it again: attempt 1 of 5
^[33mstopping: what runs is being ended; once more ends at once^[0m
^[33mrun 20261116-0445 ended after 4s: stopped, everything is saved (exit code 130)^[0m

"#]]
    );
}
