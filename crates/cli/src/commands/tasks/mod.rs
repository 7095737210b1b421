//! `regreen tasks`: plumbing for scripts.

mod edit;
mod list;

pub use edit::report;

use crate::arguments::Tasks;
use crate::exit::Exit;
use crate::problem::Problem;

pub fn run(command: &Tasks) -> Result<Exit, Problem> {
    match command {
        Tasks::List { file, json } => list::run(file, *json),
        Tasks::Tick(which) => edit::tick(which),
        Tasks::Untick(which) => edit::untick(which),
        Tasks::InsertFix(arguments) => edit::insert_fix(arguments),
    }
}
