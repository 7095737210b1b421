use regreen_model::{
    AttemptReport, ChoiceKind, Event, OutlineRow, PersonChoice, RunOutcome, StopSignal, Timestamp,
    Usage,
};
use regreen_reporters::{LineStyle, Lines, Reporter, Summary};
use snapbox::{IntoData, assert_data_eq, str};

use crate::run::{Run, key, picked, row};
use crate::scripts;

#[test]
fn a_green_run_is_summed_up() {
    let summary = scripts::well_in_the_end(Summary::default()).finish();
    assert_eq!(summary.headline().as_deref(), Some("ALL_TASKS_COMPLETE"));
    assert_data_eq!(
        summary.text(LineStyle::default()),
        str![[r#"
ALL_TASKS_COMPLETE
   Tasks  4 of 4 done in 7m 20s
Attempts  6 made, 5 of 100 used
   Waits  1, 5m 16s in all
    Plan  agent added 1.5; restored 1.3; unticked 1.4
    WARN  unverified: 1.4
    WARN  flaky: 1.2
    Next  review what nothing has verified:  regreen diff 1.4

"#]]
    );
}

#[test]
fn a_limit_says_what_was_reached_and_where_to_look() {
    let summary = scripts::limit_reached(Summary::default()).finish();
    assert_data_eq!(
        summary.text(LineStyle::default()),
        str![[r#"
ERROR: Max retries reached for task 1.2 after 2 attempts
   Tasks  1 of 2 done in 7s
   Fixes  1 of 2 done
Attempts  2 of 100
    Next  see how 1.2 failed:  regreen why 1.2
          try once more:       regreen run

"#]]
    );
}

/// Pauses don't count towards the duration of a run.
#[test]
fn a_run_that_went_on_is_summed_up_as_one() {
    let stopped = scripts::stopped(Summary::default());
    let summary = scripts::goes_on(stopped, Summary::default()).finish();
    assert_data_eq!(
        summary.text(LineStyle::default()),
        str![[r#"
A person must decide: somebody saves tasks.md again and again
   Tasks  1 of 2 done in 5s
Attempts  2 made, 1 of 100 used
    Next  decide, then continue:  regreen run

"#]]
    );
}

#[test]
fn a_run_that_has_not_ended_has_no_headline() {
    let mut summary = Summary::default();
    summary.outline(&[row("1.1", "Parse the file")]);
    assert_eq!(summary.headline(), None);
    assert_data_eq!(
        summary.text(LineStyle::default()),
        str![[r#"
   Tasks  0 of 1 done in 0s
Attempts  0 of 100

"#]]
    );
}

/// The end of an attempt that has a cost.
fn spent(micro_usd: u64, input_tokens: u64) -> Event {
    let usage = Usage {
        input_tokens,
        output_tokens: 30,
        cost_micro_usd: Some(micro_usd),
        ..Usage::default()
    };
    Event::AttemptEnded {
        task: key("1.1", "Parse the file"),
        attempt: 1,
        charged: false,
        counted: None,
        report: Box::new(AttemptReport {
            usage: Some(usage),
            ..AttemptReport::default()
        }),
    }
}

#[track_caller]
fn check(outcome: RunOutcome, expected: impl IntoData) {
    let mut summary = Summary::default();
    summary.outline(&[row("1.1", "Parse the file"), row("1.2", "Print it again")]);
    let now = Timestamp::from_millis(1000);
    summary.event(
        now,
        &Event::RunResumed {
            config: None,
            at: None,
        },
    );
    if outcome == RunOutcome::Skipped {
        let task = key("1.2", "Print it again");
        summary.event(now, &Event::TaskSkipped { task });
    }
    summary.event(now, &spent(1_234_567, 2_000));
    summary.event(now, &Event::RunEnded { outcome });
    assert_data_eq!(summary.text(LineStyle::default()), expected);
}

#[test]
fn a_skipped_task_is_listed_until_the_person_retries_it() {
    let mut summary = Summary::default();
    summary.outline(&[row("1.1", "Parse the file"), row("1.2", "Print it again")]);
    let now = Timestamp::from_millis(1000);
    let mut choose = |id: &str, title: &str, what: ChoiceKind| {
        let choice = PersonChoice {
            number: 1,
            task: key(id, title),
            what,
        };
        summary.event(now, &Event::Chosen { choice });
    };
    choose("1.1", "Parse the file", ChoiceKind::Skip);
    choose("1.2", "Print it again", ChoiceKind::Skip);
    choose("1.1", "Parse the file", ChoiceKind::Retry);
    let skipped = summary.figures().skipped;
    let skipped: Vec<&str> = skipped.iter().map(|task| task.id.as_str()).collect();
    assert_eq!(skipped, ["1.2"]);
    summary.outline(&[OutlineRow {
        done: true,
        ..row("1.2", "Print it again")
    }]);
    assert_eq!(summary.figures().skipped, []);
}

#[test]
fn every_end_says_what_to_do_next() {
    let why = "the disk is full".to_owned();
    check(
        RunOutcome::Skipped,
        str![[r#"
Some tasks were skipped: 2 tasks are open.
   Tasks  0 of 2 done in 0s
Attempts  0 of 100
    Cost  $1.24
  Tokens  2k in, 30 out
    SKIP  1.2
    Next  see why 1.2 was skipped:  regreen why 1.2

"#]],
    );
    check(
        RunOutcome::NeedsPerson { why: why.clone() },
        str![[r#"
A person must decide: the disk is full
   Tasks  0 of 2 done in 0s
Attempts  0 of 100
    Cost  $1.24
  Tokens  2k in, 30 out
    Next  decide, then continue:  regreen run

"#]],
    );
    check(
        RunOutcome::TryLater { why: why.clone() },
        str![[r#"
Try again later: the disk is full
   Tasks  0 of 2 done in 0s
Attempts  0 of 100
    Cost  $1.24
  Tokens  2k in, 30 out
    Next  continue when the service is back:  regreen run

"#]],
    );
    check(
        RunOutcome::SetUp { why },
        str![[r#"
Fix the setup first: the disk is full
   Tasks  0 of 2 done in 0s
Attempts  0 of 100
    Cost  $1.24
  Tokens  2k in, 30 out
    Next  continue when it is fixed:  regreen run

"#]],
    );
    let signal = StopSignal::Terminate;
    check(
        RunOutcome::Stopped { signal },
        str![[r#"
Stopped; progress is saved.
   Tasks  0 of 2 done in 0s
Attempts  0 of 100
    Cost  $1.24
  Tokens  2k in, 30 out
    Next  continue:  regreen run

"#]],
    );
}

/// Other programs look for these words.
#[test]
fn the_message_of_a_limit_is_exact() {
    let message =
        "ERROR: Max fix attempts (3) reached for task 1.3\nFix attempts: 1.3.1, 1.3.2, 1.3.3";
    let mut summary = Summary::default();
    let outcome = RunOutcome::Limit {
        message: message.to_owned(),
    };
    summary.event(Timestamp::from_millis(0), &Event::RunEnded { outcome });
    assert_eq!(summary.headline().as_deref(), Some(message));
}

/// A wait that a crash or a stop interrupts is one wait.
#[test]
fn a_resumed_wait_counts_once() {
    let mut run = scripts::waiting(Summary::default());
    run.pass(10_000).stopped(StopSignal::Interrupt);
    assert_eq!(waits(&run.view), (1, 10_000));
    let mut run = run.resumed(Summary::default(), 60_000);
    run.waited();
    assert_eq!(waits(&run.view), (1, run.state().waited_ms));
}

fn waits(summary: &Summary) -> (u32, u64) {
    let waits = summary.figures().waits;
    (waits.count, waits.ms)
}

/// When a person reopens a task, what was said about it no longer holds.
#[test]
fn a_task_that_is_opened_again_starts_afresh() {
    let mut out = Vec::new();
    let lines = Lines::new(&mut out, LineStyle::default());
    let mut run = scripts::unverified((lines, Summary::default()));
    let figures = |run: &Run<(Lines<_>, Summary)>| run.view.1.figures();
    assert_eq!(figures(&run).unverified.len(), 1);
    assert_eq!(figures(&run).originals.done, 1);
    let rows = [row("1.1", "Parse the file")];
    run.plan(&rows, Some(picked(&rows[0], &["true"], None)));
    assert_eq!(figures(&run).unverified, []);
    assert_eq!(figures(&run).originals.done, 0);
    run.finish();
    let output = String::from_utf8_lossy(&out);
    assert_eq!(
        output.matches("PASS  [    1s] 1.1 Parse the file").count(),
        1,
        "{output}"
    );
}

/// The views count by the engine's rules.
#[test]
fn the_figures_agree_with_the_engine() {
    let check = |run: &Run<Summary>| {
        let (state, figures) = (run.state(), run.view.figures());
        assert_eq!(figures.attempts.charged, state.iterations);
        assert_eq!(figures.attempts.limit, state.iteration_limit());
        assert_eq!(figures.waits.ms, state.waited_ms);
    };
    check(&scripts::well_in_the_end(Summary::default()));
    check(&scripts::limit_reached(Summary::default()));
    let stopped = scripts::stopped(Summary::default());
    check(&stopped);
    check(&scripts::goes_on(stopped, Summary::default()));
}

/// A view that was chosen at startup, and a summary that is needed afterwards.
#[test]
fn several_views_see_the_same_run() {
    let (mut out, mut summary) = (Vec::new(), Summary::default());
    let view: Box<dyn Reporter + '_> = Box::new(Lines::new(&mut out, LineStyle::default()));
    let mut run = scripts::limit_reached((view, &mut summary));
    run.view.activity("reading");
    run.view.event(Timestamp::from_millis(0), &spent(10_000, 7));
    run.finish();
    let mut alone = Vec::new();
    scripts::limit_reached(Lines::new(&mut alone, LineStyle::default())).finish();
    assert_eq!(out, alone);
    assert_eq!(summary.figures().exit_code, Some(1));
    assert_eq!(summary.figures().cost_micro_usd, Some(10_000));
}

#[test]
fn a_warning_is_listed_again_once_it_has_scrolled_away() {
    let mut summary = Summary::default();
    let mut report = |event: &Event| {
        summary.event(Timestamp::default(), event);
        summary.text(LineStyle::default()).contains("almost full")
    };
    let message = "the disk is almost full".to_owned();
    assert!(!report(&Event::Warned { message }));
    let done = Event::TaskDone {
        task: key("1.1", "Parse the file"),
        marks: std::collections::BTreeSet::new(),
        hash: None,
    };
    assert!(!report(&done));
    assert!((0..20).any(|_| report(&done)));
}

#[test]
fn a_command_that_does_not_fit_has_a_line_of_its_own_and_stays_whole() {
    let summary = scripts::limit_reached(Summary::default()).finish();
    let narrow = LineStyle {
        columns: Some(40),
        ..LineStyle::default()
    };
    assert_data_eq!(
        summary.text(narrow),
        str![[r#"
ERROR: Max retries reached for task 1.2
after 2 attempts
   Tasks  1 of 2 done in 7s
   Fixes  1 of 2 done
Attempts  2 of 100
    Next  see how 1.2 failed:
            regreen why 1.2
          try once more:
            regreen run

"#]]
    );
}
