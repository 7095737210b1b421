//! Where the panels are.

use ratatui::layout::Rect;

use crate::event::Size;
use crate::state::Panel;

/// With fewer columns or rows, one panel fills the screen.
const WIDE: u16 = 90;
const HIGH: u16 = 18;
/// The lists side by side with the text are between this wide.
const LISTS: (u16, u16) = (38, 64);
/// The rows of a list that isn't in use, with its border.
const SMALL: u16 = 6;

/// The places of all parts of the screen. A panel that isn't shown has no rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) head: Rect,
    pub(crate) runs: Rect,
    pub(crate) tasks: Rect,
    pub(crate) attempts: Rect,
    pub(crate) text: Rect,
    pub(crate) foot: Rect,
}

impl Layout {
    pub(crate) fn new(size: Size, focus: Panel) -> Self {
        let screen = Rect::new(0, 0, size.columns, size.rows);
        let head = Rect {
            height: 1,
            ..screen
        }
        .intersection(screen);
        let foot = Rect::new(0, size.rows.saturating_sub(1), size.columns, 1).intersection(screen);
        let body = Rect::new(0, 1, size.columns, size.rows.saturating_sub(2)).intersection(screen);
        let none = Rect { height: 0, ..body };
        let mut layout = Self {
            head,
            runs: none,
            tasks: none,
            attempts: none,
            text: none,
            foot,
        };
        if size.columns < WIDE || size.rows < HIGH {
            *layout.panel_mut(focus) = body;
            return layout;
        }
        let width = (size.columns * 2 / 5).clamp(LISTS.0, LISTS.1);
        let lists = Rect { width, ..body };
        layout.text = Rect {
            x: width,
            width: body.width - width,
            ..body
        };
        // The list in use has most of the rows, and the tasks have what the others leave.
        let large = lists.height.saturating_sub(2 * SMALL) / 2 + SMALL;
        let height = |panel: Panel| if focus == panel { large } else { SMALL };
        let runs = height(Panel::Runs);
        let attempts = height(Panel::Attempts);
        layout.runs = Rect {
            height: runs,
            ..lists
        };
        layout.attempts = Rect {
            y: lists.bottom() - attempts,
            height: attempts,
            ..lists
        };
        layout.tasks = Rect {
            y: layout.runs.bottom(),
            height: lists.height - runs - attempts,
            ..lists
        };
        layout
    }

    pub(crate) fn panel(&self, panel: Panel) -> Rect {
        match panel {
            Panel::Runs => self.runs,
            Panel::Tasks => self.tasks,
            Panel::Attempts => self.attempts,
            Panel::Text => self.text,
        }
    }

    fn panel_mut(&mut self, panel: Panel) -> &mut Rect {
        match panel {
            Panel::Runs => &mut self.runs,
            Panel::Tasks => &mut self.tasks,
            Panel::Attempts => &mut self.attempts,
            Panel::Text => &mut self.text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_part_overlaps_another_or_leaves_the_screen() {
        for columns in 0..160 {
            for rows in 0..60 {
                for focus in Panel::ALL {
                    let size = Size { columns, rows };
                    let layout = Layout::new(size, focus);
                    let screen = Rect::new(0, 0, columns, rows);
                    let mut parts = vec![layout.head, layout.foot];
                    parts.extend(Panel::ALL.map(|panel| layout.panel(panel)));
                    parts.retain(|part| part.area() > 0);
                    for (at, part) in parts.iter().enumerate() {
                        assert_eq!(part.intersection(screen), *part, "{size:?}");
                        let others = parts.iter().skip(at + 1);
                        let rows_apart =
                            others.filter(|other| rows > 1 && part.intersects(**other));
                        assert_eq!(rows_apart.count(), 0, "{size:?} {focus:?}");
                    }
                }
            }
        }
    }
}
