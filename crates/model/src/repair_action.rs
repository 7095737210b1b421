use std::fmt;

use serde::{Deserialize, Serialize};

/// A repair of the environment that a failure suggests. Only a candidate: whether it may be
/// carried out is decided by looking at the workspace.
///
/// Never a shell string: names and paths, each an argument of its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum RepairAction {
    AptInstall {
        args: Vec<String>,
    },
    /// Something only a person can give.
    Ask {
        what: String,
    },
    CargoAdd {
        args: Vec<String>,
    },
    CargoInstall {
        args: Vec<String>,
    },
    ChmodX {
        path: String,
    },
    CleanCache {
        path: String,
    },
    /// From the first path to the second.
    CopyFile {
        args: Vec<String>,
    },
    CrlfToLf {
        path: String,
    },
    /// The pid, and the start in clock ticks since boot: together they name one process for
    /// good.
    EndProcess {
        args: Vec<String>,
    },
    GoGet {
        args: Vec<String>,
    },
    Mkdir {
        path: String,
    },
    /// Without names: what the manifest lists.
    NpmInstall {
        args: Vec<String>,
    },
    PipInstall {
        args: Vec<String>,
    },
    RemoveStaleLock {
        path: String,
    },
    /// A program of the project itself, as argv.
    Run {
        args: Vec<String>,
    },
    RunFormatter {
        args: Vec<String>,
    },
    /// Names, or `NAME=value`.
    SetEnv {
        args: Vec<String>,
    },
    VenvCreate {
        path: String,
    },
}

impl RepairAction {
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::AptInstall { .. } => "apt_install",
            Self::Ask { .. } => "ask",
            Self::CargoAdd { .. } => "cargo_add",
            Self::CargoInstall { .. } => "cargo_install",
            Self::ChmodX { .. } => "chmod_x",
            Self::CleanCache { .. } => "clean_cache",
            Self::CopyFile { .. } => "copy_file",
            Self::CrlfToLf { .. } => "crlf_to_lf",
            Self::EndProcess { .. } => "end_process",
            Self::GoGet { .. } => "go_get",
            Self::Mkdir { .. } => "mkdir",
            Self::NpmInstall { .. } => "npm_install",
            Self::PipInstall { .. } => "pip_install",
            Self::RemoveStaleLock { .. } => "remove_stale_lock",
            Self::Run { .. } => "run",
            Self::RunFormatter { .. } => "run_formatter",
            Self::SetEnv { .. } => "set_env",
            Self::VenvCreate { .. } => "venv_create",
        }
    }

    /// The action of that name; `None` if there is none, or it wants another number of
    /// arguments.
    #[must_use]
    pub fn from_parts(name: &str, args: Vec<String>) -> Option<Self> {
        let one = |args: Vec<String>| <[String; 1]>::try_from(args).ok().map(|[one]| one);
        Some(match name {
            "apt_install" => Self::AptInstall { args },
            "ask" => Self::Ask { what: one(args)? },
            "cargo_add" => Self::CargoAdd { args },
            "cargo_install" => Self::CargoInstall { args },
            "chmod_x" => Self::ChmodX { path: one(args)? },
            "clean_cache" => Self::CleanCache { path: one(args)? },
            "copy_file" => Self::CopyFile { args },
            "crlf_to_lf" => Self::CrlfToLf { path: one(args)? },
            "end_process" => Self::EndProcess { args },
            "go_get" => Self::GoGet { args },
            "mkdir" => Self::Mkdir { path: one(args)? },
            "npm_install" => Self::NpmInstall { args },
            "pip_install" => Self::PipInstall { args },
            "remove_stale_lock" => Self::RemoveStaleLock { path: one(args)? },
            "run" => Self::Run { args },
            "run_formatter" => Self::RunFormatter { args },
            "set_env" => Self::SetEnv { args },
            "venv_create" => Self::VenvCreate { path: one(args)? },
            _ => return None,
        })
    }

    /// Whether it is done as a whole or not at all, and runs no program.
    #[must_use]
    pub fn is_one_step(&self) -> bool {
        match self {
            Self::ChmodX { .. }
            | Self::CleanCache { .. }
            | Self::CopyFile { .. }
            | Self::CrlfToLf { .. }
            | Self::EndProcess { .. }
            | Self::Mkdir { .. }
            | Self::RemoveStaleLock { .. }
            | Self::SetEnv { .. } => true,
            Self::AptInstall { .. }
            | Self::Ask { .. }
            | Self::CargoAdd { .. }
            | Self::CargoInstall { .. }
            | Self::GoGet { .. }
            | Self::NpmInstall { .. }
            | Self::PipInstall { .. }
            | Self::Run { .. }
            | Self::RunFormatter { .. }
            | Self::VenvCreate { .. } => false,
        }
    }

    /// What it is done with or to.
    #[must_use]
    pub fn arguments(&self) -> Vec<&str> {
        match self {
            Self::AptInstall { args }
            | Self::CargoAdd { args }
            | Self::CargoInstall { args }
            | Self::CopyFile { args }
            | Self::EndProcess { args }
            | Self::GoGet { args }
            | Self::NpmInstall { args }
            | Self::PipInstall { args }
            | Self::Run { args }
            | Self::RunFormatter { args }
            | Self::SetEnv { args } => args.iter().map(String::as_str).collect(),
            Self::Ask { what: one }
            | Self::ChmodX { path: one }
            | Self::CleanCache { path: one }
            | Self::CrlfToLf { path: one }
            | Self::Mkdir { path: one }
            | Self::RemoveStaleLock { path: one }
            | Self::VenvCreate { path: one } => vec![one],
        }
    }
}

/// `pip_install PyYAML`.
impl fmt::Display for RepairAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        for argument in self.arguments() {
            write!(f, " {argument}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_is_written_with_its_name_and_arguments() {
        let install = RepairAction::PipInstall {
            args: vec!["PyYAML".to_owned()],
        };
        assert_eq!(
            serde_json::to_string(&install).unwrap(),
            r#"{"action":"pip_install","args":["PyYAML"]}"#
        );
        assert_eq!(install.to_string(), "pip_install PyYAML");
        let chmod: RepairAction =
            serde_json::from_str(r#"{"action":"chmod_x","path":"run.sh"}"#).unwrap();
        assert_eq!(chmod.name(), "chmod_x");
        let args = vec!["run.sh".to_owned()];
        assert_eq!(RepairAction::from_parts("chmod_x", args), Some(chmod));
        assert_eq!(RepairAction::from_parts("chmod_x", Vec::new()), None);
        assert_eq!(RepairAction::from_parts("rm_rf", Vec::new()), None);
    }
}
