//! Looking a failure up.

use std::collections::BTreeMap;

use regreen_model::Experience;
use rusqlite::OptionalExtension as _;

use super::{History, HistoryError};
use crate::recall::{Case, experience, is_comparable, nearest};
use crate::{Fingerprint, Lookup};

/// How many failures of a cause are looked at, latest first.
const RECENT: u32 = 300;
/// How many causes of a kind are compared, latest first.
const CANDIDATES: u32 = 200;

/// The latest failures of a cluster.
const LATEST: &str = "
    WITH latest AS (
        SELECT * FROM failures WHERE cluster = ?1 ORDER BY at_ms DESC, failure DESC LIMIT ?2)";

impl History {
    /// Returns what earlier failures with the same cause show, or else with the nearest cause of
    /// the same kind; `None` if there are none.
    ///
    /// # Errors
    /// Returns an error if the file can't be read.
    pub fn recall(&self, lookup: &Lookup) -> Result<Option<Experience>, HistoryError> {
        let _reading = self.conn.unchecked_transaction()?;
        if let Some(cluster) = self.cluster_of(lookup)? {
            return Ok(Some(self.experience(cluster, lookup)?));
        }
        let Some(cluster) = self.similar_cluster(lookup)? else {
            return Ok(None);
        };
        let known = self.experience(cluster, lookup)?;
        // Whether a repair is useless, or anything helps, depends on the very cause.
        Ok((!known.advice.is_empty()).then(|| Experience {
            similar: true,
            useless: Vec::new(),
            nothing_helped: false,
            ..known
        }))
    }

    fn cluster_of(&self, lookup: &Lookup) -> Result<Option<i64>, HistoryError> {
        let own = Fingerprint::own(&lookup.workspace, &lookup.task);
        let fingerprint = Fingerprint::of(&lookup.kind, &lookup.line, &own);
        let sql = "SELECT cluster FROM clusters WHERE fingerprint = ?1";
        let found = self
            .conn
            .query_row(sql, [fingerprint.as_str()], |row| row.get(0));
        Ok(found.optional()?)
    }

    fn similar_cluster(&self, lookup: &Lookup) -> Result<Option<i64>, HistoryError> {
        if !is_comparable(&lookup.kind, &lookup.line) {
            return Ok(None);
        }
        let mut statement = self.conn.prepare(
            "SELECT cluster, example FROM clusters WHERE kind = ?1 ORDER BY cluster DESC LIMIT ?2",
        )?;
        let rows = statement.query_map((&lookup.kind, CANDIDATES), |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
        let found: Vec<(i64, String)> = rows.collect::<Result<_, _>>()?;
        let candidates = found.iter().map(|(cluster, line)| (cluster, line.as_str()));
        Ok(nearest(&lookup.kind, &lookup.line, candidates).copied())
    }

    fn experience(&self, cluster: i64, lookup: &Lookup) -> Result<Experience, HistoryError> {
        let cases = self.cases(cluster, &lookup.workspace)?;
        Ok(experience(&cases, lookup.share))
    }

    fn cases(&self, cluster: i64, workspace: &str) -> Result<Vec<Case>, HistoryError> {
        let mut advice = self.advice(cluster)?;
        let mut statement = self.conn.prepare(&format!(
            "{LATEST}
             SELECT failure, run, workspace,
                    workspace IS (SELECT workspace FROM workspaces WHERE path = ?3),
                    text, helped, note
             FROM latest JOIN runs USING (run) LEFT JOIN names ON name = response
             ORDER BY at_ms DESC, failure DESC"
        ))?;
        let rows = statement.query_map((cluster, RECENT, workspace), |row| {
            let failure: i64 = row.get(0)?;
            Ok(Case {
                run: row.get(1)?,
                workspace: row.get(2)?,
                here: row.get(3)?,
                response: row.get(4)?,
                helped: row.get(5)?,
                note: row.get(6)?,
                advice: advice.remove(&failure).unwrap_or_default(),
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn advice(&self, cluster: i64) -> Result<BTreeMap<i64, Vec<String>>, HistoryError> {
        let mut statement = self.conn.prepare(&format!(
            "{LATEST}
             SELECT failure, text FROM latest JOIN advice USING (failure)
             JOIN names ON name = advice.response"
        ))?;
        let mut rows = statement.query((cluster, RECENT))?;
        let mut advice: BTreeMap<i64, Vec<String>> = BTreeMap::new();
        while let Some(row) = rows.next()? {
            advice.entry(row.get(0)?).or_default().push(row.get(1)?);
        }
        Ok(advice)
    }
}
