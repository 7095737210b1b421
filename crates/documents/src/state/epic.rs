//! Smart-ralph's files about several specs, updated when one of them is done.

use serde_json::{Map, Value, json};

use super::state_file::StateDocument;

/// Returns the state of an epic with one of its specs completed; `None` if nothing changes.
#[must_use]
pub fn epic_with_completed(text: &str, spec: &str) -> Option<String> {
    with_spec(text, spec, |entry| {
        entry.insert("status".to_owned(), json!("completed"));
    })
}

/// Returns the index of specs with one of them completed; `None` if nothing changes.
#[must_use]
pub fn index_with_completed(text: &str, spec: &str, tasks: u32) -> Option<String> {
    with_spec(text, spec, |entry| {
        entry.insert("phase".to_owned(), json!("completed"));
        entry.insert("taskIndex".to_owned(), json!(tasks));
        entry.insert("totalTasks".to_owned(), json!(tasks));
    })
}

/// Changes the entry of a spec in the list `specs` and keeps everything else.
fn with_spec(text: &str, spec: &str, change: impl Fn(&mut Map<String, Value>)) -> Option<String> {
    let (mut document, _) = StateDocument::read(text).ok()?;
    let entries = document.value.get_mut("specs")?.as_array_mut()?;
    let objects = entries.iter_mut().filter_map(Value::as_object_mut);
    for entry in objects.filter(|entry| entry.get("name") == Some(&json!(spec))) {
        change(entry);
    }
    let changed = document.to_text();
    (changed != text).then_some(changed)
}

/// Returns the index page with a spec completed: its row in the table of specs, whose cells are
/// name, folder, phase and status. `None` if nothing changes.
#[must_use]
pub fn index_page_with_completed(text: &str, spec: &str) -> Option<String> {
    let rewritten = |line: &str| {
        let cells: Vec<&str> = line.trim_end().split('|').map(str::trim).collect();
        match cells.as_slice() {
            ["", name, folder, _, _, ""] if *name == spec => {
                let end = &line[line.trim_end().len()..];
                Some(format!("| {name} | {folder} | completed | done |{end}"))
            }
            _ => None,
        }
    };
    let lines = text.split_inclusive('\n');
    let changed: String = lines
        .map(|line| rewritten(line).unwrap_or_else(|| line.to_owned()))
        .collect();
    (changed != text).then_some(changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_entry_of_the_spec_changes() {
        let epic = "{\n  \"name\": \"shop\",\n  \"specs\": [\n    {\n      \"name\": \"cart\",\n      \"status\": \"in_progress\",\n      \"dependencies\": []\n    },\n    {\n      \"name\": \"pay\",\n      \"status\": \"pending\",\n      \"dependencies\": [\"cart\"]\n    }\n  ]\n}\n";
        let done = epic_with_completed(epic, "cart").unwrap();
        assert_eq!(done, epic.replace("in_progress", "completed"));
        assert_eq!(epic_with_completed(&done, "cart"), None);
        assert_eq!(epic_with_completed(epic, "other"), None);
        assert_eq!(epic_with_completed("{", "cart"), None);
        let index = r#"{"specs":[{"name":"cart","path":"./specs/cart","phase":"execution"}]}"#;
        assert_eq!(
            index_with_completed(index, "cart", 3).unwrap(),
            r#"{"specs":[{"name":"cart","path":"./specs/cart","phase":"completed","taskIndex":3,"totalTasks":3}]}"#
        );
    }

    #[test]
    fn only_the_row_of_the_spec_changes() {
        let page = "# Spec Index\n\n| Spec | Directory | Phase | Status |\n|---|---|---|---|\n| cart | ./specs | execution | 2/3 tasks |\n| pay | ./specs | design |  |\n";
        let done = index_page_with_completed(page, "cart").unwrap();
        assert_eq!(
            done,
            page.replace("execution | 2/3 tasks", "completed | done")
        );
        assert_eq!(index_page_with_completed(&done, "cart"), None);
    }
}
