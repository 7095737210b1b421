//! The program that is measured and swept.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::repository;

#[derive(Clone, Debug, Args)]
pub(crate) struct Product {
    /// Take this program instead of building one for release.
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
}

impl Product {
    /// Where it is, or how to end.
    pub(crate) fn program(&self) -> Result<PathBuf, ExitCode> {
        match &self.program {
            Some(program) => Ok(program.clone()),
            None => repository::built_for_release("regreen"),
        }
    }
}
