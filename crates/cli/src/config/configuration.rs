//! The configuration files, found and read.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use regreen_workspace::{ReadError, RealDisk, read_text};

use super::config_error::ConfigError;
use super::layer::Layer;
use super::owner::Owner;
use super::read_layer::read_layer;
use super::settings::{Settings, resolve};
use super::source::Source;
use super::stored_limits::StoredLimits;
use crate::arguments::SettingFlags;
use crate::output;
use crate::problem::Problem;

/// The workspace's file.
const WORKSPACE_FILE: &str = "regreen.toml";

/// What the files say, and which they are. Read once.
#[derive(Debug)]
pub struct Configuration {
    pub workspace_file: PathBuf,
    /// `None` where there is no home folder to look in.
    pub user_file: Option<PathBuf>,
    /// `None` if there is no such file.
    pub workspace: Option<Layer>,
    pub user: Option<Layer>,
}

impl Configuration {
    /// Reads the files for a workspace. Messages name them as seen from `here`.
    pub fn load(user_file: Option<PathBuf>, root: &Path, here: &Path) -> Result<Self, Problem> {
        let workspace_file = root.join(WORKSPACE_FILE);
        let users_file = match &user_file {
            Some(file) => output::path_from_home(file),
            None => "$XDG_CONFIG_HOME/regreen/config.toml".to_owned(),
        };
        let read = |owner, file: &Path| {
            let source = Source {
                owner,
                file: Arc::from(file),
                users_file: users_file.clone(),
            };
            read(&source, here)
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

    #[must_use]
    pub fn resolve(&self, flags: &SettingFlags, stored: &StoredLimits) -> Settings {
        resolve(flags, self.workspace.as_ref(), self.user.as_ref(), stored)
    }
}

fn read(source: &Source, here: &Path) -> Result<Option<Layer>, Problem> {
    // Named as people see it, for the message; `here` is where we are.
    let file = output::inside(here, &source.file);
    let text = match read_text(&RealDisk, file) {
        Ok(file) => file.text,
        Err(ReadError::NotFound { .. }) => return Ok(None),
        Err(error) => return Err(Problem::ReadConfig(error)),
    };
    match read_layer(&text, source) {
        Ok(layer) => Ok(Some(layer)),
        Err(faults) => Err(Problem::Config(ConfigError {
            file: name_of(source.owner, &source.file, here),
            text,
            faults,
        })),
    }
}

/// What to call a file in messages.
#[must_use]
pub fn name_of(owner: Owner, file: &Path, here: &Path) -> String {
    match owner {
        Owner::Workspace => output::path_from(here, file),
        Owner::User => output::path_from_home(file),
    }
}
