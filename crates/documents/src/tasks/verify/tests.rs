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

use VerifyForm::{Always, IfProgram};

#[test]
fn one_span_is_always_run() {
    check("`make test`", &[("make test", Always, "")]);
    check(" `make test`.", &[("make test", Always, "")]);
    check(
        "`no-such-program --x`",
        &[("no-such-program --x", Always, "")],
    );
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
    check(
        "run `make test` in `src/`",
        &[("make test", IfProgram, ""), ("src/", IfProgram, "")],
    );
}

#[test]
fn bare_text_must_look_like_a_command() {
    check(
        "grep -q \"Parse Failure\" implement.md",
        &[("grep -q \"Parse Failure\" implement.md", IfProgram, "")],
    );
    check("cat a | wc", &[("cat a | wc", IfProgram, "")]);
    check("./check.sh", &[("./check.sh", IfProgram, "")]);
    check("make test passes with -v", &[]);
    check(
        "git show --stat HEAD",
        &[("git show --stat HEAD", IfProgram, "")],
    );
    check(
        "grep -q \"returns\" src/a.rs",
        &[("grep -q \"returns\" src/a.rs", IfProgram, "")],
    );
    check("All commands pass", &[]);
    check("make test", &[]);
    check("grep -c x f returns 0", &[]);
}

#[test]
fn nothing_can_be_verified_by_hand() {
    check("echo 'Verify manually'", &[]);
    check("`echo 'Verify manually'`", &[]);
    check("", &[]);
}

#[test]
fn text_behind_a_span_states_what_is_expected() {
    for (after, expects) in [
        ("returns 0", "returns 0"),
        ("returns 0.", "returns 0"),
        ("→ 3", "returns 3"),
        ("-> 3", "returns 3"),
        ("— 0 matches", "0 matches"),
        ("returns 0 matches", "0 matches"),
        ("returns no matches", "0 matches"),
        ("(no output)", "no output"),
        ("produces no output", ""),
        ("returns nothing", "no output"),
        ("fails", "fails"),
        ("should fail", "fails"),
        ("exits non-zero", "fails"),
        ("exits 2", "exits 2"),
        ("exits with code 2", "exits 2"),
        ("returns >= 1 && echo", "returns >= 1"),
        ("returns >=5 sections", "returns >= 5"),
        ("should be ≤ 3 (only ours)", "returns <= 3"),
        ("— 0", "returns 0"),
        ("outputs \"ok then\"", "outputs ok then"),
        ("still returns 1626 (baseline)", "returns 1626"),
        (">= 5", "returns >= 5"),
        ("returns 0 and that is all", "returns 0"),
        ("returns 0 — none left", "returns 0"),
        ("returns 0 errors", "0 matches"),
        ("→ 0 errors", "0 matches"),
        ("returns exit code 1", "exits 1"),
        ("exit code is 1", "exits 1"),
        ("returns non-zero", "fails"),
        ("has no matches", "0 matches"),
        ("> 5 lines", "returns > 5"),
        ("≥ 5", "returns >= 5"),
        ("finds nothing", "no output"),
        ("must not pass", "fails"),
        ("outputs hello", "outputs hello"),
    ] {
        let field = format!("`cmd x` {after}");
        let commands = verify_commands(&field);
        let found = commands.first().and_then(|c| c.expects.as_ref());
        let found = found.map(ToString::to_string).unwrap_or_default();
        assert_eq!(found, expects, "{after}");
    }
}

#[test]
fn prose_behind_a_span_states_nothing_and_exit_0_is_judged() {
    for after in [
        "exits 0",
        "passes",
        "shows all green",
        "shows ≥ 40 new tests in 3 files",
        "or by hand",
        "shows line 75",
        "3",
        "fails no more",
        "\n2. Run it again",
    ] {
        let commands = verify_commands(&format!("`cmd x` {after}"));
        assert_eq!(
            commands.first().and_then(|c| c.expects.clone()),
            None,
            "{after}"
        );
    }
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
        &[("grep -c a f", IfProgram, "returns 3")],
    );
}

#[test]
fn examples_are_no_commands() {
    check("Run the tests (e.g. `curl API | jq`)", &[]);
}

#[test]
fn the_number_of_the_next_step_is_no_result() {
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
        &[("wc -l f", IfProgram, "returns < 150")],
    );
}

#[test]
fn what_is_not_to_be_run_is_no_command() {
    check("do not run `rm -rf x`", &[]);
    check("`make` is not needed", &[]);
}
