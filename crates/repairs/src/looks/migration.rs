use regreen_model::{Failure, FailureKind, RepairAction};

use super::generated::{self, declarations};
use super::venv::{self, Found};
use crate::plan::{Check, Deed, Plan, ToolRun};
use crate::runner::ToolCall;
use crate::scene::Scene;
use crate::text;
use crate::verdict::Verdict;

/// What a target that migrates is called.
const TARGETS: [&str; 9] = [
    "migrate",
    "migrations",
    "db-migrate",
    "db_migrate",
    "migrate-up",
    "db:migrate",
    "migrate:latest",
    "migration:run",
    "db-upgrade",
];

/// Words that only SQLite says: its database is a file here, not a server's.
const SQLITE: [&str; 4] = [
    "no such table",
    "no such column",
    "sqlite",
    "has no column named",
];

/// A database without its tables, and migrations that the project declares.
pub(super) fn look(scene: &Scene<'_>, failure: &Failure) -> Option<Verdict> {
    if failure.kind != FailureKind::DatabaseSchemaMissing {
        return None;
    }
    let verdict = by_target(scene).or_else(|| by_program(scene))?;
    let line = text::blocker(failure).to_ascii_lowercase();
    let is_local = SQLITE.iter().any(|word| line.contains(word));
    Some(match is_local {
        true => verdict,
        false => verdict.only_asked("the database may be one that others use"),
    })
}

fn by_target(scene: &Scene<'_>) -> Option<Verdict> {
    let all = declarations(scene);
    let found = TARGETS
        .iter()
        .find_map(|name| all.iter().find(|one| one.target.name == *name))?;
    generated::run(scene, found, Check::ExitCode, "migrate the database")
}

/// Programs of the project that migrate, by the file that shows them.
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

fn by_program(scene: &Scene<'_>) -> Option<Verdict> {
    let (file, argv) = PROGRAMS.iter().find(|(file, _)| scene.declared.has(file))?;
    let python = match venv::find(scene) {
        Found::Venv(venv) => venv.python(scene),
        _ => scene.tool("python3")?,
    };
    let args = argv.iter().skip(1).map(std::ffi::OsString::from);
    let run = ToolRun {
        calls: vec![ToolCall::new(
            std::iter::once(python.into_os_string()).chain(args),
        )],
        ..ToolRun::default()
    };
    let action = RepairAction::Run {
        args: argv.iter().map(|word| (*word).to_owned()).collect(),
    };
    let plan = Plan::new(
        action,
        format!("run `{}` to migrate the database", argv.join(" ")),
        Deed::RunTools(run),
    );
    Some(match scene.declared.is_unchanged(scene.root, file) {
        true => Verdict::Allowed(plan),
        false => Verdict::ask(plan, format!("{file} was changed during the run")),
    })
}
