use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{
    AttemptReport, FailureRecord, Inspection, Mark, PersonAnswer, PersonChoice, PickedTask,
    PlannedRepair, PromptKind, RepairResult, RunConfig, RunOutcome, StopSignal, TaskId, TaskKey,
    Timestamp, Verdict,
};

/// The number of a command: its answer names it.
pub type CommandSeq = u64;

/// Something that happened in a run, in our words. Events are the truth: state is their
/// fold, every view shows them, history stores them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    RunStarted {
        run: String,
        config: RunConfig,
        /// The run before this one ended at a limit.
        #[serde(default)]
        after_limit: bool,
    },
    /// A run that had paused or died goes on.
    RunResumed {
        /// What is settled anew, if anything is.
        #[serde(default)]
        config: Option<Box<RunConfig>>,
        /// Since when it does: what was before is nobody's time.
        #[serde(default)]
        at: Option<Timestamp>,
    },
    /// A person said so while the run was not going on.
    Chosen {
        choice: PersonChoice,
    },
    /// The task file is being read to see what is next.
    PlanAsked {
        seq: CommandSeq,
    },
    /// What the whole run may cost in attempts, settled when the plan is first read.
    LimitSettled {
        max_iterations: u32,
    },
    TaskPicked {
        task: Box<PickedTask>,
    },
    AttemptStarted {
        seq: CommandSeq,
        task: TaskKey,
        attempt: u32,
        prompt: PromptKind,
        timeout_ms: u64,
    },
    /// What the agent calls the session of the attempt that is being made. Stored as soon as it
    /// is seen, so that an attempt that is cut off can be gone on with.
    SessionSeen {
        task: TaskKey,
        attempt: u32,
        session: String,
    },
    /// It is made when the run goes on.
    AttemptPostponed {
        task: TaskKey,
        prompt: PromptKind,
    },
    /// `charged` attempts count against the task.
    AttemptEnded {
        task: TaskKey,
        attempt: u32,
        charged: bool,
        /// Whether it counts as one of the run's attempts; as `charged` where nothing is said.
        #[serde(default)]
        counted: Option<bool>,
        report: Box<AttemptReport>,
    },
    ClaimsAsked {
        seq: CommandSeq,
        task: TaskKey,
    },
    /// These rows, ticked by the agent, were verified; the others were unticked.
    ClaimsJudged {
        task: TaskKey,
        kept: Vec<TaskKey>,
        taken_back: Vec<TaskKey>,
    },
    VerifyStarted {
        seq: CommandSeq,
        task: TaskKey,
        attempt: u32,
        again: bool,
        /// A fix may have been enough: it runs before the agent does.
        #[serde(default)]
        first: bool,
    },
    VerifyEnded {
        task: TaskKey,
        attempt: u32,
        verdict: Verdict,
        #[serde(default)]
        took_ms: u64,
    },
    /// The attempt did not pass; what is done about it follows.
    TaskFailed {
        task: TaskKey,
        attempt: u32,
        failure: FailureRecord,
        /// The agent had signalled: only Verify was red.
        #[serde(default)]
        only_red: bool,
    },
    /// Passing trouble: the same is done again, and not charged to the task.
    RepeatPlanned {
        task: TaskKey,
    },
    /// The workspace is being looked at for what a machine may repair.
    InspectionAsked {
        seq: CommandSeq,
        task: TaskKey,
    },
    RepairInspected {
        task: TaskKey,
        inspection: Inspection,
    },
    /// How much of its fix budget the task has used is being looked up.
    BudgetAsked {
        seq: CommandSeq,
        task: TaskKey,
        /// What regreen means to do itself.
        #[serde(default)]
        repair: Option<PlannedRepair>,
    },
    /// A task that repairs this one is being written into the file.
    FixPlanned {
        seq: CommandSeq,
        task: TaskKey,
        fix: TaskId,
        /// The error had been there before a fix that was to remove it.
        again: bool,
        /// What regreen does itself, if it does.
        #[serde(default)]
        repair: Option<PlannedRepair>,
    },
    FixInserted {
        task: TaskKey,
        fix: TaskId,
    },
    /// regreen carries out a fix by itself.
    RepairStarted {
        seq: CommandSeq,
        /// The fix.
        task: TaskKey,
        /// Counted with the attempts of the fix: its log and its changes are found by it.
        attempt: u32,
        repair: PlannedRepair,
    },
    RepairEnded {
        task: TaskKey,
        result: RepairResult,
    },
    /// Rows that the agent asked for are being written into the file.
    ModificationAsked {
        seq: CommandSeq,
        task: TaskKey,
    },
    PlanModified {
        task: TaskKey,
        added: Vec<TaskKey>,
    },
    /// Why a request to change the plan was not honoured.
    ModificationRefused {
        task: TaskKey,
        why: String,
    },
    SupersedeAsked {
        seq: CommandSeq,
        task: TaskKey,
    },
    /// The task passed, so that these fixes of it have nothing left to do.
    FixesSuperseded {
        seq: CommandSeq,
        task: TaskKey,
        fixes: Vec<TaskKey>,
    },
    /// A limit was reached; the progress file is to say how healing ended.
    HistoryAsked {
        seq: CommandSeq,
        task: TaskKey,
        message: String,
    },
    /// Only a person can say what becomes of the task. The question stays open until it is
    /// answered, or somebody says it in another way.
    PersonAsked {
        seq: CommandSeq,
        task: TaskKey,
        why: String,
        /// What a person may allow.
        #[serde(default)]
        repair: Option<PlannedRepair>,
    },
    PersonAnswered {
        task: TaskKey,
        answer: PersonAnswer,
    },
    /// It waits for a person; the others go on.
    TaskParked {
        task: TaskKey,
        why: String,
    },
    TickAsked {
        seq: CommandSeq,
        task: TaskKey,
        done: bool,
    },
    CommitAsked {
        seq: CommandSeq,
        task: TaskKey,
    },
    /// A hook of the user refused the commit, which counts as a failed verification.
    CommitRefused {
        task: TaskKey,
        output: String,
    },
    Marked {
        task: TaskKey,
        mark: Mark,
    },
    /// The task's commit, if one was made.
    Committed {
        task: TaskKey,
        hash: Option<String>,
    },
    RecordAsked {
        seq: CommandSeq,
        task: TaskKey,
    },
    TaskDone {
        task: TaskKey,
        marks: BTreeSet<Mark>,
        hash: Option<String>,
    },
    /// Somebody took it out of the file, or ticked it, before its attempt began or its fix was
    /// made.
    TaskGone {
        task: TaskKey,
    },
    /// Nothing of it will be run in this run.
    TaskSkipped {
        task: TaskKey,
    },
    WaitStarted {
        seq: CommandSeq,
        task: TaskKey,
        since: Timestamp,
        until: Timestamp,
        why: String,
        /// Before a repeat: nothing of the run's waiting budget is used.
        #[serde(default)]
        repeats: bool,
    },
    WaitEnded {
        task: TaskKey,
        waited_ms: u64,
    },
    Warned {
        message: String,
    },
    StopAsked {
        signal: StopSignal,
    },
    RunEnded {
        outcome: RunOutcome,
    },
}
