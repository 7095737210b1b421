//! Finds and reads the configuration files, and the limits stored in a state file.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use regreen_documents::StateDocument;
use regreen_model::Limits;
use regreen_workspace::{ReadError, RealDisk, read_text};

use super::key::Owner;
use super::numbers::Count;
use super::read::{ConfigError, ConfigFile, read_layer};
use super::settings::{AgentLayer, Layer, SettingFlags, Settings};
use super::table::{Origin, Setting};
use crate::output;
use crate::problem::Problem;

/// The workspace's configuration file.
const WORKSPACE_FILE: &str = "regreen.toml";

/// The configuration files of a workspace and the user, read once.
#[derive(Debug)]
pub struct Configuration {
    pub workspace_file: PathBuf,
    /// `None` if the user has no home folder.
    pub user_file: Option<PathBuf>,
    /// `None` if the file doesn't exist.
    pub workspace: Option<Layer>,
    pub user: Option<Layer>,
}

impl Configuration {
    /// Reads the files for a workspace. Messages show their paths relative to `here`.
    pub fn load(user_file: Option<PathBuf>, root: &Path, here: &Path) -> Result<Self, Problem> {
        let workspace_file = root.join(WORKSPACE_FILE);
        let user_file_name = match &user_file {
            Some(file) => output::path_from_home(file),
            None => "$XDG_CONFIG_HOME/regreen/config.toml".to_owned(),
        };
        let read = |owner, path: &Path| {
            let file = ConfigFile {
                owner,
                path: Arc::from(path),
                user_file: user_file_name.clone(),
            };
            read(&file, here)
        };
        Ok(Self {
            workspace: read(Owner::Workspace, &workspace_file)?,
            user: match &user_file {
                Some(file) => read(Owner::User, file)?,
                None => None,
            },
            workspace_file,
            user_file,
        })
    }

    /// Resolves flags, files, stored limits and defaults into settings.
    pub fn resolve(&self, flags: &SettingFlags, stored: &StoredLimits) -> Settings {
        self.resolve_with(flags, AgentLayer::default(), stored)
    }

    /// Resolves the settings of a run that continues with the previous run's agent, unless flags
    /// choose another.
    pub fn resolve_with(
        &self,
        flags: &SettingFlags,
        remembered: AgentLayer,
        stored: &StoredLimits,
    ) -> Settings {
        let (workspace, user) = (self.workspace.as_ref(), self.user.as_ref());
        Settings::resolve(flags, remembered, workspace, user, stored)
    }
}

fn read(file: &ConfigFile, here: &Path) -> Result<Option<Layer>, Problem> {
    let text = match read_text(&RealDisk, output::inside(here, &file.path)) {
        Ok(read) => read.text,
        Err(ReadError::NotFound { .. }) => return Ok(None),
        Err(error) => return Err(Problem::ReadConfig(error)),
    };
    match read_layer(&text, file) {
        Ok(layer) => Ok(Some(layer)),
        Err(faults) => Err(Problem::Config(ConfigError {
            file: name_of(file.owner, &file.path, here),
            text,
            faults,
        })),
    }
}

/// Returns the name of a configuration file for messages.
pub fn name_of(owner: Owner, file: &Path, here: &Path) -> String {
    match owner {
        Owner::Workspace => output::path_from(here, file),
        Owner::User => output::path_from_home(file),
    }
}

/// Returns the configuration file of the current user; `None` if they have no home folder.
pub fn usual_user_file() -> Option<PathBuf> {
    let xdg = std::env::var_os("XDG_CONFIG_HOME");
    user_file(xdg.as_deref(), std::env::home_dir().as_deref())
}

/// The same on every system: in `XDG_CONFIG_HOME`, or else in `.config` of the home folder.
fn user_file(xdg_config_home: Option<&OsStr>, home: Option<&Path>) -> Option<PathBuf> {
    // The XDG specification treats a relative path as unset. An empty home counts as unset too:
    // otherwise any folder that regreen is started in could pose as the user's.
    let absolute = |path: &Path| path.is_absolute().then(|| path.to_owned());
    let folder = xdg_config_home
        .and_then(|folder| absolute(Path::new(folder)))
        .or_else(|| Some(absolute(home?)?.join(".config")))?;
    Some(folder.join("regreen/config.toml"))
}

/// The limits that a spec's state file asks for. Every tool that knows the file writes the defaults
/// into it, so default values ask for nothing, and neither does zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoredLimits {
    pub task_iterations: Option<Count>,
    pub global_iterations: Option<Count>,
    pub fix_tasks: Option<Count>,
    pub fix_depth: Option<Count>,
    /// Whether failed tasks are healed.
    pub recovery: bool,
}

impl StoredLimits {
    pub fn of(state: &StateDocument) -> Self {
        let default = Limits::default();
        let unless_default =
            |stored: u32, default: u32| Count::new(stored).filter(|_| stored != default);
        Self {
            task_iterations: unless_default(state.max_task_iterations(), default.task_iterations),
            global_iterations: unless_default(
                state.max_global_iterations(),
                default.global_iterations,
            ),
            fix_tasks: unless_default(state.max_fix_tasks(), default.fixes_per_task),
            fix_depth: unless_default(state.max_fix_depth(), default.fix_depth),
            recovery: state.recovery_mode(),
        }
    }

    /// Returns the limits to keep in the file. Limits of a single run, from flags or configuration
    /// files, are not stored there.
    pub fn limits(self) -> Limits {
        let default = Limits::default();
        let or = |count: Option<Count>, default| count.map_or(default, Count::get);
        Limits {
            task_iterations: or(self.task_iterations, default.task_iterations),
            global_iterations: or(self.global_iterations, default.global_iterations),
            ..default
        }
    }

    pub(super) fn layer(self) -> Layer {
        let stored = |count: Option<Count>| {
            let origin = Origin::Stored;
            count.map(|value| Setting { value, origin })
        };
        Layer {
            max_task_iterations: stored(self.task_iterations),
            max_global_iterations: stored(self.global_iterations),
            ..Layer::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_file_is_in_the_usual_place() {
        let file = |xdg: Option<&str>, home: Option<&str>| {
            let file = user_file(xdg.map(OsStr::new), home.map(Path::new))?;
            Some(file.display().to_string())
        };
        let xdg = "/x/regreen/config.toml";
        let home = "/h/.config/regreen/config.toml";
        assert_eq!(file(Some("/x"), Some("/h")).as_deref(), Some(xdg));
        assert_eq!(file(None, Some("/h")).as_deref(), Some(home));
        assert_eq!(file(Some(""), Some("/h")).as_deref(), Some(home));
        assert_eq!(file(Some("x"), Some("/h")).as_deref(), Some(home));
        assert_eq!(file(Some("/x"), None).as_deref(), Some(xdg));
        assert_eq!(file(None, Some("")), None);
        assert_eq!(file(None, None), None);
    }

    #[test]
    fn a_stored_limit_counts_unless_it_is_the_default_or_zero() {
        let limits = |json: &str| {
            let (state, _) = StateDocument::read(json).unwrap();
            let limits = StoredLimits::of(&state);
            [limits.task_iterations, limits.global_iterations].map(|count| count.map(Count::get))
        };
        let both = |task: u32, global: u32| {
            format!(r#"{{"maxTaskIterations": {task}, "maxGlobalIterations": {global}}}"#)
        };
        assert_eq!(limits(&both(7, 40)), [Some(7), Some(40)]);
        assert_eq!(limits(&both(5, 100)), [None, None]);
        assert_eq!(limits(&both(0, 0)), [None, None]);
        assert_eq!(limits("{}"), [None, None]);
    }
}
