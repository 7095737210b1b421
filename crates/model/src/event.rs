use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{
    AttemptReport, Experience, Failure, FailureRecord, Inspection, Mark, NotRepeated, PassedVerify,
    PersonAnswer, PersonChoice, PickedTask, PlanChanges, PlannedRepair, PromptKind, RedTests,
    Regression, RepairResult, RunConfig, RunOutcome, ServiceReport, StopSignal, TaskId, TaskKey,
    TemplateOwner, TemplateStrategy, TestReview, Timestamp, Usage, Verdict,
};

/// The number of a command, which its answer repeats.
pub type CommandSeq = u64;

/// Something that happened in a run. Events are the source of truth: the state is their fold, every
/// view shows them, and history stores them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[expect(
    clippy::large_enum_variant,
    reason = "only the first event of a run has the settings, and events pass one at a time"
)]
pub enum Event {
    /// A run began.
    RunStarted {
        /// The run's id.
        run: String,
        /// The settings, which stay the same until the run ends.
        config: RunConfig,
        /// Whether the previous run ended at a limit.
        #[serde(default)]
        after_limit: bool,
        /// Tasks whose rows agents removed in earlier runs, and that nobody has settled since.
        #[serde(default)]
        lost: Vec<TaskKey>,
        /// The checks that originals have passed in earlier runs since all tasks were last done.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        earlier: Vec<PassedVerify>,
        /// Environment variables that repairs in earlier runs set.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        environment: Vec<(String, String)>,
    },
    /// A run that paused or died was resumed.
    RunResumed {
        /// The new settings, if they changed.
        #[serde(default)]
        config: Option<Box<RunConfig>>,
        /// When it was resumed; the time before that isn't counted.
        #[serde(default)]
        at: Option<Timestamp>,
    },
    /// A person made a choice while the run was paused.
    Chosen {
        /// The choice.
        choice: PersonChoice,
    },
    /// The task file is being read to find the next task.
    PlanAsked {
        /// The number of the command.
        seq: CommandSeq,
    },
    /// The limit on the run's attempts was determined, which happens when the plan is first read.
    LimitSettled {
        /// How many attempts the whole run may make.
        max_iterations: u32,
    },
    /// The run turns to this task.
    TaskPicked {
        /// The task.
        task: Box<PickedTask>,
    },
    /// An agent is started on a task.
    AttemptStarted {
        /// The number of the command.
        seq: CommandSeq,
        /// The task.
        task: TaskKey,
        /// The number of the attempt, counted from 1.
        attempt: u32,
        /// The kind of prompt.
        prompt: PromptKind,
        /// How long the attempt may take.
        timeout_ms: u64,
    },
    /// The agent named the session of the current attempt. It is stored at once, so that an
    /// interrupted attempt can be resumed.
    SessionSeen {
        /// The task.
        task: TaskKey,
        /// The number of the attempt, counted from 1.
        attempt: u32,
        /// The session's id.
        session: String,
    },
    /// The attempt will be made when the run is resumed.
    AttemptPostponed {
        /// The task.
        task: TaskKey,
        /// The kind of the next prompt.
        prompt: PromptKind,
    },
    /// An attempt ended.
    AttemptEnded {
        /// The task.
        task: TaskKey,
        /// The number of the attempt, counted from 1.
        attempt: u32,
        /// Whether the attempt counts against the task.
        charged: bool,
        /// Whether it counts as one of the run's attempts; the same as `charged` if absent.
        #[serde(default)]
        counted: Option<bool>,
        /// How the attempt ended.
        report: Box<AttemptReport>,
    },
    /// The plan changed while a check, a commit hook or a repair ran. Ticks were reverted.
    PlanReviewed {
        /// The task it ran for.
        task: Option<TaskKey>,
        /// The changes, and how regreen handled them.
        changes: PlanChanges,
    },
    /// Rows that the agent ticked of its own accord are being verified.
    ClaimsAsked {
        /// The number of the command.
        seq: CommandSeq,
        /// The task.
        task: TaskKey,
    },
    /// The rows that the agent ticked were verified. Those that failed were unticked.
    ClaimsJudged {
        /// The task.
        task: TaskKey,
        /// Rows that stay ticked.
        kept: Vec<TaskKey>,
        /// Rows that were unticked.
        taken_back: Vec<TaskKey>,
    },
    /// Something happened to a service that tasks need.
    ServiceChanged {
        /// The change, and the service.
        #[serde(flatten)]
        report: ServiceReport,
    },
    /// The independent check of a task started.
    VerifyStarted {
        /// The number of the command.
        seq: CommandSeq,
        /// The task.
        task: TaskKey,
        /// The number of the attempt, counted from 1.
        attempt: u32,
        /// Whether this is the second run, which tells flaky checks from failures.
        again: bool,
        /// Whether it runs before the agent, because a fix may have been enough.
        #[serde(default)]
        first: bool,
    },
    /// The independent check of a task ended.
    VerifyEnded {
        /// The task.
        task: TaskKey,
        /// The number of the attempt, counted from 1.
        attempt: u32,
        /// The result of the check.
        verdict: Verdict,
        /// Why it failed, where no failure of the task follows that says it: a task that is checked
        /// before its agent works again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        diagnosis: Option<Box<Failure>>,
        /// The tests that failed, if the check names them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tests: Option<Box<RedTests>>,
        /// How long the check took.
        #[serde(default)]
        took_ms: u64,
    },
    /// The tests that failed are being looked at: which of them failed before the task, and which flicker.
    TestReviewStarted {
        /// The number of the command.
        seq: CommandSeq,
        /// The task.
        task: TaskKey,
        /// The number of the attempt, counted from 1.
        attempt: u32,
        /// Whether the check ran before the agent, because a fix may have been enough.
        #[serde(default)]
        first: bool,
    },
    /// It is known which of the tests that failed the task is responsible for.
    TestsReviewed {
        /// The task.
        task: TaskKey,
        /// The number of the attempt, counted from 1.
        attempt: u32,
        /// The tests.
        review: TestReview,
        /// How long it took.
        #[serde(default)]
        took_ms: u64,
    },
    /// The attempt did not pass. The response follows as further events.
    TaskFailed {
        /// The task.
        task: TaskKey,
        /// The number of the attempt, counted from 1.
        attempt: u32,
        /// Why it failed.
        failure: FailureRecord,
        /// Whether the agent had signalled completion and only Verify failed.
        #[serde(default)]
        only_red: bool,
    },
    /// The failure may be transient: the attempt is repeated without charging the task.
    RepeatPlanned {
        /// The task.
        task: TaskKey,
    },
    /// The agent is asked what it thinks of a failure that the rules are not sure of.
    OpinionAsked {
        /// The number of the command.
        seq: CommandSeq,
        /// The task.
        task: TaskKey,
    },
    /// The agent said what it thinks of a failure, or nothing that can be believed.
    OpinionGiven {
        /// The task.
        task: TaskKey,
        /// What the failure is now.
        diagnosis: Option<Box<Failure>>,
        /// What the question cost.
        #[serde(default)]
        usage: Option<Usage>,
        /// How long it took.
        #[serde(default)]
        took_ms: u64,
    },
    /// The user's history is asked for earlier failures with the same cause.
    RecallAsked {
        /// The number of the command.
        seq: CommandSeq,
        /// The task.
        task: TaskKey,
    },
    /// The history was asked for earlier failures with the same cause.
    Recalled {
        /// The task.
        task: TaskKey,
        /// What they show; `None` if there are none.
        experience: Option<Box<Experience>>,
    },
    /// A recovery template decides what is done about the failure. That follows as further events.
    TemplateApplied {
        /// The task.
        task: TaskKey,
        /// The kind or fingerprint of failures that the template is for.
        template: String,
        /// Who wrote it.
        owner: TemplateOwner,
        /// What it does.
        strategy: TemplateStrategy,
        /// The position of the strategy in the template, counted from 1.
        step: u32,
    },
    /// The workspace is being inspected for something that regreen can repair itself.
    InspectionAsked {
        /// The number of the command.
        seq: CommandSeq,
        /// The task.
        task: TaskKey,
    },
    /// The workspace was inspected for a repair.
    RepairInspected {
        /// The task.
        task: TaskKey,
        /// The result of the inspection.
        inspection: Inspection,
    },
    /// The task's use of its fix budget is being looked up.
    BudgetAsked {
        /// The number of the command.
        seq: CommandSeq,
        /// The task.
        task: TaskKey,
        /// The repair that regreen plans to make itself, if any.
        #[serde(default)]
        repair: Option<PlannedRepair>,
    },
    /// No fix is made, because open fixes of the task run first.
    FixPostponed {
        /// The task.
        task: TaskKey,
    },
    /// A fix task is being written into the file.
    FixPlanned {
        /// The number of the command.
        seq: CommandSeq,
        /// The task.
        task: TaskKey,
        /// The id of the fix task.
        fix: TaskId,
        /// Whether the error came back after a fix that should have removed it.
        again: bool,
        /// The repair that regreen makes itself, if any.
        #[serde(default)]
        repair: Option<PlannedRepair>,
    },
    /// The fix task is in the file.
    FixInserted {
        /// The task.
        task: TaskKey,
        /// The id of the fix task.
        fix: TaskId,
    },
    /// regreen started on a fix that it carries out itself.
    RepairStarted {
        /// The number of the command.
        seq: CommandSeq,
        /// The fix.
        task: TaskKey,
        /// The number of the attempt, counted with those of the fix; its log and changes are filed
        /// under it.
        attempt: u32,
        /// The repair.
        repair: PlannedRepair,
    },
    /// A repair ended.
    RepairEnded {
        /// The task.
        task: TaskKey,
        /// Whether it worked.
        result: RepairResult,
    },
    /// Rows that the agent asked for are being written into the file.
    ModificationAsked {
        /// The number of the command.
        seq: CommandSeq,
        /// The task.
        task: TaskKey,
    },
    /// Rows that the agent asked for are in the file.
    PlanModified {
        /// The task.
        task: TaskKey,
        /// The new rows.
        added: Vec<TaskKey>,
    },
    /// A request to change the plan was refused.
    ModificationRefused {
        /// The task.
        task: TaskKey,
        /// The reason, for people.
        why: String,
    },
    /// The file is being searched for fixes that are no longer needed.
    SupersedeAsked {
        /// The number of the command.
        seq: CommandSeq,
        /// The task.
        task: TaskKey,
    },
    /// The task passed, so these fixes are no longer needed.
    FixesSuperseded {
        /// The number of the command.
        seq: CommandSeq,
        /// The task.
        task: TaskKey,
        /// The fixes that are ticked without being run.
        fixes: Vec<TaskKey>,
    },
    /// A limit was reached; the progress file will describe how healing ended.
    HistoryAsked {
        /// The number of the command.
        seq: CommandSeq,
        /// The task.
        task: TaskKey,
        /// The message about the limit.
        message: String,
    },
    /// Only a person can decide about the task. The question stays open until someone answers it or
    /// settles the task in another way.
    PersonAsked {
        /// The number of the command.
        seq: CommandSeq,
        /// The task.
        task: TaskKey,
        /// The reason, for people.
        why: String,
        /// The repair that a person may allow.
        #[serde(default)]
        repair: Option<PlannedRepair>,
    },
    /// A person answered the question.
    PersonAnswered {
        /// The task.
        task: TaskKey,
        /// The answer.
        answer: PersonAnswer,
    },
    /// Someone has answered the open question about the task at another terminal. The run takes the answer when the
    /// task is next, which is no longer set aside.
    AnswerGiven {
        /// The task.
        task: TaskKey,
    },
    /// Nothing is left to do but tasks that wait for people, and the run waits for answers.
    AnswersAwaited {
        /// The number of the command.
        seq: CommandSeq,
        /// The tasks with open questions.
        tasks: Vec<TaskKey>,
        /// Since when.
        since: Timestamp,
        /// Until when; `None` for as long as it takes.
        #[serde(default)]
        until: Option<Timestamp>,
    },
    /// The task waits for a person; the others continue.
    TaskParked {
        /// The task.
        task: TaskKey,
        /// The reason, for people.
        why: String,
    },
    /// A task's box is being ticked or unticked.
    TickAsked {
        /// The number of the command.
        seq: CommandSeq,
        /// The task.
        task: TaskKey,
        /// `true` to tick, `false` to untick.
        done: bool,
    },
    /// The work on a task is being committed.
    CommitAsked {
        /// The number of the command.
        seq: CommandSeq,
        /// The task.
        task: TaskKey,
    },
    /// One of the user's hooks refused the commit, which counts as a failed check.
    CommitRefused {
        /// The task.
        task: TaskKey,
        /// The hook's output.
        output: String,
    },
    /// A passed task got a mark.
    Marked {
        /// The task.
        task: TaskKey,
        /// The mark.
        mark: Mark,
    },
    /// The task's commit step ended.
    Committed {
        /// The task.
        task: TaskKey,
        /// The commit's hash, if one was made.
        hash: Option<String>,
    },
    /// The task's completion is being written into the progress file.
    RecordAsked {
        /// The number of the command.
        seq: CommandSeq,
        /// The task.
        task: TaskKey,
    },
    /// The task is done.
    TaskDone {
        /// The task.
        task: TaskKey,
        /// Its marks.
        marks: BTreeSet<Mark>,
        /// The hash of its commit, if one was made.
        hash: Option<String>,
    },
    /// Someone else removed or ticked the task before its attempt began or its fix was made.
    TaskGone {
        /// The task.
        task: TaskKey,
    },
    /// The task will not run in this run.
    TaskSkipped {
        /// The task.
        task: TaskKey,
    },
    /// All tasks are done; the checks that passed in this run are being repeated.
    FinalCheckStarted {
        /// The number of the command.
        seq: CommandSeq,
        /// How many distinct checks there are.
        checks: u32,
    },
    /// The final check ended.
    FinalCheckEnded {
        /// Tasks that still pass.
        passed: Vec<TaskKey>,
        /// Tasks among `passed` whose check failed at first.
        flaky: Vec<TaskKey>,
        /// Tasks among `passed` of whose checks only known failures failed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        known_failures: Vec<TaskKey>,
        /// Tasks that no longer pass.
        regressed: Vec<Regression>,
        /// Checks that were left out.
        not_repeated: Vec<NotRepeated>,
        /// How long it took.
        took_ms: u64,
    },
    /// Tasks that no longer pass are being unticked.
    ReopenAsked {
        /// The number of the command.
        seq: CommandSeq,
        /// The tasks.
        tasks: Vec<TaskKey>,
    },
    /// A task that no longer passes is open again.
    TaskReopened {
        /// The task.
        task: TaskKey,
    },
    /// The run waits.
    WaitStarted {
        /// The number of the command.
        seq: CommandSeq,
        /// The task.
        task: TaskKey,
        /// When the wait began.
        since: Timestamp,
        /// When the wait ends.
        until: Timestamp,
        /// The reason, for people.
        why: String,
        /// Whether a repeat follows. Such a wait doesn't use the run's waiting budget.
        #[serde(default)]
        repeats: bool,
    },
    /// The wait is over.
    WaitEnded {
        /// The task.
        task: TaskKey,
        /// How long it took.
        waited_ms: u64,
    },
    /// Everything is done; the remaining changes to the spec's own files are being committed.
    ClosingCommitAsked {
        /// The number of the command.
        seq: CommandSeq,
    },
    /// The spec's own files are committed.
    ClosingCommitted {
        /// The commit's hash; `None` if there was nothing to commit or the commit failed.
        hash: Option<String>,
        /// Other files changed meanwhile, so that what passed before must be checked again.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        changed: bool,
    },
    /// A problem that doesn't stop the run.
    Warned {
        /// The warning.
        message: String,
    },
    /// The user asked to stop.
    StopAsked {
        /// How the user asked.
        signal: StopSignal,
    },
    /// The run ended or paused.
    RunEnded {
        /// How it ended.
        outcome: RunOutcome,
    },
}
