//! The live view of a real run on a terminal that is resized and typed into: no row of an earlier
//! drawing remains.

use std::fs;

use regreen_test_support::{OnResize, TerminalSession, Workspace};

const ROWS: u16 = 40;
const WIDTHS: [u16; 4] = [120, 60, 34, 150];

/// The agent describes its activity in one long line, and changes it on request.
const AGENT: &str = r#"1.1:1) touch "$notes/begun"
for step in 1 2 3 4 5 6 7 8 9; do
    until test -f "$notes/step-$step"; do sleep 0.02; done
    echo "step $step: reading every file of a project that has many files, one after the other, to the end"
    test -f "$notes/go" && break
done
echo TASK_COMPLETE ;;
*) echo TASK_COMPLETE ;;"#;

fn workspace() -> Workspace {
    let title = "Write a title that is far too long for any terminal that people have, and then some more of it";
    Workspace::with_tasks(&format!(
        "- [ ] 1.1 {title}\n  - **Verify**: `true`\n- [ ] 1.2 Short\n  - **Verify**: `true`\n"
    ))
    .agent(AGENT)
}

fn start(workspace: &Workspace, columns: u16) -> TerminalSession<'_> {
    let mut command = workspace.command(&["run", "demo", "--agent", &workspace.agent_flag()]);
    command.env("TERM", "xterm").env_remove("NO_COLOR");
    workspace.terminal_session(command, (ROWS, columns))
}

/// Makes the agent say something new, and waits until the view is drawn for this width: with every
/// part once, and everything fitting.
#[track_caller]
fn step(workspace: &Workspace, session: &TerminalSession<'_>, number: usize, columns: u16) {
    fs::write(workspace.note_path(&format!("step-{number}")), "").unwrap();
    let says_it = |screen: &str| columns < ROOM || screen.contains(&format!("step {number}"));
    session.shows(|screen| is_clean(screen, columns) && says_it(screen));
}

/// With fewer columns, the agent's words do not fit.
const ROOM: u16 = 50;

fn is_clean(screen: &str, columns: u16) -> bool {
    const PARTS: [&str; 5] = [
        "START",
        "○ 1.2 Short",
        "⠋ 1.1 Write",
        "⠋ 1.1 attempt 1/5",
        "0/2 done",
    ];
    let widest = screen.lines().map(|row| row.chars().count()).max();
    let has_once = |part: &&str| screen.matches(*part).count() == 1;
    PARTS.iter().all(has_once) && widest.is_some_and(|widest| widest < columns.into())
}

#[track_caller]
fn ends(workspace: &Workspace, mut session: TerminalSession<'_>, code: i32) -> String {
    let (ended, shown) = session.ends();
    assert_eq!(ended, Some(code), "{shown}");
    let screen = session.screen(OnResize::Rewrap);
    for text in ["START", "END"] {
        assert_eq!(screen.matches(text).count(), 1, "{screen}");
    }
    for left in ["○", "⠋", "done ·"] {
        assert!(!screen.contains(left), "{left}: {screen}");
    }
    assert!(workspace.has_note("begun"));
    screen
}

#[test]
fn a_run_on_a_terminal_that_is_resized_leaves_no_stale_row() {
    let workspace = workspace();
    let mut session = start(&workspace, WIDTHS[0]);
    for (columns, number) in WIDTHS.into_iter().zip(1..) {
        session.resize((ROWS, columns));
        step(&workspace, &session, number, columns);
        let cut = session.screen(OnResize::Cut);
        assert!(is_clean(&cut, columns), "{cut}");
    }
    fs::write(workspace.note_path("go"), "").unwrap();
    fs::write(workspace.note_path("step-5"), "").unwrap();
    ends(&workspace, session, 0);
}

#[test]
fn typing_leaves_no_stale_row() {
    let workspace = workspace();
    let mut session = start(&workspace, 80);
    step(&workspace, &session, 1, 80);
    session.types("\n\nhello\n\n");
    step(&workspace, &session, 2, 80);
    let screen = session.screen(OnResize::Rewrap);
    assert!(!screen.contains("hello"), "{screen}");
    // The terminal echoes Ctrl-C before it sends the signal.
    session.types("\u{3}");
    session.signal("INT");
    let screen = ends(&workspace, session, 130);
    assert!(screen.contains("STOP"), "{screen}");
    assert!(!screen.contains("^C"), "{screen}");
}
