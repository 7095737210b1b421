use std::time::{Duration, Instant};

use indicatif::InMemoryTerm;
use regreen_model::{OutlineRow, StopSignal, Verdict};
use regreen_reporters::{Live, Palette, Reporter as _, TermLike as _};
use snapbox::{assert_data_eq, str};

use crate::recorder::Recorder;
use crate::run::{Run, done, fix, picked, row};
use crate::scripts::{self, config, signalled};

/// What is on the screen, with the spinner at its first frame and all clocks at rest.
fn screen(terminal: &InMemoryTerm) -> String {
    let contents = terminal.contents();
    let spinner = |c: char| "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏".contains(c);
    let lines = contents.lines().map(|line| {
        let line = line.replace(spinner, "⠋");
        at_rest(&at_rest(&line, " · ", "s"), " UTC, ", "s left")
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// `… · 1m 05s · …` becomes `… · 0s · …`: what a clock shows depends on the machine's load.
fn at_rest(line: &str, before: &str, after: &str) -> String {
    let is_clock = |text: &str| {
        text.chars()
            .all(|c| c.is_ascii_digit() || "mh ".contains(c))
    };
    let Some((head, tail)) = line.split_once(before) else {
        return line.to_owned();
    };
    match tail.split_once(after) {
        Some((clock, rest)) if is_clock(clock) => format!("{head}{before}0{after}{rest}"),
        _ => format!("{head}{before}{}", at_rest(tail, before, after)),
    }
}

fn start(lines: u16, columns: u16) -> (InMemoryTerm, Run<Live>) {
    let terminal = InMemoryTerm::new(lines, columns);
    let live = Live::new(terminal.clone(), Palette::Plain);
    (terminal, Run::start(live, config()))
}

/// Forty tasks, of which the first twenty are done; the next one is run.
fn long_plan() -> Vec<OutlineRow> {
    let rows = (1..=40).map(|n| row(&n.to_string(), &format!("Number {n}")));
    let is_done = |at: usize| at < 20;
    rows.enumerate()
        .map(|(at, row)| if is_done(at) { done(row) } else { row })
        .collect()
}

#[test]
fn a_finished_run_leaves_its_lines_and_nothing_else() {
    let terminal = InMemoryTerm::new(24, 100);
    let live = Live::new(terminal.clone(), Palette::Plain);
    scripts::well_in_the_end(live).finish();
    assert_data_eq!(
        screen(&terminal),
        str![[r#"
run 20261116-0445: spec demo, agent command:./agent.sh
1.2: Verify is red, it runs once more: assertion left == right failed
1.2 Print it again: attempt 1 of 5 failed after 13s: assertion left == right failed
plan: the agent added 1.5 Check the links
warning: task 1.3 had vanished from the plan and was put back
warning: the agent's tick of task 1.4 was taken back: nothing shows that it is done. If it is: regre
en done 1.4
1.2: Verify is red, it runs once more: assertion left == right failed
1.2: Verify is green the second time: flaky
1.2 Print it again: done after 1m 15s, commit 0a1b2c3, flaky
1.4 Write the guide: done after 7s, unverified
1.5: waiting 5m 16s, until 04:51:40 UTC: 429 rate limit
1.5: the agent's session is of no more use: context window is full
1.5 Check the links: done after 5m 55s
run 20261116-0445 ended after 7m 18s: all tasks are done (exit code 0)
"#]]
    );
}

/// The summary follows, and somebody may look for a line of it.
#[test]
fn what_is_printed_afterwards_begins_a_line() {
    let terminal = InMemoryTerm::new(24, 80);
    scripts::stopped(Live::new(terminal.clone(), Palette::Plain)).finish();
    let moves = terminal.moves_since_last_check();
    assert!(moves.ends_with("NewLine\nFlush\n"), "{moves}");
    terminal.write_str("Stopped.").expect("it is written");
    assert_data_eq!(
        screen(&terminal),
        str![[r#"
run 20261116-0445: spec demo, agent command:./agent.sh
stopping: what runs is being ended; once more ends at once
run 20261116-0445 ended after 4s: stopped, everything is saved (exit code 130)
Stopped.
"#]]
    );
}

/// Regreen itself may fail, and say so, while the view is still there.
#[test]
fn a_run_without_an_end_leaves_no_empty_line() {
    let (terminal, mut run) = start(24, 80);
    let rows = [row("1.1", "Parse the file")];
    run.plan(&rows, Some(picked(&rows[0], &[], None)));
    run.view.redraw();
    run.finish();
    terminal.write_str("error").expect("it is written");
    assert_data_eq!(
        screen(&terminal),
        str![[r#"
run 20261116-0445: spec demo, agent command:./agent.sh
error
"#]]
    );
}

#[test]
fn the_plan_is_a_tree_with_what_is_being_done_below_it() {
    let (terminal, mut run) = start(24, 80);
    let mut rows = vec![
        done(row("1.1", "Parse the file")),
        done(fix(row("1.1.1", "Fix: no such file"), 1)),
        row("1.2", "Print it again"),
        fix(row("1.2.1", "Fix: one is not two"), 1),
        fix(row("1.2.1.1", "Fix: the fix"), 2),
    ];
    rows.push(OutlineRow {
        optional: true,
        ..row("1.3", "Make it fast")
    });
    run.plan(&rows, Some(picked(&rows[4], &["cargo test"], None)));
    run.view.activity("reading src/print.rs");
    run.view.redraw();
    assert_data_eq!(
        screen(&terminal),
        str![[r#"
run 20261116-0445: spec demo, agent command:./agent.sh
✔ 1.1 Parse the file
  ✔ 1.1.1 Fix: no such file
○ 1.2 Print it again
  ○ 1.2.1 Fix: one is not two
    ⠋ 1.2.1.1 Fix: the fix
○ 1.3 Make it fast (optional)
⠋ 1.2.1.1 attempt 1 of 5 · 0s · reading src/print.rs
attempts used: 0/5 of the task, 0/100 of the run · waited 0s of 6h 00m
"#]]
    );

    let red = || Verdict::Red {
        error: "one is not two".to_owned(),
    };
    run.attempt(5_000, signalled()).verified(10, red());
    run.view.redraw();
    assert_data_eq!(
        screen(&terminal),
        str![[r#"
run 20261116-0445: spec demo, agent command:./agent.sh
1.2.1.1: Verify is red, it runs once more: one is not two
✔ 1.1 Parse the file
  ✔ 1.1.1 Fix: no such file
○ 1.2 Print it again
  ○ 1.2.1 Fix: one is not two
    ⠋ 1.2.1.1 Fix: the fix
○ 1.3 Make it fast (optional)
⠋ 1.2.1.1 verifying once more · 0s
attempts used: 1/5 of the task, 1/100 of the run · waited 0s of 6h 00m
"#]]
    );
}

#[test]
fn of_a_long_plan_the_part_around_the_current_task_is_shown() {
    let (terminal, mut run) = start(16, 60);
    let rows = long_plan();
    run.plan(&rows, Some(picked(&rows[20], &[], None)));
    run.view.redraw();
    assert_data_eq!(
        screen(&terminal),
        str![[r#"
run 20261116-0445: spec demo, agent command:./agent.sh
⋮ 18 done above
✔ 19 Number 19
✔ 20 Number 20
⠋ 21 Number 21
○ 22 Number 22
○ 23 Number 23
○ 24 Number 24
○ 25 Number 25
○ 26 Number 26
⋮ 14 open below
⠋ 21 attempt 1 of 5 · 0s
attempts used: 0/5 of the task, 0/100 of the run · waited 0…
"#]]
    );
}

#[test]
fn a_narrow_terminal_gets_shorter_lines() {
    let (terminal, mut run) = start(12, 24);
    let rows = [
        row("1.1", "日本語で書かれた長い題名の仕事"),
        row("1.2", "A task with a title that is rather long"),
    ];
    run.plan(&rows, Some(picked(&rows[0], &[], None)));
    run.view.redraw();
    assert_data_eq!(
        screen(&terminal),
        str![[r#"
run 20261116-0445: spec
demo, agent command:./ag
ent.sh
⠋ 1.1 日本語で書かれた…
○ 1.2 A task with a tit…
⠋ 1.1 attempt 1 of 5 · …
attempts used: 0/5 of t…
"#]]
    );
}

#[test]
fn a_low_terminal_gets_what_changes_most() {
    let (terminal, mut run) = start(4, 80);
    let rows = long_plan();
    run.plan(&rows, Some(picked(&rows[20], &[], None)));
    run.view.redraw();
    assert_data_eq!(
        screen(&terminal),
        str![[r#"
run 20261116-0445: spec demo, agent command:./agent.sh
⠋ 21 attempt 1 of 5 · 0s
attempts used: 0/5 of the task, 0/100 of the run · waited 0s of 6h 00m
"#]]
    );
}

/// There is nothing to be seen in one column, and nothing to fall over.
#[test]
fn a_terminal_of_no_use_is_left_alone() {
    for (lines, columns) in [(1, 1), (24, 1), (1, 80), (2, 2), (3, 9)] {
        let live = Live::new(Recorder::new(lines, columns), Palette::Plain);
        scripts::well_in_the_end(live).finish();
    }
}

#[test]
fn a_wait_says_until_when_and_why() {
    let terminal = InMemoryTerm::new(24, 100);
    let run = scripts::waiting(Live::new(terminal.clone(), Palette::Plain));
    run.view.redraw();
    assert_data_eq!(
        screen(&terminal),
        str![[r#"
run 20261116-0445: spec demo, agent command:./agent.sh
1.1: waiting 6m 38s, until 04:51:40 UTC: 429 rate limit
⠋ 1.1 Parse the file
⠋ 1.1 waiting until 04:51:40 UTC, 0s left · 429 rate limit
attempts used: 0/5 of the task, 0/100 of the run · waited 0s of 6h 00m
"#]]
    );
}

#[test]
fn somebody_who_stops_the_run_sees_that_it_stops() {
    let (terminal, mut run) = start(24, 80);
    let rows = [row("1.1", "Parse the file")];
    run.plan(&rows, Some(picked(&rows[0], &[], None)));
    run.stop_asked(StopSignal::Interrupt);
    run.view.redraw();
    assert_data_eq!(
        screen(&terminal),
        str![[r#"
run 20261116-0445: spec demo, agent command:./agent.sh
stopping: what runs is being ended; once more ends at once
⠋ 1.1 Parse the file
⠋ 1.1 stopping · 0s
attempts used: 0/5 of the task, 0/100 of the run · waited 0s of 6h 00m
"#]]
    );
}

/// No event comes while an agent works for half an hour; the view lives all the same.
#[test]
fn it_moves_on_without_events() {
    let (terminal, mut run) = start(24, 80);
    let rows = [row("1.1", "Parse the file")];
    run.plan(&rows, Some(picked(&rows[0], &[], None)));
    wait_for(&terminal, |contents| contents.contains("attempt 1 of 5"));
    run.view.activity("\u{1b}[31mreading\nsrc/print.rs");
    wait_for(&terminal, |contents| {
        contents.contains("· reading src/print.rs")
    });
    let is_later =
        |contents: &str| contents.contains("attempt 1 of 5") && !contents.contains(" 0s ·");
    wait_for(&terminal, is_later);
}

#[expect(
    clippy::disallowed_methods,
    reason = "what moves on by itself can only be waited for"
)]
#[track_caller]
fn wait_for(terminal: &InMemoryTerm, is_there: impl Fn(&str) -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_there(&terminal.contents()) {
        assert!(Instant::now() < deadline, "{}", terminal.contents());
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_view_that_is_dropped_clears_itself() {
    let (terminal, mut run) = start(24, 80);
    let rows = [row("1.1", "Parse the file")];
    run.plan(&rows, Some(picked(&rows[0], &[], None)));
    run.view.redraw();
    drop(run);
    assert_data_eq!(
        screen(&terminal),
        str!["run 20261116-0445: spec demo, agent command:./agent.sh"]
    );
}

#[test]
fn colours_say_what_is_done_and_what_is_not() {
    let terminal = InMemoryTerm::new(24, 60);
    let live = Live::new(terminal.clone(), Palette::Coloured);
    let mut run = Run::start(live, config());
    let rows = [
        done(row("1.1", "Parse the file")),
        row("1.2", "Print it again"),
        row("1.3", "Make it fast"),
    ];
    run.plan(&rows, Some(picked(&rows[1], &[], None)));
    run.view.redraw();
    let contents = String::from_utf8(terminal.contents_formatted()).expect("it is text");
    let done = contents.lines().find(|line| line.contains("✔ 1.1"));
    let open = contents.lines().find(|line| line.contains("○ 1.3"));
    assert!(
        done.is_some_and(|line| line.contains("\u{1b}[32m")),
        "{contents:?}"
    );
    assert!(
        open.is_some_and(|line| !line.contains("\u{1b}[3")),
        "{contents:?}"
    );
}

#[test]
fn a_run_goes_on_when_its_terminal_is_gone() {
    scripts::well_in_the_end(Live::new(Recorder::gone(), Palette::Plain)).finish();
}
