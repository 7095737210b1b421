use std::collections::BTreeMap;

use regreen_model::{
    AttemptClass, AttemptReport, Confidence, Ending, Failure, FailureKind, FailureRecord,
    Inspection, PlannedRepair, PromptKind, RepairAction, RepairPolicy, RepairResult, Timestamp,
};

use super::*;

const TERMS: Terms = Terms {
    attempts: 3,
    timeout_ms: 300_000,
    max_wait_ms: 60_000,
    repairs: RepairPolicy::Safe,
    divides: true,
    recalls: false,
};

fn now() -> Timestamp {
    Timestamp::from_millis(1_000_000)
}

fn failure(kind: FailureKind) -> FailureRecord {
    let failure = Failure {
        category: kind.category(),
        kind,
        message: "it failed".into(),
        blocked_on: Some("it failed".into()),
        line: None,
        retryable: kind.retryable(),
        retry_mode: kind.retry_mode(),
        completed_steps: Vec::new(),
        files_modified: Vec::new(),
        tool_usage: BTreeMap::new(),
        last_successful_tool: None,
        suggested_actions: Vec::new(),
        repair: None,
        rule: String::new(),
        confidence: Confidence::percent(90),
        fingerprint: String::new(),
    };
    FailureRecord {
        error: "it failed".into(),
        diagnosis: Some(Box::new(failure)),
        ..FailureRecord::default()
    }
}

/// Plays a delegation, answering each order.
struct Play {
    terms: Terms,
    past: Vec<Happened>,
}

impl Play {
    fn new() -> Self {
        Self::on(TERMS)
    }

    fn on(terms: Terms) -> Self {
        Self {
            terms,
            past: Vec::new(),
        }
    }

    fn next(&self) -> NextAction {
        next(&self.terms, &self.past, now())
    }

    #[track_caller]
    fn order(&self) -> DelegatedOrder {
        match self.next() {
            NextAction::Attempt(order) => order,
            other => panic!("no attempt: {other:?}"),
        }
    }

    #[track_caller]
    fn ends(self, end: Conclusion) {
        assert_eq!(self.next(), NextAction::End(end));
    }

    #[track_caller]
    fn attempt(mut self, prompt: PromptKind, timeout_s: u64, came_to: Attempted) -> Self {
        let order = self.order();
        assert_eq!((order.prompt, order.timeout_ms), (prompt, timeout_s * 1000));
        self.past.push(Happened::Attempted(Box::new(Attempted {
            order,
            ..came_to
        })));
        self
    }

    fn then(mut self, happened: Happened) -> Self {
        self.past.push(happened);
        self
    }
}

fn attempted() -> Attempted {
    Attempted {
        order: DelegatedOrder {
            prompt: First,
            timeout_ms: 0,
            session: None,
        },
        report: AttemptReport::default(),
        failure: None,
        parts: Vec::new(),
    }
}

fn failed(kind: FailureKind) -> Attempted {
    Attempted {
        failure: Some(failure(kind)),
        ..attempted()
    }
}

fn timed_out(progressed: bool) -> Attempted {
    let kind = match progressed {
        true => FailureKind::TimeoutWithProgress,
        false => FailureKind::TimeoutNoProgress,
    };
    Attempted {
        report: AttemptReport {
            ending: Ending {
                timed_out: true,
                ..Ending::default()
            },
            progressed,
            session: Some("s-1".into()),
            ..AttemptReport::default()
        },
        ..failed(kind)
    }
}

fn of_class(class: AttemptClass) -> Attempted {
    Attempted {
        report: AttemptReport {
            class,
            ..AttemptReport::default()
        },
        ..failed(FailureKind::RateLimited)
    }
}

fn transient() -> Attempted {
    of_class(AttemptClass::Transient {
        why: "slow down".into(),
        until: None,
    })
}

fn repair() -> PlannedRepair {
    PlannedRepair {
        action: RepairAction::PipInstall {
            args: vec!["pytest".into()],
        },
        does: "install pytest".into(),
    }
}

