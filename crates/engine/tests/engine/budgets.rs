//! Budgets: what they count, and when they end a run.

use proptest::prelude::*;
use regreen_engine::{Input, Resumption, State};
use regreen_model::{
    AttemptClass, AttemptReport, Budget, Budgets, ChoiceKind, Ending, Event, FixBudget, PickedTask,
    RunConfig, RunOutcome, Timestamp, Usage, Verdict,
};

use crate::script::{Run, choice, failed, picked, signalled, task};

fn usage(tokens: u64) -> Option<Usage> {
    Some(Usage {
        input_tokens: tokens,
        cost_micro_usd: Some(tokens * 10_000),
        ..Usage::default()
    })
}

fn run_tokens(tokens: u64) -> RunConfig {
    let run = Budget {
        tokens: Some(tokens),
        ..Budget::default()
    };
    limited(run, Budget::default())
}

fn limited(run: Budget, task: Budget) -> RunConfig {
    RunConfig {
        budgets: Budgets { run, task },
        recovery: true,
        ..RunConfig::default()
    }
}

fn time(millis: u64) -> Budget {
    Budget {
        time_ms: Some(millis),
        ..Budget::default()
    }
}

#[track_caller]
fn limit(run: &Run) -> &str {
    match &run.state.outcome {
        Some(RunOutcome::Limit { message }) => message,
        other => panic!("no limit: {other:?} {:?}", run.state),
    }
}

/// An attempt that used this many tokens.
fn costs(tokens: u64, report: AttemptReport) -> AttemptReport {
    AttemptReport {
        usage: usage(tokens),
        ..report
    }
}

fn fix_of_1_1() -> PickedTask {
    PickedTask {
        root: task("1.1"),
        ..picked("1.1.1", 0)
    }
}

fn one_fix() -> FixBudget {
    FixBudget {
        depth: 0,
        fixes: 0,
        root_fixes: 0,
        root: task("1.1").id,
        fix_ids: vec![],
        next_id: task("1.1.1").id,
        last_error: String::new(),
        open_fixes: Vec::new(),
    }
}

#[test]
fn a_run_that_has_spent_its_budget_makes_no_attempt_any_more() {
    let mut run = Run::start_with(run_tokens(100), vec![]);
    run.pick(picked("1.1", 0));
    run.attempt_ends(costs(100, signalled()));
    run.finish_task();
    assert!(run.is_reading_the_plan(), "what was done stays done");
    run.pick(picked("1.2", 1));
    assert_eq!(
        limit(&run),
        "ERROR: Token budget (100) used up: 100 spent. Raise --max-tokens, or start again: a new run has a budget of its own."
    );
}

#[test]
fn a_run_that_needs_no_further_attempt_is_green_even_over_budget() {
    let mut run = Run::start_with(run_tokens(1), vec![]);
    run.pick(picked("1.1", 0));
    run.attempt_ends(costs(100, signalled()));
    run.finish_task();
    run.nothing_left(1, 0);
    assert_eq!(run.state.outcome, Some(RunOutcome::AllGreen));
}

#[test]
fn reminders_and_uncharged_attempts_count_towards_the_budget() {
    let mut run = Run::start_with(run_tokens(30), vec![]);
    run.pick(picked("1.1", 0));
    let silent = AttemptReport {
        signalled: false,
        ..signalled()
    };
    run.attempt_ends(costs(10, silent.clone()));
    run.verified(Verdict::Green);
    let interrupted = AttemptReport {
        class: AttemptClass::Interrupted,
        ..silent
    };
    run.attempt_ends(costs(10, interrupted.clone()));
    assert_eq!(run.state.spent.input_tokens, 20);
    run.attempt_ends(costs(10, interrupted));
    assert!(limit(&run).contains("30 spent"), "{}", limit(&run));
}

