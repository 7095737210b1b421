//! Claude Code's settings, to which `regreen init --claude` adds hooks.

use serde_json::{Map, Value, json};
use thiserror::Error;

use super::state_file::{InvalidState, StateDocument};

const HOOKS: &str = "hooks";

/// Why no hooks can be added to settings.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InvalidSettings {
    /// The text is not a JSON object.
    #[error(transparent)]
    Text(#[from] InvalidState),
    /// The value has another type than Claude Code expects.
    #[error("`{0}` has an unexpected type")]
    UnexpectedType(String),
}

/// Returns the settings with those hooks that they lack; `None` if they have all of them. Both texts
/// have a table `hooks`: for each event a list of groups, each with a list of commands.
///
/// # Errors
/// Returns an error if the text is not a JSON object, or has hooks of another shape.
pub fn with_claude_hooks(text: &str, hooks: &str) -> Result<Option<String>, InvalidSettings> {
    let (wanted, _) = StateDocument::read(hooks)?;
    let (mut settings, _) = StateDocument::read(text)?;
    let wanted = wanted.value.get(HOOKS).and_then(Value::as_object);
    let own = settings.value.entry(HOOKS).or_insert_with(|| json!({}));
    let own = own
        .as_object_mut()
        .ok_or_else(|| InvalidSettings::UnexpectedType(HOOKS.to_owned()))?;
    let mut is_complete = true;
    for (event, groups) in wanted.into_iter().flatten() {
        for group in groups.as_array().into_iter().flatten() {
            is_complete &= !added(own, event, group)?;
        }
    }
    Ok((!is_complete).then(|| settings.to_text()))
}

/// Adds a group of hooks to an event, unless its commands are there. Returns whether it did.
fn added(
    own: &mut Map<String, Value>,
    event: &str,
    group: &Value,
) -> Result<bool, InvalidSettings> {
    let groups = own.entry(event).or_insert_with(|| json!([]));
    let groups = groups
        .as_array_mut()
        .ok_or_else(|| InvalidSettings::UnexpectedType(format!("{HOOKS}.{event}")))?;
    let present: Vec<&str> = groups.iter().flat_map(commands).collect();
    let is_missing = commands(group).any(|command| !present.contains(&command));
    if is_missing {
        groups.push(group.clone());
    }
    Ok(is_missing)
}

fn commands(group: &Value) -> impl Iterator<Item = &str> {
    let hooks = group.get(HOOKS).and_then(Value::as_array);
    let commands = hooks.into_iter().flatten();
    commands.filter_map(|hook| hook.get("command")?.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    const WANTED: &str = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "regreen hook stop"}]}]}}"#;

    #[test]
    fn hooks_are_added_once_and_nothing_else_changes() {
        let text = "{\n    \"model\": \"opus\",\n    \"hooks\": {\n        \"Stop\": [\n            {\n                \"hooks\": [\n                    {\n                        \"type\": \"command\",\n                        \"command\": \"say done\"\n                    }\n                ]\n            }\n        ]\n    },\n    \"cost\": 1.50\n}";
        let changed = with_claude_hooks(text, WANTED).unwrap().unwrap();
        let expected = text.replace(
            "            }\n        ]",
            "            },\n            {\n                \"hooks\": [\n                    {\n                        \"type\": \"command\",\n                        \"command\": \"regreen hook stop\"\n                    }\n                ]\n            }\n        ]",
        );
        assert_eq!(changed, expected);
        assert_eq!(with_claude_hooks(&changed, WANTED), Ok(None));
        let new = with_claude_hooks("{}", WANTED).unwrap().unwrap();
        assert_eq!(with_claude_hooks(&new, WANTED), Ok(None));
    }

    #[test]
    fn settings_that_are_not_understood_are_refused() {
        let refused = |text: &str| with_claude_hooks(text, WANTED).unwrap_err().to_string();
        assert!(refused("// mine\n{}").starts_with("not JSON"));
        assert_eq!(refused("[]"), "JSON, but not an object");
        let of = |what: &str| format!("`{what}` has an unexpected type");
        assert_eq!(refused(r#"{"hooks": []}"#), of("hooks"));
        assert_eq!(refused(r#"{"hooks": {"Stop": {}}}"#), of("hooks.Stop"));
    }
}
