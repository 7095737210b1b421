//! The keys of the state file that regreen reads.

use serde_json::Value;

/// A known key whose value is not what it should be, and what is used instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateWarning {
    /// Where in the file: `fixTaskMap.1.3.attempts`.
    pub path: String,
    pub message: String,
}

impl StateWarning {
    pub(super) fn new(path: String, expected: &str, found: &Value, used: &str) -> Self {
        let found = type_name(found);
        Self {
            path,
            message: format!("expected {expected}, found {found}: using {used}"),
        }
    }
}

pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number regreen cannot use here",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// A whole number that fits, also written `3.0`.
pub(super) fn as_count(value: &Value) -> Option<u32> {
    let number = value.as_number()?;
    if let Some(count) = number.as_u64() {
        return u32::try_from(count).ok();
    }
    let count = number.as_f64()?;
    let is_whole = count.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&count);
    is_whole.then(|| format!("{count:.0}").parse().ok())?
}

/// A key with a whole number.
#[derive(Clone, Copy, Debug)]
pub(super) struct CountKey {
    pub(super) name: &'static str,
    pub(super) default: u32,
}

/// A key that is true or false; all of them are false unless said otherwise.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlagKey {
    pub(super) name: &'static str,
}

pub(super) const TASK_INDEX: CountKey = count("taskIndex", 0);
pub(super) const TOTAL_TASKS: CountKey = count("totalTasks", 0);
pub(super) const TASK_ITERATION: CountKey = count("taskIteration", 1);
pub(super) const MAX_TASK_ITERATIONS: CountKey = count("maxTaskIterations", 5);
pub(super) const GLOBAL_ITERATION: CountKey = count("globalIteration", 1);
pub(super) const MAX_GLOBAL_ITERATIONS: CountKey = count("maxGlobalIterations", 100);
pub(super) const MAX_FIX_TASKS: CountKey = count("maxFixTasksPerOriginal", 3);
pub(super) const MAX_FIX_DEPTH: CountKey = count("maxFixTaskDepth", 3);
pub(super) const COUNTS: &[CountKey] = &[
    TASK_INDEX,
    TOTAL_TASKS,
    TASK_ITERATION,
    MAX_TASK_ITERATIONS,
    GLOBAL_ITERATION,
    MAX_GLOBAL_ITERATIONS,
    MAX_FIX_TASKS,
    MAX_FIX_DEPTH,
];

pub(super) const RECOVERY_MODE: FlagKey = FlagKey {
    name: "recoveryMode",
};
/// Somebody is to look at what there is before it goes on.
pub(super) const AWAITING_APPROVAL: FlagKey = FlagKey {
    name: "awaitingApproval",
};
/// All phases are gone through without asking.
pub(super) const QUICK_MODE: FlagKey = FlagKey { name: "quickMode" };
pub(super) const FLAGS: &[FlagKey] = &[RECOVERY_MODE, AWAITING_APPROVAL, QUICK_MODE];

/// Keys whose value is an object, one entry per task id.
pub(super) const FIX_TASK_MAP: &str = "fixTaskMap";
pub(super) const TASK_RESULTS: &str = "taskResults";
pub(super) const MODIFICATION_MAP: &str = "modificationMap";
pub(super) const MAPS: &[&str] = &[FIX_TASK_MAP, TASK_RESULTS, MODIFICATION_MAP];

pub(super) const PHASE: &str = "phase";

const fn count(name: &'static str, default: u32) -> CountKey {
    CountKey { name, default }
}
