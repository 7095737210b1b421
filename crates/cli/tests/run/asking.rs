//! Questions that only a person can decide.

use std::fs;

use snapbox::IntoData as _;
use snapbox::str;

use regreen_test_support::TerminalSession;
use regreen_test_support::{STATE, TASKS, Workspace};

const GUIDE: &str = include_str!("../../../../docs/healing.md");
const SHELL: [&str; 3] = ["--agent", "shell", "--recovery-mode"];
const ASKED: &str = "What now? ";

/// The first task fails until a file `here` exists.
fn failing() -> Workspace {
    Workspace::with_tasks(
        "- [ ] 1.1 Look\n  - **Do**: `cat here`\n  - **Verify**: `cat here`\n- [ ] 1.2 Work\n  - **Do**: `touch made`\n",
    )
}

/// An agent that makes no progress within its time limit and does not split, until it is told where
/// to look.
fn stuck() -> Workspace {
    Workspace::with_tasks("- [ ] 1.1 Find it\n  - **Verify**: `test -f found`\n").agent(
        r#"*) case $prompt in *"under the rug"*) touch found; echo TASK_COMPLETE ;;
           *) sleep 120 ;; esac ;;"#,
    )
}

fn run_stuck<'s>(workspace: &'s Workspace, more: &[&str]) -> TerminalSession<'s> {
    let agent = workspace.agent_flag();
    let flags = ["--agent", &agent, "--recovery-mode", "--timeout=3s"];
    workspace.on_terminal(&[&flags, more].concat())
}

#[track_caller]
fn shows(ended: &(Option<i32>, String), expected: impl snapbox::IntoData) {
    let (code, shown) = ended;
    let all = format!("{shown}--- exit code {code:?}\n");
    snapbox::assert_data_eq!(all.into_data().raw(), expected.into_data().raw());
}

