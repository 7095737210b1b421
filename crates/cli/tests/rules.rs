//! `regreen rules`, and the workspace's own rules in `explain` and in a run.

use regreen_test_support::Workspace;
use snapbox::str;

const RULES: &str = r#"
[[rule]]
name = "quota"
needs = ["quota"]
pattern = '^quota of (?P<team>\w+) is used up'
explain = "The build farm gives {team} no more machines today"
suggest = ["Ask for more quota in #build-farm"]
match = ["quota of web is used up"]
ignore = ["quota: 3"]
"#;

const LOG: &str = "starting\nquota of web is used up\nbye\n";

fn workspace() -> Workspace {
    Workspace::new()
        .file("rules/farm.toml", RULES)
        .file("out.log", LOG)
}

#[test]
fn explain_names_the_cause_as_the_workspace_does() {
    workspace()
        .regreen(&["explain", "out.log", "--exit-code", "1"])
        .exits(0)
        .prints(str![[r#"
    FAIL  rate limit
          quota of web is used up
          The build farm gives web no more machines today
    Next  Ask for more quota in #build-farm
          Wait, then retry
   Retry  may succeed as it is
   Where  line 2 of the log
            starting
          > quota of web is used up
            bye
    Rule  workspace/quota · rate_limited · 45% sure

"#]]);
}

#[test]
fn examples_are_tried() {
    workspace()
        .regreen(&["rules", "test"])
        .exits(0)
        .prints(str![[r#"
    PASS  1 rule; all its examples pass

"#]]);
    Workspace::new()
        .file(
            "rules/farm.toml",
            RULES.replace("quota: 3", "quota of app is used up"),
        )
        .regreen(&["rules", "test"])
        .exits(1)
        .prints(str![[r#"
    FAIL  workspace/quota
          must ignore: quota of app is used up

"#]]);
}

#[test]
fn a_rule_that_would_decide_something_is_refused() {
    let test = Workspace::new()
        .file("rules/farm.toml", format!("{RULES}retry = \"as_is\"\n"))
        .file("out.log", LOG);
    test.regreen(&["rules", "test"]).exits(1).prints(str![[r#"
    FAIL  rules/farm.toml
          rule `quota`: `retry` is reserved for regreen's own rules; yours may name and explain a cause

"#]]);
    let answer = test
        .regreen(&["explain", "out.log", "--exit-code", "1", "--json"])
        .exits(0);
    let json: serde_json::Value = serde_json::from_str(&answer.stdout).unwrap();
    assert_eq!(json["named_by"], serde_json::Value::Null);
}

#[test]
fn files_of_other_programs_are_left_alone() {
    Workspace::new()
        .file("rules/other.toml", "severity = \"high\"\n")
        .regreen(&["rules", "test"])
        .exits(0)
        .prints(str![[r#"
    PASS  no rules of your own in rules/*.toml

"#]]);
}

#[test]
fn why_shows_what_the_ranking_chose_from() {
    let shown = workspace()
        .file(
            "two.log",
            "bash: jq: command not found\nmake: *** [a] Error 127\n",
        )
        .regreen(&["rules", "why", "two.log"])
        .exits(0)
        .stdout
        .clone();
    assert!(
        shown.starts_with("missing_command · shell/command-not-found, line 1\n"),
        "{shown}"
    );
    assert!(shown.contains("shell/make-failed"), "{shown}");
    let own = workspace()
        .regreen(&["rules", "why", "out.log"])
        .exits(0)
        .stdout
        .clone();
    assert!(own.contains(" own       2  workspace/quota\n"), "{own}");
}

#[test]
fn list_begins_with_your_own_rules() {
    let shown = workspace()
        .regreen(&["rules", "list"])
        .exits(0)
        .stdout
        .clone();
    assert!(shown.starts_with("workspace/quota"), "{shown}");
    assert!(shown.contains("missing_python_module"), "{shown}");
}
