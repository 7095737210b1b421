//! `regreen baseline`: the tests whose failure is known, and those that a person accepts as red.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;
use std::path::Path;

use clap::{Args, Subcommand};
use regreen_engine::State;
use regreen_runtime::{load_state, open_store_read_only};
use serde::{Deserialize, Serialize};

use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;
use crate::spec_context::SpecContext;
use crate::user_state::StateRecord;

/// The kind of these records in the state folder. A repository must not bring any along, and an agent must
/// not write them.
const KIND: &str = "baselines";
/// The longest name of a test.
const MAX_NAME: usize = 300;

/// Show and accept tests that are red
#[derive(Debug, Subcommand)]
pub enum Baseline {
    /// List the accepted failures, and the known failures and flaky tests of the last run
    Show(ShowBaseline),
    /// Accept that tests fail: they no longer fail a task, and are listed instead
    Accept(Tests),
    /// Let tests fail tasks again
    Forget(Tests),
}

/// Which spec.
#[derive(Debug, Args)]
pub struct ShowBaseline {
    /// Spec name or folder, or a task file [default: the current or only spec]
    #[arg(value_name = "SPEC|FILE")]
    spec: Option<String>,
}

/// Which tests.
#[derive(Debug, Args)]
pub struct Tests {
    /// Names of tests, as `regreen why` shows them: tests/test_price.py::test_tax
    #[arg(value_name = "TEST", required = true)]
    tests: Vec<String>,
}

/// The accepted failures of a workspace.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Accepted {
    workspace: String,
    tests: BTreeSet<String>,
}

/// Whether the command decides something that is up to a person.
pub fn decides(command: &Baseline) -> bool {
    matches!(command, Baseline::Accept(_) | Baseline::Forget(_))
}

pub fn run(command: &Baseline) -> Result<Exit, Problem> {
    match command {
        Baseline::Show(arguments) => show(arguments),
        Baseline::Accept(arguments) => change(arguments, |accepted, test| {
            accepted.insert(test.to_owned());
        }),
        Baseline::Forget(arguments) => change(arguments, |accepted, test| {
            accepted.remove(test);
        }),
    }
}

/// Returns the tests of a workspace that are accepted as red.
pub fn accepted_tests(root: &Path) -> Vec<String> {
    read(root).tests.into_iter().collect()
}

fn record(root: &Path) -> Option<StateRecord> {
    StateRecord::new(KIND, root)
}

fn read(root: &Path) -> Accepted {
    let found: Option<Accepted> = record(root).and_then(|record| record.read());
    // Two workspaces may have the same hash.
    let is_own = |accepted: &Accepted| accepted.workspace == root.to_string_lossy();
    found.filter(is_own).unwrap_or_default()
}

fn change(
    arguments: &Tests,
    change: impl Fn(&mut BTreeSet<String>, &str),
) -> Result<Exit, Problem> {
    let context = SpecContext::find(None)?;
    let root = &context.places.root;
    let mut accepted = Accepted {
        workspace: root.to_string_lossy().into_owned(),
        ..read(root)
    };
    for test in arguments.tests.iter().filter(|test| is_name(test)) {
        change(&mut accepted.tests, test);
    }
    let no_folder = || io::Error::other("your user has no home folder to keep it in");
    let written = record(root)
        .ok_or_else(no_folder)
        .and_then(|record| record.write(&accepted));
    written.map_err(Problem::KeepBaseline)?;
    output::print(&list("Accepted failures", accepted.tests.iter().cloned()))?;
    Ok(Exit::Success)
}

fn is_name(test: &str) -> bool {
    !test.is_empty() && test.len() <= MAX_NAME && !test.chars().any(char::is_control)
}

fn show(arguments: &ShowBaseline) -> Result<Exit, Problem> {
    let context = SpecContext::find(arguments.spec.as_deref())?;
    let places = &context.places;
    let mut page = list(
        "Accepted failures",
        accepted_tests(&places.root).into_iter(),
    );
    if let Some(state) = last_state(&context)? {
        let known = state.tasks.values().flat_map(|task| {
            let id = &task.picked.task.id;
            task.known_failures
                .iter()
                .map(move |test| format!("{id}  {test}"))
        });
        page.push_str(&list("Known failures in the last run", known));
        let flaky = state.flickers.iter().map(|(test, times)| match times {
            1 => format!("{test}  (once)"),
            times => format!("{test}  ({times} times)"),
        });
        page.push_str(&list("Flaky in the last run", flaky));
    }
    output::print(&page)?;
    Ok(Exit::Success)
}

fn last_state(context: &SpecContext) -> Result<Option<State>, Problem> {
    let places = &context.places;
    let Some(store) = open_store_read_only(&places.root)? else {
        return Ok(None);
    };
    let runs = store.runs(usize::MAX).map_err(Problem::journal)?;
    let last = runs.iter().find(|run| run.spec == places.spec_key());
    let state = last.and_then(|run| load_state(&store, &run.id).ok());
    Ok(state.map(|(state, _)| state))
}

fn list(title: &str, tests: impl Iterator<Item = String>) -> String {
    let mut text = format!("{title}:\n");
    let before = text.len();
    for test in tests {
        let _infallible = writeln!(text, "  {}", output::printable(&test));
    }
    if text.len() == before {
        text.push_str("  none\n");
    }
    text
}
