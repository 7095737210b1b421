//! No fix is made twice, each has one living parent, and none is made beyond the limits.

use std::collections::{BTreeMap, BTreeSet};

use regreen_documents::TaskFile;
use regreen_model::{Limits, TaskId, TaskKey};

use crate::world::Check;
use crate::world::name_of;

#[derive(Debug, Default)]
pub(super) struct Fixes {
    /// The parent of every fix that ever existed, by name.
    parents: BTreeMap<String, String>,
    /// How often a task has failed, including earlier runs.
    failures: BTreeMap<String, u32>,
    /// How many fixes of a task no longer count because a person cleared its budget.
    forgiven: BTreeMap<String, u32>,
    removed: BTreeSet<String>,
    /// Whether names have moved from one task to another.
    shifted: bool,
}

impl Fixes {
    pub(super) fn of(file: &TaskFile) -> Self {
        let mut fixes = Self::default();
        fixes.forget(file);
        fixes
    }

    /// Forgets what the state file knew, so that only the rows count.
    pub(super) fn forget(&mut self, file: &TaskFile) {
        self.parents = parents(file).collect();
        self.forgiven.clear();
        for parent in self.parents.values() {
            self.failures
                .insert(parent.clone(), made(&self.parents, parent));
        }
    }

    pub(super) fn failed(&mut self, name: &str) {
        *self.failures.entry(name.to_owned()).or_default() += 1;
    }

    pub(super) fn forgive(&mut self, name: &str) {
        let made = made(&self.parents, name);
        self.forgiven.insert(name.to_owned(), made);
    }

    /// Removes rows. Returns whether that may change the identity of others: a fix without fixes of
    /// its own leaves nothing behind.
    pub(super) fn removed(&mut self, names: &[String]) -> bool {
        self.removed.extend(names.iter().cloned());
        let is_last = |name: &String| {
            self.parents.contains_key(name) && !self.parents.values().any(|other| other == name)
        };
        !names.iter().all(is_last)
    }

    pub(super) fn shift(&mut self) {
        self.shifted = true;
    }

    pub(super) fn lineage_is_known(&self) -> bool {
        !self.shifted
    }

    /// Records a new fix in the file.
    pub(super) fn inserted(
        &mut self,
        file: &TaskFile,
        parent: &TaskKey,
        fix: &TaskId,
        limits: Limits,
    ) -> Check {
        let row = file.resolve(parent).and_then(|row| file.key(row));
        let parent = name_of(row.as_ref().unwrap_or(parent));
        if self.parents.contains_key(fix.as_str()) && !self.removed.contains(fix.as_str()) {
            return Err(format!("fix {fix} was made twice"));
        }
        self.parents.insert(fix.to_string(), parent.clone());
        if self.shifted {
            return Ok(());
        }
        self.each_fix_answers_one_failure(&parent)?;
        self.no_limit_is_exceeded(&parent, fix, limits)
    }

    fn each_fix_answers_one_failure(&self, parent: &str) -> Check {
        let failures = self.failures.get(parent).copied().unwrap_or(0);
        match made(&self.parents, parent) <= failures {
            true => Ok(()),
            false => Err(format!(
                "{parent} has failed {failures} times and has more fixes than that"
            )),
        }
    }

    fn no_limit_is_exceeded(&self, parent: &str, fix: &TaskId, limits: Limits) -> Check {
        let forgiven = |name: &str| self.forgiven.get(name).copied().unwrap_or(0);
        let own = made(&self.parents, parent).saturating_sub(forgiven(parent));
        if own > limits.fixes_per_task {
            return Err(format!("{parent} has {own} fixes"));
        }
        let chain: Vec<&str> = self.chain(fix.as_str()).collect();
        let depth = u32::try_from(chain.len()).unwrap_or(u32::MAX) - 1;
        if depth > limits.fix_depth {
            return Err(format!("fix {fix} is {depth} deep"));
        }
        let root = chain.last().copied().unwrap_or(parent);
        let family = self
            .parents
            .keys()
            .filter(|fix| self.chain(fix).last() == Some(root));
        let all = u32::try_from(family.clone().count()).unwrap_or(u32::MAX);
        let forgiven = forgiven(root) + family.map(|fix| forgiven(fix)).sum::<u32>();
        match all.saturating_sub(forgiven) > limits.fixes_per_root() {
            false => Ok(()),
            true => Err(format!("{root} and its fixes have {all} fixes")),
        }
    }

    /// Returns a fix, its parent, and so on up to the original.
    fn chain<'s>(&'s self, fix: &'s str) -> impl Iterator<Item = &'s str> {
        let above = |name: &&'s str| self.parents.get(*name).map(String::as_str);
        std::iter::successors(Some(fix), above)
    }

    pub(super) fn no_fix_exists_twice(&self, file: &TaskFile) -> Check {
        let mut seen = BTreeSet::new();
        match parents(file).find(|(fix, _)| !seen.insert(fix.clone())) {
            None => Ok(()),
            Some((fix, _)) => Err(format!("fix {fix} stands there twice")),
        }
    }

    pub(super) fn every_fix_has_its_parent(&self, file: &TaskFile) -> Check {
        if self.shifted {
            return Ok(());
        }
        let now: BTreeMap<String, String> = parents(file).collect();
        for (fix, parent) in &self.parents {
            let is_there = || !self.removed.contains(fix) && !self.removed.contains(parent);
            if now.get(fix) != Some(parent) && is_there() {
                let now = now.get(fix);
                return Err(format!("fix {fix} of {parent} belongs to {now:?}"));
            }
        }
        Ok(())
    }
}

fn made(parents: &BTreeMap<String, String>, of: &str) -> u32 {
    let own = parents.values().filter(|parent| *parent == of);
    u32::try_from(own.count()).unwrap_or(u32::MAX)
}

/// Returns each fix in a file with the task it fixes.
fn parents(file: &TaskFile) -> impl Iterator<Item = (String, String)> {
    file.rows().filter_map(|row| {
        let parent = file.key(file.fixed_by(row)?)?;
        Some((name_of(&file.key(row)?), name_of(&parent)))
    })
}
