//! `regreen diff`: shows what attempts changed.

use regreen_runtime::workspace_masks;
use regreen_workspace::{AttemptSpan, Git, RelPath};

use super::snapshots::{Around, TaskSpans, not_ended, open_git, spec_files};
use crate::arguments::OneAttempt;
use crate::exit::Exit;
use crate::history::TaskHistory;
use crate::output;
use crate::printing::Printing;
use crate::problem::Problem;
use crate::spec_context::own_secrets;

pub fn run(arguments: &OneAttempt) -> Result<Exit, Problem> {
    let which = arguments.which.clone().or_most_recent()?;
    let history = TaskHistory::open(&which)?;
    match arguments.attempt {
        Some(_) => one_attempt(&history, arguments)?,
        None => whole_task(&history, arguments.run.as_deref())?,
    }
    Ok(Exit::Success)
}

/// Prints all changes of one attempt.
fn one_attempt(history: &TaskHistory, arguments: &OneAttempt) -> Result<(), Problem> {
    let attempt = history.attempt(arguments)?;
    let git = open_git(&history.context.places)?;
    let kept = git.snapshots(Some(attempt.key.run.as_str()));
    match Around::of(&kept.map_err(Problem::Git)?, &attempt.key) {
        Around::Both(span) => {
            let what = format!("attempt {} of task", attempt.key.number);
            print(history, &git, &span, None, &what)
        }
        Around::OnlyBefore => Err(not_ended(attempt)),
        Around::Nothing => Err(Problem::NoSnapshot {
            task: history.selected.key.id.to_string(),
        }),
    }
}

/// Prints the changes that an undo would revert.
fn whole_task(history: &TaskHistory, run: Option<&str>) -> Result<(), Problem> {
    let TaskSpans { git, spans } = TaskSpans::of(history, run)?;
    let except = spec_files(&history.context.places);
    let changes = git.task_changes(&spans, &except).map_err(Problem::Git)?;
    for change in changes.iter().filter(|change| change.between) {
        output::note(&format!(
            "{} was changed by someone else between two attempts, and that is shown as well",
            change.path
        ));
    }
    let (Some(first), Some(last)) = (spans.first(), spans.last()) else {
        return Ok(());
    };
    let span = AttemptSpan {
        before: first.before.clone(),
        after: last.after.clone(),
    };
    let paths: Vec<RelPath> = changes.into_iter().map(|change| change.path).collect();
    print(history, &git, &span, Some(&paths), "task")
}

fn print(
    history: &TaskHistory,
    git: &Git,
    span: &AttemptSpan,
    only: Option<&[RelPath]>,
    what: &str,
) -> Result<(), Problem> {
    let mut printing = Printing::new(&workspace_masks(
        &history.context.places.root,
        &own_secrets(),
    ));
    let mut is_empty = true;
    git.diff_into(&span.before, &span.after, only, |bytes| {
        is_empty &= bytes.is_empty();
        printing.take(bytes)
    })
    .map_err(Problem::Git)?;
    printing.finish()?;
    if is_empty {
        output::note(&format!(
            "{what} {} changed no file",
            history.selected.key.id
        ));
    }
    Ok(())
}
