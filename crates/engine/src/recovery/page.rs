//! The table for people: in the user guide and on the command line.

use regreen_model::FailureKind;

use super::{Class, Row, TABLE};

impl Row {
    /// What pays for it and what is done, under the name of the class.
    #[must_use]
    pub fn text(&self) -> String {
        let class = self.class;
        format!(
            "{class}: {}\n  charged to: {}\n  regreen: {}\n",
            class.meaning(),
            self.charge.words(),
            self.words()
        )
    }
}

impl Class {
    /// The kinds of failures of which this is the class, as far as the kind alone tells.
    #[must_use]
    pub fn kinds(self) -> Vec<FailureKind> {
        let kinds = FailureKind::ALL.into_iter();
        kinds.filter(|kind| Self::of_kind(*kind) == self).collect()
    }
}

/// The whole table as text.
#[must_use]
pub fn table_text() -> String {
    let rows: Vec<String> = TABLE.iter().map(Row::text).collect();
    rows.join("\n")
}

/// The whole table as Markdown, with the kinds of each class.
#[must_use]
pub fn table_page() -> String {
    let mut page =
        "| class | what it is | charged to | what regreen does |\n|---|---|---|---|\n".to_owned();
    for row in &TABLE {
        let (class, charge) = (row.class, row.charge.words());
        page += &format!(
            "| {class} | {} | {charge} | {} |\n",
            class.meaning(),
            row.words()
        );
    }
    page += "\nThe kinds of [failures](failures.md) by class; all others are “other”, or “repairable” if a look at the workspace allows a repair:\n\n";
    for class in Class::ALL
        .into_iter()
        .filter(|class| *class != Class::Other)
    {
        let kinds = class.kinds();
        if !kinds.is_empty() {
            let kinds: Vec<String> = kinds.iter().map(|kind| format!("`{kind}`")).collect();
            page += &format!("- {class}: {}\n", kinds.join(", "));
        }
    }
    page
}
