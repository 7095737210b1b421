//! Runs as tasks of the protocol: a client that knows tasks gets one for a run, and asks for its
//! state until it ends. The journal is the only memory of them.

use regreen_model::Timestamp;
use rmcp::model::{
    CreateTaskResult, DetailedTask, GetTaskResult, JsonObject, Task, TaskPayload, TaskStatus,
};
use serde_json::Value;

use crate::command::{RunProgress, StartedRun};
use crate::server::structured;

/// A run takes minutes to hours.
const POLL_INTERVAL_MS: u64 = 5_000;

/// Returns the task for a run that has just been started.
pub(crate) fn created(run: &StartedRun, now: Timestamp) -> CreateTaskResult {
    let task = Task::new(&run.key, TaskStatus::Working, now.iso8601(), now.iso8601())
        .with_status_message(format!("run {} of {} started", run.run, run.spec))
        .with_poll_interval_ms(POLL_INTERVAL_MS);
    CreateTaskResult::new(task)
}

/// Returns the state of a run as that of its task.
pub(crate) fn state(key: &str, progress: &RunProgress) -> GetTaskResult {
    let (started, last_sign) = (progress.started.iso8601(), progress.last_sign.iso8601());
    let task = Task::new(key, TaskStatus::Working, started, last_sign)
        .with_status_message(&progress.message)
        .with_poll_interval_ms(POLL_INTERVAL_MS);
    let payload = match &progress.ended {
        None => TaskPayload::Working,
        Some(ended) => TaskPayload::Completed {
            result: as_object(serde_json::to_value(structured(ended, None)).unwrap_or_default()),
        },
    };
    GetTaskResult::new(DetailedTask::new(task, payload))
}

fn as_object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}
