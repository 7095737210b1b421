//! Where a command works: the workspace around us, and the spec that is meant.

use std::path::PathBuf;

use regreen_runtime::Places;
use regreen_workspace::{RealDisk, find_spec, workspace_root};

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
        let here = here()?;
        let root = workspace_root(&RealDisk, &here);
        let spec = find_spec(&RealDisk, &root, &here, spec)?;
        Ok(Self {
            places: Places::new(&root, spec),
            here,
        })
    }
}
