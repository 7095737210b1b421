//! One setting, ready to be shown.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::config::{Key, Origin, Settings, Sourced};

pub struct Row<'s> {
    pub key: Key,
    pub text: String,
    pub json: Value,
    pub origin: &'s Origin,
}

impl<'s> Row<'s> {
    pub fn of(key: Key, settings: &'s Settings) -> Self {
        match key {
            Key::Agent => Self::new(key, &settings.agent),
            Key::AgentPermissions => Self::new(key, &settings.agent_permissions),
            Key::AgentModel => Self::new(key, &settings.agent_model),
            Key::AgentArgs => Self::new(key, &settings.agent_args),
            // What it is made of may be secret.
            Key::AgentEnv => {
                let text = settings.agent_env.value.to_string();
                let json = Value::from(settings.agent_env.value.names());
                let origin = &settings.agent_env.origin;
                Self {
                    key,
                    text,
                    json,
                    origin,
                }
            }
            Key::Gate => Self::new(key, &settings.gate),
            Key::Timeout => Self::new(key, &settings.timeout),
            Key::VerifyTimeout => Self::new(key, &settings.verify_timeout),
            Key::IdleTimeout => Self::new(key, &settings.idle_timeout),
            Key::MaxWait => Self::new(key, &settings.max_wait),
            Key::MaxTaskIterations => Self::new(key, &settings.max_task_iterations),
            Key::MaxGlobalIterations => Self::new(key, &settings.max_global_iterations),
            Key::MaxCost => Self::new(key, &settings.max_cost),
            Key::MaxTokens => Self::new(key, &settings.max_tokens),
            Key::MaxTime => Self::new(key, &settings.max_time),
            Key::MaxTaskCost => Self::new(key, &settings.max_task_cost),
            Key::MaxTaskTokens => Self::new(key, &settings.max_task_tokens),
            Key::MaxTaskTime => Self::new(key, &settings.max_task_time),
            Key::Repairs => Self::new(key, &settings.repairs),
            Key::IncludeOptional => Self::new(key, &settings.include_optional),
            Key::Commit => Self::new(key, &settings.commit),
            Key::KeepState => Self::new(key, &settings.keep_state),
            Key::Prompts => Self::new(key, &settings.prompts),
            Key::OnEnd => Self::new(key, &settings.on_end),
        }
    }

    fn new<T: fmt::Display + Serialize>(key: Key, setting: &'s Sourced<T>) -> Self {
        Self {
            key,
            text: setting.value.to_string(),
            // Texts, numbers and lists: there is nothing that JSON could refuse.
            json: serde_json::to_value(&setting.value).unwrap_or_default(),
            origin: &setting.origin,
        }
    }
}
