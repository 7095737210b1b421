use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use crate::Fault;
use crate::row_sum::{check_sum, with_sum};

/// How many rows there must be of what resuming depends on, kept on a page of its own: rows
/// that vanish with theirs are missed.
///
/// Steps and owed commands are counted by their run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tally {
    pub(crate) runs: i64,
    pub(crate) ends: i64,
    pub(crate) choices: i64,
}

/// The first tally of a file, from what is in it.
pub(crate) fn begin(conn: &Connection) -> Result<(), rusqlite::Error> {
    let sql = "SELECT (SELECT count(*) FROM runs), (SELECT count(*) FROM run_ends),
                      (SELECT count(*) FROM choices)";
    let tally = conn.query_row(sql, [], |row| {
        Ok(Tally {
            runs: row.get(0)?,
            ends: row.get(1)?,
            choices: row.get(2)?,
        })
    })?;
    let sql = "INSERT INTO tally (runs, ends, choices, sum, one) VALUES (?, ?, ?, ?, 1)";
    conn.execute(sql, params_from_iter(with_sum(tally.columns())))?;
    Ok(())
}

impl Tally {
    pub(crate) fn read(conn: &Connection) -> Result<Self, Fault> {
        let sql = "SELECT runs, ends, choices, sum FROM tally WHERE one = 1";
        let mut statement = conn.prepare_cached(sql)?;
        let mut rows = statement.query([])?;
        let Some(row) = rows.next()? else {
            return Err(Fault::damaged("the tally is missing"));
        };
        check_sum(row, "tally", 3)?;
        Ok(Self {
            runs: row.get(0)?,
            ends: row.get(1)?,
            choices: row.get(2)?,
        })
    }

    pub(crate) fn write(self, conn: &Connection) -> Result<(), Fault> {
        let sql = "UPDATE tally SET runs = ?, ends = ?, choices = ?, sum = ? WHERE one = 1";
        conn.prepare_cached(sql)?
            .execute(params_from_iter(with_sum(self.columns())))?;
        Ok(())
    }

    fn columns(self) -> Vec<Value> {
        vec![self.runs.into(), self.ends.into(), self.choices.into()]
    }
}
