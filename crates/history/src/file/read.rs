//! Reading the rows that statistics are made of.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension as _, Row};

use super::{History, HistoryError};
use crate::statistics::{Cluster, FailureRow, Figures, TaskRow};
use crate::{Forecast, Place, Statistics};

/// How many places of a blocker are shown.
const PLACES: u32 = 3;

/// Which runs and delegations count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// What happened at or after this time.
    pub since_ms: i64,
    /// Those of a spec.
    pub spec: Option<String>,
    /// Those of an agent.
    pub agent: Option<String>,
    /// Those of a workspace.
    pub workspace: Option<String>,
}

/// A run, as far as statistics need it.
struct Run {
    workspace: i64,
    agent: i64,
}

/// The first run of the filter, its workspace and its agent. Runs that don't match are left out of
/// the query; names that don't exist match nothing.
const MATCHING_RUNS: &str = "
    SELECT run, runs.workspace, agent FROM runs
    JOIN workspaces USING (workspace)
    WHERE ended_ms >= ?1
      AND (?2 IS NULL OR spec = (SELECT name FROM names WHERE text = ?2))
      AND (?3 IS NULL OR agent = (SELECT name FROM names WHERE text = ?3))
      AND (?4 IS NULL OR path = ?4)
    ORDER BY run";

impl History {
    /// Sums up what the filter selects, until now.
    ///
    /// # Errors
    /// Returns an error if the file can't be read.
    pub fn statistics(&self, filter: &Filter, now_ms: i64) -> Result<Statistics, HistoryError> {
        let _reading = self.conn.unchecked_transaction()?;
        let runs = self.runs(filter)?;
        let since_ms = match filter.since_ms {
            0 => self.first_moment()?.unwrap_or(now_ms),
            since => since,
        };
        let mut figures = Figures::new(since_ms, now_ms);
        for run in runs.values() {
            figures.run(run.workspace);
        }
        self.read_tasks(&runs, &mut figures)?;
        self.read_failures(&runs, &mut figures)?;
        let clusters = self.clusters()?;
        let names = self.names()?;
        let mut statistics = figures.finish(&clusters, &names);
        let is_matching = |run| runs.contains_key(&run);
        statistics.forecast = Forecast::learn(&self.task_cases()?, is_matching).figures();
        for blocker in &mut statistics.blockers {
            blocker.places = self.places(&blocker.fingerprint, filter)?;
        }
        Ok(statistics)
    }

    fn first_moment(&self) -> Result<Option<i64>, HistoryError> {
        let sql = "SELECT min(started_ms) FROM runs";
        Ok(self
            .conn
            .query_row(sql, [], |row| row.get(0))
            .optional()?
            .flatten())
    }

    fn runs(&self, filter: &Filter) -> Result<BTreeMap<i64, Run>, HistoryError> {
        let mut statement = self.conn.prepare(MATCHING_RUNS)?;
        let params = (
            filter.since_ms,
            &filter.spec,
            &filter.agent,
            &filter.workspace,
        );
        let rows = statement.query_map(params, |row| {
            let run = Run {
                workspace: row.get(1)?,
                agent: row.get(2)?,
            };
            Ok((row.get(0)?, run))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn read_tasks(
        &self,
        runs: &BTreeMap<i64, Run>,
        figures: &mut Figures,
    ) -> Result<(), HistoryError> {
        let sql =
            "SELECT run, at_ms, attempts, first_pass, passed, time_ms, cost_micro_usd FROM tasks
                   WHERE run >= ?1";
        self.each_row_of(runs, sql, |run, row| {
            figures.task(&TaskRow {
                agent: run.agent,
                at_ms: row.get(1)?,
                attempts: row.get(2)?,
                first_pass: row.get(3)?,
                passed: row.get(4)?,
                time_ms: row.get(5)?,
                cost_micro_usd: row.get(6)?,
            });
            Ok(())
        })
    }

    fn read_failures(
        &self,
        runs: &BTreeMap<i64, Run>,
        figures: &mut Figures,
    ) -> Result<(), HistoryError> {
        let sql = "SELECT run, at_ms, cluster, lost_ms, lost_micro_usd, response, helped,
                          known, advised
                   FROM failures WHERE run >= ?1";
        self.each_row_of(runs, sql, |run, row| {
            figures.failure(&FailureRow {
                workspace: run.workspace,
                agent: run.agent,
                at_ms: row.get(1)?,
                cluster: row.get(2)?,
                lost_ms: row.get(3)?,
                lost_micro_usd: row.get(4)?,
                response: row.get(5)?,
                helped: row.get(6)?,
                known: row.get(7)?,
                advised: row.get(8)?,
            });
            Ok(())
        })
    }

    /// Calls `read` with each row whose run, its first column, is one of these.
    fn each_row_of(
        &self,
        runs: &BTreeMap<i64, Run>,
        sql: &str,
        mut read: impl FnMut(&Run, &Row<'_>) -> rusqlite::Result<()>,
    ) -> Result<(), HistoryError> {
        let first = runs.first_key_value().map_or(i64::MAX, |(run, _)| *run);
        let mut statement = self.conn.prepare(sql)?;
        let mut rows = statement.query([first])?;
        while let Some(row) = rows.next()? {
            if let Some(run) = runs.get(&row.get(0)?) {
                read(run, row)?;
            }
        }
        Ok(())
    }

    fn clusters(&self) -> Result<BTreeMap<i64, Cluster>, HistoryError> {
        let sql = "SELECT cluster, fingerprint, category, kind, example FROM clusters";
        let mut statement = self.conn.prepare(sql)?;
        let rows = statement.query_map([], |row| {
            let cluster = Cluster {
                fingerprint: row.get(1)?,
                category: row.get(2)?,
                kind: row.get(3)?,
                example: row.get(4)?,
            };
            Ok((row.get(0)?, cluster))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn names(&self) -> Result<BTreeMap<i64, String>, HistoryError> {
        let mut statement = self.conn.prepare("SELECT name, text FROM names")?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns where a blocker happened most often.
    fn places(&self, fingerprint: &str, filter: &Filter) -> Result<Vec<Place>, HistoryError> {
        let sql = format!(
            "WITH matching AS ({MATCHING_RUNS})
             SELECT path, names.text, task, count(*), max(at_ms) AS last FROM failures
             JOIN matching USING (run) JOIN runs USING (run)
             JOIN workspaces ON workspaces.workspace = runs.workspace
             JOIN names ON names.name = runs.spec
             WHERE cluster = (SELECT cluster FROM clusters WHERE fingerprint = ?5)
               AND at_ms >= ?1
             GROUP BY path, names.text, task ORDER BY count(*) DESC, last DESC LIMIT ?6"
        );
        let mut statement = self.conn.prepare_cached(&sql)?;
        let params = (
            filter.since_ms,
            &filter.spec,
            &filter.agent,
            &filter.workspace,
            fingerprint,
            PLACES,
        );
        let rows = statement.query_map(params, |row| {
            Ok(Place {
                workspace: row.get(0)?,
                spec: row.get(1)?,
                task: row.get(2)?,
                count: row.get(3)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}
