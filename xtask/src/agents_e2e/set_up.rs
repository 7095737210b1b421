//! A clean place for an agent to run in, with keys that are none.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::install::Cli;

/// Folders of its own and an environment of its own.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) home: PathBuf,
    pub(crate) work: PathBuf,
    pub(crate) environment: Vec<(&'static str, String)>,
}

impl Place {
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
}

/// The model to ask for, where the agent's own choice would ask the server for more.
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
        "autoupdate": false
    })
    .to_string()
}
