//! Where a command works: the workspace around us, and the spec that is meant.

use std::path::PathBuf;

use regreen_runtime::Places;
use regreen_workspace::{RealDisk, SpecError, find_spec, workspace_root};

use crate::commands::here;
use crate::problem::Problem;

/// A workspace and one of its specs.
#[derive(Debug)]
pub struct Workplace {
    /// Where we are.
    pub here: PathBuf,
    pub places: Places,
}

impl Workplace {
    /// Finds the spec that is meant: by name, folder or file; else the current one; else the
    /// only one.
    pub fn find(spec: Option<&str>) -> Result<Self, Problem> {
        Self::found(spec, Problem::Spec)
    }

    /// For a command that is told by `--spec`.
    pub fn with_flag(spec: Option<&str>) -> Result<Self, Problem> {
        Self::found(spec, Problem::SpecFlag)
    }

    fn found(spec: Option<&str>, problem: fn(SpecError) -> Problem) -> Result<Self, Problem> {
        let here = here()?;
        let root = workspace_root(&RealDisk, &here);
        let spec = find_spec(&RealDisk, &root, &here, spec).map_err(problem)?;
        Ok(Self {
            places: Places::new(&root, spec),
            here,
        })
    }
}
