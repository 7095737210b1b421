//! `regreen diff`: what attempts changed.

use regreen_runtime::workspace_masks;
use regreen_workspace::{AttemptSpan, Git, RelPath};

use super::snapshots::{Around, TaskSpans, not_ended, open_git, spec_files};
use crate::arguments::OneAttempt;
use crate::case::Case;
use crate::exit::Exit;
use crate::output;
use crate::printing::Printing;
use crate::problem::Problem;

pub fn run(arguments: &OneAttempt) -> Result<Exit, Problem> {
    let case = Case::open(&arguments.which)?;
    match arguments.attempt {
        Some(_) => one_attempt(&case, arguments)?,
        None => whole_task(&case, arguments.run.as_deref())?,
    }
    Ok(Exit::AllGreen)
}

/// Everything that an attempt changed.
fn one_attempt(case: &Case, arguments: &OneAttempt) -> Result<(), Problem> {
    let attempt = case.attempt(arguments)?;
    let git = open_git(&case.workplace.places)?;
    let kept = git.snapshots(Some(attempt.key.run.as_str()));
    match Around::of(&kept.map_err(Problem::Git)?, &attempt.key) {
        Around::Both(span) => {
            let what = format!("attempt {} of task", attempt.key.number);
            print(case, &git, &span, None, &what)
        }
        Around::OnlyBefore => Err(not_ended(attempt)),
        Around::Nothing => Err(Problem::NoSnapshot {
            task: case.subject.key.id.to_string(),
        }),
    }
}

/// What an undo would take back.
fn whole_task(case: &Case, run: Option<&str>) -> Result<(), Problem> {
    let TaskSpans { git, spans } = TaskSpans::of(case, run)?;
    let except = spec_files(&case.workplace.places);
    let changes = git.task_changes(&spans, &except).map_err(Problem::Git)?;
    for change in changes.iter().filter(|change| change.between) {
        output::note(&format!(
            "{} was changed by somebody else between two attempts, and that is shown as well",
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
    print(case, &git, &span, Some(&paths), "task")
}

fn print(
    case: &Case,
    git: &Git,
    span: &AttemptSpan,
    only: Option<&[RelPath]>,
    what: &str,
) -> Result<(), Problem> {
    let mut printing = Printing::new(&workspace_masks(&case.workplace.places.root));
    let mut is_empty = true;
    git.diff_into(&span.before, &span.after, only, |bytes| {
        is_empty &= bytes.is_empty();
        printing.take(bytes)
    })
    .map_err(Problem::Git)?;
    printing.finish()?;
    if is_empty {
        output::note(&format!("{what} {} changed no file", case.subject.key.id));
    }
    Ok(())
}
