use std::ops::Range;

/// With less room than this for a row and what is cut above and below it, nothing is shown.
const LEAST_ROOM: usize = 3;

/// Which of `rows` rows to show in `room` lines, so that `current` is among them. What is
/// cut at an end takes a line of its own there.
pub(super) fn window(rows: usize, current: usize, room: usize) -> Range<usize> {
    if rows <= room {
        return 0..rows;
    }
    if room < LEAST_ROOM {
        return 0..0;
    }
    let inner = room - 2;
    // More of what is to come than of what is over.
    let start = current.min(rows - 1).saturating_sub(inner / 3);
    match start.min(rows - inner) {
        // Where nothing is cut, the line for it is free.
        0 | 1 => 0..room - 1,
        start if start + inner + 1 >= rows => rows - (room - 1)..rows,
        start => start..start + inner,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_window_moves_with_the_current_row() {
        assert_eq!(window(5, 0, 5), 0..5);
        assert_eq!(window(20, 0, 8), 0..7);
        assert_eq!(window(20, 2, 8), 0..7);
        assert_eq!(window(20, 9, 8), 7..13);
        assert_eq!(window(20, 19, 8), 13..20);
        assert_eq!(window(20, 9, 2), 0..0);
    }

    proptest! {
        #[test]
        fn it_fits_and_has_the_current_row(rows in 1_usize..60, current in 0_usize..60, room in 3_usize..40) {
            let current = current % rows;
            let shown = window(rows, current, room);
            let cuts = usize::from(shown.start > 0) + usize::from(shown.end < rows);
            prop_assert!(shown.len() + cuts <= room);
            prop_assert!(shown.end <= rows);
            prop_assert!(shown.contains(&current));
            prop_assert!(shown.len() + cuts == rows.min(room), "no line is left empty");
        }
    }
}
