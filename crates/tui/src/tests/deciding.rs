use regreen_model::{ChoiceKind, TaskKey};
use regreen_overview::{AnswerChoice, RunState};

use super::machine::{TestMachine, billing, key, login, run_key};
use super::*;

fn invoices() -> TaskKey {
    key("2.1", "Import invoices")
}

fn asked() -> Ui {
    Ui::of(TestMachine::with(vec![billing()]), WIDE, None)
}

/// The machine with the question, while its run waits for the answer.
fn waiting() -> Ui {
    let mut run = billing();
    run.summary.process = Some(4711);
    Ui::of(TestMachine::with(vec![run]), WIDE, None)
}

fn answer(choice: AnswerChoice, text: &str) -> (RunKey, Action) {
    let text = text.to_owned();
    let task = invoices();
    (run_key("billing"), Action::Answer { task, choice, text })
}

#[test]
fn a_question_shows_its_choices_with_their_effects() {
    let mut ui = asked();
    ui.press("a");
    for words in [
        "the agent could not split it",
        "1 retry",
        "Try the task again as it is",
        "context",
        "skip",
        "Mark the task as done without verifying it",
    ] {
        ui.shows(words);
    }
    // Nothing is proposed that could be repaired, and no run is there to stop.
    ui.hides("that it proposes")
        .hides("leave the question open");
    ui.press("<esc>").hides("Try the task again");
    assert_eq!(ui.done(), []);
}

#[test]
fn a_question_is_answered_with_the_cursor_or_the_number() {
    let mut ui = asked();
    ui.press("a<enter>").shows("done as you said");
    assert_eq!(ui.done(), [answer(AnswerChoice::Retry, "")]);
    let mut ui = asked();
    ui.press("ajj<enter>");
    ui.press("only the new format<enter>");
    assert_eq!(
        ui.done(),
        [answer(AnswerChoice::Context, "only the new format")]
    );
    let mut ui = waiting();
    ui.press("a7");
    assert_eq!(ui.done(), [answer(AnswerChoice::Stop, "")]);
}

#[test]
fn a_pasted_text_is_one_line_and_presses_no_keys() {
    let mut ui = asked();
    ui.press("ajj<enter>");
    ui.event(Event::Pasted("use\r\nISO dates\u{3}".to_owned()));
    assert_eq!(ui.done(), []);
    ui.press("<enter>");
    assert_eq!(ui.done().len(), 1);
    let mut ui = asked();
    ui.event(Event::Pasted("q\n".to_owned()));
    assert!(!ui.quits);
}

#[test]
fn done_needs_a_yes_everywhere() {
    let mut ui = asked();
    ui.press("a").press("5").shows("without verifying it?");
    assert_eq!(ui.done(), []);
    ui.press("n");
    assert_eq!(ui.done(), []);
    ui.press("d").shows("without verifying it?");
    ui.press("x");
    assert_eq!(ui.done(), []);
    ui.press("y");
    assert_eq!(ui.done(), [answer(AnswerChoice::Done, "")]);
}

#[test]
fn a_task_of_a_run_that_is_over_is_retried_skipped_or_marked_as_done() {
    for (key, what) in [
        ("r", ChoiceKind::Retry),
        ("s", ChoiceKind::Skip),
        ("d", ChoiceKind::Done),
    ] {
        let mut run = login();
        run.summary.state = RunState::Stopped;
        run.summary.process = None;
        let mut ui = Ui::of(TestMachine::with(vec![run]), WIDE, None);
        ui.press("2G").press(key).press("y");
        let task = machine::key("1.4", "Send a mail to confirm the address");
        let action = Action::Choose { task, what };
        assert_eq!(ui.done(), [(run_key("login"), action)], "{key}");
    }
}

#[test]
fn nothing_is_decided_about_a_task_while_a_run_is_at_work() {
    for key in ["r", "s", "d"] {
        let mut ui = Ui::new();
        ui.press("2G").press(key).shows("a run is at work here");
        ui.press("y");
        assert_eq!(ui.done(), [], "{key}");
    }
}

#[test]
fn a_run_is_stopped_now_or_after_its_task() {
    for (keys, action) in [("S<enter>", Action::StopAfterTask), ("S2", Action::Stop)] {
        let mut ui = Ui::new();
        ui.press(keys);
        assert_eq!(ui.done(), [(run_key("login"), action)]);
    }
    let mut ui = asked();
    ui.press("S").shows("no process is at work");
    let mut ui = Ui::new();
    ui.press("a").shows("this run asks nothing");
}

#[test]
fn a_refusal_is_shown_and_changes_nothing() {
    let machine = TestMachine {
        refuses: true,
        ..TestMachine::with(vec![billing()])
    };
    let mut ui = Ui::of(machine, WIDE, None);
    ui.press("a<enter>").shows("this decides for a person");
    assert_eq!(ui.done(), []);
    ui.press("j").hides("this decides for a person");
}

#[test]
fn an_action_is_about_the_run_that_was_asked_about_even_if_another_is_shown_by_then() {
    let mut ui = asked();
    ui.press("a");
    ui.machine.runs.lock().unwrap().insert(0, login());
    ui.state.run_key = Some(run_key("login"));
    ui.press("<enter>");
    assert_eq!(ui.done(), [answer(AnswerChoice::Retry, "")]);
}

/// Commands may print notes to the terminal.
#[test]
fn everything_is_drawn_anew_after_an_action() {
    let mut ui = asked();
    let before = ui.repaints;
    ui.press("a<enter>");
    assert_eq!(ui.repaints, before + 1);
    ui.press("R");
    assert_eq!(ui.repaints, before + 2);
}
