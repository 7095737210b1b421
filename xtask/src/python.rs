//! `cargo xtask python`: builds the wheel, and tests it in a fresh environment, as its users get it.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{fs, io};

use clap::Args;

use crate::repository;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Put this program into the wheel, instead of a debug build.
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
    /// Only build the wheel, into this folder.
    #[arg(long, value_name = "FOLDER")]
    wheel: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    match try_run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("python: {error}");
            ExitCode::FAILURE
        }
    }
}

fn try_run(arguments: &Arguments) -> io::Result<()> {
    let folder = repository::root().join("target/python");
    fs::create_dir_all(&folder)?;
    let tools = Environment::with_tools(folder.join("tools"))?;
    let program = program(arguments.program.as_deref())?;
    let wheel = built_wheel(&tools, &program, &folder.join("wheels"))?;
    if let Some(folder) = &arguments.wheel {
        let copy = folder.join(wheel.file_name().unwrap_or_default());
        fs::create_dir_all(folder)?;
        fs::copy(&wheel, &copy)?;
        println!("{}", copy.display());
        return Ok(());
    }
    let user = Environment::fresh(folder.join("user"))?;
    tools.install_into(&user, &wheel)?;
    check(&tools, &user)?;
    run_tests(&tools, &user)
}

fn program(given: Option<&Path>) -> io::Result<PathBuf> {
    match given {
        Some(program) => fs::canonicalize(program),
        None => {
            let built = repository::run_cargo(&["build", "--quiet", "--package", "regreen"]);
            if built != ExitCode::SUCCESS {
                return Err(io::Error::other("regreen could not be built"));
            }
            Ok(repository::root().join("target/debug/regreen"))
        }
    }
}

/// Builds the wheel of a program, alone in the folder. Returns its path.
fn built_wheel(tools: &Environment, program: &Path, folder: &Path) -> io::Result<PathBuf> {
    remove(folder)?;
    let mut pip = tools.pip();
    pip.args(["wheel", "--quiet", "--no-deps", "--no-build-isolation"])
        .arg("--wheel-dir")
        .arg(folder)
        .arg(package())
        .env("REGREEN_BINARY", program);
    call(&mut pip)?;
    let wheel = fs::read_dir(folder)?
        .next()
        .ok_or(io::ErrorKind::NotFound)?;
    Ok(wheel?.path())
}

/// Checks the format and the types of the package itself, and then a user of the installed one.
fn check(tools: &Environment, user: &Environment) -> io::Result<()> {
    for check in [
        &["ruff", "format", "--check", "--quiet"][..],
        &["ruff", "check", "--quiet"],
        &["mypy"],
    ] {
        call(tools.python().arg("-m").args(check).current_dir(package()))?;
    }
    let mut mypy = tools.python();
    mypy.args(["-m", "mypy", "--strict", "--config-file="])
        .arg("--python-executable")
        .arg(user.interpreter())
        .arg(package().join("tests/typed_user.py"))
        .current_dir(&user.folder);
    call(&mut mypy)
}

/// Runs the tests with nothing but the wheel installed; the tools are reached by a variable.
fn run_tests(tools: &Environment, user: &Environment) -> io::Result<()> {
    let mut pytest = Command::new(user.interpreter());
    pytest
        .args(["-m", "pytest", "--quiet", "-p", "no:cacheprovider"])
        .env("PYTHONPATH", tools.site_packages()?)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env_remove("REGREEN")
        .current_dir(package());
    call(&mut pytest)
}

fn package() -> PathBuf {
    repository::root().join("python")
}

/// A virtual environment of Python.
#[derive(Debug)]
struct Environment {
    folder: PathBuf,
}

impl Environment {
    /// Returns the environment with the tools at their pinned versions.
    fn with_tools(folder: PathBuf) -> io::Result<Self> {
        let requirements = package().join("requirements.txt");
        let stamp = folder.join("installed.txt");
        let wanted = fs::read_to_string(&requirements)?;
        let environment = Self { folder };
        if fs::read_to_string(&stamp).unwrap_or_default() == wanted {
            return Ok(environment);
        }
        remove(&environment.folder)?;
        call(python3().args(["-m", "venv"]).arg(&environment.folder))?;
        let mut pip = environment.pip();
        call(
            pip.args(["install", "--quiet", "--requirement"])
                .arg(requirements),
        )?;
        fs::write(stamp, wanted)?;
        Ok(environment)
    }

    /// Returns a new environment with nothing in it.
    fn fresh(folder: PathBuf) -> io::Result<Self> {
        remove(&folder)?;
        call(python3().args(["-m", "venv", "--without-pip"]).arg(&folder))?;
        Ok(Self { folder })
    }

    fn install_into(&self, other: &Self, wheel: &Path) -> io::Result<()> {
        let mut pip = self.pip();
        pip.arg("--python").arg(other.interpreter());
        pip.args(["install", "--quiet", "--no-deps", "--no-index"]);
        call(pip.arg(wheel))
    }

    fn interpreter(&self) -> PathBuf {
        self.folder.join("bin/python")
    }

    fn python(&self) -> Command {
        Command::new(self.interpreter())
    }

    fn pip(&self) -> Command {
        let mut pip = self.python();
        pip.args(["-m", "pip", "--disable-pip-version-check"]);
        pip
    }

    /// Returns the folder of its packages, which is named after the version of Python.
    fn site_packages(&self) -> io::Result<PathBuf> {
        let mut versions = fs::read_dir(self.folder.join("lib"))?;
        let version = versions.next().ok_or(io::ErrorKind::NotFound)??;
        Ok(version.path().join("site-packages"))
    }
}

fn python3() -> Command {
    Command::new("python3")
}

fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn call(command: &mut Command) -> io::Result<()> {
    let why = match command.status() {
        Ok(status) if status.success() => return Ok(()),
        Ok(status) => status.to_string(),
        Err(error) => error.to_string(),
    };
    Err(io::Error::other(format!("{command:?}: {why}")))
}
