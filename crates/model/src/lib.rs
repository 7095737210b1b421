//! The data model of regreen: plain data that all other crates use, with the rules that belong to
//! each type (the form of an id, the text of a fix task).
//!
//! Nothing here reads a file, a clock or the environment.
//!
//! ```
//! use regreen_model::TaskId;
//!
//! let task = TaskId::parse("1.3").expect("an id");
//! assert_eq!(task.child(1).as_str(), "1.3.1");
//! ```

mod agent;
mod attempt;
mod event;
mod evidence;
mod experience;
mod failure;
mod failure_kind;
mod final_check;
mod hash;
mod history_check;
mod named_enum;
mod person;
mod plan;
mod preflight;
mod recovery_template;
mod repair;
mod run;
mod service;
mod surroundings;
mod tamper_policy;
mod task;
mod task_features;
mod task_id;
mod test_review;
mod text;
mod time;
mod time_forecast;
mod transcript;
mod unmasked;
mod usage;
mod verify;

pub use agent::{AgentIdentity, AgentKind, Permissions};
pub use attempt::{
    AgentEvent, ApiTrouble, AttemptClass, AttemptReport, ClockTime, Mark, PickedTask, PromptKind,
    ResetTime, TroubleClass,
};
pub use event::{CommandSeq, Event};
pub use evidence::{Ending, Evidence, Excerpt, Finding, Output, Source, ToolUse, VerifyResult};
pub use experience::{Advice, Experience, NOTE_CHARS};
pub use failure::{
    Confidence, DiagnosisAsk, Failure, FailureCategory, FailureRecord, RetryMode, TaskFailure,
    headline,
};
pub use failure_kind::FailureKind;
pub use final_check::{
    FinalCheckPolicy, NotRepeated, NotRepeatedReason, PassedVerify, Regression, RepeatResult,
    RepeatVerdict, RepeatedCheck,
};
pub use hash::fnv1a;
pub use history_check::HistoryParts;
pub use person::{AnswerKind, ChoiceKind, PersonAnswer, PersonChoice};
pub use plan::{
    Claim, FixBudget, FixOrigin, Modification, ModificationRequest, NewTask, NextStep, OutlineKind,
    OutlineRow, PlanChanges, PlanQuery, PlanStatus, ProposedTask, StateFile,
};
pub use preflight::PreflightPolicy;
pub use recovery_template::{
    RecoveryTemplate, TemplateMatch, TemplateOwner, TemplatePrompt, TemplateStrategy, UserRepair,
};
pub use repair::{
    Inspection, LookedUp, PlannedRepair, RepairAction, RepairPolicy, RepairResult, Survey,
};
pub use run::{Budget, Budgets, Limits, RunConfig, RunOutcome, StopSignal};
pub use service::{Service, ServiceChange, ServiceReport};
pub use surroundings::{Hook, PackageFolder, Surroundings, Tampering};
pub use tamper_policy::TamperPolicy;
pub use task::{Dialect, Fields, Marker, Task, TaskKey, TaskKind, Warning};
pub use task_features::{TaskFeatures, TaskSize};
pub use task_id::{IdShape, TaskId};
pub use test_review::{FlakyTest, RedTests, TestReview};
pub use text::{ERROR_CHARS, PlainLine, SUMMARY_CHARS, is_format_control, visible_line};
pub use time::{Span, Timestamp, named_span};
pub use time_forecast::{CheckTime, GroupTimes, SuggestedLimit, TaskGroup, TimeForecast};
pub use transcript::{AgentQuestion, OutputKind, Transcript};
pub use unmasked::Unmasked;
pub use usage::{Dollars, Spending, Usage, UsageLedger};
pub use verify::{
    CommandInput, CommandResult, Comparison, Expectation, Verdict, VerifyCommand, VerifyForm,
};
