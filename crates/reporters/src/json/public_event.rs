use std::collections::BTreeSet;

use regreen_model::{
    Advice, AgentIdentity, AnswerKind, AttemptClass, AttemptReport, Budgets, ChoiceKind, Event,
    Failure, FlakyTest, Inspection, Mark, OutlineKind, OutlineRow, PersonAnswer, PickedTask,
    PlanChanges, PromptKind, Regression, RepairAction, RepairResult, RunConfig, ServiceChange,
    ServiceReport, StopSignal, TaskId, TaskKey, TemplateOwner, TemplateStrategy, Timestamp,
    Verdict,
};
use serde::Serialize;

use crate::summary::{Figures, PublicNotRepeated, PublicTask};
use crate::totals::RunTotals;

/// An event as programs see it. Names and fields are public: `docs/json-events.md` lists them, and
/// a test compares the two.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(super) enum PublicEvent<'e> {
    RunStarted {
        spec: &'e str,
        agent: &'e AgentIdentity,
        only: Option<&'e str>,
        gate: Option<&'e str>,
        include_optional: bool,
        commits: bool,
        attempts_per_task: u32,
        attempts_per_run: u32,
        attempt_timeout_ms: u64,
        verify_timeout_ms: u64,
        idle_timeout_ms: Option<u64>,
        max_wait_ms: u64,
        budgets: &'e Budgets,
    },
    RunResumed,
    Plan {
        rows: Vec<PublicRow>,
    },
    LimitSettled {
        attempts_per_run: u32,
    },
    TaskPicked {
        task: PublicTask,
        root: PublicTask,
        index: u32,
        total: u32,
        group: bool,
        verify: Vec<&'e str>,
    },
    AttemptStarted {
        task: PublicTask,
        attempt: u32,
        number: u32,
        limit: u32,
        prompt: PromptKind,
        timeout_ms: u64,
    },
    AttemptEnded {
        task: PublicTask,
        attempt: u32,
        charged: bool,
        class: &'static str,
        why: Option<&'e str>,
        until: Option<String>,
        error: &'e str,
        signalled: bool,
        contradiction: Option<&'e str>,
        timed_out: bool,
        exit_code: Option<i32>,
        signal: Option<i32>,
        duration_ms: u64,
        files_changed: u32,
        left_running: &'e [String],
        plan: PublicChanges,
    },
    SessionSeen {
        task: PublicTask,
        attempt: u32,
        session: &'e str,
    },
    PlanReviewed {
        task: Option<PublicTask>,
        plan: PublicChanges,
    },
    ServiceChanged {
        task: PublicTask,
        command: &'e str,
        change: &'static str,
        why: Option<&'e str>,
        took_ms: Option<u64>,
        log: &'e str,
    },
    ClaimsJudged {
        task: PublicTask,
        kept: Vec<PublicTask>,
        taken_back: Vec<PublicTask>,
    },
    VerifyStarted {
        task: PublicTask,
        attempt: u32,
        again: bool,
    },
    VerifyEnded {
        task: PublicTask,
        attempt: u32,
        verdict: &'static str,
        error: Option<&'e str>,
    },
    TestsReviewed {
        task: PublicTask,
        attempt: u32,
        known: &'e BTreeSet<String>,
        accepted: &'e BTreeSet<String>,
        flaky: &'e [FlakyTest],
        new: &'e BTreeSet<String>,
        turned_green: &'e BTreeSet<String>,
        unexplained: Option<&'e str>,
        took_ms: u64,
    },
    TaskFailed {
        task: PublicTask,
        attempt: u32,
        error: &'e str,
        attempted_fix: &'e str,
        diagnosis: Option<&'e Failure>,
    },
    CommitRefused {
        task: PublicTask,
        output: &'e str,
    },
    Committed {
        task: PublicTask,
        hash: Option<&'e str>,
    },
    TaskDone {
        task: PublicTask,
        marks: &'e BTreeSet<Mark>,
        hash: Option<&'e str>,
    },
    FixInserted {
        task: PublicTask,
        fix: String,
    },
    Recalled {
        task: PublicTask,
        failures: u64,
        workspaces: u64,
        similar: bool,
        advice: &'e [Advice],
        useless: &'e [String],
        nothing_helped: bool,
    },
    TemplateApplied {
        task: PublicTask,
        template: &'e str,
        owner: TemplateOwner,
        strategy: TemplateStrategy,
        step: u32,
    },
    RepairInspected {
        task: PublicTask,
        inspection: &'static str,
        repair: Option<&'e RepairAction>,
        does: Option<&'e str>,
        why: Option<&'e str>,
    },
    RepairStarted {
        task: PublicTask,
        attempt: u32,
        repair: &'e RepairAction,
        does: &'e str,
    },
    RepairEnded {
        task: PublicTask,
        done: bool,
        did: Option<&'e str>,
        why: Option<&'e str>,
    },
    PlanModified {
        task: PublicTask,
        added: Vec<PublicTask>,
    },
    ModificationRefused {
        task: PublicTask,
        why: &'e str,
    },
    FixesSuperseded {
        task: PublicTask,
        fixes: Vec<PublicTask>,
    },
    PersonAsked {
        task: PublicTask,
        why: &'e str,
        repair: Option<&'e RepairAction>,
    },
    PersonAnswered {
        task: PublicTask,
        answer: AnswerKind,
        text: Option<&'e str>,
    },
    AnswerGiven {
        task: PublicTask,
    },
    AnswersAwaited {
        tasks: Vec<PublicTask>,
        until: Option<String>,
    },
    TaskParked {
        task: PublicTask,
        why: &'e str,
    },
    Chosen {
        task: PublicTask,
        choice: ChoiceKind,
    },
    TaskGone {
        task: PublicTask,
    },
    TaskSkipped {
        task: PublicTask,
    },
    FinalCheckStarted {
        checks: u32,
    },
    FinalCheckEnded {
        passed: Vec<PublicTask>,
        flaky: Vec<PublicTask>,
        known_failures: Vec<PublicTask>,
        regressed: Vec<PublicRegression<'e>>,
        not_repeated: Vec<PublicNotRepeated>,
        took_ms: u64,
    },
    TaskReopened {
        task: PublicTask,
    },
    WaitStarted {
        task: PublicTask,
        since: String,
        until: String,
        why: &'e str,
        repeats: bool,
    },
    WaitEnded {
        task: PublicTask,
        waited_ms: u64,
    },
    ClosingCommitted {
        hash: Option<&'e str>,
    },
    Warned {
        message: &'e str,
    },
    StopAsked {
        signal: StopSignal,
    },
    RunEnded {
        summary: Box<Figures>,
    },
}

