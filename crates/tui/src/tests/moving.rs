use regreen_model::{OutlineKind, Timestamp};
use regreen_overview::RunState;

use super::machine::{TestMachine, billing, details, key, login, row, run_key, summary};
use super::*;

#[test]
fn it_begins_with_all_runs_and_goes_to_the_tasks_the_attempts_and_the_text() {
    let mut ui = Ui::new();
    assert_eq!(ui.state.focus, Panel::Runs);
    ui.shows("login 1/4").shows("billing 0/1");
    ui.press("<enter>");
    assert_eq!(
        (ui.state.focus, ui.selected().as_str()),
        (Panel::Tasks, "1.2.1")
    );
    ui.press("k<enter>");
    assert_eq!(ui.state.focus, Panel::Attempts);
    ui.shows("3 Attempts at 1.2 (2)");
    ui.press("<enter>");
    assert_eq!(ui.state.focus, Panel::Text);
    ui.press("<esc>");
    assert_eq!(ui.state.focus, Panel::Attempts);
    ui.press("<esc><esc><esc>");
    assert_eq!(ui.state.focus, Panel::Runs);
}

#[test]
fn every_way_to_move_between_panels() {
    let mut ui = Ui::new();
    for (keys, panel) in [
        ("l", Panel::Tasks),
        ("<right>", Panel::Attempts),
        ("<tab>", Panel::Text),
        ("<tab>", Panel::Text),
        ("h", Panel::Attempts),
        ("<left>", Panel::Tasks),
        ("<backtab>", Panel::Runs),
        ("h", Panel::Runs),
        ("4", Panel::Text),
        ("3", Panel::Attempts),
        ("2", Panel::Tasks),
        ("1", Panel::Runs),
    ] {
        ui.press(keys);
        assert_eq!(ui.state.focus, panel, "{keys}");
    }
}

#[test]
fn every_way_to_move_in_a_list() {
    let mut ui = Ui::new();
    ui.press("2");
    for (keys, id) in [
        ("g", "1.1"),
        ("j", "1.2"),
        ("<down>", "1.2.1"),
        ("k", "1.2"),
        ("<up>", "1.1"),
        ("G", "1.4"),
        ("<lt>", "1.1"),
        (">", "1.4"),
        ("<home>", "1.1"),
        ("<end>", "1.4"),
        ("<pgup>", "1.1"),
        (".", "1.4"),
        (",", "1.1"),
        ("<pgdn>", "1.4"),
        ("<c-u>", "1.1"),
        ("<c-d>", "1.4"),
        ("c", "1.2.1"),
    ] {
        ui.press(keys);
        assert_eq!(ui.selected(), id, "{keys}");
    }
}

#[test]
fn another_run_is_shown_as_soon_as_it_is_selected() {
    let mut ui = Ui::new();
    ui.press("j").shows("2.1 Import invoices").hides("1.4 Send");
    ui.press("k").shows("1.4 Send");
}

#[test]
fn a_list_is_filtered_by_words_and_by_state() {
    let mut ui = Ui::new();
    ui.press("2/mail")
        .shows("1.4 Send")
        .hides("1.3 Show")
        .shows("(1 of 5)");
    assert_eq!(ui.selected(), "1.4");
    // The words stay until someone takes them back, and letters are letters meanwhile.
    ui.press("<enter>").shows("/mail");
    ui.press("<esc>").shows("1.3 Show");
    assert_eq!(ui.selected(), "1.4");
    ui.press("v").shows("Open").hides("1.1 Add");
    ui.press("v")
        .shows("Failed")
        .hides("1.4 Send")
        .shows("1.2 Validate");
    ui.press("<esc>").shows("1.1 Add");
    ui.press("1/bill<enter>")
        .hides("login 1/4")
        .shows("2.1 Import");
    ui.press("<esc>").shows("login 1/4");
    ui.press("/nothing<esc>").shows("login 1/4");
}

#[test]
fn the_current_task_is_shown_even_if_a_filter_hides_it() {
    let mut ui = Ui::new();
    ui.press("2/mail<enter>c");
    assert_eq!(ui.selected(), "1.2.1");
}

#[test]
fn following_selects_what_the_run_turns_to_until_someone_moves() {
    let mut ui = Ui::of(TestMachine::default(), WIDE, Some(run_key("login")));
    assert_eq!(ui.selected(), "1.2.1");
    let mut next = login();
    next.summary.current = Some(key("1.4", "Send a mail to confirm the address"));
    ui.machine.runs.lock().unwrap()[0] = next;
    let now = ui.machine.now();
    ui.event(Event::Changed(now));
    assert_eq!(ui.selected(), "1.4");
    ui.press("k");
    ui.machine.runs.lock().unwrap()[0] = login();
    ui.event(Event::Changed(now));
    assert_eq!(ui.selected(), "1.3");
    ui.press("f").shows("following");
    assert_eq!(ui.selected(), "1.2.1");
}

