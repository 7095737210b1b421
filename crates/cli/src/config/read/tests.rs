use super::*;

fn read(owner: Owner, text: &str) -> Result<Layer, Vec<ConfigFault>> {
    let file = ConfigFile {
        owner,
        path: Arc::from(Path::new("/w/regreen.toml")),
        user_file: "config.toml".to_owned(),
    };
    read_layer(text, &file)
}

/// Compares the faults in a file, each as `text: label`.
#[track_caller]
fn check(owner: Owner, text: &str, expected: &[&str]) {
    let faults = read(owner, text).unwrap_err();
    let shown: Vec<String> = faults
        .iter()
        .map(|fault| format!("{}: {}", &text[fault.span.clone()], fault.label))
        .collect();
    assert_eq!(shown, expected);
}

#[test]
fn an_empty_file_sets_nothing() {
    for text in ["", "\u{feff}", "# only a comment\r\n"] {
        assert_eq!(read(Owner::Workspace, text), Ok(Layer::default()));
    }
}

#[test]
fn a_value_knows_its_line() {
    let text = "# ours\r\n\r\ntimeout = \"45m\"\r\ncommit = \"never\"\r\n";
    let layer = read(Owner::Workspace, text).unwrap();
    let line = |origin: &Origin| origin.file_and_line().unwrap().1;
    assert_eq!(line(&layer.timeout.unwrap().origin), 3);
    assert_eq!(line(&layer.commit.unwrap().origin), 4);
}

#[test]
fn every_fault_is_reported_in_the_order_of_the_file() {
    check(
        Owner::User,
        "timout = '5m'\nmax_wait = 7\nagent = 'clyde'\ninclude_optional = 'yes'\n",
        &[
            "timout: did you mean `timeout`?",
            "7: expected a time with its unit, found an integer",
            "'clyde': unknown agent `clyde`",
            "'yes': expected a boolean, found a string",
        ],
    );
}

#[test]
fn values_of_the_wrong_type_are_pointed_at() {
    check(
        Owner::User,
        "[timeout]\nminutes = 5\n",
        &["[timeout]: expected a string, found a table"],
    );
    check(
        Owner::User,
        "max_task_iterations = 1.5",
        &["1.5: expected an integer, found a float"],
    );
    check(
        Owner::User,
        "max_task_iterations = -1",
        &["-1: `-1` is too small"],
    );
    check(
        Owner::User,
        "on_end = 'say done'",
        &["'say done': expected an array, found a string"],
    );
    check(
        Owner::User,
        "on_end = ['say', 7]",
        &["7: expected a string, found an integer"],
    );
    check(Owner::User, "on_end = []", &["[]: missing program"]);
    check(
        Owner::User,
        "commit = 2026-01-01",
        &["2026-01-01: expected a string, found a datetime"],
    );
}

#[test]
fn a_mistake_in_the_toml_is_pointed_at() {
    let faults = read(Owner::Workspace, "timeout = \ngate = 'x'").unwrap_err();
    assert_eq!(faults.len(), 1);
    assert_eq!(faults[0].message, "invalid TOML");
    let twice = read(Owner::Workspace, "gate = 'x'\ngate = 'y'").unwrap_err();
    assert_eq!(twice[0].label, "duplicate key");
}

#[test]
fn a_repository_is_not_trusted_with_power() {
    for agent in ["command:./evil.sh", " command:./evil.sh"] {
        check(
            Owner::Workspace,
            &format!("agent = '{agent}'"),
            &[&format!(
                "'{agent}': only these are allowed here: auto, claude, codex, gemini, opencode, shell"
            )],
        );
    }
    let says = "it chooses a program to run on your machine";
    check(
        Owner::Workspace,
        "on_end = ['./evil.sh']",
        &[&format!("on_end: {says}")],
    );
    check(
        Owner::Workspace,
        "[agents.claude]\nprogram = './evil.sh'",
        &[&format!("agents: {says}")],
    );
    check(
        Owner::Workspace,
        "prompts = '../../elsewhere'",
        &["'../../elsewhere': `../../elsewhere` is outside the workspace"],
    );
}

#[test]
fn the_user_is_trusted_with_power() {
    let text = "agent = 'command:my-agent --fast'\non_end = ['say', 'done']\nprompts = '/p'";
    assert!(read(Owner::User, text).is_ok());
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    /// Generates valid and invalid lines.
    fn line() -> impl Strategy<Value = String> {
        let keys: Vec<&str> = Key::ALL.iter().map(|key| key.name()).collect();
        let key = prop_oneof![
            proptest::sample::select(keys).prop_map(str::to_owned),
            "[a-z_]{1,9}"
        ];
        let value = prop_oneof![
            Just("'5m'".to_owned()),
            Just("7".to_owned()),
            Just("true".to_owned()),
            Just("['a']".to_owned()),
            Just("'command:x'".to_owned()),
            "\\PC{0,8}",
        ];
        (key, value).prop_map(|(key, value)| format!("{key} = {value}"))
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_at_a_span_of_it(lines in proptest::collection::vec(line(), 0..5)) {
            let text = lines.join("\n");
            for owner in [Owner::Workspace, Owner::User] {
                match read(owner, &text) {
                    Ok(layer) if owner == Owner::Workspace => {
                        prop_assert_eq!(layer.on_end, None);
                        let agent = layer.agent.map(|agent| agent.value.to_string());
                        prop_assert!(agent.is_none_or(|agent| !agent.contains(':')));
                    }
                    Ok(_) => {}
                    Err(faults) => {
                        prop_assert!(!faults.is_empty());
                        for fault in faults {
                            prop_assert!(text.get(fault.span).is_some());
                        }
                    }
                }
            }
        }
    }
}
