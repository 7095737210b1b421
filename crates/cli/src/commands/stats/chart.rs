//! Plots made of characters.

use regreen_reporters::{fit, text_width};

const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// Draws one character per value, its height relative to the largest.
pub(super) fn sparkline(values: &[u64]) -> String {
    let most = values.iter().copied().max().unwrap_or(0).max(1);
    let level = |value: &u64| match *value {
        0 => ' ',
        value => {
            let last = LEVELS.len() as u64 - 1;
            let at = usize::try_from(value * last / most).unwrap_or(0);
            LEVELS.get(at).copied().unwrap_or('█')
        }
    };
    values.iter().map(level).collect()
}

/// Draws a bar as long as the value's part of the largest, and fills it up to `columns`.
pub(super) fn bar(value: u64, most: u64, columns: usize) -> String {
    let eighths = value.saturating_mul(columns as u64 * 8) / most.max(1);
    let eighths = usize::try_from(eighths).unwrap_or(0).min(columns * 8);
    let mut bar = "█".repeat(eighths / 8);
    if let Some(part) = EIGHTHS.get(eighths % 8).filter(|part| **part != ' ') {
        bar.push(*part);
    }
    if value > 0 && bar.is_empty() {
        bar.push('▏');
    }
    padded(&bar, columns)
}

/// Cuts or fills a text to this many columns.
pub(super) fn padded(text: &str, columns: usize) -> String {
    let text = fit(text, columns);
    let missing = columns.saturating_sub(text_width(&text));
    format!("{text}{}", " ".repeat(missing))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sparkline_shows_zero_as_nothing_and_the_largest_as_full() {
        assert_eq!(sparkline(&[0, 1, 4, 8]), " ▁▄█");
        assert_eq!(sparkline(&[0, 0]), "  ");
        assert_eq!(sparkline(&[]), "");
    }

    #[test]
    fn a_bar_has_its_length_in_eighths_and_is_never_invisible() {
        assert_eq!(bar(8, 8, 4), "████");
        assert_eq!(bar(4, 8, 4), "██  ");
        assert_eq!(bar(5, 8, 4), "██▌ ");
        assert_eq!(bar(1, 1000, 4), "▏   ");
        assert_eq!(bar(0, 8, 4), "    ");
        assert_eq!(bar(9, 8, 4), "████");
    }

    #[test]
    fn a_text_is_cut_or_filled_to_its_column() {
        assert_eq!(padded("ab", 4), "ab  ");
        assert_eq!(text_width(&padded("日本語日本語", 5)), 5);
    }
}
