//! `regreen lint` and `regreen init`: for the person who writes the tasks.

use regreen_test_support::Workspace;
use snapbox::str;

#[test]
fn a_new_spec_lints_clean_and_is_never_overwritten() {
    let test = Workspace::new();
    test.regreen(&["init", "greeting"])
        .exits(0)
        .prints(str![[r#"
Created specs/greeting/tasks.md
Edit it, then check it: regreen lint greeting
Run it: regreen run greeting
Or work on it in a Claude Code session: regreen use greeting

"#]]);
    test.regreen(&["lint"]).exits(0).prints(str![[r#"
    PLAN  specs/greeting/tasks.md · smart-ralph style · 2 tasks (0 done)
    PASS  nothing to improve
  VERIFY  1.2 judged by: prints 2

"#]]);
    let before = test.text("specs/greeting/tasks.md");
    test.regreen(&["init", "greeting"])
        .exits(2)
        .complains(str![[r#"
  × specs/greeting/tasks.md already exists
  help: choose another name, or edit specs/greeting/tasks.md

"#]]);
    assert_eq!(test.text("specs/greeting/tasks.md"), before);
}

#[test]
fn names_that_are_not_folders_are_refused() {
    Workspace::new()
        .regreen(&["init", "../evil"])
        .exits(2)
        .complains(str![[r#"
  × invalid spec name `../evil`
  help: use letters, digits, dots, dashes and underscores: my-feature

"#]]);
}

#[test]
fn weaknesses_are_shown_where_they_stand() {
    Workspace::new()
        .file("Cargo.toml", "")
        .file("todo.md", "# Plan\n\n- [ ] 1.1 Parse it as discussed\n- [ ] 1.1 Workspace `src/a.rs`\n  - **Verify**: `true`\n\n```\n- [ ] 1.3 lost?\n")
        .regreen(&["lint", "todo.md"])
        .exits(0)
        .prints(str![[r#"
    PLAN  todo.md · smart-ralph style · 3 tasks (0 done)
    WARN  6 things to improve

    WARN  the id 1.1 is also used on line 3
          todo.md:4  - [ ] 1.1 Workspace `src/a.rs`

    WARN  unclosed code fence ```; ignored, so that the tasks below it are not lost
          todo.md:7  ```

    WARN  2 tasks without a Verify that can run here: the result would be accepted unchecked
          todo.md:3  - [ ] 1.1 Parse it as discussed
            no Verify
          todo.md:8  - [ ] 1.3 lost?
            no Verify
          help: put a command into backticks: - **Verify**: `cargo test parser`
            or set a gate that checks the whole project: cargo test

    WARN  1 Verify command can't fail: its task would pass whatever happens
          todo.md:4  - [ ] 1.1 Workspace `src/a.rs`
            always passes: true
          help: end it with what decides (grep -q, test, the tests themselves), without || true, ; echo or a print for both cases

    WARN  1 task referring to a conversation that the agent has not seen
          todo.md:3  - [ ] 1.1 Parse it as discussed
            “as discussed”: the agent was not there
          help: write it out: the agent sees only this text

    WARN  2 tasks with neither Files nor any path: the agent has to guess where to work
          todo.md:3  - [ ] 1.1 Parse it as discussed
          todo.md:8  - [ ] 1.3 lost?
          help: name the files, preferably in a field: - **Files**: `src/parser.rs`

"#]]);
}

#[test]
fn checks_that_hide_a_failure_are_shown_with_a_way_out() {
    let row =
        |id: &str, verify: &str| format!("- [ ] {id} Change `a.rs`\n  - **Verify**: `{verify}`\n");
    let plan = row("1.1", "sh lint.sh; test -f a; test -f b") + &row("1.2", "n=3; [ $n > 5 ]");
    Workspace::new()
        .file("todo.md", plan)
        .regreen(&["lint", "todo.md"])
        .exits(0)
        .prints(str![[r#"
    PLAN  todo.md · smart-ralph style · 2 tasks (0 done)
    WARN  1 thing to improve

    WARN  2 Verify commands hide a failure: their tasks would count as unverified
          todo.md:1  - [ ] 1.1 Change `a.rs`
            not checked: whether `test -f a` passes: the `;` after it ignores that
          todo.md:3  - [ ] 1.2 Change `a.rs`
            not checked: `[ $n > 5 ]`: it writes to a file and compares nothing
          help: compare numbers with -gt, -lt or -eq; join commands with && instead of ;

"#]]);
}

#[test]
fn completions_and_the_manual_are_printed() {
    let test = Workspace::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let answer = test.regreen(&["completions", shell]).exits(0);
        assert!(answer.stdout.contains("insert-fix"), "{shell}");
    }
    let answer = test.regreen(&["man"]).exits(0);
    assert!(answer.stdout.contains(".TH regreen 1"), "{}", answer.stdout);
    test.regreen(&["--version"]).exits(0).prints(concat!(
        "regreen ",
        env!("CARGO_PKG_VERSION"),
        "\n"
    ));
}
