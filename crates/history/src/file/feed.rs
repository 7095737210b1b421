//! Adding digests.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::{History, HistoryError, Retention};
use crate::{Digest, DigestSource, FailureDigest, Fingerprint, TaskDigest, Workspace};

/// How many runs and failures a feed added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fed {
    /// Runs and delegations that are new, or of which more is known now.
    pub runs: usize,
    /// Their failures.
    pub failures: usize,
}

impl History {
    /// Returns the runs and delegations of a workspace that are already known, each with the
    /// number of its steps.
    ///
    /// # Errors
    /// Returns an error if the file can't be read.
    pub fn known(&self, workspace: &Workspace) -> Result<BTreeMap<String, u64>, HistoryError> {
        let sql = "SELECT id, steps FROM runs JOIN workspaces USING (workspace) WHERE path = ?1";
        let mut statement = self.conn.prepare(sql)?;
        let rows = statement.query_map([&workspace.path], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns the time before which the workspace's runs were forgotten.
    ///
    /// # Errors
    /// Returns an error if the file can't be read.
    pub fn forgotten_before(&self, workspace: &Workspace) -> Result<i64, HistoryError> {
        Ok(forgotten_before(&self.conn, workspace)?)
    }

    /// Adds digests of a workspace, then removes what is older or more than the retention allows.
    /// Adding a digest again changes nothing, and a longer one of the same run replaces the
    /// shorter.
    ///
    /// # Errors
    /// Returns an error if the file can't be written. No part of the digests is added then.
    pub fn feed(
        &mut self,
        workspace: &Workspace,
        digests: &[Digest],
        retention: &Retention,
        now_ms: i64,
    ) -> Result<Fed, HistoryError> {
        let since = self.forgotten_before(workspace)?;
        let news = digests.iter().filter(|digest| digest.started_ms >= since);
        self.add(workspace, news, retention, now_ms)
    }

    /// Adds digests, also those that were forgotten.
    pub(super) fn add<'d>(
        &mut self,
        workspace: &Workspace,
        digests: impl IntoIterator<Item = &'d Digest>,
        retention: &Retention,
        now_ms: i64,
    ) -> Result<Fed, HistoryError> {
        let tx = self.conn.transaction()?;
        let number = workspace_number(&tx, workspace)?;
        let mut fed = Fed::default();
        for digest in digests {
            if insert_run(&tx, number, &workspace.path, digest)? {
                fed.runs += 1;
                fed.failures += digest.failures.len();
            }
        }
        retention.apply(&tx, now_ms)?;
        tx.commit()?;
        Ok(fed)
    }
}

fn forgotten_before(conn: &Connection, workspace: &Workspace) -> rusqlite::Result<i64> {
    conn.query_row(
        "SELECT max(
             coalesce((SELECT since_ms FROM workspaces WHERE path = ?1), 0),
             coalesce((SELECT before_ms FROM forgotten), 0))",
        [&workspace.path],
        |row| row.get(0),
    )
}

pub(super) fn workspace_number(conn: &Connection, workspace: &Workspace) -> rusqlite::Result<i64> {
    conn.execute(
        "INSERT INTO workspaces (path) VALUES (?1) ON CONFLICT DO NOTHING",
        [&workspace.path],
    )?;
    conn.query_row(
        "SELECT workspace FROM workspaces WHERE path = ?1",
        [&workspace.path],
        |row| row.get(0),
    )
}

/// Returns whether the digest says more than what is known.
fn insert_run(
    conn: &Connection,
    workspace: i64,
    path: &str,
    digest: &Digest,
) -> rusqlite::Result<bool> {
    let known: Option<(i64, u64)> = conn
        .prepare_cached("SELECT run, steps FROM runs WHERE workspace = ?1 AND id = ?2")?
        .query_row((workspace, &digest.id), |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?;
    if let Some((run, steps)) = known {
        if steps >= digest.steps {
            return Ok(false);
        }
        conn.execute("DELETE FROM runs WHERE run = ?1", [run])?;
    }
    let source = match digest.source {
        DigestSource::Run => "run",
        DigestSource::Delegation => "delegation",
    };
    conn.prepare_cached(
        "INSERT INTO runs (workspace, source, id, steps, spec, agent, started_ms, ended_ms)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .execute((
        workspace,
        source,
        &digest.id,
        digest.steps,
        name_number(conn, &digest.spec)?,
        name_number(conn, &digest.agent)?,
        digest.started_ms,
        digest.ended_ms,
    ))?;
    let run = conn.last_insert_rowid();
    for task in &digest.tasks {
        insert_task(conn, run, task)?;
    }
    for failure in &digest.failures {
        insert_failure(conn, run, path, failure)?;
    }
    Ok(true)
}

