use std::fmt;

use serde::{Deserialize, Serialize};

use crate::named_enum;

/// A repair of the environment that a failure suggests. It is only a candidate; an inspection of
/// the workspace decides whether regreen may carry it out.
///
/// Never a shell string: each name and path is an argument of its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum RepairAction {
    /// Installs system packages.
    AptInstall {
        /// The packages.
        args: Vec<String>,
    },
    /// Asks for something that only a person can provide.
    Ask {
        /// The thing needed.
        what: String,
    },
    /// Adds crates to `Cargo.toml`.
    CargoAdd {
        /// The crates.
        args: Vec<String>,
    },
    /// Installs programs with cargo.
    CargoInstall {
        /// The crates.
        args: Vec<String>,
    },
    /// Makes a file executable.
    ChmodX {
        /// The file.
        path: String,
    },
    /// Removes a cache.
    CleanCache {
        /// The cache's folder.
        path: String,
    },
    /// Copies the first path to the second.
    CopyFile {
        /// Both paths.
        args: Vec<String>,
    },
    /// Converts the line endings of a script.
    CrlfToLf {
        /// The script.
        path: String,
    },
    /// Ends a process, identified for good by its pid and its start time in clock ticks since boot.
    EndProcess {
        /// Pid and start time.
        args: Vec<String>,
    },
    /// Adds Go modules.
    GoGet {
        /// The modules.
        args: Vec<String>,
    },
    /// Creates a folder.
    Mkdir {
        /// The folder.
        path: String,
    },
    /// Installs npm packages; without names, those that the manifest lists.
    NpmInstall {
        /// The packages.
        args: Vec<String>,
    },
    /// Installs Python packages.
    PipInstall {
        /// The packages.
        args: Vec<String>,
    },
    /// Removes a lock whose owner is gone.
    RemoveStaleLock {
        /// The lock.
        path: String,
    },
    /// Runs a program of the project itself.
    Run {
        /// Program and arguments.
        args: Vec<String>,
    },
    /// Runs the project's formatter.
    RunFormatter {
        /// Program and arguments.
        args: Vec<String>,
    },
    /// Sets environment variables, given as `NAME` or `NAME=value`.
    SetEnv {
        /// The variables.
        args: Vec<String>,
    },
    /// Runs a program that the user's own recovery template names. No rule and no text can suggest
    /// it.
    UserProgram {
        /// The name of the template.
        template: String,
        /// The program and its arguments.
        argv: Vec<String>,
        /// The program that must exit with 0 afterwards, and its arguments.
        check: Vec<String>,
        /// How long each of them may run.
        timeout_ms: u64,
    },
    /// Creates a Python environment.
    VenvCreate {
        /// Its folder.
        path: String,
    },
}

impl RepairAction {
    /// Returns the name used in stored data and rules.
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
            Self::UserProgram { .. } => "user_program",
            Self::VenvCreate { .. } => "venv_create",
        }
    }

    /// Returns the action with this name; `None` if the name is unknown or takes a different number
    /// of arguments. A user's own program has more than arguments, so it is never returned.
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

    /// Returns whether it is atomic and runs no program.
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
            | Self::UserProgram { .. }
            | Self::VenvCreate { .. } => false,
        }
    }

    /// Whether its arguments are names of packages, which everyone knows; files and values are the
    /// project's own.
    #[must_use]
    pub fn names_packages(&self) -> bool {
        matches!(
            self,
            Self::AptInstall { .. }
                | Self::CargoAdd { .. }
                | Self::CargoInstall { .. }
                | Self::GoGet { .. }
                | Self::NpmInstall { .. }
                | Self::PipInstall { .. }
        )
    }

    /// Returns it as a response to a failure, in words that say nothing about a project.
    #[must_use]
    pub fn response(&self) -> String {
        match self {
            Self::UserProgram { template, .. } => format!("repair user_program/{template}"),
            _ if self.names_packages() => format!("repair {self}"),
            _ => format!("repair {}", self.name()),
        }
    }

    /// Returns its arguments.
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
            | Self::SetEnv { args }
            | Self::UserProgram { argv: args, .. } => args.iter().map(String::as_str).collect(),
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

/// Writes name and arguments: `pip_install PyYAML`.
impl fmt::Display for RepairAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        for argument in self.arguments() {
            write!(f, " {argument}")?;
        }
        Ok(())
    }
}

named_enum! {
    /// The policy for repairs that regreen makes by itself.
    #[derive(
        Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
    )]
    #[serde(rename_all = "snake_case")]
    pub enum RepairPolicy {
        /// Those that the inspection allows.
        #[default]
        Safe = "safe",
        /// Only those that a person has agreed to.
        Ask = "ask",
        /// None.
        Off = "off",
    }
}

/// The result of inspecting the workspace for a suggested repair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "inspection", rename_all = "snake_case")]
pub enum Inspection {
    /// regreen may make the repair.
    Allowed(PlannedRepair),
    /// The repair would help, but a person must agree.
    Ask {
        /// The repair.
        #[serde(flatten)]
        repair: PlannedRepair,
        /// The reason, for people.
        why: String,
    },
    /// There is a repair, but regreen must not make it.
    Refused {
        /// The reason, for people.
        why: String,
    },
    /// No repair is known.
    Nothing,
}

/// A repair whose values come from the workspace, never from the text that suggested it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedRepair {
    /// The repair itself.
    pub action: RepairAction,
    /// A description in one line, for people: `install PyYAML from requirements.txt into .venv`.
    pub does: String,
}

/// The result of a repair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum RepairResult {
    /// It was carried out, and a second inspection confirms it.
    Done {
        /// The change made, in one line for people.
        did: String,
        /// Environment variables for later processes of the run.
        #[serde(default)]
        environment: Vec<(String, String)>,
    },
    /// It was refused at the last moment, failed, or didn't help; its changes are undone where
    /// possible.
    Failed {
        /// The reason, for people.
        why: String,
    },
}

/// An overview of a workspace for a reader who doesn't know it. All of its text is untrusted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// Files at which to start reading the project.
    pub main_files: Vec<String>,
    /// Manifests and configuration files.
    pub configuration: Vec<String>,
    /// Folders with tests.
    pub test_folders: Vec<String>,
    /// The command that probably runs the tests.
    pub test_command: Option<String>,
    /// Names that were looked up.
    pub looked_up: Vec<LookedUp>,
}

/// The places in the workspace where a name occurs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LookedUp {
    /// The name.
    pub name: String,
    /// Files with that name.
    pub files: Vec<String>,
    /// Lines that contain it: `src/a.py:12: import auth`.
    pub lines: Vec<String>,
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
