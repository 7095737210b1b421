//! `regreen tui`, and `regreen attach` on a terminal, driven with keys.

use std::time::{Duration, Instant};

use regreen_test_support::{TerminalSession, Workspace, send_signal};

use super::questions::asked;
use super::{go, patient};

/// Ends the use of the whole screen.
const LEAVE: &str = "\u{1b}[?1049l";
/// Begins a frame.
const FRAME: &str = "\u{1b}[?2026h";
const SIZE: (u16, u16) = (30, 120);

fn start<'w>(workspace: &'w Workspace, arguments: &[&str]) -> TerminalSession<'w> {
    let mut command = workspace.command(arguments);
    command.env("TERM", "xterm-256color").env_remove("NO_COLOR");
    workspace.terminal_session(command, SIZE)
}

#[track_caller]
fn shows(session: &TerminalSession<'_>, words: &str) -> String {
    session.shows(|screen| screen.contains(words))
}

fn frames(session: &TerminalSession<'_>) -> usize {
    session.shown().matches(FRAME).count()
}

/// Checks that the terminal is as the shell left it.
#[track_caller]
fn is_given_back(session: &TerminalSession<'_>) {
    let shown = session.shown();
    assert!(shown.contains(LEAVE), "{shown:?}");
    assert!(shown.contains("\u{1b}[?25h"), "the cursor is hidden");
    assert!(session.is_ordinary());
}

#[test]
fn a_run_is_watched_stopped_and_left_with_keys() {
    let workspace = patient();
    let run = workspace.start(&[], "working");
    let mut session = start(&workspace, &["tui"]);
    shows(&session, "1.1 First · attempt 1");
    session.types("23");
    // Its log.
    shows(&session, "at it");
    session.types("S");
    shows(&session, "Stop after the current task");
    session.types("\r");
    shows(&session, "stops after its current task");
    go(&workspace);
    run.wait().exits(143);
    shows(&session, "stopped; `regreen run` resumes it");
    shows(&session, "1/2");
    session.types("q");
    assert_eq!(session.ends().0, Some(0));
    is_given_back(&session);
}

#[test]
fn a_question_is_answered_with_the_code_of_the_command() {
    let workspace = asked();
    let mut session = start(&workspace, &["tui"]);
    shows(&session, "needs your decision");
    session.types("a");
    shows(
        &session,
        "5 skip   Leave the task out until `regreen retry`",
    );
    session.types("5");
    shows(&session, "skipping 1.1 from now on");
    session.types("q");
    session.ends();
    workspace
        .regreen(&["questions"])
        .exits(0)
        .prints("no open questions\n");
}

/// An agent must not decide for the person, whatever it presses.
#[test]
fn below_a_keeper_it_shows_but_decides_nothing() {
    let workspace = asked();
    let mut command = workspace.command(&["tui"]);
    command
        .env("TERM", "xterm-256color")
        .env("REGREEN_KEEPER", "1");
    let mut session = workspace.terminal_session(command, SIZE);
    shows(&session, "needs your decision");
    for keys in ["a1", "2sy", "2dy", "2ry"] {
        session.types(keys);
        shows(&session, "this decides for a person");
        session.types("1");
        session.shows(|screen| !screen.contains("this decides for a person"));
    }
    session.types("q");
    assert_eq!(session.ends().0, Some(0));
    workspace.regreen(&["questions"]).mentions("1.1 First");
}

#[test]
fn attach_opens_it_on_its_run_and_ends_like_the_run() {
    let workspace = patient();
    let run = workspace.start(&[], "working");
    let mut session = start(&workspace, &["attach"]);
    shows(&session, "following");
    shows(&session, "at it");
    session.types("q");
    let (code, shown) = session.ends();
    assert_eq!(code, Some(0));
    assert!(shown.contains("detached; the run continues"), "{shown}");
    is_given_back(&session);
    let mut session = start(&workspace, &["attach"]);
    shows(&session, "at it");
    go(&workspace);
    run.wait().exits(0);
    shows(&session, "done");
    session.types("q");
    let (code, shown) = session.ends();
    assert_eq!(code, Some(0));
    assert!(shown.contains("ALL_TASKS_COMPLETE"), "{shown}");
}

#[test]
fn a_signal_gives_the_terminal_back_and_leaves_the_run_alone() {
    let workspace = patient();
    let run = workspace.start(&[], "working");
    for signal in ["TERM", "INT", "HUP"] {
        let mut session = start(&workspace, &["tui"]);
        shows(&session, "1.1 First");
        session.signal(signal);
        assert_eq!(session.ends().0, Some(0), "{signal}");
        is_given_back(&session);
    }
    // Nothing can be given back then, but the run doesn't notice either.
    let mut session = start(&workspace, &["tui"]);
    shows(&session, "1.1 First");
    session.signal("KILL");
    session.ends();
    let mut session = start(&workspace, &["tui"]);
    shows(&session, "1.1 First");
    // Ctrl-C.
    session.types("\u{3}");
    assert_eq!(session.ends().0, Some(0));
    is_given_back(&session);
    go(&workspace);
    run.wait().exits(0);
}

#[test]
fn the_death_of_a_run_is_seen_within_two_seconds_with_how_to_go_on() {
    let workspace = patient();
    let run = workspace.start(&[], "working");
    let session = start(&workspace, &["tui"]);
    shows(&session, "1.1 First · attempt 1");
    let began = Instant::now();
    assert!(send_signal("KILL", run.pid()));
    // As a shell does; a process that nobody waits for stays.
    let _ = run.wait();
    shows(&session, "killed; `regreen run` resumes it");
    let took = began.elapsed();
    session.signal("TERM");
    // The promise is 2 s; other tests run beside this one.
    assert!(took < Duration::from_secs(10), "{took:?}");
    std::fs::write(workspace.note_path("go"), "").unwrap();
}

