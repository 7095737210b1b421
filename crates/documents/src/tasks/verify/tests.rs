use super::*;

#[track_caller]
fn check(field: &str, expected: &[(&str, VerifyForm, &str)]) {
    let commands = verify_commands(field);
    let found: Vec<(&str, VerifyForm, String)> = commands
        .iter()
        .map(|c| {
            let expects = c.expects.as_ref().map(ToString::to_string);
            (c.command.as_str(), c.form, expects.unwrap_or_default())
        })
        .collect();
    let expected: Vec<(&str, VerifyForm, String)> = expected
        .iter()
        .map(|(command, form, expects)| (*command, *form, (*expects).to_owned()))
        .collect();
    assert_eq!(found, expected, "{field}");
}

use VerifyForm::{Always, IfFiles, IfProgram, IfTarget};

#[test]
fn one_span_is_always_run() {
    check("`make test`", &[("make test", Always, "")]);
    check(" `make test`.", &[("make test", Always, "")]);
    check(
        "`no-such-program --x`",
        &[("no-such-program --x", Always, "")],
    );
}

/// Agents write scripts like this one, without an indent.
#[test]
fn a_span_goes_on_over_unindented_lines() {
    let text = "- [ ] 1.1 a\n  - **Verify**: `python -c \"\nimport x\nif x:\n    y()\n\"`\n  - **Commit**: `c`\n- [ ] 1.2 b\n";
    let file = TaskFile::read(text);
    let row = file.rows().next().unwrap();
    let commands = file.verify_commands(row);
    let commands: Vec<&str> = commands.iter().map(|c| c.command.as_str()).collect();
    assert_eq!(commands, ["python -c \"\nimport x\nif x:\n    y()\n\""]);
    let fields = file.task(row).unwrap().fields;
    assert_eq!(fields.commit.as_deref(), Some("`c`"));
    // Nothing closes the span.
    let file = TaskFile::read(text.replace("\"`", "\""));
    let row = file.rows().next().unwrap();
    assert_eq!(file.verify_commands(row), []);
    let fields = file.task(row).unwrap().fields;
    assert_eq!(fields.commit.as_deref(), Some("`c`"));
}

#[test]
fn a_fence_is_always_run_as_one_script() {
    check(
        "All must pass:\n```bash\nmake\n  make test\n```\nand then",
        &[("make\n  make test", Always, "")],
    );
    check(
        "```json\n{}\n```\nthen `make test`",
        &[("make test", IfProgram, "")],
    );
    check(
        "```\ntrue\n```\n~~~sh\nfalse\n~~~",
        &[("true", Always, ""), ("false", Always, "")],
    );
}

#[test]
fn several_spans_are_run_if_they_name_programs() {
    check(
        "`make` and `make test` pass",
        &[("make", IfProgram, ""), ("make test", IfProgram, "")],
    );
    check("run `make test` in `src/`", &[("make test", IfProgram, "")]);
}

#[test]
fn bare_text_must_look_like_a_command() {
    check(
        "grep -q \"Parse Failure\" implement.md",
        &[("grep -q \"Parse Failure\" implement.md", IfProgram, "")],
    );
    check("cat a | wc", &[("cat a | wc", IfProgram, "")]);
    check("./check.sh", &[("./check.sh", IfProgram, "")]);
    for tool in [
        "npm test",
        "cargo build",
        "pytest",
        "go test",
        "npm run lint",
    ] {
        check(tool, &[(tool, IfProgram, "")]);
    }
    check("make test", &[("make test", IfTarget, "")]);
    check("node check.js", &[("node check.js", IfFiles, "")]);
    check("make test passes with -v", &[]);
    check(
        "git show --stat HEAD",
        &[("git show --stat HEAD", IfProgram, "")],
    );
    check(
        "grep -q \"returns\" src/a.rs",
        &[("grep -q \"returns\" src/a.rs", IfProgram, "")],
    );
    for prose in [
        "All commands pass",
        "grep -c x f returns 0",
        "make test passes",
        "test the docs with -v",
        "find bugs in \"src\" and report them",
        "panel rate strictly > 65.3%",
        "{{Command to verify, \"x\"}}",
        "Check HA logs for \"SOC\" messages",
        "make",
        "cargo",
        "echo",
    ] {
        check(prose, &[]);
    }
}

