use regreen_model::{Ending, Source};

use super::*;
use crate::{Explanation, Scanner, evidence_of};

const RULES: &str = r#"
        [[rule]]
        name = "quota"
        needs = ["quota"]
        pattern = '^quota of (?P<team>\w+) is used up'
        blocker = "{team} has no quota left"
        explain = "The build farm gives {team} no more machines today"
        suggest = ["Ask for more quota in #build-farm"]
        weight = 90
        match = ["quota of web is used up"]
        ignore = ["quota: 3"]
    "#;

fn explained(rules: &str, log: &str, exit_code: i32) -> Explanation {
    let own = std::sync::Arc::new(OwnRules::parse("workspace", rules).unwrap());
    let mut scanner = Scanner::new(Source::Command).with_own_rules(own.clone());
    scanner.feed(log.as_bytes());
    let ending = Ending {
        exit_code: Some(exit_code),
        ..Ending::default()
    };
    let evidence = evidence_of(scanner.finish(), Source::Command, None, ending);
    Explanation::with_own_rules(&evidence, &own)
}

#[test]
fn an_own_rule_names_and_explains_and_decides_nothing_else() {
    let log = "quota of web is used up\nerror[E0425]: cannot find value `x` in this scope\n";
    let named = explained(RULES, log, 101);
    let plain = explained("rule = []", log, 101);
    assert_eq!(named.named_by(), Some("workspace/quota"));
    let (named, plain) = (named.failure.unwrap(), plain.failure.unwrap());
    assert_eq!(named.blocked_on.as_deref(), Some("web has no quota left"));
    assert_eq!(
        named.message,
        "The build farm gives web no more machines today"
    );
    assert_eq!(
        named.suggested_actions[0],
        "Ask for more quota in #build-farm"
    );
    assert_eq!(named.kind, plain.kind);
    assert_eq!(named.category, plain.category);
    assert_eq!(named.retry_mode, plain.retry_mode);
    assert_eq!(named.repair, plain.repair);
    assert_eq!(named.rule, plain.rule);
}

#[test]
fn an_own_rule_never_makes_a_failure() {
    let explanation = explained(RULES, "quota of web is used up\n", 0);
    assert_eq!(explanation.failure, None);
}

#[test]
fn fields_that_decide_are_refused() {
    for field in ["kind = \"disk_full\"", "retry = \"as_is\"", "proves = true"] {
        let text = format!("{RULES}\n{field}");
        let error = OwnRules::parse("workspace", &text).unwrap_err();
        assert!(matches!(error, OwnRulesError::Reserved { .. }), "{error}");
    }
    let repair = format!("{RULES}\nrepair = {{ action = \"npm_install\" }}");
    assert!(OwnRules::parse("workspace", &repair).is_err());
}

#[test]
fn examples_that_are_wrong_are_told() {
    let rules = OwnRules::parse("user", RULES).unwrap();
    assert_eq!(rules.wrong_examples(), []);
    let wrong = RULES.replace("\"quota: 3\"", "\"quota of app is used up\"");
    let wrong = OwnRules::parse("user", &wrong).unwrap().wrong_examples();
    assert_eq!(wrong.len(), 1);
    assert!(!wrong[0].should_match);
}

#[test]
fn incomplete_and_oversized_rules_are_refused() {
    for (from, to) in [
        ("needs = [\"quota\"]", "needs = []"),
        ("ignore = [\"quota: 3\"]", "ignore = []"),
        ("(?P<team>\\w+)", "(?P<team>\\w+"),
        ("(?P<team>\\w+)", "(?P<team>(?:\\w{1000}){1000})"),
    ] {
        let text = RULES.replace(from, to);
        assert!(OwnRules::parse("user", &text).is_err(), "{to}");
    }
}
