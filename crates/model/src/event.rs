use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{
    AttemptReport, FailureRecord, Inspection, Mark, NotRepeated, PassedVerify, PersonAnswer,
    PersonChoice, PickedTask, PlanChanges, PlannedRepair, PromptKind, Regression, RepairResult,
    RunConfig, RunOutcome, ServiceReport, StopSignal, TaskId, TaskKey, Timestamp, Verdict,
};

/// The number of a command, by which its answer refers to it.
pub type CommandSeq = u64;

/// Something that happened in a run. Events are the truth: the state is their fold, every
/// view shows them, history stores them.
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
        /// The settings that hold until the run ends.
        config: RunConfig,
        /// The run before this one ended at a limit.
        #[serde(default)]
        after_limit: bool,
        /// Tasks whose rows agents removed in earlier runs, and that no one has settled.
        #[serde(default)]
        lost: Vec<TaskKey>,
        /// The checks that originals passed in earlier runs, since all tasks were last done.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        earlier: Vec<PassedVerify>,
        /// Variables that repairs of earlier runs have set.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        environment: Vec<(String, String)>,
    },
    /// A run that had paused or died was resumed.
    RunResumed {
        /// The new settings, if they changed.
        #[serde(default)]
        config: Option<Box<RunConfig>>,
        /// When it was resumed: the time before is not counted.
        #[serde(default)]
        at: Option<Timestamp>,
    },
    /// A person chose this while the run was paused.
    Chosen {
        /// What the person chose.
        choice: PersonChoice,
    },
    /// The task file is being read to see what is next.
    PlanAsked {
        /// The number of the command.
        seq: CommandSeq,
    },
    /// What the whole run may cost in attempts, settled when the plan is first read.
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
        /// What the agent is told besides the task.
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
    /// The attempt is made when the run is resumed.
    AttemptPostponed {
        /// The task.
        task: TaskKey,
        /// What the agent will be told besides the task.
        prompt: PromptKind,
    },
    /// An attempt ended. `charged` attempts count against the task.
    AttemptEnded {
        /// The task.
        task: TaskKey,
        /// The number of the attempt, counted from 1.
        attempt: u32,
        /// Whether it counts against the task.
        charged: bool,
        /// Whether it counts as one of the run's attempts; as `charged` if absent.
        #[serde(default)]
        counted: Option<bool>,
        /// How the attempt ended.
        report: Box<AttemptReport>,
    },
    /// The plan was changed while something else than an attempt ran: a check, a commit hook, a
    /// repair. Ticks were reverted.
    PlanReviewed {
        /// The task for which it ran.
        task: Option<TaskKey>,
        /// What became of the changes.
        changes: PlanChanges,
    },
    /// Rows that the agent ticked without being asked are being verified.
    ClaimsAsked {
        /// The number of the command.
        seq: CommandSeq,
        /// The task.
        task: TaskKey,
    },
    /// These rows, ticked by the agent, were verified; the others were unticked.
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
        /// What happened, and to which.
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
        /// Whether it runs a second time to detect a flaky check.
        again: bool,
        /// Whether it runs before the agent does, because a fix may have been enough.
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
        /// How long the check took.
        #[serde(default)]
        took_ms: u64,
    },
    /// The attempt did not pass; the response follows.
    TaskFailed {
        /// The task.
        task: TaskKey,
        /// The number of the attempt, counted from 1.
        attempt: u32,
        /// Why it failed.
        failure: FailureRecord,
        /// Whether the agent had signalled and only Verify failed.
        #[serde(default)]
        only_red: bool,
    },
    /// The failure may be transient: the attempt is repeated and not charged to the task.
    RepeatPlanned {
        /// The task.
        task: TaskKey,
    },
    /// The workspace is being inspected for what regreen may repair itself.
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
        /// What the inspection says.
        inspection: Inspection,
    },
    /// How much of its fix budget the task has used is being looked up.
    BudgetAsked {
        /// The number of the command.
        seq: CommandSeq,
        /// The task.
        task: TaskKey,
        /// What regreen plans to do itself.
        #[serde(default)]
        repair: Option<PlannedRepair>,
    },
    /// No fix is made: others of the task are open, and run first.
    FixPostponed {
        /// The task.
        task: TaskKey,
    },
    /// A task that repairs this one is being written into the file.
    FixPlanned {
        /// The number of the command.
        seq: CommandSeq,
        /// The task.
        task: TaskKey,
        /// The id of the fix task.
        fix: TaskId,
        /// Whether the error came back after a fix that should have removed it.
        again: bool,
        /// What regreen does itself, if anything.
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
    /// regreen carries out a fix by itself.
    RepairStarted {
        /// The number of the command.
        seq: CommandSeq,
        /// The fix.
        task: TaskKey,
        /// Counted with the attempts of the fix: its log and its changes are found by it.
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
    /// Why a request to change the plan was not honoured.
    ModificationRefused {
        /// The task.
        task: TaskKey,
        /// The reason, for people.
        why: String,
    },
    /// The file is searched for fixes that have nothing left to do.
    SupersedeAsked {
        /// The number of the command.
        seq: CommandSeq,
        /// The task.
        task: TaskKey,
    },
    /// The task passed, so that these fixes of it have nothing left to do.
    FixesSuperseded {
        /// The number of the command.
        seq: CommandSeq,
        /// The task.
        task: TaskKey,
        /// The fixes that are ticked without being run.
        fixes: Vec<TaskKey>,
    },
    /// A limit was reached; the progress file is to say how healing ended.
    HistoryAsked {
        /// The number of the command.
        seq: CommandSeq,
        /// The task.
        task: TaskKey,
        /// The message about the limit.
        message: String,
    },
    /// Only a person can decide about the task. The question stays open until it is answered,
    /// here or in another way.
    PersonAsked {
        /// The number of the command.
        seq: CommandSeq,
        /// The task.
        task: TaskKey,
        /// The reason, for people.
        why: String,
        /// What a person may allow.
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
    /// The task waits for a person; the others continue.
    TaskParked {
        /// The task.
        task: TaskKey,
        /// The reason, for people.
        why: String,
    },
    /// A task's box is being ticked or emptied.
    TickAsked {
        /// The number of the command.
        seq: CommandSeq,
        /// The task.
        task: TaskKey,
        /// Whether it is ticked.
        done: bool,
    },
    /// The work on a task is being committed.
    CommitAsked {
        /// The number of the command.
        seq: CommandSeq,
        /// The task.
        task: TaskKey,
    },
    /// A hook of the user refused the commit, which counts as a failed verification.
    CommitRefused {
        /// The task.
        task: TaskKey,
        /// What the hook printed.
        output: String,
    },
    /// Something is noted about a task that passed.
    Marked {
        /// The task.
        task: TaskKey,
        /// What is noted.
        mark: Mark,
    },
    /// The task's commit, if one was made.
    Committed {
        /// The task.
        task: TaskKey,
        /// The commit's hash.
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
        /// What is noted about it.
        marks: BTreeSet<Mark>,
        /// The hash of its commit, if one was made.
        hash: Option<String>,
    },
    /// The task was removed or ticked by someone else before its attempt began or its fix was
    /// made.
    TaskGone {
        /// The task.
        task: TaskKey,
    },
    /// The task will not run in this run.
    TaskSkipped {
        /// The task.
        task: TaskKey,
    },
    /// All tasks are done: the checks that passed in this run are repeated.
    FinalCheckStarted {
        /// The number of the command.
        seq: CommandSeq,
        /// How many different checks there are.
        checks: u32,
    },
    /// The final check ended.
    FinalCheckEnded {
        /// Tasks that still pass.
        passed: Vec<TaskKey>,
        /// Those among them whose check failed at first.
        flaky: Vec<TaskKey>,
        /// Tasks that no longer pass.
        regressed: Vec<Regression>,
        /// Checks that were left out.
        not_repeated: Vec<NotRepeated>,
        /// How long it took.
        took_ms: u64,
    },
    /// The boxes of tasks that no longer pass are being emptied.
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
        /// Whether it comes before a repeat, which uses nothing of the run's waiting budget.
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
    /// Everything is done: what is left of the spec's own files is being committed.
    ClosingCommitAsked {
        /// The number of the command.
        seq: CommandSeq,
    },
    /// The spec's own files are committed.
    ClosingCommitted {
        /// The commit's hash; `None` if there was nothing to commit, or it could not be made.
        hash: Option<String>,
    },
    /// Something is wrong that does not stop the run.
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