#[test]
fn nothing_can_be_verified_by_hand() {
    check("echo 'Verify manually'", &[]);
    check("`echo 'Verify manually'`", &[]);
    check("", &[]);
}

/// Checks how a command followed by this text is judged.
#[track_caller]
fn check_judged(command: &str, after: &str, judged: &str) {
    let commands = verify_commands(&format!("`{command}` {after}"));
    let found = commands.first().map(VerifyCommand::judged_by);
    assert_eq!(found.as_deref(), Some(judged), "{command} {after}");
}

#[test]
fn text_behind_a_span_states_what_is_expected() {
    for (after, judged) in [
        ("returns 0", "returns 0"),
        ("returns 0.", "returns 0"),
        ("→ 3", "returns 3"),
        ("-> 3", "returns 3"),
        ("— 0", "returns 0"),
        ("must return 2", "returns 2"),
        ("shows 3", "prints 3"),
        ("outputs 7", "prints 7"),
        ("should be ≤ 3 (only ours)", "prints <= 3"),
        ("(should be 5+)", "prints >= 5"),
        ("shows at least 2", "prints >= 2"),
        (">= 5", "prints >= 5"),
        ("≥ 5", "prints >= 5"),
        ("— 0 matches", "0 matches"),
        ("returns 0 matches", "0 matches"),
        ("returns no matches", "0 matches"),
        ("has no matches", "0 matches"),
        ("shows 3 files", "3 matches"),
        ("shows 3 files created", "3 matches"),
        ("> 5 lines", "> 5 matches"),
        ("returns 2+ matches", ">= 2 matches"),
        ("returns 2 locations (lines 18 and 19)", "2 matches"),
        ("returns results", ">= 1 matches"),
        ("is not empty", ">= 1 matches"),
        ("(no output)", "no output"),
        ("produces no output", "no output"),
        ("returns nothing", "no output"),
        ("finds nothing", "no output"),
        ("→ empty", "no output"),
        ("outputs \"ok then\"", "outputs ok then"),
        ("outputs hello", "outputs hello"),
        ("shows 4.2.0", "outputs 4.2.0"),
        ("returns null", "outputs null"),
        ("contains `class A:`", "outputs class A:"),
        ("shows \"APPROVED\" status", "outputs APPROVED"),
        (
            "shows no CHANGES_REQUESTED",
            "does not output CHANGES_REQUESTED",
        ),
        (
            "shows no CHANGES_REQUESTED or PENDING states",
            "does not output CHANGES_REQUESTED and does not output PENDING",
        ),
        ("does not print `Traceback`", "does not output Traceback"),
        (
            "outputs 6 matches and no MISSING lines",
            "6 matches and does not output MISSING",
        ),
        ("exits 0 and outputs \"done\"", "exits 0 and outputs done"),
        ("both return 1.0.0", "exits 0 and each line has 1.0.0"),
        ("both return results", "exits 0 and >= 2 matches"),
        ("fails", "fails"),
        ("should fail", "fails"),
        ("must not pass", "fails"),
        ("exits non-zero", "fails"),
        ("returns non-zero", "fails"),
        (
            "with a non-zero exit code",
            "exit code 0; not checked: with a non-zero exit code",
        ),
        ("exits 2", "exits 2"),
        ("exits with code 2", "exits 2"),
        ("exit code is 1", "exits 1"),
        ("returns exit code 1", "exits 1"),
    ] {
        check_judged("cmd x", after, judged);
    }
}

