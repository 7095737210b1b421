//! What is done between two attempts: waiting, looking, repairing.

use regreen_engine::delegation::Happened;
use regreen_engine::{RepairOrder, RepairTarget};
use regreen_model::{
    FailureNote, Inspection, PlannedRepair, RepairResult, Timestamp, VerifyCommand,
};

use super::child::Child;
use super::pursuit::{Pursuit, Work};
use crate::clock;
use crate::log_file::LogFile;
use crate::perform::{self, Site};
use crate::perform_error::PerformError;

impl Child<'_> {
    pub(super) fn wait(
        &mut self,
        until: Timestamp,
        why: &str,
        repeats: bool,
    ) -> Result<Happened, PerformError> {
        let began = clock::now();
        let ms = until.since(began);
        let seconds = ms.div_ceil(1000);
        self.onlooker
            .milestone(&format!("waiting {seconds} s: {why}"));
        if !self.performer.processes.stop.sleep_until(until) {
            return Err(PerformError::Stopped);
        }
        if !repeats {
            self.waited_ms = self.waited_ms.saturating_add(ms);
        }
        Ok(Happened::Waited { ms, repeats })
    }

    fn scene(&self, work: &Work, pursuit: &Pursuit) -> Option<RepairTarget> {
        let failure = pursuit.failure.as_ref().and_then(FailureNote::told)?;
        Some(RepairTarget {
            task: self.key.clone(),
            attempt: u32::try_from(self.diary.rows.len()).unwrap_or(u32::MAX),
            failure: failure.clone(),
            verify: work
                .verify
                .iter()
                .cloned()
                .map(VerifyCommand::always)
                .collect(),
            environment: self.environment.clone(),
        })
    }

    fn site(&self, scene: &RepairTarget) -> Site {
        let commands = scene.verify.iter().map(|verify| verify.command.clone());
        Site {
            commands: commands.collect(),
            log: perform::log_in(&self.place.folder, scene.attempt),
        }
    }

    pub(super) fn inspect(
        &mut self,
        work: &Work,
        pursuit: &Pursuit,
    ) -> Result<Inspection, PerformError> {
        match self.scene(work, pursuit) {
            Some(scene) => perform::inspect_at(&self.performer, &scene, &self.site(&scene)),
            None => Ok(Inspection::Refused {
                why: "nothing is known of the failure".to_owned(),
            }),
        }
    }

    pub(super) fn repair(
        &mut self,
        work: &Work,
        pursuit: &mut Pursuit,
        repair: PlannedRepair,
    ) -> Result<(), PerformError> {
        self.onlooker.milestone(&format!("repair: {}", repair.does));
        let action = repair.action.clone();
        let Some(scene) = self.scene(work, pursuit) else {
            return Ok(());
        };
        let site = self.site(&scene);
        let log = LogFile::create(&self.place.folder, &format!("{}.repair", scene.attempt))?;
        let order = RepairOrder {
            fix: self.key.clone(),
            attempt: scene.attempt,
            repair,
            agreed: false,
            again: false,
            target: scene,
        };
        let result = perform::repair_at(&mut self.performer, &order, &site, log)?;
        if let RepairResult::Done { did, environment } = &result {
            pursuit.repaired.push(did.clone());
            self.environment.extend(environment.iter().cloned());
        }
        pursuit.past.push(Happened::Repaired { action, result });
        Ok(())
    }
}
