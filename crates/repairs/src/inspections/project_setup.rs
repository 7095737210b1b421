use std::ffi::OsString;
use std::path::Path;

use regreen_model::{Failure, FailureKind, RepairAction};

use crate::context::RepairContext;
use crate::failure_text;
use crate::inspect::{Proposal, changed_during_run};
use crate::manifests::FileKind;
use crate::plan::ToolCall;
use crate::plan::{Action, Check, RepairPlan, ToolRun};

use super::generated::{self, declared_targets};
use super::managers::ToolCommand;
use super::venv::{self, VenvSearch};

/// Names of targets that migrate a database.
const TARGETS: &str = "\
    migrate migrations db-migrate db_migrate migrate-up db:migrate migrate:latest \
    migration:run db-upgrade";

/// Messages of SQLite, whose database is a local file rather than on a server.
const SQLITE: [&str; 4] = [
    "no such table",
    "no such column",
    "sqlite",
    "has no column named",
];

/// Handles a database without its tables, if the project declares migrations.
pub(super) fn inspect_migration(
    context: &RepairContext<'_>,
    failure: &Failure,
) -> Option<Proposal> {
    if failure.kind != FailureKind::DatabaseSchemaMissing {
        return None;
    }
    let proposal = by_target(context).or_else(|| by_program(context))?;
    let line = failure_text::blocker(failure).to_ascii_lowercase();
    let is_local =
        SQLITE.iter().any(|word| line.contains(word)) || names_local_file(context, &line);
    Some(if is_local {
        proposal
    } else {
        proposal.requiring_consent("others may use this database")
    })
}

/// Suffixes of databases that are local files.
const DATABASES: [&str; 4] = [".db", ".sqlite", ".sqlite3", ".db3"];

/// Returns whether the line names a database file of the workspace. A name alone proves nothing:
/// it may be a host, or the end of an address.
fn names_local_file(context: &RepairContext<'_>, line: &str) -> bool {
    let words = failure_text::words(line).into_iter();
    let mut named = words.filter(|word| DATABASES.iter().any(|ending| word.ends_with(ending)));
    named.any(|word| {
        let place = context.locate(word);
        place.is_some_and(|place| place.under(context.root).is_file())
    })
}

fn by_target(context: &RepairContext<'_>) -> Option<Proposal> {
    let all = declared_targets(context);
    let found = TARGETS
        .split(' ')
        .find_map(|name| all.iter().find(|one| one.target.name == name))?;
    generated::run(context, found, Check::ExitCode, "migrate the database")
}

/// Programs that migrate, and the files that show that the project uses them.
const PROGRAMS: [(&str, &[&str]); 2] = [
    (
        "manage.py",
        &["python", "manage.py", "migrate", "--noinput"],
    ),
    (
        "alembic.ini",
        &["python", "-m", "alembic", "upgrade", "head"],
    ),
];

fn by_program(context: &RepairContext<'_>) -> Option<Proposal> {
    let (file, argv) = PROGRAMS
        .iter()
        .find(|(file, _)| context.manifests.has(file))?;
    let (python, stranger) = match venv::find(context) {
        VenvSearch::Venv(venv) => (venv.python(context), venv.doubt(context)),
        _ => (context.tool("python3")?, None),
    };
    let args = argv.iter().skip(1).map(OsString::from);
    let run = ToolRun {
        calls: vec![ToolCall::new(
            std::iter::once(python.into_os_string()).chain(args),
        )],
        ..ToolRun::default()
    };
    let recorded = RepairAction::Run {
        args: argv.iter().map(|word| (*word).to_owned()).collect(),
    };
    let plan = RepairPlan::new(
        recorded,
        format!("run `{}` to migrate the database", argv.join(" ")),
        Action::RunTools(run),
    );
    let is_changed = !context.manifests.is_unchanged(context.root, file);
    let doubt = is_changed.then(|| changed_during_run(file)).or(stranger);
    Some(Proposal::allowed_unless(doubt, plan))
}

/// Handles a missing file in a submodule that hasn't been fetched; fetching requires consent.
pub(super) fn inspect_submodule(
    context: &RepairContext<'_>,
    failure: &Failure,
) -> Option<Proposal> {
    let kinds = [
        FailureKind::MissingFile,
        FailureKind::MissingPythonModule,
        FailureKind::MissingManifest,
        FailureKind::CompileError,
    ];
    if !kinds.contains(&failure.kind) {
        return None;
    }
    let submodule = failure_text::words(failure_text::blocker(failure))
        .into_iter()
        .find_map(|word| {
            let place = context.locate(word)?;
            let mut listed = context
                .manifests
                .of_kind(FileKind::Gitmodules)
                .flat_map(|(_, file)| &file.content.includes);
            listed.find(|folder| place.is_within(folder) && is_empty(context, folder))
        })?;
    let does = format!("fetch the submodule {submodule}");
    let git = ToolCommand::new("git submodule update --init --").with_operand(submodule);
    Some(
        match git.plan(context, Path::new(""), does, ToolRun::default()) {
            Some(plan) => Proposal::ask(plan, "it fetches code from a remote"),
            None => Proposal::not_installed("git"),
        },
    )
}

fn is_empty(context: &RepairContext<'_>, folder: &str) -> bool {
    let Some(place) = crate::folder::locate(context.root, folder) else {
        return false;
    };
    let entries = std::fs::read_dir(place.under(context.root));
    entries.map_or(true, |mut entries| entries.next().is_none())
}