#[test]
fn a_task_stays_selected_when_the_plan_changes() {
    let mut ui = Ui::new();
    ui.press("2G");
    let mut run = login();
    let rows = Arc::make_mut(&mut run.rows);
    rows.insert(0, row(key("0.1", "New"), 0, OutlineKind::Task, false));
    ui.machine.runs.lock().unwrap()[0] = run;
    ui.event(Event::Changed(Timestamp::from_millis(START)));
    assert_eq!(ui.selected(), "1.4");
}

#[test]
fn attach_shows_only_its_run() {
    let ui = Ui::of(TestMachine::default(), WIDE, Some(run_key("billing")));
    ui.shows("2.1 Import").hides("login");
    assert_eq!(ui.state.focus, Panel::Tasks);
}

#[test]
fn a_newer_run_takes_the_place_of_the_one_that_was_the_newest() {
    let mut ui = Ui::new();
    let mut newer = login();
    newer.summary.key.run = "newer".to_owned();
    ui.machine.runs.lock().unwrap()[0] = newer;
    ui.event(Event::Changed(Timestamp::from_millis(START)));
    assert_eq!(ui.state.run_key.as_ref().unwrap().run, "newer");
    // An earlier run that someone chose stays.
    ui.press("je<enter>");
    assert_eq!(ui.state.run_key.as_ref().unwrap().run, "older");
    ui.event(Event::Changed(Timestamp::from_millis(START)));
    assert_eq!(ui.state.run_key.as_ref().unwrap().run, "older");
}

#[test]
fn a_machine_without_runs_says_how_to_start_one() {
    let mut ui = Ui::of(TestMachine::with(Vec::new()), WIDE, None);
    ui.shows("`regreen run` starts one");
    ui.press("2j3j4j<enter>[]bacfrsdSevwHLn/x<enter>?<esc>");
}

#[test]
fn a_run_that_is_gone_is_no_longer_shown() {
    let mut ui = Ui::new();
    ui.machine.runs.lock().unwrap().clear();
    ui.event(Event::Changed(Timestamp::from_millis(START)));
    ui.hides("1.4 Send").shows("`regreen run` starts one");
}

#[test]
fn a_run_that_was_killed_says_how_to_go_on() {
    let mut run = login();
    run.summary.state = RunState::Killed;
    run.summary.process = None;
    let ui = Ui::of(TestMachine::with(vec![run]), WIDE, None);
    ui.shows("killed; `regreen run` resumes it");
}

#[test]
fn keys_work_among_ten_thousand_tasks() {
    let rows = (1..=10_000).map(|n| {
        let key = key(&format!("1.{n}"), "Task of many");
        row(key, 0, OutlineKind::Task, false)
    });
    let run = details(summary("many", RunState::Stopped), &[], rows.collect());
    let mut ui = Ui::of(TestMachine::with(vec![run]), WIDE, None);
    ui.press("2G").shows("1.10000 Task");
    ui.press("<pgup>").shows("1.9987 Task");
    ui.press("/1.777 <enter>")
        .shows("1.777 Task")
        .shows("(1 of 10000)");
    ui.press("<esc>").shows("(10000 of 10000)");
    assert_eq!(ui.selected(), "1.777");
}

#[test]
fn the_help_has_every_key_and_scrolls() {
    let mut ui = Ui::of(
        TestMachine::default(),
        Size {
            columns: 120,
            rows: 60,
        },
        None,
    );
    ui.press("?");
    let screen = ui.screen();
    for binding in crate::bindings::BINDINGS {
        assert!(screen.contains(binding.words), "{}", binding.words);
    }
    let small = Size {
        columns: 80,
        rows: 12,
    };
    ui.event(Event::Resized(small));
    ui.hides("previous match");
    ui.press("<pgdn><pgdn><pgdn><pgdn><pgdn><pgdn>jjjj");
    ui.shows("previous match");
    ui.press("<esc>").hides("previous match");
}

#[test]
fn it_ends_with_q_with_ctrl_c_and_when_asked_to() {
    for key in ["q", "<c-c>"] {
        let mut ui = Ui::new();
        assert!(ui.press(key).quits, "{key}");
    }
    let mut ui = Ui::new();
    ui.event(Event::Quit);
    assert!(ui.quits);
    // In a dialog, they only close it.
    let mut ui = Ui::new();
    assert!(!ui.press("?q").quits);
    let billing = TestMachine::with(vec![billing()]);
    assert!(!Ui::of(billing, WIDE, None).press("a<c-c>").quits);
}
