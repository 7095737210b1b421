//! The record of a delegation: its folder, and a row per attempt.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use regreen_diagnosis::reported_blocker;
use regreen_engine::delegation::{DelegatedOrder, NextAction};
use regreen_model::{Experience, FailureRecord, Timestamp};
use regreen_redaction::Masks;
use regreen_store::{Delegation, Store, StoreError};

use crate::clock;
use crate::spec_paths::own_folder;

/// Locked while the delegation runs.
const LOCK_FILE: &str = "at-work";

/// The folder of a delegation's files. Its name is the delegation's id.
#[derive(Debug)]
pub(super) struct DelegationFolder {
    pub(super) id: String,
    pub(super) path: PathBuf,
    /// Released when the process ends, however it ends.
    _lock: File,
}

/// Whether the delegation with this folder is still running; `false` if the folder is gone.
#[must_use]
pub fn is_delegation_running(folder: &Path) -> bool {
    let lock = File::open(folder.join(LOCK_FILE));
    lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

impl DelegationFolder {
    /// Creates a folder with a unique name.
    pub(super) fn create(root: &Path, now: Timestamp) -> io::Result<Self> {
        let all = own_folder(root).join("delegations");
        fs::create_dir_all(&all)?;
        let second = format!("{}-{}", now.utc_date(), now.utc_time()).replace(':', "");
        let second = second.replacen('-', "", 2);
        let mut n = 1_u32;
        loop {
            let id = match n {
                1 => format!("child-{second}"),
                n => format!("child-{second}-{n:02}"),
            };
            let path = all.join(&id);
            match fs::create_dir(&path) {
                Ok(()) => {
                    let lock = File::create(path.join(LOCK_FILE))?;
                    lock.lock()?;
                    return Ok(Self {
                        id,
                        path,
                        _lock: lock,
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => n += 1,
                Err(error) => return Err(error),
            }
        }
    }
}

/// The stored attempts, with all secrets masked.
#[derive(Debug)]
pub(super) struct DelegationLog {
    pub(super) store: Store,
    pub(super) masks: Masks,
    pub(super) id: String,
    pub(super) agent: String,
    /// The folder of the attempts' output, relative to the workspace.
    pub(super) logs: PathBuf,
    pub(super) rows: Vec<Delegation>,
}

/// The index of an attempt in the log.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoggedAttempt(usize);

impl DelegationLog {
    pub(super) fn begin(
        &mut self,
        order: &DelegatedOrder,
        prompt: &str,
    ) -> Result<LoggedAttempt, StoreError> {
        let number = u32::try_from(self.rows.len() + 1).unwrap_or(u32::MAX);
        let log = self.logs.join(format!("{number}.log"));
        self.rows.push(Delegation {
            id: self.id.clone(),
            number,
            at_ms: clock::stored_ms(clock::now()),
            agent: self.agent.clone(),
            prompt_kind: order.prompt.name().to_owned(),
            prompt: self.masks.mask(prompt),
            timeout_ms: order.timeout_ms,
            log: Path::new(&log).to_string_lossy().into_owned(),
            ..Delegation::default()
        });
        let attempt = LoggedAttempt(self.rows.len() - 1);
        self.change(attempt, |_| {})?;
        Ok(attempt)
    }

    pub(super) fn number(&self, attempt: LoggedAttempt) -> u32 {
        self.rows.get(attempt.0).map_or(0, |row| row.number)
    }

    /// Returns the number of the last attempt.
    pub(super) fn last_number(&self) -> u32 {
        u32::try_from(self.rows.len()).unwrap_or(u32::MAX)
    }

    pub(super) fn end(
        &mut self,
        attempt: LoggedAttempt,
        duration_ms: u64,
        failure: Option<&FailureRecord>,
    ) -> Result<(), StoreError> {
        let diagnosis = failure.and_then(|failure| failure.diagnosis.as_deref());
        let masks = self.masks.clone();
        self.change(attempt, |row| {
            let outcome = if failure.is_some() {
                "failed"
            } else {
                "completed"
            };
            row.outcome = Some(outcome.to_owned());
            row.duration_ms = Some(duration_ms);
            row.category = diagnosis.map(|found| found.category.name().to_owned());
            row.kind = diagnosis.map(|found| found.kind.name().to_owned());
            row.message = diagnosis.map(|found| masks.mask(&found.message));
            let blocker = diagnosis.and_then(reported_blocker);
            row.blocked_on = blocker.map(|line| masks.mask(&line));
        })
    }

    pub(super) fn changed(
        &mut self,
        attempt: LoggedAttempt,
        files: Vec<String>,
    ) -> Result<(), StoreError> {
        self.change(attempt, |row| row.files = files)
    }

    /// Notes the response to a failure, except for steps that change nothing. Another attempt is told
    /// what helped before.
    pub(super) fn tried(
        &mut self,
        attempt: LoggedAttempt,
        step: &NextAction,
        known: Option<&Experience>,
    ) -> Result<(), StoreError> {
        if matches!(
            step,
            NextAction::Recall | NextAction::Inspect | NextAction::End(_)
        ) {
            return Ok(());
        }
        let advised = known
            .and_then(Experience::advised)
            .filter(|_| matches!(step, NextAction::Attempt(_)));
        let words = match advised {
            Some(advised) => format!("{advised}; {}", step.words()),
            None => step.words(),
        };
        let words = self.masks.mask(&words);
        self.change(attempt, |row| match &mut row.tried {
            Some(tried) => tried.push_str(&format!("; {words}")),
            None => row.tried = Some(words),
        })
    }

    pub(super) fn helped(
        &mut self,
        attempt: LoggedAttempt,
        helped: bool,
    ) -> Result<(), StoreError> {
        self.change(attempt, |row| row.helped = Some(helped))
    }

    pub(super) fn stopped(&mut self) -> Result<(), StoreError> {
        match self.rows.len().checked_sub(1).map(LoggedAttempt) {
            Some(last) => self.change(last, |row| {
                row.outcome.get_or_insert_with(|| "stopped".to_owned());
            }),
            None => Ok(()),
        }
    }

    fn change(
        &mut self,
        attempt: LoggedAttempt,
        change: impl FnOnce(&mut Delegation),
    ) -> Result<(), StoreError> {
        let Some(row) = self.rows.get_mut(attempt.0) else {
            return Ok(());
        };
        change(row);
        self.store.record_delegation(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delegations_of_the_same_second_have_different_ids() {
        let root = tempfile::tempdir().unwrap();
        let now = Timestamp::from_millis(1_794_804_300_123);
        let made = [1, 2].map(|_| DelegationFolder::create(root.path(), now).unwrap());
        assert_eq!(made[0].id, "child-20261116-044500");
        assert_eq!(made[1].id, "child-20261116-044500-02");
        assert!(made.iter().all(|folder| folder.path.is_dir()));
    }

    #[test]
    fn a_delegation_is_running_until_it_is_over() {
        let root = tempfile::tempdir().unwrap();
        let made = DelegationFolder::create(root.path(), Timestamp::default()).unwrap();
        let folder = made.path.clone();
        assert!(is_delegation_running(&folder));
        drop(made);
        assert!(!is_delegation_running(&folder));
    }
}
