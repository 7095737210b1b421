//! What is compared: on which lines a reader sees rows, and which of them are done.

use std::collections::BTreeMap;
use std::fmt;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RowSet {
    done_by_line: BTreeMap<usize, bool>,
}

impl RowSet {
    pub(super) fn has(&self, line: usize) -> bool {
        self.done_by_line.contains_key(&line)
    }

    pub(super) fn len(&self) -> usize {
        self.done_by_line.len()
    }
}

impl FromIterator<(usize, bool)> for RowSet {
    fn from_iter<T: IntoIterator<Item = (usize, bool)>>(rows: T) -> Self {
        Self {
            done_by_line: rows.into_iter().collect(),
        }
    }
}

/// `1[ ] 4[x]`
impl fmt::Display for RowSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.done_by_line.is_empty() {
            return f.write_str("none");
        }
        for (at, (line, done)) in self.done_by_line.iter().enumerate() {
            let space = if at == 0 { "" } else { " " };
            let mark = if *done { 'x' } else { ' ' };
            write!(f, "{space}{line}[{mark}]")?;
        }
        Ok(())
    }
}
