//! Texts of agents can't break the screen.

use proptest::prelude::*;
use regreen_model::{Event as RunEvent, FailureRecord, OutlineKind};
use regreen_overview::RunState;
use regreen_reporters::text_width;

use super::machine::{TestMachine, details, key, row, summary};
use super::*;

const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}\u{2066}日本語 👩\u{200d}💻 e\u{301}\u{301}\u{301}\u{301}\u{301}\r\n\t\u{feff}\0end";

/// A run all of whose texts are this one.
fn run_saying(text: &str) -> TestMachine {
    let task = key("1.1", text);
    let events = vec![
        RunEvent::AttemptStarted {
            seq: 1,
            task: task.clone(),
            attempt: 1,
            prompt: regreen_model::PromptKind::First,
            timeout_ms: 1,
        },
        RunEvent::TaskFailed {
            task: task.clone(),
            attempt: 1,
            failure: FailureRecord::new(text),
            only_red: false,
        },
        RunEvent::PersonAsked {
            seq: 2,
            task: task.clone(),
            why: text.to_owned(),
            repair: None,
        },
        RunEvent::Warned {
            message: text.to_owned(),
        },
    ];
    let mut summary = summary("hostile", RunState::NeedsPerson);
    text.clone_into(&mut summary.spec);
    text.clone_into(&mut summary.workspace);
    let rows = vec![row(task, 0, OutlineKind::Task, false)];
    let machine = TestMachine::with(vec![details(summary, &events, rows)]);
    text.clone_into(&mut machine.log.lock().unwrap());
    machine
}

/// Checks every cell of a frame: one character of the width that it has, and nothing else.
#[track_caller]
fn check(ui: &Ui) {
    let frame = view(&ui.state, Theme::Coloured);
    for cell in frame.buffer.content() {
        let symbol = cell.symbol();
        let harmful = |c: char| c.is_control() || regreen_model::is_format_control(c);
        assert!(!symbol.contains(harmful), "{symbol:?}");
        assert!(text_width(symbol) <= 2, "{symbol:?}");
        assert!(symbol.chars().count() <= 4, "{symbol:?}");
    }
}

/// Everything that shows texts.
const TOUR: [&str; 9] = ["", "2", "3", "]", "]", "]", "4", "/x<enter>", "a"];

#[test]
fn no_text_leaves_its_cells() {
    for columns in [20, 60, 120] {
        let size = Size { columns, rows: 24 };
        let mut ui = Ui::of(run_saying(HOSTILE), size, None);
        for keys in TOUR {
            ui.press(keys);
            check(&ui);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_text_at_all_leaves_its_cells(text in "\\PC{0,40}|[\\x00-\\x1f\u{80}-\u{9f}\u{200b}-\u{206f}\u{300}-\u{310}あ👍a]{0,40}", columns in 0_u16..130, rows in 0_u16..40) {
        let mut ui = Ui::of(run_saying(&text), Size { columns, rows }, None);
        for keys in TOUR {
            ui.press(keys);
            check(&ui);
        }
    }
}
