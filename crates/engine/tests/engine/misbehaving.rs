//! Agents that misbehave for ever, as no script can. Each is stopped by its own budget.

use regreen_engine::{Command, Input, ModifyResult};
use regreen_model::{
    AttemptClass, AttemptReport, FixBudget, GroupTimes, Modification, ModificationRequest,
    NextStep, PickedTask, PlanStatus, PromptKind, ProposedTask, RunConfig, RunOutcome,
    SuggestedLimit, TaskFeatures, TaskGroup, TaskId, TimeForecast, Timestamp, Verdict,
};

use crate::script::{Run, picked, signalled};

const HOUR_MS: u64 = 60 * 60 * 1_000;

fn config(recovery: bool) -> RunConfig {
    RunConfig {
        recovery,
        ..RunConfig::default()
    }
}

fn overflowing() -> AttemptReport {
    AttemptReport {
        class: AttemptClass::Session {
            why: "prompt is too long".to_owned(),
        },
        ..AttemptReport::default()
    }
}

fn id(text: &str) -> TaskId {
    crate::script::task(text).id
}

/// The budget of a task that has had this many fixes.
fn budget(fixes: u32) -> FixBudget {
    let fix_ids: Vec<TaskId> = (1..=fixes).map(|n| id("1.1").child(n)).collect();
    FixBudget {
        depth: 0,
        fixes,
        root_fixes: fixes,
        root: id("1.1"),
        fix_ids,
        next_id: id("1.1").child(fixes + 1),
        last_error: String::new(),
        open_fixes: Vec::new(),
    }
}

#[track_caller]
fn outcome(run: &Run) -> &RunOutcome {
    assert!(matches!(run.command(), Command::Finish));
    let Some(outcome) = &run.state.outcome else {
        panic!("it has not ended")
    };
    outcome
}

#[test]
fn rows_that_an_attempt_asks_for_are_added_with_recovery_only() {
    let request = ModificationRequest {
        modification: Modification::SplitTask,
        original_task_id: id("1.1"),
        reasoning: String::new(),
        proposed_tasks: vec![ProposedTask::Lines("- [ ] A part".to_owned())],
    };
    for recovery in [true, false] {
        let mut run = Run::start_with(config(recovery), vec![]);
        run.pick(picked("1.1", 0));
        run.attempt_ends(AttemptReport {
            modification: Some(Box::new(request.clone())),
            ..AttemptReport::default()
        });
        assert_eq!(matches!(run.command(), Command::Modify(_)), recovery);
    }
}

#[test]
fn an_agent_that_asked_for_rows_is_told_that_they_are_there() {
    let mut run = Run::start_with(config(true), vec![]);
    run.pick(picked("1.1", 0));
    run.attempt_ends(AttemptReport {
        modification: Some(Box::new(ModificationRequest {
            modification: Modification::AddFollowup,
            original_task_id: id("1.1"),
            reasoning: String::new(),
            proposed_tasks: vec![ProposedTask::Lines("- [ ] More".to_owned())],
        })),
        ..AttemptReport::default()
    });
    let (seq, added) = (run.seq(), vec![picked("1.2", 1).task]);
    let result = ModifyResult::Done { added };
    run.tell(&Input::Modified { seq, result });
    run.pick(picked("1.1", 0));
    let told = run.attempt().previous.as_ref();
    let told = told.map_or("", |failure| failure.error.as_str());
    assert!(told.contains("(1.2)"), "{told}");
}

#[test]
fn an_agent_that_stays_silent_is_reminded_once() {
    let mut run = Run::start_with(config(false), vec![]);
    run.pick(picked("1.1", 0));
    run.attempt_ends(AttemptReport::default());
    run.verified(Verdict::Unverified);
    assert_eq!(run.attempt().prompt, PromptKind::Reminder);
    run.attempt_ends(AttemptReport::default());
    assert!(run.events().contains(&"task_failed".to_owned()));
    assert_eq!(run.attempt().prompt, PromptKind::Retry);
}

#[test]
fn one_that_always_overflows_is_retried_and_given_up_without_recovery() {
    let mut run = Run::start_with(config(false), vec![]);
    run.pick(picked("1.1", 0));
    // Two lost sessions cost nothing.
    for attempt in 1..=7 {
        assert_eq!(run.attempt().attempt, attempt);
        run.attempt_ends(overflowing());
    }
    assert_eq!(
        *outcome(&run),
        RunOutcome::Limit {
            message: "ERROR: Max retries reached for task 1.1 after 5 attempts".to_owned()
        }
    );
}

