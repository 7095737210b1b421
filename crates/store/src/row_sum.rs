//! The checksum that every stored row carries as its last column.

use rusqlite::Row;
use rusqlite::types::{Value, ValueRef};

use crate::Fault;

/// The sum of a row about to be stored.
pub(crate) fn sum_of(columns: &[Value]) -> i64 {
    sum(columns.iter().map(ValueRef::from))
}

/// Adds the sum as the last column.
pub(crate) fn with_sum(mut columns: Vec<Value>) -> Vec<Value> {
    columns.push(Value::Integer(sum_of(&columns)));
    columns
}

/// Refuses a row whose first `count` columns are not those the sum after them was made of.
pub(crate) fn check_sum(row: &Row<'_>, table: &str, count: usize) -> Result<(), Fault> {
    let mut columns = Vec::with_capacity(count);
    for index in 0..count {
        columns.push(row.get_ref(index)?);
    }
    let stored: i64 = row.get(count)?;
    if sum(columns.iter().copied()) == stored {
        Ok(())
    } else {
        Err(Fault::damaged(format!(
            "a row of {table} does not match its checksum"
        )))
    }
}

fn sum<'v>(columns: impl Iterator<Item = ValueRef<'v>>) -> i64 {
    let mut hasher = crc32fast::Hasher::new();
    for column in columns {
        add(&mut hasher, column);
    }
    i64::from(hasher.finalize())
}

/// Kind and length go in too, so that text cannot move from one column to the next.
fn add(hasher: &mut crc32fast::Hasher, column: ValueRef<'_>) {
    let (kind, bytes): (u8, &[u8]) = match column {
        ValueRef::Null => (0, &[]),
        ValueRef::Integer(number) => return add_number(hasher, 1, number.to_le_bytes()),
        ValueRef::Real(number) => return add_number(hasher, 2, number.to_le_bytes()),
        ValueRef::Text(bytes) => (3, bytes),
        ValueRef::Blob(bytes) => (4, bytes),
    };
    hasher.update(&[kind]);
    hasher.update(&(bytes.len() as u64).to_le_bytes());
    hasher.update(bytes);
}

fn add_number(hasher: &mut crc32fast::Hasher, kind: u8, bytes: [u8; 8]) {
    hasher.update(&[kind]);
    hasher.update(&bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    #[test]
    fn text_that_moves_between_columns_changes_the_sum() {
        assert_ne!(
            sum_of(&[text("ab"), text("c")]),
            sum_of(&[text("a"), text("bc")])
        );
        assert_ne!(sum_of(&[Value::Null]), sum_of(&[text("")]));
        assert_ne!(sum_of(&[Value::Integer(0)]), sum_of(&[Value::Real(0.0)]));
    }
}
