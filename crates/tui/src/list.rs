//! A list with a selected row.

/// Which row of a list is selected, and which is the first one on the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Selection {
    pub(crate) at: usize,
}

impl Selection {
    /// Selects a row this many rows further down, or up.
    pub(crate) fn step(&mut self, by: isize, length: usize) {
        self.at = self.at.saturating_add_signed(by);
        self.clamp(length);
    }

    pub(crate) fn clamp(&mut self, length: usize) {
        self.at = self.at.min(length.saturating_sub(1));
    }

    /// Returns the first row to show in so many rows: the selected one is in the middle, as far as
    /// the list goes on in both directions.
    pub(crate) fn top(self, length: usize, rows: usize) -> usize {
        let last_top = length.saturating_sub(rows);
        self.at.saturating_sub(rows / 2).min(last_top)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_selected_row_is_always_shown() {
        for length in 0..20 {
            for rows in 1..10 {
                for at in 0..length {
                    let top = Selection { at }.top(length, rows);
                    assert!(
                        (top..top + rows).contains(&at),
                        "{at} of {length} in {rows}"
                    );
                    assert!(
                        top == 0 || top + rows <= length,
                        "{at} of {length} in {rows}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_step_ends_at_the_ends() {
        let mut selection = Selection { at: 1 };
        selection.step(-5, 3);
        assert_eq!(selection.at, 0);
        selection.step(5, 3);
        assert_eq!(selection.at, 2);
        selection.step(1, 0);
        assert_eq!(selection.at, 0);
    }
}