#[test]
fn stopping_names_the_next_commands_and_asks_again_next_time() {
    let workspace = failing();
    let mut run = workspace.on_terminal(&SHELL);
    shows(
        &run.when(ASKED, "q\n").ends(),
        str![[r#"
   START  demo · 2 tasks · shell · recovery on
    WARN  this folder is not in git: nothing is committed, and `regreen diff` and `regreen undo` have nothing to show; `git init` changes that
    FAIL  [TIME] 1.1 Look                                       attempt 1/5
          missing file
          cat: here: No such file or directory

     ASK  1.1 Look                                                1/5 attempts used
          the shell agent runs commands and cannot fix them
          missing file
          cat: here: No such file or directory
          may help: Check the path
          may help: Create the file, or run the step that generates it
          log: .regreen/runs/[RUN]/1.1/1.log

       e  edit specs/demo/tasks.md and retry: the task starts over, with all its attempts
       f  add a fix task anyway: the agent does it, then this task is retried
       s  skip: leave it out until `regreen retry 1.1`
       q  stop with exit code 3: `regreen run` asks again

What now? [e/f/s/q] q
    STOP  1.1 not decided yet
     END  needs your decision · exit code 3                       [RUN]

A person must decide: task 1.1: the shell agent runs commands and cannot fix them; it failed with: cat: here: No such file or directory
   Tasks  0 of 2 done in [TIME]
Attempts  1 of 100
     ASK  1.1
    Next  see how 1.1 failed:                     regreen why 1.1
          once 1.1 is edited or repaired:         regreen retry 1.1
          if 1.1 is done already:                 regreen done 1.1
          leave 1.1 out:                          regreen skip 1.1
          then continue (on a terminal it asks):  regreen run --agent shell --recovery-mode
--- exit code Some(3)

"#]],
    );
    let mut run = workspace.on_terminal(&SHELL);
    let (code, shown) = run.when(ASKED, "stop\n").ends();
    assert_eq!(code, Some(3));
    assert!(!shown.contains("FAIL"), "{shown}");
    workspace.regreen(&["status"]).shows(str![[r#"
    SPEC  demo · 0 of 2 tasks done · specs/demo/tasks.md
     RUN  [RUN] · shell · needs your decision; `regreen run` resumes it
          task 1.1: the shell agent runs commands and cannot fix them; it failed with: cat: here: No such file or directory
          1 of 100 attempts

     ASK  1.1 Look                                                1/5 attempts used
          the shell agent runs commands and cannot fix them
          missing file
          cat: here: No such file or directory
    TODO  1.2 Work
--- exit code 0

"#]]);
}

#[test]
fn a_persons_context_is_in_the_prompt() {
    let workspace = stuck();
    let mut run = run_stuck(&workspace, &[]);
    run.when(ASKED, "c\n")
        .when("An empty line ends it.", "Look under the rug,\n")
        .sees("under the rug,");
    shows(
        &run.when("\n", "token ghp_0123456789abcdefghijklmnopqrstuvwxyz\n\n")
            .ends(),
        str![[r#"
   START  demo · 1 task · command:sh [AGENT]/agent.sh · recovery on
    WARN  this folder is not in git: nothing is committed, and `regreen diff` and `regreen undo` have nothing to show; `git init` changes that
    FAIL  [TIME] 1.1 Find it
          timeout without progress
          The agent did not finish within 3s
   RETRY  1.1 no progress before the time limit; asking the agent to split it
    FAIL  [TIME] 1.1 Find it
          timeout without progress
          The agent did not finish within 3s

     ASK  1.1 Find it
          it made no progress within its time limit and was not split
          timeout without progress
          The agent did not finish within 3s
          may help: Break task into smaller subtasks
          may help: Check that the task can make progress at all
          log: .regreen/runs/[RUN]/1.1/2.log

       e  edit specs/demo/tasks.md and retry: the task starts over, with all its attempts
       c  add context and retry: the agent gets what you write; counts as an attempt
       f  add a fix task anyway: the agent does it, then this task is retried
       s  skip: leave it out until `regreen retry 1.1`
       q  stop with exit code 3: `regreen run` asks again

What now? [e/c/f/s/q] c
What should the agent know? An empty line ends it.
Look under the rug,
token ghp_0123456789abcdefghijklmnopqrstuvwxyz

   RETRY  1.1 with your context
          Look under the rug, token ***github-token***
    PASS  [TIME] 1.1 Find it
     END  all tasks done                                          [RUN]

ALL_TASKS_COMPLETE
   Tasks  1 of 1 done in [TIME]
Attempts  3 of 100
--- exit code Some(0)

"#]],
    );
    let prompt = workspace.note("1.1-3.prompt");
    assert!(!prompt.contains("ghp_0123456789"), "{prompt}");
    let (_, said) = prompt.split_once("## Message from the user\n").unwrap();
    assert!(
        said.contains("```text\nLook under the rug,\ntoken "),
        "{said}"
    );
    assert!(!prompt.contains("ghp_0123456789"), "{prompt}");
    let why = workspace.regreen(&["why", "1.1"]).stdout;
    assert!(
        why.contains("   RETRY  with your context\n            | Look under the rug,\n"),
        "{why}"
    );
    assert!(!why.contains("ghp_0123456789"), "{why}");
}

#[test]
fn the_guide_shows_what_is_seen() {
    let workspace = stuck();
    let (_, shown) = run_stuck(&workspace, &[]).when(ASKED, "q\n").ends();
    let (_, page) = GUIDE.split_once("```text\n     ASK ").unwrap();
    let (page, _) = page.split_once("\n```\n").unwrap();
    let (_, shown) = shown.split_once("     ASK ").unwrap();
    let (shown, _) = shown.split_once(" q\n    STOP ").unwrap();
    snapbox::assert_data_eq!(workspace.plain(page), shown.to_owned());
}

#[test]
fn an_edited_task_is_tried_as_if_for_the_first_time() {
    let workspace = failing();
    let mut run = workspace.on_terminal(&SHELL);
    run.when(ASKED, "e\n")
        .sees("Edit specs/demo/tasks.md, then press Enter here");
    let edited = workspace.text(TASKS).replace("cat here", "true");
    fs::write(workspace.path(TASKS), edited).unwrap();
    let (code, shown) = run.when(": ", "\n").ends();
    assert_eq!(code, Some(0), "{shown}");
    assert!(
        shown.contains("   RETRY  1.1 edited; starting over\n    PASS  [TIME] 1.1 Look\n"),
        "{shown}"
    );
    assert!(workspace.text(TASKS).contains("- [x] 1.1"));
}

#[test]
fn the_users_editor_is_opened_with_its_arguments() {
    let workspace = failing().file(
        "my editor",
        "#!/bin/sh\n[ \"$1\" = --wait ] || exit 1\nsed -i 's/cat here/true/' \"$2\"\n",
    );
    let editor = format!("sh '{}' --wait", workspace.path("my editor").display());
    let mut run = workspace.on_terminal_with(&SHELL, &[("TERM", "dumb"), ("EDITOR", &editor)]);
    let (code, shown) = run.when(ASKED, "e\n").ends();
    assert_eq!(code, Some(0), "{shown}");
}

#[test]
fn a_failing_editor_does_not_answer_the_question() {
    let workspace = failing();
    for (editor, says) in [
        ("false", "false ended with exit status: 1"),
        ("no-such-editor", "no-such-editor cannot be started"),
    ] {
        let variables = [("TERM", "dumb"), ("EDITOR", "true"), ("VISUAL", editor)];
        let mut run = workspace.on_terminal_with(&SHELL, &variables);
        let (code, _) = run.when(ASKED, "e\n").sees(says).when(ASKED, "q\n").ends();
        assert_eq!(code, Some(3));
    }
}

#[test]
fn skipping_a_fix_attempts_the_task_itself() {
    let workspace = failing();
    let mut run = workspace.on_terminal(&SHELL);
    run.when(ASKED, "f\n").sees("     ASK  1.1.1 Fix: ");
    fs::write(workspace.path("here"), "").unwrap();
    let (code, shown) = run.when(ASKED, "s\n").ends();
    assert_eq!(code, Some(0), "{shown}");
    assert!(
        workspace.text(TASKS).contains("- [x] 1.1.1 [FIX 1.1]"),
        "{}",
        workspace.text(TASKS)
    );
}

#[test]
fn editing_gives_a_task_its_budgets_back() {
    let workspace = failing();
    let mut run = workspace.on_terminal(&[&SHELL[..], &["--max-fix-tasks=1"]].concat());
    run.when(ASKED, "f\n")
        .when("     ASK  1.1.1 ", "")
        .when(ASKED, "s\n");
    run.sees("     ASK  1.1 ");
    assert!(
        !workspace.text(STATE).contains("forgiven"),
        "{}",
        workspace.text(STATE)
    );
    run.when(ASKED, "e\n").when("press Enter", "\n");
    run.sees("1.1 Look").sees(ASKED);
    assert!(
        workspace.text(STATE).contains("\"forgiven\": 1"),
        "{}",
        workspace.text(STATE)
    );
    let (code, _) = run.when("", "q\n").ends();
    assert_eq!(code, Some(3));
}

#[test]
fn a_fix_is_made_though_the_agent_could_not() {
    let workspace = failing();
    let mut run = workspace.on_terminal(&SHELL);
    run.when(ASKED, "f\n")
        .sees("     FIX  1.1.1 added for 1.1")
        .sees("     ASK  1.1.1 Fix: ");
    // The person gives it something to do.
    let tasks = workspace.text(TASKS);
    let (before, after) = tasks.split_once("  - **Do**: Address the error").unwrap();
    let (_, after) = after.split_once("  - **Done when**").unwrap();
    let tasks = format!("{before}  - **Do**: `touch here`\n  - **Done when**{after}");
    let (code, shown) = {
        run.when(ASKED, "e\n").sees("press Enter");
        fs::write(workspace.path(TASKS), &tasks).unwrap();
        run.when(": ", "\n").ends()
    };
    assert_eq!(code, Some(0), "{shown}");
    assert!(
        shown.contains("\n   RETRY  1.1.1 edited; starting over\n"),
        "{shown}"
    );
}

#[test]
fn a_skipped_task_stays_skipped_until_a_person_retries_it() {
    let workspace = failing();
    let mut run = workspace.on_terminal(&SHELL);
    let (code, shown) = run.when(ASKED, "s\n").ends();
    assert_eq!(code, Some(1), "{shown}");
    assert!(shown.contains("\n    PASS  [TIME] 1.2 Work "), "{shown}");
    let output = workspace.regreen(&[&["run"], &SHELL[..]].concat());
    assert_eq!(output.code, Some(1));
    assert!(!output.stdout.contains("] 1.1 Look"), "{}", output.stdout);
    let why = workspace.regreen(&["why", "1.1"]).stdout;
    assert!(why.contains("\n    SKIP  your choice\n"), "{why}");
    fs::write(workspace.path("here"), "").unwrap();
    workspace.regreen(&["retry", "1.1"]);
    assert_eq!(
        workspace.regreen(&["run", "--agent", "shell"]).code,
        Some(0)
    );
}

#[test]
fn an_unknown_answer_is_asked_for_again() {
    let workspace = failing();
    let mut run = workspace.on_terminal(&SHELL);
    run.when(ASKED, "maybe\x1b[31m\n")
        .sees("\"maybe\" is not one of e/f/s/q.")
        .when(ASKED, "\n")
        .sees("\"\" is not one of e/f/s/q.")
        // The shell agent takes no context.
        .when(ASKED, "c\n")
        .sees("\"c\" is not one of e/f/s/q.");
    assert_eq!(run.when(ASKED, "Q\n").ends().0, Some(3));
}

#[test]
fn the_end_of_the_input_decides_nothing() {
    let workspace = failing();
    let mut run = workspace.on_terminal(&SHELL);
    let (code, shown) = run.when(ASKED, "\x04").ends();
    assert_eq!(code, Some(3), "{shown}");
    assert!(
        shown.contains("\n    STOP  1.1 not decided yet\n"),
        "{shown}"
    );
    // Nor does it if text was expected.
    let workspace = stuck();
    let mut run = run_stuck(&workspace, &[]);
    run.when(ASKED, "c\n")
        .when("ends it.", "\x04")
        .sees("Nothing was entered.");
    assert_eq!(run.when(ASKED, "q\n").ends().0, Some(3));
}

#[test]
fn a_signal_ends_the_question_at_once_and_it_is_asked_again() {
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 143)] {
        let workspace = failing();
        let mut run = workspace.on_terminal(&SHELL);
        run.sees(ASKED);
        run.signal(signal);
        let (ended, shown) = run.ends();
        assert_eq!(ended, Some(code), "{shown}");
        assert!(shown.contains("[e/f/s/q] \n    STOP  stopping"), "{shown}");
        let mut run = workspace.on_terminal(&SHELL);
        let (ended, shown) = run.when(ASKED, "q\n").ends();
        assert_eq!(ended, Some(3), "{shown}");
        assert!(!shown.contains("FAIL"), "{shown}");
    }
}

#[test]
fn a_signal_ends_the_editor_too() {
    let workspace = failing();
    let variables = [
        ("TERM", "dumb"),
        ("EDITOR", "sh -c 'echo OPEN; exec sleep 120'"),
    ];
    let mut run = workspace.on_terminal_with(&SHELL, &variables);
    run.when(ASKED, "e\n").sees("OPEN");
    run.signal("TERM");
    assert_eq!(run.ends().0, Some(143));
}

#[test]
fn killed_while_it_asks_a_run_asks_again() {
    let workspace = failing();
    let mut run = workspace.on_terminal(&SHELL);
    run.sees(ASKED);
    run.signal("KILL");
    assert_eq!(run.ends().0, None);
    fs::write(workspace.path("here"), "").unwrap();
    let mut run = workspace.on_terminal(&SHELL);
    let (code, shown) = run.when(ASKED, "e\n").when("press Enter", "\n").ends();
    assert_eq!(code, Some(0), "{shown}");
    // Attempts keep their numbering, but the count starts over.
    assert!(!shown.contains("FAIL"), "{shown}");
    assert_eq!(shown.matches("] 1.1 Look").count(), 1, "{shown}");
}

#[test]
fn without_input_or_a_terminal_no_question_is_asked() {
    for flags in [&["--keep-going"][..], &["--no-input"], &["--json"]] {
        let workspace = failing();
        let mut run = workspace.on_terminal(&[&SHELL[..], flags].concat());
        let (code, shown) = run.ends();
        assert_eq!(code, Some(3), "{shown}");
        assert!(!shown.contains(ASKED), "{shown}");
        let is_done = workspace.text(TASKS).contains("- [x] 1.2");
        assert_eq!(is_done, flags == ["--keep-going"]);
    }
}

#[test]
fn without_a_terminal_the_report_has_the_next_commands() {
    let workspace = failing().file("specs/other/tasks.md", "- [ ] 7 Else\n");
    workspace
        .regreen(&["run", "demo", "--agent", "shell", "--recovery-mode"])
        .shows(str![[r#"
   START  demo · 2 tasks · shell · recovery on
    WARN  this folder is not in git: nothing is committed, and `regreen diff` and `regreen undo` have nothing to show; `git init` changes that
    FAIL  [TIME] 1.1 Look                                       attempt 1/5
          missing file
          cat: here: No such file or directory
     ASK  1.1 Look
          the shell agent runs commands and cannot fix them
     END  needs your decision · exit code 3                       [RUN]

   Tasks  0 of 2 done in [TIME]
Attempts  1 of 100
     ASK  1.1
    Next  see how 1.1 failed:                     regreen why 1.1 --spec demo
          once 1.1 is edited or repaired:         regreen retry 1.1 --spec demo
          if 1.1 is done already:                 regreen done 1.1 --spec demo
          leave 1.1 out:                          regreen skip 1.1 --spec demo
          then continue (on a terminal it asks):  regreen run demo --agent shell --recovery-mode
--- standard error
A person must decide: task 1.1: the shell agent runs commands and cannot fix them; it failed with: cat: here: No such file or directory
--- exit code 3

"#]]);
    fs::write(workspace.path("here"), "").unwrap();
    workspace
        .regreen(&["retry", "1.1", "--spec", "demo"])
        .shows(str![[r#"
reopened 1.1 and reset its attempts; run `regreen run demo` to try again
--- exit code 0

"#]]);
    let output = workspace.regreen(&["run", "demo", "--agent", "shell"]);
    assert_eq!(output.code, Some(0), "{}", output.stdout);
}

#[test]
fn a_live_view_makes_room_for_the_question_and_comes_back() {
    let workspace = failing();
    let mut run = workspace.on_terminal_with(&SHELL, &[("TERM", "xterm")]);
    run.sees("1.1 Look").sees(ASKED);
    fs::write(workspace.path("here"), "").unwrap();
    let (code, shown) = run.when("", "e\n").when("press Enter", "\n").ends();
    assert_eq!(code, Some(0), "{shown}");
    let (_, asked) = shown.split_once("What now?").unwrap();
    let (asked, after) = asked.split_once("Edit specs/demo/tasks.md").unwrap();
    assert!(!asked.contains(" done · "), "{asked:?}");
    assert!(after.contains(" done · "), "{after:?}");
}