use PromptKind::{Enriched, First, NewSession, Retry, Split};

#[test]
fn a_successful_attempt_is_done() {
    Play::new()
        .attempt(First, 300, attempted())
        .ends(Conclusion::Done);
}

#[test]
fn time_is_doubled_after_progress_and_the_session_is_resumed() {
    let play =
        Play::new()
            .attempt(First, 300, timed_out(true))
            .attempt(Retry, 600, timed_out(true));
    assert_eq!(play.order().session.as_deref(), Some("s-1"));
    play.attempt(Retry, 1200, timed_out(true))
        .ends(Conclusion::Failed);
}

#[test]
fn no_time_is_more_than_eight_times_the_first() {
    let mut play = Play::on(Terms {
        attempts: 9,
        ..TERMS
    });
    for seconds in [300, 600, 1200, 2400, 2400, 2400] {
        let prompt = if seconds == 300 { First } else { Retry };
        play = play.attempt(prompt, seconds, timed_out(true));
    }
}

#[test]
fn one_attempt_means_one_even_if_a_repair_were_possible() {
    let once = || {
        Play::on(Terms {
            attempts: 1,
            ..TERMS
        })
    };
    for came_to in [
        timed_out(true),
        timed_out(false),
        failed(FailureKind::MissingPythonModule),
        failed(FailureKind::ConnectionRefused),
        failed(FailureKind::IncompleteWork),
    ] {
        once().attempt(First, 300, came_to).ends(Conclusion::Failed);
    }
}

#[test]
fn a_delegation_without_progress_is_split_and_the_parts_share_time_and_attempts() {
    let parts = vec!["one".to_owned(), "two".to_owned(), "three".to_owned()];
    let play = Play::new().attempt(First, 300, timed_out(false)).attempt(
        Split,
        300,
        Attempted {
            parts: parts.clone(),
            ..attempted()
        },
    );
    let terms = Terms {
        attempts: 2,
        timeout_ms: 100_000,
        divides: false,
        ..TERMS
    };
    assert_eq!(play.next(), NextAction::DoParts { parts, terms });
    play.then(Happened::Attempted(Box::new(attempted())))
        .ends(Conclusion::Done);
    // A part is not split again.
    Play::on(terms)
        .attempt(First, 100, timed_out(false))
        .ends(Conclusion::Failed);
}

#[test]
fn a_task_that_cannot_be_split_goes_to_a_person() {
    let why = "it made no progress within its time limit and was not split".to_owned();
    for answer in [attempted(), timed_out(false)] {
        Play::new()
            .attempt(First, 300, timed_out(false))
            .attempt(Split, 300, answer)
            .ends(Conclusion::NeedsPerson { why: why.clone() });
    }
}

#[test]
fn missing_context_is_looked_up_once_and_then_goes_to_a_person() {
    let lost = || failed(FailureKind::MissingReference);
    let play = Play::new()
        .attempt(First, 300, lost())
        .attempt(Enriched, 300, lost());
    assert!(matches!(
        play.next(),
        NextAction::End(Conclusion::NeedsPerson { .. })
    ));
}

#[test]
fn missing_context_is_a_question_if_it_may_not_be_looked_up() {
    let terms = Terms {
        attempts: 1,
        ..TERMS
    };
    let why = "it needs information that only a person has".to_owned();
    let lost = failed(FailureKind::MissingReference);
    let play = Play::on(terms).attempt(First, 300, lost);
    play.ends(Conclusion::NeedsPerson { why });
}

#[test]
fn an_invalid_task_goes_to_a_person_at_once() {
    let play = Play::new().attempt(First, 300, failed(FailureKind::ContradictoryRequirements));
    assert!(matches!(
        play.next(),
        NextAction::End(Conclusion::NeedsPerson { .. })
    ));
}

