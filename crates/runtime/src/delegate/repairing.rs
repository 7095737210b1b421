//! The work between two attempts: waiting, inspecting, repairing.

use regreen_engine::delegation::Happened;
use regreen_model::{FailureRecord, Inspection, PlannedRepair, RepairResult, Timestamp};

use super::active::ActiveDelegation;
use super::work::{DelegatedWork, DelegationState};
use crate::clock::{self, millis};
use crate::log_file::LogFile;
use crate::performer::PerformError;
use crate::repair::{FailureSite, RepairJob, log_of_attempt};

impl ActiveDelegation<'_> {
    pub(super) fn wait(
        &mut self,
        until: Timestamp,
        why: &str,
        repeats: bool,
    ) -> Result<Happened, PerformError> {
        let began = clock::now();
        let ms = until.since(began);
        let seconds = ms.div_ceil(1000);
        self.observer
            .milestone(&format!("waiting {seconds} s: {why}"));
        let processes = &self.context.processes;
        let asleep = processes.stop.sleep_until(until);
        let asleep = asleep.ok_or(PerformError::Stopped)?;
        let ms = ms.saturating_sub(millis(asleep.total()));
        if !repeats {
            self.waited_ms = self.waited_ms.saturating_add(ms);
        }
        Ok(Happened::Waited { ms, repeats })
    }

    pub(super) fn inspect(
        &self,
        work: &DelegatedWork,
        state: &DelegationState,
    ) -> Result<Inspection, PerformError> {
        match self.failure_site(work, state) {
            Some(site) => self.context.inspect_repair(&site),
            None => Ok(Inspection::Refused {
                why: "the failure is unknown".to_owned(),
            }),
        }
    }

    pub(super) fn repair(
        &mut self,
        work: &DelegatedWork,
        state: &mut DelegationState,
        repair: PlannedRepair,
    ) -> Result<(), PerformError> {
        self.observer.milestone(&format!("repair: {}", repair.does));
        let Some(site) = self.failure_site(work, state) else {
            return Ok(());
        };
        let attempt = self.log.last_number();
        let job = RepairJob {
            repair: &repair,
            agreed: false,
            again: false,
            purpose: "repair".to_owned(),
            log: LogFile::create(&self.folder.path, &format!("{attempt}.repair"))?,
        };
        let result = self.context.repair(&site, job)?;
        if let RepairResult::Done { did, environment } = &result {
            state.repaired.push(did.clone());
            self.environment.extend(environment.iter().cloned());
        }
        let action = repair.action;
        state.past.push(Happened::Repaired { action, result });
        Ok(())
    }

    fn failure_site<'s>(
        &'s self,
        work: &DelegatedWork,
        state: &'s DelegationState,
    ) -> Option<FailureSite<'s>> {
        Some(FailureSite {
            failure: state
                .failure
                .as_ref()
                .and_then(FailureRecord::confident_diagnosis)?,
            commands: work.verify.iter().cloned().collect(),
            log: log_of_attempt(&self.folder.path, self.log.last_number()),
            environment: &self.environment,
        })
    }
}
