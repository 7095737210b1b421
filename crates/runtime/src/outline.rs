//! The outline of a plan, for views.

use std::collections::BTreeMap;

use regreen_documents::{RowId, TaskFile};
use regreen_model::{OutlineKind, OutlineRow, TaskFeatures, TaskKind, fnv1a};

/// Outlines a plan: fixes below their task, rows below their group.
#[must_use]
pub fn outline(file: &TaskFile) -> Vec<OutlineRow> {
    Outliner::default().outline(file)
}

/// Outlines a plan without the features of its tasks, which only estimates need.
#[must_use]
pub fn outline_without_features(file: &TaskFile) -> Vec<OutlineRow> {
    rows(file, |_| TaskFeatures::default())
}

/// Outlines a plan again and again. What a row's text shows is only found out when the text is new.
#[derive(Debug, Default)]
pub(crate) struct Outliner {
    /// By the hash of the row's text.
    known: BTreeMap<u64, TaskFeatures>,
}

impl Outliner {
    pub(crate) fn outline(&mut self, file: &TaskFile) -> Vec<OutlineRow> {
        let known = std::mem::take(&mut self.known);
        rows(file, |row| {
            let text = fnv1a(file.block(row).unwrap_or_default().as_bytes());
            let found = known.get(&text).cloned();
            let features = found.unwrap_or_else(|| file.features(row));
            self.known.insert(text, features.clone());
            features
        })
    }
}

fn rows(file: &TaskFile, mut features: impl FnMut(RowId) -> TaskFeatures) -> Vec<OutlineRow> {
    let mut rows: Vec<OutlineRow> = Vec::new();
    let mut depths = BTreeMap::new();
    for id in file.rows() {
        let Some((mut row, above)) = outline_row(file, id) else {
            continue;
        };
        row.depth = above.map_or(0, |above| depths.get(&above).map_or(0, |depth| depth + 1));
        depths.insert(id, row.depth);
        if !row.done {
            row.features = features(id);
        }
        rows.push(row);
    }
    rows
}

/// Returns a row of the outline, and the row that it is shown below.
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
        features: TaskFeatures::default(),
        line: file.line_of(id),
    };
    Some((row, fixes.or_else(|| file.parent(id))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixes_are_below_their_task_and_rows_below_their_group() {
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

    #[test]
    fn a_row_is_read_again_when_its_text_has_changed() {
        let mut outliner = Outliner::default();
        let mut files_of = |text: &str| {
            let rows = outliner.outline(&TaskFile::read(text));
            rows.iter()
                .map(|row| row.features.files)
                .collect::<Vec<_>>()
        };
        assert_eq!(files_of("- [ ] 1.1 Write a.rs\n- [ ] 1.2 Other\n"), [1, 0]);
        assert_eq!(
            files_of("- [ ] 1.1 Write a.rs\n- [ ] 1.2 Write b.rs and c.rs\n"),
            [1, 2]
        );
        assert_eq!(files_of("- [ ] 1.2 Write b.rs and c.rs\n"), [2]);
    }
}
