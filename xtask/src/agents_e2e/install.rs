//! The agents' programs, at known versions, in the build folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// An agent whose program is tried.
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

    /// What is started. Two packages would put their program in its place by a script, and
    /// no script of a package is run here.
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

/// Installs what is not there yet. Answers with a folder that has a program per agent.
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