#[test]
fn a_task_shares_its_budget_with_its_fixes() {
    let task = Budget {
        cost_micro_usd: Some(1_000_000),
        ..Budget::default()
    };
    let mut run = Run::start_with(limited(Budget::default(), task), vec![]);
    run.pick(picked("1.1", 0));
    run.attempt_ends(costs(60, failed()));
    run.budget_is(one_fix());
    run.tell(&Input::Inserted { seq: run.seq() });
    run.pick(fix_of_1_1());
    run.attempt_ends(costs(60, signalled()));
    run.finish_task();
    run.pick(picked("1.1", 0));
    run.tell(&Input::FailureNoted { seq: run.seq() });
    assert_eq!(
        limit(&run),
        "ERROR: Cost budget ($1.00) of task 1.1 and its fixes used up: $1.20 spent. Raise --max-task-cost, or split the task; a new run tries it once more."
    );
}

#[test]
fn each_task_has_a_budget_of_its_own() {
    let each = Budget {
        tokens: Some(100),
        ..Budget::default()
    };
    let mut run = Run::start_with(limited(Budget::default(), each), vec![]);
    for (id, index) in [("1.1", 0), ("1.2", 1), ("1.3", 2)] {
        run.pick(picked(id, index));
        run.attempt_ends(costs(90, signalled()));
        run.finish_task();
        assert!(run.is_reading_the_plan());
    }
    assert_eq!(run.state.spent.input_tokens, 270);
}

#[test]
fn retrying_a_task_resets_its_budget() {
    let each = Budget {
        tokens: Some(100),
        ..Budget::default()
    };
    let mut run = Run::start_with(limited(Budget::default(), each), vec![]);
    run.pick(picked("1.1", 0));
    run.attempt_ends(costs(60, failed()));
    run.budget_is(one_fix());
    run.tell(&Input::Inserted { seq: run.seq() });
    run.pick(fix_of_1_1());
    run.stop();
    run.resume(vec![choice(1, "1.1", ChoiceKind::Retry)]);
    assert_eq!(run.state.spent_on(&task("1.1")).tokens(), 0);
    assert_eq!(
        run.state.spent.tokens(),
        60,
        "the run has spent it all the same"
    );
}

fn timed_out(duration_ms: u64) -> AttemptReport {
    AttemptReport {
        signalled: false,
        ending: Ending {
            timed_out: true,
            limit_ms: Some(duration_ms),
            duration_ms,
            ..Ending::default()
        },
        ..signalled()
    }
}

#[test]
fn an_attempt_gets_no_more_time_than_is_left() {
    let mut run = Run::start_with(limited(time(60_000), time(50_000)), vec![]);
    run.pick(picked("1.1", 0));
    assert_eq!(run.attempt().timeout_ms, 50_000);
    let took = |duration_ms: u64| AttemptReport {
        ending: Ending {
            duration_ms,
            ..Ending::default()
        },
        ..signalled()
    };
    run.attempt_ends(took(30_000));
    let seq = run.seq();
    run.tell(&Input::Verified {
        tests: None,
        seq,
        verdict: Verdict::Green,
        diagnosis: None,
        took_ms: 5_000,
    });
    run.ticked();
    run.committed(regreen_engine::CommitResult::Nothing);
    run.recorded();
    run.pick(picked("1.2", 1));
    assert_eq!(run.attempt().timeout_ms, 25_000);
}

#[test]
fn an_attempt_ended_by_the_time_budget_has_not_failed() {
    let mut run = Run::start_with(limited(time(60_000), Budget::default()), vec![]);
    run.pick(picked("1.1", 0));
    run.attempt_ends(timed_out(60_010));
    assert_eq!(
        limit(&run),
        "ERROR: Time budget (1m 00s) used up: 1m 00s spent; that ended the attempt. Raise --max-time, or start again: a new run has a budget of its own."
    );
    assert_eq!(run.events(), ["attempt_ended", "run_ended"]);
    assert_eq!(run.state.iterations, 0);
}

#[test]
fn an_attempt_that_exceeds_its_own_time_limit_has_failed() {
    let mut run = Run::start_with(limited(time(60_000), Budget::default()), vec![]);
    run.pick(picked("1.1", 0));
    run.attempt_ends(timed_out(30_000));
    assert_eq!(run.state.iterations, 1);
    assert_eq!(run.attempt().timeout_ms, 30_000);
}

