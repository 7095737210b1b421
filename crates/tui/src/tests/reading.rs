use regreen_overview::AttemptText;

use super::machine::{BLAMED, TestMachine, login, run_key};
use super::*;
use crate::document::{Anchor, Tab};

/// The interface at the second attempt at 1.2, which failed.
fn at_failure() -> Ui {
    let mut ui = Ui::new();
    ui.press("2gj3");
    ui
}

#[test]
fn a_failed_attempt_opens_the_text_with_the_blamed_line_which_is_marked() {
    let ui = at_failure();
    ui.shows("[Verify]").shows(&format!("▶ 8 {BLAMED}"));
}

#[test]
fn the_blamed_line_is_two_keys_away_from_a_task() {
    let mut ui = Ui::new();
    ui.press("2gjb").shows(&format!("▶ 8 {BLAMED}"));
    assert_eq!(ui.state.focus, Panel::Text);
    ui.press("2jjb").shows("no attempt at this task has failed");
}

#[test]
fn all_texts_of_an_attempt_are_one_key_apart() {
    let mut ui = at_failure();
    for (keys, tab, words) in [
        ("]", "[Diff]", "+    return ''"),
        ("]", "[Prompt]", "You are working on a task."),
        ("]", "[Evidence]", "92% sure · rule pytest.assertion"),
        ("]", "[Log]", "edited form.py"),
        ("[", "[Evidence]", "may help: Run the test alone"),
        ("[[", "[Diff]", "diff --git"),
        ("[", "[Verify]", BLAMED),
    ] {
        ui.press(keys).shows(tab).shows(words);
    }
    // The choice holds for other attempts.
    ui.press("]").shows("[Diff]");
    ui.press("j").shows("[Diff]").shows("return ''");
}

#[test]
fn a_text_that_does_not_exist_is_said_to_be_missing() {
    let mut ui = Ui::new();
    ui.press("2g3]").shows("[Verify]").shows("there is none");
}

fn long_log() -> String {
    (1..=5000).map(|n| format!("line {n} of many\n")).collect()
}

/// The interface in the log of the attempt that goes on.
fn in_log(log: &str) -> Ui {
    let machine = TestMachine::default();
    log.clone_into(&mut machine.log.lock().unwrap());
    let mut ui = Ui::of(machine, WIDE, None);
    ui.press("2c34");
    ui
}

#[test]
fn every_way_to_scroll_a_text_also_beyond_what_was_read() {
    let mut ui = in_log(&long_log());
    ui.shows("line 5000 of many").shows("5000 lines");
    ui.press("g").shows(" 1 line 1 of many");
    assert_eq!(ui.state.document.anchor, Anchor::Line(1));
    ui.press("jj").hides("line 2 of").shows("line 3 of");
    ui.press("k").shows("line 2 of");
    for _ in 0..60 {
        ui.press("<pgdn>");
    }
    let Anchor::Line(top) = ui.state.document.anchor else {
        panic!("it is at the end")
    };
    assert!(top > 1400, "{top}");
    ui.shows(&format!(" {top} line {top} of many"));
    for _ in 0..40 {
        ui.press(",");
    }
    let Anchor::Line(top) = ui.state.document.anchor else {
        panic!("it is at the end")
    };
    ui.shows(&format!(" {top} line {top} of many"));
    ui.press("G").shows("line 5000 of many");
    ui.press("k")
        .hides("line 5000 of many")
        .shows("line 4999 of many");
}

#[test]
fn a_text_is_searched_beyond_what_was_read_and_in_both_directions() {
    let mut ui = in_log(&long_log());
    ui.press("g/LINE 30<enter>").shows("line 30 of many");
    ui.press("n").shows("line 300 of many");
    ui.press("n").shows("line 301 of");
    for _ in 0..9 {
        ui.press("n");
    }
    ui.shows("line 3000 of many");
    ui.press("NN").shows("line 308 of many");
    ui.press("/of many<enter>N").shows("line 307 of");
    ui.press("/elsewhere<enter>").shows("has `elsewhere`");
    ui.press("G/line 5000<enter>n").shows("no line below has");
}

#[test]
fn the_log_of_the_current_attempt_grows_on_the_screen_until_someone_scrolls_up() {
    let mut ui = in_log("one\n");
    let add = |ui: &mut Ui, line: &str| {
        ui.machine.log.lock().unwrap().push_str(line);
        let now = ui.machine.now();
        ui.event(Event::Changed(now));
    };
    add(&mut ui, "two\n");
    ui.shows("two");
    let many: String = (0..100).map(|n| format!("more {n}\n")).collect();
    add(&mut ui, &many);
    ui.shows("more 99");
    ui.press("kkk").hides("more 99");
    add(&mut ui, "the end\n");
    ui.hides("the end");
    ui.press("G").shows("the end");
}

#[test]
fn what_cannot_have_changed_is_not_read_again() {
    let mut ui = at_failure();
    let read = || *ui.machine.texts_read.lock().unwrap();
    let before = read();
    let machine = Arc::clone(&ui.machine);
    for _ in 0..5 {
        ui.event(Event::Changed(machine.now()));
    }
    assert_eq!(*machine.texts_read.lock().unwrap(), before);
}

#[test]
fn long_lines_are_wrapped_or_scrolled() {
    let log = format!("{}END\n", "0123456789".repeat(12));
    let mut ui = in_log(&log);
    ui.shows("END");
    ui.press("w").hides("END");
    ui.press("LLLLL").shows("END");
    ui.press("HHHHH").hides("END");
    ui.press("w").shows("END");
}

#[test]
fn answers_for_another_attempt_are_dropped() {
    let mut ui = at_failure();
    let request = ui
        .state
        .document
        .request(regreen_overview::PageStart::End, None)
        .unwrap();
    ui.press("2c3");
    let page = regreen_overview::LogPage::default();
    let answer = crate::event::TextAnswer {
        text: AttemptText::Log,
        page: Ok(page),
    };
    let before = ui.screen();
    ui.event(Event::Text(request, answer));
    assert_eq!(ui.screen(), before);
}

#[test]
fn the_text_is_about_what_is_selected() {
    let mut ui = Ui::new();
    ui.shows("~/project").shows("What failed (1)");
    ui.press("2gj")
        .shows("Fixes")
        .shows("1.2.1 Fix: expected")
        .shows("because:");
    ui.press("j").shows("fixes 1.2 Validate input");
    assert_eq!(ui.state.document.tab(), Tab::Text(AttemptText::Log));
    let mut run = login();
    run.summary.key = run_key("other");
    ui.press("1").shows("What failed (1)");
}