#[test]
fn one_that_always_overflows_uses_up_its_fixes_with_recovery() {
    let mut run = Run::start_with(config(true), vec![]);
    run.pick(picked("1.1", 0));
    run.attempt_ends(overflowing());
    run.attempt_ends(overflowing());
    run.attempt_ends(overflowing());
    for made in 0..3 {
        assert!(matches!(run.command(), Command::ReadBudget { .. }));
        let seq = run.seq();
        run.tell(&Input::BudgetRead {
            seq,
            budget: budget(made),
        });
        assert!(matches!(run.command(), Command::InsertFix(_)));
        let seq = run.seq();
        run.tell(&Input::Inserted { seq });
        let fix = PickedTask {
            root: picked("1.1", 0).task,
            ..picked(&format!("1.1.{}", made + 1), 0)
        };
        run.pick(fix);
        run.attempt_ends(signalled());
        run.finish_task();
        run.pick(picked("1.1", 0));
        run.attempt_ends(overflowing());
    }
    let seq = run.seq();
    run.tell(&Input::BudgetRead {
        seq,
        budget: budget(3),
    });
    assert!(matches!(run.command(), Command::NoteFailure { .. }));
    let seq = run.seq();
    run.tell(&Input::FailureNoted { seq });
    assert_eq!(
        *outcome(&run),
        RunOutcome::Limit {
            message: "ERROR: Max fix attempts (3) reached for task 1.1\nFix attempts: 1.1.1, 1.1.2, 1.1.3"
                .to_owned()
        }
    );
}

#[test]
fn one_that_is_rate_limited_until_a_time_in_the_past_is_waited_for_with_patience_and_an_end() {
    for recovery in [false, true] {
        let mut run = Run::start_with(config(recovery), vec![]);
        run.pick(picked("1.1", 0));
        let mut now = 1_000;
        let mut waits = Vec::new();
        loop {
            run.attempt_ends_at(
                now,
                AttemptReport {
                    class: AttemptClass::Transient {
                        why: "rate limited".to_owned(),
                        until: Some(Timestamp::from_millis(now.saturating_sub(HOUR_MS))),
                    },
                    ..AttemptReport::default()
                },
            );
            let Command::Wait { until } = run.command() else {
                break;
            };
            waits.push(until.as_millis() - now);
            now = until.as_millis();
            let seq = run.seq();
            run.tell_at(now, &Input::Waited { seq, asleep_ms: 0 });
            assert_eq!(run.attempt().iteration, 1);
        }
        assert_eq!(
            *outcome(&run),
            RunOutcome::TryLater {
                why: "rate limited".to_owned()
            }
        );
        // Never at once, never shorter than the one before, and never more than the maximum in
        // total.
        assert!(waits[0] >= 2_000, "{waits:?}");
        assert!(waits[5] >= 64_000, "{waits:?}");
        let total: u64 = waits.iter().sum();
        assert!(total <= 6 * HOUR_MS && total > 5 * HOUR_MS, "{total}");
        assert_eq!(run.state.iterations, 0);
    }
}

#[test]
fn added_rows_do_not_raise_the_default_limit() {
    let mut run = Run::start_with(config(true), vec![]);
    run.pick(picked("1.1", 0));
    assert_eq!(run.state.iteration_limit(), 100);
    run.attempt_ends(signalled());
    run.finish_task();
    run.read(PlanStatus {
        total: 5_000,
        open: 4_999,
        next: NextStep::Task(Box::new(PickedTask {
            total: 5_000,
            ..picked("1.2", 1)
        })),
        ..PlanStatus::default()
    });
    assert_eq!(run.state.iteration_limit(), 100);
}

#[test]
fn one_that_always_runs_out_of_time_while_it_gets_on_has_eight_times_the_time_at_most() {
    let mut run = Run::start_with(config(true), vec![]);
    run.pick(picked("1.1", 0));
    let usual = run.attempt().timeout_ms;
    for times in [1, 2, 4, 8, 8] {
        assert_eq!(run.attempt().timeout_ms, usual * times);
        let mut report = AttemptReport {
            progressed: true,
            ..AttemptReport::default()
        };
        report.ending.timed_out = true;
        run.attempt_ends(report);
    }
    assert_eq!(
        *outcome(&run),
        RunOutcome::Limit {
            message: "ERROR: Max retries reached for task 1.1 after 5 attempts".to_owned()
        }
    );
}

#[test]
fn a_suggested_time_limit_that_was_too_short_is_given_up() {
    let features = TaskFeatures::default();
    let suggests = |minutes: u64| TimeForecast {
        groups: vec![GroupTimes {
            group: TaskGroup::default(),
            cases: 20,
            limit: Some(SuggestedLimit {
                ms: minutes * 60_000,
                at_least_ms: 0,
                at_most_ms: None,
            }),
            task_ms: 0,
        }],
        ..TimeForecast::default()
    };
    for (suggested, minutes) in [(5, [5, 30, 60]), (45, [45, 90, 180])] {
        let config = RunConfig {
            auto_timeout: true,
            times: Some(Box::new(suggests(suggested))),
            ..config(false)
        };
        let mut run = Run::start_with(config, vec![]);
        run.pick(PickedTask {
            features: Some(features.clone()),
            ..picked("1.1", 0)
        });
        for minutes in minutes {
            assert_eq!(run.attempt().timeout_ms, minutes * 60_000);
            let mut report = AttemptReport {
                progressed: true,
                ..AttemptReport::default()
            };
            report.ending.timed_out = true;
            run.attempt_ends(report);
        }
    }
}

#[test]
fn two_interruptions_cost_nothing_and_each_later_one_an_attempt() {
    let mut run = Run::start_with(config(false), vec![]);
    run.pick(picked("1.1", 0));
    for charged in [0, 0, 1, 2] {
        run.resume(vec![]);
        let task = &run.state.tasks[&picked("1.1", 0).task];
        assert_eq!(task.iterations, charged);
    }
}