#[test]
fn nothing_is_drawn_when_nothing_changes_and_few_frames_when_much_does() {
    let workspace = patient();
    go(&workspace);
    workspace.run(&[]).exits(0);
    let mut session = start(&workspace, &["tui"]);
    shows(&session, "2/2");
    // What is read after the start.
    std::thread::sleep(Duration::from_secs(1));
    let before = session.bytes().len();
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(session.bytes().len(), before, "{}", session.shown());
    let (first, began) = (frames(&session), Instant::now());
    for _ in 0..300 {
        session.types("jk");
        std::thread::sleep(Duration::from_millis(2));
    }
    session.types("?");
    shows(&session, "Keys (esc closes)");
    let most = began.elapsed().as_secs_f64() * 30.0 + 2.0;
    let drawn = frames(&session) - first;
    assert!(
        drawn as f64 <= most,
        "{drawn} frames in {:?}",
        began.elapsed()
    );
    session.types("\u{1b}");
    session.shows(|screen| !screen.contains("Keys (esc closes)"));
    session.types("q");
    assert_eq!(session.ends().0, Some(0));
}

#[test]
fn a_resized_terminal_is_filled_anew() {
    let workspace = patient();
    let run = workspace.start(&[], "working");
    let mut session = start(&workspace, &["tui"]);
    shows(&session, "1.1 First · attempt 1");
    for columns in [120, 60, 34, 150] {
        session.resize((30, columns));
        // The kernel only sends it to the session whose terminal it is.
        session.signal("WINCH");
        // The names of folders are replaced with shorter ones.
        let is_kept =
            |line: &&str| line.ends_with(['╮', '┓', '╯', '┛', '│', '┃']) && !line.contains('[');
        let is_wide = |line: &str| line.chars().count() == usize::from(columns);
        let is_full = |screen: &str| {
            let borders: Vec<&str> = screen.lines().filter(is_kept).collect();
            borders.len() > 20 && borders.into_iter().all(is_wide) && screen.lines().count() == 30
        };
        let screen = session.shows(is_full);
        assert!(screen.contains("Runs (1)"), "{screen}");
    }
    session.types("q");
    assert_eq!(session.ends().0, Some(0));
    go(&workspace);
    run.wait().exits(0);
}

#[test]
fn ten_thousand_tasks_are_shown_and_searched() {
    let tasks: String = (1..=10_000)
        .map(|n| format!("- [ ] 1.{n} Task {n}\n"))
        .collect();
    let workspace = Workspace::with_tasks(&tasks).agent("*) exit 1 ;;");
    workspace.run(&["--max-task-iterations", "1"]);
    let mut session = start(&workspace, &["tui"]);
    shows(&session, "(10000 of 10000)");
    session.types("2G");
    shows(&session, "1.10000 Task 10000");
    session.types("/task 4711");
    shows(&session, "(1 of 10000)");
    session.types("\rq");
    assert_eq!(session.ends().0, Some(0));
}

#[test]
fn it_needs_a_terminal() {
    let workspace = patient();
    workspace
        .regreen(&["tui"])
        .exits(2)
        .mentions("needs a terminal")
        .mentions("`regreen ps`");
    let mut command = workspace.command(&["tui"]);
    command.env("TERM", "dumb");
    let mut session = workspace.terminal_session(command, SIZE);
    assert_eq!(session.ends().0, Some(2));
}

#[test]
fn without_colors_it_sends_none() {
    let workspace = patient();
    go(&workspace);
    workspace.run(&[]).exits(0);
    let mut command = workspace.command(&["tui"]);
    command.env("TERM", "xterm-256color").env("NO_COLOR", "1");
    let mut session = workspace.terminal_session(command, SIZE);
    shows(&session, "2/2");
    session.types("q");
    session.ends();
    let shown = session.shown();
    let is_color = |sequence: &&str| {
        let numbers = sequence.split_once('m').map_or("", |(numbers, _)| numbers);
        let codes = numbers
            .split(';')
            .filter_map(|code| code.parse::<u32>().ok());
        let is_sgr = numbers.chars().all(|c| c.is_ascii_digit() || c == ';');
        is_sgr
            && codes
                .into_iter()
                .any(|code| matches!(code, 30..=38 | 40..=48 | 90..=107))
    };
    let colors: Vec<&str> = shown.split("\u{1b}[").filter(is_color).collect();
    assert_eq!(colors, [""; 0]);
}

#[test]
fn hostile_titles_and_logs_stay_inside_of_their_panels() {
    let hostile = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}日本語\u{200b}";
    let workspace = Workspace::with_tasks(&format!(
        "- [ ] 1.1 First {hostile} end\n  - **Verify**: `false`\n"
    ))
    .agent(
        "*) printf '\\033[2J\\033]0;owned\\007\\033[?1049l in the log\\n'; echo TASK_COMPLETE ;;",
    );
    workspace.run(&["--max-task-iterations", "1"]);
    let mut session = start(&workspace, &["tui"]);
    shows(&session, "1.1 First");
    session.types("2");
    session.types("3");
    let screen = shows(&session, "in the log");
    assert!(screen.contains("2 Tasks (1 of 1)"), "{screen}");
    let shown = session.shown();
    assert!(!shown.contains("owned\u{7}"), "{shown:?}");
    assert!(
        !shown.contains('\u{202e}') && !shown.contains(LEAVE),
        "{shown:?}"
    );
    session.types("q");
    session.ends();
}
