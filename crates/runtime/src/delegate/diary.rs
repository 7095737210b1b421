use std::path::{Path, PathBuf};

use regreen_engine::delegation::{Order, Step};
use regreen_model::FailureNote;
use regreen_redaction::Masks;
use regreen_store::{Delegation, Store, StoreError};

use crate::clock;

/// What is kept of the attempts for people to ask about: all of it masked.
#[derive(Debug)]
pub(super) struct Diary {
    pub(super) store: Store,
    pub(super) masks: Masks,
    pub(super) id: String,
    pub(super) agent: String,
    /// Where the logs are, from the workspace on.
    pub(super) logs: PathBuf,
    pub(super) rows: Vec<Delegation>,
}

/// Which row of the diary.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry(usize);

impl Diary {
    pub(super) fn begin(&mut self, order: &Order, prompt: &str) -> Result<Entry, StoreError> {
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
        let entry = Entry(self.rows.len() - 1);
        self.change(entry, |_| {})?;
        Ok(entry)
    }

    pub(super) fn number(&self, entry: Entry) -> u32 {
        self.rows.get(entry.0).map_or(0, |row| row.number)
    }

    pub(super) fn end(
        &mut self,
        entry: Entry,
        duration_ms: u64,
        failure: Option<&FailureNote>,
    ) -> Result<(), StoreError> {
        let found = failure.and_then(|failure| failure.diagnosis.as_deref());
        let masks = self.masks.clone();
        self.change(entry, |row| {
            let outcome = if failure.is_some() {
                "failed"
            } else {
                "completed"
            };
            row.outcome = Some(outcome.to_owned());
            row.duration_ms = Some(duration_ms);
            row.category = found.map(|found| found.category.name().to_owned());
            row.kind = found.map(|found| found.kind.name().to_owned());
            row.message = found.map(|found| masks.mask(&found.message));
            let blocker = found.and_then(|found| found.blocked_on.as_deref());
            row.blocked_on = blocker.map(|line| masks.mask(line));
        })
    }

    pub(super) fn changed(&mut self, entry: Entry, files: Vec<String>) -> Result<(), StoreError> {
        self.change(entry, |row| row.files = files)
    }

    /// What is done about a failure; nothing of what changes nothing.
    pub(super) fn tried(&mut self, entry: Entry, step: &Step) -> Result<(), StoreError> {
        if matches!(step, Step::Inspect | Step::End(_)) {
            return Ok(());
        }
        let words = self.masks.mask(&step.words());
        self.change(entry, |row| match &mut row.tried {
            Some(tried) => tried.push_str(&format!("; {words}")),
            None => row.tried = Some(words),
        })
    }

    pub(super) fn helped(&mut self, entry: Entry, helped: bool) -> Result<(), StoreError> {
        self.change(entry, |row| row.helped = Some(helped))
    }

    pub(super) fn stopped(&mut self) -> Result<(), StoreError> {
        match self.rows.len().checked_sub(1).map(Entry) {
            Some(last) => self.change(last, |row| {
                row.outcome.get_or_insert_with(|| "stopped".to_owned());
            }),
            None => Ok(()),
        }
    }

    fn change(
        &mut self,
        entry: Entry,
        change: impl FnOnce(&mut Delegation),
    ) -> Result<(), StoreError> {
        let Some(row) = self.rows.get_mut(entry.0) else {
            return Ok(());
        };
        change(row);
        self.store.record_delegation(row)
    }
}
