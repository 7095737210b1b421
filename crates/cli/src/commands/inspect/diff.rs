//! `regreen diff`: what attempts changed.

use std::io::{self, IsTerminal as _};

use regreen_model::TaskKey;
use regreen_runtime::Places;
use regreen_workspace::{AttemptSpan, Git, GitError, KeptSnapshot, Oid};

use super::task_id;
use crate::arguments::OneAttempt;
use crate::exit::Exit;
use crate::history::History;
use crate::output;
use crate::problem::Problem;
use crate::workplace::Workplace;

pub fn run(arguments: &OneAttempt) -> Result<Exit, Problem> {
    let workplace = Workplace::find(arguments.spec.as_deref())?;
    let places = &workplace.places;
    let task = task_id(&arguments.task)?;
    let number = arguments.attempt;
    let attempt = History::open(places)?.attempt(&task, number)?;
    let git = open(places)?;
    let spans = spans(&git, attempt.key.run.as_str(), &attempt.key.task, number)?;
    let (Some(first), Some(last)) = (spans.first(), spans.last()) else {
        return Err(Problem::NoSnapshot {
            task: task.to_string(),
        });
    };
    print(&git, &first.before, &last.after)?;
    Ok(Exit::AllGreen)
}

/// The repository, which is where snapshots are.
pub fn open(places: &Places) -> Result<Git, Problem> {
    Git::open(&places.root).map_err(|error| match error {
        GitError::NoWorkTree | GitError::Missing => Problem::NotInGit,
        error => Problem::Git(error),
    })
}

/// The snapshots around the attempts of a task in a run, or around one of them.
pub fn spans(
    git: &Git,
    run: &str,
    task: &TaskKey,
    number: Option<u32>,
) -> Result<Vec<AttemptSpan>, Problem> {
    let mut kept = git.snapshots(Some(run)).map_err(Problem::Git)?;
    kept.retain(|one: &KeptSnapshot| {
        one.name.is_of(task) && number.is_none_or(|n| one.name.attempt == n)
    });
    Ok(AttemptSpan::of(&kept))
}

fn print(git: &Git, before: &Oid, after: &Oid) -> Result<(), Problem> {
    let diff = git.diff(before, after, None, None).map_err(Problem::Git)?;
    if io::stdout().is_terminal() {
        return output::print(&output::printable(&String::from_utf8_lossy(&diff.bytes)));
    }
    output::copy(&mut diff.bytes.as_slice())
}