/// A task that no longer passes.
#[derive(Clone, Debug, Serialize)]
pub(super) struct PublicRegression<'e> {
    task: PublicTask,
    check: &'e str,
    error: &'e str,
    since: Vec<PublicTask>,
}

impl<'e> PublicRegression<'e> {
    fn all(regressed: &'e [Regression]) -> Vec<Self> {
        let regressed = regressed.iter().map(|one| Self {
            task: (&one.task).into(),
            check: &one.check,
            error: &one.failure.error,
            since: PublicTask::all(&one.since),
        });
        regressed.collect()
    }
}

/// A row of the plan.
#[derive(Clone, Debug, Serialize)]
pub(super) struct PublicRow {
    task: PublicTask,
    depth: u16,
    kind: OutlineKind,
    done: bool,
    optional: bool,
}

/// An agent's changes to the plan during an attempt.
#[derive(Clone, Debug, Serialize)]
pub(super) struct PublicChanges {
    claimed: Vec<PublicTask>,
    skipped: Vec<PublicTask>,
    put_back: Vec<PublicTask>,
    added: Vec<PublicTask>,
    edited: Vec<PublicTask>,
    reverted: Vec<PublicTask>,
}

impl<'e> PublicEvent<'e> {
    pub(super) fn plan(rows: &[OutlineRow]) -> Self {
        let rows = rows.iter().map(PublicRow::from);
        Self::Plan {
            rows: rows.collect(),
        }
    }

