use super::owner::Owner;

/// Everything that a configuration file can set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Agent,
    AgentPermissions,
    AgentModel,
    AgentArgs,
    AgentEnv,
    Gate,
    Timeout,
    VerifyTimeout,
    IdleTimeout,
    MaxWait,
    MaxTaskIterations,
    MaxGlobalIterations,
    MaxCost,
    MaxTokens,
    MaxTime,
    MaxTaskCost,
    MaxTaskTokens,
    MaxTaskTime,
    Repairs,
    IncludeOptional,
    Commit,
    KeepState,
    Prompts,
    OnEnd,
}

impl Key {
    pub const ALL: [Self; 24] = [
        Self::Agent,
        Self::AgentPermissions,
        Self::AgentModel,
        Self::AgentArgs,
        Self::AgentEnv,
        Self::Gate,
        Self::Timeout,
        Self::VerifyTimeout,
        Self::IdleTimeout,
        Self::MaxWait,
        Self::MaxTaskIterations,
        Self::MaxGlobalIterations,
        Self::MaxCost,
        Self::MaxTokens,
        Self::MaxTime,
        Self::MaxTaskCost,
        Self::MaxTaskTokens,
        Self::MaxTaskTime,
        Self::Repairs,
        Self::IncludeOptional,
        Self::Commit,
        Self::KeepState,
        Self::Prompts,
        Self::OnEnd,
    ];

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|key| key.name() == name)
    }

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::AgentPermissions => "agent_permissions",
            Self::AgentModel => "agent_model",
            Self::AgentArgs => "agent_args",
            Self::AgentEnv => "agent_env",
            Self::Gate => "gate",
            Self::Timeout => "timeout",
            Self::VerifyTimeout => "verify_timeout",
            Self::IdleTimeout => "idle_timeout",
            Self::MaxWait => "max_wait",
            Self::MaxTaskIterations => "max_task_iterations",
            Self::MaxGlobalIterations => "max_global_iterations",
            Self::MaxCost => "max_cost",
            Self::MaxTokens => "max_tokens",
            Self::MaxTime => "max_time",
            Self::MaxTaskCost => "max_task_cost",
            Self::MaxTaskTokens => "max_task_tokens",
            Self::MaxTaskTime => "max_task_time",
            Self::Repairs => "repairs",
            Self::IncludeOptional => "include_optional",
            Self::Commit => "commit",
            Self::KeepState => "keep_state",
            Self::Prompts => "prompts",
            Self::OnEnd => "on_end",
        }
    }

    /// What it means, for the schema.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Agent => "Who works on the tasks.",
            Self::AgentPermissions => {
                "What the agent may do: \"skip\" tells it not to ask, \"own\" leaves it to its own settings."
            }
            Self::AgentModel => "The model that the agent is to use. Empty: its own choice.",
            Self::AgentArgs => "More arguments for the agent.",
            Self::AgentEnv => "More environment for the agent, each NAME=VALUE.",
            Self::Gate => {
                "A shell command that checks the whole workspace where a task has no Verify of its own. Empty: none."
            }
            Self::Timeout => "How long one attempt may take.",
            Self::VerifyTimeout => "How long one Verify may take.",
            Self::IdleTimeout => "How long an attempt may show no sign of life; \"off\": any time.",
            Self::MaxWait => "How long a run may wait altogether for an agent's service.",
            Self::MaxTaskIterations => "Attempts of one task.",
            Self::MaxGlobalIterations => {
                "Attempts of a whole run. 100, the default, means 100 or twice the tasks, whichever is more."
            }
            Self::MaxCost => {
                "What a run may cost, in dollars, where the agent says what it costs; \"off\": anything."
            }
            Self::MaxTokens => {
                "How many tokens a run may use up, where the agent counts them; \"off\": any number."
            }
            Self::MaxTime => {
                "How long a run may take: attempts, Verify and waiting together; \"off\": any time."
            }
            Self::MaxTaskCost => "What one task may cost with its fixes.",
            Self::MaxTaskTokens => "How many tokens one task may use up with its fixes.",
            Self::MaxTaskTime => "How long one task may take with its fixes: attempts and Verify.",
            Self::Repairs => {
                "What regreen may repair by itself in a run with recovery: \"safe\" is what a look at the workspace allows, \"ask\" what a person agrees to, \"off\" nothing."
            }
            Self::IncludeOptional => "Whether optional tasks are run as well.",
            Self::Commit => "Whether finished tasks are committed.",
            Self::KeepState => "Whether the state file stays when all is done.",
            Self::Prompts => {
                "A folder, relative to this file, with texts that replace the built-in prompts."
            }
            Self::OnEnd => "A program and its arguments to run when a run has ended.",
        }
    }

    /// Whether a file of this owner may set it at all.
    #[must_use]
    pub fn is_open_to(self, owner: Owner) -> bool {
        match (self, owner) {
            (
                Self::OnEnd
                | Self::AgentPermissions
                | Self::AgentModel
                | Self::AgentArgs
                | Self::AgentEnv
                | Self::Repairs,
                Owner::Workspace,
            ) => false,
            (_, Owner::Workspace | Owner::User) => true,
        }
    }

    /// What a file of this owner may set.
    pub fn open_to(owner: Owner) -> impl Iterator<Item = Self> {
        Self::ALL
            .into_iter()
            .filter(move |key| key.is_open_to(owner))
    }

    /// The known key that looks most like this one, if any does.
    #[must_use]
    pub fn nearest(name: &str, owner: Owner) -> Option<Self> {
        const ALIKE: f64 = 0.5;
        let name = name.replace('-', "_").to_lowercase();
        let rated = Self::open_to(owner).map(|key| (key, likeness(&name, key.name())));
        let (key, likeness) = rated.max_by(|(_, one), (_, other)| one.total_cmp(other))?;
        (likeness >= ALIKE).then_some(key)
    }
}

/// From 0 to 1: typed wrongly, or only a part of it.
fn likeness(name: &str, key: &str) -> f64 {
    const PART: f64 = 0.7;
    let is_part = name.len() >= 3 && (key.contains(name) || name.contains(key));
    let typed = strsim::normalized_damerau_levenshtein(name, key);
    typed.max(if is_part { PART } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_key_leads_to_the_right_one() {
        for (name, key) in [
            ("timout", Some("timeout")),
            ("verify-timeout", Some("verify_timeout")),
            ("Agent", Some("agent")),
            ("agents", Some("agent")),
            ("max_iterations", Some("max_task_iterations")),
            ("task_iterations", Some("max_task_iterations")),
            ("optional", Some("include_optional")),
            ("keepstate", Some("keep_state")),
            ("commits", Some("commit")),
            ("colour", None),
            ("", None),
        ] {
            let nearest = Key::nearest(name, Owner::User).map(Key::name);
            assert_eq!(nearest, key, "{name}");
        }
    }

    #[test]
    fn a_repository_is_led_to_nothing_that_it_may_not_set() {
        assert_eq!(Key::nearest("on_edn", Owner::Workspace), None);
        assert_eq!(Key::nearest("on_edn", Owner::User), Some(Key::OnEnd));
    }

    #[test]
    fn every_key_is_found_by_its_name() {
        for key in Key::ALL {
            assert_eq!(Key::named(key.name()), Some(key));
        }
    }
}
