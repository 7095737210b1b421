//! One of each event, with the same text wherever an event has text.

use std::collections::BTreeSet;

use regreen_diagnosis::unexplained_failure;
use regreen_model::{
    Advice, AttemptClass, AttemptReport, ChoiceKind, Claim, Event, Experience, FailureKind,
    FailureRecord, FlakyTest, Inspection, Mark, NotRepeated, NotRepeatedReason, OutlineKind,
    OutlineRow, PersonAnswer, PersonChoice, PickedTask, PlanChanges, PlannedRepair, PromptKind,
    Regression, RepairAction, RepairResult, RunConfig, RunOutcome, ServiceChange, ServiceReport,
    StopSignal, TaskFeatures, TaskId, TaskKey, TemplateOwner, TemplateStrategy, TestReview,
    Timestamp, Verdict, VerifyCommand,
};

use crate::run::key;

/// A new event does not compile until it is named here and counted below.
pub(crate) fn name(event: &Event) -> &'static str {
    match event {
        Event::RunStarted { .. } => "RunStarted",
        Event::RunResumed { .. } => "RunResumed",
        Event::PlanAsked { .. } => "PlanAsked",
        Event::LimitSettled { .. } => "LimitSettled",
        Event::TaskPicked { .. } => "TaskPicked",
        Event::AttemptStarted { .. } => "AttemptStarted",
        Event::SessionSeen { .. } => "SessionSeen",
        Event::AttemptPostponed { .. } => "AttemptPostponed",
        Event::AttemptEnded { .. } => "AttemptEnded",
        Event::PlanReviewed { .. } => "PlanReviewed",
        Event::ServiceChanged { .. } => "ServiceChanged",
        Event::ClaimsAsked { .. } => "ClaimsAsked",
        Event::ClaimsJudged { .. } => "ClaimsJudged",
        Event::VerifyStarted { .. } => "VerifyStarted",
        Event::VerifyEnded { .. } => "VerifyEnded",
        Event::TestReviewStarted { .. } => "TestReviewStarted",
        Event::TestsReviewed { .. } => "TestsReviewed",
        Event::TaskFailed { .. } => "TaskFailed",
        Event::TickAsked { .. } => "TickAsked",
        Event::CommitAsked { .. } => "CommitAsked",
        Event::CommitRefused { .. } => "CommitRefused",
        Event::Marked { .. } => "Marked",
        Event::Committed { .. } => "Committed",
        Event::RecordAsked { .. } => "RecordAsked",
        Event::TaskDone { .. } => "TaskDone",
        Event::RepeatPlanned { .. } => "RepeatPlanned",
        Event::OpinionAsked { .. } => "OpinionAsked",
        Event::OpinionGiven { .. } => "OpinionGiven",
        Event::RecallAsked { .. } => "RecallAsked",
        Event::Recalled { .. } => "Recalled",
        Event::TemplateApplied { .. } => "TemplateApplied",
        Event::InspectionAsked { .. } => "InspectionAsked",
        Event::RepairInspected { .. } => "RepairInspected",
        Event::RepairStarted { .. } => "RepairStarted",
        Event::RepairEnded { .. } => "RepairEnded",
        Event::BudgetAsked { .. } => "BudgetAsked",
        Event::FixPlanned { .. } => "FixPlanned",
        Event::FixInserted { .. } => "FixInserted",
        Event::ModificationAsked { .. } => "ModificationAsked",
        Event::PlanModified { .. } => "PlanModified",
        Event::ModificationRefused { .. } => "ModificationRefused",
        Event::SupersedeAsked { .. } => "SupersedeAsked",
        Event::FixesSuperseded { .. } => "FixesSuperseded",
        Event::HistoryAsked { .. } => "HistoryAsked",
        Event::PersonAsked { .. } => "PersonAsked",
        Event::PersonAnswered { .. } => "PersonAnswered",
        Event::AnswerGiven { .. } => "AnswerGiven",
        Event::AnswersAwaited { .. } => "AnswersAwaited",
        Event::TaskParked { .. } => "TaskParked",
        Event::Chosen { .. } => "Chosen",
        Event::TaskGone { .. } => "TaskGone",
        Event::TaskSkipped { .. } => "TaskSkipped",
        Event::FinalCheckStarted { .. } => "FinalCheckStarted",
        Event::FinalCheckEnded { .. } => "FinalCheckEnded",
        Event::ReopenAsked { .. } => "ReopenAsked",
        Event::FixPostponed { .. } => "FixPostponed",
        Event::ClosingCommitAsked { .. } => "ClosingCommitAsked",
        Event::ClosingCommitted { .. } => "ClosingCommitted",
        Event::TaskReopened { .. } => "TaskReopened",
        Event::WaitStarted { .. } => "WaitStarted",
        Event::WaitEnded { .. } => "WaitEnded",
        Event::Warned { .. } => "Warned",
        Event::StopAsked { .. } => "StopAsked",
        Event::RunEnded { .. } => "RunEnded",
    }
}