    /// Converts an event; `None` for one that is internal to regreen.
    pub(super) fn of(
        event: &'e Event,
        totals: &RunTotals,
        figures: impl FnOnce() -> Figures,
    ) -> Option<Self> {
        Some(match event {
            Event::RunStarted { config, .. } => Self::started(config),
            Event::RunResumed { .. } => Self::RunResumed,
            Event::LimitSettled { max_iterations } => Self::LimitSettled {
                attempts_per_run: *max_iterations,
            },
            Event::TaskPicked { task } => Self::picked(task),
            Event::AttemptStarted {
                task,
                attempt,
                prompt,
                timeout_ms,
                ..
            } => Self::AttemptStarted {
                task: task.into(),
                attempt: *attempt,
                number: totals.number_of(task, *prompt),
                limit: totals.limit_of_task(),
                prompt: *prompt,
                timeout_ms: *timeout_ms,
            },
            Event::SessionSeen {
                task,
                attempt,
                session,
            } => Self::SessionSeen {
                task: task.into(),
                attempt: *attempt,
                session,
            },
            Event::AttemptEnded {
                task,
                attempt,
                charged,
                report,
                ..
            } => Self::attempt_ended(task, *attempt, *charged, report),
            Event::PlanReviewed { task, changes } => Self::PlanReviewed {
                task: task.as_ref().map(PublicTask::from),
                plan: changes.into(),
            },
            Event::ServiceChanged { report } => Self::service_changed(report),
            Event::ClaimsJudged {
                task,
                kept,
                taken_back,
            } => Self::ClaimsJudged {
                task: task.into(),
                kept: PublicTask::all(kept),
                taken_back: PublicTask::all(taken_back),
            },
            Event::VerifyStarted {
                task,
                attempt,
                again,
                ..
            } => Self::VerifyStarted {
                task: task.into(),
                attempt: *attempt,
                again: *again,
            },
            Event::VerifyEnded {
                task,
                attempt,
                verdict,
                ..
            } => Self::verified(task, *attempt, verdict),
            Event::TestsReviewed {
                task,
                attempt,
                review,
                took_ms,
            } => Self::TestsReviewed {
                task: task.into(),
                attempt: *attempt,
                known: &review.known,
                accepted: &review.accepted,
                flaky: &review.flaky,
                new: &review.new,
                turned_green: &review.turned_green,
                unexplained: review.unexplained.as_deref(),
                took_ms: *took_ms,
            },
            Event::TaskFailed {
                task,
                attempt,
                failure,
                ..
            } => Self::TaskFailed {
                task: task.into(),
                attempt: *attempt,
                error: &failure.error,
                attempted_fix: &failure.attempted_fix,
                diagnosis: failure.diagnosis.as_deref(),
            },
            Event::CommitRefused { task, output } => Self::CommitRefused {
                task: task.into(),
                output,
            },
            Event::Committed { task, hash } => Self::Committed {
                task: task.into(),
                hash: hash.as_deref(),
            },
            Event::TaskDone { task, marks, hash } => Self::TaskDone {
                task: task.into(),
                marks,
                hash: hash.as_deref(),
            },
            Event::FixInserted { task, fix } => Self::FixInserted {
                task: task.into(),
                fix: fix.to_string(),
            },
            Event::Recalled {
                task,
                experience: Some(known),
            } => Self::Recalled {
                task: task.into(),
                failures: known.failures,
                workspaces: known.workspaces,
                similar: known.similar,
                advice: &known.advice,
                useless: &known.useless,
                nothing_helped: known.nothing_helped,
            },
            Event::TemplateApplied {
                task,
                template,
                owner,
                strategy,
                step,
            } => Self::TemplateApplied {
                task: task.into(),
                template,
                owner: *owner,
                strategy: *strategy,
                step: *step,
            },
            Event::RepairInspected { task, inspection } => Self::inspected(task, inspection),
            Event::RepairStarted {
                task,
                attempt,
                repair,
                ..
            } => Self::RepairStarted {
                task: task.into(),
                attempt: *attempt,
                repair: &repair.action,
                does: &repair.does,
            },
            Event::RepairEnded { task, result } => Self::repaired(task, result),
            Event::PlanModified { task, added } => Self::PlanModified {
                task: task.into(),
                added: added.iter().map(PublicTask::from).collect(),
            },
            Event::ModificationRefused { task, why } => Self::ModificationRefused {
                task: task.into(),
                why,
            },
            Event::FixesSuperseded { task, fixes, .. } => Self::FixesSuperseded {
                task: task.into(),
                fixes: fixes.iter().map(PublicTask::from).collect(),
            },
            Event::PersonAsked {
                task, why, repair, ..
            } => Self::PersonAsked {
                task: task.into(),
                why,
                repair: repair.as_ref().map(|repair| &repair.action),
            },
            Event::PersonAnswered { task, answer } => Self::PersonAnswered {
                task: task.into(),
                answer: answer.kind(),
                text: match answer {
                    PersonAnswer::Context { text } => Some(text),
                    _ => None,
                },
            },
            Event::AnswerGiven { task } => Self::AnswerGiven { task: task.into() },
            Event::AnswersAwaited { tasks, until, .. } => Self::AnswersAwaited {
                tasks: tasks.iter().map(Into::into).collect(),
                until: until.map(Timestamp::iso8601),
            },
            Event::TaskParked { task, why } => Self::TaskParked {
                task: task.into(),
                why,
            },
            Event::Chosen { choice } => Self::Chosen {
                task: (&choice.task).into(),
                choice: choice.what,
            },
            Event::TaskGone { task } => Self::TaskGone { task: task.into() },
            Event::TaskSkipped { task } => Self::TaskSkipped { task: task.into() },
            Event::FinalCheckStarted { checks, .. } => Self::FinalCheckStarted { checks: *checks },
            Event::FinalCheckEnded {
                passed,
                flaky,
                known_failures,
                regressed,
                not_repeated,
                took_ms,
            } => Self::FinalCheckEnded {
                passed: PublicTask::all(passed),
                flaky: PublicTask::all(flaky),
                known_failures: PublicTask::all(known_failures),
                regressed: PublicRegression::all(regressed),
                not_repeated: PublicNotRepeated::all(not_repeated),
                took_ms: *took_ms,
            },
            Event::TaskReopened { task } => Self::TaskReopened { task: task.into() },
            Event::WaitStarted {
                task,
                since,
                until,
                why,
                repeats,
                ..
            } => Self::WaitStarted {
                task: task.into(),
                since: since.iso8601(),
                until: until.iso8601(),
                why,
                repeats: *repeats,
            },
            Event::WaitEnded { task, waited_ms } => Self::WaitEnded {
                task: task.into(),
                waited_ms: *waited_ms,
            },
            Event::ClosingCommitted { hash, .. } => Self::ClosingCommitted {
                hash: hash.as_deref(),
            },
            Event::Warned { message } => Self::Warned { message },
            Event::StopAsked { signal } => Self::StopAsked { signal: *signal },
            Event::RunEnded { .. } => Self::RunEnded {
                summary: Box::new(figures()),
            },
            Event::PlanAsked { .. }
            | Event::RepeatPlanned { .. }
            | Event::TestReviewStarted { .. }
            | Event::OpinionAsked { .. }
            | Event::OpinionGiven { .. }
            | Event::RecallAsked { .. }
            | Event::Recalled {
                experience: None, ..
            }
            | Event::InspectionAsked { .. }
            | Event::BudgetAsked { .. }
            | Event::FixPostponed { .. }
            | Event::ClosingCommitAsked { .. }
            | Event::FixPlanned { .. }
            | Event::ModificationAsked { .. }
            | Event::SupersedeAsked { .. }
            | Event::HistoryAsked { .. }
            | Event::AttemptPostponed { .. }
            | Event::ClaimsAsked { .. }
            | Event::TickAsked { .. }
            | Event::CommitAsked { .. }
            | Event::Marked { .. }
            | Event::ReopenAsked { .. }
            | Event::RecordAsked { .. } => return None,
        })
    }