#[test]
fn a_command_that_counts_is_judged_by_the_number_it_prints() {
    for (command, after, judged) in [
        ("grep -c x f", "returns 0", "prints 0"),
        ("grep -ciE 'x' f", "-> `0`", "prints 0"),
        ("a | grep --count x", "returns >= 1", "prints >= 1"),
        ("ls | wc -l", "returns 2", "prints 2"),
        ("ls | wc -l", "shows ≥ 40 new tests", "prints >= 40"),
        ("grep -c error log", "→ 0 errors", "prints 0"),
        ("grep -c x f", "returns non-zero", "prints > 0"),
        ("wc -l f", "still returns 1626 (baseline)", "prints 1626"),
        ("wc -l f", "outputs `< 150`", "prints < 150"),
    ] {
        check_judged(command, after, judged);
    }
}

#[test]
fn text_that_says_that_it_passes_is_exit_code_0() {
    for after in [
        "exits 0",
        "exit code 0",
        "exits 0 (syntax check)",
        "passes",
        "— passes",
        "succeeds",
        "all green (or no CI configured)",
        "shows all green",
        "shows all checks passing",
        "(all checks pass)",
    ] {
        check_judged("cmd x", after, "exit code 0");
    }
}

#[test]
fn text_that_is_not_about_the_result_leaves_nothing_unchecked() {
    for after in [
        "or equivalent",
        "or equivalent (if it exists)",
        "(syntax check)",
        "to confirm AC-1",
        "- type checking",
        "\n2. Run it again",
    ] {
        check_judged("cmd x", after, "exit code 0");
    }
}

/// Each of these once turned a check green that had exited with 1, or was dropped silently.
#[test]
fn an_expectation_not_wholly_understood_demands_exit_code_0_and_is_not_checked() {
    for after in [
        "(fails on warnings)",
        "fails before the change and passes after it",
        "exits non-zero on failure",
        "returns 0 errors",
        "returns 1 on failure",
        "returns 1 (on failure)",
        "fails (only on Windows)",
        "fails, but not always",
        "fails; then fix it",
        "fails if the port is taken",
        "exits 2 when nothing is found",
        "does not fail",
        "fails no more",
        "no longer fails",
        "should not fail",
        "shows line 75",
        "shows usage",
        "returns no errors",
        "outputs no errors",
        "returns a URL",
        "shows > previous count",
        "shows lower line number than before",
        "and manual review",
        "; new function is importable",
        "— recorded",
        "devuelve ≥ 5",
    ] {
        let commands = verify_commands(&format!("`cmd x` {after}"));
        let [command] = commands.as_slice() else {
            panic!("{after}: {commands:?}");
        };
        assert_eq!(command.expects, None, "{after}");
        assert!(command.unchecked.is_some(), "{after}");
    }
    for field in [
        "If `cmd x` fails, fix it",
        "Fix it if `cmd x` fails",
        "When `cmd x` fails: stop",
    ] {
        let commands = verify_commands(field);
        assert_eq!(
            commands.first().and_then(|c| c.expects.clone()),
            None,
            "{field}"
        );
        assert!(commands.iter().any(|c| c.unchecked.is_some()), "{field}");
    }
}

#[test]
fn a_negation_before_a_command_expects_no_failure_of_it() {
    for field in [
        "nothing in `npm test` fails",
        "Nothing in `./b.sh` fails",
        "neither `a x` nor `b x` fails",
        "no `cmd x` fails",
        "No `cmd x` exits 2",
        "It isn't so that `cmd x` returns 1",
    ] {
        let commands = verify_commands(field);
        assert!(!commands.is_empty(), "{field}");
        assert!(commands.iter().all(|c| c.expects.is_none()), "{field}");
        let last = commands.last().and_then(|c| c.unchecked.as_deref());
        assert!(last.is_some(), "{field}");
    }
    // A negation in another sentence, or in code, isn't about this command.
    for field in [
        "There is no such flag. `cmd x` fails",
        "`grep not f` passes and `cmd x` fails",
    ] {
        let commands = verify_commands(field);
        let last = commands.last().and_then(|c| c.expects.clone());
        assert_eq!(last, Some(regreen_model::Expectation::Fails), "{field}");
    }
}

