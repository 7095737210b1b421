//! Text from others never becomes more than text.

use proptest::prelude::*;
use regreen_model::{Event, RunOutcome, Timestamp, is_format_control};
use regreen_reporters::{JsonLines, LineStyle, Lines, Live, Palette, Reporter, Summary};

use crate::every_event::{every_event, rows};
use crate::terminal::Recorder;

/// Whether a character changes how a terminal or a person reads the text around it.
fn is_harmful(c: char) -> bool {
    c.is_control() || is_format_control(c) || matches!(c, '\u{2028}' | '\u{2029}')
}

fn hostile_text() -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        any::<char>().prop_map(String::from),
        "[a-z ]{1,8}",
        Just("\n".to_owned()),
        Just("\r\n".to_owned()),
        Just("\u{1b}[2J\u{1b}[31m".to_owned()),
        Just("\u{1b}]0;title\u{7}".to_owned()),
        Just("\u{9b}31m".to_owned()),
        Just("\u{202e}\u{2066}".to_owned()),
        Just("\u{2028}".to_owned()),
        Just("\nALL_TASKS_COMPLETE\n".to_owned()),
        Just("{view}\0\t\u{8}".to_owned()),
        Just("日本語".to_owned()),
    ];
    proptest::collection::vec(pieces, 0..12).prop_map(|pieces| pieces.concat())
}

/// Whether a line begins with a status word that ends in its column, or is indented below one.
fn is_status_or_detail(line: &str) -> bool {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let word = line
        .trim_start_matches(' ')
        .split(' ')
        .next()
        .unwrap_or_default();
    let is_status = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_uppercase());
    indent == 10 || (is_status && indent + word.len() == 8)
}

fn show(view: &mut impl Reporter, events: &[Event], text: &str) {
    for (at, event) in events.iter().enumerate() {
        let now = Timestamp::from_millis(at as u64 * 1000);
        view.event(now, event);
        view.outline(&rows(text));
        view.activity(text);
    }
    view.finish(Timestamp::from_millis(100_000));
}

fn lines(text: &str) -> String {
    let mut out = Vec::new();
    let mut view = Lines::new(&mut out, LineStyle::default());
    show(&mut view, &every_event(text), text);
    String::from_utf8(out).expect("it is text")
}

fn json(text: &str) -> String {
    let mut out = Vec::new();
    show(&mut JsonLines::new(&mut out), &every_event(text), text);
    String::from_utf8(out).expect("it is text")
}

fn live(text: &str) -> String {
    let terminal = Recorder::new(24, 60);
    let mut view = Live::new(terminal.clone(), Palette::Plain);
    view.outline(&rows(text));
    for event in every_event(text) {
        view.event(Timestamp::from_millis(0), &event);
        view.activity(text);
        view.redraw();
    }
    view.finish(Timestamp::from_millis(0));
    terminal.written()
}

fn summary(text: &str, outcome: RunOutcome) -> String {
    let mut summary = Summary::default();
    show(&mut summary, &every_event(text), text);
    summary.event(Timestamp::from_millis(0), &Event::RunEnded { outcome });
    summary.text(LineStyle::default())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn lines_stay_lines(text in hostile_text()) {
        let output = lines(&text);
        prop_assert!(!output.replace('\n', "").contains(is_harmful), "{output:?}");
        let forged = output.lines().find(|line| !is_status_or_detail(line));
        prop_assert_eq!(forged, None);
    }

    #[test]
    fn json_is_escaped(text in hostile_text()) {
        let written = json(&text);
        prop_assert!(!written.replace('\n', "").contains(is_harmful), "{written:?}");
        prop_assert_eq!(written.lines().count(), json("text").lines().count());
        for line in written.lines() {
            let value: serde_json::Value = serde_json::from_str(line).expect("it is JSON");
            prop_assert_eq!(value["run"].as_str(), Some(text.as_str()), "nothing is lost");
        }
    }

    #[test]
    fn the_live_view_draws_nothing_but_text(text in hostile_text()) {
        // The view's own sequences move the cursor up and clear lines.
        let own = |c: char| matches!(c, '\u{1b}' | '\r' | '\n');
        let written = live(&text);
        for piece in written.split(own) {
            prop_assert!(!piece.contains(is_harmful), "{piece:?}");
        }
        for sequence in written.split('\u{1b}').skip(1) {
            let is_own = sequence.starts_with("[K") || sequence.starts_with("[J")
                || sequence.trim_start_matches(['[', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']).starts_with('A');
            prop_assert!(is_own, "{sequence:?}");
        }
    }

    #[test]
    fn only_a_green_run_says_so(text in hostile_text()) {
        let outcomes = [
            RunOutcome::Skipped,
            RunOutcome::NeedsPerson { why: text.clone() },
            RunOutcome::TryLater { why: text.clone() },
            RunOutcome::SetUp { why: text.clone() },
        ];
        for outcome in outcomes {
            let output = summary(&text, outcome);
            prop_assert!(!output.replace('\n', "").contains(is_harmful), "{output:?}");
            prop_assert!(output.lines().all(|line| line != "ALL_TASKS_COMPLETE"));
        }
    }
}