    fn inspected(task: &TaskKey, inspection: &'e Inspection) -> Self {
        let (name, repair, why) = match inspection {
            Inspection::Allowed(repair) => ("allowed", Some(repair), None),
            Inspection::Ask { repair, why } => ("ask", Some(repair), Some(why.as_str())),
            Inspection::Refused { why } => ("refused", None, Some(why.as_str())),
            Inspection::Nothing => ("nothing", None, None),
        };
        Self::RepairInspected {
            task: task.into(),
            inspection: name,
            repair: repair.map(|repair| &repair.action),
            does: repair.map(|repair| repair.does.as_str()),
            why,
        }
    }

    fn repaired(task: &TaskKey, result: &'e RepairResult) -> Self {
        let (did, why) = match result {
            RepairResult::Done { did, .. } => (Some(did.as_str()), None),
            RepairResult::Failed { why } => (None, Some(why.as_str())),
        };
        Self::RepairEnded {
            task: task.into(),
            done: did.is_some(),
            did,
            why,
        }
    }

    fn started(config: &'e RunConfig) -> Self {
        Self::RunStarted {
            spec: &config.spec,
            agent: &config.agent,
            only: config.only.as_ref().map(TaskId::as_str),
            gate: config.gate.as_deref(),
            include_optional: config.include_optional,
            commits: config.commits,
            attempts_per_task: config.limits.task_iterations,
            attempts_per_run: config.limits.global_iterations,
            attempt_timeout_ms: config.attempt_timeout_ms,
            verify_timeout_ms: config.verify_timeout_ms,
            idle_timeout_ms: config.idle_timeout_ms,
            max_wait_ms: config.max_wait_ms,
            budgets: &config.budgets,
        }
    }

