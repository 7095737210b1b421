//! Which row of one text is which row of another.

use std::collections::{BTreeMap, VecDeque};

use regreen_model::TaskId;

use super::own_text::{own_text, tasks_of, words};
use crate::TaskFile;

/// Pairs of tasks in two texts. Every task has one partner at most.
pub(super) struct Matching {
    to_after: Vec<Option<usize>>,
    to_before: Vec<Option<usize>>,
}

impl Matching {
    /// Pairs tasks that are equal, then those that are more and more changed. An id given in
    /// the file is a name; where the position is all there is, the title comes first.
    pub(super) fn of(before: &TaskFile, after: &TaskFile) -> Self {
        let mut matching = Self {
            to_after: vec![None; before.rows.len()],
            to_before: vec![None; after.rows.len()],
        };
        let files = (before, after);
        matching.pair(files, |file, at| {
            Some((given_id(file, at), own_text(file, at).to_owned()))
        });
        matching.pair(files, |file, at| {
            Some((given_id(file, at), words(file, at)))
        });
        matching.pair(files, |file, at| {
            Some((given_id(file, at), title(file, at)))
        });
        matching.pair(files, given_id);
        matching.pair(files, position);
        matching
    }

    pub(super) fn after(&self, before: usize) -> Option<usize> {
        self.to_after.get(before).copied().flatten()
    }

    pub(super) fn before(&self, after: usize) -> Option<usize> {
        self.to_before.get(after).copied().flatten()
    }

    /// Pairs what has no partner yet and the same name; of several, first with first.
    fn pair<'t, N: Ord>(
        &mut self,
        (before, after): (&'t TaskFile, &'t TaskFile),
        name: impl Fn(&'t TaskFile, usize) -> Option<N>,
    ) {
        let mut free: BTreeMap<N, VecDeque<usize>> = BTreeMap::new();
        for at in tasks_of(after).filter(|at| self.before(*at).is_none()) {
            if let Some(name) = name(after, at) {
                free.entry(name).or_default().push_back(at);
            }
        }
        if free.is_empty() {
            return;
        }
        for at in tasks_of(before) {
            if self.after(at).is_some() {
                continue;
            }
            let partner = name(before, at).and_then(|name| free.get_mut(&name)?.pop_front());
            if let Some(partner) = partner {
                self.join(at, partner);
            }
        }
    }

    fn join(&mut self, before: usize, after: usize) {
        if let (Some(to_after), Some(to_before)) =
            (self.to_after.get_mut(before), self.to_before.get_mut(after))
        {
            *to_after = Some(after);
            *to_before = Some(before);
        }
    }
}

/// The id that stands in the file.
fn given_id(file: &TaskFile, at: usize) -> Option<&TaskId> {
    let row = file.rows.get(at)?;
    row.id.as_ref().filter(|_| !row.numbered)
}

/// The id that only the position gives.
fn position(file: &TaskFile, at: usize) -> Option<&TaskId> {
    let row = file.rows.get(at)?;
    row.id.as_ref().filter(|_| row.numbered)
}

fn title(file: &TaskFile, at: usize) -> String {
    file.rows
        .get(at)
        .map(|row| row.title.clone())
        .unwrap_or_default()
}
