//! Whole screens, stored as text in `screens/`. `SNAPSHOTS=overwrite` rewrites them.

use std::fs;
use std::path::Path;

use ratatui::style::Color;
use snapbox::IntoData as _;
use snapbox::data::DataFormat;

use super::machine::{TestMachine, billing, login};
use super::*;

#[track_caller]
fn check(name: &str, ui: &Ui) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/screens");
    let stored = folder.join(format!("{name}.txt"));
    let stored = snapbox::Data::read_from(&stored, Some(DataFormat::Text));
    snapbox::assert_data_eq!(ui.screen().into_data().raw(), stored.raw());
}

const SMALL: Size = Size {
    columns: 60,
    rows: 16,
};

/// `UPDATE_DOCS=1` writes the screen into the page.
#[test]
fn the_screen_in_the_guide_is_real() {
    const BEFORE: &str = "what they left:\n\n```text\n";
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/watching.md");
    let size = Size {
        columns: 110,
        rows: 22,
    };
    let mut ui = Ui::of(TestMachine::default(), size, None);
    ui.press("2gj3");
    let text = fs::read_to_string(&page).unwrap();
    let (before, rest) = text.split_once(BEFORE).unwrap();
    let (_, after) = rest.split_once("```\n").unwrap();
    let real = format!("{before}{BEFORE}{}```\n{after}", ui.screen());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&page, &real).unwrap();
    }
    assert!(
        text == real || std::env::var_os("UPDATE_DOCS").is_some(),
        "{}",
        ui.screen()
    );
}

#[test]
fn all_runs() {
    check("runs", &Ui::new());
    let ui = Ui::of(TestMachine::default(), SMALL, None);
    check("runs-60", &ui);
}

#[test]
fn a_failure_with_its_blamed_line() {
    let mut ui = Ui::new();
    ui.press("2gj3");
    check("blamed", &ui);
    ui.event(Event::Resized(SMALL));
    ui.press("b");
    check("blamed-60", &ui);
}

#[test]
fn a_task_and_the_evidence() {
    let mut ui = Ui::new();
    ui.press("2gj");
    check("task", &ui);
    ui.press("3[[");
    check("evidence", &ui);
}

#[test]
fn a_question() {
    let machine = TestMachine::with(vec![billing(), login()]);
    let mut ui = Ui::of(machine, WIDE, None);
    ui.press("a");
    check("question", &ui);
    ui.press("<esc>d");
    check("confirm", &ui);
}

#[test]
fn without_colors_there_are_none() {
    let mut ui = Ui::new();
    for keys in ["", "2", "3", "4", "?"] {
        ui.press(keys);
        let frame = view(&ui.state, Theme::Plain);
        for cell in frame.buffer.content() {
            assert_eq!((cell.fg, cell.bg), (Color::Reset, Color::Reset));
        }
    }
    let coloured = view(&ui.state, Theme::Coloured);
    assert!(
        coloured
            .buffer
            .content()
            .iter()
            .any(|cell| cell.fg != Color::Reset)
    );
}

#[test]
fn every_size_has_a_screen() {
    let mut ui = Ui::new();
    for columns in [0, 1, 2, 5, 20, 34, 60, 89, 90, 120, 150, 400] {
        for rows in [0, 1, 2, 3, 5, 10, 17, 18, 40, 100] {
            ui.event(Event::Resized(Size { columns, rows }));
            for keys in ["1", "2", "3", "4", "?", "<esc>", "S", "<esc>", "/", "<esc>"] {
                ui.press(keys);
                ui.screen();
            }
        }
    }
}
