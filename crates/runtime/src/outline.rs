use regreen_documents::{RowId, TaskFile};
use regreen_model::{OutlineKind, OutlineRow, TaskKind};

/// Every task of a plan as views show it: fixes below their task, rows below their group.
#[must_use]
pub fn outline(file: &TaskFile) -> Vec<OutlineRow> {
    let mut rows: Vec<OutlineRow> = Vec::new();
    let mut depths = std::collections::BTreeMap::new();
    for id in file.rows() {
        let Some((row, above)) = outline_row(file, id) else {
            continue;
        };
        let depth = above.map_or(0, |above| depths.get(&above).map_or(0, |depth| depth + 1));
        depths.insert(id, depth);
        rows.push(OutlineRow { depth, ..row });
    }
    rows
}

/// A row, and the row it is shown below.
fn outline_row(file: &TaskFile, id: RowId) -> Option<(OutlineRow, Option<RowId>)> {
    let fixes = file.fixed_by(id);
    let kind = match file.kind(id)? {
        TaskKind::Checklist => return None,
        _ if fixes.is_some() => OutlineKind::Fix,
        TaskKind::Group => OutlineKind::Group,
        TaskKind::Task | TaskKind::Optional => OutlineKind::Task,
    };
    let row = OutlineRow {
        key: file.key(id)?,
        depth: 0,
        kind,
        done: file.is_done(id),
        optional: file.is_optional(id),
    };
    Some((row, fixes.or_else(|| file.parent(id))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixes_stand_below_their_task_and_rows_below_their_group() {
        let file = TaskFile::read(
            "- [ ] 1 Group\n  - [x] 1.1 Inside\n  - [ ] 1.2 Other\n- [ ] 2 Task\n- [ ] 2.1 [FIX 2] Fix\n",
        );
        let shown: Vec<String> = outline(&file)
            .iter()
            .map(|row| format!("{} {} {:?}", row.depth, row.key.id, row.kind))
            .collect();
        assert_eq!(
            shown,
            [
                "0 1 Group",
                "1 1.1 Task",
                "1 1.2 Task",
                "0 2 Task",
                "1 2.1 Fix"
            ]
        );
    }
}