#[test]
fn an_allowed_repair_is_made_once_before_the_next_attempt() {
    let broken = || failed(FailureKind::MissingPythonModule);
    let play = Play::new().attempt(First, 300, broken());
    assert_eq!(play.next(), NextAction::Inspect);
    let play = play.then(Happened::Inspected(Inspection::Allowed(repair())));
    assert_eq!(play.next(), NextAction::Repair(repair()));
    let done = Happened::Repaired {
        action: repair().action,
        result: RepairResult::Done {
            did: "installed pytest".into(),
            environment: Vec::new(),
        },
    };
    let play = play.then(done).attempt(Retry, 300, broken());
    let play = play.then(Happened::Inspected(Inspection::Allowed(repair())));
    play.attempt(Retry, 300, broken()).ends(Conclusion::Failed);
}

#[test]
fn the_agent_is_told_of_a_failure_that_cannot_be_repaired() {
    let play = Play::new().attempt(First, 300, failed(FailureKind::MissingPythonModule));
    let refused = Inspection::Refused { why: "no".into() };
    let refused = play.then(Happened::Inspected(refused));
    let play = refused.attempt(Retry, 300, failed(FailureKind::MissingPythonModule));
    let failed = Happened::Repaired {
        action: repair().action,
        result: RepairResult::Failed { why: "no".into() },
    };
    let allowed = Happened::Inspected(Inspection::Allowed(repair()));
    play.then(allowed)
        .then(failed)
        .attempt(Retry, 300, attempted());
}

#[test]
fn the_rest_of_the_work_is_tried_until_the_attempts_are_used_up() {
    let partial = || failed(FailureKind::IncompleteWork);
    let refused = || Happened::Inspected(Inspection::Refused { why: "no".into() });
    let play = Play::new().attempt(First, 300, partial()).then(refused());
    let play = play.attempt(Retry, 300, partial()).then(refused());
    play.attempt(Retry, 300, partial()).ends(Conclusion::Failed);
}

#[test]
fn a_service_is_waited_for_and_costs_no_attempt() {
    let mut play = Play::new();
    for wait in [2_000, 4_000, 8_000] {
        play = play.attempt(First, 300, transient());
        let NextAction::Wait {
            until,
            repeats: false,
            ..
        } = play.next()
        else {
            panic!("it waits");
        };
        let ms = until.since(now());
        assert!((wait..wait + wait / 10).contains(&ms), "{ms}");
        play = play.then(Happened::Waited { ms, repeats: false });
    }
    // As if the first attempt hadn't been made.
    play.attempt(First, 300, timed_out(true))
        .attempt(Retry, 600, attempted())
        .ends(Conclusion::Done);
}

#[test]
fn a_service_that_is_away_for_too_long_ends_it() {
    let play = Play::new().attempt(First, 300, transient());
    let waited = Happened::Waited {
        ms: 59_000,
        repeats: false,
    };
    let play = play.then(waited).attempt(First, 300, transient());
    play.ends(Conclusion::TryLater {
        why: "slow down".into(),
    });
    let reset = of_class(AttemptClass::Transient {
        why: "slow down".into(),
        until: Some(now().plus(61_000)),
    });
    Play::new()
        .attempt(First, 300, reset)
        .ends(Conclusion::TryLater {
            why: "slow down".into(),
        });
}

#[test]
fn a_fatal_failure_ends_it_at_once() {
    let why = "no such program".to_owned();
    let fatal = of_class(AttemptClass::Fatal { why: why.clone() });
    Play::new()
        .attempt(First, 300, fatal)
        .ends(Conclusion::SetUp { why });
}

#[test]
fn two_lost_sessions_cost_no_attempt() {
    let lost = || Attempted {
        failure: Some(failure(FailureKind::ContextOverflow)),
        ..of_class(AttemptClass::Session { why: "full".into() })
    };
    let once = Terms {
        attempts: 1,
        ..TERMS
    };
    Play::on(once)
        .attempt(First, 300, lost())
        .attempt(NewSession, 300, lost())
        .attempt(NewSession, 300, attempted())
        .ends(Conclusion::Done);
}