#[test]
fn a_wait_longer_than_the_budget_ends_the_run_for_later() {
    let mut run = Run::start_with(limited(time(60_000), Budget::default()), vec![]);
    run.pick(picked("1.1", 0));
    run.attempt_ends(rate_limited_until(100_000));
    let Some(RunOutcome::TryLater { why }) = &run.state.outcome else {
        panic!("not for later: {:?}", run.state.outcome)
    };
    assert!(why.contains("--max-time leaves 1m 00s"), "{why}");
}

#[test]
fn a_wait_that_just_fits_into_the_time_or_the_waiting_budget_is_made() {
    let waits = RunConfig {
        max_wait_ms: 60_000,
        ..RunConfig::default()
    };
    // The run is told at 1 s.
    for config in [limited(time(60_000), Budget::default()), waits] {
        for (until, fits) in [(61_000, true), (61_001, false)] {
            let mut run = Run::start_with(config.clone(), vec![]);
            run.pick(picked("1.1", 0));
            run.attempt_ends(rate_limited_until(until));
            assert_eq!(run.state.outcome.is_none(), fits, "{until}");
        }
    }
}

fn rate_limited_until(millis: u64) -> AttemptReport {
    AttemptReport {
        class: AttemptClass::Transient {
            why: "429".to_owned(),
            until: Some(Timestamp::from_millis(millis)),
        },
        signalled: false,
        ..signalled()
    }
}

#[test]
fn waiting_takes_time_only_while_a_process_drives_the_run() {
    let mut run = Run::start_with(limited(time(600_000), Budget::default()), vec![]);
    run.pick(picked("1.1", 0));
    run.attempt_ends(rate_limited_until(101_000));
    assert_eq!(run.state.outcome, None);
    // Killed at once, then restarted shortly before the end of the wait.
    run.tell_at(91_000, &Input::Resume(Resumption::default()));
    let seq = run.seq();
    run.tell_at(101_000, &Input::Waited { seq, asleep_ms: 0 });
    assert_eq!(run.state.spent.time_ms, 10_000);
    assert_eq!(run.state.waited_ms, 100_000);
    assert_eq!(run.attempt().timeout_ms, 590_000);
}

/// Ends of attempts: the session, its usage since the last one, and whether regreen is restarted.
fn ends() -> impl Strategy<Value = Vec<(u8, u64, bool)>> {
    prop::collection::vec((0_u8..4, 0_u64..500, any::<bool>()), 0..30)
}

proptest! {
    #[test]
    fn the_sum_is_the_real_usage_for_any_reports_of_sessions(ends in ends()) {
        let mut run = Run::start_with(RunConfig::default(), vec![]);
        run.pick(picked("1.1", 0));
        let mut state = run.state;
        let mut used = [0_u64; 4];
        for (session, more, is_restarted) in ends {
            let at = usize::from(session);
            // The first two sessions report their whole past from the second time on.
            let cumulative = session < 2 && used[at] > 0;
            used[at] += more;
            let output = if session < 2 { used[at] } else { more };
            let report = AttemptReport {
                session: Some(format!("s-{session}")),
                usage: Some(Usage {
                    input_tokens: output,
                    output_tokens: 2 * output,
                    cost_micro_usd: Some(3 * output),
                    cumulative,
                    ..Usage::default()
                }),
                ..AttemptReport::default()
            };
            state.apply(&Event::AttemptEnded {
                task: task("1.1"),
                attempt: 1,
                charged: false,
                counted: None,
                report: Box::new(report),
            });
            if is_restarted {
                let stored = serde_json::to_string(&state).unwrap();
                state = serde_json::from_str::<State>(&stored).unwrap();
            }
        }
        let all: u64 = used.iter().sum();
        prop_assert_eq!(state.spent.input_tokens, all);
        prop_assert_eq!(state.spent.tokens(), 3 * all);
        prop_assert_eq!(state.spent.cost_micro_usd.unwrap_or(0), 3 * all);
        prop_assert_eq!(state.spent_on(&task("1.1")).tokens(), 3 * all);
    }
}
