use regreen_model::{Event, OutlineRow, TaskKey};

/// The plan as it was last read, with what was done since.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outline {
    rows: Vec<OutlineRow>,
}

/// How many of how many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) done: usize,
    pub(crate) total: usize,
}

impl Share {
    pub(crate) fn of<'a>(rows: impl IntoIterator<Item = &'a OutlineRow>) -> Self {
        rows.into_iter().fold(Self::default(), |share, row| Self {
            done: share.done + usize::from(row.done),
            total: share.total + 1,
        })
    }

    pub(crate) fn open(self) -> usize {
        self.total - self.done
    }
}

impl Outline {
    pub(crate) fn rows(&self) -> &[OutlineRow] {
        &self.rows
    }

    /// Whether the rows differ from what was known.
    pub(crate) fn replace(&mut self, rows: &[OutlineRow]) -> bool {
        let differs = self.rows != rows;
        if differs {
            self.rows = rows.to_vec();
        }
        differs
    }

    pub(crate) fn apply(&mut self, event: &Event) {
        if let Event::TaskDone { task, .. } = event {
            let row = self.rows.iter_mut().find(|row| row.key == *task);
            if let Some(row) = row {
                row.done = true;
            }
        }
    }

    pub(crate) fn position(&self, task: &TaskKey) -> Option<usize> {
        self.rows.iter().position(|row| row.key == *task)
    }

    /// The originals that have to be done.
    pub(crate) fn originals(&self, include_optional: bool) -> Share {
        let is_required = |row: &&OutlineRow| include_optional || !row.optional;
        let originals = self.rows.iter().filter(|row| row.is_original());
        Share::of(originals.filter(is_required))
    }

    pub(crate) fn fixes(&self) -> Share {
        Share::of(self.rows.iter().filter(|row| !row.is_original()))
    }
}
