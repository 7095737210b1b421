use proptest::prelude::*;

use super::*;

#[track_caller]
fn same(kind: &str, lines: &[&str]) {
    let templates: Vec<String> = lines.iter().map(|line| template(kind, line)).collect();
    let first = &templates[0];
    assert!(templates.iter().all(|one| one == first), "{templates:#?}");
}

#[track_caller]
fn differ(kind: &str, one: &str, other: &str) {
    assert_ne!(template(kind, one), template(kind, other));
}

#[test]
fn what_varies_between_projects_makes_no_difference() {
    same(
        "missing_file",
        &[
            "cat: /srv/shop/out/a.json: No such file or directory",
            "cat: build/x.csv: No such file or directory",
            "ERROR: cat: b.txt: no such file or directory",
        ],
    );
    same(
        "connection_refused",
        &[
            "connect to db.example.org:5432 failed: Connection refused",
            "connect to 10.0.0.7:6379 failed: Connection refused",
            "connect to localhost:80 failed: Connection refused",
        ],
    );
    same(
        "runtime_exception",
        &[
            "NameError: name 'total' is not defined",
            "NameError: name \"user_count\" is not defined",
            "E   NameError: name `x` is not defined",
        ],
    );
    same(
        "runtime_exception",
        &[
            "ReferenceError: total is not defined",
            "ReferenceError: userCount is not defined",
        ],
    );
    same(
        "wrong_tool_version",
        &[
            "requires node >=18.0.0, found v16.20.2",
            "requires node >=20.1.0, found v12.1.0",
        ],
    );
    same(
        "test_failure",
        &[
            "2026-11-16 12:30:01 commit 1a2b3c4d took 12ms, expected 5",
            "2025-01-02 03:04:05 commit 99ffee012 took 3ms, expected 17",
        ],
    );
}

#[test]
fn a_missing_package_is_its_own_cause() {
    let kind = "missing_python_module";
    differ(
        kind,
        "ModuleNotFoundError: No module named 'yaml'",
        "ModuleNotFoundError: No module named 'requests'",
    );
    same(
        kind,
        &[
            "ModuleNotFoundError: No module named 'yaml.loader'",
            "ModuleNotFoundError: No module named \"yaml\"",
        ],
    );
    same(
        "missing_node_module",
        &[
            "Error: Cannot find module '@scope/kit/lib/a'",
            "Error: Cannot find module '@scope/kit'",
        ],
    );
    differ(
        "missing_command",
        "bash: line 3: kubectl: command not found",
        "bash: line 7: terraform: command not found",
    );
}

#[test]
fn errors_of_different_classes_differ() {
    let kind = "runtime_exception";
    differ(kind, "ValueError: bad value 3", "TypeError: bad value 3");
    differ(
        "compile_error",
        "error[E0425]: not found",
        "error[E0433]: not found",
    );
}

#[test]
fn a_line_that_only_wraps_another_merges_nothing() {
    let of = |line: &str, own: &str| Fingerprint::of("test_failure", line, own);
    for line in [
        "make: *** [Makefile:3: test] Error 1",
        "npm ERR! code ELIFECYCLE",
        "Process completed with exit code 2",
        "FAILED (errors=1)",
        "",
        "1",
    ] {
        assert_ne!(of(line, "a"), of(line, "b"), "{line}");
        assert_eq!(of(line, "a"), of(line, "a"), "{line}");
    }
    for line in [
        "make: *** No rule to make target 'x'.  Stop.",
        "AssertionError: 1 != 2",
    ] {
        assert_eq!(of(line, "a"), of(line, "b"), "{line}");
    }
    let timeout = |own: &str| Fingerprint::of("timeout_with_progress", "", own);
    assert_eq!(timeout("a"), timeout("b"));
}

#[test]
fn fingerprints_are_the_same_in_every_release() {
    let of = |kind: &str, line: &str| Fingerprint::of(kind, line, "").to_string();
    let named = of(
        "missing_python_module",
        "ModuleNotFoundError: No module named 'yaml'",
    );
    assert_eq!(named, "1-152a654132c66715");
    let line = "src/main.rs:3:5: error[E0425]: cannot find value `x` in this scope";
    assert_eq!(of("compile_error", line), "1-4848b62c869a345d");
}

proptest! {
    #[test]
    fn any_line_has_a_fingerprint(kind in "[a-z_]{0,12}", line in "\\PC{0,200}") {
        let once = template(&kind, &line);
        prop_assert_eq!(template(&kind, &line), once);
    }

    #[test]
    fn numbers_and_folders_make_no_difference(
        n in 0_u32..100_000,
        m in 0_u32..100_000,
        a in "(/[a-z]{1,8}){1,4}",
        b in "(/[a-z]{1,8}){1,4}",
    ) {
        let line = |n, folder: &str| format!("{folder}/main.rs:{n}: error after {n} tries");
        prop_assert_eq!(template("compile_error", &line(n, &a)), template("compile_error", &line(m, &b)));
    }
}