#[test]
fn the_understood_part_of_an_expectation_is_judged() {
    for (after, judged) in [
        (
            "returns 5, new tests cover both",
            "exit code 0; not checked: returns 5, new tests cover both",
        ),
        (
            "prints 5. The sums must reconcile",
            "prints 5; not checked: prints 5. The sums must reconcile",
        ),
        (
            "exits 0, coverage 100%",
            "exit code 0; not checked: exits 0, coverage 100%",
        ),
    ] {
        check_judged("cmd x", after, judged);
    }
}

#[test]
fn both_goes_for_the_commands_before() {
    check(
        "`a x` and `b x` both return 1.0.0",
        &[
            ("a x", IfProgram, "outputs 1.0.0"),
            ("b x", IfProgram, "outputs 1.0.0"),
        ],
    );
    check(
        "`a x`; `b x`; both non-empty",
        &[
            ("a x", IfProgram, ">= 1 matches"),
            ("b x", IfProgram, ">= 1 matches"),
        ],
    );
    check(
        "`a x` returns 2.0.0; `b x` and `c x` both return 1.0.0",
        &[
            ("a x", IfProgram, "outputs 2.0.0"),
            ("b x", IfProgram, "outputs 1.0.0"),
            ("c x", IfProgram, "outputs 1.0.0"),
        ],
    );
}

#[test]
fn a_span_behind_a_colon_is_output_unless_a_new_sentence_leads_to_it() {
    let commands = |text: &str| -> Vec<String> {
        let commands = verify_commands(text).into_iter();
        commands.map(|one| one.command).collect()
    };
    assert_eq!(commands("`a x` returns: `b y`"), ["a x"]);
    assert_eq!(
        commands("`a x` returns 3. Check the docs: `b y`"),
        ["a x", "b y"]
    );
}

#[test]
fn text_behind_a_fence_is_not_checked() {
    let commands = verify_commands("```sh\nmake\n```\nIt should print 3 lines.");
    assert_eq!(
        commands.first().and_then(|c| c.unchecked.as_deref()),
        Some("It should print 3 lines.")
    );
    let commands = verify_commands("All must pass:\n```sh\nmake\n```\nAll must pass.");
    assert_eq!(commands.first().and_then(|c| c.unchecked.as_deref()), None);
}

#[test]
fn a_span_in_a_sentence_about_code_is_not_run() {
    check("Code handles `[ -z \"$X\" ]` by reading it", &[]);
    check("The list has a `test` marker", &[]);
    check("Review the relevant `make test` results", &[]);
    check(
        "`cargo test` + a look (`cargo run -p ui`)",
        &[("cargo test", IfProgram, "")],
    );
    check("Run `grep -c it out`", &[("grep -c it out", IfProgram, "")]);
    check("Run `{{test command}}`", &[]);
    check(
        "`a x` returns 3. Check the docs: `b x`",
        &[("a x", IfProgram, "returns 3"), ("b x", IfProgram, "")],
    );
}

#[test]
fn a_command_with_a_stated_result_is_run_even_if_its_program_is_missing() {
    check("`cmd x` returns 0", &[("cmd x", Always, "returns 0")]);
    check("`cmd x` exits 0", &[("cmd x", Always, "")]);
    check("`src/a.rs` exists", &[("src/a.rs", IfProgram, "")]);
}

#[test]
fn a_span_can_be_what_the_command_before_it_prints() {
    check(
        "`make x` — expect `NO_TRACEBACK`.",
        &[("make x", IfProgram, "outputs NO_TRACEBACK")],
    );
    check(
        "`grep -c a f` -> `3`",
        &[("grep -c a f", IfProgram, "prints 3")],
    );
}

#[test]
fn examples_are_not_commands() {
    check("Run the tests (e.g. `curl API | jq`)", &[]);
}

