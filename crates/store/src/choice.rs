//! What people said of tasks outside of runs.

use regreen_model::{ChoiceKind, PersonChoice, TaskKey};
use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};

use crate::row::{Tally, check_sum, task_columns, task_from_row, with_sum};
use crate::{Fault, Store};

const COLUMNS: &str = "number, spec, task_id, occurrence, title, what, at_ms, sum";
const SUMMED: usize = 7;

impl Store {
    /// Stores what a person said, and gives the number it got. When this returns, it is on
    /// the disk.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn choose(
        &mut self,
        spec: &str,
        task: &TaskKey,
        what: ChoiceKind,
        at_ms: i64,
    ) -> Result<u64, Fault> {
        let tx = self.write()?;
        let mut tally = Tally::read(&tx)?;
        tally.choices += 1;
        let sql = format!("INSERT INTO choices ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
        let columns = columns(tally.choices, spec, task, what, at_ms);
        tx.execute(&sql, params_from_iter(with_sum(columns)))?;
        tally.write(&tx)?;
        tx.commit()?;
        Ok(tally.choices.unsigned_abs())
    }

    /// All that was said of a spec's tasks, oldest first.
    ///
    /// # Errors
    /// If the file cannot be read, or is damaged.
    pub fn choices(&self, spec: &str) -> Result<Vec<PersonChoice>, Fault> {
        let _moment = self.moment()?;
        choices_where(&self.conn, |said_of| said_of == spec)
    }
}

/// Looks at all of them, whatever is wanted: one that is missing is then noticed.
pub(crate) fn choices_where(
    conn: &Connection,
    mut wanted: impl FnMut(&str) -> bool,
) -> Result<Vec<PersonChoice>, Fault> {
    let said = Tally::read(conn)?.choices;
    let sql = format!("SELECT {COLUMNS} FROM choices ORDER BY number");
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query([])?;
    let mut choices = Vec::new();
    let mut found = 0;
    while let Some(row) = rows.next()? {
        check_sum(row, "choices", SUMMED)?;
        found += 1;
        if wanted(&row.get::<_, String>(1)?) {
            choices.push(from_row(row)?);
        }
    }
    if found == said {
        Ok(choices)
    } else {
        Err(Fault::damaged(format!(
            "{said} choices were made, but {found} are listed"
        )))
    }
}

fn columns(number: i64, spec: &str, task: &TaskKey, what: ChoiceKind, at_ms: i64) -> Vec<Value> {
    let mut columns = vec![number.into(), spec.to_owned().into()];
    columns.extend(task_columns(task));
    columns.extend([what.name().to_owned().into(), at_ms.into()]);
    columns
}

fn from_row(row: &Row<'_>) -> Result<PersonChoice, Fault> {
    let what: String = row.get(5)?;
    Ok(PersonChoice {
        number: row.get(0)?,
        task: task_from_row(row, 2)?,
        what: ChoiceKind::from_name(&what)
            .ok_or_else(|| Fault::damaged(format!("nobody can choose to `{what}`")))?,
    })
}