const EVENTS: usize = 64;

pub(crate) fn rows(text: &str) -> Vec<OutlineRow> {
    let kinds = [OutlineKind::Task, OutlineKind::Fix, OutlineKind::Group];
    let rows = kinds.into_iter().zip(["1", "1.1", "2"]);
    rows.map(|(kind, id)| OutlineRow {
        key: key(id, text),
        depth: u16::from(kind == OutlineKind::Fix),
        kind,
        done: false,
        optional: false,
        features: TaskFeatures::default(),
        line: 0,
    })
    .collect()
}

/// More or less in an order in which they could happen.
pub(crate) fn every_event(text: &str) -> Vec<Event> {
    let mut events = vec![started(text)];
    events.extend(before_an_attempt(text));
    events.extend(attempts(text));
    events.extend(verification(text));
    events.extend(ends_of_tasks(text));
    events.extend(questions(text));
    events.extend(repairs(text));
    events.extend(waits(text));
    events.extend(final_check(text));
    events.extend(ends(text));
    events
}

fn started(text: &str) -> Event {
    Event::RunStarted {
        after_limit: false,
        lost: Vec::new(),
        earlier: Vec::new(),
        environment: Vec::new(),
        run: text.to_owned(),
        config: RunConfig {
            spec: text.to_owned(),
            agent: text.to_owned().into(),
            gate: Some(text.to_owned()),
            only: TaskId::parse("1.1"),
            ..RunConfig::default()
        },
    }
}

fn task(text: &str) -> TaskKey {
    key("1", text)
}

fn before_an_attempt(text: &str) -> Vec<Event> {
    let picked = PickedTask {
        task: task(text),
        root: task(text),
        index: 0,
        total: 3,
        is_verify: false,
        is_red: false,
        is_group: false,
        verify: vec![VerifyCommand::always(text)],
        commit: Some(text.to_owned()),
        services: Vec::new(),
        features: None,
        failed_before: None,
        has_fixes: false,
        declines_commit: false,
        has_own_verify: false,
    };
    vec![
        Event::RunResumed {
            config: None,
            at: None,
        },
        Event::PlanAsked { seq: 1 },
        Event::LimitSettled { max_iterations: 9 },
        Event::TaskPicked {
            task: Box::new(picked),
        },
        Event::SessionSeen {
            task: task(text),
            attempt: 1,
            session: text.to_owned(),
        },
        Event::AttemptPostponed {
            task: task(text),
            prompt: PromptKind::First,
        },
    ]
}

fn attempts(text: &str) -> Vec<Event> {
    let prompts = [
        PromptKind::First,
        PromptKind::Retry,
        PromptKind::Reminder,
        PromptKind::NoOp,
        PromptKind::Interrupted,
        PromptKind::NewSession,
    ];
    let starts = prompts.into_iter().map(|prompt| Event::AttemptStarted {
        seq: 2,
        task: task(text),
        attempt: 1,
        prompt,
        timeout_ms: 1000,
    });
    let ends = classes(text).into_iter().map(|class| Event::AttemptEnded {
        task: task(text),
        attempt: 1,
        charged: true,
        counted: Some(true),
        report: Box::new(report(text, class)),
    });
    let services = [
        ServiceChange::Started {
            again: true,
            took_ms: 2000,
        },
        ServiceChange::NotReady {
            why: text.to_owned(),
        },
        ServiceChange::Died {
            why: text.to_owned(),
        },
        ServiceChange::Ended,
    ]
    .map(|change| Event::ServiceChanged {
        report: ServiceReport {
            task: task(text),
            command: text.to_owned(),
            log: text.to_owned(),
            change,
        },
    });
    let claims = [
        Event::PlanReviewed {
            task: Some(task(text)),
            changes: report(text, AttemptClass::Ordinary).plan,
        },
        Event::ClaimsAsked {
            seq: 3,
            task: task(text),
        },
        Event::ClaimsJudged {
            task: task(text),
            kept: vec![key("2", text)],
            taken_back: vec![key("3", text)],
        },
    ];
    starts.chain(ends).chain(services).chain(claims).collect()
}

