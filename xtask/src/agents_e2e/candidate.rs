use super::install::Cli;
use super::set_up;

/// Who is tried: an agent, called by its name or over the Agent Client Protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) cli: Cli,
    pub(crate) over_acp: bool,
}

impl Candidate {
    /// Two of the four speak the protocol by themselves.
    pub(crate) const ALL: [Self; 6] = [
        Self::named(Cli::Claude),
        Self::named(Cli::Codex),
        Self::named(Cli::Gemini),
        Self::named(Cli::Opencode),
        Self::over_acp(Cli::Gemini),
        Self::over_acp(Cli::Opencode),
    ];

    const fn named(cli: Cli) -> Self {
        let over_acp = false;
        Self { cli, over_acp }
    }

    const fn over_acp(cli: Cli) -> Self {
        let over_acp = true;
        Self { cli, over_acp }
    }

    pub(crate) fn name(self) -> String {
        let prefix = if self.over_acp { "acp_" } else { "" };
        format!("{prefix}{}", self.cli.name())
    }

    /// How `regreen run` is told to take it.
    pub(crate) fn flags(self) -> Vec<String> {
        let model = set_up::model(self.cli);
        let words = match (self.over_acp, model) {
            (true, _) => return vec!["--agent".to_owned(), format!("acp:{}", self.acp_line())],
            (false, None) => vec!["--agent", self.cli.name()],
            (false, Some(model)) => vec!["--agent", self.cli.name(), "--agent-model", model],
        };
        words.into_iter().map(str::to_owned).collect()
    }

    /// The command that speaks the protocol.
    pub(crate) fn acp_line(self) -> String {
        let model = set_up::model(self.cli).map(|model| format!(" -m {model}"));
        match self.cli {
            // Its log is the only place where it tells that its service refuses it.
            Cli::Opencode => "opencode acp --print-logs --log-level ERROR".to_owned(),
            cli => format!("{} --acp{}", cli.name(), model.unwrap_or_default()),
        }
    }
}
