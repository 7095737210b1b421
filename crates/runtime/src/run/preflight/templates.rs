//! Repairs of the user's own that couldn't start.

use regreen_workspace::{Programs, RealDisk};

use super::finding::{Preflight, PreflightFinding};
use crate::run::RunSetup;

/// Warns about programs of recovery templates that are missing. Nothing may ever need them.
pub(super) fn look(found: &mut Preflight, setup: &RunSetup, programs: &Programs) {
    if !setup.config.recovery {
        return;
    }
    for template in &setup.config.templates {
        let Some(repair) = &template.repair else {
            continue;
        };
        for program in [&repair.argv, &repair.check]
            .into_iter()
            .filter_map(|argv| argv.first())
        {
            if programs.find(&RealDisk, program).is_none() {
                let what = format!("`{program}` is not installed or not in PATH");
                let help = format!("the recovery template for {} names it", template.name());
                found.add(PreflightFinding::warning(what, help));
            }
        }
    }
}