fn classes(text: &str) -> [AttemptClass; 5] {
    let why = text.to_owned();
    [
        AttemptClass::Ordinary,
        AttemptClass::Transient {
            why: why.clone(),
            until: Some(Timestamp::from_millis(5000)),
        },
        AttemptClass::Fatal { why: why.clone() },
        AttemptClass::Session { why },
        AttemptClass::Interrupted,
    ]
}

fn report(text: &str, class: AttemptClass) -> AttemptReport {
    let tasks = |id: &str| vec![key(id, text)];
    AttemptReport {
        class,
        contradiction: Some(text.to_owned()),
        failure: FailureRecord {
            error: text.to_owned(),
            attempted_fix: text.to_owned(),
            last_words: text.to_owned(),
            diagnosis: None,
        },
        session: Some(text.to_owned()),
        plan: PlanChanges {
            claims: vec![Claim {
                task: key("2", text),
                verify: vec![VerifyCommand::always(text)],
                is_red: false,
            }],
            skipped: tasks("4"),
            put_back: tasks("5"),
            added: tasks("6"),
            edited: tasks("7"),
            reverted: tasks("8"),
            warnings: vec![text.to_owned()],
            services: vec![text.to_owned()],
        },
        ..AttemptReport::default()
    }
}

fn verification(text: &str) -> Vec<Event> {
    let error = text.to_owned();
    let verdicts = [Verdict::Green, Verdict::Unverified, Verdict::Red { error }];
    let both = [false, true].into_iter().flat_map(|again| {
        let start = Event::VerifyStarted {
            first: false,
            seq: 4,
            task: task(text),
            attempt: 1,
            again,
        };
        let ends = verdicts.iter().map(|verdict| Event::VerifyEnded {
            task: task(text),
            attempt: 1,
            verdict: verdict.clone(),
            diagnosis: None,
            tests: None,
            took_ms: 0,
        });
        let reviewed = [
            Event::TestReviewStarted {
                seq: 3,
                task: task(text),
                attempt: 1,
                first: again,
            },
            Event::TestsReviewed {
                task: task(text),
                attempt: 1,
                review: review(text),
                took_ms: 40,
            },
        ];
        std::iter::once(start)
            .chain(ends)
            .chain(reviewed)
            .collect::<Vec<_>>()
    });
    both.collect()
}

fn review(text: &str) -> TestReview {
    let tests = || BTreeSet::from([text.to_owned()]);
    TestReview {
        known: tests(),
        accepted: tests(),
        flaky: vec![FlakyTest {
            test: text.to_owned(),
            runs: 3,
            failed: 2,
        }],
        new: tests(),
        turned_green: tests(),
        unexplained: Some(text.to_owned()),
        failure: Box::new(FailureRecord::new(text)),
    }
}