#[test]
fn passing_trouble_is_met_with_patience_first() {
    let refused = || failed(FailureKind::ConnectionRefused);
    let play = Play::new().attempt(First, 300, refused());
    assert_eq!(
        play.next(),
        NextAction::Wait {
            until: now().plus(2_000),
            why: "it failed".into(),
            repeats: true
        }
    );
    play.then(Happened::Waited {
        ms: 2_000,
        repeats: true,
    })
    .attempt(Retry, 300, attempted())
    .ends(Conclusion::Done);
}

#[test]
fn every_delegation_ends() {
    // Each kind of failure, over and over, with nothing that helps.
    for kind in FailureKind::ALL {
        let mut play = Play::new();
        for step in 0.. {
            assert!(step < 40, "{kind} goes on for ever");
            let happened = match play.next() {
                NextAction::Recall => Happened::Recalled(None),
                NextAction::End(_) => break,
                NextAction::Attempt(order) => Happened::Attempted(Box::new(Attempted {
                    order,
                    ..failed(kind)
                })),
                NextAction::Wait { until, repeats, .. } => Happened::Waited {
                    ms: until.since(now()),
                    repeats,
                },
                NextAction::Inspect => Happened::Inspected(Inspection::Allowed(repair())),
                NextAction::Repair(repair) => Happened::Repaired {
                    action: repair.action,
                    result: RepairResult::Failed { why: "no".into() },
                },
                NextAction::DoParts { .. } => panic!("no parts were named"),
            };
            play = play.then(happened);
        }
    }
}

#[test]
fn a_failure_is_looked_up_before_anything_is_done_about_it() {
    let recalling = Terms {
        recalls: true,
        ..TERMS
    };
    let failed = || failed(FailureKind::MissingFile);
    let play = Play::on(recalling).attempt(First, 300, failed());
    assert_eq!(play.next(), NextAction::Recall);
    let play = play.then(Happened::Recalled(None));
    assert_eq!(play.next(), NextAction::Inspect);
    // Trouble of the agent's own is nothing that a history of failures is about.
    let interrupted = Attempted {
        report: AttemptReport {
            class: AttemptClass::Interrupted,
            ..AttemptReport::default()
        },
        ..failed()
    };
    let play = Play::on(recalling).attempt(First, 300, interrupted);
    assert!(matches!(play.next(), NextAction::Attempt(_)));
}

#[test]
fn a_repair_that_never_helped_is_not_made_in_a_delegation() {
    let action = RepairAction::Mkdir {
        path: "out".to_owned(),
    };
    let repair = PlannedRepair {
        does: "make the folder out".to_owned(),
        action,
    };
    let known = Experience {
        failures: 3,
        workspaces: 1,
        useless: vec![repair.action.response()],
        nothing_helped: true,
        ..Experience::default()
    };
    let recalling = Terms {
        recalls: true,
        ..TERMS
    };
    let play = |known: Option<&Experience>| {
        let known = known.cloned().map(Box::new);
        Play::on(recalling)
            .attempt(First, 300, failed(FailureKind::MissingFile))
            .then(Happened::Recalled(known))
            .then(Happened::Inspected(Inspection::Allowed(repair.clone())))
            .next()
    };
    assert_eq!(play(None), NextAction::Repair(repair.clone()));
    assert!(matches!(play(Some(&known)), NextAction::Attempt(_)));
    // A person is told that nothing has ever helped.
    let asked = Play::on(recalling)
        .attempt(First, 300, failed(FailureKind::ContradictoryRequirements))
        .then(Happened::Recalled(Some(Box::new(known))))
        .next();
    let NextAction::End(Conclusion::NeedsPerson { why }) = asked else {
        panic!("{asked:?}")
    };
    assert!(
        why.ends_with("; this has failed 3 times in 1 repository, and nothing helped"),
        "{why}"
    );
}
