//! Which command of regreen a tool is.

use std::path::PathBuf;

use rmcp::model::JsonObject;
use serde_json::Value;

use crate::command::{CallKind, CommandCall};

/// A tool and its command.
struct ToolCommand {
    tool: &'static str,
    kind: CallKind,
    /// The command and the arguments that it always has.
    command: &'static [&'static str],
    /// The argument of the tool that becomes its standard input.
    input: Option<&'static str>,
    /// Where the other arguments of the tool go.
    arguments: &'static [(&'static str, Place)],
    /// The name of the list that it prints, which the protocol wants in an object.
    list: Option<&'static str>,
}

/// Where an argument of a tool goes on the command line. Values can't become options.
#[derive(Clone, Copy)]
enum Place {
    /// `--flag=value`
    Flag(&'static str),
    /// The same, with a value if the caller gives none
    FlagOr(&'static str, &'static str),
    /// `--flag=values`, a number of seconds
    Seconds(&'static str),
    /// `--flag`, if it is true
    Switch(&'static str),
    /// after `--`
    Positional,
}

const COMMANDS: [ToolCommand; 10] = [
    ToolCommand {
        tool: "delegate_task",
        kind: CallKind::Contained,
        command: &["delegate", "--json", "--prompt-file=-"],
        input: Some("prompt"),
        arguments: &[
            ("timeout", Place::Seconds("--timeout")),
            ("retries", Place::Flag("--retries")),
            ("verify", Place::Flag("--verify")),
            ("agent", Place::Flag("--agent")),
        ],
        list: None,
    },
    ToolCommand {
        tool: "run",
        kind: CallKind::Run,
        command: &["run", "--detach"],
        input: None,
        arguments: &[
            ("agent", Place::Flag("--agent")),
            ("recovery_mode", Place::Switch("--recovery-mode")),
            ("spec", Place::Positional),
        ],
        list: None,
    },
    ToolCommand {
        tool: "status",
        kind: CallKind::Contained,
        command: &["status", "--json"],
        input: None,
        arguments: &[("spec", Place::Positional)],
        list: None,
    },
    ToolCommand {
        tool: "why",
        kind: CallKind::Contained,
        command: &["why"],
        input: None,
        arguments: &[("spec", Place::Flag("--spec")), ("task", Place::Positional)],
        list: None,
    },
    ToolCommand {
        tool: "explain",
        kind: CallKind::Contained,
        command: &["explain", "--json"],
        input: Some("log"),
        arguments: &[
            ("exit_code", Place::Flag("--exit-code")),
            ("command", Place::Flag("--command")),
        ],
        list: None,
    },
    ToolCommand {
        tool: "failures",
        kind: CallKind::Contained,
        command: &["failures", "--json"],
        input: None,
        arguments: &[
            ("since", Place::Flag("--since")),
            ("kind", Place::Flag("--kind")),
            // An agent reads all of them.
            ("limit", Place::FlagOr("--limit", "50")),
        ],
        list: Some("failures"),
    },
    ToolCommand {
        tool: "stats",
        kind: CallKind::Contained,
        command: &["stats", "--json"],
        input: None,
        arguments: &[
            ("since", Place::Flag("--since")),
            ("spec", Place::Flag("--spec")),
            ("agent", Place::Flag("--agent")),
        ],
        list: None,
    },
    ToolCommand {
        tool: "questions",
        kind: CallKind::Contained,
        command: &["questions", "--json"],
        input: None,
        arguments: &[],
        list: Some("questions"),
    },
    ToolCommand {
        tool: "stop",
        kind: CallKind::Decision,
        command: &["stop"],
        input: None,
        arguments: &[("after_task", Place::Switch("--after-task"))],
        list: None,
    },
    ToolCommand {
        tool: "answer",
        kind: CallKind::Decision,
        command: &["answer"],
        input: None,
        arguments: &[
            ("question", Place::Positional),
            ("choice", Place::Positional),
            ("text", Place::Positional),
        ],
        list: None,
    },
];

fn find(tool: &str) -> Option<&'static ToolCommand> {
    COMMANDS.iter().find(|one| one.tool == tool)
}

/// Whether there is such a tool.
#[cfg(test)]
pub(crate) fn is_known(tool: &str) -> bool {
    find(tool).is_some()
}

/// Returns the name of the list that a tool's command prints.
pub(crate) fn list_name(tool: &str) -> Option<&'static str> {
    find(tool).and_then(|one| one.list)
}

/// Returns the command for a tool, given arguments that fit its schema.
pub(crate) fn command(tool: &str, arguments: &JsonObject) -> Option<CommandCall> {
    let found = find(tool)?;
    let text = |name: &str| arguments.get(name).map(plain);
    let mut flags: Vec<String> = found.command.iter().map(|&one| one.to_owned()).collect();
    let mut positional = Vec::new();
    for (name, place) in found.arguments {
        let Some(value) = arguments.get(*name) else {
            if let Place::FlagOr(flag, value) = place {
                flags.push(format!("{flag}={value}"));
            }
            continue;
        };
        match place {
            Place::Flag(flag) | Place::FlagOr(flag, _) => {
                flags.push(format!("{flag}={}", plain(value)));
            }
            Place::Seconds(flag) => flags.push(format!("{flag}={}s", plain(value))),
            Place::Switch(flag) if *value == Value::Bool(true) => flags.push((*flag).to_owned()),
            Place::Switch(_) => {}
            Place::Positional => positional.push(plain(value)),
        }
    }
    if !positional.is_empty() {
        flags.push("--".to_owned());
        flags.extend(positional);
    }
    Some(CommandCall {
        kind: found.kind,
        arguments: flags,
        input: found.input.and_then(text).unwrap_or_default(),
        folder: text("cwd").map(PathBuf::from),
    })
}

/// Returns a string as it is, and any other value as JSON.
fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn line(tool: &str, arguments: &Value) -> String {
        let arguments = arguments.as_object().expect("an object");
        let call = command(tool, arguments).expect("a command");
        call.arguments.join(" ")
    }

    #[test]
    fn arguments_become_those_of_the_command() {
        for (tool, arguments, expected) in [
            (
                "delegate_task",
                json!({"prompt": "do it", "timeout": 1.5, "retries": 2, "verify": "a && b"}),
                "delegate --json --prompt-file=- --timeout=1.5s --retries=2 --verify=a && b",
            ),
            (
                "run",
                json!({"spec": "login", "recovery_mode": true}),
                "run --detach --recovery-mode -- login",
            ),
            ("run", json!({"recovery_mode": false}), "run --detach"),
            (
                "why",
                json!({"task": "1.2", "spec": "s"}),
                "why --spec=s -- 1.2",
            ),
            ("failures", json!({}), "failures --json --limit=50"),
            (
                "answer",
                json!({"question": "1.2", "choice": "context", "text": "use v2"}),
                "answer -- 1.2 context use v2",
            ),
        ] {
            assert_eq!(line(tool, &arguments), expected);
        }
    }

    #[test]
    fn a_value_never_becomes_an_option() {
        for value in ["--agent=command:x", "-x", "--"] {
            let call = line("why", &json!({"task": value, "spec": value}));
            assert_eq!(call, format!("why --spec={value} -- {value}"));
        }
    }

    #[test]
    fn the_prompt_is_standard_input() {
        let arguments = json!({"prompt": "-- $(rm)\n'x'"});
        let call = command("delegate_task", arguments.as_object().expect("an object"));
        assert_eq!(call.expect("a command").input, "-- $(rm)\n'x'");
    }
}
