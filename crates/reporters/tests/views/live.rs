//! The live view on a terminal emulator.

use std::time::{Duration, Instant};

use regreen_model::{Budget, Budgets, OutlineRow, RunConfig, StopSignal, Verdict};
use regreen_reporters::{Live, Palette, Reporter as _};
use snapbox::{assert_data_eq, str};

use crate::run::{Run, done, fix, picked, row};
use crate::scripts::{self, config, signalled};
use crate::terminal::{Emulator, Recorder};

/// Returns the text on the screen with all clocks stopped, because their values depend on the load
/// of the machine.
fn screen(terminal: &Emulator) -> String {
    let contents = terminal.contents();
    let lines = contents.lines().map(|line| {
        let line = at_rest(line, " · ", " of 30m");
        let line = at_rest(&line, " · ", " of 10m");
        let line = at_rest(&line, " · ", " left");
        let line = at_rest(&line, "stopping · ", "");
        at_rest(&line, " done · ", "")
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn at_rest(line: &str, before: &str, after: &str) -> String {
    let Some((head, tail)) = line.split_once(before) else {
        return line.to_owned();
    };
    let is_clock = |c: char| c.is_ascii_digit() || "smh. ".contains(c);
    let rest = tail.trim_start_matches(is_clock);
    let clock = &tail[..tail.len() - rest.len()];
    let (clock, space) = match clock.strip_suffix(' ') {
        Some(clock) => (clock, " "),
        None => (clock, ""),
    };
    let is_it = clock.ends_with('s') && format!("{space}{rest}").starts_with(after);
    if is_it {
        format!("{head}{before}0s{space}{rest}")
    } else {
        format!("{head}{before}{}", at_rest(tail, before, after))
    }
}

fn start(lines: u16, columns: u16) -> (Emulator, Run<Live<Emulator>>) {
    start_with(lines, columns, config())
}

fn start_with(lines: u16, columns: u16, config: RunConfig) -> (Emulator, Run<Live<Emulator>>) {
    let terminal = Emulator::new(lines, columns);
    let live = Live::new(terminal.clone(), Palette::Plain);
    (terminal, Run::start(live, config))
}

/// Forty tasks: the first twenty are done, and the next one is running.
fn long_plan() -> Vec<OutlineRow> {
    let rows = (1..=40).map(|n| row(&n.to_string(), &format!("Number {n}")));
    let is_done = |at: usize| at < 20;
    rows.enumerate()
        .map(|(at, row)| if is_done(at) { done(row) } else { row })
        .collect()
}

#[test]
fn a_finished_run_leaves_its_lines_and_nothing_else() {
    let terminal = Emulator::new(40, 100);
    let live = Live::new(terminal.clone(), Palette::Plain);
    scripts::well_in_the_end(live).finish();
    assert_data_eq!(
        screen(&terminal),
        str![[r#"
   START  demo · 4 tasks · command:./agent.sh
    FAIL  [   13s] 1.2 Print it again                             attempt 1/5
          assertion `left == right` failed
    PLAN  agent added 1.5 Check the links
    WARN  task 1.3 had vanished from the plan and was put back
    WARN  the agent's tick of task 1.4 was taken back: nothing shows that it is done. If it is, run
          `regreen done 1.4`
    PASS  [ 1m02s] 1.2 Print it again                             flaky · 0a1b2c3
   RETRY  1.4 no completion signal; reminding the agent
    PASS  [    7s] 1.4 Write the guide                            unverified
    WAIT  1.5 until 04:51:40 UTC (5m 17s)
          429 rate limit
   RETRY  1.5 in a new session
          context window is full
    PASS  [    8s] 1.5 Check the links
     END  all tasks done, 1 of 3 unverified                       20261116-0445
"#]]
    );
}

/// The summary follows, and other programs look for one of its lines.
#[test]
fn later_output_begins_on_a_new_line() {
    let mut terminal = Emulator::new(24, 80);
    scripts::stopped(Live::new(terminal.clone(), Palette::Plain)).finish();
    std::io::Write::write_all(&mut terminal, b"Stopped.").expect("it is written");
    assert_data_eq!(
        screen(&terminal),
        str![[r#"
   START  demo · 4 tasks · command:./agent.sh
    STOP  stopping; press Ctrl-C again to kill
     END  stopped; progress is saved · exit code 130            20261116-0445
Stopped.
"#]]
    );
}

/// regreen itself may fail and report it while the view is still visible.
#[test]
fn a_run_without_an_end_leaves_no_empty_line() {
    let (mut terminal, mut run) = start(24, 80);
    let rows = [row("1.1", "Parse the file")];
    run.plan(&rows, Some(picked(&rows[0], &[], None)));
    run.view.redraw();
    run.finish();
    std::io::Write::write_all(&mut terminal, b"error").expect("it is written");
    assert_data_eq!(
        screen(&terminal),
        str![[r#"
   START  demo · 4 tasks · command:./agent.sh
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
    run.view.activity("Bash: pytest -q tests/test_3.py");
    run.view.redraw();
    assert_data_eq!(
        screen(&terminal),
        str![[r#"
   START  demo · 4 tasks · command:./agent.sh

  ✔ 1.1 Parse the file
    ✔ 1.1.1 Fix: no such file
  ○ 1.2 Print it again
    ○ 1.2.1 Fix: one is not two
      ⠋ 1.2.1.1 Fix: the fix
  ○ 1.3 Make it fast (optional)
⠋ 1.2.1.1 attempt 1/5 · 0s of 30m · Bash: pytest -q tests/test_3.py
  1/2 done · 0s
"#]]
    );
}

#[test]
fn the_footer_has_the_budgets_and_an_estimate_once_two_tasks_are_done() {
    let budgets = Budgets {
        run: Budget {
            tokens: Some(1_000_000),
            cost_micro_usd: Some(5_000_000),
            ..Budget::default()
        },
        ..Budgets::default()
    };
    let (terminal, mut run) = start_with(
        24,
        100,
        RunConfig {
            budgets,
            ..config()
        },
    );
    let mut rows: Vec<OutlineRow> = (1..=4)
        .map(|n| row(&n.to_string(), &format!("Number {n}")))
        .collect();
    for at in 0..2 {
        run.plan(&rows, Some(picked(&rows[at], &["true"], None)));
        run.attempt(60_000, scripts::spending(6_150, 420_000));
        run.verified(100, Verdict::Green).ticked().recorded();
        rows[at].done = true;
    }
    run.plan(&rows, Some(picked(&rows[2], &["true"], None)));
    run.view.redraw();
    assert_data_eq!(
        screen(&terminal),
        str![[r#"
   START  demo · 4 tasks · command:./agent.sh
    PASS  [ 1m00s] 1 Number 1
    PASS  [ 1m00s] 2 Number 2

  ✔ 1 Number 1
  ✔ 2 Number 2
  ⠋ 3 Number 3
  ○ 4 Number 4
⠋ 3 attempt 1/5 · 0s of 30m
  2/4 done · 0s · about 3m left · 12.3k of 1M tokens · $0.84 of $5.00
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
   START  demo · 4 tasks · command:./agent.sh

  ⋮ 18 done above
  ✔ 19 Number 19
  ✔ 20 Number 20
  ⠋ 21 Number 21
  ○ 22 Number 22
  ○ 23 Number 23
  ○ 24 Number 24
  ○ 25 Number 25
  ⋮ 15 open below
⠋ 21 attempt 1/5 · 0s of 30m
  20/40 done · 0s
"#]]
    );
}

#[test]
fn a_narrow_terminal_gets_shorter_lines() {
    let (terminal, mut run) = start(14, 24);
    let rows = [
        row("1.1", "日本語で書かれた長い題名の仕事"),
        row("1.2", "A task with a title that is rather long"),
    ];
    run.plan(&rows, Some(picked(&rows[0], &[], None)));
    run.view.redraw();
    assert_data_eq!(
        screen(&terminal),
        str![[r#"
START demo · 4…gent.sh

  ⠋ 1.1 日本語で…の仕事
  ○ 1.2 A task w…r long
⠋ 1.1 attempt 1/…of 30m
  0/2 done · 0s
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
   START  demo · 4 tasks · command:./agent.sh
⠋ 21 attempt 1/5 · 0s of 30m
  20/40 done · 0s
"#]]
    );
}

/// One column has nothing to show, and must not cause a panic.
#[test]
fn a_terminal_of_no_use_is_left_alone() {
    for (lines, columns) in [(1, 1), (24, 1), (1, 80), (2, 2), (3, 9)] {
        let live = Live::new(Recorder::new(lines, columns), Palette::Plain);
        scripts::well_in_the_end(live).finish();
    }
}

#[test]
fn a_wait_says_until_when_and_why() {
    let terminal = Emulator::new(24, 100);
    let run = scripts::waiting(Live::new(terminal.clone(), Palette::Plain));
    run.view.redraw();
    assert_data_eq!(
        screen(&terminal),
        str![[r#"
   START  demo · 4 tasks · command:./agent.sh
    WAIT  1.1 until 04:51:40 UTC (6m 39s)
          429 rate limit

  ⠋ 1.1 Parse the file
⠋ 1.1 waiting until 04:51:40 UTC · 0s left · 429 rate limit
  0/1 done · 0s
"#]]
    );
}

#[test]
fn the_screen_says_that_the_run_is_stopping() {
    let (terminal, mut run) = start(24, 80);
    let rows = [row("1.1", "Parse the file")];
    run.plan(&rows, Some(picked(&rows[0], &[], None)));
    run.stop_asked(StopSignal::Interrupt);
    run.view.redraw();
    assert_data_eq!(
        screen(&terminal),
        str![[r#"
   START  demo · 4 tasks · command:./agent.sh
    STOP  stopping; press Ctrl-C again to kill

  ⠋ 1.1 Parse the file
⠋ 1.1 stopping · 0s
  0/1 done · 0s
"#]]
    );
}

/// No events arrive while an agent works for half an hour, but the view keeps updating.
#[test]
fn it_moves_on_without_events() {
    let (terminal, mut run) = start(24, 80);
    let rows = [row("1.1", "Parse the file")];
    run.plan(&rows, Some(picked(&rows[0], &[], None)));
    wait_for(&terminal, |contents| contents.contains("attempt 1/5"));
    run.view.activity("\u{1b}[31mreading\nsrc/print.rs");
    wait_for(&terminal, |contents| {
        contents.contains("· reading src/print.rs")
    });
    let is_later = |contents: &str| contents.contains("attempt 1/5") && !contents.contains(" 0s ");
    wait_for(&terminal, is_later);
}

#[expect(
    clippy::disallowed_methods,
    reason = "what moves on by itself can only be waited for"
)]
#[track_caller]
fn wait_for(terminal: &Emulator, is_there: impl Fn(&str) -> bool) {
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
        str!["   START  demo · 4 tasks · command:./agent.sh"]
    );
}

/// Long titles, a failure above, and every width in between.
#[test]
fn a_terminal_that_is_resized_shows_no_stale_row() {
    let (terminal, mut run) = start(20, 120);
    let title = "A task with a title that is much longer than what fits into half a terminal, and then some more";
    let mut rows = vec![row("1.1", title), row("1.2", title)];
    run.plan(&rows, Some(picked(&rows[0], &["true"], None)));
    run.attempt(1_000, signalled());
    run.verified(100, Verdict::Green).ticked().recorded();
    rows[0].done = true;
    run.plan(&rows, Some(picked(&rows[1], &["true"], None)));
    run.view.activity(
        "Bash: pytest -q tests/test_3.py --maxfail=1 --durations=10 -k 'not slow and not network'",
    );
    for columns in [120, 60, 34, 150, 59, 150, 20, 120] {
        terminal.resize(20, columns);
        run.view.redraw();
        let contents = terminal.contents();
        for once in ["START", "PASS", "✔ 1.1", "⠋ 1.2 A task", "1/2 done"] {
            assert_eq!(contents.matches(once).count(), 1, "{columns}: {contents}");
        }
        assert_eq!(contents.lines().count(), 7, "{columns}: {contents}");
    }
    assert_data_eq!(
        screen(&terminal),
        str![[r#"
   START  demo · 4 tasks · command:./agent.sh
    PASS  [    1s] 1.1 A task with a title that is much longer than what fits into half a terminal, and then some more

  ✔ 1.1 A task with a title that is much longer than what fits into half a terminal, and then some more
  ⠋ 1.2 A task with a title that is much longer than what fits into half a terminal, and then some more
⠋ 1.2 attempt 1/5 · 0s of 30m · Bash: pytest -q tests/test_3.py --maxfail=1 --durations=10…k 'not slow and not network'
  1/2 done · 0s
"#]]
    );
}

/// The same on a screen that is full of lines.
#[test]
fn a_full_screen_that_is_resized_shows_no_stale_row() {
    let (terminal, mut run) = start(16, 120);
    let mut rows: Vec<OutlineRow> = (1..=9)
        .map(|n| {
            row(
                &n.to_string(),
                &format!("Task number {n} {}", "long ".repeat(30)),
            )
        })
        .collect();
    for at in 0..8 {
        run.plan(&rows, Some(picked(&rows[at], &["true"], None)));
        run.attempt(1_000, signalled());
        run.verified(100, Verdict::Green).ticked().recorded();
        rows[at].done = true;
    }
    run.plan(&rows, Some(picked(&rows[8], &["true"], None)));
    for columns in [120, 60, 34, 150] {
        terminal.resize(16, columns);
        run.view.redraw();
        let contents = terminal.contents();
        assert_eq!(contents.matches("8/9 done").count(), 1, "{contents}");
        assert_eq!(
            contents.matches("PASS  [    1s] 8 ").count(),
            1,
            "{contents}"
        );
        assert!(contents.lines().count() <= 16, "{contents}");
    }
    run.finish();
    assert_eq!(terminal.contents().matches(" done").count(), 0);
}

#[test]
fn colors_say_what_is_done_and_what_is_not() {
    let terminal = Emulator::new(24, 60);
    let live = Live::new(terminal.clone(), Palette::Coloured);
    let mut run = Run::start(live, config());
    let rows = [
        done(row("1.1", "Parse the file")),
        row("1.2", "Print it again"),
        row("1.3", "Make it fast"),
    ];
    run.plan(&rows, Some(picked(&rows[1], &[], None)));
    run.view.redraw();
    use vt100::Color::{Default, Idx};
    assert_eq!(terminal.color_of("✔"), (Idx(2), true));
    assert_eq!(terminal.color_of("1.1 Parse"), (Default, false));
    assert_eq!(terminal.color_of("1.2 Print"), (Default, true));
    assert_eq!(terminal.color_of("1.3 Make"), (Default, false));
}

#[test]
fn a_run_continues_when_its_terminal_is_gone() {
    scripts::well_in_the_end(Live::new(Recorder::gone(), Palette::Plain)).finish();
}
