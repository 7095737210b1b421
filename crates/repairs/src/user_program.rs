//! Runs a repair of the user's own, which a recovery template names.
//!
//! It is planned only from the settings of the run, which no repository can make. What a run may
//! change is never started: the program must be outside of the workspace.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use regreen_model::{PlannedRepair, RepairAction, RepairResult};

use crate::context::RepairContext;
use crate::plan::{ToolCall, ToolRunner};

/// A repair of the user's own.
#[derive(Debug)]
pub(crate) struct UserProgram<'p> {
    does: &'p str,
    argv: &'p [String],
    check: &'p [String],
    limit: Duration,
}

impl<'p> UserProgram<'p> {
    /// Returns the planned repair, if it is the user's own.
    pub(crate) fn of(planned: &'p PlannedRepair) -> Option<Self> {
        match &planned.action {
            RepairAction::UserProgram {
                argv,
                check,
                timeout_ms,
                ..
            } => Some(Self {
                does: &planned.does,
                argv,
                check,
                limit: Duration::from_millis(*timeout_ms),
            }),
            _ => None,
        }
    }

    /// Runs the program, unless its check passes already, and then the check.
    pub(crate) fn apply(
        &self,
        context: &RepairContext<'_>,
        runner: &mut dyn ToolRunner,
    ) -> RepairResult {
        match self.run(context, runner) {
            Ok(did) => RepairResult::Done {
                did,
                environment: Vec::new(),
            },
            Err(why) => RepairResult::Failed { why },
        }
    }

    fn run(
        &self,
        context: &RepairContext<'_>,
        runner: &mut dyn ToolRunner,
    ) -> Result<String, String> {
        let (repair, check) = (
            self.call(context, self.argv)?,
            self.call(context, self.check)?,
        );
        if runner.run(&check).succeeded() {
            return Ok(format!("nothing to do: {} passes already", check.name()));
        }
        let ran = runner.run(&repair);
        if !ran.succeeded() {
            return Err(repair.failure(&ran));
        }
        let checked = runner.run(&check);
        if !checked.succeeded() {
            let why = check.failure(&checked);
            return Err(format!("{} succeeded, but {why}", repair.name()));
        }
        Ok(self.does.to_owned())
    }

    fn call(&self, context: &RepairContext<'_>, argv: &[String]) -> Result<ToolCall, String> {
        let (name, arguments) = argv.split_first().ok_or("it names no program")?;
        let program = program_outside(context, name)?;
        let words = arguments.iter().map(OsString::from);
        let call = ToolCall::new([program.into_os_string()].into_iter().chain(words));
        Ok(ToolCall {
            time_limit: self.limit,
            ..call
        })
    }
}

/// Finds a program in the user's PATH. An agent may have written what is in the workspace.
fn program_outside(context: &RepairContext<'_>, name: &str) -> Result<PathBuf, String> {
    let found = context
        .tool(name)
        .ok_or_else(|| format!("`{name}` is not installed or not in PATH"))?;
    let real = found
        .canonicalize()
        .map_err(|error| format!("cannot find `{name}`: {error}"))?;
    if !found.is_absolute() || found.starts_with(context.root) || real.starts_with(context.root) {
        return Err(format!(
            "`{name}` is in the workspace, where an agent may have written it"
        ));
    }
    Ok(found)
}
