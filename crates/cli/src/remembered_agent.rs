//! Remembers the agent that a run was started with, for the command that continues it. A spec that
//! is done keeps its agent: what a person reopens later is done by the same one.
//!
//! It is stored in the user's state folder, because a workspace must not choose programs. The
//! agent's environment is not stored, because its values are often secret.

use std::str::FromStr;

use regreen_runtime::SpecPaths;
use serde::{Deserialize, Serialize};

use crate::config::{AgentFlags, AgentLayer, Origin, Setting, Settings, parse_choice};
use crate::output;
use crate::user_state::StateRecord;

/// The flags that chose the agent, as written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RememberedAgent {
    agent: Option<String>,
    permissions: Option<String>,
    model: Option<String>,
    arguments: Option<String>,
}

impl RememberedAgent {
    /// Returns the flags that the spec's last run was started with, unless these flags choose an
    /// agent. Empty if that run chose none by flags.
    pub fn recall(paths: &SpecPaths, flags: &AgentFlags) -> Self {
        let record = record(paths).filter(|_| flags.agent.is_none());
        record.and_then(|record| record.read()).unwrap_or_default()
    }

    /// Returns the settings made by the flags.
    pub fn layer(&self) -> AgentLayer {
        AgentLayer {
            agent: setting(self.agent.as_deref()),
            permissions: self
                .permissions
                .as_deref()
                .and_then(|name| parse_choice(name).ok())
                .map(remembered),
            model: setting(self.model.as_deref()),
            arguments: setting(self.arguments.as_deref()),
        }
    }

    /// Returns the agent settings of this run that come from flags, its own or remembered ones.
    pub fn of(settings: &Settings) -> Self {
        Self {
            agent: from_flags(&settings.agent),
            permissions: from_flags(&settings.agent_permissions),
            model: from_flags(&settings.agent_model)
                .filter(|_| settings.agent_model.value.get().is_some()),
            arguments: from_flags(&settings.agent_args)
                .filter(|_| !settings.agent_args.value.words().is_empty()),
        }
    }

    /// Remembers the flags for the spec's next run.
    pub fn save(&self, paths: &SpecPaths) {
        let Some(record) = record(paths) else { return };
        if *self == Self::default() {
            record.forget();
        } else if let Err(error) = record.write(self) {
            output::note(&format!(
                "the agent of this run can't be remembered, so pass --agent again to continue it: {error}"
            ));
        }
    }
}

fn record(paths: &SpecPaths) -> Option<StateRecord> {
    StateRecord::new("agents", (&paths.root, paths.spec_key()))
}

fn setting<T: FromStr>(text: Option<&str>) -> Option<Setting<T>> {
    text?.parse().ok().map(remembered)
}

fn remembered<T>(value: T) -> Setting<T> {
    let origin = Origin::Remembered;
    Setting { value, origin }
}

fn from_flags<T: ToString>(setting: &Setting<T>) -> Option<String> {
    let is_from_flags = matches!(setting.origin, Origin::Flag | Origin::Remembered);
    is_from_flags.then(|| setting.value.to_string())
}