#[test]
fn the_number_of_the_next_step_is_not_a_result() {
    check(
        "1. Run `make 1`\n2. Run `make 2`\n3. Look",
        &[("make 1", IfProgram, ""), ("make 2", IfProgram, "")],
    );
}

#[test]
fn a_command_to_compare_with_is_a_command() {
    check(
        "`jq .a x.json` equals `jq .b y.json`",
        &[
            ("jq .a x.json", IfProgram, ""),
            ("jq .b y.json", IfProgram, ""),
        ],
    );
    check(
        "`wc -l f` outputs `< 150`",
        &[("wc -l f", IfProgram, "prints < 150")],
    );
}

#[test]
fn text_that_must_not_run_is_not_a_command() {
    check("do not run `rm -rf x`", &[]);
    check("`make` is not needed", &[]);
}

#[test]
fn a_bare_command_may_name_the_files_of_this_task_and_those_before() {
    let text = "- [ ] 1.1 a\n  - **Files**: `check.js`, src/b.js\n- [ ] 1.2 b\n  - **Verify**: node check.js\n- [ ] 1.3 c\n  - **Files**: later.js\n";
    let file = TaskFile::read(text);
    let forms: Vec<VerifyForm> = file
        .rows()
        .flat_map(|row| file.verify_commands(row))
        .map(|command| command.form)
        .collect();
    assert_eq!(forms, [IfProgram]);
    let file = TaskFile::read(text.replace("node check.js", "node later.js"));
    let forms: Vec<VerifyForm> = file
        .rows()
        .flat_map(|row| file.verify_commands(row))
        .map(|command| command.form)
        .collect();
    assert_eq!(forms, [IfFiles]);
}

