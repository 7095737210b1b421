//! `cargo xtask bench instructions`: what regreen's own process executes, without what it starts.

pub(super) mod baseline;
mod callgrind;

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode};

use clap::Args;

use self::baseline::{Compared, Counts, shown};
use self::callgrind::{CountError, Counted, count, fix_environment};
use super::diagnosis;
use super::run_loop::project::{Kind, Project};
use super::run_loop::{Doing as _, finish};
use crate::repository::Product;

/// The runs whose difference shows what one more task costs.
const FEW: usize = 1;
const MANY: usize = 41;
const MANY_IN_GIT: usize = 6;
/// The plan that is asked about after its run.
const ASKED: usize = 200;
const LOG: usize = 100 * 1024;

#[derive(Clone, Debug, Args)]
pub(crate) struct Arguments {
    /// Make these counts the baseline.
    #[arg(long)]
    pub(super) update: bool,
    #[command(flatten)]
    pub(super) product: Product,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let program = match arguments.product.program() {
        Ok(program) => program,
        Err(code) => return code,
    };
    match measure(&program, arguments.update) {
        Ok(compared) => {
            print!("{}", text(&compared));
            verdict(&compared)
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Fails if there is a regression.
pub(super) fn verdict(compared: &[Compared]) -> ExitCode {
    if compared.iter().any(Compared::is_regression) {
        eprintln!(
            "more than 20 % above the baseline; if that is meant: `cargo xtask bench instructions --update`"
        );
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Counts all scenarios, and compares them with the baseline before it is updated.
pub(super) fn measure(program: &Path, updates: bool) -> Result<Vec<Compared>, String> {
    let counts = count_all(program).map_err(|error| error.to_string())?;
    let compared = baseline::compare(&baseline::read()?, &counts);
    if updates {
        baseline::write(&counts)?;
    }
    Ok(compared)
}

fn text(compared: &[Compared]) -> String {
    let mut text = format!("{:<44} {:>10} {:>10}\n", "", "baseline", "now");
    for one in compared {
        let before = one.before.map_or("–".to_owned(), shown);
        let mark = if one.is_regression() {
            "  REGRESSION"
        } else {
            ""
        };
        let (scenario, now, change) = (&one.scenario, shown(one.now), one.change());
        let _ = writeln!(
            text,
            "{scenario:<44} {before:>10} {now:>10}  {change}{mark}"
        );
    }
    text
}

/// Returns the table of the page.
pub(super) fn table(compared: &[Compared]) -> String {
    let mut table = "| | instructions |\n|---|---|\n".to_owned();
    for one in compared {
        let _ = writeln!(table, "| {} | {} |", one.scenario, shown(one.now));
    }
    table
}

fn count_all(program: &Path) -> Result<Counts, CountError> {
    let mut counts = Counts::new();
    let mut add = |name: &str, count: u64| counts.insert(name.to_owned(), count);
    let home = tempfile::tempdir().doing("make a folder")?;
    let home = home.path();
    // The first run of a user creates the files of the history.
    finish(fix_environment(
        &mut Project::new(Kind::Plain, FEW, 0)?.run(program),
        home,
    ))?;
    let version = count(Command::new(program).arg("--version"), home)?;
    add("start: `--version`", version.own);
    let one = run_of(program, home, Kind::Plain, FEW)?;
    add("a run of one task, plain folder", one.own);
    add("its keeper", one.keepers);
    let many = run_of(program, home, Kind::Plain, MANY)?;
    add("each of 40 more tasks, plain folder", each(one, many, MANY));
    let one = run_of(program, home, Kind::Git, FEW)?;
    add("a run of one task, git with a commit", one.own);
    let many = run_of(program, home, Kind::Git, MANY_IN_GIT)?;
    add(
        "each of 5 more tasks, git with commits",
        each(one, many, MANY_IN_GIT),
    );
    let log = home.join("build.log");
    diagnosis::mixed_log(&log, LOG)?;
    let explained = count(&diagnosis::explain(program, &log), home)?;
    add("`explain` of a log of 100 KB", explained.own);
    let project = Project::new(Kind::Plain, ASKED, 0)?;
    finish(fix_environment(&mut project.run(program), home))?;
    for words in ASKED_FOR {
        let asked = count(&project.call(program, words), home)?;
        add(&format!("`{}` after 200 tasks", words.join(" ")), asked.own);
    }
    Ok(counts)
}

const ASKED_FOR: [&[&str]; 5] = [
    &["status"],
    &["why", "1.100"],
    &["log", "1.100"],
    &["report"],
    &["lint"],
];

fn run_of(program: &Path, home: &Path, kind: Kind, tasks: usize) -> Result<Counted, CountError> {
    let project = Project::new(kind, tasks, 0)?;
    count(&project.run(program), home)
}

/// Returns what each further task costs. All of it is regreen's own: the keeper is started once.
fn each(few: Counted, many: Counted, tasks: usize) -> u64 {
    many.own.saturating_sub(few.own) / (tasks - FEW) as u64
}