fn ends_of_tasks(text: &str) -> Vec<Event> {
    let hash = Some(text.to_owned());
    vec![
        Event::TaskFailed {
            task: task(text),
            attempt: 1,
            failure: FailureRecord {
                error: text.to_owned(),
                attempted_fix: text.to_owned(),
                last_words: text.to_owned(),
                diagnosis: None,
            },
            only_red: false,
        },
        Event::TickAsked {
            seq: 5,
            task: task(text),
            done: true,
        },
        Event::CommitAsked {
            seq: 6,
            task: task(text),
        },
        Event::CommitRefused {
            task: task(text),
            output: text.to_owned(),
        },
        Event::Marked {
            task: task(text),
            mark: Mark::NothingChanged,
        },
        Event::Committed {
            task: task(text),
            hash: hash.clone(),
        },
        Event::RecordAsked {
            seq: 7,
            task: task(text),
        },
        Event::TaskDone {
            task: key("1.1", text),
            marks: BTreeSet::from([
                Mark::Unverified,
                Mark::Flaky,
                Mark::NothingChanged,
                Mark::Claimed,
            ]),
            hash,
        },
        Event::BudgetAsked {
            seq: 20,
            task: key("2", text),
            repair: Some(planned(text)),
        },
        Event::FixPlanned {
            seq: 21,
            task: key("2", text),
            fix: key("2.1", text).id,
            again: false,
            repair: Some(planned(text)),
        },
        Event::FixInserted {
            task: key("2", text),
            fix: key("2.1", text).id,
        },
        Event::ModificationAsked {
            seq: 22,
            task: key("2", text),
        },
        Event::PlanModified {
            task: key("2", text),
            added: vec![key("2.2", text)],
        },
        Event::ModificationRefused {
            task: key("2", text),
            why: text.to_owned(),
        },
        Event::SupersedeAsked {
            seq: 23,
            task: key("2", text),
        },
        Event::FixesSuperseded {
            seq: 25,
            task: key("2", text),
            fixes: vec![key("2.1", text)],
        },
        Event::HistoryAsked {
            seq: 24,
            task: key("2", text),
            message: text.to_owned(),
        },
        Event::AnswerGiven {
            task: key("2", text),
        },
        Event::AnswersAwaited {
            seq: 28,
            tasks: vec![key("2", text)],
            since: Timestamp::from_millis(1),
            until: Some(Timestamp::from_millis(60_000)),
        },
        Event::TaskParked {
            task: key("2", text),
            why: text.to_owned(),
        },
        Event::Chosen {
            choice: PersonChoice {
                number: 1,
                task: key("2", text),
                what: ChoiceKind::Retry,
            },
        },
        Event::TaskGone {
            task: key("2", text),
        },
        Event::TaskSkipped {
            task: key("2", text),
        },
    ]
}

fn final_check(text: &str) -> Vec<Event> {
    let reasons = NotRepeatedReason::ALL;
    let not_repeated = reasons.map(|why| NotRepeated {
        task: key("3", text),
        check: text.to_owned(),
        why,
    });
    vec![
        Event::FinalCheckStarted { seq: 8, checks: 2 },
        Event::FinalCheckEnded {
            passed: vec![key("2", text)],
            flaky: vec![key("2", text)],
            known_failures: vec![key("2", text)],
            regressed: vec![Regression {
                task: task(text),
                check: text.to_owned(),
                failure: FailureRecord::new(text),
                since: vec![key("2", text)],
            }],
            not_repeated: not_repeated.to_vec(),
            took_ms: 90,
        },
        Event::ReopenAsked {
            seq: 9,
            tasks: vec![task(text)],
        },
        Event::TaskReopened { task: task(text) },
        Event::FixPostponed { task: task(text) },
        Event::ClosingCommitAsked { seq: 9 },
        Event::ClosingCommitted {
            hash: Some(text.to_owned()),
            changed: false,
        },
    ]
}

fn questions(text: &str) -> Vec<Event> {
    let answers = [
        PersonAnswer::Repair,
        PersonAnswer::Edit,
        PersonAnswer::Context {
            text: text.to_owned(),
        },
        PersonAnswer::Fix,
        PersonAnswer::Skip,
        PersonAnswer::Stop,
    ];
    let both = answers.into_iter().flat_map(|answer| {
        [
            Event::PersonAsked {
                seq: 30,
                task: key("2", text),
                why: text.to_owned(),
                repair: Some(planned(text)),
            },
            Event::PersonAnswered {
                task: key("2", text),
                answer,
            },
        ]
    });
    both.collect()
}

fn planned(text: &str) -> PlannedRepair {
    PlannedRepair {
        action: RepairAction::PipInstall {
            args: vec![text.to_owned()],
        },
        does: text.to_owned(),
    }
}