/// `expected` lists how each command of a field is judged, and how certain it is that it is one.
#[track_caller]
fn check_forms(text: &str, expected: &[(&str, VerifyForm, &str)]) {
    let file = TaskFile::read(text);
    let commands: Vec<VerifyCommand> = file
        .rows()
        .flat_map(|row| file.verify_commands(row))
        .collect();
    let found: Vec<(&str, VerifyForm, String)> = commands
        .iter()
        .map(|one| (one.command.as_str(), one.form, one.judged_by()))
        .collect();
    let found: Vec<(&str, VerifyForm, &str)> = found
        .iter()
        .map(|(command, form, judged)| (*command, *form, judged.as_str()))
        .collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn scripts_and_list_items_are_commands_whether_or_not_they_are_there() {
    const PLAIN: &str = "exit code 0";
    check(
        "Run `./smoke.sh` and `sh t.sh`",
        &[("./smoke.sh", Always, ""), ("sh t.sh", IfProgram, "")],
    );
    check(
        "\n- `eslintish --max-warnings 0 src/`\n- `sh t.sh`",
        &[
            ("eslintish --max-warnings 0 src/", Always, ""),
            ("sh t.sh", Always, ""),
        ],
    );
    check(
        "1. `toolish a b` exits 2\n2. `sh t.sh`",
        &[("toolish a b", Always, "exits 2"), ("sh t.sh", Always, "")],
    );
    check_forms(
        "- [ ] 1.1 a\n  - **Files**: `smoke.sh`, `src/a.rs`\n  - **Verify**: Run `smoke.sh` and `make`\n",
        &[("smoke.sh", Always, PLAIN), ("make", IfProgram, PLAIN)],
    );
    // Files that are only mentioned.
    for (field, first) in [
        ("`scripts/x.sh` exists and `make`", "scripts/x.sh"),
        ("Check `src/a.rs`, then run `make`", "src/a.rs"),
        ("\n- `README.md`\n- `make`", "README.md"),
        ("\n- `AppState`\n- `make`", "AppState"),
        ("\n- `parse()`\n- `make`", "parse()"),
    ] {
        let commands = verify_commands(field);
        let found = commands.first().map(|one| (one.command.as_str(), one.form));
        assert_eq!(found, Some((first, IfProgram)), "{field}");
    }
}

#[test]
fn a_command_that_a_sentence_only_mentions_is_told() {
    let commands = verify_commands("`cargo test` for the `cargo run -p ui` part");
    assert_eq!(
        commands.first().and_then(|one| one.unchecked.as_deref()),
        Some("`cargo run -p ui` is not run")
    );
    for field in [
        "`cargo test` passes with the `AppState` of `src/a.rs`",
        "`cargo test` (e.g. `cargo test -p x`)",
        "`make x` — expect `NO_TRACEBACK`.",
    ] {
        let commands = verify_commands(field);
        let told = commands.iter().filter_map(|one| one.unchecked.as_deref());
        assert!(
            !told.into_iter().any(|told| told.ends_with("is not run")),
            "{field}"
        );
    }
}

#[test]
fn what_prepares_the_shell_does_so_for_the_commands_behind_it() {
    check(
        "`cd app` and `sh t.sh`",
        &[("cd app\nsh t.sh", IfProgram, "")],
    );
    check(
        "1. `cd app`\n2. `export CI=1`\n3. `npm test`\n4. `npm run lint` fails",
        &[
            ("cd app\nexport CI=1\nnpm test", Always, ""),
            ("cd app\nexport CI=1\nnpm run lint", Always, "fails"),
        ],
    );
    check(
        "- cd app\n- npm test",
        &[("cd app\nnpm test", IfProgram, "")],
    );
    // Each of these is a whole command.
    check(
        "`cd app && make` and `cd app && make lint`",
        &[
            ("cd app && make", IfProgram, ""),
            ("cd app && make lint", IfProgram, ""),
        ],
    );
    check("`cd app`", &[("cd app", Always, "")]);
    check_forms(
        "- [ ] 1.1 a\n  - **Verify**: `cd app`\n  - **Verify 2**: `make`\n  - **Verification**: `make lint`\n",
        &[
            ("cd app\nmake", Always, "exit code 0"),
            ("make lint", Always, "exit code 0"),
        ],
    );
}

#[test]
fn another_folder_to_run_in_is_not_checked() {
    for field in [
        "`sh t.sh` in app/",
        "`sh t.sh` (in `app/`)",
        "From the `app` directory run `sh t.sh`",
        "`sh t.sh` in the app folder",
        "In `app/`:\n- `make`\n- `sh t.sh`",
        "In app/:\n```sh\nsh t.sh\n```",
    ] {
        let commands = verify_commands(field);
        assert!(
            commands.iter().any(|one| one.unchecked.is_some()),
            "{field}"
        );
    }
    assert_eq!(verify_commands("npm test in app/"), []);
    for field in ["`sh t.sh` in the root folder", "`make -C app` in app/"] {
        let commands = verify_commands(field);
        assert!(
            commands.iter().all(|one| one.unchecked.is_none()),
            "{field}"
        );
    }
}

#[test]
fn what_is_said_of_both_goes_for_both() {
    for field in [
        "Both `sh a.sh` and `sh b.sh` fail",
        "`sh a.sh` and `sh b.sh` fail",
        "`sh a.sh`, `sh b.sh` each fail",
    ] {
        check(
            field,
            &[
                ("sh a.sh", IfProgram, "fails"),
                ("sh b.sh", IfProgram, "fails"),
            ],
        );
    }
    check(
        "`sh a.sh` passes and `sh b.sh` fails",
        &[("sh a.sh", IfProgram, ""), ("sh b.sh", IfProgram, "fails")],
    );
}

#[test]
fn a_stated_failure_may_go_with_what_is_printed() {
    check_judged(
        "cmd x",
        "exits 2 and prints \"usage\"",
        "exits 2 and outputs usage",
    );
    check_judged(
        "cmd x",
        "fails and shows no Traceback",
        "exit code 0; not checked: fails and shows no Traceback",
    );
    check_judged(
        "cmd x",
        "fails and shows no `Traceback`",
        "fails and does not output Traceback",
    );
    check_judged(
        "cmd x",
        "exits 2, sometimes",
        "exit code 0; not checked: exits 2, sometimes",
    );
}

#[test]
fn a_field_of_prose_beside_commands_is_not_checked() {
    let text =
        "- [ ] 1.1 a\n  - **Verify**: `make`\n  - **Verify (manual)**: The page looks right\n";
    check_forms(
        text,
        &[(
            "make",
            Always,
            "exit code 0; not checked: The page looks right",
        )],
    );
    check_forms(
        &text.replace("The page looks right", "PASS (12 passed)"),
        &[("make", Always, "exit code 0")],
    );
}

/// Checks how the first command of a field is judged.
#[track_caller]
fn check_field(field: &str, judged: &[&str]) {
    let commands = verify_commands(field);
    let found: Vec<String> = commands.iter().map(VerifyCommand::judged_by).collect();
    assert_eq!(found, judged, "{field}");
}

#[test]
fn text_before_a_command_states_what_is_expected() {
    for (field, judged) in [
        ("Must fail: `cmd x`", "fails"),
        ("Tests must fail (RED): `cmd x`", "fails"),
        ("Should be empty: `cmd x`", "no output"),
        ("Expect no output: `cmd x`", "no output"),
        ("No matches: `cmd x`", "0 matches"),
        ("Count must be 0: `grep -c x f`", "prints 0"),
        ("Should print 5: `cmd x`", "prints 5"),
        ("exit code 1: `cmd x`", "exits 1"),
        ("This must fail:\n```sh\nmake ok\n```", "fails"),
        ("```sh\ngrep -c x f   # should be 5\n```", "prints 5"),
        ("`cmd x  # must fail`", "fails"),
        ("All must pass: `cmd x`", "exit code 0"),
        ("Build should succeed: `cmd x`", "exit code 0"),
        ("Unit tests must pass: `cmd x`", "exit code 0"),
        ("Run only the unit tests: `cmd x`", "exit code 0"),
        (
            "Run these, all must succeed (exit 0): `cmd x`",
            "exit code 0",
        ),
        ("No type errors: `tsc --noEmit`", "exit code 0"),
        ("No manual tests: `! grep -q manual f`", "exit code 0"),
        ("All files should contain it: `grep -q it f`", "exit code 0"),
        ("Run `cmd x`", "exit code 0"),
        ("Check that it builds: `cmd x`", "exit code 0"),
        ("Verify with: `cmd x`", "exit code 0"),
        ("Step 2: `cmd x`", "exit code 0"),
    ] {
        check_field(field, &[judged]);
    }
}

#[test]
fn a_statement_before_a_command_that_is_not_understood_is_not_checked() {
    for field in [
        "Confirm no TODOs remain: `grep TODO f`",
        "Neither `a x` nor `b x` succeed",
        "not `a x`",
        "! `a x`",
        "Must fail: `a x` and `b x`",
        "Must fail:\n- `a x`\n- `b x`",
        "It must fail on Windows only: `a x`",
        // Only the last sentence introduces the command.
        "The build fails. Fix it, then run `a x`",
        "This must fail:\n```sh\nmake a\nmake b\n```",
        "```sh\nmake a  # must fail\nmake b\n```",
        "# Expected: 3 things\n```sh\n# Expected: three things\nmake b\n```",
        "Must fail: `a x` returns 1.0",
    ] {
        let commands = verify_commands(field);
        let is_marked = commands.iter().any(|one| one.unchecked.is_some());
        assert!(is_marked, "{field}: {commands:?}");
    }
}

#[test]
fn no_part_of_a_verify_is_dropped() {
    for (field, commands) in [
        (
            "\n```sh\nmake ok\n```\nThen `make test`",
            vec!["make ok", "make test"],
        ),
        (
            "\n```sh\nmake ok\n```\n- `make test`",
            vec!["make ok", "make test"],
        ),
        (
            "\n```sh\nmake ok\n```\nmake test",
            vec!["make ok", "make test"],
        ),
        ("`make ok`\nmake test", vec!["make ok", "make test"]),
        ("\n- `make ok`\n- make test", vec!["make ok", "make test"]),
    ] {
        let found = verify_commands(field);
        let found: Vec<&str> = found.iter().map(|one| one.command.as_str()).collect();
        assert_eq!(found, commands, "{field}");
    }
    for (field, told) in [
        ("`make ok`: make test", "`make test` is not run"),
        ("`make ok` and `smoke.sh`", "`smoke.sh` is not run"),
        (
            "\n```sh\nmake ok\n```\nRollback: `git reset --hard HEAD~1`",
            "`git reset --hard HEAD~1` is not run",
        ),
    ] {
        let found = verify_commands(field);
        let told = found
            .iter()
            .any(|one| one.unchecked.as_deref() == Some(told));
        assert!(told, "{field}: {found:?}");
    }
}

#[test]
fn what_stands_beside_a_verify_belongs_to_it() {
    for below in [
        "  - `make test`\n",
        "  - **Verify tests**: `make test`\n",
        "  - **Also verify**: `make test`\n",
        "\n  ```bash\n  make test\n  ```\n",
    ] {
        check_forms(
            &format!("- [ ] 1.1 a\n  - **Verify**: `make ok`\n{below}"),
            &[
                ("make ok", Always, "exit code 0"),
                ("make test", Always, "exit code 0"),
            ],
        );
    }
    // Nor does what a paragraph introduces.
    check_forms(
        "- [ ] 1.1 a\n  - **Verify**: `make ok`\n\n  Rollback:\n  ```bash\n  git reset --hard\n  ```\n",
        &[("make ok", Always, "exit code 0")],
    );
    // What stands beside another field doesn't.
    check_forms(
        "- [ ] 1.1 a\n  - **Verify**: `make ok`\n  - **Commit**: `c`\n  - `make test`\n",
        &[("make ok", Always, "exit code 0")],
    );
}

#[test]
fn text_after_a_bare_command_states_what_is_expected() {
    for (line, command, judged) in [
        (
            "python3 -c \"print(1)\" prints 2",
            "python3 -c \"print(1)\"",
            "prints 2",
        ),
        (
            "./check.sh --all prints \"3 passed\"",
            "./check.sh --all",
            "outputs 3 passed",
        ),
        ("./check.sh --all fails", "./check.sh --all", "fails"),
        ("bash ok.sh -v exits 3", "bash ok.sh -v", "exits 3"),
        (
            "./check.sh --all fails on warnings",
            "./check.sh --all",
            "exit code 0; not checked: fails on warnings",
        ),
        (
            "grep -q 'it fails' f",
            "grep -q 'it fails' f",
            "exit code 0",
        ),
    ] {
        let commands = verify_commands(line);
        let [found] = commands.as_slice() else {
            panic!("{line}: {commands:?}");
        };
        assert_eq!(
            (found.command.as_str(), found.judged_by().as_str()),
            (command, judged)
        );
    }
}

#[test]
fn a_check_that_can_not_fail_is_not_checked() {
    for (field, why) in [
        ("`make test || true`", "|| true"),
        ("`# make test`", "# make test"),
        ("`export OUT=$(make test)`", "export OUT=$(make test)"),
    ] {
        let said = format!("exit code 0; not checked: always passes: {why}");
        check_field(field, &[&said]);
    }
    // Printing beside what decides is no harm.
    check_field(
        "`make test` and `echo done`",
        &["exit code 0", "exit code 0"],
    );
    check_field("`make test || true` returns 0", &["returns 0"]);
}

#[test]
fn an_argument_that_could_be_a_verb_stays_an_argument() {
    for line in [
        "grep -rn print src/",
        "test -d reports",
        "[ -d reports ]",
        "ls -d reports",
    ] {
        let commands = verify_commands(line);
        let found: Vec<_> = commands
            .iter()
            .map(|one| (one.command.as_str(), one.judged_by()))
            .collect();
        assert_eq!(found, [(line, "exit code 0".to_owned())]);
    }
}
