use std::io;

use regreen_model::{Failure, PlannedRepair, RepairResult};

use crate::actions::{self, set_aside};
use crate::context::RepairContext;
use crate::inspect::{NOT_EXPLAINED, Proposal, explains, propose};
use crate::interrupted;
use crate::plan::{Action, RepairPlan, ToolRunner};
use crate::programs::{ProgramRecord, ProgramStamps};
use crate::user_program::UserProgram;

/// The outcome of applying a repair.
#[derive(Debug)]
pub struct AppliedRepair {
    /// The result.
    pub result: RepairResult,
    /// The programs it installed.
    pub programs: ProgramRecord,
}

/// Applies a planned repair if the workspace still calls for it. `agreed` means that a person has
/// consented to a repair that requires it. A repair of the user's own has its own check instead.
pub fn apply_repair(
    context: &RepairContext<'_>,
    failure: &Failure,
    planned: &PlannedRepair,
    agreed: bool,
    runner: &mut dyn ToolRunner,
) -> AppliedRepair {
    if let Some(own) = UserProgram::of(planned) {
        return AppliedRepair {
            result: if explains(failure) {
                own.apply(context, runner)
            } else {
                RepairResult::Failed {
                    why: NOT_EXPLAINED.to_owned(),
                }
            },
            programs: ProgramRecord::default(),
        };
    }
    let before = ProgramStamps::of(context.root);
    let applied = confirm(context, failure, planned, agreed)
        .and_then(|plan| apply(context, &plan, runner).map(|()| plan));
    match applied {
        Ok(plan) => AppliedRepair {
            programs: trusted(context, &plan, &before),
            result: RepairResult::Done {
                did: plan.does,
                environment: plan.environment,
            },
        },
        Err(why) => AppliedRepair {
            programs: ProgramRecord::default(),
            result: RepairResult::Failed { why },
        },
    }
}

/// Returns the programs that the repair wrote, and the one that a person was asked about. Consent
/// to a repair isn't consent to whatever else the agent has put beside them.
fn trusted(
    context: &RepairContext<'_>,
    plan: &RepairPlan,
    before: &ProgramStamps,
) -> ProgramRecord {
    let mut programs = match &plan.action {
        Action::RunTools(_) => before.written_since(context.root),
        _ => ProgramRecord::default(),
    };
    if let Some((folder, name)) = &plan.questioned {
        programs.add(ProgramRecord::of_program(context.root, folder, name));
    }
    programs
}

/// Inspects again: the plan must be the same, and allowed.
fn confirm(
    context: &RepairContext<'_>,
    failure: &Failure,
    planned: &PlannedRepair,
    agreed: bool,
) -> Result<RepairPlan, String> {
    let plan = match propose(context, failure) {
        Proposal::Allowed(plan) => plan,
        Proposal::Ask(plan, _) if agreed => plan,
        Proposal::Nothing => return Err("not applied: nothing to repair".to_owned()),
        Proposal::Ask(_, why) | Proposal::Refused(why) => {
            return Err(format!("not applied: {why}"));
        }
    };
    if plan.planned() == *planned {
        Ok(plan)
    } else {
        Err("not applied: the workspace has changed since it was inspected".to_owned())
    }
}

/// Records what the repair will create, so that a crash leaves nothing incomplete that looks
/// complete; sets aside what didn't help. The error is the reason.
fn apply(
    context: &RepairContext<'_>,
    plan: &RepairPlan,
    runner: &mut dyn ToolRunner,
) -> Result<(), String> {
    let created = interrupted::new_paths(context, plan);
    if created.is_empty() {
        return actions::execute(context, plan, runner);
    }
    let cannot = |error: io::Error| format!("cannot write `.regreen`: {error}");
    interrupted::begin(context, plan, &created).map_err(cannot)?;
    let result = actions::execute(context, plan, runner);
    if result.is_err() {
        for path in &created {
            // Usually it doesn't exist.
            let _ = set_aside(context, path);
        }
    }
    interrupted::end(context).map_err(cannot)?;
    result
}
