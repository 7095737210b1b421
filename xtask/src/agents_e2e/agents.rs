//! The agents under test: their programs, their configuration, and how they are called.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

/// An agent under test, called by name or over the Agent Client Protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) cli: Cli,
    pub(crate) over_acp: bool,
}

impl Candidate {
    /// Two of the four speak the protocol natively.
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

    /// Returns the flags that make `regreen run` use it.
    pub(crate) fn flags(self) -> Vec<String> {
        let model = model(self.cli);
        let words = match (self.over_acp, model) {
            (true, _) => return vec!["--agent".to_owned(), format!("acp:{}", self.acp_line())],
            (false, None) => vec!["--agent", self.cli.name()],
            (false, Some(model)) => vec!["--agent", self.cli.name(), "--agent-model", model],
        };
        words.into_iter().map(str::to_owned).collect()
    }

    /// Returns the command that speaks the protocol.
    pub(crate) fn acp_line(self) -> String {
        let model = model(self.cli).map(|model| format!(" -m {model}"));
        match self.cli {
            // Only its log shows that its service refuses it.
            Cli::Opencode => "opencode acp --print-logs --log-level ERROR".to_owned(),
            cli => format!("{} --acp{}", cli.name(), model.unwrap_or_default()),
        }
    }
}

/// The program of an agent under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cli {
    Claude,
    Codex,
    Gemini,
    Opencode,
}

impl Cli {
    pub(crate) const ALL: [Self; 4] = [Self::Claude, Self::Codex, Self::Gemini, Self::Opencode];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
        }
    }

    pub(crate) fn version(self) -> &'static str {
        match self {
            Self::Claude => "2.1.325",
            Self::Codex => "0.166.0",
            Self::Gemini => "0.61.0",
            Self::Opencode => "1.18.33",
        }
    }

    fn package(self) -> &'static str {
        match self {
            Self::Claude => "@anthropic-ai/claude-code",
            Self::Codex => "@openai/codex",
            Self::Gemini => "@google/gemini-cli",
            Self::Opencode => "opencode-ai",
        }
    }

    /// Returns the program to start. Two packages would install theirs with a script, and no
    /// package scripts run here.
    fn program(self) -> String {
        let arch = match std::env::consts::ARCH {
            "aarch64" => "arm64",
            _ => "x64",
        };
        match self {
            Self::Claude => format!("@anthropic-ai/claude-code-linux-{arch}/claude"),
            Self::Codex | Self::Gemini => format!(".bin/{}", self.name()),
            Self::Opencode => format!("opencode-linux-{arch}/bin/opencode"),
        }
    }
}

/// Installs missing programs. Returns a folder with a program per agent.
pub(crate) fn install(build: &Path) -> io::Result<PathBuf> {
    let folder = build.join("cli");
    let wanted = Cli::ALL.map(|cli| format!("{}@{}", cli.package(), cli.version()));
    let stamp = folder.join("installed");
    if fs::read_to_string(&stamp).unwrap_or_default() != wanted.join("\n") {
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("package.json"), r#"{"private":true}"#)?;
        let status = Command::new("npm")
            .args(["install", "--ignore-scripts", "--no-audit", "--no-fund"])
            .args(&wanted)
            .current_dir(&folder)
            .status()?;
        if !status.success() {
            return Err(io::Error::other("npm could not install the agents"));
        }
        fs::write(&stamp, wanted.join("\n"))?;
    }
    let bin = build.join("bin");
    fs::create_dir_all(&bin)?;
    for cli in Cli::ALL {
        let link = bin.join(cli.name());
        let program = folder.join("node_modules").join(cli.program());
        if fs::read_link(&link).ok().as_ref() != Some(&program) {
            let _ = fs::remove_file(&link);
            std::os::unix::fs::symlink(program, link)?;
        }
    }
    Ok(bin)
}

/// Separate folders and a separate environment for an agent.
#[derive(Debug)]
pub(crate) struct Sandbox {
    pub(crate) home: PathBuf,
    pub(crate) work: PathBuf,
    pub(crate) environment: Vec<(&'static str, String)>,
}

impl Sandbox {
    pub(crate) fn make(folder: &Path) -> io::Result<Self> {
        let (home, work) = (folder.join("home"), folder.join("work"));
        fs::create_dir_all(&home)?;
        fs::create_dir_all(&work)?;
        Ok(Self {
            home: fs::canonicalize(home)?,
            work: fs::canonicalize(work)?,
            environment: Vec::new(),
        })
    }

