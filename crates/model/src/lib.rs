//! The words of regreen: plain data that every other crate speaks, with the rules that
//! belong to a word itself (what an id looks like, what a fix task says).
//!
//! Nothing here reads a file, a clock or the environment.

mod agent_event;
mod api_trouble;
mod attempt_report;
mod category;
mod confidence;
mod dialect;
mod event;
mod evidence;
mod expectation;
mod failure;
mod failure_kind;
mod fields;
mod finding;
mod limits;
mod mark;
mod marker;
mod modification_request;
mod new_task;
mod outline;
mod picked_task;
mod plain_line;
mod prompt_kind;
mod repair_action;
mod retry_mode;
mod run_config;
mod run_outcome;
mod task;
mod task_failure;
mod task_id;
mod task_key;
mod task_kind;
mod timestamp;
mod verify_command;
mod warning;

pub use attempt_report::{AttemptClass, AttemptReport, Claim, PlanChanges};
mod usage;

pub use agent_event::AgentEvent;
pub use api_trouble::{ApiTrouble, ResetTime, TroubleClass};
pub use category::FailureCategory;
pub use confidence::Confidence;
pub use dialect::Dialect;
pub use event::{CommandSeq, Event, FailureNote, Verdict};
pub use evidence::{Ending, Evidence, Output, Source, ToolUse, VerifyResult};
pub use expectation::{Comparison, Expectation};
pub use failure::Failure;
pub use failure_kind::FailureKind;
pub use fields::Fields;
pub use finding::Finding;
pub use limits::Limits;
pub use mark::Mark;
pub use marker::Marker;
pub use modification_request::{Modification, ModificationRequest, ProposedTask};
pub use new_task::{FixOrigin, NewTask};
pub use outline::{OutlineKind, OutlineRow};
pub use picked_task::PickedTask;
pub use plain_line::{ERROR_CHARS, PlainLine, SUMMARY_CHARS, is_format_control};
pub use prompt_kind::PromptKind;
pub use repair_action::RepairAction;
pub use retry_mode::RetryMode;
pub use run_config::RunConfig;
pub use run_outcome::{RunOutcome, StopSignal};
pub use task::Task;
pub use task_failure::TaskFailure;
pub use task_id::{IdShape, TaskId};
pub use task_key::TaskKey;
pub use task_kind::TaskKind;
pub use timestamp::Timestamp;
pub use usage::Usage;
pub use verify_command::{VerifyCommand, VerifyForm};
pub use warning::Warning;