fn insert_task(conn: &Connection, run: i64, task: &TaskDigest) -> rusqlite::Result<()> {
    let features = task.features.as_ref();
    let file_kind = features.and_then(|features| features.file_kind.as_deref());
    let number = |text: Option<&str>| text.map(|text| name_number(conn, text)).transpose();
    conn.prepare_cached(
        "INSERT INTO tasks (run, id, title, at_ms, attempts, first_pass, passed, time_ms,
                            cost_micro_usd, words, files, file_kind, work, verify, is_vague,
                            attempt_ms, timed_out, verify_ms)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)",
    )?
    .execute(params![
        run,
        &task.id,
        &task.title,
        task.at_ms,
        task.attempts,
        task.first_pass && task.passed,
        task.passed,
        whole(task.time_ms),
        task.cost_micro_usd.map(whole),
        features.map(|features| features.words),
        features.map(|features| features.files),
        number(file_kind)?,
        number(features.map(|features| features.work.as_str()))?,
        features.and_then(|features| features.verify),
        features.map(|features| features.is_vague),
        task.first_attempt.map(|first| whole(first.time_ms)),
        task.first_attempt.map(|first| first.timed_out),
        task.verify_ms.map(whole),
    ])?;
    Ok(())
}

fn insert_failure(
    conn: &Connection,
    run: i64,
    path: &str,
    failure: &FailureDigest,
) -> rusqlite::Result<()> {
    let response = failure.response.as_deref();
    let response = response.map(|words| name_number(conn, words)).transpose()?;
    conn.prepare_cached(
        "INSERT INTO failures (run, task, at_ms, cluster, lost_ms, lost_micro_usd, response,
                               helped, note, known, advised)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )?
    .execute((
        run,
        &failure.task,
        failure.at_ms,
        cluster_number(conn, path, failure)?,
        whole(failure.lost_ms),
        failure.lost_micro_usd.map(whole),
        response,
        failure.helped,
        &failure.note,
        failure.known,
        !failure.advice.is_empty(),
    ))?;
    let number = conn.last_insert_rowid();
    for words in &failure.advice {
        conn.prepare_cached("INSERT INTO advice VALUES (?1, ?2) ON CONFLICT DO NOTHING")?
            .execute((number, name_number(conn, words)?))?;
    }
    Ok(())
}

fn cluster_number(conn: &Connection, path: &str, failure: &FailureDigest) -> rusqlite::Result<i64> {
    let own = Fingerprint::own(path, &failure.task);
    let fingerprint = Fingerprint::of(&failure.kind, &failure.line, &own);
    conn.prepare_cached(
        "INSERT INTO clusters (fingerprint, category, kind, example) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT DO NOTHING",
    )?
    .execute((
        fingerprint.as_str(),
        &failure.category,
        &failure.kind,
        &failure.line,
    ))?;
    conn.prepare_cached("SELECT cluster FROM clusters WHERE fingerprint = ?1")?
        .query_row([fingerprint.as_str()], |row| row.get(0))
}

fn name_number(conn: &Connection, text: &str) -> rusqlite::Result<i64> {
    conn.prepare_cached("INSERT INTO names (text) VALUES (?1) ON CONFLICT DO NOTHING")?
        .execute([text])?;
    conn.prepare_cached("SELECT name FROM names WHERE text = ?1")?
        .query_row([text], |row| row.get(0))
}

/// SQLite's integers are signed.
fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