    /// Points the agent at the server.
    pub(crate) fn prepare(&mut self, cli: Cli, bin: &Path, port: u16) -> io::Result<()> {
        let url = format!("http://127.0.0.1:{port}");
        let home = self.home.clone();
        let own = match cli {
            Cli::Claude => vec![
                ("ANTHROPIC_BASE_URL", url),
                ("ANTHROPIC_API_KEY", "sk-ant-dummy".to_owned()),
                ("IS_SANDBOX", "1".to_owned()),
                ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
                ("DISABLE_AUTOUPDATER", "1".to_owned()),
            ],
            Cli::Codex => {
                put(&home.join(".codex/config.toml"), &codex_config(&url))?;
                vec![("FAKE_KEY", "dummy".to_owned())]
            }
            Cli::Gemini => {
                let settings = r#"{"security":{"auth":{"selectedType":"gemini-api-key"}}}"#;
                put(&home.join(".gemini/settings.json"), settings)?;
                vec![
                    ("GOOGLE_GEMINI_BASE_URL", url),
                    ("GEMINI_API_KEY", "dummy".to_owned()),
                    ("NO_BROWSER", "1".to_owned()),
                ]
            }
            Cli::Opencode => {
                put(
                    &home.join(".config/opencode/opencode.json"),
                    &opencode_config(&url),
                )?;
                vec![
                    ("OPENCODE_DISABLE_AUTOUPDATE", "1".to_owned()),
                    ("OPENCODE_DISABLE_MODELS_FETCH", "1".to_owned()),
                    ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1".to_owned()),
                    ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1".to_owned()),
                ]
            }
        };
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display());
        let common = vec![
            ("PATH", path),
            ("HOME", home.display().to_string()),
            ("LANG", "C.UTF-8".to_owned()),
            ("TERM", "dumb".to_owned()),
        ];
        self.environment = common.into_iter().chain(own).collect();
        Ok(())
    }

    /// Lets the agent call regreen.
    pub(crate) fn put_in_path(&mut self, regreen: &Path) {
        let folder = regreen.parent().unwrap_or(regreen).display().to_string();
        let path = self
            .environment
            .iter_mut()
            .find(|(name, _)| *name == "PATH");
        if let Some((_, path)) = path {
            *path = format!("{folder}:{path}");
        }
    }

    /// Calls regreen in the sandbox. Returns whether it exits with 0.
    pub(crate) fn regreen(&self, regreen: &Path, arguments: &[&str]) -> io::Result<bool> {
        let environment = self.environment.iter();
        let status = Command::new(regreen)
            .args(arguments)
            .current_dir(&self.work)
            .env_clear()
            .envs(environment.map(|(name, value)| (name, value)))
            .stdout(Stdio::null())
            .status()?;
        Ok(status.success())
    }
}

/// Returns the model to ask for, if the agent's own choice would send extra requests.
pub(crate) fn model(cli: Cli) -> Option<&'static str> {
    match cli {
        Cli::Gemini => Some("gemini-2.5-flash"),
        Cli::Claude | Cli::Codex | Cli::Opencode => None,
    }
}

fn put(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text)
}

fn codex_config(url: &str) -> String {
    format!(
        "model = \"gpt-5.5\"\nmodel_provider = \"fake\"\n\n[model_providers.fake]\nname = \"fake\"\nbase_url = \"{url}/v1\"\nenv_key = \"FAKE_KEY\"\nwire_api = \"responses\"\n"
    )
}

fn opencode_config(url: &str) -> String {
    serde_json::json!({
        "provider": {"fake": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "Fake",
            "options": {"baseURL": format!("{url}/v1"), "apiKey": "dummy"},
            "models": {"fake-model": {"name": "Fake", "limit": {"context": 100_000, "output": 8000}, "cost": {"input": 1, "output": 2}}}
        }},
        "model": "fake/fake-model",
        // Used if regreen does not allow everything.
        "permission": {"bash": "ask", "edit": "ask"},
        "autoupdate": false
    })
    .to_string()
}
