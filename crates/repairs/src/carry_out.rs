use regreen_model::{Failure, PlannedRepair, RepairResult};

use crate::deeds;
use crate::inspect::verdict;
use crate::plan::Plan;
use crate::runner::Runner;
use crate::scene::Scene;
use crate::verdict::Verdict;

/// Carries out what an inspection had planned, if the workspace still says the same. `agreed`:
/// a person has said yes to a repair that has to be asked about.
pub fn carry_out(
    scene: &Scene<'_>,
    failure: &Failure,
    planned: &PlannedRepair,
    agreed: bool,
    runner: &mut dyn Runner,
) -> RepairResult {
    match still(scene, failure, planned, agreed) {
        Ok(plan) => match deeds::carry_out(scene, &plan, runner) {
            Ok(()) => RepairResult::Done {
                did: plan.does,
                environment: plan.environment,
            },
            Err(why) => RepairResult::Failed { why },
        },
        Err(why) => RepairResult::Failed { why },
    }
}

fn still(
    scene: &Scene<'_>,
    failure: &Failure,
    planned: &PlannedRepair,
    agreed: bool,
) -> Result<Plan, String> {
    let plan = match verdict(scene, failure) {
        Verdict::Allowed(plan) => plan,
        Verdict::Ask(plan, _) if agreed => plan,
        Verdict::Nothing => return Err("not carried out: there is nothing to repair".to_owned()),
        Verdict::Ask(_, why) | Verdict::Refused(why) => {
            return Err(format!("not carried out: {why}"));
        }
    };
    if plan.planned() == *planned {
        Ok(plan)
    } else {
        Err("not carried out: the workspace has changed since it was inspected".to_owned())
    }
}
