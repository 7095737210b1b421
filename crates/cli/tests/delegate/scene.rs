//! A workspace, a child agent that follows a script, and all that comes of delegating to it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use regex::Regex;
use snapbox::IntoData as _;

use crate::support::Test;

pub(crate) struct Scene {
    pub(crate) test: Test,
    /// The agent and its notes: no part of the workspace.
    outside: tempfile::TempDir,
}

/// What a delegation said.
pub(crate) struct Told {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Scene {
    /// The child's doings by the number of its attempt, as arms of a `case`: `1) … ;;`. It
    /// knows `$prompt` and `$notes`, a folder of its own.
    pub(crate) fn new(arms: &str) -> Self {
        let outside = tempfile::tempdir().unwrap();
        let script = format!(
            "prompt=$(cat)\n\
             notes=${{0%/*}}\n\
             printf '%s\\n' \"$prompt\" >\"$notes/$REGREEN_ATTEMPT.prompt\"\n\
             case $REGREEN_ATTEMPT in\n{arms}\nesac\n"
        );
        fs::write(outside.path().join("agent.sh"), script).unwrap();
        Self {
            test: Test::new(),
            outside,
        }
    }

    /// A script in the place of Claude Code that prints what that prints.
    pub(crate) fn claude(script: &str) -> Self {
        let scene = Self::new("");
        let bin = scene.outside.path().join("bin");
        fs::create_dir(&bin).unwrap();
        let program = bin.join("claude");
        let head = "#!/bin/sh\nnotes=${0%/*}/..\necho \"$*\" >>\"$notes/calls\"\n\
                    cat >\"$notes/$REGREEN_ATTEMPT.prompt\"\n";
        fs::write(&program, format!("{head}{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        scene
    }

    pub(crate) fn file(mut self, path: &str, text: &str) -> Self {
        self.test = self.test.file(path, text);
        self
    }

    pub(crate) fn note(&self, name: &str) -> String {
        fs::read_to_string(self.outside.path().join(name)).unwrap()
    }

    pub(crate) fn has_note(&self, name: &str) -> bool {
        self.note_path(name).exists()
    }

    pub(crate) fn note_path(&self, name: &str) -> PathBuf {
        self.outside.path().join(name)
    }

    pub(crate) fn agent_flag(&self) -> String {
        format!("command:sh {}/agent.sh", self.outside.path().display())
    }

    /// With the scripted agent, by whatever name it goes.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let bin = self.outside.path().join("bin");
        let path = std::env::var("PATH").unwrap();
        let mut command = self.test.command(&["delegate"]);
        if bin.exists() {
            command.env("PATH", format!("{}:{path}", bin.display()));
        } else {
            command.args(["--agent", &self.agent_flag()]);
        }
        command.args(arguments);
        command
    }

    pub(crate) fn delegate(&self, arguments: &[&str]) -> Told {
        let output = self.command(arguments).output().unwrap();
        let answer = self.test.answer(&output);
        Told {
            code: answer.code,
            stdout: self.plain(&answer.stdout),
            stderr: self.plain(&answer.stderr),
        }
    }

    pub(crate) fn regreen(&self, arguments: &[&str]) -> Told {
        let answer = self.test.run(arguments);
        Told {
            code: answer.code,
            stdout: self.plain(&answer.stdout),
            stderr: self.plain(&answer.stderr),
        }
    }

    /// What was printed, whenever it was.
    pub(crate) fn plain(&self, text: &str) -> String {
        let outside = self.outside.path().display().to_string();
        let mut text = text.replace(&outside, "[AGENT]");
        for (pattern, name) in [
            (r"child-\d{8}-\d{6}(-\d+)?", "[CHILD]"),
            (r"\b\d{8}-\d{6}(-\d+)?\b", "[RUN]"),
            (r"Duration: \d+\.\ds", "Duration: [TIME]"),
            (r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d{3}Z)?", "[WHEN]"),
            (r#""(duration|duration_ms)": [\d.]+"#, r#""$1": [TIME]"#),
            (r"\S*/bash: line", "bash: line"),
        ] {
            let pattern = Regex::new(pattern).unwrap();
            text = pattern.replace_all(&text, name).into_owned();
        }
        text
    }
}

impl Told {
    #[track_caller]
    pub(crate) fn shows(self, expected: impl snapbox::IntoData) {
        let mut all = self.stdout;
        if !self.stderr.is_empty() {
            all.push_str(&format!("--- standard error\n{}", self.stderr));
        }
        all.push_str(&format!("--- exit code {:?}\n", self.code));
        snapbox::assert_data_eq!(all.into_data().raw(), expected.into_data().raw());
    }

    /// The text between a tag of the metadata and its end, as a simple parser finds it.
    pub(crate) fn tag(&self, name: &str) -> Option<&str> {
        let (_, rest) = self.stdout.split_once(&format!("<{name}>"))?;
        Some(rest.split_once(&format!("</{name}>"))?.0)
    }
}