fn repairs(text: &str) -> Vec<Event> {
    let why = text.to_owned();
    let inspections = [
        Inspection::Allowed(planned(text)),
        Inspection::Ask {
            repair: planned(text),
            why: why.clone(),
        },
        Inspection::Refused { why: why.clone() },
        Inspection::Nothing,
    ];
    let results = [
        RepairResult::Done {
            did: text.to_owned(),
            environment: vec![(text.to_owned(), text.to_owned())],
        },
        RepairResult::Failed { why },
    ];
    let opinions = [
        Event::OpinionAsked {
            seq: 25,
            task: key("2", text),
        },
        Event::OpinionGiven {
            task: key("2", text),
            diagnosis: None,
            usage: None,
            took_ms: 0,
        },
        Event::OpinionGiven {
            task: key("2", text),
            diagnosis: Some(Box::new(unexplained_failure(
                FailureKind::IncompleteWork,
                text.to_owned(),
            ))),
            usage: None,
            took_ms: 0,
        },
    ];
    let advice = Advice {
        response: text.to_owned(),
        notes: vec![text.to_owned()],
        ..Advice::default()
    };
    let known = Experience {
        advice: vec![advice],
        useless: vec![text.to_owned()],
        ..Experience::default()
    };
    let hopeless = Experience {
        failures: 7,
        workspaces: 3,
        nothing_helped: true,
        ..Experience::default()
    };
    let recalled = |experience: Option<Experience>| Event::Recalled {
        task: key("2", text),
        experience: experience.map(Box::new),
    };
    let recall = [
        Event::RecallAsked {
            seq: 27,
            task: key("2", text),
        },
        recalled(None),
        recalled(Some(known)),
        recalled(Some(hopeless)),
    ];
    let applied = Event::TemplateApplied {
        task: key("2", text),
        template: text.to_owned(),
        owner: TemplateOwner::User,
        strategy: TemplateStrategy::Repair,
        step: 1,
    };
    let asked = Event::InspectionAsked {
        seq: 26,
        task: key("2", text),
    };
    let inspected = inspections.map(|inspection| Event::RepairInspected {
        task: key("2", text),
        inspection,
    });
    let started = Event::RepairStarted {
        seq: 27,
        task: key("2.1", text),
        attempt: 1,
        repair: planned(text),
    };
    let ended = results.map(|result| Event::RepairEnded {
        task: key("2.1", text),
        result,
    });
    let first = opinions
        .into_iter()
        .chain(recall)
        .chain([applied, asked])
        .chain(inspected);
    first.chain([started]).chain(ended).collect()
}

fn waits(text: &str) -> Vec<Event> {
    let repeat = Event::WaitStarted {
        seq: 9,
        task: task(text),
        since: Timestamp::from_millis(0),
        until: Timestamp::from_millis(2_000),
        why: text.to_owned(),
        repeats: true,
    };
    vec![
        Event::RepeatPlanned { task: task(text) },
        repeat,
        Event::WaitStarted {
            seq: 8,
            task: task(text),
            since: Timestamp::from_millis(0),
            until: Timestamp::from_millis(90_000_000),
            why: text.to_owned(),
            repeats: false,
        },
        Event::WaitEnded {
            task: task(text),
            waited_ms: 90_000_000,
        },
    ]
}

fn ends(text: &str) -> Vec<Event> {
    let said = text.to_owned();
    let signals = [
        StopSignal::Interrupt,
        StopSignal::Terminate,
        StopSignal::AfterTask,
    ];
    let mut events = vec![Event::Warned {
        message: said.clone(),
    }];
    events.extend(signals.map(|signal| Event::StopAsked { signal }));
    events.extend(outcomes(&said).map(|outcome| Event::RunEnded { outcome }));
    events
}

pub(crate) fn outcomes(text: &str) -> [RunOutcome; 9] {
    let why = text.to_owned();
    [
        RunOutcome::AllGreen,
        RunOutcome::OnlyDone,
        RunOutcome::Skipped,
        RunOutcome::Limit {
            message: why.clone(),
        },
        RunOutcome::Regressed {
            message: why.clone(),
        },
        RunOutcome::NeedsPerson { why: why.clone() },
        RunOutcome::TryLater { why: why.clone() },
        RunOutcome::SetUp { why },
        RunOutcome::Stopped {
            signal: StopSignal::Terminate,
        },
    ]
}

#[test]
fn there_is_one_of_each() {
    let events = every_event("text");
    let names: BTreeSet<&str> = events.iter().map(name).collect();
    assert_eq!(names.len(), EVENTS);
}
