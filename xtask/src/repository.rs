//! The location of this repository, and calls of its cargo.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::Args;

/// Returns the top folder of the repository.
pub(crate) fn root() -> &'static Path {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask)
}

/// Returns a call of the cargo that runs this program, in the top folder.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root());
    command
}

/// Calls cargo, and returns its exit code.
pub(crate) fn run_cargo(arguments: &[&str]) -> ExitCode {
    finish(cargo(arguments))
}

/// Runs a cargo call to its end, and returns its exit code.
pub(crate) fn finish(mut cargo: Command) -> ExitCode {
    match cargo.status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("cargo could not be started: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Builds a program of this repository for release. Returns its path, or the exit code.
pub(crate) fn built_for_release(name: &str) -> Result<PathBuf, ExitCode> {
    let arguments = ["build", "--quiet", "--release", "--package", name];
    let code = run_cargo(&arguments);
    if code != ExitCode::SUCCESS {
        return Err(code);
    }
    // This program is next to it, in the folder of another profile.
    let own = std::env::current_exe().unwrap_or_default();
    let target = own.ancestors().nth(2).unwrap_or(root());
    Ok(target.join("release").join(name))
}

/// The program to measure or sweep.
#[derive(Clone, Debug, Args)]
pub(crate) struct Product {
    /// Use this program instead of building one for release.
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
}

impl Product {
    /// Returns a program that is already built.
    pub(crate) fn at(program: &Path) -> Self {
        Self {
            program: Some(program.to_owned()),
        }
    }

    /// Returns the path of the program, building it if needed, or the exit code.
    pub(crate) fn program(&self) -> Result<PathBuf, ExitCode> {
        match &self.program {
            Some(program) => Ok(program.clone()),
            None => built_for_release("regreen"),
        }
    }
}
