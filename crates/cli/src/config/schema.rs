//! What the configuration files may say, for editors.

use regreen_agents::Permissions;
use serde_json::{Map, Value, json};

use super::asked_agent::AskedAgent;
use super::commit_mode::CommitMode;
use super::key::Key;
use super::money::Money;
use super::or_off::OFF;
use super::owner::Owner;
use super::time_span::TimeSpan;
use super::token_count::TokenCount;
use clap::ValueEnum as _;
use regreen_model::RepairPolicy;

/// The JSON schema of a file. It is made from the keys that the reader knows: the reader
/// takes values apart with their places in the text, so there is no type to derive it from.
#[must_use]
pub fn schema(owner: Owner) -> Value {
    let title = match owner {
        Owner::Workspace => "regreen.toml",
        Owner::User => "regreen's config.toml of a user",
    };
    let properties: Map<String, Value> = Key::open_to(owner)
        .map(|key| (key.name().to_owned(), property(key, owner)))
        .collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    })
}

fn property(key: Key, owner: Owner) -> Value {
    let mut property = Map::new();
    property.insert("description".to_owned(), json!(key.meaning()));
    if let Value::Object(shape) = shape(key, owner) {
        property.extend(shape);
    }
    Value::Object(property)
}

fn shape(key: Key, owner: Owner) -> Value {
    match key {
        Key::Agent => agent(owner),
        Key::AgentPermissions => {
            let all = Permissions::ALL.iter();
            json!({ "enum": all.map(|mode| mode.name()).collect::<Vec<&str>>() })
        }
        Key::Repairs => {
            let all = RepairPolicy::ALL.iter();
            json!({ "enum": all.map(|policy| policy.name()).collect::<Vec<&str>>() })
        }
        Key::AgentArgs => json!({ "type": "array", "items": { "type": "string" } }),
        Key::AgentEnv => {
            json!({ "type": "array", "items": { "type": "string", "pattern": "^[^=]+=" } })
        }
        Key::AgentModel | Key::Gate | Key::Prompts => json!({ "type": "string" }),
        Key::Timeout | Key::VerifyTimeout | Key::MaxWait => time(),
        Key::IdleTimeout | Key::MaxTime | Key::MaxTaskTime => or_off(&time()),
        Key::MaxCost | Key::MaxTaskCost => or_off(&money()),
        Key::MaxTokens | Key::MaxTaskTokens => {
            or_off(&json!({ "type": "integer", "minimum": 1, "maximum": TokenCount::MOST }))
        }
        Key::MaxTaskIterations | Key::MaxGlobalIterations => {
            json!({ "type": "integer", "minimum": 1, "maximum": u32::MAX })
        }
        Key::IncludeOptional | Key::KeepState => json!({ "type": "boolean" }),
        Key::Commit => {
            let modes = CommitMode::value_variants().iter();
            json!({ "enum": modes.map(|mode| mode.name()).collect::<Vec<&str>>() })
        }
        Key::OnEnd => json!({ "type": "array", "items": { "type": "string" }, "minItems": 1 }),
    }
}

fn agent(owner: Owner) -> Value {
    let names = json!({ "enum": AskedAgent::names().collect::<Vec<&str>>() });
    match owner {
        Owner::Workspace => names,
        Owner::User => {
            json!({ "anyOf": [names, { "type": "string", "pattern": "^(command|acp):" }] })
        }
    }
}

fn or_off(limit: &Value) -> Value {
    json!({ "anyOf": [{ "const": OFF }, limit] })
}

fn money() -> Value {
    json!({ "type": "number", "exclusiveMinimum": 0, "maximum": Money::MOST_DOLLARS })
}

fn time() -> Value {
    json!({ "type": "string", "pattern": TimeSpan::PATTERN })
}
