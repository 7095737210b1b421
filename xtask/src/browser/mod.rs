//! `cargo xtask browser`: the dashboard in a real browser.

mod driver;
mod install;
mod large;
mod measure;
mod project;
mod scenario;

use std::io;
use std::process::ExitCode;

use clap::Args;

use self::driver::Browser;
use self::project::Project;
use crate::repository;

/// Why the check could not be made, or what it found.
pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Also renew the pictures in the documentation.
    #[arg(long)]
    pictures: bool,
}

/// The screenshots that the documentation shows, and their names there.
const PICTURES: [(&str, &str); 3] = [
    ("run-desktop.png", "run.png"),
    ("task-desktop-dark.png", "task.png"),
    ("question-phone.png", "question.png"),
];

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    match try_run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("browser: {error}");
            ExitCode::FAILURE
        }
    }
}

fn try_run(arguments: &Arguments) -> Result<()> {
    let root = repository::root();
    let folder = root.join("target/browser");
    std::fs::create_dir_all(&folder)?;
    install::browser()?;
    let axe = install::axe(&folder)?;
    let program = project::build(root)?;
    let project = Project::new(&program)?;
    let browser = Browser::start(&folder)?;
    scenario::all(&browser, &project, &axe, &folder)?;
    if arguments.pictures {
        let pictures = root.join("docs/pictures");
        std::fs::create_dir_all(&pictures)?;
        for (from, to) in PICTURES {
            std::fs::copy(folder.join(from), pictures.join(to))?;
        }
    }
    println!("the screenshots are in {}", folder.display());
    Ok(())
}

/// Says that something isn't as it must be.
fn fail<T>(what: impl Into<String>) -> Result<T> {
    Err(io::Error::other(what.into()).into())
}