    fn picked(picked: &'e PickedTask) -> Self {
        let verify = picked.verify.iter();
        Self::TaskPicked {
            task: (&picked.task).into(),
            root: (&picked.root).into(),
            index: picked.index,
            total: picked.total,
            group: picked.is_group,
            verify: verify.map(|verify| verify.command.as_str()).collect(),
        }
    }

    fn attempt_ended(
        task: &TaskKey,
        attempt: u32,
        charged: bool,
        report: &'e AttemptReport,
    ) -> Self {
        let (class, why, until) = class(&report.class);
        Self::AttemptEnded {
            task: task.into(),
            attempt,
            charged,
            class,
            why,
            until: until.map(Timestamp::iso8601),
            error: &report.failure.error,
            signalled: report.signalled,
            contradiction: report.contradiction.as_deref(),
            timed_out: report.ending.timed_out,
            exit_code: report.ending.exit_code,
            signal: report.ending.signal,
            duration_ms: report.ending.duration_ms,
            files_changed: report.files_changed,
            left_running: &report.left_running,
            plan: (&report.plan).into(),
        }
    }

    fn service_changed(report: &'e ServiceReport) -> Self {
        let (change, why, took_ms) = match &report.change {
            ServiceChange::Started { again, took_ms } => {
                let change = if *again { "restarted" } else { "started" };
                (change, None, Some(*took_ms))
            }
            ServiceChange::NotReady { why } => ("not_ready", Some(why.as_str()), None),
            ServiceChange::Died { why } => ("died", Some(why.as_str()), None),
            ServiceChange::Ended => ("ended", None, None),
        };
        Self::ServiceChanged {
            task: (&report.task).into(),
            command: &report.command,
            change,
            why,
            took_ms,
            log: &report.log,
        }
    }

    fn verified(task: &TaskKey, attempt: u32, verdict: &'e Verdict) -> Self {
        let (verdict, error) = match verdict {
            Verdict::Green => ("green", None),
            Verdict::Red { error } => ("red", Some(error.as_str())),
            Verdict::Unverified => ("unverified", None),
        };
        Self::VerifyEnded {
            task: task.into(),
            attempt,
            verdict,
            error,
        }
    }
}

fn class(class: &AttemptClass) -> (&'static str, Option<&str>, Option<Timestamp>) {
    match class {
        AttemptClass::Ordinary => ("ordinary", None, None),
        AttemptClass::Transient { why, until } => ("transient", Some(why), *until),
        AttemptClass::Fatal { why } => ("fatal", Some(why), None),
        AttemptClass::Session { why } => ("session", Some(why), None),
        AttemptClass::Interrupted => ("interrupted", None, None),
    }
}

impl From<&OutlineRow> for PublicRow {
    fn from(row: &OutlineRow) -> Self {
        Self {
            task: (&row.key).into(),
            depth: row.depth,
            kind: row.kind,
            done: row.done,
            optional: row.optional,
        }
    }
}

impl From<&PlanChanges> for PublicChanges {
    fn from(changes: &PlanChanges) -> Self {
        let claims = changes.claims.iter();
        Self {
            claimed: claims.map(|claim| (&claim.task).into()).collect(),
            skipped: PublicTask::all(&changes.skipped),
            put_back: PublicTask::all(&changes.put_back),
            added: PublicTask::all(&changes.added),
            edited: PublicTask::all(&changes.edited),
            reverted: PublicTask::all(&changes.reverted),
        }
    }
}
