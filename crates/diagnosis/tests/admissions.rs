//! Admissions of unfinished work versus sentences about finished work. The rules were written from
//! the odd lines of the two lists; the even ones show how the rules do on other sentences.
#![expect(clippy::cast_precision_loss, reason = "a few hundred sentences")]

use regreen_diagnosis::admission;

const ADMISSIONS: &str = include_str!("admissions.txt");
const HARMLESS: &str = include_str!("harmless.txt");

/// Returns precision and recall on every second line, starting from the first or the second.
fn figures(from: usize) -> (f64, f64) {
    let count = |text: &str| {
        let all: Vec<&str> = text.lines().skip(from).step_by(2).collect();
        let found = all.iter().filter(|line| admission(line).is_some());
        (found.count() as f64, all.len() as f64)
    };
    let ((right, all), (wrong, _)) = (count(ADMISSIONS), count(HARMLESS));
    (right / (right + wrong), right / all)
}

#[test]
fn most_admissions_are_found_and_few_other_sentences() {
    for from in [0, 1] {
        let (precision, recall) = figures(from);
        let figures = format!("from line {from}: precision {precision:.3}, recall {recall:.3}");
        assert!(precision >= 0.9 && recall >= 0.7, "{figures}");
    }
}
