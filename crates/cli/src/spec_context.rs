//! Where a command works: the current folder, the workspace around it and one of its specs.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use regreen_agents::LocalZone;
use regreen_redaction::environment_secrets;
use regreen_runtime::SpecPaths;
use regreen_workspace::{ReadError, RealDisk, SpecError, find_spec, read_file, workspace_root};

use crate::problem::Problem;

/// A workspace and one of its specs.
#[derive(Debug)]
pub struct SpecContext {
    /// The folder that regreen was started in.
    pub here: PathBuf,
    pub places: SpecPaths,
}

impl SpecContext {
    /// Finds a spec by its name, folder or file. Without one, returns the current spec, or else the
    /// only one.
    pub fn find(spec: Option<&str>) -> Result<Self, Problem> {
        Self::found(spec, Problem::Spec)
    }

    /// Like [`find`](Self::find), for a command that names its spec with `--spec`.
    pub fn with_flag(spec: Option<&str>) -> Result<Self, Problem> {
        Self::found(spec, Problem::SpecFlag)
    }

    /// Returns how other commands must name the spec, if they would not find it on their own.
    pub fn argument(&self, asked: Option<&str>) -> Option<String> {
        let found = find_spec(&RealDisk, &self.places.root, &self.here, None);
        let is_found = found.is_ok_and(|spec| spec.tasks == self.places.spec.tasks);
        let asked = asked.filter(|_| !is_found)?;
        Some(shell_words::quote(asked).into_owned())
    }

    /// Finds the spec that a command without arguments would find in the folder.
    pub fn in_folder(here: PathBuf) -> Result<Self, Problem> {
        Self::found_from(here, None, Problem::Spec)
    }

    fn found(spec: Option<&str>, problem: fn(SpecError) -> Problem) -> Result<Self, Problem> {
        Self::found_from(current_dir()?, spec, problem)
    }

    fn found_from(
        here: PathBuf,
        spec: Option<&str>,
        problem: fn(SpecError) -> Problem,
    ) -> Result<Self, Problem> {
        let root = workspace_root(&RealDisk, &here);
        let spec = find_spec(&RealDisk, &root, &here, spec).map_err(problem)?;
        Ok(Self {
            places: SpecPaths::new(&root, spec),
            here,
        })
    }
}

/// Returns the folder that regreen was started in.
pub fn current_dir() -> Result<PathBuf, Problem> {
    std::env::current_dir().map_err(|source| {
        Problem::Read(ReadError::Io {
            path: PathBuf::from("."),
            source,
        })
    })
}

/// Returns the secrets in regreen's own environment.
pub fn own_secrets() -> BTreeSet<String> {
    let text = |value: OsString| value.into_string().ok();
    let variables = std::env::vars_os();
    environment_secrets(variables.filter_map(|(name, value)| Some((text(name)?, text(value)?))))
}

/// More bytes than any time zone file has.
const MAX_ZONE: u64 = 64 * 1024;

/// Returns the time zone of this machine.
pub fn local_zone() -> LocalZone {
    let variable = std::env::var("TZ").ok();
    let file = read_file(Path::new("/etc/localtime"), MAX_ZONE).ok();
    LocalZone::new(variable.as_deref(), file.as_deref())
}

/// Returns the value of `PATH`.
pub fn path_variable() -> OsString {
    std::env::var_os("PATH").unwrap_or_default()
}
